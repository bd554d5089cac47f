"""The encoder chosen at the desk, in a row of the database, which the web processes and the workers share."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError

from common import pipelining

REFRESH_SECONDS = 2.0  # another process learns of a choice by then; one question asks several times
_READ = "SELECT name, keeps, configured FROM corpus_app_encoderchoice WHERE id = 1"


@dataclass(frozen=True, slots=True)
class Choice:
    """The encoder that passages are embedded with, and the one whose vectors are kept so that the change can be
    undone.
    """

    name: str
    keeps: str
    """Empty when no former vectors are kept."""
    configured: str
    """INFORM_ENCODER at the time of the choice: changing that setting cancels the choice."""


_known: tuple[float, Choice | None] = (float("-inf"), None)


def read() -> Choice | None:
    """Return the choice; None when there is none, or when INFORM_ENCODER has changed since.

    The last known choice counts while the database does not answer.
    """
    global _known
    read_at, choice = _known
    if time.monotonic() - read_at >= REFRESH_SECONDS:
        try:
            row = pipelining.first_row(_READ, {})
        except (DatabaseError, RuntimeError):  # away, or (RuntimeError) not allowed here: a test without a database
            pass
        else:
            choice = Choice(*row) if row else None
            _known = time.monotonic(), choice
    return choice if choice and choice.configured == settings.ENCODER else None


def write(*, name: str, keeps: str) -> None:
    """Store a choice."""
    values = {"name": name, "keeps": keeps, "configured": settings.ENCODER}
    from corpus_app.models import EncoderChoice  # the encoders are of use without models

    EncoderChoice.objects.update_or_create(pk=1, defaults=values)
    forget_known()


def forget() -> None:
    """Delete the choice, so that INFORM_ENCODER decides again."""
    from corpus_app.models import EncoderChoice

    EncoderChoice.objects.all().delete()
    forget_known()


def forget_known() -> None:
    """Read the row again next time."""
    global _known
    _known = float("-inf"), None
