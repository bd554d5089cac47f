"""The day's spending on the language model, counted in the database so that all processes share one limit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import ROUND_UP, Decimal

from django.db import connection
from django.db.models import F
from django.utils import timezone

from qa_app.models import ModelSpend

SMALLEST = Decimal("0.000001")


def today() -> date:
    return timezone.now().date()


class DailyBudget:
    """One row per day; the check and the addition are one UPDATE, so no two requests pass the limit together."""

    def __init__(self, limit: float, *, today: Callable[[], date] = today) -> None:
        """A limit of 0 refuses nothing; what is spent is counted all the same."""
        self._limit, self._today = Decimal(str(limit)), today

    def reserve(self, cost: float) -> date | None:
        """The day that the cost counts for; None where it would pass the limit. The connection is given back: a model is waited for next."""
        day, sum_ = self._today(), _exact(cost)
        try:
            ModelSpend.objects.get_or_create(day=day)
            rows = ModelSpend.objects.filter(day=day)
            if self._limit:
                rows = rows.filter(cost__lte=self._limit - sum_)
            return day if rows.update(cost=F("cost") + sum_) else None
        finally:
            if not connection.in_atomic_block:
                connection.close()

    def settle(self, day: date, *, reserved: float, spent: float, tokens: int) -> None:
        ModelSpend.objects.filter(day=day).update(
            cost=F("cost") + _exact(spent) - _exact(reserved), tokens=F("tokens") + tokens
        )


def _exact(cost: float) -> Decimal:
    return Decimal(str(cost)).quantize(SMALLEST, rounding=ROUND_UP)
