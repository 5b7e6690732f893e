"""Text for the tiny models: read, cleaned, split into training and held-out tokens.

What an interpreter ships is full of repeats, and a repeat that stands on both sides of the split is measured
as skill. So paragraphs are deduplicated over the whole corpus, rulers and runs of spaces are collapsed, and
whole documents are held out. The same text gives the same corpus, always.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from explorer.errors import BadInput

NAMES = ("code", "prose")
HELD_OUT_SHARE = 0.11
FEWEST_DOCUMENTS = 9
"""With fewer documents than this, holding whole ones out would take far more than 11 %."""
BLOCKS = 27
"""A corpus of few documents is cut into this many blocks in order; three of them are held out."""
SHORTEST = 2_000
"""Characters after cleaning below which there is nothing to train on and nothing to measure with."""
LONGEST = 20_000_000
"""Bytes of a person's files that are read; the rest is left unread, and the facts say so."""

TokenizerName = Literal["characters", "bytes"]


@dataclass(frozen=True)
class Tokenizer:
    """Text to token ids and back.

    Args:
        name: "characters" (newline, printable ASCII, and one symbol for every other character: 97 symbols) or
            "bytes" (UTF-8: 256 symbols).
    """

    name: TokenizerName = "characters"

    def __post_init__(self) -> None:
        if self.name not in ("characters", "bytes"):
            raise BadInput(f"There is no tokenizer called {self.name!r}; choose 'characters' or 'bytes'.")

    @property
    def vocabulary(self) -> int:
        """Number of symbols."""
        return 97 if self.name == "characters" else 256

    def encode(self, text: str) -> np.ndarray:
        """Token ids of `text`: uint8, one a character or one a byte."""
        if self.name == "bytes":
            return np.frombuffer(text.encode("utf-8", "replace"), np.uint8).copy()
        code_points = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
        return _ID_OF_ASCII[np.minimum(code_points, 127)]

    def decode(self, ids: np.ndarray) -> str:
        """Text of token ids; the symbol for other characters reads as the replacement character."""
        if self.name == "bytes":
            return np.asarray(ids, np.uint8).tobytes().decode("utf-8", "replace")
        return "".join(_SYMBOLS[i] for i in ids)


_SYMBOLS = ["\n", *map(chr, range(32, 127)), "\N{REPLACEMENT CHARACTER}"]
_ID_OF_ASCII = np.full(128, len(_SYMBOLS) - 1, np.uint8)
_ID_OF_ASCII[[ord(symbol) for symbol in _SYMBOLS[:-1]]] = np.arange(len(_SYMBOLS) - 1)


@dataclass(frozen=True)
class Corpus:
    """A text split in two.

    Args:
        name: "code", "prose", or the path that was given.
        training: uint8 token ids to train on.
        held_out: uint8 token ids to measure on; no paragraph of it stands in `training`.
        tokenizer: how ids and text map to each other.
        documents: number of documents read.
        characters: characters of the text as read, before cleaning.
        facts: what was dropped, and how it was split, for people to read.
    """

    name: str
    training: np.ndarray
    held_out: np.ndarray
    tokenizer: Tokenizer
    documents: int
    characters: int
    facts: dict[str, str | int] = field(default_factory=dict)

    @property
    def vocabulary(self) -> int:
        """Number of symbols."""
        return self.tokenizer.vocabulary

    def unigram_entropy(self) -> float:
        """Nats a token on the held-out text of the best predictor without context, fitted to the training
        text.

        Every symbol is counted once more than it occurs, so that one that training lacks costs a finite
        amount.
        """
        counts = np.bincount(self.training, minlength=self.vocabulary) + 1.0
        return float(-np.mean(np.log(counts / counts.sum())[self.held_out]))


def load_corpus(name: str | Path, tokenizer: TokenizerName = "characters") -> Corpus:
    """The cleaned and split corpus.

    Args:
        name: "code" (top-level modules of Python's standard library), "prose" (Python's language reference as
            pydoc carries it), or the path of a text file or of a folder of text files (UTF-8).
        tokenizer: "characters" (97 symbols) or "bytes" (256).

    Raises:
        BadInput: nothing is there, it cannot be read, is not text, is empty, is one line, or is too short.
    """
    made = Tokenizer(tokenizer)
    if str(name) in NAMES:
        return _shipped(str(name), made)
    documents, facts = _read_files(str(name))
    return split_documents(str(name), documents, made, facts)


