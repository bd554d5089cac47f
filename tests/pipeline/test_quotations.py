"""Quotations can be read alone, and are not cut before what qualifies them."""

from __future__ import annotations

import pytest
from hypothesis import given

from qa_app.pipeline.quotations import LONGEST, cut, has_statistics
from tests.pipeline.values import TEXTS, make_passage, vector_of

FACT = "Ten weekly sets increased growth."


def quoted(text: str) -> list[str]:
    return [" ".join(quotation.sentences) for quotation in cut(make_passage(text))]


@pytest.mark.parametrize(
    "second",
    [
        "This was found in every group.", "They slept as before.", "It took ten weeks.", "These were trained men.",
        "Moreover, strength rose.", "Therefore beginners can do fewer.", "In contrast, five sets did little.",
    ],
)  # fmt: skip
def test_a_quotation_never_begins_with_a_sentence_that_refers_back(second: str) -> None:
    assert quoted(f"{FACT} {second}") == [FACT, f"{FACT} {second}"]


@pytest.mark.parametrize(
    "second",
    ["However, the trials were short.", "But most were men.", "The effect disappeared after a year.", "Only men took part."],
)  # fmt: skip
def test_a_quotation_never_ends_before_a_sentence_that_qualifies_it(second: str) -> None:
    assert quoted(f"{FACT} {second}") == [f"{FACT} {second}"]


def test_sentences_that_stand_alone_are_quoted_alone() -> None:
    assert quoted(f"{FACT} Strength rose in every group.") == [FACT, "Strength rose in every group."]


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


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("It rose (95% CI 0.1 to 0.3).", True),
        ("It rose (p < 0.05).", True),
        ("It rose (SMD = 0.4).", True),
        ("It rose by 4 kg in 12 weeks.", False),
        ("People ate more protein.", False),
    ],
)
def test_statistics_are_told_from_plain_figures(text: str, has: bool) -> None:
    assert has_statistics(text) is has


def test_a_quotation_without_vectors_or_with_another_encoders_has_no_cosine() -> None:
    (quotation,) = cut(make_passage(FACT))

    assert quotation.cosine(vector_of(FACT)) == pytest.approx(1.0, abs=1e-6)
    assert quotation.cosine(None) == quotation.cosine((1.0, 0.0)) == 0.0
