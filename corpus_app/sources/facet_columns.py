"""Columns of a table that are named after a facet which the corpus declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from corpus_app.facets import COLUMNS
from corpus_app.sources.bibliography import Intake, Record
from corpus_app.sources.drafts import Weight
from corpus_app.sources.values import shown

FACET = "facet:"
"""Before the key of a declared facet that a column gives."""


def facet_column(name: str, intake: Intake) -> str:
    """Return the mark of the declared facet that a column is named after, by its key or its label; else empty."""
    keys = (key for key, facet in intake.facets.items() if _plain(name) in {_plain(key), _plain(facet.label)})
    return next((FACET + key for key in keys), "")


def take_facets(record: Record, values: Mapping[str, Any], intake: Intake) -> None:
    """Take the values of declared facets, named by their key or label and parted by semicolons."""
    for key, facet in intake.facets.items():
        known = {_plain(name): value for value, own in facet.values.items() for name in (own.label, value)}
        cells = [cell.strip() for cell in str(values.get(FACET + key) or "").split(";") if cell.strip()]
        found = list(dict.fromkeys(known[_plain(cell)] for cell in cells if _plain(cell) in known))
        unknown = [cell for cell in cells if _plain(cell) not in known]
        if unknown or (key in COLUMNS and len(found) > 1):
            reason = f"is {shown('; '.join(unknown or cells))}; declared: {', '.join(facet.values)}. It was left out."
            record.report(key, reason, Weight.DROPPED)
        elif found:
            record.facets[key] = found


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.strip().lower())
