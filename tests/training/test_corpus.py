"""The text: cleaned, without repeats across the split, split by document, and plain words for bad input."""

from pathlib import Path

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.training.corpus import Tokenizer, clean, load_corpus


def shingles(text: str, length: int = 48) -> set[str]:
    return {text[i : i + length] for i in range(len(text) - length + 1)}


def words_of_paragraphs(text: str) -> set[str]:
    return {"".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()}


@pytest.fixture(scope="module")
def poem() -> str:
    rng = np.random.default_rng(0)
    words = ["law", "loss", "seed", "token", "width", "curve", "step", "point"]
    return "\n\n".join(" ".join(rng.choice(words, 12)) + f" {i}." for i in range(400))


@pytest.mark.parametrize("name", ["code", "prose"])
def test_no_paragraph_of_the_held_out_text_was_trained_on(name):
    corpus = load_corpus(name)
    training = words_of_paragraphs(corpus.tokenizer.decode(corpus.training))
    held_out = words_of_paragraphs(corpus.tokenizer.decode(corpus.held_out))
    assert len(held_out) > 100
    # Symbols outside ASCII share one id, so two paragraphs that differ in them alone may look alike here.
    assert sum("\N{REPLACEMENT CHARACTER}" not in same for same in training & held_out) == 0


def test_repeats_of_a_plain_split_are_gone():
    from pydoc_data.topics import topics

    plain = [text for _, text in sorted(topics.items())]
    trained = set().union(*(shingles(text) for i, text in enumerate(plain) if i % 9 != 4))
    held_out = set().union(*(shingles(text) for i, text in enumerate(plain) if i % 9 == 4))
    before = len(trained & held_out) / len(held_out)
    corpus = load_corpus("prose")
    decode = corpus.tokenizer.decode
    held_out = shingles(decode(corpus.held_out))
    after = len(shingles(decode(corpus.training)) & held_out) / len(held_out)
    assert before > 0.2
    assert after < 0.03


def test_shipped_corpora_are_what_the_sizes_need():
    code, prose = load_corpus("code"), load_corpus("prose")
    assert code.vocabulary == prose.vocabulary == 97
    assert len(code.training) > 2_000_000
    assert len(prose.training) > 200_000
    for corpus in (code, prose):
        share = len(corpus.held_out) / (len(corpus.held_out) + len(corpus.training))
        assert 0.09 < share < 0.13
        assert corpus.facts["split"].startswith("by document")
        assert corpus.training.max() < 97
        assert 3.0 < corpus.unigram_entropy() < np.log(97)


def test_split_is_the_same_every_time_and_follows_documents(tmp_path, poem):
    for i in range(18):
        (tmp_path / f"part {i}.txt").write_text("\n\n".join(poem.split("\n\n")[20 * i : 20 * i + 20]))
    first, second = load_corpus(tmp_path), load_corpus(str(tmp_path))
    np.testing.assert_array_equal(first.training, second.training)
    np.testing.assert_array_equal(first.held_out, second.held_out)
    held_out = words_of_paragraphs(first.tokenizer.decode(first.held_out))
    for i in range(18):
        document = words_of_paragraphs((tmp_path / f"part {i}.txt").read_text())
        assert len(document & held_out) in (0, len(document))
    assert first.documents == 18


def test_one_file_is_split_by_blocks_and_says_so(tmp_path, poem):
    path = tmp_path / "poem.txt"
    path.write_text(poem)
    corpus = load_corpus(path)
    assert "contiguous blocks" in corpus.facts["split"]
    decode = corpus.tokenizer.decode
    held_out = words_of_paragraphs(decode(corpus.held_out))
    assert not held_out & words_of_paragraphs(decode(corpus.training))
    assert 0.05 < len(corpus.held_out) / len(poem) < 0.2


def test_text_without_blank_lines_is_split_by_lines(tmp_path, poem):
    path = tmp_path / "lines.txt"
    path.write_text(poem.replace("\n\n", "\n"))
    corpus = load_corpus(path)
    assert len(corpus.held_out) > 500


def test_folder_skips_what_is_not_text(tmp_path, poem):
    (tmp_path / "poem.txt").write_text(poem)
    (tmp_path / "image.bin").write_bytes(b"\0\1\2\3" * 99)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / ".hidden").write_text("secret\n" * 99)
    corpus = load_corpus(tmp_path)
    assert corpus.documents == 1
    assert corpus.facts["files skipped (empty, unreadable or not text)"] == 2


def test_97_symbols_and_back():
    tokenizer = Tokenizer("characters")
    text = "\n" + "".join(map(chr, range(32, 127))) + "é\t\N{GRINNING FACE}"
    ids = tokenizer.encode(text)
    assert tokenizer.vocabulary == 97
    assert sorted(set(ids.tolist())) == list(range(97))
    assert len(ids) == len(text)
    assert tokenizer.decode(ids[:96]) == text[:96]
    assert set(ids[96:].tolist()) == {96}


def test_bytes_and_back():
    tokenizer = Tokenizer("bytes")
    assert tokenizer.vocabulary == 256
    assert tokenizer.decode(tokenizer.encode("naïve — text\n")) == "naïve — text\n"


def test_cleaning():
    assert clean("a   b\r\n\r\n\r\n\r\nc  \n------------\nd") == "a b\n\nc\n---\nd"
    assert clean("def f():\n    if x:\n        return  1") == "def f():\n if x:\n  return 1"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file or folder"),
        (b"", "is empty"),
        (b" \n \n", "is empty"),
        (b"\x00\x01\x02ELF" * 500, "not UTF-8 text"),
        (b"\xff\xfe\x80\x81" * 500, "not UTF-8 text"),
        (b"one long line " * 500, "single line of 7,000 characters"),
        (b"one short line\nand another one\n", "has 30 characters"),
        (b"the same line\n" * 5_000, "once repeats are dropped"),
    ],
)
def test_bad_texts_are_told_in_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "text"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=sentence):
        load_corpus(path)


def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "locked.txt"
    path.write_text("text\n" * 999)

    def locked(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(BadInput, match=r"locked.txt' cannot be read: Permission denied"):
        load_corpus(path)


def test_a_file_too_long_is_cut_and_says_so(tmp_path, monkeypatch, poem):
    monkeypatch.setattr("explorer.training.corpus.LONGEST", 10_000)
    path = tmp_path / "poem.txt"
    path.write_text(poem)
    corpus = load_corpus(path)
    assert corpus.facts["bytes left unread beyond 10,000"] == len(poem) - 10_000
    assert corpus.characters == 10_000


@pytest.mark.parametrize("name", ["", " ", "a\0b", "x" * 5_000, "~no such user/text"])
def test_names_that_no_file_can_have(name):
    with pytest.raises(BadInput):
        load_corpus(name)


def test_other_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no readable text file"):
        load_corpus(tmp_path)
    with pytest.raises(BadInput, match="no tokenizer"):
        load_corpus("code", "words")  # type: ignore[arg-type]
