"""A law that may be asked for a plan: published constants or a fit, and the runs that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import BadInput
from explorer.laws import published as tables
from explorer.planning.terms import Terms, terms_of

if TYPE_CHECKING:
    from explorer.fitting import Ensemble, Fit

Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Candidate:
    """One law with its numbers.

    Args:
        name: short and unique among those asked together.
        title: what a person reads.
        source: paper, or what was fitted.
        terms: its coefficients.
        ranges: (lowest, highest) of C = 6ND, N, D and D/N among the runs it was fitted to, as far as known; C from
            the ends of N and D where those of C are not.
        members: its coefficients again, each an array (n,), from n resamples of its runs; None if unknown.
        own_repeats: whether R_D and R_N were fitted with it.
        own_runs: whether it was fitted here, to runs that were given.
        notes: sentences on what a reader should know of it.
    """

    name: str
    title: str
    source: str
    terms: Terms
    ranges: Mapping[str, Range] = field(default_factory=dict)
    members: Terms | None = None
    own_repeats: bool = False
    own_runs: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ranges = dict(self.ranges)
        if "C" not in ranges and {"N", "D"} <= ranges.keys():
            low, high = (6 * ranges["N"][end] * ranges["D"][end] for end in (0, 1))
            ranges = {"C": (low, high), **ranges}
        object.__setattr__(self, "ranges", ranges)


# Of the points that were fitted where their table is public, else as the paper tells.
_HOFFMANN = {"N": (44e6, 16e9), "D": (5e9, 5e11)}
_BESIROGLU = {"C": (1.397e18, 1.296e22), "N": (57.3e6, 16.2e9), "D": (819e6, 318e9), "D/N": (0.456, 341.0)}
_MUENNIGHOFF = {"C": (4.26e15, 9.26e21), "N": (7.1e6, 8.67e9), "D": (1e8, 9e11)}
_BECK = {"N": (80e6, 7e9), "D": (2e9, 2e12)}
_GADRE = {"N": (11e6, 6.9e9), "D/N": (5.0, 640.0)}
_KAPLAN = {"N": (768.0, 1.5e9)}

_PUBLISHED: dict[str, tuple[str, tables.Constants, dict[str, Range]]] = {
    **{
        name: ("chinchilla", constants, _BESIROGLU if name.startswith("besiroglu") else _HOFFMANN)
        for name, constants in tables.CHINCHILLA.items()
        if name not in tables.DATA_CONSTRAINED
    },
    **{
        name: ("data-constrained", constants, _MUENNIGHOFF)
        for name, constants in tables.DATA_CONSTRAINED.items()
    },
    **{f"beck-{name}": ("generalised", constants, _BECK) for name, constants in tables.GENERALISED.items()},
    **{
        f"gadre-{name}": ("over-training", constants, _GADRE)
        for name, constants in tables.OVERTRAINING.items()
    },
    "kaplan": ("kaplan", tables.KAPLAN["joint"], _KAPLAN),
}
PUBLISHED = tuple(_PUBLISHED)
"""Names that `published` knows."""

DEFAULT = "besiroglu"
COMPARED = (DEFAULT, "besiroglu-notebook", "hoffmann", "hoffmann-unrounded", "muennighoff-c4")
"""What is compared where nobody names a law: constants of the same form, the default first."""

_WITHOUT_EMBEDDINGS = "This law counts parameters without embeddings."


def published(name: str) -> Candidate:
    """The published constants called `name`, one of `PUBLISHED`.

    Raises:
        BadInput: there are none; the sentence tells near names.
    """
    name = str(name).removesuffix("-printed")  # what is kept is as printed where nothing else is said
    if name not in _PUBLISHED:
        near = get_close_matches(name, PUBLISHED, 3, 0.5)
        told = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise BadInput(
            f"There are no published constants {name!r}. {told}Choose from: {', '.join(PUBLISHED)}."
        )
    law, constants, ranges = _PUBLISHED[name]
    paper = f"{constants.paper}, arXiv {constants.arxiv}"
    return Candidate(
        name=name,
        title=f"{constants.title} ({constants.paper})" if law != "chinchilla" else constants.title,
        source=f"{paper}: {constants.note}" if constants.note else paper,
        terms=terms_of(law, constants.coefficients),
        ranges=ranges,
        own_repeats=law == "data-constrained",
        notes=(_WITHOUT_EMBEDDINGS,) if law == "kaplan" else (),
    )


def fitted(
    fit: Fit, variables: Mapping[str, Any], ensemble: Ensemble | None = None, name: str | None = None
) -> Candidate:
    """A law fitted to runs.

    Args:
        fit: what `explorer.fitting.fit` found.
        variables: the columns (n,) that it was fitted to, by the law's names for them.
        ensemble: what `fit.resample` gave; intervals come from it.
        name: the law's name if left out.

    Raises:
        BadInput: the law has a form that the planner does not know, or the ensemble is of another law.
    """
    law = fit.law.name
    if ensemble is not None and ensemble.law.name != law:
        raise BadInput(f"The ensemble is of the law {ensemble.law.name!r}, the fit of {law!r}: give its own.")
    return Candidate(
        name=name or law,
        title=fit.law.title,
        source=f"fitted to {fit.points:,} points, rms of ln L {fit.rms_log_residual:.3g}",
        terms=terms_of(law, fit.coefficients),
        ranges=_ranges(variables),
        members=None if ensemble is None else terms_of(law, ensemble.coefficients),
        own_repeats=law == "data-constrained",
        own_runs=True,
        notes=fit.notes,
    )


def _ranges(variables: Mapping[str, Any]) -> dict[str, Range]:
    columns = {name: np.asarray(values, float) for name, values in variables.items()}
    if {"C", "M"} <= columns.keys():
        columns["N"] = np.sqrt(columns["C"] / (6 * columns["M"]))
        columns["D"] = columns["N"] * columns["M"]
    N, D = columns["N"], columns["D"]
    found = {"C": 6 * N * D, "N": N, "D": D, "D/N": D / N}
    return {name: (float(values.min()), float(values.max())) for name, values in found.items()}
