"""Compute figures of answers to labelled reader questions from labels and payloads. Docs: docs/evaluation.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from qa_app.evaluation.measures import auroc, calibration_error, mean, percentile
from qa_app.evaluation.reader_labels import ENGLISH, Expect, LabelledPoint, ReaderQuestion
from qa_app.pipeline.records import HeadlineVerdict, Mode, Outcome

ANSWERS = frozenset(outcome.value for outcome in Outcome if outcome.is_answer)
REFUSALS = frozenset({Outcome.INSUFFICIENT_EVIDENCE.value, Outcome.OUT_OF_SCOPE.value})
BINS = 10  # of the expected calibration error
TOLERANCE = 0.005  # a share counts as worse when it falls by more than this
WORDS_TOLERANCE = 2.0  # words of a median summary
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STATISTICS = re.compile(r"\b(?:CIs?|SMDs?|ESs?)\b|\b[Pp]\s*+(?:-?\s*+values?\b|[<=>≤≥])|\bP\b")

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """A question with the measurements of its answer."""

    question: ReaderQuestion
    outcome: str | None
    """None where the question was rejected; `error` says why."""
    error: str | None = None
    first: str | None = None
    """The study of the first citation."""
    cited: tuple[str, ...] = ()
    retrieved: str | None = None
    """The study of the first passage of the evidence."""
    confidence: float | None = None
    """0 to 100."""
    points: tuple[bool, ...] = ()
    """Whether each labelled point is covered."""
    summary_words: int = 0
    is_doubled: bool = False
    has_statistics: bool = False
    """Whether the summary contains CI, P, SMD or ES."""
    headline: str = ""
    verdict: str | None = None
    """The headline's verdict."""
    milliseconds: float = 0.0

    @property
    def is_answer(self) -> bool:
        return self.outcome in ANSWERS

    @property
    def is_declined(self) -> bool:
        return self.outcome in REFUSALS or self.is_guarded

    @property
    def is_guarded(self) -> bool:
        return self.outcome == Outcome.GUARDRAIL

    @property
    def has_right_lead(self) -> bool:
        return bool(self.question.relevant) and self.first in self.question.accepted_leads


# --- One answer ---


def measure(question: ReaderQuestion, body: Payload, *, milliseconds: float = 0.0) -> ReaderResult:
    """Measure an answer's payload against the labels of its question."""
    citations = body.get("citations") or []
    study_of = {citation["index"]: citation["study_id"] for citation in citations}
    summary, answer = body.get("summary") or {}, body.get("answer") or {}
    sentences = [*(summary.get("sentences") or []), *(answer.get("sentences") or [])]
    first = next((s["citations"][0] for s in sentences if s.get("citations")), None)
    summary_text = " ".join(s["text"] for s in summary.get("sentences") or [])
    return ReaderResult(
        question=question,
        outcome=body.get("outcome"),
        first=None if first is None else study_of.get(first),
        cited=tuple(citation["study_id"] for citation in citations),
        retrieved=next((passage["study_id"] for passage in body.get("evidence") or []), None),
        confidence=(body.get("confidence") or {}).get("score"),
        points=tuple(_is_covered(point, sentences, study_of) for point in question.points),
        summary_words=len(summary_text.split()),
        is_doubled=bool(sentences) and answer.get("text", "") in ("", summary.get("text", "")),
        has_statistics=bool(_STATISTICS.search(summary_text)),
        headline=(body.get("headline") or {}).get("text", ""),
        verdict=(body.get("headline") or {}).get("verdict"),
        milliseconds=milliseconds,
    )


def _is_covered(point: LabelledPoint, sentences: Sequence[Payload], study_of: Mapping[int, str]) -> bool:
    """Return whether sentences that cite a study of the point contain all its numbers."""
    indexes = {index for index, study in study_of.items() if study in point.studies}
    text = " ".join(s["text"] for s in sentences if indexes & set(s.get("citations") or []))
    return bool(text) and _numbers(" ".join(point.numbers)) <= _numbers(text)


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


