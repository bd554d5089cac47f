"""Daily spending on the language model, counted in the database for all processes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import ROUND_UP, Decimal

from django.db import connection
from django.db.models import F
from django.utils import timezone

from qa_app.models import ModelSpend

COST_UNIT = Decimal("0.000001")


def today() -> date:
    return timezone.now().date()


class DailyBudget:
    """A daily limit; one UPDATE checks and adds, so that concurrent requests cannot pass it together."""

    def __init__(self, limit: float, *, today: Callable[[], date] = today) -> None:
        """Set the limit; 0 means no limit, and spending is still counted."""
        self._limit, self._today = Decimal(str(limit)), today

    def reserve(self, cost: float) -> date | None:
        """Reserve the cost and return its day; None where it would pass the limit.

        The connection is released, since a slow request follows.
        """
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
    return Decimal(str(cost)).quantize(COST_UNIT, rounding=ROUND_UP)
