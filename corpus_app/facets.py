"""The facets that a corpus declares: traits of its studies that questions name, answers mention and pages filter by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Any

from corpus_app.records import AgeGroup, Sex, TrainingStatus

COLUMNS: Mapping[str, type[StrEnum]] = {"age_group": AgeGroup, "sex": Sex, "training_status": TrainingStatus}
"""Facets with a column of their own, which takes these values alone; all of them tell who was studied."""
NOT_REPORTED = "not_reported"
"""The value of a column where nobody has entered one."""
PARAMETERS: Mapping[str, str] = {"age_group": "age", "training_status": "training"}
"""Names of facets in addresses, where they differ from the key."""
RESERVED = frozenset("q collection design topic notice from to sort page cursor fields limit".split())
"""Names that addresses use for something else."""
YEARS_OF_AGE = "years of age"
"""The unit of a facet whose ranges are ages, as English states them: "over 65", "in my forties"."""
KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
PHRASE = re.compile(r"(?!(?:\S+\?(?: |$))*$)(?:(?:[^\W_]+\*?|\*\w*|#(?:[\d.]+(?:-[\d.]+)?)?|\.|\{[^{}]+\})\??(?: |$))+")
"""A phrase of a word list, as qa_app/pipeline/lexicon.py explains it."""
_REFERENCE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class FacetValue:
    label: str
    """As pages and filters name it."""
    text: str | None = None
    """As a sentence names it; None: as its label, empty: not at all."""
    phrases: tuple[str, ...] = ()
    """The phrases by which a question names it."""
    exceptions: tuple[str, ...] = ()
    """Longer phrases that mean something else."""
    implied: tuple[str, ...] = ()
    """Phrases that name something else, which only such studies have."""
    open: bool = False
    """Whether a study of this value may include any other: mixed ages."""
    always_named: bool = False
    """Whether answers name it also where the question names no value of the facet."""
    experienced: bool = False
    """Whether such studies suit readers with experience rather than beginners."""
    counts_as: tuple[str, ...] = ()
    """Values asked about for which it is direct evidence, too."""
    combines: tuple[tuple[str, ...], ...] = ()
    """Values that mean this one where a question names them together."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Its text where a question names only this other value: younger adults, beside older ones."""
    among: Mapping[str, str] = field(default_factory=dict)
    """Its text in studies that have this value of another facet: girls, among the young."""
    prefix: str | None = None
    """Stands before the text of another facet in place of the own text: older (women)."""

    @property
    def words(self) -> str:
        """Return the value as a sentence names it."""
        return self.label if self.text is None else self.text


@dataclass(frozen=True, slots=True)
class FacetRange:
    """The values that count for a number from this one on."""

    at_least: float
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facet:
    label: str
    values: Mapping[str, FacetValue]
    ranges: tuple[FacetRange, ...] = ()
    unit: str = ""
    """What the numbers of the ranges count: years of age, or the words that follow a number: cm."""
    about_reader: bool = False
    """Whether a reader may have a value, too, so that studies can be about people like the reader."""

    def words(self, value: str) -> str:
        """Return a value as a sentence names it; empty for one that is not declared."""
        declared = self.values.get(value)
        return declared.words if declared else ""

    def is_open(self, value: str) -> bool:
        """Tell whether a study of this value may include any other; one that is not declared says nothing."""
        declared = self.values.get(value)
        return declared is None or declared.open

    def direct_values(self, value: str) -> tuple[str, ...]:
        """Return the values for which a study of this value is evidence, itself first; none for an undeclared one."""
        declared = self.values.get(value)
        if declared is None:
            return ()
        if not declared.open:
            return (value, *declared.counts_as)
        combined = [one for several in declared.combines for one in several]
        return (value, *(combined or [name for name, other in self.values.items() if not other.open]))

    def of_number(self, number: float) -> tuple[str, ...]:
        """Return the values that count for a number; none below the first range."""
        rows = sorted(self.ranges, key=lambda row: row.at_least, reverse=True)
        return next((row.values for row in rows if row.at_least <= number), ())


FacetValues = tuple[tuple[str, tuple[str, ...]], ...]
"""The values of a study by facet, in the order of their keys."""


def parameter_of(key: str) -> str:
    """Return the name of a facet in addresses."""
    return PARAMETERS.get(key, key)


def key_of(parameter: str) -> str:
    """Return the key of the facet that addresses name so."""
    return next((key for key, name in PARAMETERS.items() if name == parameter), parameter)


def facets_from_json(stored: Mapping[str, Sequence[str]] | None) -> FacetValues:
    """Return the facets of a study as stored by key."""
    return tuple(sorted((key, tuple(values)) for key, values in (stored or {}).items()))


def facets_to_json(values: FacetValues) -> dict[str, list[str]]:
    return {key: list(own) for key, own in values}


def to_pairs(values: FacetValues) -> tuple[str, ...]:
    """Return each value with its facet, as cells and forms name them: soil:clay."""
    return tuple(f"{key}:{value}" for key, own in values for value in own)


