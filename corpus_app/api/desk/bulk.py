"""The API of bulk edits: preview a change of many studies, confirm it, and undo it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from common.desk_api import TAG, key_of, person
from corpus_app.api.desk import bodies, imports, shapes
from corpus_app.api.desk.base import DeskView, read_body
from corpus_app.api.shapes import WithExtras
from corpus_app.curation import bulk
from corpus_app.curation.changing import Planned
from corpus_app.curation.history import as_text
from corpus_app.models import BulkEdit, BulkEditItem


def find(bulk_edit_id: str) -> BulkEdit:
    """Return a bulk edit. Raises NotFound."""
    found = BulkEdit.objects.filter(pk=key_of(bulk_edit_id, "bulk edit")).first()
    if found is None:
        raise exceptions.NotFound("There is no bulk edit with this id.")
    return found


def shown(edit: BulkEdit, *, status: int = 200) -> Response:
    headers = {"Location": f"/api/v1/desk/bulk-edits/{edit.pk}"} if status in {201, 202} else {}
    return Response(shapes.DeskBulkEdit(edit).data, status=status, headers=headers)


class BulkEditsView(DeskView):
    permission = {"GET": "corpus_app.view_bulkedit", "POST": "corpus_app.add_bulkedit"}
    failures = {"POST": (422,)}
    ordering = ("-pk",)
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_bulk_edits", summary="Bulk edits, the newest first", tags=TAG,
        responses=shapes.DeskBulkEdit(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return self.page(BulkEdit.objects.all(), shapes.DeskBulkEdit)

    @extend_schema(
        operation_id="preview_bulk_edit", summary="Preview a change of many studies", tags=TAG,
        request=bodies.BulkEditBody,
        description="Nothing is changed before it is confirmed. `list_bulk_edit_items` says what would change.",
        responses={201: shapes.DeskBulkEdit},
        examples=[
            OpenApiExample(
                "Two fields",
                value={"studies": ["S001", "S002"], "changes": {"collection": "trees", "labels": {"add": ["2026"]}}},
                request_only=True,
            )
        ],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        asked = read_body(bodies.BulkEditBody, request)
        edit = bulk.preview_new(asked["studies"], asked["changes"], reason=asked.get("reason", ""), by=person(request))
        return shown(edit, status=201)


class BulkEditView(DeskView):
    permission = "corpus_app.view_bulkedit"

    @extend_schema(
        operation_id="get_bulk_edit", summary="How far a bulk edit is, and what came of it", tags=TAG,
        responses=shapes.DeskBulkEdit,
    )  # fmt: skip
    def get(self, request: Request, bulk_edit_id: str) -> Response:
        return shown(find(bulk_edit_id))


class BulkItemsView(DeskView):
    permission = "corpus_app.view_bulkedit"
    ordering = ("position",)
    known = ("outcome", *parameters.OF_LISTS)

    @extend_schema(
        operation_id="list_bulk_edit_items", summary="What a bulk edit does, study by study", tags=TAG,
        parameters=[OpenApiParameter("outcome", str, enum=BulkEditItem.Outcome.values)],
        responses=shapes.DeskBulkEditItem(many=True),
    )  # fmt: skip
    def get(self, request: Request, bulk_edit_id: str) -> Response:
        edit = find(bulk_edit_id)
        outcome = parameters.one_of(request, "outcome", BulkEditItem.Outcome.values)
        rows = edit.items.filter(outcome=outcome) if outcome else edit.items.all()
        page: Sequence[BulkEditItem] = self.paginate_queryset(rows) or []
        is_previewed = edit.status == BulkEdit.Status.PREVIEWED
        planned = list(bulk.plan(edit, page, by=person(request))) if is_previewed else [None] * len(page)
        found = [WithExtras(item, **_extras(one)) for item, one in zip(page, planned, strict=True)]
        return self.get_paginated_response(shapes.DeskBulkEditItem(found, many=True).data)


def _extras(planned: Planned | None) -> dict[str, Any]:
    changes = planned.changes.items() if planned else ()
    rows = [{"field": name, "before": as_text(before), "after": as_text(after)} for name, (before, after) in changes]
    return {"differences": rows, "refusal": planned.refusal if planned else ""}


class ConfirmBulkView(DeskView):
    permission = "corpus_app.change_bulkedit"
    failures: ClassVar = (409, 422)

    @extend_schema(
        operation_id="confirm_bulk_edit", summary="Carry out a previewed bulk edit", tags=TAG, request=None,
        description="A worker does it in batches; a study that was changed since the preview is refused.",
        responses={202: shapes.DeskBulkEdit},
    )  # fmt: skip
    def post(self, request: Request, bulk_edit_id: str) -> Response:
        edit = find(bulk_edit_id)
        read_body(bodies.Body, request)
        bulk.confirm(edit, by=person(request))
        bulk.wake_worker()
        return shown(edit, status=202)


class CancelBulkView(DeskView):
    permission = "corpus_app.change_bulkedit"
    failures: ClassVar = (409,)

    @extend_schema(
        operation_id="cancel_bulk_edit", summary="End a bulk edit; what was carried out stays", tags=TAG, request=None,
        responses={200: shapes.DeskBulkEdit},
    )  # fmt: skip
    def post(self, request: Request, bulk_edit_id: str) -> Response:
        edit = find(bulk_edit_id)
        read_body(bodies.Body, request)
        bulk.cancel(edit)
        return shown(edit)


class UndoBulkView(DeskView):
    permission = "corpus_app.add_bulkedit"
    failures: ClassVar = (422,)

    @extend_schema(
        operation_id="undo_bulk_edit", summary="Preview the undo of a bulk edit", tags=TAG, request=None,
        description="A bulk edit of its own, to be confirmed. What was changed since stays, and is named.",
        responses={201: shapes.DeskBulkEdit},
    )  # fmt: skip
    def post(self, request: Request, bulk_edit_id: str) -> Response:
        edit = find(bulk_edit_id)
        read_body(bodies.Body, request)
        return shown(bulk.undo(edit, by=person(request)), status=201)


class UndoImportView(DeskView):
    permission = "corpus_app.add_bulkedit"
    failures: ClassVar = (422,)

    @extend_schema(
        operation_id="undo_import", summary="Preview the undo of an import", tags=TAG, request=None,
        description="Drafts that came in are deleted, published ones withdrawn, changed studies put back. "
        "What was changed since stays, and is named.",
        responses={201: shapes.DeskBulkEdit},
    )  # fmt: skip
    def post(self, request: Request, import_id: str) -> Response:
        job = imports.find(import_id)
        read_body(bodies.Body, request)
        return shown(bulk.undo(job, by=person(request)), status=201)
