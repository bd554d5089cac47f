"""How much a client may do, as the settings say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FORM = re.compile(r"(\d{1,9})/minute(?:\s*,\s*(\d{1,9})/day)?")


@dataclass(frozen=True, slots=True)
class Limits:
    """How many requests a client may make in a minute, and on a day (UTC)."""

    per_minute: int
    per_day: int


def read_limits(text: str) -> Limits:
    """From `20/minute, 500/day`; without a day, the minutes alone limit it. Raises ValueError."""
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise ValueError(f"{text!r} is not like 20/minute, 500/day")
    per_minute = int(form[1])
    return Limits(per_minute, int(form[2]) if form[2] else 24 * 60 * per_minute)
