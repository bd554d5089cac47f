"""Send one chat completion with the openai SDK, within limits of time and size, and ask how long a prompt may be.

A module of its own, since the SDK takes half a second to load and most sites have no model.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpx2
import openai

from qa_app.writers.completions import Completion
from qa_app.writers.records import Deadline, Reader, ServerFailed

MAX_REPLY_BYTES = 256 * 1024  # ten times the longest draft
MAX_STREAM_BYTES = 16 * MAX_REPLY_BYTES  # a stream wraps each token in some 250 bytes
EVENT_STREAM = "text/event-stream"
CONTEXT_FIELDS = ("max_model_len", "context_length")  # of a model in the list of vLLM, and of gateways
CONTEXT_QUERY_SECONDS = 5.0
LATE = "The language model did not answer in time."
PERMANENT_CODES = {"insufficient_quota", "billing_hard_limit_reached"}  # of 429 responses that no retry solves
_TOO_LONG = re.compile(r"maximum context length is (\d+) tokens")  # as vLLM and OpenAI say it
_DEADLINE: ContextVar[Deadline] = ContextVar("deadline")


class TooLong(Exception):
    """The prompt does not fit into the model's context; `tokens` is its size, where the server names it."""

    def __init__(self, tokens: int | None) -> None:
        super().__init__("The prompt is too long for the language model.")
        self.tokens = tokens


class RequestRejected(Exception):
    """The server rejected the request; `parameter` is the field that it named, if any."""

    def __init__(self, parameter: str | None) -> None:
        super().__init__("The language model's server refused the request.")
        self.parameter = parameter


def send(
    completion: Completion,
    *,
    api_key: str,
    base_url: str,
    model: str,
    messages: Sequence[Mapping[str, str]],
    options: Mapping[str, object],
    deadline: Deadline,
    reader: Reader | None = None,
) -> None:
    """Read the server's response into `completion`; `options` are further fields of the request.

    A reader that has enough of a stream closes the connection. Raises RequestRejected and TooLong when the server
    rejects the request, and ServerFailed for every other failure.
    """
    if deadline.is_over:
        raise ServerFailed("timeout", LATE)
    chosen: Any = {"messages": [dict(message) for message in messages], "extra_body": dict(options)}
    with (
        _translated_errors(deadline),
        _client(
            api_key, base_url, is_cancellable=deadline.waiting is not None
        ).chat.completions.with_streaming_response.create(
            model=model, timeout=deadline.seconds_left, **chosen
        ) as response,
    ):
        if not response.headers.get("content-type", "").startswith(EVENT_STREAM):
            completion.read_body(response.read())
            return
        for line in response.iter_lines():
            completion.read_line(line)
            if reader is not None and reader.is_enough(completion.text):
                completion.is_stopped = True
                return


def context_tokens(*, api_key: str, base_url: str, model: str, deadline: Deadline) -> int | None:
    """Return how many tokens prompt and reply may have, as the server's list of models says; None where it does not.

    Raises ServerFailed and RequestRejected.
    """
    limit = Deadline.after(min(CONTEXT_QUERY_SECONDS, deadline.seconds_left), deadline.clock, waiting=deadline.waiting)
    client = _client(api_key, base_url, is_cancellable=deadline.waiting is not None)
    with _translated_errors(limit):
        body = client.models.with_raw_response.list(timeout=limit.seconds_left).http_response.content
    with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        rows = json.loads(body)["data"]
        row = next((row for row in rows if row.get("id") == model), rows[0] if len(rows) == 1 else {})
        figures = [(row.get("meta") or {}).get("n_ctx"), *(row.get(name) for name in CONTEXT_FIELDS)]
        return next((figure for figure in figures if isinstance(figure, int) and figure > 0), None)
    return None


@contextmanager
def _translated_errors(deadline: Deadline) -> Iterator[None]:
    """Limit a request by the deadline, and raise the SDK's exceptions as RequestRejected, TooLong or ServerFailed."""
    reset = _DEADLINE.set(deadline)
    try:
        yield
    except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
        raise _rejected(error) from error
    except openai.APIStatusError as error:
        raise _status_failed(error) from error
    except openai.APITimeoutError as error:
        raise ServerFailed("timeout", LATE) from error
    except httpx2.TimeoutException as error:  # while the response was read
        raise ServerFailed("timeout", LATE) from error
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise _connection_failed(error) from error
    finally:
        _DEADLINE.reset(reset)


def _rejected(error: openai.APIStatusError) -> Exception:
    told = error.body if isinstance(error.body, dict) else {}
    named = _TOO_LONG.search(str(told.get("message")))
    if named or told.get("type") == "exceed_context_size_error" or error.code == "context_length_exceeded":
        size = told.get("n_ctx")  # as llama.cpp says it
        return TooLong(int(named[1]) if named else size if isinstance(size, int) else None)
    return RequestRejected(error.param if isinstance(error.param, str) else None)


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
    for cause in (error, error.__cause__):
        if isinstance(cause, TooLarge):
            return ServerFailed("too_large", str(cause))
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
        is_stream = response.headers.get("content-type", "").startswith(EVENT_STREAM)
        most = MAX_STREAM_BYTES if is_stream else MAX_REPLY_BYTES
        response.stream = _LimitedStream(response.stream, _DEADLINE.get(), most)


class TooLarge(httpx2.ReadError):
    """The response is larger than any valid reply."""


class _LimitedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, deadline: Deadline, most_bytes: int) -> None:
        self._stream, self._deadline, self._most = stream, deadline, most_bytes

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > self._most:
                raise TooLarge(f"The language model's reply is longer than {self._most // 1024} KB.")
            if self._deadline.is_over:
                raise httpx2.ReadTimeout(LATE)
            yield piece

    def close(self) -> None:
        self._stream.close()
