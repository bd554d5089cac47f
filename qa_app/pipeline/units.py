"""The units that a corpus declares, by each way to write them."""

from __future__ import annotations

from collections.abc import Mapping

from corpus_app.records import Unit
from qa_app.pipeline.query import UnitForm
from qa_app.pipeline.text import folded

BASES: Mapping[str, str] = {"length": "m", "mass": "kg", "volume": "l", "time": "s", "energy": "j"}
"""Base units of dimensions, by the names that verification gives them; any other dimension is its own base."""


def unit_forms(units: Mapping[str, Unit]) -> Mapping[str, UnitForm]:
    """Return the declared units by their folded forms, also in the plural."""
    return {
        folded(f"{form}{ending}"): UnitForm(name, BASES.get(unit.dimension, unit.dimension), unit.factor)
        for name, unit in units.items()
        for form in unit.forms
        for ending in (("", "s") if len(form) > 1 else ("",))
    }
