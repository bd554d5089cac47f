"""Which encoder the desk has chosen: a small file in the data folder, so that every process knows without asking."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Choice:
    """The encoder that passages are embedded with, and the one whose vectors are kept for a return."""

    name: str
    keeps: str
    """Empty: no former vectors are kept."""
    configured: str
    """INFORM_ENCODER at the time: whoever changes that setting chooses anew."""


def read() -> Choice | None:
    """None where the desk has chosen nothing, or before the setting was changed."""
    path = _path()
    try:
        choice = _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None
    return choice if choice and choice.configured == settings.ENCODER else None


def write(*, name: str, keeps: str) -> None:
    """Raises OSError where the data folder cannot be written."""
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(json.dumps(asdict(Choice(name, keeps, settings.ENCODER))), encoding="utf-8")
    new.replace(path)


def forget() -> None:
    """The setting decides again."""
    _path().unlink(missing_ok=True)


def _path() -> Path:
    return _in(settings.DATA_DIR)


@lru_cache(maxsize=4)
def _in(data: str | Path) -> Path:
    return Path(data) / "encoder.json"


@lru_cache(maxsize=4)
def _read(path: Path, modified: int) -> Choice | None:
    try:
        return Choice(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        return None
