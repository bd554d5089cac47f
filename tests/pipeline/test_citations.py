"""Citation markers: read in every form that writers use, numbered by first appearance, never left in a text."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_app.pipeline.citations import MARKER, citations, marked, number_studies, numbered, parse_markers, with_markers
from qa_app.pipeline.records import Sentence, SentenceKind, Span, Verdict
from tests.pipeline.values import SENTENCES, make_candidate, make_evidence

numbers = st.lists(st.integers(1, 99), max_size=5, unique=True).map(tuple)
FUZZED = int(os.environ.get("FUZZED", "2000"))  # `make fuzz` makes many more
PIECES = (
    *("[", "]", "［", "］", "【", "】", "[1]", "[2, 3]", "[^4]", "[p1]", "[0]", "[99]", "[1-3]"),
    *("(x)", "(javascript:y(1))", "†s", " ", "1", ","),
)
garbage = (
    st.text(st.sampled_from("[]［］【】1２39,;，、-–^ \t\nab.é💪"), max_size=40)
    | st.text()
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)


def sentence_citing(*study_ids: str) -> Sentence:
    spans = tuple(Span(n, 1, study_id, 0, 5, "Words") for n, study_id in enumerate(study_ids, start=1))
    return Sentence("Words", (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, spans)


@pytest.mark.parametrize(
    ("text", "stripped", "found"),
    [
        ("It grows [1, 3].", "It grows.", (1, 3)), ("It grows [1] [3].", "It grows.", (1, 3)),
        ("It grows [1, 3–5; 7].", "It grows.", (1, 3, 4, 5, 7)), ("It grows [9-2] [1-4000].", "It grows.", (9, 2, 1, 4000)),
        ("It grows 【1，2】.", "It grows.", (1, 2)), ("It grows[^1].", "It grows.", (1,)), ("It grows [[1]].", "It grows.", (1,)),
        ("It grows [3][1][3].", "It grows.", (3, 1)), ("[1] It grows", "It grows", (1,)),
        ("It grows [[[1] 2] 3].", "It grows 3].", (1, 2)), ("It grows [ [ [ [1] 2] 3] 4].", "It grows   3 4.", (1, 2)),
        ("It grows [a].", "It grows [a].", ()), ("It grows [12345].", "It grows.", (12345,)),
        ("It grows [1234567890].", "It grows.", ()), ("It grows [0] [99].", "It grows.", (0, 99)),
        ("It grows [p3].", "It grows.", ()), ("It grows [Source 2; 3].", "It grows.", (3,)),
        ("It grows 【2†source】.", "It grows.", (2,)), ("It grows 〔2〕 and [1 & 3].", "It grows and.", (2, 1, 3)),
        ("It grows [1](https://example.org/a?b=c) well.", "It grows well.", (1,)),
        ("It grows [1](javascript:alert(1)).", "It grows.", (1,)), ("It grows [1] (in men).", "It grows (in men).", (1,)),
        ("Interval [0.2 to 0.4], dose [5 mg].", "Interval [0.2 to 0.4], dose [5 mg].", ()),
        ("It gr[1]ows.", "It grows.", (1,)), ("It grows [].", "It grows [].", ()), ("It grows (1).", "It grows (1).", ()),
    ],
)  # fmt: skip
def test_markers_are_read_and_taken_out(text: str, stripped: str, found: tuple[int, ...]) -> None:
    assert parse_markers(text) == (stripped, found)


@settings(max_examples=FUZZED, deadline=None)
@given(garbage)
@pytest.mark.slow
def test_no_marker_survives_whatever_is_written(text: str) -> None:
    stripped, found = parse_markers(text)

    assert MARKER.search(stripped) is None
    assert parse_markers(stripped) == (stripped, ())
    assert len(set(found)) == len(found)


@given(
    st.sampled_from(SENTENCES) | st.sampled_from(["Does it grow?", "It grows!", "no full stop", "💪 grows."]), numbers
)
def test_what_is_marked_is_read_back(text: str, cited: tuple[int, ...]) -> None:
    assert parse_markers(marked(text, cited)) == (text, cited)


def test_markers_stand_before_the_closing_mark_and_those_of_the_source_go() -> None:
    for text, cited, expected in (
        ("It grows.", (1,), "It grows [1]."), ("Why?", (1, 2), "Why [1][2]?"), ("no stop", (3,), "no stop [3]"),
        ("It grows.", (), "It grows."), ("Others saw this [12].", (1,), "Others saw this [1]."),
        ("Others saw this [12].", (), "Others saw this."),
    ):  # fmt: skip
        assert marked(text, cited) == expected
    paragraphs = with_markers([("One.", (1,), 0), ("Two.", (), 0), ("Three.", (2,), 1)])
    assert paragraphs == "One [1]. Two.\n\nThree [2]."


@given(st.lists(st.lists(st.sampled_from("ABC"), max_size=3), max_size=5))
def test_each_sentence_bears_the_numbers_of_its_studies_once(behind: list[list[str]]) -> None:
    sentences = tuple(sentence_citing(*own) for own in behind)
    numbers = number_studies(sentences, make_evidence(*(make_candidate(study=study) for study in "ABC")))
    names = {number: study for study, number in numbers.items()}

    for sentence, own in zip(numbered(sentences, numbers), behind, strict=True):
        assert [names[number] for number in sentence.citations] == list(dict.fromkeys(own))


def test_cited_studies_of_the_evidence_are_numbered_by_first_appearance() -> None:
    evidence = make_evidence(*(make_candidate(study=study) for study in ("T001", "T002", "T003", "T004")))
    sentences = [
        sentence_citing("T003"),
        sentence_citing("T999"),
        sentence_citing("T001", "T003"),
        sentence_citing("T002"),
    ]

    found = number_studies(sentences, evidence)

    assert found == {"T003": 1, "T001": 2, "T002": 3}
    assert [(c.index, c.study.study_id) for c in citations(found, evidence)] == [(1, "T003"), (2, "T001"), (3, "T002")]
