"""Stream an answer to its clients while it is made, and resume broken streams.

A thread makes the answer; clients wait in the event loop. When the last client leaves, the answer is abandoned at its
next stage. An event id is `<request id>.<number>.<stored>`: the number of events sent, and how many of them a stored
answer can repeat (evidence, headline and sentences). A client resumes a running answer by the first number, a stored
one by the second.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, connection, connections
from django.utils import timezone

from common.postgresql.patience import patience
from corpus_app.records import Study
from qa_app.answers import answering, asking, payload, quota
from qa_app.answers.payload import Payload
from qa_app.answers.time_limit import limited
from qa_app.pipeline.ports import Abandoned
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.subject import describe_subject
from qa_app.pipeline.records import Candidate, Citation, Headline, Question, Sentence
from qa_app.writers.model_server import Waiting

MAX_THREADS = 16  # answers made at a time, for each process; others wait
MAX_STREAMS = 64  # for each process; other clients are told to retry
RETRY_SECONDS = 2
HEARTBEAT_SECONDS = 10.0
AWAY = "The database does not answer. Please try again in a few seconds."
CHANGED = "The studies changed while this answer was made. Please ask again."
FAILED = "Something failed here, and it has been noted. Please try again in a while."
OTHER = "This event id belongs to another question. Send it with the question that it came from, or leave it out."
UNREADABLE = "This is no event id of an answer. Send the last one received as it came, or leave it out."
_EVENT_ID = re.compile(r"([0-9a-f]{32})\.(\d{1,6})\.(\d{1,6})")
logger = logging.getLogger(__name__)


class TooManyStreams(Exception):
    """The process serves as many streams as it can; the client may retry soon."""

    retry_after_seconds = RETRY_SECONDS


class EventIdMismatch(Exception):
    """The event id to resume from belongs to another question."""


@dataclass(frozen=True, slots=True)
class Event:
    """A `stage`, `retrieval`, `headline` or `sentence`; the last one is `done` or `error`.

    The data of an `error` are `status`, `detail` and, where the status is ambiguous, `code`.
    """

    id: str
    name: str
    data: Payload

    @property
    def is_last(self) -> bool:
        return self.name in {"done", "error"}


@dataclass(frozen=True, slots=True)
class _Request:
    question: Question
    writer: str
    parent: str | None
    now: datetime
    allowance: asking.Allowance | None
    admit: Callable[[], int] | None
    when_stored: Callable[[str], None] | None


@dataclass(frozen=True, slots=True)
class _Position:
    """The position from which a client resumes."""

    key: uuid.UUID
    number: int
    stored: int


def open_stream(
    *,
    question: str,
    mode: str | None = None,
    collection: str | None = None,
    writer: str = "auto",
    parent: str | None = None,
    filters: object = None,
    last_event_id: str | None = None,
    now: datetime | None = None,
    allowance: asking.Allowance | None = None,
    admit: Callable[[], int] | None = None,
    when_stored: Callable[[str], None] | None = None,
) -> AsyncGenerator[Event | None]:
    """Return the events of an answer, or those after `last_event_id`; None is a heartbeat.

    An unknown `last_event_id` starts a new answer. `admit` counts a new answer and returns the seconds to wait, or 0.
    `when_stored` is called with the answer's id in the transaction that stores it. Close the generator to leave.
    Raises BadInput, EventIdMismatch, TooManyStreams, QuotaUsedUp and ModelQuotaUsedUp before anything is made.
    """
    try:
        checked = asking.check(
            question=question, mode=mode, collection=collection, writer=writer, parent=parent, filters=filters
        )
        request = _Request(checked, writer, parent, now or timezone.now(), allowance, admit, when_stored)
        return _open(request, last_event_id)
    finally:
        _close_connection()


def _close_connection() -> None:
    """Release this thread's connection, since a stream may stay open for long."""
    if not connection.in_atomic_block:
        connection.close()


