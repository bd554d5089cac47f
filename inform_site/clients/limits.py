"""Limits of requests, as the settings declare them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FORM = re.compile(r"(\d{1,9})/minute(?:\s*,\s*(\d{1,9})/day)?")


@dataclass(frozen=True, slots=True)
class Limits:
    """The most requests of a client in a minute and on a day (UTC)."""

    per_minute: int
    per_day: int


def read_limits(text: str) -> Limits:
    """Parse `20/minute, 500/day`; the daily limit is optional. Raises ValueError."""
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise ValueError(f"{text!r} is not like 20/minute, 500/day")
    per_minute = int(form[1])
    return Limits(per_minute, int(form[2]) if form[2] else 24 * 60 * per_minute)
