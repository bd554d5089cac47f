"""Client of an OpenAI-compatible chat server, with deadline, retries, circuit breaker and spending limit.

Writers, rerankers and judges all call `ModelServer.complete` or `complete_all`, so that the limits hold for each.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol

from common.places import give_back_place
from qa_app.writers.records import Clock, Deadline, Message, Price, Reply, Request, ServerFailed, Waiting

if TYPE_CHECKING:
    from types import ModuleType

CHARACTERS_PER_TOKEN = 4  # of English prose, if the server sends no count
MIN_CHARACTERS_PER_TOKEN = 2  # for the reserved cost, an upper limit
CHARGED_FAILURES = {"timeout", "too_large", "unreadable"}  # the model may have written a reply that costs money
__all__ = [
    "Breaker",
    "Deadline",
    "Dialect",
    "ModelServer",
    "NoBudget",
    "Price",
    "Reply",
    "Request",
    "ServerFailed",
    "ServerSettings",
    "SpendingBudget",
    "Waiting",
]


class SpendingBudget(Protocol):
    """A daily spending limit shared by all processes."""

    def reserve(self, cost: float) -> date | None:
        """Reserve the cost and return its day; None where the limit would be passed."""
        ...

    def settle(self, day: date, *, reserved: float, spent: float, tokens: int) -> None:
        """Replace a reserved cost by the real one."""
        ...


class NoBudget:
    """A budget without limit or records."""

    def reserve(self, cost: float) -> date | None:
        return date.min

    def settle(self, day: date, *, reserved: float, spent: float, tokens: int) -> None:
        return None


class Breaker:
    """A circuit breaker for all threads of a process: opens after repeated failures, then probes after a pause."""

    def __init__(self, *, failures: int, pause_seconds: float, clock: Clock = time.monotonic) -> None:
        self._limit, self._pause, self._clock = failures, pause_seconds, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._is_probing = False

    @property
    def state(self) -> str:
        """Return `closed`, `open` or `half_open`."""
        with self._lock:
            if self._opened_at is None:
                return "closed"
            return "half_open" if self._is_probing or self._has_paused(self._opened_at) else "open"

    def admit(self) -> bool:
        """Return whether a call may be made; then call `succeeded`, `failed` or `not_made`."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self._is_probing or not self._has_paused(self._opened_at):
                return False
            self._is_probing = True
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._failures, self._opened_at, self._is_probing = 0, None, False

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._is_probing or self._failures >= self._limit:
                self._opened_at, self._is_probing = self._clock(), False

    def not_made(self) -> None:
        """Record that the admitted call was not made."""
        with self._lock:
            self._is_probing = False

    def _has_paused(self, opened_at: float) -> bool:
        return self._clock() - opened_at >= self._pause


@dataclass(frozen=True, slots=True)
class Dialect:
    """The request options that a server supports."""

    format: str = "json_schema"
    limit: str = "max_completion_tokens"
    """Field for the longest reply; empty where the server supports none."""
    has_temperature: bool = True

    def without(self, parameter: str | None) -> Dialect | None:
        """Return a dialect without the refused parameter, or one step simpler; None where nothing is left to omit."""
        if parameter == "temperature" and self.has_temperature:
            return replace(self, has_temperature=False)
        if self.limit and parameter == self.limit:
            return self._simplify_limit()
        if self.format != "text":
            return replace(self, format="json_object" if self.format == "json_schema" else "text")
        return self._simplify_limit() if self.limit else None

    def _simplify_limit(self) -> Dialect:
        return replace(self, limit="max_tokens" if self.limit == "max_completion_tokens" else "")

    def options(self, request: Request, reply_tokens: int) -> dict[str, object]:
        """Return the fields of the request besides model and messages."""
        formats: dict[str, dict[str, object]] = {
            "json_schema": {
                "type": "json_schema",
                "json_schema": {"name": request.name, "strict": True, "schema": request.schema},
            },
            "json_object": {"type": "json_object"},
        }
        options: dict[str, object] = {"temperature": 0} if self.has_temperature else {}
        if self.format in formats:
            options["response_format"] = formats[self.format]
        if self.limit:
            options[self.limit] = reply_tokens
        return options


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Address, model, price and retry settings of a server."""

    model: str
    api_key: str = ""
    base_url: str = ""
    """Empty for OpenAI's own address."""
    price: Price = field(default_factory=Price)
    reply_tokens: int = 2_000
    attempts: int = 3
    first_pause_seconds: float = 0.5
    """Pause before the second attempt, doubled before each further one, unless the server names a time."""
    breaker_failures: int = 5
    breaker_pause_seconds: float = 30.0


