"""The API of imports: send a file, preview it once it is read, and confirm it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from common.desk_api import TAG, NotPossible, key_of, person
from corpus_app import curation
from corpus_app.api.desk import bodies, shapes
from corpus_app.api.desk.base import DeskView, read_body
from corpus_app.api.shapes import WithExtras
from corpus_app.curation import effects, jobs, previewing
from corpus_app.models import ImportItem, ImportJob
from corpus_app.sources import FORMAT_NAMES

FILE = "file"
NAME = OpenApiParameter("name", str, description="The file's name, where the body is the file itself, as `refs.ris`.")
LONGEST_NAME = 300


class FileParser(BaseParser):
    """A parser that takes the body of any media type as bytes."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, bytes]:
        return {FILE: stream.read()}


def find(import_id: str) -> ImportJob:
    """Return an import, with the file's bytes deferred. Raises NotFound."""
    found = ImportJob.objects.defer("content").filter(pk=key_of(import_id, "import")).first()
    if found is None:
        raise exceptions.NotFound("There is no import with this id.")
    return found


def shown(job: ImportJob, *, status: int = 200) -> Response:
    headers = {"Location": f"/api/v1/desk/imports/{job.pk}"} if status in {201, 202} else {}
    return Response(
        shapes.Import(WithExtras(job, effects=effects.count_effects(job))).data, status=status, headers=headers
    )