@functools.lru_cache(maxsize=4)
def _shipped(name: str, tokenizer: Tokenizer) -> Corpus:
    """The corpora that every Python brings along; kept, since they cannot change while the process lives."""
    documents = _standard_library() if name == "code" else _language_reference()
    return split_documents(name, documents, tokenizer, {})


def _standard_library() -> dict[str, str]:
    folder = Path(sysconfig.get_path("stdlib"))
    paths = sorted(folder.glob("*.py"))
    if not paths:
        raise BadInput(
            f"This Python ships no source of its standard library in {folder}; "
            "choose the corpus 'prose' or give a text of your own."
        )
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in paths}


def _language_reference() -> dict[str, str]:
    from pydoc_data.topics import topics

    return dict(sorted(topics.items()))


# ---------------------------------------------------------------------------------------- a person's own text


def _read_files(given: str) -> tuple[dict[str, str], dict[str, str | int]]:
    """Documents by name, and facts about what was skipped."""
    path = _existing(given)
    documents: dict[str, str] = {}
    skipped = unread = 0
    left = LONGEST
    files = _listing(path) if path.is_dir() else [path]
    for file in files:
        try:
            text, size = _read_text(file, left)
        except BadInput:
            if not path.is_dir():
                raise
            skipped += 1
            continue
        unread += max(0, size - left)
        left = max(0, left - size)
        if text:
            documents[str(file.relative_to(path)) if path.is_dir() else file.name] = text
    if not documents:
        raise BadInput(f"The folder {given!r} has no readable text file in it.")
    facts: dict[str, str | int] = {}
    if skipped:
        facts["files skipped (empty, unreadable or not text)"] = skipped
    if unread:
        facts[f"bytes left unread beyond {LONGEST:,}"] = unread
    return documents, facts


def _existing(given: str) -> Path:
    """The path that was given, if something is there."""
    if given.strip():
        try:
            path = Path(given).expanduser()
            if path.exists():
                return path
        except (OSError, RuntimeError, ValueError) as fault:  # no access, no such user, no such name possible
            raise BadInput(f"The path {given!r} cannot be used: {fault}.") from None
    raise BadInput(f"There is no file or folder {given!r}; give 'code', 'prose' or the path of a text file.")


def _listing(folder: Path) -> list[Path]:
    """The files of a folder and of its subfolders, sorted, without hidden ones."""
    try:
        next(folder.iterdir(), None)
    except OSError as fault:
        raise BadInput(f"The folder {str(folder)!r} cannot be read: {fault.strerror}.") from None
    return sorted(
        file
        for file in folder.rglob("*")
        if not any(part.startswith(".") for part in file.relative_to(folder).parts) and file.is_file()
    )


def _read_text(path: Path, most: int) -> tuple[str, int]:
    """The text of at most the first `most` bytes of a file, and how many bytes the file has."""
    try:
        with path.open("rb") as file:
            raw = file.read(most)
            size = os.fstat(file.fileno()).st_size
    except OSError as fault:
        raise BadInput(f"The file {str(path)!r} cannot be read: {fault.strerror}.") from None
    if most and not raw.strip():
        raise BadInput(f"The file {str(path)!r} is empty; give a text to train on.")
    text = raw.decode("utf-8-sig", "replace")
    if "\0" in text or text.count("\N{REPLACEMENT CHARACTER}") > len(text) // 50:
        raise BadInput(f"The file {str(path)!r} is not UTF-8 text; give a plain text file.")
    return text, size


# ----------------------------------------------------------------------------------------- clean, drop, split