# --- Figures of single questions ---


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that is a mean, or a count, of one value a question."""

    name: str
    value_of: Callable[[ReaderResult], float | None]
    """Returns None where the question does not count."""
    lower_is_better: bool = False
    is_count: bool = False


def _served(result: ReaderResult) -> float | None:
    expect = result.question.expect
    if expect.is_answerable:
        return result.is_answer and result.has_right_lead
    if expect.is_unanswerable:
        return result.is_declined
    return result.is_guarded if expect is Expect.GUARDRAIL else None


def _of_answerable(value_of: Callable[[ReaderResult], float | None]) -> Callable[[ReaderResult], float | None]:
    return lambda result: value_of(result) if result.question.expect.is_answerable else None


def _lead(result: ReaderResult) -> float | None:
    return result.has_right_lead if result.is_answer and result.question.relevant else None


def _precision(result: ReaderResult) -> float | None:
    cited, relevant = set(result.cited), set(result.question.relevant or ())
    return len(cited & relevant) / len(cited) if cited and relevant else None


def _recall(result: ReaderResult) -> float | None:
    wanted = result.question.main_studies
    if not wanted:
        return None
    return len(wanted & set(result.cited)) / len(wanted) if result.is_answer else 0.0


def _points(result: ReaderResult) -> float | None:
    if not result.question.points:
        return None
    return sum(result.points) / len(result.question.points) if result.is_answer else 0.0


def _false_guard(result: ReaderResult) -> float | None:
    expect = result.question.expect
    counts = expect.is_answerable or expect.is_unanswerable or expect is Expect.ABOUT_CORPUS
    return result.is_guarded if counts else None


def _verdict(result: ReaderResult) -> float | None:
    wanted = result.question.verdict
    return result.verdict == wanted if wanted and result.is_answer else None


def _opposite(wanted: HeadlineVerdict, given: HeadlineVerdict) -> Callable[[ReaderResult], float | None]:
    def value_of(result: ReaderResult) -> float | None:
        return result.verdict == given if result.is_answer and result.question.verdict is wanted else None

    return _of_answerable(value_of)


def _searched_studies(result: ReaderResult) -> float | None:
    """Return whether a question about the corpus was answered from studies, with citations and a confidence."""
    if result.question.expect is not Expect.ABOUT_CORPUS:
        return None
    return result.is_answer and bool(result.cited) and result.confidence is not None


def _of_expected(expect: Expect, *outcomes: Outcome) -> Callable[[ReaderResult], float | None]:
    return lambda result: result.outcome in outcomes if result.question.expect is expect else None


def _beginner_statistics(result: ReaderResult) -> float | None:
    return result.has_statistics if result.is_answer and result.question.mode is Mode.BEGINNER else None


FIGURES = (
    Figure("served", _served),
    Figure("answered", _of_answerable(lambda r: r.is_answer)),
    Figure("wrongly_refused", _of_answerable(lambda r: r.outcome in REFUSALS), lower_is_better=True),
    Figure("lead", _of_answerable(_lead)),
    Figure("precision", _of_answerable(_precision)),
    Figure("recall2", _of_answerable(_recall)),
    Figure("points", _of_answerable(_points)),
    Figure("refused", lambda r: r.is_declined if r.question.expect.is_unanswerable else None),
    Figure("guard", _of_expected(Expect.GUARDRAIL, Outcome.GUARDRAIL)),
    Figure("false_guard", _false_guard, lower_is_better=True, is_count=True),
    Figure("partial_told", _of_expected(Expect.PARTIAL, Outcome.PARTIAL, Outcome.CONFLICTING)),
    Figure("conflict_told", _of_expected(Expect.CONFLICT, Outcome.CONFLICTING)),
    Figure("headline_verdict", _of_answerable(_verdict)),
    Figure(
        "yes_for_no", _opposite(HeadlineVerdict.NO, HeadlineVerdict.YES), lower_is_better=True, is_count=True
    ),
    Figure(
        "no_for_yes", _opposite(HeadlineVerdict.YES, HeadlineVerdict.NO), lower_is_better=True, is_count=True
    ),
    Figure("doubled", lambda r: r.is_doubled if r.is_answer else None, lower_is_better=True),
    Figure("beginner_statistics", _beginner_statistics, lower_is_better=True, is_count=True),
    Figure("corpus_from_studies", _searched_studies, lower_is_better=True, is_count=True),
)  # fmt: skip


def failed(result: ReaderResult) -> list[str]:
    """Return the names of the figures on which a question does not score fully."""
    values = {figure: figure.value_of(result) for figure in FIGURES}
    return [
        figure.name
        for figure, value in values.items()
        if value is not None and (value > 0 if figure.lower_is_better else value < 1)
    ]


# --- Figures of all questions ---

Row = dict[str, Any]
"""A figure: `value`, None where no question counts, and `n`, the questions that do."""


def figures(results: Sequence[ReaderResult]) -> dict[str, Row]:
    """Compute every figure over these questions."""
    rows: dict[str, Row] = {}
    for figure in FIGURES:
        values = [float(value) for result in results if (value := figure.value_of(result)) is not None]
        rows[figure.name] = _row(sum(values) if figure.is_count else mean(values), len(values))
    answered = [result for result in results if result.is_answer]
    words = [result.summary_words for result in answered]
    return rows | _confidence(results) | {"summary_words": _row(median(words) if words else 0, len(words))}


def _confidence(results: Iterable[ReaderResult]) -> dict[str, Row]:
    """Compare confidence with correct leads, over answered questions that are labelled answerable or unanswerable."""
    answered = [
        r for r in results if r.is_answer and (r.question.expect.is_answerable or r.question.expect.is_unanswerable)
    ]
    estimates = [(r.confidence or 0.0) / 100 for r in answered]
    right = [r.has_right_lead for r in answered]
    n, is_mixed = len(answered), len(set(right)) == 2
    return {
        "confidence_auroc": _row(auroc(estimates, right), n) if is_mixed else _row(0.0, 0),
        "confidence_ece": _row(calibration_error(estimates, right, BINS), n),
        "confidence_mean": _row(mean(estimates), n),
        "confidence_right": _row(mean([float(flag) for flag in right]), n),
        "confidence_distance": _row(abs(mean(estimates) - mean([float(flag) for flag in right])), n),
    }


def _row(value: float, n: int) -> Row:
    return {"value": round(value, 4) if n else None, "n": n}


def report(results: Sequence[ReaderResult]) -> dict[str, Any]:
    """Report all figures; follow-ups are also reported separately, other languages only separately."""
    english = [r for r in results if r.question.language == ENGLISH]
    milliseconds = [r.milliseconds for r in results]
    return {
        "questions": len(results),
        "figures": figures(english),
        "follow_ups": figures([r for r in english if r.question.follows]),
        "other_languages": figures([r for r in results if r.question.language != ENGLISH]),
        "outcomes": _outcomes(english),
        "verdicts": _verdicts(english),
        "not_accepted": sum(r.outcome is None for r in results),
        "milliseconds": {"p50": round(percentile(milliseconds, 50), 1), "p95": round(percentile(milliseconds, 95), 1)},
        "table": [table_row(result) for result in results],
    }


def _outcomes(results: Iterable[ReaderResult]) -> dict[str, dict[str, int]]:
    """Count outcomes by the expected response."""
    found: dict[str, Counter[str]] = {}
    for result in results:
        found.setdefault(result.question.expect.value, Counter())[result.outcome or "not_accepted"] += 1
    return {expect: dict(counts.most_common()) for expect, counts in sorted(found.items())}


def _verdicts(results: Iterable[ReaderResult]) -> dict[str, dict[str, int]]:
    """Count the headline verdicts of answered questions by their labelled verdict."""
    found: dict[str, Counter[str]] = {}
    for result in results:
        if result.question.expect.is_answerable and result.question.verdict and result.is_answer:
            found.setdefault(result.question.verdict.value, Counter())[result.verdict or "none"] += 1
    return {wanted: dict(counts.most_common()) for wanted, counts in sorted(found.items())}


def table_row(result: ReaderResult) -> dict[str, Any]:
    """Describe one question, its answer and the figures that it fails."""
    question = result.question
    return {
        "id": question.id,
        "question": question.question,
        "language": question.language,
        "follows": question.follows,
        "expect": question.expect.value,
        "outcome": result.outcome,
        "error": result.error,
        "first": result.first,
        "retrieved": result.retrieved,
        "cited": list(result.cited),
        "confidence": result.confidence,
        "points_covered": sum(result.points),
        "points": len(question.points),
        "verdict": result.verdict,
        "expected_verdict": question.verdict.value if question.verdict else None,
        "summary_words": result.summary_words,
        "milliseconds": round(result.milliseconds, 1),
        "fails": failed(result),
    }


# --- A corpus folder ---


def corpus_report(results: Sequence[ReaderResult]) -> dict[str, Any]:
    """Report how well an imported corpus answers its own questions; `refuse` is near, `out_of_scope` is far."""
    answerable = [r for r in results if r.question.expect.is_answerable]
    near = [r for r in results if r.question.expect is Expect.REFUSE]
    far = [r for r in results if r.question.expect is Expect.OUT_OF_SCOPE]
    answered = [r.confidence or 0.0 for r in near if r.is_answer]
    given = [r for r in (*answerable, *near, *far) if r.is_answer]
    right = [r in answerable and r.has_right_lead for r in given]
    is_mixed = any(right) and not all(right)
    return {
        "questions": len(results),
        "figures": {
            "right_cited_first": _share(r.is_answer and r.has_right_lead for r in answerable),
            "right_of_answered": _share(r.has_right_lead for r in answerable if r.is_answer),
            "headline_answers": _share(
                any(point.text in r.headline for point in r.question.points)
                for r in answerable
                if r.is_answer and r.has_right_lead and r.question.points
            ),
            "right_retrieved_first": _share(r.retrieved in r.question.accepted_leads for r in answerable),
            "wrongly_refused": _share(r.outcome in REFUSALS for r in answerable),
            "near_answered": _share(r.is_answer for r in near),
            "near_confidence": _row(median(answered) if answered else 0, len(answered)),
            "far_refused": _share(r.is_declined for r in far),
            "false_guard": _share(r.is_guarded for r in (*answerable, *near, *far)),
            "confidence_auroc": _row(auroc([r.confidence or 0.0 for r in given], right), len(given))
            if is_mixed
            else _row(0.0, 0),
        },
        "outcomes": _outcomes(results),
        "not_accepted": sum(r.outcome is None for r in results),
        "table": [table_row(result) for result in results],
    }


def _share(flags: Iterable[bool]) -> Row:
    found = list(flags)
    return _row(mean([float(flag) for flag in found]), len(found)) | {"count": sum(found)}


# --- Against a baseline ---

LOWER_IS_BETTER = frozenset(
    {figure.name for figure in FIGURES if figure.lower_is_better}
    | {"confidence_ece", "confidence_distance", "summary_words", "near_answered"}
)
UNCOMPARED = frozenset({"confidence_mean", "confidence_right", "near_confidence"})


def worse(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Return the main figures that are worse than in an earlier report. Raises ValueError for an invalid report."""
    fallen = []
    for name, row in _main_figures(before).items():
        old, new = row["value"], (now["figures"].get(name) or {}).get("value")
        if name in UNCOMPARED or old is None:
            continue
        tolerance = WORDS_TOLERANCE if name == "summary_words" else TOLERANCE
        if new is None or (new - old if name in LOWER_IS_BETTER else old - new) > tolerance:
            fallen.append(f"{name}: {new}, was {old}")
    return fallen


def _main_figures(report: Mapping[str, Any]) -> Mapping[str, Row]:
    rows = report.get("figures")
    if not isinstance(rows, dict) or not all(isinstance(row, dict) and "value" in row for row in rows.values()):
        raise ValueError("figures are missing: it is no report of an earlier run")
    return rows
