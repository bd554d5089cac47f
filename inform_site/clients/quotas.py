"""Exact quota counters: one statement counts a request for both the minute and the day, or for neither."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from common import pipelining
from inform_site.clients.limits import Limits
from inform_site.clients.models import ApiKey, QuotaCounter

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of counting a request: granted, or refused with a waiting time."""

    quota: str
    limits: Limits
    left_in_minute: int
    left_in_day: int
    seconds_of_minute: int
    """Until the minute ends, at least 1."""
    seconds_of_day: int
    wait_seconds: int
    """Until it may be tried again; 0 where the request was counted."""


def limits(quota: str, key: ApiKey | None) -> Limits:
    of_quota: dict[str, Limits] = settings.KEY_QUOTAS if key else settings.ANONYMOUS_QUOTAS
    return of_quota[quota]


def take(client: str, quota: str, allowed: Limits, *, now: datetime, amount: int = 1) -> Taken:
    """Count a request of this client as `amount`, unless its minute or its day has less left."""
    minute, day = now.replace(second=0, microsecond=0), now.replace(hour=0, minute=0, second=0, microsecond=0)
    used = None
    if min(allowed.per_minute, allowed.per_day) >= amount:
        parameters: dict[str, str | int | datetime] = {
            "client": client, "quota": quota, "minute": minute, "day": day,
            "latest": now + SKEW, "per_minute": allowed.per_minute, "per_day": allowed.per_day, "amount": amount,
        }  # fmt: skip
        used = pipelining.first_row(_TAKE, parameters)
    is_granted = used is not None
    in_minute, in_day = used or _used(client, quota, minute, day)
    seconds_of_minute, seconds_of_day = _seconds(minute + MINUTE - now), _seconds(day + DAY - now)
    is_day_full = in_day + amount > allowed.per_day
    return Taken(
        quota=quota,
        limits=allowed,
        left_in_minute=max(0, allowed.per_minute - in_minute),
        left_in_day=max(0, allowed.per_day - in_day),
        seconds_of_minute=seconds_of_minute,
        seconds_of_day=seconds_of_day,
        wait_seconds=0 if is_granted else seconds_of_day if is_day_full else seconds_of_minute,
    )


# A counter never returns to an earlier minute or day where the clock of another process is a little behind. One that is
# further ahead was counted by a clock that was wrong: it begins anew, or its client would be locked out until then. The
# commit is asynchronous, so no request waits for the disk; a crash loses the counts of the last half second.
SKEW = timedelta(minutes=2)
_TAKE = """
    INSERT INTO clients_quotacounter AS kept (client, quota, minute, used_in_minute, day, used_in_day)
    SELECT %(client)s, %(quota)s, %(minute)s::timestamptz, %(amount)s, %(day)s::timestamptz, %(amount)s
    FROM set_config('synchronous_commit', 'off', true)
    ON CONFLICT (client, quota) DO UPDATE SET
        used_in_minute = CASE WHEN kept.minute BETWEEN excluded.minute AND %(latest)s
            THEN kept.used_in_minute + %(amount)s ELSE %(amount)s END,
        used_in_day = CASE WHEN kept.day BETWEEN excluded.day AND %(latest)s
            THEN kept.used_in_day + %(amount)s ELSE %(amount)s END,
        minute = CASE WHEN kept.minute BETWEEN excluded.minute AND %(latest)s THEN kept.minute ELSE excluded.minute END,
        day = CASE WHEN kept.day BETWEEN excluded.day AND %(latest)s THEN kept.day ELSE excluded.day END
    WHERE (kept.minute NOT BETWEEN excluded.minute AND %(latest)s
           OR kept.used_in_minute + %(amount)s <= %(per_minute)s)
      AND (kept.day NOT BETWEEN excluded.day AND %(latest)s OR kept.used_in_day + %(amount)s <= %(per_day)s)
    RETURNING used_in_minute, used_in_day
"""


def _used(client: str, quota: str, minute: datetime, day: datetime) -> tuple[int, int]:
    row = QuotaCounter.objects.filter(client=client, quota=quota).first()
    if row is None:
        return 0, 0
    return row.used_in_minute if row.minute >= minute else 0, row.used_in_day if row.day >= day else 0


def _seconds(span: timedelta) -> int:
    return max(1, -int(-span.total_seconds() // 1))


def prune(*, now: datetime) -> int:
    """Delete the counters of past days and return their number."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    deleted, _ = QuotaCounter.objects.filter(day__lt=today - DAY).delete()
    return deleted
