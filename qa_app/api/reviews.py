"""REST views to replay an answer and to rate it."""

from __future__ import annotations

from typing import Any

from django.core import signing
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from qa_app.answers import bundles
from qa_app.api import answer_shapes as shapes
from qa_app.api.answers import TimedView, invalid, refuse_unknown
from qa_app.feedback import ratings

FEEDBACK_FIELDS = ("helpful", "reasons", "words", "amends")
SALT = "qa_app.api.feedback"


class ReplayRefused(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "cannot_replay"
    title = "It cannot be made again"


class ReplayView(TimedView):
    scope = "ask"
    quota = "ask"

    @extend_schema(
        operation_id="replay_answer", summary="Make an answer again", tags=["Questions"],
        request=None, responses={200: shapes.Replay, **shapes.CONFLICT},
    )  # fmt: skip
    def post(self, request: Request, answer_id: str) -> Response:
        """Makes the answer again, as it was made then, and says what comes out otherwise; nothing is stored."""
        refuse_unknown(request.data if isinstance(request.data, dict) else {}, ())
        try:
            replay = bundles.replay(answer_id)
        except bundles.CannotReplay as cannot:
            raise ReplayRefused(str(cannot)) from cannot
        if replay is None:
            raise Http404("There is no answer with this id.")
        return Response({"id": answer_id} | replay)


class FeedbackView(APIView):
    scope = "ask"
    quota = "ask"

    @extend_schema(
        operation_id="give_feedback", summary="Say what you think of an answer", tags=["Questions"],
        request=shapes.FeedbackRequest, responses={200: shapes.FeedbackGiven, 201: shapes.FeedbackGiven},
        examples=[shapes.JUDGED],
    )  # fmt: skip
    def post(self, request: Request, answer_id: str) -> Response:
        """Keeps what a reader thinks of an answer; `amends`, the id of what was said before, puts this in its place."""
        body: Any = request.data
        refuse_unknown(body, FEEDBACK_FIELDS)
        sent = {name: value for name, value in body.items() if value is not None}
        amends = _amended(answer_id, sent.get("amends"))
        try:
            given = ratings.give_feedback(
                answer_id,
                is_helpful=sent.get("helpful"),
                reasons=sent.get("reasons", []),
                words=sent.get("words", ""),
                amends=amends,
                client=ratings.identify(request._request),
            )
        except ratings.BadFeedback as bad:
            raise invalid(bad) from bad
        if given is None:
            raise Http404("There is no answer with this id.")
        body = {
            "id": signing.dumps([answer_id, given.pk], salt=SALT),
            "answer": answer_id,
            "helpful": given.is_helpful,
            "reasons": given.reasons,
            "words": given.words,
            "given_at": given.given_at.isoformat(timespec="seconds"),
        }
        return Response(body, status=status.HTTP_200_OK if amends else status.HTTP_201_CREATED)


def _amended(answer_id: str, token: object) -> int | None:
    """Return the key of the feedback to replace, from its signed id."""
    if token is None:
        return None
    try:
        named, key = signing.loads(token, salt=SALT) if isinstance(token, str) else (None, 0)
    except signing.BadSignature:
        named, key = None, 0
    if named != answer_id or ratings.find_feedback(answer_id, key) is None:
        words = "Send the id that your feedback on this answer was given, or leave it out."
        raise exceptions.ValidationError({"amends": [exceptions.ErrorDetail(words, code="unknown")]})
    return int(key)
