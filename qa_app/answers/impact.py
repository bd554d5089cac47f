"""Stored answers and golden questions that depend on a study, shown to curators before they withdraw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from django.db.models import Count, QuerySet
from django.urls import reverse

from corpus_app.records import Impact
from qa_app.models import Answer, AnswerCitation, AnswerSentence, GoldenQuestion

SHOWN = 8
MAX_STUDIES_IN_URL = 50  # studies in an address
MAIN_SOURCE = 2  # the grade of a study that answers a golden question by itself


def find_impacts(study_ids: Sequence[str], passage_ids: Sequence[int] | None = None) -> Iterator[Impact]:
    """Yield the answers that quote these studies (or passages) and the golden questions that need them."""
    yield from _answers(study_ids, passage_ids)
    yield from _golden(study_ids)


def count_answers(study_ids: Sequence[str]) -> dict[str, int]:
    """Count the stored answers that quote each study; studies without any are absent."""
    quoting = AnswerCitation.objects.filter(
        study_key__in=study_ids
    ).order_by()  # the default ordering would split groups
    return dict(quoting.values_list("study_key").annotate(n=Count("sentence__answer", distinct=True)))


def _answers(study_ids: Sequence[str], passage_ids: Sequence[int] | None) -> Iterator[Impact]:
    quoting = AnswerCitation.objects.filter(study_key__in=study_ids)
    if passage_ids is not None:
        quoting = quoting.filter(passage_key__in=passage_ids)
    total = quoting.aggregate(n=Count("sentence__answer", distinct=True))["n"]
    if not total:
        return
    ids = quoting.values("sentence__answer")
    newest = list(Answer.objects.filter(pk__in=ids).defer("payload", "drafts")[:SHOWN])
    lost = _sentences(AnswerSentence.objects.filter(pk__in=quoting.values("sentence")), newest)
    total_quoted = _sentences(AnswerSentence.objects.all(), newest)
    details = tuple(
        (
            f"{answer.question} ({lost[answer.pk]} of {total_quoted[answer.pk]} sentences quote it)",
            answer.get_absolute_url(),
        )
        for answer in newest
    )
    asked = urlencode({"quotes": ",".join(sorted(study_ids))}) if len(study_ids) <= MAX_STUDIES_IN_URL else ""
    listed = f"{reverse('admin:qa_app_answer_changelist')}?{asked}" if asked else ""
    headline = _counted(total, "stored answer quotes it", "stored answers quote it")
    yield Impact(headline, details, keeps=True, listed_at=listed)


def _sentences(rows: QuerySet[AnswerSentence], answers: Sequence[Answer]) -> dict[str, int]:
    """Count these sentences for each answer, without headlines, which repeat another sentence."""
    counts = (
        rows.filter(answer__in=answers)
        .exclude(part="headline")
        .order_by()
        .values_list("answer")
        .annotate(n=Count("pk"))
    )
    return dict(counts)


def _golden(study_ids: Sequence[str]) -> Iterator[Impact]:
    gone = set(study_ids)
    needing: list[GoldenQuestion] = []
    left_without: list[GoldenQuestion] = []
    for question in GoldenQuestion.objects.filter(is_active=True):
        main = {study for study, grade in question.relevant.items() if grade == MAIN_SOURCE}
        if main & gone:
            (needing if main - gone else left_without).append(question)

    def shown(questions: list[GoldenQuestion]) -> tuple[tuple[str, str], ...]:
        return tuple((str(q), reverse("admin:qa_app_goldenquestion_change", args=[q.pk])) for q in questions[:SHOWN])

    if left_without:
        one, many = "golden question has no other main source", "golden questions have no other main source"
        yield Impact(_counted(len(left_without), one, many), shown(left_without))
    if needing:
        one, many = "golden question has it among its main sources", "golden questions have it among their main sources"
        yield Impact(_counted(len(needing), one, many), shown(needing))


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