def _open(request: _Request, last_event_id: str | None) -> AsyncGenerator[Event | None]:
    position = _read_id(last_event_id) if last_event_id else None
    if _count_watched() >= MAX_STREAMS:
        raise TooManyStreams
    if position is not None:
        job = _find_job(position.key)
        if job is not None and not job.is_abandoned():
            made_for = job.request.question
            _require_same(
                request.question, made_for.text, made_for.mode, made_for.collection, made_for.filters.to_json()
            )
            return _follow(request, job, min(position.number, len(job.events)))  # at most what was sent
        stored = asking.find_by_request(position.key)
        if stored is not None:
            asked = stored["question"], stored["mode"], stored["collection"]
            _require_same(request.question, *asked, stored["filters"] or request.question.filters.to_json())
            events = list(_stored_events(position.key, stored))
            return _replay_events(events[min(position.stored, len(events) - 1) :])  # at least the last one
    if request.admit and (seconds := request.admit()):
        raise quota.QuotaUsedUp(seconds)
    if request.allowance and request.writer == "llm" and answering.model_server():
        request.allowance.require()  # before the response has begun, so that it can be a 429
    return _follow(request)


def _read_id(text: str) -> _Position:
    found = _EVENT_ID.fullmatch(text.strip())
    if found is None:
        raise asking.BadInput("Last-Event-ID", "unknown", UNREADABLE)
    return _Position(uuid.UUID(found[1]), int(found[2]), int(found[3]))


def _require_same(question: Question, text: str, mode: str, collection: str | None, filters: Payload) -> None:
    own = question.text, question.mode, question.collection, question.filters.to_json()
    if own != (text, mode, collection, filters):
        raise EventIdMismatch


# --- Jobs ---


class _AnswerJob:
    """An answer that a thread makes and clients in event loops watch."""

    def __init__(self, request: _Request) -> None:
        self.request = request
        self.key = uuid.uuid4()
        self.waiting = Waiting()
        self.events: list[Event] = []
        self._lock = threading.Lock()
        self._watchers: list[_Watcher] = []
        self._stored_count = 0
        self._work: Future[None] | None = None

    def join(self, watcher: _Watcher) -> bool:
        """Add a watcher. Return False where the job was already abandoned."""
        with self._lock:
            if self.waiting.is_over:
                return False
            self._watchers.append(watcher)
            return True

    def leave(self, watcher: _Watcher) -> None:
        with self._lock:
            self._watchers.remove(watcher)
            if self._watchers:
                return
        self.waiting.leave()
        if self._work is not None and self._work.cancel():  # it had not started
            _forget(self)

    def begin(self) -> None:
        self._work = _threads.submit(self._make)

    @property
    def watched_by(self) -> int:
        return len(self._watchers)

    # The pipeline's Progress port, called in the worker thread.

    def is_abandoned(self) -> bool:
        return self.waiting.is_over

    def stage(self, name: str, milliseconds: float) -> None:
        self._publish("stage", {"name": name, "ms": round(milliseconds, 3)})

    def evidence(self, passages: Sequence[Candidate], query: Query) -> None:
        self._stored_count += 1
        self._publish(
            "retrieval",
            retrieval_row(
                payload.evidence_rows(passages, query),
                query.also_searched,
                self.request.question.understood_as,
                describe_subject(query),
            ),
        )

    def headline(self, headline: Headline, introduced: Mapping[int, Study]) -> None:
        self._stored_count += 1
        self._publish("headline", payload.headline_row(headline) | {"sources": _sources(introduced)})

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None:
        (row,) = payload.part((sentence,))["sentences"]
        self._stored_count += 1
        self._publish("sentence", sentence_row(part, index, row, _sources(introduced)))

    def _make(self) -> None:
        try:
            self._publish("done", self._answer())
        except Abandoned:
            return
        except asking.ModelQuotaUsedUp as used_up:
            self._publish("error", {"status": 429, "detail": str(used_up)})
        except asking.OutOfTime as late:
            self._publish("error", {"status": 503, "code": "out_of_time", "detail": str(late)})
        except (OperationalError, InterfaceError):
            self._publish("error", {"status": 503, "detail": AWAY})
        except IntegrityError:  # a source was deleted between reading and storing
            self._publish("error", {"status": 503, "detail": CHANGED})
        except Exception:
            logger.exception("An answer could not be made")
            self._publish("error", {"status": 500, "detail": FAILED})
        finally:
            _forget(self)
            connections.close_all()

    def _answer(self) -> Payload:
        start = perf_counter()
        request = self.request
        with patience(settings.DATABASE_SECONDS), limited() as limit:
            answered = answering.make(
                request.question,
                writer=request.writer,
                progress=self,
                waiting=self.waiting,
                allowance=request.allowance,
                limit=limit,
            )
            if self.is_abandoned():
                raise Abandoned
            return answering.store(
                answered,
                parent=request.parent,
                now=request.now,
                started=start,
                request_id=self.key,
                limit=limit,
                when_stored=self._when_stored,
            )

    def _when_stored(self, body: Payload) -> None:
        if self.request.when_stored:
            self.request.when_stored(body["id"])

    def _publish(self, name: str, data: Payload) -> None:
        with self._lock:
            event = Event(
                _event_id(self.key, len(self.events) + 1, self._stored_count), name, payload.in_contract_order(data)
            )
            self.events.append(event)
            for watcher in self._watchers:
                watcher.wake()


