"""Admin pages of imports: send a file, a text or an identifier, then preview and confirm it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

from corpus_app import sources
from corpus_app.curation import bulk, effects, jobs, listed_lookups, lookup, previewing
from corpus_app.curation.history import DiffPart, compare
from corpus_app.desk import zotero
from corpus_app.desk.base import EXPECTED_ERRORS, DeskAdmin, curator, error_messages
from corpus_app.models import BulkEdit, Collection, ImportItem, ImportJob
from corpus_app.sources import FORMAT_NAMES, Source, serialization
from corpus_app.sources.identifier_lists import is_identifier_list
from corpus_app.sources.intake import MAX_BYTES
from corpus_app.templatetags.corpus_words import design_choices

PER_PAGE = 25
MOST_PROBLEMS = 200  # shown; the report has them all
LONGEST_TEXT = 200_000  # characters of a text in the form
REFRESH_SECONDS = 2
LONGEST_SEARCH = 200  # characters


class BringInForm(forms.Form):
    file = forms.FileField(
        label="A file",
        required=False,
        help_text=f"{FORMAT_NAMES}.",
    )
    lookup = forms.CharField(
        label="Or DOIs, PMIDs, PMC ids",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        help_text="One or hundreds, one a line or with commas between; a file of them is read too. "
        "Looked up at Crossref, PubMed and PubMed Central, which gives the text of open articles.",
    )
    text = forms.CharField(
        label="Or a text",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 8, "cols": 80}),
        help_text=_(
            "References in one of the formats above, or the words of a study with headings on lines of their own."
        ),
    )
    title = forms.CharField(
        label="Title of the text",
        required=False,
        max_length=1000,
        widget=forms.TextInput(attrs={"size": 60}),
        help_text=_("For the words of a study only."),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size > MAX_BYTES:
            raise ValidationError(f"The file is larger than {MAX_BYTES // 1_000_000} MB: split it.")
        return file

    def clean_lookup(self) -> str:
        value: str = self.cleaned_data["lookup"].strip()
        if value and (fault := lookup.lookup_fault(value)):
            raise ValidationError(fault)
        return value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        given = [name for name in ("file", "lookup", "text") if cleaned.get(name)]
        if len(given) != 1:
            raise ValidationError("Give one of the three: a file, DOIs or other ids, or a text.")
        if given == ["text"] and not cleaned["title"] and not _is_format(cleaned["text"]):
            self.add_error("title", _("Say the title of the study that these words are from."))
        return cleaned


def _is_format(text: str) -> bool:
    return is_identifier_list(text.encode()) or bool(sources.name_of(Source("text", text.encode())))


class ConfirmForm(forms.Form):
    collection = forms.ChoiceField(required=False, help_text=_("For studies whose file names none."))
    design = forms.ChoiceField(
        required=False,
        help_text=_("For studies whose source tells none."),
    )
    submit = forms.BooleanField(label="Hand them over for review", required=False)
    publish = forms.BooleanField(
        label="Publish them",
        required=False,
        help_text=_(
            "Those only that nothing stands in the way of. "
            "Studies that are published already are changed only with this."
        ),
    )

    def __init__(self, *args: Any, may_publish: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        collections = Collection.objects.values_list("slug", "name")
        field: Any = self.fields["collection"]
        field.choices = [("", "Choose a collection"), *collections]
        design: Any = self.fields["design"]
        design.choices = [("", "Leave as other"), *design_choices()]
        if not may_publish:
            del self.fields["publish"]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A preview line with word-level differences."""

    line: previewing.PreviewLine
    differences: tuple[tuple[str, tuple[DiffPart, ...]], ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.line, name)


