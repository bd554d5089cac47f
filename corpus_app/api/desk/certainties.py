"""The API of the curators' judgements of bodies of evidence."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from common.desk_api import TAG, key_of, person
from corpus_app import curation
from corpus_app.api.desk import bodies, shapes
from corpus_app.api.desk.base import DeskView, read_body, require_permissions
from corpus_app.models import OutcomeCertainty

JUDGEMENT = OpenApiExample(
    "A judgement",
    value={
        "intervention": "street-trees", "outcome": "summer-heat", "age_group": "older_adults", "level": "moderate",
        "reasons": ["Most trials are small."],
    },
    request_only=True,
)  # fmt: skip


class CertaintiesView(DeskView):
    permission = {"GET": "corpus_app.view_outcomecertainty", "POST": "corpus_app.add_outcomecertainty"}
    failures = {"POST": (409, 422)}
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_desk_certainties", summary="How certain curators judge the evidence to be", tags=TAG,
        responses=shapes.DeskCertainty(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return self.page(OutcomeCertainty.objects.all(), shapes.DeskCertainty)

    @extend_schema(
        operation_id="judge_certainty", summary="Judge the evidence for an intervention and an outcome", tags=TAG,
        description="A judgement of the same concepts and people is replaced.",
        request=bodies.CertaintyBody, responses={201: shapes.DeskCertainty}, examples=[JUDGEMENT],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        draft: Any = read_body(bodies.CertaintyBody, request)["draft"]
        require_permissions(request, "corpus_app.change_outcomecertainty")
        row = curation.save_certainty(draft, by=person(request))
        return Response(shapes.DeskCertainty(row).data, status=201)


class CertaintyView(DeskView):
    permission: ClassVar = {"DELETE": "corpus_app.delete_outcomecertainty"}
    failures = {"DELETE": (409, 422)}

    @extend_schema(
        operation_id="delete_certainty", summary="Take a judgement away", tags=TAG, responses={204: None},
        parameters=[OpenApiParameter("certainty_id", int, OpenApiParameter.PATH)],
        description="Answers are then graded by the rules alone.",
    )  # fmt: skip
    def delete(self, request: Request, certainty_id: str) -> Response:
        row = OutcomeCertainty.objects.filter(pk=key_of(certainty_id, "certainty")).first()
        if row is None:
            raise Http404("There is no certainty with this id.")
        curation.delete_entry(row, by=person(request))
        return Response(status=204)
