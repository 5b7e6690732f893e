"""Numbers as people write them, both ways."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.numbers import read_number, write_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("70B", 70e9),
        ("1.4T", 1.4e12),
        ("125M", 125e6),
        ("2e20", 2e20),
        ("1,000,000", 1e6),
        ("1_000", 1e3),
        ("12k", 12e3),
        ("70b", 70e9),
        (" .5 ", 0.5),
        ("-3", -3.0),
    ],
)
def test_reads(text, value):
    assert read_number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "x", "1,2", "nan", "inf", "1e999", "70 B B", "0x10", "1e", "__import__('os')"]
)
def test_refuses_in_a_sentence(text):
    with pytest.raises(BadInput, match="is not a number"):
        read_number(text)


@given(st.floats(min_value=1e-12, max_value=1e30))
def test_what_is_written_is_read_back(value):
    assert read_number(write_number(value, 8)) == pytest.approx(value, rel=1e-6)


@given(st.text(max_size=40))
def test_any_text_is_a_number_or_a_sentence(text):
    try:
        assert math.isfinite(read_number(text))
    except BadInput as error:
        assert "Write it like" in str(error)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (9999.7, 4, "10,000"),
        (999_999_999, 4, "1B"),
        (9400, 3, "9,400"),
        (23662, 3, "23,662"),
        (0.3478, 4, "0.3478"),
        (5.76e23, 4, "5.76e23"),
        (0, 4, "0"),
        (float("nan"), 4, "–"),
    ],
)
def test_writes(value, digits, text):
    assert write_number(value, digits) == text