class ImportsView(DeskView):
    permission = {"GET": "corpus_app.view_importjob", "POST": "corpus_app.add_importjob"}
    parser_classes = (MultiPartParser, FileParser)
    largest_body = settings.IMPORT_MEGABYTES * 1_000_000
    failures = {"POST": (422,)}
    ordering = ("-pk",)
    known = ("name", *parameters.OF_LISTS)

    @extend_schema(
        operation_id="list_imports", summary="Imports, the newest first", tags=TAG,
        responses=shapes.ListedImport(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return self.page(ImportJob.objects.defer("content", "problems"), shapes.ListedImport)

    @extend_schema(
        operation_id="import_file", summary="Send a file to be read", tags=TAG,
        description=f"{FORMAT_NAMES}: in a form's field `file`, or as the body itself. "
        f"At most {settings.IMPORT_MEGABYTES} MB. Nothing is brought in before it is confirmed.",
        parameters=[NAME],
        request={
            "multipart/form-data": {
                "type": "object", "required": [FILE], "properties": {FILE: {"type": "string", "format": "binary"}},
            },
            "application/octet-stream": OpenApiTypes.BINARY,
        },
        responses={202: shapes.Import},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        content, name = _file(request)
        if content[:1024].lstrip().startswith(b"%PDF-"):
            raise NotPossible("Of a PDF, bring the text in at the desk, where you can mend it, or send its references.")
        job = jobs.create_job(content, file_name=name, by=person(request))
        jobs.wake_worker()
        return shown(job, status=202)


class LookUpView(DeskView):
    permission = "corpus_app.add_importjob"

    @extend_schema(
        operation_id="look_up", summary="Have a DOI, PMID or PMC id looked up", tags=TAG, request=bodies.LookUpBody,
        description="At Crossref, PubMed or PubMed Central, in the background: an import like any other, "
        "to be previewed and confirmed. A file of identifiers, sent as an import, is looked up one by one.",
        responses={202: shapes.Import},
        examples=[OpenApiExample("A DOI", value={"id": "10.1000/example.1"}, request_only=True)],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        value = read_body(bodies.LookUpBody, request)["id"]
        job = jobs.create_job(value.encode(), file_name=value, by=person(request), way=ImportJob.Way.LOOKUP)
        jobs.wake_worker()
        return shown(job, status=202)


def _file(request: Request) -> tuple[bytes, str]:
    """Return the bytes and the name of the file that was sent. Raises ValidationError."""
    body: Any = request.data
    if extra := [name[:100] for name in body if name != FILE]:
        advice = exceptions.ErrorDetail("Leave it out; the field is file.", "unknown_field")
        raise exceptions.ValidationError({name: [advice] for name in extra[:20]})
    given = body.get(FILE)
    name = request.query_params.get("name") or "upload"
    if isinstance(given, UploadedFile):
        name, given = given.name or name, given.read()
    if not isinstance(given, bytes) or not given:
        raise exceptions.ValidationError({FILE: [exceptions.ErrorDetail("Send a file that is not empty.", "required")]})
    if fault := curation.find_text_fault("name", name):
        raise exceptions.ValidationError({"name": [fault]})
    return given, name[:LONGEST_NAME]


class ImportView(DeskView):
    permission = "corpus_app.view_importjob"

    @extend_schema(
        operation_id="get_import", summary="How far an import is, and what came of it", tags=TAG,
        responses=shapes.Import,
    )  # fmt: skip
    def get(self, request: Request, import_id: str) -> Response:
        return shown(find(import_id))


class ItemsView(DeskView):
    permission = "corpus_app.view_importjob"
    ordering = ("position",)
    known = ("effect", *parameters.OF_LISTS)

    @extend_schema(
        operation_id="list_import_items", summary="What a file would do, study by study", tags=TAG,
        parameters=[OpenApiParameter("effect", str, enum=ImportItem.Effect.values)],
        responses=shapes.Item(many=True),
    )  # fmt: skip
    def get(self, request: Request, import_id: str) -> Response:
        job = find(import_id)
        effect = parameters.one_of(request, "effect", ImportItem.Effect.values)
        is_working = job.status in jobs.TO_READ | jobs.TO_DO
        rows = ImportItem.objects.none() if is_working else ImportItem.objects.filter(job=job)
        page: Sequence[ImportItem] = self.paginate_queryset(rows.filter(effect=effect) if effect else rows) or []
        lines = previewing.lines(page, job.problems, with_differences=job.status == ImportJob.Status.PREVIEWED)
        found = [WithExtras(line.item, differences=line.differences, problems=line.problems) for line in lines]
        return self.get_paginated_response(shapes.Item(found, many=True).data)


class ProblemsView(DeskView):
    permission = "corpus_app.view_importjob"
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_import_problems", summary="What is wrong in a file, line by line", tags=TAG,
        responses=shapes.FileProblem(many=True),
    )  # fmt: skip
    def get(self, request: Request, import_id: str) -> Response:
        problems = find(import_id).problems
        rows = [WithExtras(_Problem(row), key=(number,)) for number, row in enumerate(problems)]
        return self.page(rows, shapes.FileProblem)


class _Problem:
    """A problem as stored with its job, its keys as attributes."""

    def __init__(self, stored: dict[str, Any]) -> None:
        self.__dict__.update(stored)


class ConfirmView(DeskView):
    permission = "corpus_app.change_importjob"
    failures: ClassVar = (409, 422)

    @extend_schema(
        operation_id="confirm_import", summary="Bring in what was read", tags=TAG, request=bodies.ConfirmBody,
        description="A worker carries it out study by study; `get_import` says how far it is. "
        "To publish takes the permission to.",
        responses={202: shapes.Import},
        examples=[OpenApiExample("As drafts", value={"collection": "city-trees", "submit": True}, request_only=True)],
    )  # fmt: skip
    def post(self, request: Request, import_id: str) -> Response:
        job = find(import_id)
        asked = read_body(bodies.ConfirmBody, request)
        chosen = asked.pop("items", None)
        with curation.act(by=person(request)):
            if chosen is not None:
                jobs.choose_items(job, among=_choosable(job, chosen), chosen=chosen)
            jobs.confirm(job, jobs.Options(**asked), by=person(request))
        jobs.wake_worker()
        return shown(job, status=202)


def _choosable(job: ImportJob, chosen: list[int]) -> list[int]:
    """Return the items that can be imported. Raises ValidationError when a chosen one cannot."""
    choosable = list(ImportItem.objects.filter(job=job, effect__in=jobs.CHOOSABLE).values_list("pk", flat=True))
    if other := set(chosen) - set(choosable):
        words = f"The item {min(other)} is not among those of this import that can be brought in."
        raise exceptions.ValidationError({"items": [exceptions.ErrorDetail(words, "unknown")]})
    return choosable


class LeaveView(DeskView):
    permission = "corpus_app.change_importjob"
    failures: ClassVar = (409,)

    @extend_schema(
        operation_id="leave_import", summary="Leave out all of an import that has not come in", tags=TAG, request=None,
        description="At any time before it ends; what came in stays. Its items and problems can still be looked at; "
        "its file is forgotten after a while.",
        responses={200: shapes.Import},
    )  # fmt: skip
    def post(self, request: Request, import_id: str) -> Response:
        job = find(import_id)
        read_body(bodies.Body, request)
        jobs.cancel_job(job)
        return shown(job)


class ReportView(DeskView):
    permission = "corpus_app.view_importjob"

    @extend_schema(
        operation_id="get_import_report", summary="All items and problems of an import as CSV", tags=TAG,
        responses={
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, description="One row an item, then one a problem.")
        },
    )  # fmt: skip
    def get(self, request: Request, import_id: str) -> HttpResponse:
        job = find(import_id)
        named = {"Content-Disposition": f'attachment; filename="import-{job.pk}.csv"'}
        return HttpResponse(previewing.report(job), content_type="text/csv", headers=named)
