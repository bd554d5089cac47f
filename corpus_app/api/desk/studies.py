"""The API of studies, drafts included; If-Match guards each change against lost updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from common.desk_api import TAG, key_of, person, version_seen
from corpus_app import curation, records
from corpus_app.api.desk import bodies, shapes
from corpus_app.api.desk.base import Conflict, DeskView, read_body, require_permissions
from corpus_app.api.resources import is_id
from corpus_app.curation import history
from corpus_app.models import Collection, Finding, Study

FILTERS = {"status": records.Status, "notice": records.Notice}
FINDINGS = ("corpus_app.add_finding", "corpus_app.change_finding", "corpus_app.delete_finding")
CONCEPTS = ("corpus_app.add_studyconcept", "corpus_app.change_studyconcept", "corpus_app.delete_studyconcept")
NEW = OpenApiExample(
    "A draft with a passage",
    value={
        "study_id": "example-2024", "title": "Street trees and summer heat", "authors": ["Example AB"],
        "year": 2024, "design": "randomized_controlled_trial", "collection": "city-trees", "doi": "10.1000/example.1",
        "passages": [{"section": "results", "text": "Streets with trees were cooler than streets without."}],
    },
    request_only=True,
)  # fmt: skip
CHANGE = OpenApiExample("A new title", value={"title": "Street trees and the heat of summer"}, request_only=True)
REASON = OpenApiExample("A reason", value={"reason": "The abstract was corrected by the authors."}, request_only=True)
SOURCE = OpenApiExample(
    "Its source",
    value={"passage_id": 131, "words": "Temperature fell by 12 % (95 % CI 4 to 20)."},
    request_only=True,
)
MERGE = OpenApiExample(
    "The same study twice",
    value={
        "other": "example-2024b",
        "take": ["pmid", "findings"],
        "passages": [],
        "reason": "The same trial, imported twice.",
    },
    request_only=True,
)


def find(study_id: str) -> Study:
    """Return the study with this id. Raises NotFound."""
    found = Study.objects.select_related("collection").filter(study_id=study_id).first() if is_id(study_id) else None
    if found is None:
        raise exceptions.NotFound("There is no study with this id.")
    return found


def shown(study_id: str, *, status: int = status.HTTP_200_OK) -> Response:
    study = find(study_id)
    headers = {"ETag": f'"{study.version}"'}
    if status == 201:
        headers["Location"] = f"/api/v1/desk/studies/{study_id}"
    return Response(shapes.DeskStudy(study).data, status=status, headers=headers)


class StudiesView(DeskView):
    permission = {"GET": "corpus_app.view_study", "POST": "corpus_app.add_study"}
    failures = {"POST": (409, 422)}
    ordering = ("study_id",)
    known = (*FILTERS, "collection", *parameters.OF_LISTS)

    @extend_schema(
        operation_id="list_desk_studies", summary="Studies at the desk, drafts too", tags=TAG,
        parameters=[
            *(OpenApiParameter(name, str, enum=[v.value for v in values]) for name, values in FILTERS.items()),
            OpenApiParameter("collection", str, description="A collection's slug."),
        ],
        responses=shapes.ListedDeskStudy(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        rows = Study.objects.all()
        for name, values in FILTERS.items():
            if value := parameters.one_of(request, name, {v.value for v in values}):
                rows = rows.filter(**{name: value})
        if slug := parameters.one_of(request, "collection", set(Collection.objects.values_list("slug", flat=True))):
            rows = rows.filter(collection=slug)
        return self.page(rows, shapes.ListedDeskStudy)

    @extend_schema(
        operation_id="create_study", summary="Make a draft", tags=TAG, request=bodies.NewStudy,
        responses={201: shapes.DeskStudy}, examples=[NEW],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        asked = read_body(bodies.NewStudy, request)
        study_id, passages = asked.pop("study_id"), asked.pop("passages", [])
        if not is_id(study_id):
            raise exceptions.ValidationError({"study_id": ["Use letters, digits, dot, dash and underscore only."]})
        if Study.objects.filter(study_id=study_id).exists():
            raise Conflict("There is a study with this id already. Choose another id, or change that one.")
        require_permissions(request, *(("corpus_app.add_passage",) if passages else ()))
        by = person(request)
        with curation.act(by=by):
            _save_study(request, study_id, asked, lambda values: curation.create_study(study_id, by=by, **values))
            for passage in passages:
                curation.add_passage(study_id, by=by, **passage)
        return shown(study_id, status=201)


class StudyView(DeskView):
    permission = {
        "GET": "corpus_app.view_study",
        "PATCH": "corpus_app.change_study",
        "DELETE": "corpus_app.delete_study",
    }
    if_match: ClassVar = {"PATCH": True, "DELETE": True}
    failures = {"PATCH": (409, 422), "DELETE": (409, 422)}

    @extend_schema(
        operation_id="get_desk_study", summary="A study as curators see it", tags=TAG, responses=shapes.DeskStudy
    )
    def get(self, request: Request, study_id: str) -> Response:
        return shown(study_id)

    @extend_schema(
        operation_id="change_study", summary="Change a study", tags=TAG, request=bodies.ChangedStudy,
        description="Only the fields that are sent; null empties one that may be empty.",
        responses=shapes.DeskStudy, examples=[CHANGE],
    )  # fmt: skip
    def patch(self, request: Request, study_id: str) -> Response:
        find(study_id)
        asked = read_body(bodies.ChangedStudy, request, partial=True)
        by = person(request)
        with curation.act(by=by):
            study = curation.expect_version(study_id, version_seen(request), by=by)
            if "passage_order" in asked:
                _arrange(request, study, asked.pop("passage_order"))
            _save_study(
                request,
                study_id,
                asked,
                lambda values: curation.revise_study(study_id, by=by, **values) if values else None,
            )
        return shown(study_id)

    @extend_schema(
        operation_id="delete_study", summary="Delete a study that the public does not see", tags=TAG,
        responses={204: None},
        description="With its passages, and its words from the history. A published one is withdrawn first.",
    )  # fmt: skip
    def delete(self, request: Request, study_id: str) -> Response:
        find(study_id)
        by = person(request)
        with curation.act(by=by):
            curation.expect_version(study_id, version_seen(request), by=by)
            curation.delete_study(study_id, by=by)
        return Response(status=204)


class ConfirmFindingView(DeskView):
    permission = "corpus_app.change_finding"
    if_match: ClassVar = {"POST": False}
    failures = {"POST": (409, 422)}

    @extend_schema(
        operation_id="confirm_finding", summary="Confirm a finding with the words that hold its figures", tags=TAG,
        parameters=[OpenApiParameter("finding_id", int, OpenApiParameter.PATH)],
        request=bodies.ConfirmFindingBody, responses=shapes.DeskStudy, examples=[SOURCE],
    )  # fmt: skip
    def post(self, request: Request, finding_id: str) -> Response:
        finding = Finding.objects.select_related("study").filter(pk=key_of(finding_id, "finding")).first()
        if finding is None:
            raise exceptions.NotFound("There is no finding with this id.")
        asked = read_body(bodies.ConfirmFindingBody, request)
        by, study_id = person(request), finding.study.study_id
        with curation.act(by=by):
            curation.expect_version(study_id, version_seen(request), by=by)
            curation.confirm_finding(finding.pk, by=by, **asked)
        return shown(study_id)


def _save_study(
    request: Request, study_id: str, asked: dict[str, Any], save_fields: Callable[[dict[str, Any]], Any]
) -> None:
    """Save the study's own fields by `save_fields`, then its concepts and findings. Raises NotPermitted."""
    concepts, findings = asked.pop("concepts", None), asked.pop("findings", None)
    require_permissions(
        request, *(CONCEPTS if concepts is not None else ()), *(FINDINGS if findings is not None else ())
    )
    save_fields(asked)
    if concepts is not None:
        curation.set_concepts(study_id, concepts, by=person(request))
    if findings is not None:
        curation.set_findings(study_id, findings, by=person(request))


