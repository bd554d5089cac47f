"""Answers told while they are made: through the real ASGI application, on real threads and real connections."""

import asyncio
import json
import os
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from corpus_app import curation
from inform_site.serving import make_site
from qa_app.answers import answering, asking, redaction, streaming
from qa_app.models import Answer
from tests.asgi import LONG, Connection, Event, posting
from tests.doubles.model_server import SlowModel, slow_model
from tests.qa.conftest import ASKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library")]

STREAM = "/api/v1/answers/stream"
LEAVERS = int(os.environ.get("STREAMS", "12"))
REFUSED = "What is the best pizza in Naples?"
LAST = {"done", "error"}


def run(talk: Callable[[Any], Any]) -> Any:
    """What the talk with the application gives."""
    return asyncio.run(talk(make_site()))


def stream(body: Any, **headers: str) -> list[Event]:
    """All that is told to somebody who stays."""

    async def talk(application: Any) -> list[Event]:
        async with posting(application, STREAM, body, **headers) as sent:
            assert (sent.status, sent.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
            return await sent.rest()

    return list(run(talk))


def problem(body: Any, **headers: str) -> dict[str, Any]:
    """The error that is told before any event."""

    async def talk(application: Any) -> tuple[Connection, Any]:
        async with posting(application, STREAM, body, **headers) as sent:
            return sent, await sent.body()

    sent, told = run(talk)
    assert sent.headers["content-type"] == "application/problem+json"
    assert (told["status"], set(told)) == (sent.status, {"type", "title", "status", "detail", "errors"})
    return {**told, "headers": sent.headers}


def told(events: list[Event], name: str) -> list[dict[str, Any]]:
    return [event.data for event in events if event.name == name]


def require_whole(events: list[Event]) -> dict[str, Any]:
    """The answer of a stream, after looking that every event says what the answer says."""
    *before, last = events
    assert (last.name, [event.name for event in before if event.name in LAST]) == ("done", [])
    body = last.data
    rows = [(part, index, row) for part in ("summary", "answer") for index, row in enumerate(body[part]["sentences"])]
    sentences = told(events, "sentence")
    sources = [row for said in (*told(events, "headline"), *sentences) for row in said.pop("sources")]
    assert [(row.pop("part"), row.pop("index"), row) for row in sentences] == rows
    assert sources == body["citations"]
    return dict(body)


def eventually(is_so: Callable[[], bool]) -> bool:
    """Whether it comes to be so, in much more time than it needs."""
    end = time.monotonic() + LONG
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    return is_so()


def connections_open() -> int:
    """To this process's own database; the server's own work in it, such as a vacuum, does not count."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*) FROM pg_stat_activity
               WHERE datname = current_database() AND backend_type = 'client backend'"""
        )
        return int(cursor.fetchone()[0])


def threads_of(*names: str) -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(names)]


async def was_asked(model: SlowModel) -> None:
    """Wait until both parts of an answer were asked for."""
    for _ in range(2):
        assert await asyncio.to_thread(model.asked.acquire, timeout=LONG)


@pytest.fixture
def model(settings: Any) -> Iterator[SlowModel]:
    with slow_model(settings) as slow:
        yield slow


def test_what_is_told_on_the_way_is_what_the_answer_says() -> None:
    events = stream({"question": ASKED}, accept="text/event-stream")
    plain = asking.ask(question=ASKED)

    body = require_whole(events)
    assert body["outcome"] == "answered"
    own = {"id", "url", "request_id", "created_at", "timings_ms"}
    assert {k: v for k, v in body.items() if k not in own} == {k: v for k, v in plain.items() if k not in own}
    assert told(events, "retrieval") == [
        {
            "understood_as": None,
            "subject": body["understood"]["subject"],
            "evidence": body["evidence"],
            "also_searched": body["also_searched"],
        }
    ]
    assert told(events, "stage")[0]["name"] == "understand"
    stages = {"scope", "encode", "lexical", "rank", "answer", "verify"}
    assert {row["name"] for row in told(events, "stage")} >= stages
    assert json.loads(Client().get(f"/api/v1/answers/{body['id']}").content) == body
    key = body["request_id"].replace("-", "")
    assert [event.id.split(".")[:2] for event in events] == [[key, str(n)] for n in range(1, len(events) + 1)]


