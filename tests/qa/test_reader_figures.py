"""Figures of reader questions, worked out by hand on rows of a few words."""

from typing import Any

import pytest

from qa_app.evaluation.reader_figures import ReaderResult, corpus_report, figures, measure, report, worse
from qa_app.evaluation.reader_labels import Expect, LabelledPoint, ReaderQuestion
from qa_app.pipeline.records import HeadlineVerdict


def make_question(expect: str = "answer", **changes: Any) -> ReaderQuestion:
    fields: dict[str, Any] = {"id": "r-1", "question": "?", "expect": Expect(expect), "relevant": {"A": 2, "B": 1}}
    return ReaderQuestion(**(fields | changes))


def make_body(*sentences: tuple[str, list[int]], outcome: str = "answered", **changes: Any) -> dict[str, Any]:
    """A payload whose citations 1, 2, 3 are the studies A, B, C, as far as sentences cite them."""
    cited = sorted({index for _, indexes in sentences for index in indexes})
    rows = [{"text": text, "citations": indexes} for text, indexes in sentences]
    return {
        "outcome": outcome, "summary": {"text": " ".join(text for text, _ in sentences), "sentences": rows},
        "answer": {"text": "More of it.", "sentences": [{"text": "More of it.", "citations": []}]},
        "citations": [{"index": index, "study_id": "ABC"[index - 1]} for index in cited],
        "confidence": {"score": 80.0}, "evidence": [],
    } | changes  # fmt: skip


def make_result(expect: str = "answer", outcome: str | None = "answered", **changes: Any) -> ReaderResult:
    question = changes.pop("question", None) or make_question(expect)
    return ReaderResult(question, outcome, **changes)


def values(*results: ReaderResult) -> dict[str, Any]:
    return {name: figure["value"] for name, figure in figures(results).items()}


def test_the_lead_is_the_study_of_the_first_sentence_that_cites() -> None:
    body = make_body(("In short.", []), ("Ten sets.", [2]), ("Five sets.", [1]))

    result = measure(make_question(), body)
    empty = measure(make_question(), {"outcome": "insufficient_evidence", "headline": None, "confidence": None})

    assert (result.first, result.cited, result.has_right_lead) == ("B", ("A", "B"), False)
    assert measure(make_question(lead=frozenset({"B"})), body).has_right_lead
    assert (empty.first, empty.cited, empty.verdict, empty.confidence) == (None, (), None, None)


@pytest.mark.parametrize(
    ("numbers", "sentences", "is_covered"),
    [((), [("Sets help.", [1])], True), ((), [("Sets help.", [2])], False),
     (("1,200 g", "4.5"), [("It was 1200 g.", [1]), ("And 4.5.", [1])], True),
     (("10",), [("Sets help.", [1]), ("10 sets.", [2])], False), (("10",), [("It was 10.5.", [1])], False)],
)  # fmt: skip
def test_points_need_a_study(
    numbers: tuple[str, ...], sentences: list[tuple[str, list[int]]], is_covered: bool
) -> None:
    question = make_question(points=(LabelledPoint("p", frozenset({"A"}), numbers),))

    assert measure(question, make_body(*sentences)).points == (is_covered,)


@pytest.mark.parametrize(
    ("expect", "outcome", "first", "served"),
    [("answer", "answered", "A", 1.0), ("answer", "answered", "B", 0.0), ("answer", None, None, 0.0),
     ("conflict", "insufficient_evidence", None, 0.0), ("refuse", "guardrail", None, 1.0),
     ("out_of_scope", "answered", "A", 0.0), ("guardrail", "out_of_scope", None, 0.0),
     ("about_corpus", "answered", "A", None)],
)  # fmt: skip
def test_a_question_is_served_or_not(expect: str, outcome: str | None, first: str | None, served: float | None) -> None:
    assert values(make_result(expect, outcome, first=first))["served"] == served


