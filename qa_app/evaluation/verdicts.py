"""Made questions with the answers that the site gives now, for curators to judge; verdicts become golden questions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app import search
from qa_app.answers import answering
from qa_app.evaluation.made_questions import MadeQuestion
from qa_app.models import GoldenQuestion
from qa_app.pipeline.records import Mode, Outcome, Question, Refused
from qa_app.pipeline.text import clean

KIND, UNANSWERABLE = "made", "unanswerable_near"
WAITING = "Waits for a verdict."
SOURCE, RELATED = 2, 1  # grades of a study


class CuratorVerdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    REFUSE = "refuse"
    """It should have been refused."""


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """A question with what the site says to it now."""

    golden: GoldenQuestion
    outcome: Outcome
    lines: tuple[str, ...]
    """The words of the answer, or why there is none."""
    sources: tuple[tuple[str, str], ...]
    """Id and title of each study that is cited."""
    confidence: int | None

    @property
    def is_answered(self) -> bool:
        return self.outcome.is_answer


def propose(questions: Sequence[MadeQuestion], *, most: int) -> int:
    """Store the first made questions that nobody has seen yet, to wait for a verdict; return how many there are.

    A question of loose words with a number among them is left out: a person cannot say what it asks.
    """
    rows = [
        GoldenQuestion(
            key=f"{KIND}-{hashlib.sha256(question.text.encode()).hexdigest()[:12]}",
            question=question.text,
            mode=Mode.BEGINNER.value,
            kind=KIND,
            relevant={question.study_id: SOURCE},
            note=WAITING,
            is_active=False,
        )
        for question in questions
        if not any(letter.isdigit() for letter in question.text)
    ]
    present = set(GoldenQuestion.objects.filter(key__in=[row.key for row in rows]).values_list("key", flat=True))
    new = {row.key: row for row in rows if row.key not in present}
    return len(GoldenQuestion.objects.bulk_create(list(new.values())[:most]))


def waiting() -> list[GoldenQuestion]:
    """Return the made questions without a verdict whose source is still published."""
    rows = list(GoldenQuestion.objects.filter(kind=KIND, note=WAITING, is_active=False))
    published = search.studies({study_id for row in rows for study_id in row.relevant})
    return [row for row in rows if published.keys() >= set(row.relevant)]


def count_verdicts() -> int:
    return GoldenQuestion.objects.filter(key__startswith=f"{KIND}-", is_active=True).count()


def refused_questions() -> frozenset[str]:
    """Return the made questions that curators say should be refused."""
    judged = GoldenQuestion.objects.filter(key__startswith=f"{KIND}-", kind=UNANSWERABLE, is_active=True)
    return frozenset(judged.values_list("question", flat=True))


def answer(golden: GoldenQuestion) -> SampleAnswer:
    """Answer a question without storing the answer."""
    asked = Question(golden.question, clean(golden.question), Mode(golden.mode), golden.collection)
    ending = answering.make(asked, writer="extractive")
    if isinstance(ending, Refused):
        return SampleAnswer(golden, ending.outcome, (ending.message,), (), None)
    sentences = ending.summary or ending.answer
    cited = tuple((citation.study.study_id, citation.study.title) for citation in ending.citations)
    confidence = getattr(ending, "confidence", None)
    lines = tuple(sentence.text for sentence in sentences)
    return SampleAnswer(golden, ending.outcome, lines, cited, confidence and confidence.score)


def judge(golden: GoldenQuestion, verdict: CuratorVerdict) -> None:
    """Make a question a golden one: what the site says to it now is right, wrong, or should have been a refusal."""
    judged = answer(golden)
    is_answerable = verdict is not CuratorVerdict.REFUSE and (judged.is_answered or verdict is CuratorVerdict.WRONG)
    golden.kind = KIND if is_answerable else UNANSWERABLE
    if not is_answerable:
        golden.relevant = {}
    elif verdict is CuratorVerdict.RIGHT:
        cited = [study_id for study_id, _ in judged.sources]
        golden.relevant = dict.fromkeys(cited, RELATED) | golden.relevant | dict.fromkeys(cited[:1], SOURCE)
    golden.note = f"Made from the sources and judged: {verdict.value}."
    golden.is_active = True
    golden.save(update_fields=["kind", "relevant", "note", "is_active"])
