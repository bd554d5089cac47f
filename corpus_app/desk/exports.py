"""The admin page that exports studies as a corpus folder or for other programs."""

from __future__ import annotations

from collections.abc import Callable, Collection

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from corpus_app import curation, sources
from corpus_app.models import Study
from corpus_app.sources import StudyDraft

WRITERS: dict[str, tuple[str, str, str, Callable[[list[StudyDraft]], bytes]]] = {
    "csv": ("CSV, for spreadsheets", "csv", "text/csv", sources.to_csv),
    "ris": ("RIS, for reference managers", "ris", "application/x-research-info-systems", sources.to_ris),
    "bibtex": ("BibTeX", "bib", "application/x-bibtex", sources.to_bibtex),
    "csl": ("CSL-JSON", "json", "application/vnd.citationstyles.csl+json", sources.to_csl_json),
}
FOLDER, SHEET = "folder", "sheet"


class ExportForm(forms.Form):
    form = forms.ChoiceField(
        label="Format",
        widget=forms.RadioSelect,
        initial=FOLDER,
        choices=[
            (FOLDER, "Complete export (ZIP): everything, with passages and concepts, can be imported again"),
            (SHEET, "Spreadsheet (CSV) to mend: one row a study, comes back as changes by “Bring studies in”"),
            *((key, words) for key, (words, _, _, _) in WRITERS.items()),
        ],
    )
    ids = forms.CharField(widget=forms.HiddenInput, required=False)

    def clean_ids(self) -> list[int]:
        return [int(key) for key in self.cleaned_data["ids"].split(",") if key.isdecimal() and len(key) < 19]


def export(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponse:
    """Ask for the format on GET (of `ids`, or with `all` of the whole corpus); send the file on POST."""
    if not request.user.has_perm("corpus_app.view_study"):
        raise PermissionDenied
    if request.method == "POST":
        form = ExportForm(request.POST)
        if form.is_valid():
            chosen = None if "all" in request.POST else form.cleaned_data["ids"]
            return _file(form.cleaned_data["form"], chosen)
        return ask(model_admin, request, [], form=form)
    keys = [int(key) for key in request.GET.getlist("ids") if key.isdecimal() and len(key) < 19]
    return ask(model_admin, request, None if "all" in request.GET else keys)


def ask(
    model_admin: admin.ModelAdmin[Study],
    request: HttpRequest,
    keys: Collection[int] | None,
    *,
    form: ExportForm | None = None,
) -> HttpResponse:
    """Render the page that asks for the format; `keys` None means the whole corpus."""
    form = form or ExportForm(initial={"ids": ",".join(map(str, keys or ()))})
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Export studies",
        "opts": model_admin.opts,
        "form": form,
        "is_all": keys is None,
        "nothing_chosen": keys is not None and not keys,
        "all": Study.objects.count(),
        "number": Study.objects.count() if keys is None else len(keys),
    }
    return TemplateResponse(request, "admin/corpus_app/study/export.html", context)


def _file(form: str, keys: Collection[int] | None) -> HttpResponse:
    wanted = None if keys is None else list(Study.objects.filter(pk__in=keys).values_list("study_id", flat=True))
    if form == SHEET:
        return _as_attachment(curation.export_sheet(wanted), "studies-to-mend.csv", "text/csv")
    drafts, vocabulary = curation.snapshot(wanted)
    if form == FOLDER:
        lexica = curation.current_lexica() if keys is None else {}
        return _as_attachment(curation.zip_corpus(drafts, vocabulary, lexica), "corpus.zip", "application/zip")
    _, suffix, kind, write = WRITERS[form]
    return _as_attachment(write(drafts), f"studies.{suffix}", kind)


def _as_attachment(content: bytes, name: str, kind: str) -> HttpResponse:
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
