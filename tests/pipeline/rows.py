"""Labelled tables of `tests/data`, one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
