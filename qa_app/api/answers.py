"""Answers by REST: ask, and read again."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from qa_app import asking

FIELDS = ("question", "mode", "collection", "writer", "parent")
FRESH = {"Cache-Control": "private, no-cache"}  # words may be withdrawn: a copy is asked for again before it is shown


class AnswersView(APIView):
    scope = "ask"
    quota = "ask"

    def post(self, request: Request) -> Response:
        try:
            payload = asking.ask(**arguments(request.data))
        except asking.BadInput as bad:
            raise invalid(bad) from bad
        headers = {"Location": f"/api/v1/answers/{payload['id']}"} | FRESH
        return Response(payload, status=status.HTTP_201_CREATED, headers=headers)


class AnswerView(APIView):
    scope = "read"
    quota = "read"

    def get(self, request: Request, answer_id: str) -> Response:
        payload = asking.find_answer(answer_id)
        if payload is None:
            raise Http404("There is no answer with this id.")
        return Response(payload, headers=FRESH)


def invalid(bad: asking.BadInput) -> exceptions.ValidationError:
    """The door's refusal as the API says it: which field, a short code, what to do."""
    return exceptions.ValidationError({bad.field: [exceptions.ErrorDetail(bad.detail, code=bad.code)]})


def arguments(body: Any) -> dict[str, Any]:
    """A body as arguments of `asking.ask`; what is null counts as left out, but for the question."""
    refuse_unknown(body, FIELDS)
    if "question" not in body:
        raise exceptions.ValidationError(
            {"question": [exceptions.ErrorDetail("Send the question as text.", "required")]}
        )
    return {field: value for field, value in body.items() if value is not None or field == "question"}


def refuse_unknown(body: dict[str, Any], fields: tuple[str, ...]) -> None:
    """Raises ValidationError naming the first twenty fields of a body that are none of `fields`."""
    unknown = [field[:100] for field in body if field not in fields][:20]
    if unknown:
        advice = exceptions.ErrorDetail(f"Leave it out; the fields are {', '.join(fields)}.", code="unknown_field")
        raise exceptions.ValidationError({field: [advice] for field in unknown})
