"""REST view of passage search."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from qa_app.answers import asking
from qa_app.api import shapes
from qa_app.api.answers import TimedView, invalid, refuse_unknown

FIELDS = ("question", "mode", "collection", "limit")
IN_ADDRESSES = {"q": "question"}  # query parameters with other names


class SearchView(TimedView):
    scope = "read"
    quota = "ask"

    @extend_schema(
        operation_id="search", summary="The passages nearest to a question", tags=["Questions"],
        parameters=shapes.SEARCH_PARAMETERS, responses=shapes.Search,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        given: dict[str, Any] = {name: request.query_params[name] for name in request.query_params}
        refuse_unknown(given, ("q", *FIELDS[1:]))
        limit = given.get("limit", "")
        if limit.isascii() and limit.isdecimal() and len(limit) < 5:
            given["limit"] = int(limit)
        return _found({IN_ADDRESSES.get(name, name): value for name, value in given.items()}, question="q")

    @extend_schema(
        operation_id="search_by_body", summary="The same, with the question in the body", tags=["Questions"],
        request=shapes.SearchRequest, responses=shapes.Search,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        refuse_unknown(request.data, FIELDS)  # type: ignore[arg-type]
        return _found(request.data, question="question")


def _found(given: Any, *, question: str) -> Response:
    """Search passages; `question` is the field's name in the request."""
    if "question" not in given:
        raise exceptions.ValidationError({question: [exceptions.ErrorDetail("Send the question as text.", "required")]})
    try:
        return Response(
            asking.find_passages(**{name: v for name, v in given.items() if v is not None or name == "question"})
        )
    except asking.BadQuestion as bad:
        bad.field = question if bad.field == "question" else bad.field
        raise invalid(bad) from bad
