"""Panels of the curators' front page: contents of the corpus, and open work."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count, F
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from corpus_app.curation import gate
from corpus_app.desk import queue
from corpus_app.desk.index_state import FAILED, WAITING, in_state
from corpus_app.models import Collection, Finding, ImportJob, Passage, Study
from corpus_app.records import NEEDED, NOTHING, Figure, Notice, Panel, Status
from corpus_app.templatetags.corpus_words import design_words

YEARS_SHOWN = 12
NOTICES = {
    Notice.RETRACTED: "Retracted studies",
    Notice.EXPRESSION_OF_CONCERN: "Studies of concern",
    Notice.CORRECTED: "Corrected studies",
}
STATUS_LABELS = {
    Status.DRAFT: "Drafts",
    Status.IN_REVIEW: "In review",
    Status.PUBLISHED: "Published",
    Status.WITHDRAWN: "Withdrawn",
    Status.ARCHIVED: "Archived",
}


def panels(by: User) -> Iterator[Panel]:
    """Yield the panels; none for users who may not view studies."""
    if not by.has_perm("corpus_app.view_study"):
        return
    yield Panel(_("Studies"), tuple(_by_status()))
    yield Panel(NEEDED, (_own_queue(by), *_open_work()), empty=NOTHING, is_work=True)
    yield Panel("Collections", tuple(_by_collection()), as_bars=True)
    yield Panel("Designs", tuple(_by_design()), as_bars=True)
    yield Panel("Years", tuple(_by_year()), as_bars=True)


def studies(**query: str | int) -> str:
    return f"{reverse('admin:corpus_app_study_changelist')}?{urlencode(query)}"


def _by_status() -> Iterator[Figure]:
    counts = dict(Study.objects.order_by().values_list("status").annotate(n=Count("pk")))
    for status, label in STATUS_LABELS.items():
        yield Figure(label, counts.get(status.value, 0), studies(status__exact=status.value))


def _own_queue(by: User) -> Figure:
    return Figure("My queue", queue.own_queue(by).count(), studies(queue=queue.MINE))


def _open_work() -> Iterator[Figure]:
    waiting = Study.objects.filter(status=Status.IN_REVIEW).count()
    yield Figure(_("Studies to review"), waiting, studies(status__exact=Status.IN_REVIEW.value), needs_care=True)
    lacking = {state: in_state(Passage.objects.order_by(), state).count() for state in (WAITING, FAILED)}
    passages = reverse("admin:corpus_app_passage_changelist")
    yield Figure("Passages not indexed yet", lacking[WAITING], f"{passages}?indexed={WAITING}")
    yield Figure("Passages that could not be indexed", lacking[FAILED], f"{passages}?indexed={FAILED}", True)
    yield Figure("Passages with broken text", gate.known_blocked().count(), f"{passages}?text=open", True)
    doubted = Finding.objects.filter(is_unconfirmed=True, study__in=Study.objects.in_use()).count()
    findings = reverse("admin:corpus_app_finding_changelist")
    yield Figure("Unconfirmed findings", doubted, f"{findings}?is_unconfirmed__exact=1")
    unwritten = (Study.objects.without_plain_words(), Study.objects.without_questions())
    yield Figure(_("Studies without plain words"), unwritten[0].count(), studies(words="plain"))
    yield Figure(_("Studies without curated questions"), unwritten[1].count(), studies(words="questions"))
    imports = reverse("admin:corpus_app_importjob_changelist")
    jobs = dict(ImportJob.objects.order_by().values_list("status").annotate(n=Count("pk")))
    for status, needs_care in ((ImportJob.Status.PREVIEWED, False), (ImportJob.Status.FAILED, True)):
        label = "Imports waiting for a choice" if status is ImportJob.Status.PREVIEWED else "Imports that failed"
        yield Figure(label, jobs.get(status.value, 0), f"{imports}?status__exact={status.value}", needs_care)
    marked = dict(Study.objects.order_by().values_list("notice").annotate(n=Count("pk")))
    for notice in NOTICES:
        yield Figure(_(NOTICES[notice]), marked.get(notice.value, 0), studies(notice__exact=notice.value))


def _by_collection() -> Iterator[Figure]:
    counts = Collection.objects.current().annotate(n=Count("studies")).values_list("pk", "name", "n")
    for slug, name, n in counts:
        yield Figure(name, n, studies(collection__slug__exact=slug))


def _by_design() -> Iterator[Figure]:
    counts = Study.objects.order_by().values_list("design").annotate(n=Count("pk"))
    for design, n in sorted(counts, key=lambda counted: (-counted[1], counted[0])):
        yield Figure(capfirst(design_words(design)), n, studies(design__exact=design))


def _by_year() -> Iterator[Figure]:
    counted = Study.objects.order_by(F("year").desc(nulls_last=True)).values_list("year").annotate(n=Count("pk"))
    years = {year: n for year, n in counted if year is not None}
    newest = list(years)[:YEARS_SHOWN]
    for year in newest:
        yield Figure(str(year), years[year], studies(year=year))
    if earlier := sum(n for year, n in years.items() if year not in newest):
        yield Figure(f"Before {newest[-1]}", earlier, studies(year__lt=newest[-1]))
    if unknown := sum(n for year, n in counted if year is None):
        yield Figure("Without a year", unknown, studies(year__isnull=True))
