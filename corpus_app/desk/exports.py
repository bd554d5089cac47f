"""The admin page that exports studies as a corpus folder or for other programs."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from typing import IO, Any

from asgiref.sync import sync_to_async
from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse

from corpus_app import curation, hooks, sources
from corpus_app.desk.base import curator
from corpus_app.models import Study
from corpus_app.sources import StudyDraft

WRITERS: dict[str, tuple[str, str, str, Callable[[list[StudyDraft]], bytes]]] = {
    "csv": ("CSV, for spreadsheets", "csv", "text/csv", sources.to_csv),
    "ris": ("RIS, for reference managers", "ris", "application/x-research-info-systems", sources.to_ris),
    "bibtex": ("BibTeX", "bib", "application/x-bibtex", sources.to_bibtex),
    "csl": ("CSL-JSON", "json", "application/vnd.citationstyles.csl+json", sources.to_csl_json),
}
FOLDER, EVERYTHING, SHEET = "folder", "everything", "sheet"
RECORDS_READ = ("corpus_app.view_studycomment", "corpus_app.view_corpusevent", "corpus_app.view_qualitywaiver")
PIECE_BYTES = 1 << 20
IN_MEMORY_BYTES = 1 << 24  # of a zip; a larger one is written to a temporary file


class ExportForm(forms.Form):
    form = forms.ChoiceField(
        label="Format",
        widget=forms.RadioSelect,
        initial=FOLDER,
        choices=[
            (FOLDER, "Complete export (ZIP): studies with passages and concepts, can be imported again"),
            (
                EVERYTHING,
                "Everything (ZIP): the same with comments, history and the faults that were kept, with reasons",
            ),
            (SHEET, "Spreadsheet (CSV) to mend: one row a study, comes back as changes by “Bring studies in”"),
            *((key, words) for key, (words, _, _, _) in WRITERS.items()),
        ],
    )
    golden = forms.BooleanField(
        label="With the golden questions", required=False, help_text="Only in “Everything”: each with its labels."
    )
    ids = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, has_records: bool, **options: Any) -> None:
        """Offer records only with the whole corpus and to those who may read them."""
        super().__init__(*args, **options)
        if not has_records:
            field: Any = self.fields["form"]
            field.choices = [choice for choice in field.choices if choice[0] != EVERYTHING]
        if not (has_records and hooks.golden_questions):
            del self.fields["golden"]

    def clean_ids(self) -> list[int]:
        return [int(key) for key in self.cleaned_data["ids"].split(",") if key.isdecimal() and len(key) < 19]


def export(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponseBase:
    """Ask for the format on GET (of `ids`, or with `all` of the whole corpus); send the file on POST."""
    if not request.user.has_perm("corpus_app.view_study"):
        raise PermissionDenied
    if request.method == "POST":
        form = ExportForm(request.POST, has_records="all" in request.POST and _may_read_records(request))
        if form.is_valid() and form.cleaned_data["form"] == EVERYTHING:
            return _everything(request, with_golden=form.cleaned_data.get("golden", False))
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
    has_records = keys is None and _may_read_records(request)
    form = form or ExportForm(initial={"ids": ",".join(map(str, keys or ()))}, has_records=has_records)
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


def _may_read_records(request: HttpRequest) -> bool:
    return request.user.has_perms(RECORDS_READ)


class PiecewiseResponse(StreamingHttpResponse):
    """A response that sends an open file piece by piece, in a thread where the server is asynchronous."""

    def __init__(self, file: IO[bytes], **options: Any) -> None:
        super().__init__(self._pieces(), **options)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()

    def _pieces(self) -> Iterator[bytes]:
        while piece := self._file.read(PIECE_BYTES):
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await sync_to_async(self._file.read)(PIECE_BYTES):
            yield piece


def _everything(request: HttpRequest, *, with_golden: bool) -> HttpResponseBase:
    packed = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - the response closes it
    curation.zip_everything(packed, by=curator(request), with_golden=with_golden)
    size = packed.tell()
    packed.seek(0)
    headers = {"Content-Disposition": 'attachment; filename="everything.zip"', "Content-Length": str(size)}
    return PiecewiseResponse(packed, content_type="application/zip", headers=headers)


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
