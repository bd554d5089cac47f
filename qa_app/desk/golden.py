"""Golden questions and their evaluation runs."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from corpus_app.records import Section
from qa_app.desk.base import (
    DeskAdmin,
    ModeFilter,
    ReadOnlyAdmin,
    SeenAdmin,
    SeenForm,
    WhetherFilter,
    WordsFilter,
    person,
)
from qa_app.evaluation import golden_runs, golden_set, verdicts
from qa_app.models import EvaluationRun, GoldenQuestion

MAX_FILE_BYTES = 2_000_000  # bytes


KINDS = {
    verdicts.KIND: "Made from the sources",
    "answerable_lay": "Answerable, in everyday words",
    "answerable_technical": "Answerable, in terms of the field",
    "answerable_numeric": "Answerable, with numbers",
    "answerable_section": "Answerable, about one part of a study",
    "comparison_or_conflict": "Comparison or conflict",
    "recency": "Asks for the newest",
    "paraphrase_pairs": "The same question in other words",
    "false_premise": "Rests on something untrue",
    "unanswerable_near": "Unanswerable, near the subject",
    "unanswerable_far": "Unanswerable, another subject",
    "safety": "For a professional",
    "hostile": "Hostile",
}
_POINT = re.compile(r"(?P<text>.*?)(?:(?<!\s)\s*\[(?P<studies>[^\[\]]*)\])?")


class ByLineField(forms.CharField):
    """A JSON list, edited one entry a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 4, "cols": 90}), **options)

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(self.lines_of(value or ()))

    def to_python(self, value: Any) -> Any:
        return self.read([line.strip() for line in (value or "").splitlines() if line.strip()])

    def validate(self, value: Any) -> None:
        return

    def run_validators(self, value: Any) -> None:
        return

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or self.read([])))
        except ValidationError:
            return True

    def lines_of(self, value: Any) -> Iterable[str]:
        raise NotImplementedError

    def read(self, lines: list[str]) -> Any:
        """Parse the lines. Raises ValidationError."""
        raise NotImplementedError


