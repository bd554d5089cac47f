"""REST views of answers: ask, read, and list one's own."""

from __future__ import annotations

import re
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from qa_app.answers import asking, idempotency, quota
from qa_app.answers.site_words import in_site_words
from qa_app.api import answer_shapes, shapes
from qa_app.api.files import exported
from qa_app.models import Answer

FIELDS = ("question", "mode", "collection", "writer", "parent", "filters")
REVALIDATE = {"Cache-Control": "private, no-cache"}  # clients must revalidate: sources may be withdrawn


IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class IdempotencyKeyReused(exceptions.APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = "This Idempotency-Key came with another question within the last day. Send a new key."
    default_code = "idempotency_key_reused"
    title = "The key stands for another question"


class AnswerPending(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "The answer to this question is being made. Send the request again in a second."
    default_code = "still_answering"
    title = "The answer is being made"
    wait = 1


class QuotaProblem(exceptions.Throttled):
    default_code = "quota_used_up"

    def __init__(self, used_up: asking.ModelQuotaUsedUp | quota.QuotaUsedUp) -> None:
        exceptions.APIException.__init__(self, str(used_up))
        self.wait = used_up.retry_after_seconds


class OutOfTimeProblem(exceptions.APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "out_of_time"
    title = "It took too long"
    wait = 5


class TimedView(APIView):
    # Views that make answers report a timeout as a problem of its own.
    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(OutOfTimeProblem(str(exc)) if isinstance(exc, asking.OutOfTime) else exc)


class AnswersView(TimedView):
    scope = {"GET": "read", "POST": "ask"}
    quota = {"GET": "read", "POST": "ask"}

    @extend_schema(
        operation_id="list_own_answers", summary="The answers that your key has asked for", tags=["Questions"],
        parameters=answer_shapes.PAGES, responses=answer_shapes.OwnAnswers,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        if request.auth is None:
            raise exceptions.NotAuthenticated(
                "Send your key: the list is of the answers that it asked for.", "key_required"
            )
        make_pages: Any = api_settings.DEFAULT_PAGINATION_CLASS
        pages: CursorPagination = make_pages()
        pages.ordering = ("-created_at", "id")
        rows = pages.paginate_queryset(idempotency.own(client_of(request)), request, view=self)
        return pages.get_paginated_response([_summary(answer) for answer in rows or ()])

    @extend_schema(
        operation_id="ask", summary="Ask a question", tags=["Questions"],
        description="A refusal is an answer too: `outcome` says what came of it.",
        request=shapes.AnswerRequest, parameters=[answer_shapes.IDEMPOTENCY_KEY],
        responses={200: shapes.Answer, 201: shapes.Answer, **answer_shapes.REUSED},
        examples=[shapes.ASKED, shapes.ASKED_FULLY],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        wanted = arguments(request.data)
        key = _idempotency_key(request)
        try:
            payload, is_new = idempotency.ask(
                wanted,
                client=client_of(request),
                is_listed=request.auth is not None,
                idempotency_key=key,
                allowance=quota.allowance(request._request),
            )
        except asking.BadInput as bad:
            raise invalid(bad) from bad
        except idempotency.KeyReused as error:
            raise IdempotencyKeyReused from error
        except idempotency.AnswerInProgress as error:
            raise AnswerPending from error
        except asking.ModelQuotaUsedUp as used_up:
            raise QuotaProblem(used_up) from used_up
        headers = {"Location": f"/api/v1/answers/{payload['id']}"} | REVALIDATE
        shown = in_site_words(payload)
        return Response(shown, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK, headers=headers)


class AnswerView(APIView):
    scope = "read"
    quota = "read"

    @extend_schema(
        operation_id="get_answer", summary="An answer, marked with what has become of its sources", tags=["Questions"],
        parameters=[answer_shapes.FORMAT], responses={(200, "application/json"): shapes.Answer, **answer_shapes.FILES},
    )  # fmt: skip
    def get(self, request: Request, answer_id: str) -> HttpResponse:
        if "format" in request.query_params:
            return exported(request, answer_id)
        payload = asking.find_answer(answer_id)
        if payload is None:
            raise Http404("There is no answer with this id.")
        return Response(in_site_words(payload), headers=REVALIDATE)


def client_of(request: Request) -> str:
    """Return the id that quotas count by: a key's id, or the keyed hash of an address."""
    return str(request._request.client_id)  # type: ignore[attr-defined]


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and not IDEMPOTENCY_KEY.fullmatch(key):
        words = "Send an Idempotency-Key of 1 to 255 letters, digits and signs, without spaces, such as a UUID."
        raise exceptions.ValidationError({"Idempotency-Key": [exceptions.ErrorDetail(words, code="malformed")]})
    return key


def _summary(answer: Answer) -> dict[str, Any]:
    return {
        "id": answer.pk,
        "url": answer.get_absolute_url(),
        "question": answer.question,
        "mode": answer.mode,
        "collection": answer.collection,
        "outcome": answer.outcome,
        "corpus_version": answer.corpus_version,
        "created_at": answer.created_at.isoformat(timespec="seconds"),
    }


def invalid(bad: asking.BadInput) -> exceptions.ValidationError:
    """Convert rejected input to a validation error with field, code and message."""
    return exceptions.ValidationError({bad.field: [exceptions.ErrorDetail(bad.detail, code=bad.code)]})


def arguments(body: Any) -> dict[str, Any]:
    """Return a body as arguments of `asking.ask`; null counts as omitted, except for the question."""
    refuse_unknown(body, FIELDS)
    if "question" not in body:
        raise exceptions.ValidationError(
            {"question": [exceptions.ErrorDetail("Send the question as text.", "required")]}
        )
    return {field: value for field, value in body.items() if value is not None or field == "question"}


def refuse_unknown(body: dict[str, Any], fields: tuple[str, ...]) -> None:
    """Raise ValidationError for up to twenty unknown fields of a body."""
    unknown = [field[:100] for field in body if field not in fields][:20]
    if unknown:
        there = f"the fields are {', '.join(fields)}" if fields else "nothing is asked for here"
        advice = exceptions.ErrorDetail(f"Leave it out; {there}.", code="unknown_field")
        raise exceptions.ValidationError({field: [advice] for field in unknown})