def clean(text: str) -> str:
    """`text` with rulers, runs of spaces and runs of blank lines collapsed.

    Leading indentation is kept, one space for four, since it carries meaning in code.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").expandtabs(4)
    text = re.sub(r" +\n", "\n", text)
    text = re.sub(r"(?<=[^ \n]) {2,}", " ", text)
    text = text.replace("    ", " ")
    text = re.sub(r"([^\w\s])\1{3,}", r"\1\1\1", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _paragraphs(text: str) -> list[str]:
    return [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]


def _first_of_each(documents: Iterable[list[str]]) -> list[list[str]]:
    """The same documents without any paragraph that stood before, in whatever layout."""
    seen: set[str] = set()
    kept = []
    for paragraphs in documents:
        fresh = []
        for paragraph in paragraphs:
            wording = "".join(paragraph.split())
            if wording not in seen:
                seen.add(wording)
                fresh.append(paragraph)
        kept.append(fresh)
    return kept


def split_documents(
    name: str, documents: dict[str, str], tokenizer: Tokenizer, facts: dict[str, str | int]
) -> Corpus:
    """Documents by title, cleaned, freed of repeats and split in two. Raises BadInput if there is too little text."""
    cleaned = {title: clean(text) for title, text in documents.items()}
    lines = sum(text.count("\n") + 1 for text in cleaned.values() if text)
    length = sum(map(len, cleaned.values()))
    if lines < 2:
        raise BadInput(
            f"The text {name!r} is a single line of {length:,} characters; "
            "give a text of many lines or paragraphs, so that a part of it can be held out."
        )
    by_document = len(cleaned) >= FEWEST_DOCUMENTS
    pieces = {title: _paragraphs(text) for title, text in cleaned.items()}
    joint = "\n\n"
    if not by_document and sum(map(len, pieces.values())) < 2 * BLOCKS:
        # A text without blank lines: its lines are the smallest units that can repeat.
        pieces = {title: [line for line in text.split("\n") if line] for title, text in cleaned.items()}
        joint = "\n"
    count = sum(map(len, pieces.values()))
    pieces = dict(zip(pieces, _first_of_each(pieces.values()), strict=True))
    kept = sum(map(len, pieces.values()))
    texts = {title: joint.join(paragraphs) for title, paragraphs in pieces.items() if paragraphs}
    length = sum(map(len, texts.values()))
    if length < SHORTEST:
        raise BadInput(
            f"The text {name!r} has {length:,} characters once repeats are dropped; "
            f"at least {SHORTEST:,} are needed, and some 100,000 for a curve worth fitting."
        )
    if by_document:
        held_out = _documents_held_out(texts)
        sides = (
            joint.join(text for title, text in texts.items() if title not in held_out),
            joint.join(text for title, text in texts.items() if title in held_out),
        )
        how = f"by document: {len(held_out)} of {len(texts)} are held out"
    else:
        blocks = _blocks([unit for paragraphs in pieces.values() for unit in paragraphs])
        sides = (
            joint.join(unit for i, block in enumerate(blocks) if i % 9 != 4 for unit in block),
            joint.join(unit for i, block in enumerate(blocks) if i % 9 == 4 for unit in block),
        )
        how = f"by contiguous blocks: every ninth of {len(blocks)} is held out, since there are few documents"
    if min(map(len, sides)) == 0:
        raise BadInput(
            f"The text {name!r} cannot be split: one paragraph is nearly all of it; break it into lines."
        )
    training, held = map(tokenizer.encode, sides)
    facts = {
        "split": how,
        "training tokens": len(training),
        "held-out tokens": len(held),
        "paragraphs read": count,
        "paragraphs dropped as repeats": count - kept,
        "characters dropped by cleaning and as repeats": sum(map(len, documents.values())) - length,
        **facts,
    }
    characters = sum(map(len, documents.values()))
    return Corpus(name, training, held, tokenizer, len(documents), characters, facts)


def _documents_held_out(texts: dict[str, str]) -> set[str]:
    """Titles of documents that together hold about 11 % of the characters.

    Titles are tried in the order of their hash: an order that has nothing to do with their content, and that
    does not change when a document is added elsewhere.
    """
    wanted = HELD_OUT_SHARE * sum(map(len, texts.values()))
    chosen: set[str] = set()
    taken = 0
    for title in sorted(
        texts, key=lambda title: hashlib.sha256(title.encode("utf-8", "backslashreplace")).digest()
    ):
        if taken + len(texts[title]) <= 1.1 * wanted:
            chosen.add(title)
            taken += len(texts[title])
        if taken >= wanted:
            break
    return chosen or {min(texts, key=lambda title: len(texts[title]))}


def _blocks(units: list[str]) -> list[list[str]]:
    """`units` in order, cut into blocks of about equal length."""
    ends = np.cumsum([len(unit) for unit in units])
    which = np.minimum((ends - 1) * BLOCKS // ends[-1], BLOCKS - 1)
    return [[unit for unit, block in zip(units, which, strict=True) if block == i] for i in range(BLOCKS)]