class RelevantField(ByLineField):
    def __init__(self) -> None:
        super().__init__(
            help_text=_("A study and its grade on each line, such as S018 2: 2 answers it, 1 bears on it.")
        )

    def lines_of(self, value: Any) -> Iterable[str]:
        return [f"{study} {grade}" for study, grade in value.items()] if value else []

    def read(self, lines: list[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for line in lines:
            study, _space, grade = line.rpartition(" ")
            if not study.strip() or grade not in {"1", "2"}:
                raise ValidationError(_("Give each study its grade, 1 or 2, on a line of its own, such as S018 2."))
            found[study.strip()] = int(grade)
        return found


class PointsField(ByLineField):
    def __init__(self) -> None:
        help_text = _(
            "What a good answer says, a point on each line; the studies that say it in brackets, such as [S018, S029]."
        )
        super().__init__(help_text=help_text)

    def lines_of(self, value: Any) -> Iterable[str]:
        for point in value:
            studies = ", ".join(point.get("studies") or ())
            yield f"{point.get('text', '')} [{studies}]" if studies else str(point.get("text", ""))

    def read(self, lines: list[str]) -> list[dict[str, Any]]:
        found = [match.groupdict() for line in lines if (match := _POINT.fullmatch(line))]
        return [
            {
                "text": row["text"],
                "studies": [name.strip() for name in (row["studies"] or "").split(",") if name.strip()],
            }
            for row in found
        ]


class GoldenQuestionForm(SeenForm):
    seen_fields = (
        "key", "question", "mode", "kind", "collection", "relevant", "sections", "answer_points", "note", "is_active",
    )  # fmt: skip

    class Meta:
        model = GoldenQuestion
        fields = (
            "key", "question", "mode", "kind", "collection", "relevant", "sections", "answer_points", "note",
            "is_active",
        )  # fmt: skip
        labels = {"is_active": "In use"}

    kind = forms.ChoiceField()
    relevant = RelevantField()
    sections = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The parts of a study that should be quoted."),
    )
    answer_points = PointsField()

    def __init__(self, *args: Any, **options: Any) -> None:
        """Offer unknown kinds and sections of an imported question, too."""
        super().__init__(*args, **options)
        question = self.instance
        kinds = {kind: kind_words(kind) for kind in (*KINDS, question.kind) if kind}
        _choices(self.fields["kind"], [("", "Choose a kind"), *kinds.items()])
        sections = {section.value: section.value.replace("_", " ").capitalize() for section in Section}
        _choices(self.fields["sections"], [*({name: name for name in question.sections} | sections).items()])


def _choices(field: Any, choices: list[tuple[str, str]]) -> None:
    field.choices = choices


def kind_words(kind: str) -> str:
    return str(_(KINDS[kind])) if kind in KINDS else kind.replace("_", " ").capitalize()


class KindFilter(WordsFilter):
    words = staticmethod(kind_words)


class InUseFilter(WhetherFilter):
    asked = "whether it is in use"


class FileForm(forms.Form):
    file = forms.FileField(help_text="One JSON object a line, as the README beside the starter corpus describes.")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_BYTES:
            raise ValidationError("The file is larger than 2 MB; golden questions are not.")
        return file


@admin.register(GoldenQuestion)
class GoldenQuestionAdmin(SeenAdmin, DeskAdmin):
    form = GoldenQuestionForm
    list_display = ("key", "question", "sort", "mode", "in_use")
    list_filter = (("kind", KindFilter), ("mode", ModeFilter), ("is_active", InUseFilter))
    search_fields = ("key", "question")
    search_help_text = "A key, or words of the question."
    change_list_template = "admin/qa_app/goldenquestion/change_list.html"

    @admin.display(description="in use", boolean=True, ordering="is_active")
    def in_use(self, question: GoldenQuestion) -> bool:
        return question.is_active

    @admin.display(description="kind", ordering="kind")
    def sort(self, question: GoldenQuestion) -> str:
        return kind_words(question.kind)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super(DeskAdmin, self).has_delete_permission(request, obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_file)
        return [path("import/", view, name="qa_app_goldenquestion_import"), *super().get_urls()]

    def import_file(self, request: HttpRequest) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = FileForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder) / "golden.jsonl"
                copy.write_bytes(form.cleaned_data["file"].read())
                try:
                    new, changed = golden_runs.import_file(copy)
                except (golden_set.BadGolden, UnicodeDecodeError) as error:
                    form.add_error("file", str(error).replace(f"{copy}:", "Line "))
                else:
                    messages.success(request, f"{new} new question{'' if new == 1 else 's'}, {changed} changed.")
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
            golden_runs.create_run(by=person(request))
        except golden_runs.NoGoldenQuestions as nothing:
            messages.error(request, str(nothing))
            return page
        golden_runs.notify_worker()
        messages.success(request, "A worker takes it up; load this page again to see how far it is.")
        return page

    @admin.display(description="asked")
    def progress(self, run: EvaluationRun) -> str:
        return f"{run.done} of {run.total}"

    @admin.display(description="as expected")
    def passing(self, run: EvaluationRun) -> str:
        if not run.results:
            return "–"
        return f"{sum(row['passes'] for row in run.results)} of {len(run.results)}"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        runs = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).order_by("-pk")[:30]
        points = [(run.pk, run.corpus_version, _share(run), run.asked_at) for run in reversed(runs)]
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
    """Return the questions whose result differs between two runs."""
    passed = {row["id"]: row["passes"] for row in before.results} if before else {}
    return [row for row in after.results if row["id"] in passed and passed[row["id"]] != row["passes"]]


def _share(run: EvaluationRun) -> float:
    return round(100.0 * sum(bool(row["passes"]) for row in run.results) / max(1, len(run.results)), 1)


Point = tuple[int, int | None, float, datetime]
MIN_CHART_POINTS = 3  # fewer show no trend


def _chart(points: list[Point]) -> dict[str, Any] | None:
    """Return the polyline of the shares in a box of 600 by 120 units, oldest left; None for too few runs."""
    if len(points) < MIN_CHART_POINTS:
        return None
    step = 540 / (len(points) - 1)
    dots = [
        {"x": round(50 + step * place, 1), "y": round(110 - share, 1), "version": version, "share": share}
        for place, (_, version, share, _) in enumerate(points)
    ]
    return {
        "line": " ".join(f"{dot['x']},{dot['y']}" for dot in dots),
        "dots": dots,
        "first": points[0][3],
        "last": points[-1][3],
    }


FIGURES = {"n": "questions", "p50": "half of the questions within", "p95": "95 % of the questions within"}


def _flat(figures: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every figure by its path; a share with its number of questions."""
    for name, value in figures.items():
        path = f"{prefix}{FIGURES.get(name, name)}"
        if not isinstance(value, dict):
            yield _capital(path), _number(value)
        elif {"n", "share"} <= value.keys() <= {"n", "share", "interval"}:
            yield _capital(path), _share_in_words(**value)
        else:
            yield from _flat(value, f"{path}, ")


def _share_in_words(n: int, share: float | None, interval: Sequence[float] = ()) -> str:
    counted = f"{n} question{'' if n == 1 else 's'}"
    if share is None or not n:
        return counted
    between = f" (95 % interval {100 * interval[0]:.0f} to {100 * interval[1]:.0f} %)" if interval else ""
    return f"{100 * share:.0f} % of {counted}{between}"


def _number(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "–" if value is None else str(value)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