def test_refusals_and_counted_answers_are_told_too() -> None:
    refused = stream({"question": REFUSED})
    guarded = stream({"question": "I get chest pain when I lift, what should I do?"})
    counted = stream({"question": "What is in this corpus?"})

    assert [require_whole(events)["outcome"] for events in (refused, guarded)] == ["out_of_scope", "guardrail"]
    assert told(refused, "sentence") == told(guarded, "sentence") == []
    assert require_whole(counted)["overview"] is not None
    assert told(counted, "sentence") != []

    curation.set_lexica({"site": 'nouns = { one = "entry", many = "entries" }'}, by=None, by_name="tests")
    renamed = stream({"question": "What is in this corpus?"})
    require_whole(renamed)
    assert "published entries here" in str(told(renamed, "sentence"))


def test_bad_input_is_refused_before_the_stream_begins() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"question": " "}, "question"), ({}, "question"), ({"question": ASKED, "mode": "expert"}, "mode"),
        ({"question": ASKED, "colour": "red"}, "colour"), ({"question": ASKED, "parent": "no-answer"}, "parent"),
    ]  # fmt: skip
    for body, field in bad:
        told = problem(body, accept="text/event-stream")
        assert (told["status"], [row["field"] for row in told["errors"]]) == (400, [field])
    for given in ("7", "x.1.1", "0" * 32, f"{'0' * 32}.1.1.1", f"{'0' * 32}.-1.0"):
        told = problem({"question": ASKED}, last_event_id=given)
        assert (told["status"], told["errors"][0]["field"]) == (400, "Last-Event-ID")
    assert problem(b"{")["status"] == 400
    assert problem(b"x" * 70_000)["status"] == 413
    assert problem(b"question=x", content_type="application/x-www-form-urlencoded")["status"] == 415
    assert Client().get(STREAM).status_code == 405
    assert not Answer.objects.exists()


def test_from_any_event_on_the_rest_of_a_stored_answer_is_told() -> None:
    events = stream({"question": ASKED})
    lasting = [event for event in events if event.name != "stage"]

    for place, event in enumerate(events):
        again = stream({"question": ASKED}, last_event_id=event.id)

        missed = [e for e in lasting if e in events[place + 1 :]] or lasting[-1:]
        assert [(e.name, e.data) for e in again] == [(e.name, e.data) for e in missed]
    assert Answer.objects.count() == 1
    assert problem({"question": REFUSED}, last_event_id=events[0].id)["status"] == 409
    assert problem({"question": ASKED, "mode": "intermediate"}, last_event_id=events[0].id)["status"] == 409
    anew = stream({"question": ASKED}, last_event_id=f"{'0' * 32}.5.2")  # an id that nobody knows
    require_whole(anew)
    assert not anew[0].id.startswith("0" * 32)


def test_words_that_were_withdrawn_since_are_not_told_again() -> None:
    first, *_ = events = stream({"question": ASKED})
    cited = events[-1].data["citations"][0]["study_id"]
    curation.withdraw([cited], by=None, by_name="tests", reason="tests")

    again = stream({"question": ASKED}, last_event_id=first.id)

    require_whole_now = told(again, "sentence")
    assert all(row["text"] == redaction.WITHDRAWN for row in require_whole_now if row["support"] == [])
    assert cited not in {row["study_id"] for row in told(again, "retrieval")[0]["evidence"]}
    assert [row["text"] for row in require_whole_now].count(redaction.WITHDRAWN) >= 1


def test_a_lost_line_goes_on_with_the_answer_in_the_making(model: SlowModel) -> None:
    async def talk(application: Any) -> tuple[list[Event], list[Event]]:
        async with posting(application, STREAM, {"question": ASKED}) as first:
            seen = [event for _ in range(3) if (event := await first.next())]
            await was_asked(model)
            async with posting(application, STREAM, {"question": ASKED}, last_event_id=seen[-1].id) as second:
                first.gone.set()
                model.go_on.set()
                return seen, await second.rest()

    seen, rest = run(talk)

    body = require_whole([*seen, *rest])
    assert body["generator"]["name"] == "llm"
    assert Answer.objects.count() == 1


