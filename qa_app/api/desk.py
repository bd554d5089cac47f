"""REST views of gaps, golden questions and evaluation runs, with the permissions of the key's owner."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from common.desk_api import TAG, DeskAPIView, NotPossible, Stale, key_of, person, version_seen
from qa_app.api import desk_shapes
from qa_app.api.answers import refuse_unknown
from qa_app.evaluation import golden_runs
from qa_app.feedback import gaps
from qa_app.models import EvaluationRun, Gap, GoldenQuestion

MAX_NOTE_LENGTH = 2_000
GAP_FIELDS = ("status", "assigned_to", "note")


def _invalid(name: str, words: str) -> exceptions.ValidationError:
    return exceptions.ValidationError({name: [exceptions.ErrorDetail(words, "invalid")]})


class GapsView(DeskAPIView):
    permission = "qa_app.view_gap"
    ordering = ("-demanded", "-last_asked_at", "-pk")
    known = ("status", *parameters.OF_LISTS)

    @extend_schema(
        operation_id="list_gaps", summary="What the corpus does not answer, the most asked first", tags=TAG,
        parameters=[OpenApiParameter("status", str, enum=Gap.Status.values)],
        responses=desk_shapes.ListedGap(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        rows = gaps.list_leaders().select_related("assigned_to")
        status = parameters.one_of(request, "status", Gap.Status.values)
        return self.page(rows.filter(status=status) if status else rows, desk_shapes.ListedGap)


class GapView(DeskAPIView):
    permission = {"GET": "qa_app.view_gap", "PATCH": "qa_app.change_gap"}
    if_match: ClassVar = {"PATCH": True}

    @extend_schema(
        operation_id="get_gap", summary="A gap with what comes nearest to an answer", tags=TAG,
        responses=desk_shapes.Gap,
    )  # fmt: skip
    def get(self, request: Request, gap_id: str) -> Response:
        return _shown(gap_id)

    @extend_schema(
        operation_id="change_gap", summary="Give a gap to somebody, note something, close it", tags=TAG,
        request=desk_shapes.GapBody, responses=desk_shapes.Gap,
        examples=[
            OpenApiExample(
                "Close it", value={"status": "closed", "note": "Two trials are on their way."}, request_only=True
            ),
        ],
    )  # fmt: skip
    def patch(self, request: Request, gap_id: str) -> Response:
        wanted = _gap_changes(request.data)
        try:
            gaps.update_gap(key_of(gap_id, "gap"), seen=str(version_seen(request)), **wanted)
        except Gap.DoesNotExist as missing:
            raise Http404("There is no gap with this id.") from missing
        except gaps.VersionConflict as changed:
            raise Stale(changed.version) from changed
        except gaps.UnknownAssignee as nobody:
            raise parameters.refuse("assigned_to", str(nobody)) from nobody
        return _shown(gap_id)


def _shown(gap_id: str) -> Response:
    gap = (
        gaps.list_leaders()
        .select_related("assigned_to", "last_answer", "result")
        .filter(pk=key_of(gap_id, "gap"))
        .first()
    )
    if gap is None:
        raise Http404("There is no gap with this id.")
    return Response(desk_shapes.Gap(gap).data)


def _gap_changes(body: Any) -> dict[str, Any]:
    """Validate a change of a gap. Raises ValidationError."""
    refuse_unknown(body, GAP_FIELDS)
    wanted = dict(body)
    if "status" in wanted and wanted["status"] not in Gap.Status.values:
        raise parameters.refuse("status", f"Choose one of {', '.join(Gap.Status.values)}.")
    note = wanted.get("note", "")
    if not isinstance(note, str) or len(note) > MAX_NOTE_LENGTH:
        raise _invalid("note", f"Send text of at most {MAX_NOTE_LENGTH:,} characters.")
    if not isinstance(wanted.get("assigned_to"), str | None):
        raise _invalid("assigned_to", "Send a username, or null for nobody.")
    return wanted


class GoldenQuestionsView(DeskAPIView):
    scope = "evaluate"
    permission = "qa_app.view_goldenquestion"
    ordering = ("key",)
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_golden_questions", summary="The curators' test questions", tags=TAG,
        responses=desk_shapes.GoldenQuestion(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return self.page(GoldenQuestion.objects.all(), desk_shapes.GoldenQuestion)


class RunsView(DeskAPIView):
    scope = "evaluate"
    permission = {"GET": "qa_app.view_evaluationrun", "POST": "qa_app.add_evaluationrun"}
    failures = {"POST": (422,)}
    ordering = ("-pk",)
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_evaluation_runs", summary="Runs of the golden questions, the newest first", tags=TAG,
        responses=desk_shapes.ListedRun(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return self.page(EvaluationRun.objects.all(), desk_shapes.ListedRun)

    @extend_schema(
        operation_id="start_evaluation_run", summary="Ask all golden questions anew", tags=TAG, request=None,
        description="A worker does it; `get_evaluation_run` says how far it is.", responses={202: desk_shapes.Run},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        refuse_unknown(request.data if isinstance(request.data, dict) else {}, ())
        try:
            run = golden_runs.create_run(by=person(request))
        except golden_runs.NoGoldenQuestions as nothing:
            raise NotPossible(str(nothing)) from nothing
        golden_runs.notify_worker()
        headers = {"Location": f"/api/v1/desk/evaluation-runs/{run.pk}"}
        return Response(desk_shapes.Run(run).data, status=202, headers=headers)


class RunView(DeskAPIView):
    scope = "evaluate"
    permission = "qa_app.view_evaluationrun"

    @extend_schema(
        operation_id="get_evaluation_run", summary="A run with its figures and what came of each question", tags=TAG,
        responses=desk_shapes.Run,
    )  # fmt: skip
    def get(self, request: Request, run_id: str) -> Response:
        run = EvaluationRun.objects.filter(pk=key_of(run_id, "evaluation run")).first()
        if run is None:
            raise Http404("There is no evaluation run with this id.")
        return Response(desk_shapes.Run(run).data)