def _sources(introduced: Mapping[int, Study]) -> list[Payload]:
    return payload.citation_rows(Citation(number, study) for number, study in introduced.items())


class _Watcher:
    """A client in an event loop that waits for events of another thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()

    def wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and its watcher with it
            self._loop.call_soon_threadsafe(self._news.set)

    async def wait(self) -> bool:
        """Return whether there are new events; False after the time of a heartbeat."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await self._news.wait()
        has_news = self._news.is_set()
        self._news.clear()
        return has_news


_threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="answer-stream")
_jobs: dict[uuid.UUID, _AnswerJob] = {}
_jobs_lock = threading.Lock()


def _find_job(key: uuid.UUID) -> _AnswerJob | None:
    with _jobs_lock:
        return _jobs.get(key)


def _forget(job: _AnswerJob) -> None:
    with _jobs_lock:
        _jobs.pop(job.key, None)


def _count_watched() -> int:
    with _jobs_lock:
        return sum(job.watched_by for job in _jobs.values())


# --- Events ---


async def _follow(request: _Request, job: _AnswerJob | None = None, sent: int = 0) -> AsyncGenerator[Event | None]:
    """Yield the events of a job after the first `sent`; start a new job where there is none or it was abandoned."""
    watcher = _Watcher()
    if job is None or not job.join(watcher):
        if job is not None and request.admit and (seconds := await sync_to_async(_admit)(request.admit)):
            yield Event(
                _event_id(job.key, sent + 1, 0), "error", {"status": 429, "detail": str(quota.QuotaUsedUp(seconds))}
            )
            return
        job, sent = _AnswerJob(request), 0
        job.join(watcher)
        with _jobs_lock:
            _jobs[job.key] = job
        job.begin()
    try:
        while True:
            for event in job.events[sent:]:
                sent += 1
                yield event
                if event.is_last:
                    return
            if len(job.events) <= sent and not await watcher.wait():
                yield None
    finally:
        job.leave(watcher)


def _admit(admit: Callable[[], int]) -> int:
    try:
        return admit()
    finally:
        _close_connection()


async def _replay_events(events: Sequence[Event]) -> AsyncGenerator[Event | None]:
    for event in events:
        yield event


def _stored_events(key: uuid.UUID, stored: Payload) -> Iterator[Event]:
    """Yield the events that a stored answer can repeat, and the last one."""
    rows: list[tuple[str, Payload]] = []
    if stored["evidence"] or stored["confidence"]:
        meant, subject = stored.get("understood_as"), stored["understood"].get("subject")
        rows.append(("retrieval", retrieval_row(stored["evidence"], stored["also_searched"], meant, subject)))
    introduced: set[int] = set()
    if stored.get("headline"):
        introduced.update(stored["headline"]["citations"])
        sources = [cited for cited in stored["citations"] if cited["index"] in introduced]
        rows.append(("headline", stored["headline"] | {"sources": sources}))
    for part in ("summary", "answer"):
        for index, row in enumerate(stored[part]["sentences"]):
            new = [n for n in row["citations"] if n not in introduced]
            introduced.update(new)
            sources = [cited for cited in stored["citations"] if cited["index"] in new]
            rows.append(("sentence", sentence_row(part, index, row, sources)))
    for number, (name, data) in enumerate(rows, start=1):
        yield Event(_event_id(key, number, number), name, payload.in_contract_order(data))
    yield Event(_event_id(key, len(rows) + 1, len(rows)), "done", stored)


def retrieval_row(
    evidence: list[Payload], also_searched: Sequence[str], understood_as: str | None, subject: str | None
) -> Payload:
    return {
        "understood_as": understood_as,
        "subject": subject,
        "evidence": evidence,
        "also_searched": list(also_searched),
    }


def sentence_row(part: str, index: int, row: Payload, sources: list[Payload]) -> Payload:
    """Return a sentence with its position and the studies that it is the first to cite."""
    return {"part": part, "index": index, **row, "sources": sources}


def _event_id(key: uuid.UUID, number: int, stored: int) -> str:
    return f"{key.hex}.{number}.{stored}"
