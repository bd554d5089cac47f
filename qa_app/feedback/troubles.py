"""Read the questions that came out badly: by readers' ratings, as gaps, and among the golden questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.utils import timezone

from qa_app.evaluation import golden_runs, golden_set
from qa_app.feedback import gaps
from qa_app.models import AnswerCitation, EvaluationRun, Feedback, Gap, GoldenQuestion, question_key
from qa_app.pipeline.records import Outcome

RATED_WITHIN = timedelta(days=180)
MAX_RATINGS, MAX_GAPS = 5_000, 200
FAULTS = frozenset({Feedback.Reason.NOT_ANSWERED, Feedback.Reason.WRONG, Feedback.Reason.INCOMPLETE})
"""Reasons that another choice of sources may mend."""


class Source(StrEnum):
    RATING = "rating"
    GAP = "gap"
    GOLDEN = "golden"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A question that came out badly."""

    source: Source
    key: str
    """Of the newest answer that was rated, of the gap or of the golden question."""
    question: str
    collection: str | None
    witnesses: frozenset[str]
    """Visitors who rated it, wordings in which it was asked, or the golden question: each counts once."""
    times: int
    """Number of ratings, or of times asked."""
    lead: str | None = None
    """The study that its answer opened with; None where it had none."""
    labelled: tuple[str, ...] = ()
    """Studies that answer it by its labels."""


@dataclass(frozen=True, slots=True)
class Served:
    """A question that readers found answered, and the study that its answer opened with."""

    question: str
    lead: str


def read_troubles() -> tuple[Trouble, ...]:
    """Return the troubles with the most witnesses first."""
    troubles = (*_rated_bad(_ratings()), *_unanswered(), *_failed_golden())
    return tuple(sorted(troubles, key=lambda trouble: (-len(trouble.witnesses), trouble.source, trouble.key)))


def read_served() -> tuple[Served, ...]:
    """Return the questions whose answers more visitors found of use than of none."""
    found = []
    for rows in _ratings().values():
        good, bad = _split(rows)
        if len(_visitors(good)) > len(_visitors(bad)) and (lead := _lead_of(good[0].answer_id)):
            found.append(Served(good[0].answer.meant, lead))
    return tuple(found)


def _ratings() -> dict[tuple[str, str], list[Feedback]]:
    """Return the ratings of answers by question and collection, newest first."""
    rows = Feedback.objects.filter(given_at__gte=timezone.now() - RATED_WITHIN).select_related("answer")
    rows = rows.filter(answer__outcome__in=[outcome.value for outcome in Outcome if outcome.is_answer])
    found: dict[tuple[str, str], list[Feedback]] = defaultdict(list)
    for row in rows.defer("answer__drafts")[:MAX_RATINGS]:
        found[question_key(row.answer.meant), row.answer.collection or ""].append(row)
    return found


def _split(rows: Sequence[Feedback]) -> tuple[list[Feedback], list[Feedback]]:
    """Return the ratings of use, and those of none for a reason that sources can mend."""
    bad = [row for row in rows if not row.is_helpful and (not row.reasons or FAULTS.intersection(row.reasons))]
    return [row for row in rows if row.is_helpful], bad


def _visitors(rows: Sequence[Feedback]) -> frozenset[str]:
    """Return the visitors of ratings; those without one count as one."""
    return frozenset(row.visitor for row in rows)


def _rated_bad(ratings: dict[tuple[str, str], list[Feedback]]) -> Iterator[Trouble]:
    for rows in ratings.values():
        good, bad = _split(rows)
        if len(_visitors(bad)) > len(_visitors(good)):
            answer = bad[0].answer
            yield Trouble(
                Source.RATING, answer.pk, answer.meant, answer.collection, _visitors(bad), len(bad), _lead_of(answer.pk)
            )


def _lead_of(answer_id: str) -> str | None:
    cited = AnswerCitation.objects.filter(sentence__answer=answer_id, index=1)
    return cited.values_list("study_key", flat=True).first()


def _unanswered() -> Iterator[Trouble]:
    leaders = gaps.list_leaders().filter(
        status=Gap.Status.OPEN, outcome=Outcome.INSUFFICIENT_EVIDENCE.value, result=None
    )
    for leader in leaders.order_by("-demanded", "pk")[:MAX_GAPS]:
        wordings = frozenset(f"gap {member.pk}" for member in gaps.list_members(leader))
        yield Trouble(Source.GAP, str(leader.pk), leader.question, leader.collection or None, wordings, leader.demanded)


def _failed_golden() -> Iterator[Trouble]:
    """Yield the questions that failed in the last run, of the half that proposes."""
    last = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).first()
    failed = {row["id"]: row for row in last.results if not row["passes"]} if last else {}
    for row in GoldenQuestion.objects.filter(is_active=True, key__in=failed):
        golden = golden_set.golden_of(row.as_row())
        answers = tuple(study for study, grade in golden.relevant.items() if grade == golden_runs.MAIN_SOURCE)
        if answers and not golden_set.is_held_out(golden):
            cited = failed[row.key]["cited"]
            yield Trouble(
                Source.GOLDEN, row.key, row.question, row.collection, frozenset({f"golden {row.key}"}), 1,
                cited[0] if cited else None, answers,
            )  # fmt: skip