class ModelServer:
    """A model on a server, shared by all threads of a process."""

    def __init__(
        self, settings: ServerSettings, *, budget: SpendingBudget | None = None, clock: Clock = time.monotonic
    ) -> None:
        self.model = settings.model
        self.breaker = Breaker(
            failures=settings.breaker_failures, pause_seconds=settings.breaker_pause_seconds, clock=clock
        )
        self.dialect = Dialect()
        self._settings = settings
        self._budget = budget or NoBudget()

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, object], deadline: Deadline, *, name: str = "reply"
    ) -> Reply:
        """Return the reply to one request. Raises ServerFailed, at the latest at the deadline."""
        return self.complete_all([Request(name, messages, schema)], deadline)[0]

    def complete_all(self, requests: Sequence[Request], deadline: Deadline) -> tuple[Reply, ...]:
        """Send requests in parallel and return their replies. Raises ServerFailed when one of them fails.

        When the client leaves, the connections are closed.
        """
        reserved = [self._max_cost(request) for request in requests]
        if not self.breaker.admit():
            raise ServerFailed("circuit_open", "The language model has failed several times and is left alone a while.")
        try:
            day = self._budget.reserve(sum(reserved))
        except BaseException:
            self.breaker.not_made()
            raise
        if day is None:
            self.breaker.not_made()
            raise ServerFailed("spend_limit", "The day's limit for the language model is reached.")
        wasted: list[list[str]] = [[] for _ in requests]
        calls = [_bind_call(self, request, deadline, lost) for request, lost in zip(requests, wasted, strict=True)]
        results = _run_parallel(calls, deadline)
        failures = [result for result in results if isinstance(result, Exception)]
        if deadline.is_abandoned:
            self.breaker.not_made()  # the server is not to blame
        elif failures:
            self.breaker.failed()
        else:
            self.breaker.succeeded()
        self._settle(day, results, reserved, [len(lost) for lost in wasted])
        if failures:
            raise failures[0]
        return tuple(result for result in results if isinstance(result, Reply))

    def complete_with_retries(self, request: Request, deadline: Deadline, wasted: list[str]) -> Reply:
        """Retry a request until the deadline; `wasted` collects failed attempts that may have cost money."""
        pause = self._settings.first_pause_seconds
        for left in range(self._settings.attempts - 1, -1, -1):
            try:
                return self._negotiate(request, deadline)
            except ServerFailed as failure:
                jitter = random.uniform(0.75, 1.25)  # noqa: S311 - spreads the retries of many processes
                wait = pause * jitter if failure.after_seconds is None else failure.after_seconds
                if not failure.again or not left or wait >= deadline.seconds_left:
                    raise
                if failure.reason in CHARGED_FAILURES:
                    wasted.append(failure.reason)
            deadline.sleep(wait)
            pause *= 2
        raise ValueError("A server is asked once at least.")

    def _negotiate(self, request: Request, deadline: Deadline) -> Reply:
        """Simplify the request until the server accepts it, and remember the dialect."""
        wire = _wire()
        dialect: Dialect | None = self.dialect
        while dialect is not None:
            start = deadline.clock()
            try:
                body = wire.send(
                    api_key=self._settings.api_key,
                    base_url=self._settings.base_url,
                    model=self.model,
                    messages=request.messages,
                    options=dialect.options(request, self._settings.reply_tokens),
                    deadline=deadline,
                )
            except wire.Refused as refused:
                dialect = dialect.without(refused.parameter)
                continue
            reply = self._read(body, request, deadline.clock() - start)
            self.dialect = dialect
            return reply
        raise ServerFailed("refused", "The language model's server refused the request.")

    def _read(self, body: bytes, request: Request, seconds: float) -> Reply:
        """Parse a response body; a compatible server may send anything."""
        try:
            parsed = json.loads(body.decode("utf-8"))
            choice = parsed["choices"][0]
            text = choice["message"].get("content")
            refused, ended = choice["message"].get("refusal"), choice.get("finish_reason")
            used = parsed.get("usage")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ServerFailed("unreadable", "The language model's server sent no completion.", again=True) from error
        text = text if isinstance(text, str) else ""
        counts = used if isinstance(used, dict) else {}
        prompt_tokens = _count(counts.get("prompt_tokens"), request.characters)
        reply_tokens = _count(counts.get("completion_tokens"), len(text))
        price = self._settings.price
        return Reply(
            text=text,
            prompt_tokens=prompt_tokens,
            reply_tokens=reply_tokens,
            cost=price.cost_of(prompt_tokens, reply_tokens) if price.is_known else None,
            is_complete=not refused and ended not in ("length", "content_filter"),
            seconds=seconds,
        )

    def _max_cost(self, request: Request) -> float:
        characters = request.characters + len(json.dumps(request.schema))
        return self._settings.price.cost_of(characters // MIN_CHARACTERS_PER_TOKEN, self._settings.reply_tokens)

    def _settle(
        self, day: date, results: Sequence[Reply | Exception], reserved: Sequence[float], wasted: Sequence[int]
    ) -> None:
        """Record the real cost; a request that was cut off and each wasted attempt cost the reserved amount."""
        rows = zip(results, reserved, wasted, strict=True)
        spent = sum(_spent(result, most) + lost * most for result, most, lost in rows)
        tokens = sum(result.tokens for result in results if isinstance(result, Reply))
        self._budget.settle(day, reserved=sum(reserved), spent=spent, tokens=tokens)


def _wire() -> ModuleType:
    """Import the SDK when a model is first used, since it takes half a second."""
    from qa_app.writers import wire

    return wire


def _count(counted: object, characters: int) -> int:
    """Return the server's token count; without a valid one, an estimate from the characters."""
    if isinstance(counted, int) and not isinstance(counted, bool) and 0 <= counted < 10_000_000:
        return counted
    return -(-characters // CHARACTERS_PER_TOKEN)


def _spent(result: Reply | Exception, most: float) -> float:
    if isinstance(result, Reply):
        return result.cost or 0.0
    charged = not isinstance(result, ServerFailed) or result.reason in CHARGED_FAILURES
    return most if charged else 0.0


def _bind_call(server: ModelServer, request: Request, deadline: Deadline, wasted: list[str]) -> Callable[[], Reply]:
    return lambda: server.complete_with_retries(request, deadline, wasted)


def _run_parallel(calls: Sequence[Callable[[], Reply]], deadline: Deadline) -> list[Reply | Exception]:
    """Run the calls in parallel; return what each returned or raised, and a timeout for late ones.

    The threads are daemons, so that a hanging socket delays neither the request nor the end of the process.
    """
    give_back_place()
    done: SimpleQueue[tuple[int, Reply | Exception] | None] = SimpleQueue()
    if deadline.waiting is not None:
        deadline.waiting.when_left(lambda: done.put(None))
    late = ServerFailed("timeout", "The language model did not answer in time.")
    results: list[Reply | Exception] = [late] * len(calls)

    def run(place: int, call: Callable[[], Reply]) -> None:
        try:
            done.put((place, call()))
        except Exception as error:  # the caller raises it
            done.put((place, error))

    for place, call in enumerate(calls):
        threading.Thread(target=run, args=(place, call), daemon=True, name="model-request").start()
    for _ in calls:
        try:
            item = done.get(timeout=deadline.seconds_left)
        except Empty:
            break
        if item is None:  # cancelled
            break
        place, result = item
        results[place] = result
    return results