def test_leaving_gives_up_the_work_and_what_the_model_was_asked(model: SlowModel) -> None:
    before = connections_open()

    async def talk(application: Any) -> None:
        async with posting(application, STREAM, {"question": ASKED}) as sent:
            await sent.next()
            await was_asked(model)

    run(talk)

    assert eventually(lambda: threads_of("model-request") == [])
    assert eventually(lambda: streaming._jobs == {})
    assert eventually(lambda: connections_open() <= before)
    assert not Answer.objects.exists()
    server = answering.model_server()
    assert server.breaker.state == "closed"


def test_a_heartbeat_is_sent_and_too_many_are_refused(model: SlowModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(streaming, "MAX_STREAMS", 1)

    async def talk(application: Any) -> tuple[list[str], list[Event], Connection, Any]:
        async with posting(application, STREAM, {"question": ASKED}) as sent:
            while not sent.comments:
                piece = await sent.piece()
                if piece.startswith(":"):
                    sent.comments.append(piece)
            async with posting(application, STREAM, {"question": ASKED}) as second:
                refused = await second.body()
            model.go_on.set()
            return sent.comments, await sent.rest(), second, refused

    comments, rest, second, refused = run(talk)

    assert comments[0].startswith(":")
    assert rest[-1].name == "done"
    assert (second.status, refused["status"]) == (503, 503)
    assert second.headers["content-type"] == "application/problem+json"
    assert int(second.headers["retry-after"]) >= 1


def test_a_failure_ends_the_stream_with_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    late = "urn:inform:problem:out-of-time"
    failures = (
        (OperationalError("away"), 503, None),
        (ValueError("broken"), 500, None),
        (asking.OutOfTime(60), 503, late),
    )
    for failure, status, kind in failures:

        def fail(*arguments: Any, error: Exception = failure, **options: Any) -> Any:
            raise error

        monkeypatch.setattr(answering, "store", fail)
        events = stream({"question": ASKED})

        assert [event.name for event in events if event.name in LAST] == ["error"]
        assert (events[-1].name, events[-1].data["status"]) == ("error", status)
        assert kind in {None, events[-1].data["type"]}
        assert events[-1].data["detail"] not in {"away", "broken"}
    assert eventually(lambda: streaming._jobs == {})
    assert not Answer.objects.exists()


@asynccontextmanager
async def admitted(application: Any) -> AsyncIterator[Connection]:
    """A stream that is asked for again, as its client is told to, while the site is busy."""
    while True:
        async with posting(application, STREAM, {"question": ASKED}) as sent:
            if sent.status != 503:
                assert sent.status == 200
                yield sent
                return
            assert sent.headers["retry-after"]
        await asyncio.sleep(0.1)


def test_readers_who_leave_at_any_point_leave_nothing_behind() -> None:
    """STREAMS=1000 tries many more."""
    chance = random.Random(LEAVERS)
    stream({"question": ASKED})
    before, known = connections_open(), Answer.objects.count()
    plans = [chance.choice((0, 1, 2, 3, 5, 8, 12, None, None)) for _ in range(LEAVERS)]

    async def one(application: Any, gate: asyncio.Semaphore, stays_for: int | None) -> list[Event]:
        async with gate, admitted(application) as sent:
            if stays_for is None:
                return await sent.rest()
            for _ in range(stays_for):
                if await sent.next() is None:
                    break
            await asyncio.sleep(chance.random() / 100)
            return []

    async def talk(application: Any) -> list[list[Event]]:
        gate = asyncio.Semaphore(12)
        found = await asyncio.gather(*(one(application, gate, plan) for plan in plans))
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
        return found

    found = run(talk)

    for plan, events in zip(plans, found, strict=True):
        if plan is None:
            require_whole(events)
    assert eventually(lambda: streaming._jobs == {})
    assert eventually(lambda: connections_open() <= before)
    assert len(threads_of("answer-stream")) <= streaming.MAX_THREADS
    assert threads_of("model-request") == []
    assert Answer.objects.count() - known >= plans.count(None)
