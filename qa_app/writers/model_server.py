"""Client of an OpenAI-compatible chat server, with deadline, retries, circuit breaker and spending limit.

Writers, rerankers and judges all call `ModelServer.complete` or `complete_all`, so that the limits hold for each.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol

from common import metrics
from common.places import give_back_place
from qa_app.writers.breaker import Breaker
from qa_app.writers.completions import Completion
from qa_app.writers.dialect import Dialect
from qa_app.writers.records import Clock, Deadline, Message, ModelRequest, Price, Reply, ServerFailed, Waiting

if TYPE_CHECKING:
    from types import ModuleType

CHARACTERS_PER_TOKEN = 4  # of English prose, if the server sends no count
MIN_CHARACTERS_PER_TOKEN = 2  # for the reserved cost, an upper limit
CHARGED_FAILURES = {"timeout", "too_large", "unreadable"}  # the model may have written a reply that costs money
__all__ = [
    "Breaker",
    "Deadline",
    "Dialect",
    "ModelRequest",
    "ModelServer",
    "NoBudget",
    "Price",
    "Reply",
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


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Address, model, price and retry settings of a server."""

    model: str
    api_key: str = ""
    base_url: str = ""
    """Empty for OpenAI's own address."""
    price: Price = field(default_factory=Price)
    reply_tokens: int = 2_000
    context_tokens: int = 0
    """The most tokens of prompt and reply together; 0: as the server says."""
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
        self.settings = settings
        self._budget = budget or NoBudget()
        self._context = settings.context_tokens or None
        self._is_context_known = bool(settings.context_tokens) or not settings.base_url

    def context_tokens(self, deadline: Deadline) -> int | None:
        """Return how many tokens prompt and reply may have together; None where neither setting nor server says.

        The server is asked once. One that cannot be reached now is asked again the next time.
        """
        if self._is_context_known or self.breaker.state == "open" or deadline.is_over:
            return self._context
        wire, settings = _wire(), self.settings
        try:
            self._context = wire.context_tokens(
                api_key=settings.api_key, base_url=settings.base_url, model=self.model, deadline=deadline
            )
        except ServerFailed as failure:
            self._is_context_known = not (failure.again or failure.reason == "timeout")
        except (wire.RequestRejected, wire.TooLong):
            self._is_context_known = True
        else:
            self._is_context_known = True
        return self._context

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, object], deadline: Deadline, *, name: str = "reply"
    ) -> Reply:
        """Return the reply to one request. Raises ServerFailed, at the latest at the deadline."""
        return self.complete_all([ModelRequest(name, messages, schema)], deadline)[0]

    def complete_all(self, requests: Sequence[ModelRequest], deadline: Deadline) -> tuple[Reply, ...]:
        """Send requests in parallel and return their replies. Raises ServerFailed when one of them fails.

        When the client leaves, the connections are closed.
        """
        reserved = [self._max_cost(request) for request in requests]
        if not self.breaker.admit():
            metrics.count_model_call("circuit_open", 0)
            raise ServerFailed("circuit_open", "The language model has failed several times and is left alone a while.")
        try:
            day = self._budget.reserve(sum(reserved))
        except BaseException:
            self.breaker.not_made()
            raise
        if day is None:
            self.breaker.not_made()
            metrics.count_model_call("spend_limit", 0)
            raise ServerFailed("spend_limit", "The day's limit for the language model is reached.")
        calls = [_Call(self, request, deadline) for request in requests]
        results = [call.salvaged(result) for call, result in zip(calls, _run_parallel(calls, deadline), strict=True)]
        failures = [result for result in results if isinstance(result, Exception)]
        if deadline.is_abandoned:
            self.breaker.not_made()  # the server is not to blame
        elif failures:
            self.breaker.failed()
        else:
            self.breaker.succeeded()
        self._settle(day, results, reserved, [call.wasted for call in calls])
        if failures:
            raise failures[0]
        return tuple(result for result in results if isinstance(result, Reply))

    def ask(self, request: ModelRequest, completion: Completion, deadline: Deadline) -> Reply:
        """Send a request once, and count it. A reply that breaks off is kept where its reader can use it."""
        start, outcome = deadline.clock(), "failed"
        try:
            reply = self._negotiate(request, completion, deadline)
            outcome = "ok" if reply.is_complete else "cut"
            return reply
        except ServerFailed as failure:
            if is_usable(request, completion):
                outcome = "cut"
                return self.reply_of(request, completion, deadline.clock() - start)
            outcome = failure.reason
            raise
        finally:
            metrics.count_model_call(outcome, deadline.clock() - start)

    def _negotiate(self, request: ModelRequest, completion: Completion, deadline: Deadline) -> Reply:
        """Simplify the request until the server accepts it, and remember the dialect."""
        wire, settings = _wire(), self.settings
        dialect: Dialect | None = self.dialect
        while dialect is not None:
            start = deadline.clock()
            try:
                wire.send(
                    completion,
                    api_key=settings.api_key,
                    base_url=settings.base_url,
                    model=self.model,
                    messages=request.messages,
                    options=dialect.options(request, self._reply_tokens(request)),
                    deadline=deadline,
                    reader=request.reader,
                )
            except wire.RequestRejected as refused:
                dialect = dialect.without(refused.parameter)
                continue
            except wire.TooLong as too_long:
                self._shrink_context(request, too_long.tokens)
                raise ServerFailed("too_long", "The prompt is longer than the language model can read.") from too_long
            self.dialect = dialect
            return self.reply_of(request, completion, deadline.clock() - start)
        raise ServerFailed("refused", "The language model's server refused the request.")

    def _reply_tokens(self, request: ModelRequest) -> int:
        return min(request.reply_tokens or self.settings.reply_tokens, self.settings.reply_tokens)

    def _shrink_context(self, request: ModelRequest, told: int | None) -> None:
        """Remember the size that the server names; without a name, three quarters of what did not fit."""
        sent = request.characters // CHARACTERS_PER_TOKEN + self._reply_tokens(request)
        self._context = told or min(self._context or sent, sent) * 3 // 4
        self._is_context_known = True

    def reply_of(self, request: ModelRequest, completion: Completion, seconds: float) -> Reply:
        """Return what was received, with its tokens and cost: the server's count, or an estimate."""
        prompt_tokens = _count(completion.usage.get("prompt_tokens"), request.characters)
        reply_tokens = _count(completion.usage.get("completion_tokens"), len(completion.text))
        price = self.settings.price
        return Reply(
            text=completion.text,
            prompt_tokens=prompt_tokens,
            reply_tokens=reply_tokens,
            cost=price.cost_of(prompt_tokens, reply_tokens) if price.is_known else None,
            is_complete=completion.is_whole,
            is_refused=completion.is_refused,
            seconds=seconds,
        )

    def _max_cost(self, request: ModelRequest) -> float:
        characters = request.characters + len(json.dumps(request.bounded_schema or request.schema))
        return self.settings.price.cost_of(characters // MIN_CHARACTERS_PER_TOKEN, self._reply_tokens(request))

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


class _Call:
    """A request with its retries; what has been received of it outlives a missed deadline."""

    def __init__(self, server: ModelServer, request: ModelRequest, deadline: Deadline) -> None:
        self.wasted = 0
        """Failed attempts that may have cost money."""
        self._server, self._request, self._deadline = server, request, deadline
        self._started = deadline.clock()
        self._completion = Completion()

    def run(self) -> Reply:
        """Ask until there is a reply, the deadline comes or a failure is lasting. Raises ServerFailed."""
        pause = self._server.settings.first_pause_seconds
        for left in range(self._server.settings.attempts - 1, -1, -1):
            self._started, self._completion = self._deadline.clock(), Completion()
            try:
                return self._server.ask(self._request, self._completion, self._deadline)
            except ServerFailed as failure:
                jitter = random.uniform(0.75, 1.25)  # noqa: S311 - spreads the retries of many processes
                wait = pause * jitter if failure.after_seconds is None else failure.after_seconds
                if not failure.again or not left or wait >= self._deadline.seconds_left:
                    raise
                self.wasted += failure.reason in CHARGED_FAILURES
            self._deadline.sleep(wait)
            pause *= 2
        raise ValueError("A server is asked once at least.")

    def salvaged(self, result: Reply | Exception) -> Reply | Exception:
        """Return the result; instead of a failure the reply as far as it came, where its reader can use that."""
        if isinstance(result, ServerFailed) and is_usable(self._request, self._completion):
            return self._server.reply_of(self._request, self._completion, self._deadline.clock() - self._started)
        return result


def is_usable(request: ModelRequest, completion: Completion) -> bool:
    """Tell whether the reader of a request can use what has been received."""
    return request.reader is not None and not completion.is_refused and request.reader.is_usable(completion.text)


def _run_parallel(calls: Sequence[_Call], deadline: Deadline) -> list[Reply | Exception]:
    """Run the calls in parallel; return what each returned or raised, and a timeout for late ones.

    The threads are daemons, so that a hanging socket delays neither the request nor the end of the process.
    """
    give_back_place()
    done: SimpleQueue[tuple[int, Reply | Exception] | None] = SimpleQueue()
    if deadline.waiting is not None:
        deadline.waiting.when_left(lambda: done.put(None))
    late = ServerFailed("timeout", "The language model did not answer in time.")
    results: list[Reply | Exception] = [late] * len(calls)

    def run(place: int, call: _Call) -> None:
        try:
            done.put((place, call.run()))
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