def test_shares_of_answerable_questions() -> None:
    points = (LabelledPoint("p", frozenset({"A"})), LabelledPoint("q", frozenset({"B"})))
    right = make_result(first="A", cited=("A", "C"), question=make_question(points=points), points=(True, False))
    wrong = make_result("partial", first="C", cited=("C",))
    refused = make_result("conflict", "insufficient_evidence")
    guarded = make_result(outcome="guardrail", question=make_question(points=points), points=(False, False))

    found = figures([right, wrong, refused, guarded])

    expected = {
        "answered": 0.5, "wrongly_refused": 0.25, "lead": 0.5, "precision": 0.25, "recall2": 0.25, "points": 0.25,
    }  # fmt: skip
    assert {name: found[name]["value"] for name in expected} == expected
    assert (found["lead"]["n"], found["recall2"]["n"]) == (2, 4)


def test_headline_verdicts_are_compared_on_answers_alone() -> None:
    no, yes = make_question(verdict=HeadlineVerdict.NO), make_question(verdict=HeadlineVerdict.YES)
    results = [
        make_result(question=no, verdict="yes"), make_result(question=no, verdict="no"),
        make_result(question=yes, verdict="no"), make_result(question=yes, verdict=None),
        make_result(question=yes, verdict=None, outcome="insufficient_evidence"),
        make_result(question=make_question(), verdict="yes"),
    ]  # fmt: skip

    found = figures(results)

    assert found["headline_verdict"] == {"value": 0.25, "n": 4}
    assert (found["yes_for_no"]["value"], found["no_for_yes"]["value"]) == (1.0, 1.0)
    assert report(results)["verdicts"] == {"no": {"yes": 1, "no": 1}, "yes": {"no": 1, "none": 1}}


def test_confidence_is_compared_with_a_right_lead_over_all_that_was_answered() -> None:
    results = [
        make_result(first="A", confidence=90.0), make_result(first="C", confidence=50.0),
        make_result("refuse", question=make_question("refuse", relevant=None), first="C", confidence=90.0),
        make_result("refuse", "insufficient_evidence"), make_result("guardrail", first="A", confidence=10.0),
    ]  # fmt: skip

    found = figures(results)

    assert found["confidence_auroc"] == {"value": 0.75, "n": 3}
    assert found["confidence_mean"]["value"] == pytest.approx(0.7667, abs=1e-4)
    assert found["confidence_right"]["value"] == pytest.approx(0.3333, abs=1e-4)
    # Two answers at .9 of which one is right, one at .5 that is wrong: (2 x .4 + .5) / 3.
    assert found["confidence_ece"]["value"] == pytest.approx(0.4333, abs=1e-4)
    assert values(results[0])["confidence_auroc"] is None


def test_a_corpus_is_judged_on_near_and_far_questions() -> None:
    deep = make_question(points=(LabelledPoint("4 cm deep", frozenset("A"), ()),))
    results = [
        make_result(question=deep, headline="Sow 4 cm deep.", first="A", retrieved="A"), make_result(outcome="insufficient_evidence", retrieved="A"),
        make_result(outcome="guardrail"), make_result("refuse", confidence=98.0),
        make_result("refuse", "insufficient_evidence"), make_result("out_of_scope", "out_of_scope"),
    ]  # fmt: skip

    found = corpus_report(results)["figures"]

    assert {name: (row["count"], row["n"]) for name, row in found.items() if "count" in row} == {
        "right_cited_first": (1, 3), "right_of_answered": (1, 1), "right_retrieved_first": (2, 3),
        "headline_answers": (1, 1),
        "wrongly_refused": (1, 3), "near_answered": (1, 2), "far_refused": (1, 1), "false_guard": (1, 6),
    }  # fmt: skip
    assert found["near_confidence"]["value"] == 98.0


def test_a_figure_that_fell_is_named_and_one_that_rose_is_not() -> None:
    good = report([make_result(first="A", cited=("A",), summary_words=50, confidence=100.0)])
    bad = report([make_result(first="C", cited=("A",), summary_words=70, confidence=0.0)])

    assert worse(good, good) == worse(good, bad) == []
    fallen = worse(bad, good)
    assert [line.split(":")[0] for line in fallen] == ["served", "lead", "summary_words"]
    assert fallen[0] == "served: 0.0, was 1.0"
    with pytest.raises(ValueError, match="no report of an earlier run"):
        worse(good, {"figures": {"served": 0.5}})
