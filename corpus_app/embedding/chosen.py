"""The encoder chosen at the desk, in a small file in the data folder that every process reads."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings


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


def read() -> Choice | None:
    """Return the choice; None when there is none, or when INFORM_ENCODER has changed since."""
    try:
        choice = Choice(**json.loads(_path().read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return choice if choice.configured == settings.ENCODER else None


def write(*, name: str, keeps: str) -> None:
    """Store a choice. Raises OSError when the data folder cannot be written."""
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(json.dumps(asdict(Choice(name, keeps, settings.ENCODER))), encoding="utf-8")
    new.replace(path)


def forget() -> None:
    """Delete the choice, so that INFORM_ENCODER decides again."""
    _path().unlink(missing_ok=True)


def _path() -> Path:
    return _path_in(settings.DATA_DIR)


def _path_in(data: str | Path) -> Path:
    return Path(data) / "encoder.json"
