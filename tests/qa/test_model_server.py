"""Requests to a model's server: breaker, deadline, retries, dialects, and a day's spending."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction

from qa_app.models import ModelSpend
from qa_app.writers.model_server import Breaker, Deadline, ModelServer, Price, Reply, ServerFailed, ServerSettings
from qa_app.writers.spending import DailyBudget
from tests.doubles.model_server import ModelDouble, serving

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say yes as JSON."}]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]}
DAY = date(2026, 11, 20)


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def make_server(double: ModelDouble, model: str = "anything", *, budget: Any = None, **changes: Any) -> ModelServer:
    options: dict[str, Any] = {"first_pause_seconds": 0.01} | changes
    return ModelServer(ServerSettings(model=model, base_url=double.base_url, **options), budget=budget)


def complete(server: ModelServer, seconds: float = 20.0) -> Reply:
    return server.complete(MESSAGES, SCHEMA, Deadline.after(seconds))


def failure(server: ModelServer, seconds: float = 20.0) -> ServerFailed:
    with pytest.raises(ServerFailed) as caught:
        complete(server, seconds)
    return caught.value


def test_a_key_is_sent_and_never_said() -> None:
    with serving() as double:
        server = ModelServer(ServerSettings(model="401", api_key="sk-secret", base_url=double.base_url))
        told = failure(server)

    assert "sk-secret" not in f"{told} {told.__cause__}"


def test_no_time_is_spent_beyond_the_deadline_and_a_named_pause_is_kept(double: ModelDouble) -> None:
    assert failure(make_server(double), -1.0).reason == "timeout"
    assert double.asked == []

    start = time.monotonic()
    assert failure(make_server(double, "429", first_pause_seconds=60.0), 5.0).reason == "rate_limit"
    assert time.monotonic() - start < 5.0
    assert len(double.asked) == 1
    complete(make_server(double, "429_after,anything", first_pause_seconds=60.0))  # names 0.05 s
    assert len(double.asked) == 3


def at_once(number: int, call: Callable[[], Any]) -> list[Any]:
    """What as many threads get that call at the same time."""
    barrier = threading.Barrier(number)

    def one(_: int) -> Any:
        try:
            barrier.wait()
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def test_it_opens_after_five_failures_in_a_row() -> None:
    breaker = Breaker(failures=5, pause_seconds=30, clock=FakeClock())
    for _ in range(4):
        breaker.failed()
    breaker.succeeded()
    for _ in range(5):
        assert breaker.state == "closed"
        assert breaker.admit()
        breaker.failed()

    assert (breaker.state, breaker.admit()) == ("open", False)


@pytest.mark.parametrize(("probe", "state"), [("succeeded", "closed"), ("failed", "open"), ("not_made", "half_open")])
def test_after_a_pause_one_call_decides(probe: str, state: str) -> None:
    clock = FakeClock()
    breaker = Breaker(failures=1, pause_seconds=30, clock=clock)
    breaker.admit()
    breaker.failed()
    clock.now += 29.9
    assert not breaker.admit()

    clock.now += 0.1
    admitted = [breaker.admit() for _ in range(3)]
    assert admitted == [True, False, False]
    getattr(breaker, probe)()

    assert breaker.state == state
    assert breaker.admit() == (state != "open")


class Ledger:
    """A budget that writes down what it is told."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.reserved: list[float] = []
        self.settled: list[tuple[float, float, int]] = []

    def reserve(self, cost: float) -> date | None:
        self.reserved.append(cost)
        return None if self.refuses else DAY

    def settle(self, day: date, *, reserved: float, spent: float, tokens: int) -> None:
        assert day == DAY
        self.settled.append((reserved, spent, tokens))


PRICE = Price(prompt=1.0, reply=2.0)


def test_what_was_used_takes_the_place_of_what_was_set_aside(double: ModelDouble) -> None:
    ledger = Ledger()
    complete(make_server(double, price=PRICE, budget=ledger, reply_tokens=500))

    [(reserved, spent, tokens)] = ledger.settled
    assert [reserved] == ledger.reserved
    assert reserved > 500 / 1000 * PRICE.reply
    assert (spent, tokens) == (pytest.approx(1000 / 1000 * 1.0 + 200 / 1000 * 2.0), 1200)


@pytest.mark.parametrize(
    ("model", "attempts", "charged"),
    [("401", 1, 0), ("timeout", 1, 1), ("not_json", 1, 1), ("500", 3, 0), ("not_json", 3, 3)],
)
def test_what_failures_may_have_cost_stays_spent(double: ModelDouble, model: str, attempts: int, charged: int) -> None:
    ledger = Ledger()
    server = make_server(double, model, price=PRICE, budget=ledger, attempts=attempts)
    failure(server, 1.5 if model == "timeout" else 20.0)

    [(reserved, spent, tokens)] = ledger.settled
    assert len(double.asked) == attempts
    assert (spent, tokens) == (pytest.approx(charged * reserved), 0)


def test_over_the_limit_nothing_is_sent_and_no_failure_counted(double: ModelDouble) -> None:
    server = make_server(double, budget=Ledger(refuses=True), breaker_failures=1)

    assert failure(server).reason == "spend_limit"
    assert double.asked == []
    assert server.breaker.state == "closed"


@pytest.mark.django_db
@pytest.mark.parametrize("limit", [1.0, 0.0])  # 0 is none
def test_a_days_spending_is_one_row_and_never_passes_the_limit(limit: float) -> None:
    days = [DAY]
    budget = DailyBudget(limit, today=lambda: days[-1])
    for _ in range(3):
        assert budget.reserve(0.2) == DAY
        budget.settle(DAY, reserved=0.2, spent=0.05, tokens=10)

    row = ModelSpend.objects.get()
    assert (row.day, row.cost, row.tokens) == (DAY, Decimal("0.15"), 30)
    granted = [budget.reserve(0.4) for _ in range(4)]
    days.append(date(2026, 11, 21))
    assert granted == ([DAY, DAY, None, None] if limit else [DAY] * 4)
    assert budget.reserve(0.4) == days[-1]


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_a_model_is_waited_for() -> None:
    budget = DailyBudget(1.0, today=lambda: DAY)

    assert budget.reserve(0.2) == DAY
    assert connection.connection is None
    with transaction.atomic():
        assert budget.reserve(0.2) == DAY
        assert connection.connection is not None
    assert ModelSpend.objects.get().cost == Decimal("0.4")


@pytest.mark.django_db(transaction=True)
def test_many_at_once_get_exactly_what_the_limit_holds() -> None:
    """Each with a connection of its own, as several processes have."""
    granted = at_once(12, lambda: [DailyBudget(1.0, today=lambda: DAY).reserve(0.05) for _ in range(5)])

    assert sum(day is not None for days in granted for day in days) == 1.0 / 0.05
    assert ModelSpend.objects.get().cost == 1