def from_pairs(pairs: Iterable[str]) -> FacetValues:
    """Return the values that pairs name; a pair without a colon names a facet without a value."""
    found: dict[str, list[str]] = {}
    for key, _, value in (pair.partition(":") for pair in dict.fromkeys(pairs)):
        found.setdefault(key.strip(), []).append(value.strip())
    return facets_from_json(found)


def to_fields(values: FacetValues, declared: Mapping[str, Facet]) -> dict[str, Any]:
    """Return declared facets as fields of a study: those with a column, and `facets` for the others.

    A column that has no value here is not reported.
    """
    own = dict(values)
    columns = {key: own.get(key, (NOT_REPORTED,))[0] for key in declared if key in COLUMNS}
    return columns | {"facets": {key: list(own[key]) for key in declared if key in own and key not in COLUMNS}}


def pairs_fault(pairs: Iterable[str], declared: Mapping[str, Facet]) -> str:
    """Return in a sentence what is wrong with pairs of facet and value; empty where nothing is."""
    for key, values in from_pairs(pairs):
        if key not in declared:
            return f"has no facet {key!r}; declared: {', '.join(declared) or 'none'}."
        if unknown := sorted(set(values) - set(declared[key].values)):
            return f"{key} has no value {unknown[0]!r}; declared: {', '.join(declared[key].values)}."
        if key in COLUMNS and len(values) > 1:
            return f"{key} has one value for each source; choose between {' and '.join(values)}."
    return ""


def find_fault(stored: Any, declared: Mapping[str, Facet]) -> str:
    """Return in a sentence what is wrong with the facets of a study; empty where nothing is."""
    if not isinstance(stored, Mapping):
        return "is no table of facets and values."
    others = {key: facet for key, facet in declared.items() if key not in COLUMNS}
    return pairs_fault(to_pairs(facets_from_json(stored)), others)


def certainty_fault(values: FacetValues, declared: Mapping[str, Facet]) -> str:
    """Return in a sentence what is wrong with the facets that a judgement is about; empty where nothing is."""
    several = next((key for key, own in values if len(own) > 1), "")
    return f"{several} has more than one value." if several else find_fault(facets_to_json(values), declared)


def declaration_faults(facets: Mapping[str, Facet], lists: Mapping[str, Collection[str]]) -> list[tuple[str, str]]:
    """Return what is wrong with declared facets and their lists of phrases: pairs of place and reason."""
    circle = _circle(lists)
    found = [(f"phrase_lists.{circle}", "refers to itself.")] if circle else []
    found += [(f"phrase_lists.{name}", fault) for name, rows in lists.items() if (fault := _phrase_fault(rows, lists))]
    for key, facet in facets.items():
        place = f"facets.{key}"
        if not KEY.fullmatch(key) or key in RESERVED or key in PARAMETERS.values():
            found.append((place, "is not a name for a facet: lower-case letters, digits, _; no other filter's name."))
        if not facet.values:
            found.append((f"{place}.values", "is empty; name at least one value."))
        if key in COLUMNS and (unknown := sorted(set(facet.values) - set(COLUMNS[key]))):
            found.append((f"{place}.values", f"{unknown[0]} is none of {', '.join(COLUMNS[key])}."))
        if facet.ranges and not facet.unit:
            found.append((f"{place}.unit", "is missing; say what the numbers of the ranges count."))
        if unknown := sorted({v for row in facet.ranges for v in row.values} - set(facet.values)):
            found.append((f"{place}.ranges", f"{unknown[0]} is no value of this facet."))
        for name, value in facet.values.items():
            if not KEY.fullmatch(name):
                found.append((f"{place}.values.{name}", "is not a name: lower-case letters, digits, _."))
            elif fault := _phrase_fault((*value.phrases, *value.exceptions, *value.implied), lists):
                found.append((f"{place}.values.{name}.phrases", fault))
    return found


def _phrase_fault(phrases: Collection[str], lists: Mapping[str, Collection[str]]) -> str:
    for phrase in phrases:
        if not PHRASE.fullmatch(phrase) or not _is_folded(phrase):
            return f"{phrase!r} is no phrase: words in lower case, without hyphens and accents."
        if unknown := [name for name in _REFERENCE.findall(phrase) if name not in lists]:
            return f"{phrase!r} names the list {unknown[0]}, which phrase_lists lacks."
    return ""


def _is_folded(phrase: str) -> bool:
    return phrase == phrase.lower() and unicodedata.is_normalized("NFKD", phrase)


def _circle(lists: Mapping[str, Collection[str]]) -> str:
    """Return a list that refers to itself, by way of others or not; empty where none does."""
    try:
        TopologicalSorter({name: _REFERENCE.findall(" ".join(rows)) for name, rows in lists.items()}).prepare()
    except CycleError as error:
        return str(error.args[1][0])
    return ""
