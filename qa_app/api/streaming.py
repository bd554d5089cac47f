"""REST view that streams answers as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, renderers, status
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from qa_app.answers import asking, idempotency, quota, streaming
from qa_app.answers.site_words import in_site_words, sentence_in_site_words
from qa_app.api import answers, shapes

EVENTS = "text/event-stream"
HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # proxies buffer small events otherwise
}
HEARTBEAT = b": still here\n\n"


CODES = {status.HTTP_429_TOO_MANY_REQUESTS: "quota_used_up", status.HTTP_503_SERVICE_UNAVAILABLE: "unavailable"}


class EventStream(renderers.JSONRenderer):
    """A renderer for `Accept: text/event-stream`; an error before the first event is rendered as JSON."""

    media_type = EVENTS
    format = "events"


class Busy(exceptions.APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "Many answers are being made at this moment. Please try again in a few seconds."
    default_code = "unavailable"
    wait = streaming.RETRY_SECONDS


class WrongEventId(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = streaming.OTHER
    default_code = "other_question"


class Failed(exceptions.APIException):
    """The problem in an `error` event."""

    def __init__(self, status_code: int, detail: str, code: str | None = None) -> None:
        super().__init__(detail, code=code or CODES.get(status_code))
        self.status_code = status_code


class StreamView(APIView):
    scope = "ask"
    quota = "ask"
    renderer_classes = [EventStream, renderers.JSONRenderer]

    def quota_of(self, request: Request) -> str:
        """Return the quota: resuming an answer is a read; a new answer is counted when it begins."""
        return "read" if request.headers.get("Last-Event-ID") else "ask"

    @extend_schema(
        operation_id="stream_answer", summary="Ask, and be told while the answer is made", tags=["Questions"],
        description="Server-sent events: `stage`, `retrieval`, `headline`, `sentence`, and at the end exactly "
        "one `done` or `error`; `x-events` holds the schema of each one's data.",
        request=shapes.AnswerRequest, parameters=[shapes.LAST_EVENT_ID], extensions={"x-events": shapes.EVENTS},
        responses={(200, EVENTS): OpenApiTypes.STR, (409, "application/problem+json"): OpenApiTypes.OBJECT},
        examples=[shapes.ASKED, shapes.STREAM_EXAMPLE],
    )  # fmt: skip
    def post(self, request: Request) -> StreamingHttpResponse:
        arguments = answers.arguments(request.data)
        last_event_id = request.headers.get("Last-Event-ID")
        try:
            events = streaming.open_stream(
                **arguments,
                last_event_id=last_event_id,
                allowance=quota.allowance(request._request),
                admit=partial(quota.seconds_to_wait, request._request, "ask") if last_event_id else None,
                when_stored=partial(idempotency.note, client=answers.client_of(request)) if request.auth else None,
            )
        except asking.BadInput as bad:
            raise answers.invalid(bad) from bad
        except streaming.EventIdMismatch as error:
            raise WrongEventId from error
        except streaming.TooManyStreams as error:
            raise Busy from error
        except (quota.QuotaUsedUp, asking.ModelQuotaUsedUp) as used_up:
            raise answers.QuotaProblem(used_up) from used_up
        return ClosingResponse(_written(events), content_type=f"{EVENTS}; charset=utf-8", headers=HEADERS)


class ClosingResponse(StreamingHttpResponse):
    """A streaming response that closes its generator as soon as the client leaves.

    Django wraps the generator without closing it, so that the garbage collector would close it later, in any thread.
    """

    def __init__(self, pieces: AsyncGenerator[bytes], **options: Any) -> None:
        super().__init__(pieces, **options)
        self._pieces = pieces

    def __aiter__(self) -> AsyncGenerator[bytes]:
        return self._pieces


async def _written(events: AsyncGenerator[streaming.Event | None]) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        async for event in events:
            yield HEARTBEAT if event is None else await sync_to_async(_event)(event)  # the nouns are in the database


def _event(event: streaming.Event) -> bytes:
    data: Any = event.data
    if event.name == "error":
        handle: Any = api_settings.EXCEPTION_HANDLER  # the site formats problems
        data = handle(Failed(data["status"], data["detail"], data.get("code")), {}).data
    elif event.name == "done":
        data = in_site_words(data)
    elif event.name == "sentence":
        data = sentence_in_site_words(data)
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"event: {event.name}\nid: {event.id}\ndata: {written}\n\n".encode()
