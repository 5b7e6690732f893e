"""General scaling laws: plain functions of arrays, and the `Law` objects that name their coefficients.

Each module holds one law's functions; `LAWS` holds the objects by name. `Formula` makes a law of a text that a
person types. Only numpy is needed.
"""

from explorer.errors import BadInput
from explorer.laws import allocation, chinchilla, data_constrained, kaplan, overtraining, published
from explorer.laws.formula import Formula
from explorer.laws.law import Coefficient, Law

LAWS: dict[str, Law] = {
    each.name: each
    for each in (
        chinchilla.CHINCHILLA,
        chinchilla.GENERALISED,
        kaplan.KAPLAN,
        data_constrained.DATA_CONSTRAINED,
        overtraining.OVERTRAINING,
    )
}
"""Every general law, by name."""


def law(name: str) -> Law:
    """The law called `name`.

    Raises:
        BadInput: there is none; the sentence lists the names.
    """
    if name not in LAWS:
        raise BadInput(f"There is no law called {name!r}: choose one of {', '.join(LAWS)}.")
    return LAWS[name]


__all__ = [
    "LAWS",
    "Coefficient",
    "Formula",
    "Law",
    "allocation",
    "chinchilla",
    "data_constrained",
    "kaplan",
    "law",
    "overtraining",
    "published",
]
