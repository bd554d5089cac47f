"""The admin page that exports studies as a corpus folder or for other programs."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from typing import IO, Any

from asgiref.sync import sync_to_async
from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from corpus_app import curation, hooks, search, sources
from corpus_app.desk.base import curator
from corpus_app.models import Study
from corpus_app.sources import StudyDraft


def _csv_pieces(drafts: Iterable[StudyDraft]) -> Iterator[bytes]:
    return sources.csv_pieces(drafts, with_people=search.site().is_about_people)


WRITERS: dict[str, tuple[str, str, str, Callable[[Iterable[StudyDraft]], Iterable[bytes]]]] = {
    "csv": ("CSV, for spreadsheets", "csv", "text/csv", _csv_pieces),
    "ris": ("RIS, for reference managers", "ris", "application/x-research-info-systems", sources.ris_pieces),
    "bibtex": ("BibTeX", "bib", "application/x-bibtex", sources.bibtex_pieces),
    "csl": ("CSL-JSON", "json", "application/vnd.citationstyles.csl+json", sources.csl_pieces),
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
            (FOLDER, _("Complete export (ZIP): studies with passages and concepts, can be imported again")),
            (
                EVERYTHING,
                "Everything (ZIP): the same with comments, history and the faults that were kept, with reasons",
            ),
            (SHEET, _("Spreadsheet (CSV) to mend: one row a study; bring it in again to make the changes")),
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
        if form.is_valid():
            asked = form.cleaned_data
            chosen = None if "all" in request.POST else asked["ids"]
            return _file(asked["form"], request, chosen, with_golden=asked.get("golden", False))
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
        "title": _("Export studies"),
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


def _file(form: str, request: HttpRequest, keys: Collection[int] | None, *, with_golden: bool) -> HttpResponseBase:
    """Write an export to a temporary file within one snapshot, then send it: a slow reader holds no transaction."""
    wanted = None if keys is None else list(Study.objects.filter(pk__in=keys).values_list("study_id", flat=True))
    out = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - the response closes it
    if form == EVERYTHING:
        name, kind = "everything.zip", "application/zip"
        curation.zip_everything(out, by=curator(request), with_golden=with_golden)
    elif form == FOLDER:
        name, kind = "corpus.zip", "application/zip"
        curation.zip_corpus(out, wanted)
    elif form == SHEET:
        name, kind = "studies-to-mend.csv", "text/csv"
        curation.export_sheet(out, wanted)
    else:
        _, suffix, kind, write = WRITERS[form]
        name = f"studies.{suffix}"
        curation.export_studies(out, write, wanted)
    size = out.tell()
    out.seek(0)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
    return PiecewiseResponse(out, content_type=kind, headers=headers)
