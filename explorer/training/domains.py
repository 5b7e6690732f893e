"""Domains to mix: texts of different kinds that every Python brings along, made-up sums, or a person's own folders.

    prose   Python's language reference
    code    top-level modules of the standard library
    names   names of characters, from the Unicode table
    sums    generated lines such as 417+35=452: made up, not found

Each is cleaned and split as `explorer.training.corpus` does it, so that nothing that is measured was read before.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence

import numpy as np

from explorer.errors import BadInput
from explorer.simplex import FEWEST, MOST
from explorer.training.corpus import NAMES as SHIPPED
from explorer.training.corpus import Corpus, Tokenizer, TokenizerName, load_corpus, split_documents

DOMAINS = (*SHIPPED, "names", "sums")
NAMED_CODE_POINTS = 0x20000
"""Beyond this nearly all names only count."""
NAMES_A_DOCUMENT = 200
SUMS, SUMS_A_DOCUMENT, LARGEST_TERM = 60_000, 500, 999


def load_domains(names: Sequence[str], tokenizer: TokenizerName = "characters") -> list[Corpus]:
    """The corpora to mix.

    Args:
        names: two to eight of `DOMAINS`, or paths of text files and of folders of text files.
        tokenizer: one for all of them.

    Raises:
        BadInput: too few or too many, one given twice, or one that is empty, too short, no text, or not there.
    """
    names = [name.strip() for name in names]
    if not FEWEST <= len(names) <= MOST:
        raise BadInput(
            f"{len(names)} domain{'s' * (len(names) != 1)} cannot be mixed; give {FEWEST} to {MOST}, for example "
            "prose, code, names."
        )
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"The domain {name!r} is given twice; give each domain once.")
    return [load_domain(name, tokenizer) for name in names]


def load_domain(name: str, tokenizer: TokenizerName = "characters") -> Corpus:
    """The corpus of one domain; see `load_domains`."""
    if name == "names":
        return _names(Tokenizer(tokenizer))
    if name == "sums":
        return _sums(Tokenizer(tokenizer))
    return load_corpus(name, tokenizer)


@functools.lru_cache(maxsize=2)
def _names(tokenizer: Tokenizer) -> Corpus:
    """Names that say something: those with a digit, and of Hangul syllables, follow from the code point."""
    found = (unicodedata.name(chr(point), "") for point in range(NAMED_CODE_POINTS))
    lines = [
        name
        for name in found
        if name
        and not any(sign.isdigit() for sign in name)
        and not name.startswith(("HANGUL SYLLABLE", "CJK "))
    ]
    return split_documents("names", _documents(lines, NAMES_A_DOCUMENT), tokenizer, {})


@functools.lru_cache(maxsize=2)
def _sums(tokenizer: Tokenizer) -> Corpus:
    """Lines a+b=c, no pair of terms twice."""
    pairs = np.random.default_rng(0).choice((LARGEST_TERM + 1) ** 2, SUMS, replace=False)
    a, b = np.divmod(pairs, LARGEST_TERM + 1)
    lines = [f"{one}+{other}={one + other}" for one, other in zip(a.tolist(), b.tolist(), strict=True)]
    return split_documents("sums", _documents(lines, SUMS_A_DOCUMENT), tokenizer, {"text": "generated"})


def _documents(lines: list[str], size: int) -> dict[str, str]:
    return {str(i): "\n".join(lines[i : i + size]) for i in range(0, len(lines), size)}
