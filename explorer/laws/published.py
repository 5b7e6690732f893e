"""Published constants, each with its paper, and known models as (N, D) points.

Constants are kept to the digits their source gives. A printed exponent is a rounded one, and
extrapolating with it matters: the printed and the unrounded constants of Hoffmann et al. differ by a
quarter in the best N at 5.76e23 FLOP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp


@dataclass(frozen=True)
class Constants:
    """The coefficients of one published fit.

    Args:
        title: what a person reads.
        coefficients: by the names that the law's function uses.
        paper: authors and year.
        arxiv: arXiv identifier.
        note: which fit of the paper, and how its digits are known.
    """

    title: str
    coefficients: Mapping[str, float]
    paper: str
    arxiv: str
    note: str = ""


@dataclass(frozen=True)
class Exponent:
    """A published exponent a of N* ~ C^a, and b of D* ~ C^b where the source gives one."""

    title: str
    a: float
    b: float | None
    paper: str
    arxiv: str


@dataclass(frozen=True)
class KnownModel:
    """A trained model: N parameters, D training tokens."""

    title: str
    N: float
    D: float
    paper: str
    arxiv: str


_HOFFMANN = ("Hoffmann et al. 2022", "2203.15556")
_BESIROGLU = ("Besiroglu et al. 2024", "2404.10102")
_BECK = ("Beck et al. 2025", "2510.02228")
_KAPLAN = ("Kaplan et al. 2020", "2001.08361")
_GADRE = ("Gadre et al. 2024", "2403.08540")
_MUENNIGHOFF = ("Muennighoff et al. 2023", "2305.16264")
_PORIAN = ("Porian et al. 2024", "2406.19146")


def _chinchilla(E: float, A: float, B: float, alpha: float, beta: float) -> dict[str, float]:
    return {"E": E, "A": A, "B": B, "alpha": alpha, "beta": beta}


_MUENNIGHOFF_BASE = _chinchilla(exp(0.6254804), exp(6.255414), exp(7.3049974), 0.3526596, 0.3526596)

CHINCHILLA: dict[str, Constants] = {
    "hoffmann": Constants(
        "Hoffmann, as printed",
        _chinchilla(1.69, 406.4, 410.7, 0.34, 0.28),
        *_HOFFMANN,
        "approach 3, rounded as in the paper",
    ),
    "hoffmann-unrounded": Constants(
        "Hoffmann, unrounded",
        _chinchilla(exp(0.5267228), exp(6.0073404), exp(6.0179186), 0.33917084, 0.2849083),
        *_HOFFMANN,
        "approach 3, the digits behind the printed values",
    ),
    "besiroglu": Constants(
        "Besiroglu, as printed",
        _chinchilla(1.8172, 482.01, 2085.43, 0.3478, 0.3658),
        *_BESIROGLU,
        "240 points read off a figure of Hoffmann et al.",
    ),
    "besiroglu-notebook": Constants(
        "Besiroglu, notebook",
        _chinchilla(1.8172355, 477.8417, 2143.8638, 0.34731266, 0.36718262),
        *_BESIROGLU,
        "the output of the authors' notebook for the same 240 points",
    ),
    "muennighoff-c4": Constants(
        "Muennighoff, C4",
        _MUENNIGHOFF_BASE,
        *_MUENNIGHOFF,
        "C4, with alpha tied to beta, as in the authors' code",
    ),
}
"""Constants of E + A / N^alpha + B / D^beta."""


def _generalised(
    a: float, b: float, e: float, alpha: float, beta: float, gamma: float = 1.0
) -> dict[str, float]:
    return {"E": exp(e), "A": exp(a), "B": exp(b), "alpha": alpha, "beta": beta, "gamma": gamma}


GENERALISED: dict[str, Constants] = {
    "transformer": Constants(
        "Transformer, δ = 1e-3",
        _generalised(11.987075, 13.354418, 0.011783, 0.527115, 0.508037, 0.293457),
        *_BECK,
        "fixed tokens-per-parameter runs",
    ),
    "xlstm": Constants(
        "xLSTM, δ = 1e-3",
        _generalised(16.221113, 17.311427, 0.113342, 0.727419, 0.670784, 0.238725),
        *_BECK,
        "fixed tokens-per-parameter runs",
    ),
    "transformer-squared": Constants(
        "Transformer, δ = 1",
        _generalised(14.445072, 16.329536, 0.090102, 0.644827, 0.625879, 0.253203),
        *_BECK,
        "the same runs, Huber threshold 1: in effect least squares",
    ),
    "xlstm-squared": Constants(
        "xLSTM, δ = 1",
        _generalised(15.457385, 16.525830, 0.176768, 0.705822, 0.653441, 0.257800),
        *_BECK,
        "the same runs, Huber threshold 1: in effect least squares",
    ),
    "transformer-gamma-1": Constants(
        "Transformer, γ held at 1",
        _generalised(2.883739, 3.601216, -0.147171, 0.128686, 0.171548),
        *_BECK,
        "the same runs, δ = 1e-3",
    ),
    "xlstm-gamma-1": Constants(
        "xLSTM, γ held at 1",
        _generalised(3.647908, 4.539955, 0.232921, 0.174547, 0.231116),
        *_BECK,
        "the same runs, δ = 1e-3",
    ),
}
"""Constants of E + (A / N^alpha + B / D^beta)^gamma."""

KAPLAN: dict[str, Constants] = {
    "parameters": Constants("L(N)", {"N_c": 8.8e13, "alpha_N": 0.076}, *_KAPLAN, "eq. 1.1"),
    "tokens": Constants("L(D)", {"D_c": 5.4e13, "alpha_D": 0.095}, *_KAPLAN, "eq. 1.2"),
    "compute": Constants("L(C)", {"C_c": 3.1e8, "alpha_C": 0.050}, *_KAPLAN, "eq. 1.3, C_c in PF-days"),
    "joint": Constants(
        "L(N, D)",
        {"N_c": 6.4e13, "D_c": 1.8e13, "alpha_N": 0.076, "alpha_D": 0.103},
        *_KAPLAN,
        "eq. 1.5",
    ),
    "steps": Constants(
        "L(N, S)",
        {"N_c": 6.5e13, "S_c": 2.1e3, "alpha_N": 0.077, "alpha_S": 0.76},
        *_KAPLAN,
        "eq. 1.6",
    ),
    "optimal-parameters": Constants(
        "N*(C)", {"scale": 1.3e9, "exponent": 0.73}, *_KAPLAN, "scale: parameters at one PF-day"
    ),
    "critical-batch": Constants(
        "critical batch", {"scale": 2.1e8, "alpha_B": 0.21}, *_KAPLAN, "eq. 1.4, tokens"
    ),
}
"""Constants of the functions in `explorer.laws.kaplan`; N counts parameters without embeddings."""

DATA_CONSTRAINED: dict[str, Constants] = {
    "muennighoff-c4": Constants(
        "Muennighoff, C4",
        {**_MUENNIGHOFF_BASE, "R_D": 15.387756, "R_N": 5.309743},
        *_MUENNIGHOFF,
        "182 runs; the base law was held while R_D and R_N were fitted",
    ),
}
"""Constants of the data-constrained law."""

OVERTRAINING: dict[str, Constants] = {
    "c4": Constants("C4", {"E": 1.51, "a": 141.0, "b": 190.0, "eta": 0.121}, *_GADRE, "evaluated on C4"),
    "redpajama": Constants(
        "RedPajama", {"E": 1.84, "a": 212.0, "b": 367.0, "eta": 0.136}, *_GADRE, "evaluated on C4"
    ),
    "refinedweb": Constants(
        "RefinedWeb", {"E": 1.73, "a": 157.0, "b": 246.0, "eta": 0.127}, *_GADRE, "evaluated on C4"
    ),
}
"""Constants of E + (a M^eta + b M^-eta) C^-eta, by training corpus."""

HOFFMANN_EXPONENTS: dict[str, Exponent] = {
    "approach-1": Exponent("Envelope of training curves", 0.50, 0.50, *_HOFFMANN),
    "approach-2": Exponent("IsoFLOP parabolas", 0.49, 0.51, *_HOFFMANN),
    "approach-3": Exponent("Parametric fit", 0.46, 0.54, *_HOFFMANN),
}
"""Exponents of the compute-optimal allocation by the three approaches."""

PORIAN_EXPONENTS: dict[str, dict[str, Exponent]] = {
    corpus: {
        slug: Exponent(title, values[column], None, *_PORIAN)
        for slug, title, values in (
            ("kaplan", "Kaplan's protocol: head not counted, long warm-up", (0.8353, 0.8635)),
            ("head", "and the output head counted", (0.7065, 0.6985)),
            ("warm-up", "and a warm-up that scales with N", (0.6020, 0.6032)),
            ("decay", "and a cosine decay set for each budget", (0.5715, 0.5743)),
            ("tuned", "learning rate, batch and beta2 tuned, constant rate", (0.4969, 0.5185)),
        )
    }
    for column, corpus in enumerate(("refinedweb", "openwebtext2"))
}
"""The exponent of N* as each difference between Kaplan and Hoffmann is removed, by corpus, in order."""

MODELS: dict[str, KnownModel] = {
    "gpt-3": KnownModel("GPT-3", 175e9, 300e9, "Brown et al. 2020", "2005.14165"),
    "gopher": KnownModel("Gopher", 280e9, 300e9, "Rae et al. 2021", "2112.11446"),
    "chinchilla": KnownModel("Chinchilla", 70e9, 1.4e12, *_HOFFMANN),
    "llama-2-70b": KnownModel("Llama 2 70B", 70e9, 2e12, "Touvron et al. 2023", "2307.09288"),
    "llama-3-405b": KnownModel(
        "Llama 3 405B", 405e9, 15.6e12, "Llama Team (Grattafiori et al.) 2024", "2407.21783"
    ),
}
"""Known models as dots for a plot of N and D; N is the total number of parameters."""
