"""A reader of JSON objects whose getters record problems and always return a usable value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from corpus_app.facets import FacetValues, facets_from_json
from corpus_app.sources.values import MAX_INTEGER, MAX_TEXT, join, kind_of, plain_number, shown, text_fault

E = TypeVar("E", bound=StrEnum)


class Fields:
    def __init__(self, values: Mapping[str, Any], path: str, notes: list[tuple[str, str]]) -> None:
        self.values = values
        self.path = path
        self.notes = notes

    def note(self, key: str, reason: str) -> None:
        self.notes.append((join(self.path, key), reason))

    def check_keys(self, allowed: Sequence[str], required: Sequence[str]) -> None:
        for key in self.values:
            if key not in allowed:
                self.note(shown(key), f"is not a key of the format; known: {', '.join(allowed)}.")
        for key in required:
            if self.values.get(key) is None:
                self.note(key, "is missing.")

    def text(self, key: str, *, limit: int = MAX_TEXT, required: bool = False, one_line: bool = False) -> str:
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.note(key, f"is {kind_of(value)}; it should be text.")
            return ""
        if fault := text_fault(value, limit=limit, one_line=one_line):
            self.note(key, fault)
            return ""
        if required and not value.strip():
            self.note(key, "is empty.")
        return value

    def line(self, key: str, *, limit: int, required: bool = False) -> str:
        return self.text(key, limit=limit, required=required, one_line=True)

    def integer(self, key: str, *, low: int = 0, high: int = MAX_INTEGER) -> int | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.note(key, f"is {kind_of(value)}; it should be a whole number.")
            return None
        if not low <= value <= high:
            self.note(key, f"is {shown(value)}; it should lie between {low} and {high}.")
            return None
        return value

    def number(self, key: str, *, low: float = 0) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.note(key, f"is {kind_of(value)}; it should be a number.")
            return None
        if not low <= value <= MAX_INTEGER or not math.isfinite(value):
            self.note(key, f"is {shown(value)}; it should lie between {low} and {MAX_INTEGER}.")
            return None
        return plain_number(value)

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self.note(key, f"is {kind_of(value)}; it should be true or false.")
        return value is True

    def choice(self, key: str, values: type[E], default: E) -> E:
        value = self.values.get(key)
        if value is None:
            return default
        try:
            return values(value)
        except ValueError:
            self.note(key, f"is {shown(value)}; it should be one of {', '.join(values)}.")
            return default

    def array(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.note(key, f"is {kind_of(value)}; it should be a list.")
            return []
        return value

    def lines(self, key: str, *, limit: int, pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
        """Return a list of non-empty short texts; with a `pattern`, of unique ids."""
        values = []
        for index, value in enumerate(self.array(key)):
            place = f"{key}[{index}]"
            if not isinstance(value, str):
                self.note(place, f"is {kind_of(value)}; it should be text.")
            elif fault := text_fault(value, limit=limit, one_line=True):
                self.note(place, fault)
            elif not value.strip():
                self.note(place, "is empty.")
            elif pattern and not pattern.fullmatch(value):
                self.note(place, f"is {shown(value)}; an id has letters, digits and dashes only.")
            elif pattern and value in values:
                self.note(place, f"{shown(value)} stands twice in this list.")
            else:
                values.append(value)
        return tuple(values)

    def inner(self, key: str, allowed: Sequence[str], required: Sequence[str] = ()) -> Fields:
        """Return the object under a key; an empty one when it is missing."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            self.note(key, f"is {kind_of(value)}; it should be an object.")
        found = Fields(value if isinstance(value, dict) else {}, join(self.path, key), self.notes)
        found.check_keys(allowed, required)
        return found

    def objects(self, key: str, allowed: Sequence[str], required: Sequence[str]) -> Iterator[Fields]:
        for index, value in enumerate(self.array(key)):
            place = f"{key}[{index}]"
            if not isinstance(value, dict):
                self.note(place, f"is {kind_of(value)}; it should be an object.")
                continue
            found = Fields(value, join(self.path, place), self.notes)
            found.check_keys(allowed, required)
            yield found


def read_facets(found: Fields) -> FacetValues:
    """Return the values of declared facets by key; one value may stand alone."""
    given = found.values.get("facets") or {}
    if not isinstance(given, Mapping):
        found.note("facets", "is no table of facets and values.")
        return ()
    read: dict[str, list[str]] = {}
    for key, values in given.items():
        listed = [values] if isinstance(values, str) else values
        if not isinstance(listed, list) or not all(isinstance(value, str) for value in listed):
            found.note(f"facets.{key}", "is neither a value nor a list of values.")
        elif listed:
            read[str(key)] = list(dict.fromkeys(listed))
    return facets_from_json(read)
