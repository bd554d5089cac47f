"""Read `site.toml` of a corpus folder: name, texts and kinds of a site (corpus/FORMAT.md)."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import cattrs

from corpus_app.facets import Facet, declaration_faults
from corpus_app.records import Design, SectionRole, SourceKind, Unit
from corpus_app.site import ConceptKind, Nouns, Site, SiteTexts
from corpus_app.sources.drafts import Problem
from corpus_app.sources.layout import SITE
from corpus_app.sources.values import SLUG, listed

HASH_DIGITS = 16
_CONVERTER = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)
_LABELS = frozenset(
    {"concept_kinds", "source_kinds", "facet_words"}
)  # texts in another language only: the tables of these names hold them
_TEXTS = tuple(f.name for f in fields(SiteTexts) if f.name not in _LABELS)


@dataclass(frozen=True, slots=True)
class _Declared:
    """The tables of the file beside its texts."""

    nouns: Nouns | None = None
    examples: tuple[str, ...] = ()
    concept_kinds: Mapping[str, ConceptKind] = field(default_factory=dict)
    source_kinds: Mapping[str, SourceKind] = field(default_factory=dict)
    section_roles: Mapping[str, SectionRole] = field(default_factory=dict)
    routes_off: tuple[str, ...] = ()
    facets: Mapping[str, Facet] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    phrase_lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    languages: Mapping[str, SiteTexts] = field(default_factory=dict)


def site_hash(content: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of a site file; empty for an empty one."""
    return hashlib.sha256(content.encode()).hexdigest()[:HASH_DIGITS] if content else ""


def site_of(table: Mapping[str, Any]) -> Site:
    """Return the site that a parsed file declares. Raises cattrs.BaseValidationError."""
    texts = _CONVERTER.structure({"name": Site().texts.name} | _only(table, _TEXTS), SiteTexts)
    declared = _CONVERTER.structure({key: table[key] for key in table if key not in _TEXTS}, _Declared)
    return Site(
        texts=texts,
        translations=declared.languages,
        nouns=declared.nouns,
        examples=declared.examples,
        concept_kinds=declared.concept_kinds,
        source_kinds=declared.source_kinds,
        section_roles=declared.section_roles,
        routes_off=declared.routes_off,
        facets=declared.facets,
        units=declared.units,
        phrase_lists=declared.phrase_lists,
    )


def find_problems(content: str) -> Iterator[Problem]:
    """Yield what is wrong with the text of a site file: its key and the reason."""
    try:
        site = site_of(tomllib.loads(content))
    except tomllib.TOMLDecodeError as error:
        yield Problem(SITE, None, "", f"is not TOML: {error}.")
    except cattrs.BaseValidationError as error:
        for line in cattrs.transform_error(error, path="", format_exception=_reason):
            reason, _, place = line.rpartition(_AT)
            yield Problem(SITE, None, place.lstrip("."), reason)
    else:
        for name in site.source_kinds:
            if name in frozenset(Design) or not SLUG.fullmatch(name):
                reason = "is not a name for a kind of your own: letters, digits, dashes; and not the name of a design."
                yield Problem(SITE, None, f"source_kinds[{name!r}]", reason)
        for place, reason in declaration_faults(site.facets, site.phrase_lists):
            yield Problem(SITE, None, place, reason)
        yield from _unit_problems(site.units)


_UNIT = re.compile(r"[^\W\d_]{1,30}")


def _unit_problems(units: Mapping[str, Unit]) -> Iterator[Problem]:
    """Yield what is wrong with declared units: a unit without forms, a form of two units, an impossible factor."""
    owners: dict[str, str] = {}
    for name, unit in units.items():
        place = f"units.{name}"
        if not _UNIT.fullmatch(name):
            yield Problem(SITE, None, place, "is not a name for a unit: letters alone, at most 30.")
        if not unit.forms:
            yield Problem(SITE, None, f"{place}.forms", 'is empty; name how the unit is written, such as ["quire"].')
        for form in unit.forms:
            if not _UNIT.fullmatch(form):
                yield Problem(SITE, None, f"{place}.forms", f"{form!r} is not one word of letters.")
            if owners.setdefault(form.casefold(), name) != name:
                reason = f"{form!r} is a form of {owners[form.casefold()]}, too; keep one of the two."
                yield Problem(SITE, None, f"{place}.forms", reason)
        if unit.dimension and not _UNIT.fullmatch(unit.dimension):
            yield Problem(SITE, None, f"{place}.dimension", "is not one word of letters, such as length or sheets.")
        if not 0 < unit.factor < float("inf"):
            yield Problem(SITE, None, f"{place}.factor", "should be a number above 0.")
        elif unit.factor != 1 and not unit.dimension:
            yield Problem(SITE, None, f"{place}.dimension", "is missing; say what the factor counts, such as length.")


_AT = " @ "  # cattrs puts the path behind it


def _reason(error: BaseException, kind: type | None) -> str:
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        known = sorted(f.name for f in fields(error.cl) if f.name not in _LABELS or error.cl is not SiteTexts)
        if error.cl is _Declared:
            known = sorted({*known, *_TEXTS})
        return f"has no key {listed(sorted(error.extra_fields))}; known: {listed(known)}."
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return f"is none of {listed([choice.value for choice in kind])}."
    if isinstance(error, KeyError):
        return f"lacks {error.args[0]}."
    return "is not what this key takes: see corpus/FORMAT.md."


def _only(table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: table[key] for key in keys if key in table}
