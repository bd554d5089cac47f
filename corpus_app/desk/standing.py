"""What stands in the way of publishing a study, and what is still to write, each with its place on the study's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _

from corpus_app import curation
from corpus_app.desk.text_quality import ShownFault
from corpus_app.models import Passage, Study
from corpus_app.records import Status
from corpus_app.templatetags.corpus_words import section_words


@dataclass(frozen=True, slots=True)
class Place:
    """A reason or a part of the page, and where it leads."""

    text: str
    address: str = ""
    """Of the part of the page, or of the page, where it can be seen to; empty: nowhere."""
    mend: str = ""
    """Of the fault below with its correction; empty: none is proposed."""


def find_obstacles(study: Study, passages: Sequence[Passage], shown: Sequence[ShownFault], by: User) -> Iterator[Place]:
    """Yield what stands in the way of publishing; nothing for a published study."""
    if study.status == Status.PUBLISHED:
        return
    if reason := curation.find_obstacle(study):
        yield Place(reason, "#id_title" if passages else "#passages-group")
    if reason := curation.find_review_obstacle(study, by):
        yield Place(reason)
    rows = {passage.pk: row for row, passage in enumerate(passages)}
    for number, found in enumerate(shown, start=1):
        if found.checked.is_open:
            reason = f"passage {found.number}: {found.kind} “{found.checked.fault.words.strip()[:60]}”."
            mend = f"#text-{number}" if found.checked.fault.mend is not None else ""
            yield Place(reason, f"#passages-{rows[found.passage]}", mend)


def find_unwritten(study: Study) -> Iterator[Place]:
    """Yield what a study lacks of the words by which readers find and understand it."""
    if not study.takeaway:
        yield Place(_("It has no takeaway: say what the study as a whole tells a reader."), "#id_takeaway")
    findings = list(study.findings.order_by("position"))
    for row, finding in enumerate(findings):
        if not finding.plain:
            yield Place(f"Finding {row + 1} has no plain sentence.", f"#id_findings-{row}-plain")
    has_questions = study.asked_as or any(finding.asked_as for finding in findings)
    if not has_questions and not study.passages.exclude(asked_as="").exists():
        yield Place("It has no curated question: write how readers ask for what it answers.", "#id_asked_as")
    for row, finding in enumerate(findings):
        if finding.is_unconfirmed:
            address = reverse("admin:corpus_app_finding_change", args=[finding.pk])
            yield Place(f"Finding {row + 1} is unconfirmed: choose its source.", f"{address}?back=study")


def parts_of_page(passages: Sequence[Passage]) -> Iterator[Place]:
    """Yield the parts of the page; of the passages the first one of each section."""
    yield Place("In plain words", "#id_takeaway")
    sections: dict[str, int] = {}
    for row, passage in enumerate(passages):
        sections.setdefault(passage.section, row)
    for section, row in sections.items():
        yield Place(section_words(section).capitalize(), f"#passages-{row}")
    yield Place("Findings", "#findings-group")
