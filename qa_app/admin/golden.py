"""Golden questions and their evaluation runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from qa_app import evaluation, golden
from qa_app.admin.base import DeskAdmin, ReadOnlyAdmin, SeenAdmin, SeenForm, person
from qa_app.models import EvaluationRun, GoldenQuestion

LARGEST_FILE = 2_000_000  # bytes


class GoldenQuestionForm(SeenForm):
    seen_fields = (
        "key", "question", "mode", "kind", "collection", "relevant", "sections", "answer_points", "note", "is_active",
    )  # fmt: skip

    class Meta:
        model = GoldenQuestion
        fields = (
            "key", "question", "mode", "kind", "collection", "relevant", "sections", "answer_points", "note", "is_active",
        )  # fmt: skip

    def clean_relevant(self) -> dict[str, int]:
        relevant = self.cleaned_data["relevant"] or {}
        if not isinstance(relevant, dict) or any(grade not in (1, 2) for grade in relevant.values()):
            raise ValidationError('Give each study its grade, such as {"S018": 2, "S028": 1}.')
        return relevant

    def clean_sections(self) -> list[str]:
        sections = self.cleaned_data["sections"] or []
        if not isinstance(sections, list) or not all(isinstance(section, str) for section in sections):
            raise ValidationError('Give a list, such as ["results", "conclusion"].')
        return sections


class FileForm(forms.Form):
    file = forms.FileField(help_text="One JSON object a line, as the README beside the starter corpus describes.")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise ValidationError("The file is larger than 2 MB; golden questions are not.")
        return file


@admin.register(GoldenQuestion)
class GoldenQuestionAdmin(SeenAdmin, DeskAdmin):
    form = GoldenQuestionForm
    list_display = ("key", "question", "kind", "mode", "is_active")
    list_filter = ("kind", "mode", "is_active")
    search_fields = ("key", "question")
    search_help_text = "A key, or words of the question."
    change_list_template = "admin/qa_app/goldenquestion/change_list.html"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super(DeskAdmin, self).has_delete_permission(request, obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.bring_in)
        return [path("import/", view, name="qa_app_goldenquestion_import"), *super().get_urls()]

    def bring_in(self, request: HttpRequest) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = FileForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder) / "golden.jsonl"
                copy.write_bytes(form.cleaned_data["file"].read())
                try:
                    new, changed = golden.bring_in(copy)
                except (evaluation.BadGolden, UnicodeDecodeError) as error:
                    form.add_error("file", str(error).replace(f"{copy}:", "Line "))
                else:
                    messages.success(request, f"{new} new questions, {changed} changed.")
                    return HttpResponseRedirect(reverse("admin:qa_app_goldenquestion_changelist"))
        context = {
            **self.admin_site.each_context(request),
            "title": "Bring golden questions in",
            "opts": self.opts,
            "form": form,
        }
        return TemplateResponse(request, "admin/qa_app/goldenquestion/import.html", context)


@admin.register(EvaluationRun)
class EvaluationRunAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "status", "progress", "passing", "policy", "finished_at")
    list_filter = ("status",)
    change_list_template = "admin/qa_app/evaluationrun/change_list.html"
    change_form_template = "admin/qa_app/evaluationrun/change_form.html"
    fields = ("status", "progress", "passing", "corpus_version", "policy", "engine", "asked_by", "finished_at", "error")
    readonly_fields = fields

    def get_urls(self) -> list[URLPattern]:
        start = self.admin_site.admin_view(require_POST(self.start))
        return [path("start/", start, name="qa_app_evaluationrun_start"), *super().get_urls()]

    def start(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm("qa_app.add_evaluationrun"):
            raise PermissionDenied
        page = HttpResponseRedirect(reverse("admin:qa_app_evaluationrun_changelist"))
        try:
            golden.order_run(by=person(request))
        except golden.NothingToAsk as nothing:
            messages.error(request, str(nothing))
            return page
        golden.wake()
        messages.success(request, "A worker takes it up; load this page again to see how far it is.")
        return page

    @admin.display(description="asked")
    def progress(self, run: EvaluationRun) -> str:
        return f"{run.done} of {run.total}"

    @admin.display(description="come out as they should")
    def passing(self, run: EvaluationRun) -> str:
        if not run.results:
            return "—"
        return f"{sum(row['passes'] for row in run.results)} of {len(run.results)}"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        runs = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).order_by("-pk")[:30]
        points = [(run.pk, run.corpus_version, _share(run)) for run in reversed(runs)]
        may_start = request.user.has_perm("qa_app.add_evaluationrun")
        return super().changelist_view(
            request, {**(extra_context or {}), "chart": _chart(points), "points": points, "may_start": may_start}
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        extra: dict[str, Any] = {}
        if run is not None:
            before = EvaluationRun.objects.filter(pk__lt=run.pk, status=EvaluationRun.Status.DONE).first()
            extra = {"failing": [row for row in run.results if not row["passes"]], "flipped": flipped(before, run)}
            extra |= {"figures": list(_flat(run.figures)), "before": before}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **extra})


def flipped(before: EvaluationRun | None, after: EvaluationRun) -> list[dict[str, Any]]:
    """Questions that came out as they should in one of two runs and not in the other."""
    passed = {row["id"]: row["passes"] for row in before.results} if before else {}
    return [row for row in after.results if row["id"] in passed and passed[row["id"]] != row["passes"]]


def _share(run: EvaluationRun) -> float:
    return round(100.0 * sum(bool(row["passes"]) for row in run.results) / max(1, len(run.results)), 1)


def _chart(points: list[tuple[int, int | None, float]]) -> dict[str, Any]:
    """The shares as the points of a line, 600 by 120 units: left the oldest, above 100 %."""
    step = 580 / max(1, len(points) - 1)
    return {
        "line": " ".join(f"{10 + step * place:.1f},{110 - share:.1f}" for place, (_, _, share) in enumerate(points)),
        "dots": [
            {
                "x": round(10 + step * place, 1),
                "y": round(110 - share, 1),
                "run": pk,
                "version": version,
                "share": share,
            }
            for place, (pk, version, share) in enumerate(points)
        ],
    }


def _flat(figures: dict[str, Any], prefix: str = "") -> Any:
    """Every figure by its path."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name} / ")
        else:
            yield f"{prefix}{name}", value
