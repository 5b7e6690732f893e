"""The JavaScript that writes numbers says the same as the Python."""

import pytest

from explorer.numbers import write_number
from widgets.number_text import WRITE_NUMBER_JS

VALUES = [
    0,
    1,
    -1.5,
    0.3478,
    1.8172,
    482.01,
    2085.43,
    9999.4,
    12345,
    999999,
    1e6,
    7e10,
    1.4e12,
    1e15,
    5.76e23,
    1e-5,
    3.2e-7,
]


@pytest.mark.browser
def test_twins_agree(page, app):
    page.goto(app.url)
    written = page.evaluate(f"(values) => {{ {WRITE_NUMBER_JS}; return values.map(write) }}", VALUES)
    assert written == [write_number(value) for value in VALUES]
