"""REST views of exports and bundles."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import APIView

from qa_app.answers import bundles, exporting
from qa_app.answers.exporting import Export
from qa_app.api import answer_shapes as shapes

REVALIDATE = {"Cache-Control": "private, no-cache"}  # clients must revalidate: sources may be withdrawn


class ExportView(APIView):
    scope = "read"
    quota = "read"

    @extend_schema(
        operation_id="export_answer", summary="An answer as a file", tags=["Questions"],
        parameters=[shapes.FORMAT_NEEDED], responses=shapes.FILES,
    )  # fmt: skip
    def get(self, request: Request, answer_id: str) -> HttpResponse:
        """Return the file that `?format=` of the answer returns."""
        return exported(request, answer_id)


class BundleView(APIView):
    scope = "read"
    quota = "read"

    @extend_schema(
        operation_id="bundle_answer", summary="An answer with all that it rests on, and a program that checks it",
        tags=["Questions"], responses=shapes.BUNDLE,
    )  # fmt: skip
    def get(self, request: Request, answer_id: str) -> HttpResponse:
        return _file(bundles.bundle(answer_id))


def exported(request: Request, answer_id: str) -> HttpResponse:
    form = request.query_params.get("format", "")
    if form not in exporting.FORMS:
        words = f"Choose a format: {', '.join(exporting.FORMS)}."
        raise exceptions.ValidationError({"format": [exceptions.ErrorDetail(words, code="unknown")]})
    return _file(exporting.export(answer_id, form, site=request.build_absolute_uri("/")))


def _file(made: Export | None) -> HttpResponse:
    if made is None:
        raise Http404("There is no answer with this id.")
    return HttpResponse(made.content, content_type=made.content_type, headers=made.headers | REVALIDATE)