@admin.register(ImportJob)
class ImportJobAdmin(DeskAdmin):
    list_display = ("file_name", "asked_by_name", "asked_at", "format", "status", "progress")
    list_filter = ("status",)
    list_per_page = 50
    show_full_result_count = False
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportJob]:
        found: QuerySet[ImportJob] = super().get_queryset(request).defer("content", "problems")
        return found

    @admin.display(description="how far")
    def progress(self, job: ImportJob) -> str:
        return f"{job.done:,} of {job.total:,}" if job.total else "–"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # `change_view` shows a page of its own

    def get_urls(self) -> list[Any]:
        report = path(
            "<int:key>/report.csv", self.admin_site.admin_view(self.report), name="corpus_app_importjob_report"
        )
        file = path("<int:key>/file", self.admin_site.admin_view(self.file), name="corpus_app_importjob_file")
        return [report, file, *zotero.urls(self), *super().get_urls()]

    # --- Creating a job

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        is_sent = request.method == "POST"
        form = BringInForm(request.POST, request.FILES) if is_sent else BringInForm()
        if is_sent and form.is_valid():
            job = self._create_job(request, form)
            jobs.wake_worker()
            return HttpResponseRedirect(reverse("admin:corpus_app_importjob_change", args=[job.pk]))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Bring studies in"),
            "opts": self.opts,
            "form": form,
        }
        return TemplateResponse(request, "admin/corpus_app/importjob/bring_in.html", context)

    def _create_job(self, request: HttpRequest, form: BringInForm) -> ImportJob:
        by, asked = curator(request), form.cleaned_data
        if value := asked["lookup"]:
            return jobs.create_job(value.encode(), file_name="", by=by, way=ImportJob.Way.LOOKUP)
        if text := asked["text"]:
            options = {} if _is_format(text) else {"title": asked["title"].strip()}
            return jobs.create_job(
                text.encode(), file_name="Pasted text", by=by, way=ImportJob.Way.TEXT, options=options
            )
        file = asked["file"]
        content = file.read()
        return jobs.create_job(content, file_name=file.name, by=by)

    # --- Previewing and confirming

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        if job is None:
            raise Http404
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        may_act = request.user.has_perm("corpus_app.change_importjob")
        may_publish = request.user.has_perm("corpus_app.publish_study")
        form = ConfirmForm(request.POST if request.method == "POST" else None, may_publish=may_publish)
        if request.method == "POST":
            if not may_act:
                raise PermissionDenied
            if response := self._apply_verb(request, job, form):
                return response
        is_working = job.status in jobs.TO_READ | jobs.TO_DO
        found = job.items.none() if is_working else job.items.all()
        wanted = request.GET.get("effect", "")
        wanted = wanted if wanted in ImportItem.Effect.values else ""
        found = found.filter(effect=wanted) if wanted else found
        searched = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
        found = effects.search_items(found, searched)
        page = Paginator(found, PER_PAGE).get_page(request.GET.get("p"))
        counts = {} if is_working else effects.count_effects(job)
        problems = [serialization.problem_of(stored) for stored in job.problems[:MOST_PROBLEMS]]
        context = {
            **self.admin_site.each_context(request),
            "title": f"Import of {job.file_name}",
            "opts": self.opts,
            "job": job,
            "has_file": ImportJob.objects.filter(pk=job.pk).exclude(content=b"").exists(),
            "page": page,
            "lines": list(_lines(list(page), job)),
            "effects": [(e.value, e.label, n) for e, n in counts.items()],
            "outcomes": list(_outcomes(job)),
            "is_all_here": {*counts} == {ImportItem.Effect.SAME},
            "wanted": wanted,
            "searched": searched,
            "chosen": job.items.filter(chosen=True).count() if job.status == "previewed" else 0,
            "failed": job.items.filter(effect="failed").count() if job.status == "previewed" else 0,
            "unasked": listed_lookups.count_unasked(job) if job.status == "previewed" else 0,
            "can_stop": job.status in jobs.TO_READ and job.way == ImportJob.Way.LOOKUP and may_act,
            "problems": problems,
            "refresh_seconds": REFRESH_SECONDS if is_working else None,
            "form": form if may_act else None,
        }
        if job.status == ImportJob.Status.DONE:
            context |= {
                "n_studies": job.items.filter(outcome__in=["created", "updated"]).count(),
                "can_undo": may_act and request.user.has_perm("corpus_app.add_bulkedit") and bulk.can_undo(job),
                "undone_by": job.undone_by.exclude(status=BulkEdit.Status.CANCELLED).first(),
            }
        return TemplateResponse(request, "admin/corpus_app/importjob/job.html", context)

    def _apply_verb(self, request: HttpRequest, job: ImportJob, form: ConfirmForm) -> HttpResponse | None:
        """Apply the pressed button of the preview; None means that the form has errors."""
        verb = request.POST.get("verb", "")
        try:
            if verb in {"all", "none"}:
                jobs.choose_all_items(job, is_chosen=verb == "all")
            elif verb in {"save", "confirm"} or verb.startswith("apart-"):
                jobs.choose_items(job, among=_keys(request, "among"), chosen=_keys(request, "items"))
                effects.choose_fields(job, _keys(request, "among"), request.POST.getlist("take"))
            if verb == "stop":
                listed_lookups.stop(job)
            if verb == "again":
                jobs.try_again(job) if job.status == ImportJob.Status.FAILED else listed_lookups.ask_again(job)
                jobs.wake_worker()
            if verb.startswith("apart-"):
                effects.mark_distinct(job, verb.removeprefix("apart-"), by=curator(request))
            if verb in {"leave", "cancel"}:
                jobs.cancel_job(job)
            if verb == "undo":
                undo = bulk.undo(job, by=curator(request))
                return HttpResponseRedirect(reverse("admin:corpus_app_bulkedit_change", args=[undo.pk]))
            if verb == "confirm":
                if not form.is_valid():
                    return None
                asked = form.cleaned_data
                options = jobs.Options(
                    collection=asked["collection"],
                    design=asked["design"],
                    submit=asked["submit"],
                    publish=asked.get("publish", False),
                    title=job.options.get("title", ""),
                )
                jobs.confirm(job, options, by=curator(request))
                jobs.wake_worker()
        except EXPECTED_ERRORS as error:
            for reason in error_messages(error):
                messages.error(request, reason)
        if verb == "confirm":
            return HttpResponseRedirect(request.path)
        kept = {name: request.GET[name] for name in ("effect", "q") if request.GET.get(name)}
        kept |= {"p": page} if (page := request.POST.get("p", "")).isdecimal() else {}
        return HttpResponseRedirect(f"{request.path}?{urlencode(kept)}" if kept else request.path)

    # --- Downloads

    def report(self, request: HttpRequest, key: int) -> HttpResponse:
        job = self._job(request, key)
        return _as_attachment(previewing.report(job), f"import-{job.pk}.csv", "text/csv")

    def file(self, request: HttpRequest, key: int) -> HttpResponse:
        job = self._job(request, key)
        if not job.content:
            raise Http404("The file of this import is kept no longer.")
        return _as_attachment(bytes(job.content), f"import-{job.pk}.bin", "application/octet-stream")

    def _job(self, request: HttpRequest, key: int) -> ImportJob:
        job = self.get_object(request, str(key))
        if job is None:
            raise Http404
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        found: ImportJob = job
        return found


def _outcomes(job: ImportJob) -> Iterator[tuple[str, int]]:
    """Yield label and count of each outcome of an ended import."""
    counted = job.report.get("outcomes", {})
    for outcome in ImportItem.Outcome:
        if number := counted.get(outcome.value):
            yield str(outcome.label), number


def _keys(request: HttpRequest, name: str) -> list[int]:
    return [int(key) for key in request.POST.getlist(name) if key.isdecimal() and len(key) < 19]


def _as_attachment(content: bytes, name: str, kind: str) -> HttpResponse:
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _lines(items: Sequence[ImportItem], job: ImportJob) -> Iterator[ShownLine]:
    for line in previewing.lines(items, job.problems, with_differences=job.status == ImportJob.Status.PREVIEWED):
        yield ShownLine(line, tuple((d.field, tuple(compare(d.before, d.after))) for d in line.differences))
