"""Where the data that travels with the package lies: `explorer/datasets` when installed, `datasets` in a checkout."""

from __future__ import annotations

from pathlib import Path

from explorer.errors import BadInput

PLACES = (Path(__file__).parent / "datasets", Path(__file__).parent.parent / "datasets")


def bundled(name: str) -> Path:
    """The path of a file of the data package, by its name there, e.g. "digits.csv.gz".

    Raises:
        BadInput: there is no such file, or the name leads out of the data package.
    """
    if Path(name).name != name:
        raise BadInput(
            f"{name!r} is not the name of a bundled file; give a plain name such as 'digits.csv.gz'."
        )
    for place in PLACES:
        if (place / name).is_file():
            return place / name
    found = sorted(
        {one.name for place in PLACES if place.is_dir() for one in place.iterdir()} - {"README.md"}
    )
    raise BadInput(
        f"There is no bundled file {name!r}; there is {', '.join(found) or 'none at all: install the package again'}."
    )
