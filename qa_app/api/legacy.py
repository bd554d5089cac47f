"""Endpoints of the predecessor systems, see docs/legacy.md. Errors have `success: false` instead of problem+json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Literal

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from qa_app.answers import asking, idempotency, legacy, quota
from qa_app.api import legacy_shapes as shapes
from qa_app.api.answers import QuotaProblem, TimedView, client_of, refuse_unknown

# Legacy field names and the service's arguments.
QUESTION_FIELDS = {
    "query": "question", "mode": "mode", "collection": "collection", "use_llm": "writer",
    "top_k_passages": "most_passages", "max_studies": "most_studies",
}  # fmt: skip
PART_FIELDS = ("request_id", "query", "selected_chunks", "use_llm")


class LegacyView(TimedView):
    scope = "ask"
    quota = "ask"

    def get_exception_handler(self) -> Callable[..., Response | None]:
        usual = super().get_exception_handler()

        def handle(error: Exception, context: dict[str, Any]) -> Response | None:
            response: Response | None = usual(error, context)
            if response is not None and response.data.get("success") is not False:
                response.data, response.content_type = self.shape_problem(response.data), None
            return response

        return handle

    @staticmethod
    def shape_problem(problem: Mapping[str, Any]) -> dict[str, Any]:
        """Convert a problem (RFC 9457) to the legacy error format."""
        kind = str(problem["type"]).rpartition(":")[2].upper().replace("-", "_")
        return {"success": False, "error": problem["detail"], "errors": problem["errors"], "code": kind}


class AskView(LegacyView):
    @extend_schema(
        operation_id="legacy_ask", summary="Ask, as an earlier system took it", tags=["Earlier addresses"],
        request=shapes.LegacyQuestion, responses={200: shapes.LegacyAnswer} | shapes.REFUSED, examples=[shapes.ASKED],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        return Response(_call_service(legacy.ask, request))


class UnifiedSearchView(LegacyView):
    """Serves /explain-research too."""

    @extend_schema(
        summary="Search and write, as an earlier system did", tags=["Earlier addresses"],
        request=shapes.LegacyQuestion, responses={200: shapes.LegacySearch} | shapes.REFUSED, examples=[shapes.ASKED],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        return Response(_call_service(legacy.search_and_write, request))


class PartView(LegacyView):
    """Summary or answer alone, from evidence that an earlier search found."""

    part: Literal["summary", "answer"] = "summary"

    @extend_schema(
        summary="One part, from evidence that an earlier search found", tags=["Earlier addresses"],
        request=shapes.LegacyPartRequest, examples=[shapes.PART_ASKED],
        responses={200: shapes.LegacyPart} | shapes.REFUSED_PART,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = _body(request, PART_FIELDS)
        request_id, query = body.get("request_id"), body.get("query")
        if not isinstance(request_id, str):
            raise _invalid("request_id", "required", "Send the request_id that /api/unified-search gave, as text.")
        if query is not None and not isinstance(query, str):
            raise _invalid("query", "not_text", "Send the query as text, or leave it out: the id stands for it.")
        chunks = body.get("selected_chunks")
        if chunks is not None and not isinstance(chunks, list):
            raise _invalid("selected_chunks", "not_a_list", "Send a list, or leave it out: the id stands for it.")
        if chunks == []:
            return _without_evidence(
                request_id, self.part, "selected_chunks is empty, so there is nothing to write from."
            )
        try:
            allowance = quota.allowance(request._request)
            return Response(
                legacy.write(request_id, self.part, writer=_writer(body.get("use_llm")), allowance=allowance)
            )
        except asking.ModelQuotaUsedUp as used_up:
            raise QuotaProblem(used_up) from used_up
        except asking.UnknownContext:
            words = "There is no request with this id. Send the query to /api/unified-search first."
            return _failed(HTTPStatus.NOT_FOUND, "REQUEST_UNKNOWN", words, request_id=request_id)
        except asking.ExpiredContext:
            words = "The evidence of this request is kept no longer. Send the query to /api/unified-search again."
            return _failed(HTTPStatus.GONE, "REQUEST_EXPIRED", words, request_id=request_id)
        except asking.InsufficientEvidence as nothing:
            return _without_evidence(request_id, self.part, str(nothing))


def _body(request: Request, fields: Iterable[str]) -> dict[str, Any]:
    body: Any = request.data
    refuse_unknown(body, tuple(fields))
    return dict(body)


def _call_service(service: Callable[..., dict[str, Any]], request: Request) -> dict[str, Any]:
    """Call the service with translated arguments; report errors under the legacy field names."""
    body = _body(request, QUESTION_FIELDS)
    if "query" not in body:
        raise _invalid("query", "required", "Send the query as text.")
    arguments = {ours: body[theirs] for theirs, ours in QUESTION_FIELDS.items() if body.get(theirs) is not None}
    arguments["question"] = body["query"]
    arguments["writer"] = _writer(body.get("use_llm"))
    note = partial(idempotency.note, client=client_of(request)) if request.auth is not None else None
    try:
        return service(**arguments, allowance=quota.allowance(request._request), when_stored=note)
    except asking.BadQuestion as bad:
        field = next((theirs for theirs, ours in QUESTION_FIELDS.items() if ours == bad.field), bad.field)
        raise _invalid(field, bad.code, bad.detail) from bad
    except asking.ModelQuotaUsedUp as used_up:
        raise QuotaProblem(used_up) from used_up


def _writer(use_llm: object) -> str:
    """Return the writer for `use_llm`; the site's default where it is omitted."""
    if use_llm is None:
        return "auto"
    if not isinstance(use_llm, bool):
        raise _invalid("use_llm", "not_boolean", "Send true or false, or leave it out.")
    return "llm" if use_llm else "extractive"


def _invalid(field: str, code: str, detail: str) -> exceptions.ValidationError:
    return exceptions.ValidationError({field: [exceptions.ErrorDetail(detail, code=code)]})


def _without_evidence(request_id: str, part: str, why: str) -> Response:
    template = {part: legacy.INSUFFICIENT, "citations": [], "total_chunks": 0}
    return _failed(HTTPStatus.UNPROCESSABLE_ENTITY, legacy.NO_ANSWER, why, request_id=request_id, **template)


def _failed(status: HTTPStatus, code: str, words: str, **more: Any) -> Response:
    return Response({"success": False, "error": words, "errors": [], "code": code} | more, status=status)
