"""Quotations can be read alone, and are not cut before what qualifies them."""

from __future__ import annotations

import pytest
from hypothesis import given

from qa_app.pipeline.quotations import LONGEST, cut, has_statistics
from tests.pipeline.rows import read_rows
from tests.pipeline.values import TEXTS, make_passage, vector_of

ROWS = read_rows("quotations")
FACT = "Ten weekly sets increased growth."


def labelled(label: str, value: object) -> list[str]:
    """Return the passages of the labelled table with this label."""
    return [row["passage"] for row in ROWS if label in row and row[label] == value]


def quoted(text: str) -> list[str]:
    return [" ".join(quotation.sentences) for quotation in cut(make_passage(text))]


def test_a_quotation_neither_begins_with_what_refers_back_nor_ends_before_what_qualifies_it() -> None:
    assert [passage for passage in labelled("ties", "back") if quoted(passage) != [FACT, passage]] == []
    assert [passage for passage in labelled("ties", "qualifies") if quoted(passage) != [passage]] == []
    for passage in labelled("ties", None):
        assert quoted(passage) == [FACT, passage.removeprefix(f"{FACT} ")]


@pytest.mark.parametrize("text", ["This was found.", "However, it was short. But it was sound."])
def test_a_passage_that_opens_with_what_refers_back_is_not_quoted_from_there(text: str) -> None:
    assert quoted(text) == []
    assert quoted(f"{text} {FACT}") == [FACT]


def test_a_run_that_is_too_long_is_not_quoted() -> None:
    whole = " ".join([FACT, *["But this changed."] * LONGEST])

    assert quoted(whole) == []
    assert quoted(whole.removesuffix(" But this changed.")) == [whole.removesuffix(" But this changed.")]


@given(TEXTS)
def test_every_quotation_is_whole_sentences_word_for_word(text: str) -> None:
    passage = make_passage(text)
    spans = passage.sentences
    runs = set()

    for quotation in cut(passage):
        start, end = spans[quotation.first].start, spans[quotation.last].end
        assert quotation.first <= quotation.core <= quotation.last < quotation.first + LONGEST
        assert text[start:end].split() == " ".join(quotation.sentences).split()
        assert quotation.words == len(text[start:end].split())
        runs.add((quotation.first, quotation.last))

    assert len(runs) == len(list(cut(passage)))


@given(TEXTS)
def test_every_quotation_can_be_read_alone(text: str) -> None:
    passage = make_passage(text)
    sentences = [text[s.start : s.end] for s in passage.sentences]

    for quotation in cut(passage):
        assert not sentences[quotation.first].startswith(("This", "However", "These", "The effect", "They", "Although"))
        assert not sentences[quotation.last + 1 : quotation.last + 2] or not sentences[quotation.last + 1].startswith(
            ("However", "The effect", "These results", "Although")
        )


def test_statistics_are_told_from_plain_figures() -> None:
    for has in (True, False):
        assert [text for text in labelled("statistics", has) if has_statistics(text) is not has] == []


def test_a_quotation_without_vectors_or_with_another_encoders_has_no_cosine() -> None:
    (quotation,) = cut(make_passage(FACT))

    assert quotation.cosine(vector_of(FACT)) == pytest.approx(1.0, abs=1e-6)
    assert quotation.cosine(None) == quotation.cosine((1.0, 0.0)) == 0.0