def _arrange(request: Request, study: Study, wanted: list[int]) -> None:
    require_permissions(request, "corpus_app.change_passage")
    if sorted(wanted) != sorted(study.passages.values_list("pk", flat=True)):
        words = "Name each passage of the study once, and no other."
        raise exceptions.ValidationError({"passage_order": [exceptions.ErrorDetail(words, "unknown")]})
    curation.arrange_passages(study.study_id, wanted, by=person(request))


# --- Status and notice


class StateView(DeskView):
    """Takes a study to another status: by its reason, and only while it is as it was read, where If-Match says so."""

    if_match: ClassVar = {"POST": False}
    failures = {"POST": (409, 422)}

    def change_state(
        self, request: Request, study_id: str, body: type[bodies.Body], verb: Callable[..., Any], otherwise: str | None
    ) -> Response:
        """Apply `verb` to the study. Raises Conflict with `otherwise`, if given, when that changed nothing."""
        find(study_id)
        asked = read_body(body, request)
        by = person(request)
        with curation.act(by=by):
            curation.expect_version(study_id, version_seen(request), by=by)
            if not verb([study_id], by=by, **asked) and otherwise:
                raise Conflict(f"{otherwise} Read it again.")
        return shown(study_id)


class SubmitView(StateView):
    permission = "corpus_app.change_study"

    @extend_schema(
        operation_id="submit_study", summary="Hand a draft over for review", tags=TAG,
        request=bodies.MayHaveReason, responses=shapes.DeskStudy, examples=[REASON],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        return self.change_state(request, study_id, bodies.MayHaveReason, curation.submit, "It is no draft.")


class SendBackView(StateView):
    permission = "corpus_app.publish_study"

    @extend_schema(
        operation_id="send_study_back", summary="Return a study from review to draft", tags=TAG,
        request=bodies.ReasonBody, responses=shapes.DeskStudy, examples=[REASON],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        return self.change_state(request, study_id, bodies.ReasonBody, curation.send_back, "It is not in review.")


class PublishView(StateView):
    permission = "corpus_app.publish_study"

    @extend_schema(
        operation_id="publish_study", summary="Publish a study", tags=TAG, request=bodies.MayHaveReason,
        description="422 says what stands in the way: "
        "a passage missing, text that looks broken, a second person's review.",
        responses=shapes.DeskStudy, examples=[REASON],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        return self.change_state(request, study_id, bodies.MayHaveReason, curation.publish, "It is published already.")


class WithdrawView(StateView):
    permission = "corpus_app.publish_study"

    @extend_schema(
        operation_id="withdraw_study", summary="Take a published study from the public at once", tags=TAG,
        request=bodies.ReasonBody, responses=shapes.DeskStudy, examples=[REASON],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        return self.change_state(request, study_id, bodies.ReasonBody, curation.withdraw, "It is not published.")


class NoticeView(StateView):
    permission = "corpus_app.set_notice_study"

    @extend_schema(
        operation_id="set_study_notice", summary="Mark a study as corrected, of concern or retracted", tags=TAG,
        request=bodies.NoticeBody, responses=shapes.DeskStudy,
        examples=[
            OpenApiExample(
                "A retraction",
                value={"notice": "retracted", "reason": "Retracted by the journal."},
                request_only=True,
            )
        ],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        return self.change_state(request, study_id, bodies.NoticeBody, curation.set_notice, None)


class MergeView(DeskView):
    permission = "corpus_app.publish_study"
    if_match: ClassVar = {"POST": False}
    failures = {"POST": (409, 422)}

    @extend_schema(
        operation_id="merge_study", summary="Make one of two studies", tags=TAG, request=bodies.MergeBody,
        description="What is named goes from the other study into this one; "
        "the other is withdrawn and says where it went. A reason is needed where one of them is published.",
        responses=shapes.DeskStudy, examples=[MERGE],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        find(study_id)
        asked = read_body(bodies.MergeBody, request)
        require_permissions(request, "corpus_app.change_study")
        if Study.objects.filter(study_id=asked["other"]).first() is None:
            words = "There is no study with this id."
            raise exceptions.ValidationError({"other": [exceptions.ErrorDetail(words, "unknown")]})
        by = person(request)
        take = [name for field in asked.get("take", ()) for name in bodies.TAKEN[field]]
        with curation.act(by=by):
            curation.expect_version(study_id, version_seen(request), by=by)
            curation.merge(
                study_id,
                asked["other"],
                take=take,
                passages=asked.get("passages", ()),
                reason=asked.get("reason", ""),
                by=by,
            )
        return shown(study_id)


# --- Comments and history


class CommentsView(DeskView):
    permission = {"GET": "corpus_app.view_studycomment", "POST": "corpus_app.add_studycomment"}
    failures = {"POST": (409, 422)}
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_study_comments", summary="What curators say of a study, oldest first", tags=TAG,
        responses=shapes.Comment(many=True),
    )  # fmt: skip
    def get(self, request: Request, study_id: str) -> Response:
        return self.page(find(study_id).comments.all(), shapes.Comment)

    @extend_schema(
        operation_id="comment_on_study", summary="Say something to the other curators", tags=TAG,
        request=bodies.CommentBody, responses={201: shapes.Comment},
        examples=[
            OpenApiExample("A comment", value={"text": "Is the number of participants right?"}, request_only=True)
        ],
    )  # fmt: skip
    def post(self, request: Request, study_id: str) -> Response:
        find(study_id)
        comment = curation.comment(study_id, read_body(bodies.CommentBody, request)["text"], by=person(request))
        return Response(shapes.Comment(comment).data, status=201)


class HistoryView(DeskView):
    permission = "corpus_app.view_corpusevent"
    ordering = ("-pk",)
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_study_events", summary="Who did what with a study, newest first", tags=TAG,
        responses=shapes.Event(many=True),
    )  # fmt: skip
    def get(self, request: Request, study_id: str) -> Response:
        return self.page(history.of_study(find(study_id)), shapes.Event)
