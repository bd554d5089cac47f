"""Derive passages of kind `plain` from a study's takeaway and the plain sentences of its findings.

Every change of a takeaway or finding updates them in the same transaction, by `indexing.sync_studies`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.utils import timezone

from corpus_app import passages
from corpus_app.models import Finding, Passage, Study
from corpus_app.records import PassageKind, Section

FIRST_POSITION = 1_000_000  # after every ordinary passage, so that these can be added and moved freely


def sync(study_pks: Collection[int]) -> None:
    """Update the plain passages of studies from their takeaways and confirmed findings.

    A passage whose text changes keeps its row, and its version rises by one.
    """
    rows = Passage.with_plain.filter(study__in=study_pks, kind=PassageKind.PLAIN)
    present = {(row.study_id, row.finding_id): row for row in rows}
    for wanted in _wanted(study_pks):
        _save(wanted, present.pop((wanted.study_id, wanted.finding_id), None))
    if present:
        Passage.with_plain.filter(pk__in=[row.pk for row in present.values()]).delete()


def _wanted(study_pks: Collection[int]) -> Iterator[Passage]:
    studies = Study.objects.in_bulk(study_pks)
    for study in studies.values():
        if takeaway := study.takeaway.strip():
            yield _passage(study, takeaway, Section.CONCLUSION, FIRST_POSITION)
    confirmed = Finding.objects.filter(study__in=studies, is_unconfirmed=False).order_by("study", "position")
    for study_pk, pk, position, plain in confirmed.values_list("study", "pk", "position", "plain"):
        if plain.strip():
            place = FIRST_POSITION + 1 + position
            yield _passage(studies[study_pk], plain.strip(), Section.RESULTS, place, finding_pk=pk)


def _passage(study: Study, text: str, section: Section, position: int, *, finding_pk: int | None = None) -> Passage:
    return Passage(
        study=study,
        finding_id=finding_pk,
        kind=PassageKind.PLAIN.value,
        position=position,
        section=section.value,
        heading=study.title,
        text=text,
        content_hash=passages.content_hash(heading=study.title, text=text),
    )


def _save(wanted: Passage, present: Passage | None) -> None:
    if present is None:
        wanted.save()
        return
    has_new_words = present.text != wanted.text
    names = ["position", "section", "heading", "text", "content_hash"]
    if all(getattr(present, name) == getattr(wanted, name) for name in names):
        return
    for name in names:
        setattr(present, name, getattr(wanted, name))
    if has_new_words:
        present.version += 1
        present.text_changed_at = timezone.now()
    present.save(update_fields=[*names, "version", "text_changed_at"])
