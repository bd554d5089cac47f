"""Send one chat completion with the openai SDK, within limits of time and size.

A module of its own, since the SDK takes half a second to load and most sites have no model.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpx2
import openai

from qa_app.writers.records import Deadline, ServerFailed

MAX_REPLY_BYTES = 256 * 1024  # ten times the longest draft
LATE = "The language model did not answer in time."
PERMANENT_CODES = {"insufficient_quota", "billing_hard_limit_reached"}  # of 429 responses that no retry solves
_DEADLINE: ContextVar[Deadline] = ContextVar("deadline")


class Refused(Exception):
    """The server rejected the request; `parameter` is the field that it named, if any."""

    def __init__(self, parameter: str | None) -> None:
        super().__init__("The language model's server refused the request.")
        self.parameter = parameter


def send(
    *,
    api_key: str,
    base_url: str,
    model: str,
    messages: Sequence[Mapping[str, str]],
    options: Mapping[str, object],
    deadline: Deadline,
) -> bytes:
    """Return the body of the server's response; `options` are further fields of the request.

    Raises Refused when the server rejects the request, and ServerFailed for every other failure.
    """
    if deadline.is_over:
        raise ServerFailed("timeout", LATE)
    chosen: Any = {"messages": [dict(message) for message in messages], "extra_body": dict(options)}
    reset = _DEADLINE.set(deadline)
    try:
        response = _client(
            api_key, base_url, is_cancellable=deadline.waiting is not None
        ).chat.completions.with_raw_response.create(model=model, timeout=deadline.seconds_left, **chosen)
        return response.http_response.content
    except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
        raise Refused(error.param if isinstance(error.param, str) else None) from error
    except openai.APIStatusError as error:
        raise _status_failed(error) from error
    except openai.APITimeoutError as error:
        raise ServerFailed("timeout", LATE) from error
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise _connection_failed(error) from error
    finally:
        _DEADLINE.reset(reset)


def _status_failed(error: openai.APIStatusError) -> ServerFailed:
    status = error.status_code
    is_temporary = status in {408, 409, 425, 429} or status >= 500
    return ServerFailed(
        "rate_limit" if status == 429 else "unavailable",
        f"The language model's server answered {status}.",
        again=is_temporary and error.code not in PERMANENT_CODES,
        after_seconds=_retry_after(error.response.headers),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the server's Retry-After in seconds; None where there is no valid one."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _connection_failed(error: Exception) -> ServerFailed:
    if isinstance(error.__cause__, TooLarge):
        return ServerFailed("too_large", str(error.__cause__))
    refused = isinstance(error.__cause__, httpx2.ConnectError)
    detail = "could not be reached" if refused else f"broke off ({type(error.__cause__ or error).__name__})"
    return ServerFailed("unavailable", f"The language model's server {detail}.", again=True)


@cache
def _client(api_key: str, base_url: str, is_cancellable: bool) -> openai.OpenAI:
    """Return an SDK client without retries and redirects, which could carry the key elsewhere.

    A request that can be cancelled has a connection of its own, since only a new connection can be traced and shut.
    """
    options: dict[str, Any] = {"event_hooks": {"response": [_limit_response]}}
    if is_cancellable:
        options["limits"] = httpx2.Limits(max_keepalive_connections=0)
        options["event_hooks"]["request"] = [_watch_connection]
    return openai.OpenAI(
        api_key=api_key or "none",
        base_url=base_url or None,
        max_retries=0,
        default_headers={"Accept-Encoding": "identity"},
        http_client=openai.DefaultHttpxClient(follow_redirects=False, **options),
    )


def _watch_connection(request: httpx2.Request) -> None:
    """Shut the request's connection on cancellation, which wakes the thread that reads from it."""
    waiting = _DEADLINE.get().waiting

    def trace(event: str, facts: Mapping[str, Any]) -> None:
        if waiting is not None and event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connection = facts["return_value"].get_extra_info("socket")
            waiting.when_left(lambda: _shut(connection))

    request.extensions = {**request.extensions, "trace": trace}


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)


def _limit_response(response: httpx2.Response) -> None:
    """Limit the time and the size of a response: a socket's timeout restarts with each byte."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise TooLarge("The language model's server sent a packed reply, which may unpack to any size.")
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _LimitedStream(response.stream, _DEADLINE.get())


class TooLarge(httpx2.ReadError):
    """The response is larger than any valid reply."""


class _LimitedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > MAX_REPLY_BYTES:
                raise TooLarge(f"The language model's reply is longer than {MAX_REPLY_BYTES // 1024} KB.")
            if self._deadline.is_over:
                raise httpx2.ReadTimeout(LATE)
            yield piece

    def close(self) -> None:
        self._stream.close()
