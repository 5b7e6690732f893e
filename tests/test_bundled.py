"""The data package: found by name, described, and unchanged."""

import hashlib

import pytest

from explorer import bundled as module
from explorer.bundled import bundled
from explorer.errors import BadInput


def test_a_file_is_found_by_its_name():
    assert bundled("digits.csv.gz").is_file()


def test_an_unknown_name_is_told_with_those_there_are():
    with pytest.raises(BadInput, match=r"no bundled file 'letters\.csv'; there is .*digits\.csv\.gz"):
        bundled("letters.csv")


@pytest.mark.parametrize("name", ["../pyproject.toml", "/etc/hosts", "", ".", ".."])
def test_a_path_is_not_a_name(name):
    with pytest.raises(BadInput):
        bundled(name)


def test_the_installed_place_comes_first(tmp_path, monkeypatch):
    installed, checkout = tmp_path / "installed", tmp_path / "checkout"
    for place in (installed, checkout):
        place.mkdir()
        (place / "a.csv").write_text(place.name)
    monkeypatch.setattr(module, "PLACES", (installed, checkout))
    assert bundled("a.csv") == installed / "a.csv"


def test_every_file_is_described_with_its_digest():
    folder = bundled("digits.csv.gz").parent
    text = (folder / "README.md").read_text(encoding="utf-8")
    for file in folder.iterdir():
        if file.name != "README.md":
            assert f"`{file.name}`" in text
            assert hashlib.sha256(file.read_bytes()).hexdigest() in text
