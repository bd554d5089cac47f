"""Derive passages of kind `plain` from a study's takeaway and the plain sentences of its findings.

Every change of a takeaway or finding updates them in the same transaction, by `indexing.sync_study`.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone

from corpus_app import passages
from corpus_app.models import Passage, Study
from corpus_app.records import PassageKind, Section

FIRST_POSITION = 1_000_000  # after every ordinary passage, so that these can be added and moved freely


def sync(study_pk: int) -> None:
    """Update a study's plain passages from its takeaway and confirmed findings.

    A passage whose text changes keeps its row, and its version rises by one.
    """
    study = Study.objects.get(pk=study_pk)
    present = {row.finding_id: row for row in Passage.with_plain.filter(study=study_pk, kind=PassageKind.PLAIN)}
    for wanted in _wanted(study):
        _save(wanted, present.pop(wanted.finding_id, None))
    Passage.with_plain.filter(pk__in=[row.pk for row in present.values()]).delete()


def _wanted(study: Study) -> Iterator[Passage]:
    if takeaway := study.takeaway.strip():
        yield _passage(study, takeaway, Section.CONCLUSION, FIRST_POSITION)
    confirmed = study.findings.filter(is_unconfirmed=False).order_by("position")
    for pk, position, plain in confirmed.values_list("pk", "position", "plain"):
        if plain.strip():
            yield _passage(study, plain.strip(), Section.RESULTS, FIRST_POSITION + 1 + position, finding_pk=pk)


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
