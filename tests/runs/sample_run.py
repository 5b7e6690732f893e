"""A run to fill stores with."""

from explorer.records import Point, Series
from explorer.runs import Store

LOSS = Series("h=64 seed 1", "curve", "width 64", {"width": 64, "seed": 1})


def new_run(store: Store, **changes) -> str:
    settings = {
        "exhibit": "ladder",
        "trial": "widths",
        "size": "small",
        "sliders": {"alpha": 0.3},
        "arguments": {"widths": [32, 64]},
        "seeds": 2,
    }
    return store.create(**(settings | changes))


def points(count: int, start: int = 0, key: str = LOSS.key) -> list[Point]:
    return [Point(key, float(i), 1 / (i + 1)) for i in range(start, start + count)]
