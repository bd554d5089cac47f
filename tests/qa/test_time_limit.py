"""An answer that takes longer than it may is given up, says so, and leaves nothing behind."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone
from psycopg.errors import QueryCanceled

from common import pipelining
from qa_app.answers import answering, asking, time_limit
from qa_app.answers.corpus import SearchedCorpus
from qa_app.answers.payload import Payload
from qa_app.answers.time_limit import TimeLimit, limited
from qa_app.models import Answer, AnswerSentence, EvidenceContext, Gap, SentQuestion
from qa_app.pipeline.ports import OutOfTime
from qa_app.writers.records import Deadline
from tests.qa.conftest import ASKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library")]
SHORT = 0.5  # seconds: of what would otherwise wait for ever


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Every answer's time is over as its second stage begins, from each call on."""

    def start() -> None:
        readings = iter([0.0] * 3)  # begun, and two looks at the clock
        monkeypatch.setattr(time_limit.Deadline, "after", lambda seconds: Deadline(1.0, lambda: next(readings, 2.0)))

    return start


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Nobody else reads or writes the table."""
    settings = connection.settings_dict
    with psycopg.connect(
        host=settings["HOST"], port=settings["PORT"] or None, user=settings["USER"], dbname=settings["NAME"]
    ) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def post(address: str, body: dict[str, Any], **headers: str) -> Any:
    return Client().post(address, json.dumps(body), content_type="application/json", headers=headers)


def statement_timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return str(cursor.fetchone()[0])


def require_nothing_kept() -> None:
    for rows in (Answer, AnswerSentence, EvidenceContext, Gap, SentQuestion):
        assert not rows.objects.exists(), rows


def test_a_statement_that_goes_on_too_long_is_cut_off() -> None:
    with pytest.raises(OutOfTime), limited(SHORT), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(60)")
    assert statement_timeout() == "0"

    corpus = SearchedCorpus(TimeLimit(SHORT, Deadline.after(SHORT)))
    with pytest.raises(OperationalError) as cut_off, corpus.snapshot():  # sent past Django
        pipelining.first_row("SELECT pg_sleep(60)", {})
    assert isinstance(cut_off.value.__cause__, QueryCanceled)
    assert statement_timeout() == "0"


def test_a_time_limit_leaves_the_connection_as_it_was() -> None:
    statement_timeout()  # the connection is open

    with limited(60) as limit:
        assert statement_timeout() != "0"
        limit.bind()
    assert statement_timeout() == "0"
    with limited(60):
        with suppress(IntegrityError), transaction.atomic():
            Gap.objects.create(key=None)
        assert statement_timeout() != "0"
        with transaction.atomic():
            assert statement_timeout() != "0"
    assert statement_timeout() == "0"
    with limited(60), transaction.atomic():
        with suppress(IntegrityError), transaction.atomic():
            Gap.objects.create(key=None)
        assert not Gap.objects.exists()
    assert statement_timeout() == "0"
    with pytest.raises(OperationalError, match="away"), limited(60):
        raise OperationalError("away")
    assert statement_timeout() == "0"


def test_clients_get_a_problem_and_may_ask_again(no_time: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    again = {"Idempotency-Key": "once"}
    for address in ("/api/v1/answers", "/api/v1/search"):
        no_time()
        answered = post(address, {"question": ASKED}, **again)

        told = answered.json()
        assert (answered.status_code, answered["Content-Type"]) == (503, "application/problem+json")
        assert told["type"] == "urn:inform:problem:out-of-time"
        assert "nothing of it is kept" in told["detail"]
        assert int(answered["Retry-After"]) >= 1
        require_nothing_kept()
    monkeypatch.undo()
    assert post("/api/v1/answers", {"question": ASKED}, **again).status_code == 201


def test_earlier_addresses_say_it_in_their_own_shape(no_time: Callable[[], None]) -> None:
    found = post("/api/unified-search", {"query": ASKED}).json()
    body = {"query": ASKED}, {"request_id": found["request_id"]}

    for address in ("/ask", "/api/unified-search", "/explain-research", "/api/quick-summary", "/api/detailed-answer"):
        no_time()
        told = post(address, body[address in {"/api/quick-summary", "/api/detailed-answer"}])
        assert (told.status_code, told.json()["success"], told.json()["code"]) == (503, False, "OUT_OF_TIME")
    assert Answer.objects.count() == 1


@pytest.mark.parametrize("table", ["qa_app_answercitation", "corpus_app_passagevector"], ids=["storing", "search"])
def test_what_is_late_is_not_stored_in_part(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    monkeypatch.setattr("django.conf.settings.ANSWER_SECONDS", SHORT)
    with locked(table):
        answered = post("/api/v1/answers", {"question": ASKED})

    assert (answered.status_code, answered.json()["type"]) == (503, "urn:inform:problem:out-of-time")
    require_nothing_kept()
    assert statement_timeout() == "0"


def test_a_reader_keeps_the_question_and_is_told(no_time: Callable[[], None]) -> None:
    no_time()
    page = Client().post("/", {"question": ASKED})
    no_time()
    with pytest.raises(CommandError, match="given up"):
        call_command("ask", ASKED)

    assert (page.status_code, "was stopped" in page.content.decode()) == (503, True)
    assert ASKED in page.content.decode()
    assert int(page["Retry-After"]) >= 1
    require_nothing_kept()


def test_to_ask_or_make_again_may_take_too_long_as_well(no_time: Callable[[], None]) -> None:
    answer = asking.ask(question=ASKED)

    for path in ("/answers/{}/again/", "/compare/?a={}"):
        no_time()
        page = Client().post(path.format(answer["id"]), {"a": answer["id"]})
        assert (page.status_code, ASKED in page.content.decode()) == (503, True)
    no_time()
    replayed = post(f"/api/v1/answers/{answer['id']}/replay", {})
    assert (replayed.status_code, replayed.json()["type"]) == (503, "urn:inform:problem:out-of-time")
    assert Answer.objects.count() == 1


def test_a_lost_connection_leaves_its_key_free(monkeypatch: pytest.MonkeyPatch) -> None:
    store, lost = answering.store, iter([True])

    def lose_once(*arguments: Any, **options: Any) -> Payload:
        if next(lost, False):
            with suppress(OperationalError), connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return store(*arguments, **options)

    monkeypatch.setattr(answering, "store", lose_once)

    assert post("/api/v1/answers", {"question": ASKED}, **{"Idempotency-Key": "k-1"}).status_code == 503
    assert post("/api/v1/answers", {"question": ASKED}, **{"Idempotency-Key": "k-1"}).status_code == 201
    assert SentQuestion.objects.get().answer_id == Answer.objects.get().pk


def test_a_claim_that_was_taken_over_stores_no_second_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    make = answering.make

    def be_late(*arguments: Any, **options: Any) -> Any:
        SentQuestion.objects.update(sent_at=timezone.now() + timedelta(seconds=1))
        return make(*arguments, **options)

    monkeypatch.setattr(answering, "make", be_late)

    assert post("/api/v1/answers", {"question": ASKED}, **{"Idempotency-Key": "k-1"}).status_code == 409
    assert not Answer.objects.exists()
    assert SentQuestion.objects.count() == 1
