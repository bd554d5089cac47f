"""The API of passages. Their ETag is the study's version, which every change of the study raises."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from common.desk_api import TAG, key_of, person, version_seen
from corpus_app import curation
from corpus_app.api.desk import bodies, shapes
from corpus_app.api.desk.base import DeskView, read_body, require_permissions
from corpus_app.api.desk.studies import find as find_study
from corpus_app.models import Passage

PASSAGE = OpenApiExample(
    "A passage",
    value={"section": "results", "text": "Streets with trees were cooler than streets without."},
    request_only=True,
)


def find(passage_id: str) -> Passage:
    """Return the passage with this id. Raises NotFound."""
    found = Passage.objects.select_related("study").filter(pk=key_of(passage_id, "passage")).first()
    if found is None:
        raise exceptions.NotFound("There is no passage with this id.")
    return found


def shown(passage: Passage, *, status: int = 200) -> Response:
    headers = {"ETag": f'"{passage.study.version}"'}
    if status == 201:
        headers["Location"] = f"/api/v1/desk/passages/{passage.pk}"
    return Response(shapes.OneDeskPassage(passage).data, status=status, headers=headers)


def _accept_broken_text(request: Request, current: curation.Act, asked: dict[str, Any]) -> None:
    if reason := asked.pop("stands_because", ""):
        require_permissions(request, "corpus_app.add_qualitywaiver")
        current.accept_broken_text(reason)


class PassagesView(DeskView):
    permission = {"POST": "corpus_app.add_passage"}
    if_match: ClassVar = {"POST": False}
    failures = {"POST": (409, 422)}

    @extend_schema(
        operation_id="add_passage", summary="Add a passage at the end of a study", tags=TAG,
        request=bodies.OnePassageBody, responses={201: shapes.OneDeskPassage}, examples=[PASSAGE],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        find_study(study_id)
        asked = read_body(bodies.OnePassageBody, request)
        by = person(request)
        with curation.act(by=by) as current:
            curation.expect_version(study_id, version_seen(request), by=by)
            _accept_broken_text(request, current, asked)
            added = curation.add_passage(study_id, by=by, **asked)
        return shown(find(str(added.pk)), status=201)


class PassageView(DeskView):
    permission = {
        "GET": "corpus_app.view_passage",
        "PATCH": "corpus_app.change_passage",
        "DELETE": "corpus_app.delete_passage",
    }
    if_match: ClassVar = {"PATCH": True, "DELETE": True}
    failures = {"PATCH": (409, 422), "DELETE": (409, 422)}

    @extend_schema(
        operation_id="get_desk_passage", summary="A passage as curators see it", tags=TAG,
        responses=shapes.OneDeskPassage,
    )  # fmt: skip
    def get(self, request: Request, passage_id: str) -> Response:
        return shown(find(passage_id))

    @extend_schema(
        operation_id="change_passage", summary="Change a passage", tags=TAG, request=bodies.OnePassageBody,
        responses=shapes.OneDeskPassage,
        examples=[OpenApiExample("New words", value={"text": "Streets with trees were cooler."}, request_only=True)],
    )  # fmt: skip
    def patch(self, request: Request, passage_id: str) -> Response:
        passage = find(passage_id)
        asked = read_body(bodies.OnePassageBody, request, partial=True)
        by = person(request)
        with curation.act(by=by) as current:
            curation.expect_version(passage.study.study_id, version_seen(request), by=by)
            _accept_broken_text(request, current, asked)
            curation.revise_passage(passage.pk, by=by, **asked)
        return shown(find(passage_id))

    @extend_schema(
        operation_id="remove_passage", summary="Remove a passage", tags=TAG, responses={204: None},
        description="Its words stay in the study's history.",
    )  # fmt: skip
    def delete(self, request: Request, passage_id: str) -> Response:
        passage = find(passage_id)
        by = person(request)
        with curation.act(by=by):
            study = curation.expect_version(passage.study.study_id, version_seen(request), by=by)
            curation.remove_passage(passage.pk, by=by)
        study.refresh_from_db(fields=["version"])
        return Response(status=204, headers={"ETag": f'"{study.version}"'})
