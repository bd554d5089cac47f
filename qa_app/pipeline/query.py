"""Define the Query: the parsed question that all later stages read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from corpus_app.facets import Facet
from corpus_app.records import Concept, Section


class Intent(StrEnum):
    """The kind of answer a question asks for."""

    YES_NO = "yes_no"
    WHICH = "which"
    HOW_MANY = "how_many"
    HOW = "how"
    WHY = "why"
    WHAT = "what"
    LIST = "list"
    CLAIM = "claim"


class Aspect(StrEnum):
    """A matter that a question asks of the findings, beside the kind of its answer."""

    SIZE = "size"
    """How large an effect is."""
    DISAGREEMENT = "disagreement"
    """Why studies disagree, or whether they do."""


class Request(StrEnum):
    """A request to the owner of a site, where its sources tell of them."""

    OVERVIEW = "overview"
    """What the owner is and does."""
    TIMELINE = "timeline"
    """What happened when."""
    SOURCES = "sources"
    """What each of several sources says: those of a category, or those on two things that are compared."""


@dataclass(frozen=True, slots=True)
class AskedFacets:
    """The facets that the corpus declares, and the values of them that a question names."""

    declared: Mapping[str, Facet] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By facet; one that the question does not name is absent."""

    @property
    def is_named(self) -> bool:
        return bool(self.values)

    def of(self, facet: str) -> tuple[str, ...]:
        """Return the values of a facet that the question names."""
        return self.values.get(facet, ())


@dataclass(frozen=True, slots=True)
class NamedSources:
    """The studies that a question names, and the names that match none."""

    studies: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """As written in the question."""
    names: tuple[str, ...] = ()
    """Of the studies found, as written."""
    rest: str = ""
    """The question without the names."""

    @property
    def is_named(self) -> bool:
        return bool(self.studies or self.unknown)


@dataclass(frozen=True, slots=True)
class UnitForm:
    """The unit that a written form stands for."""

    unit: str
    base: str
    """The base unit of its dimension; empty where it is converted to none."""
    factor: float
    """How many of the base unit it is."""


NO_UNITS: Mapping[str, UnitForm] = {}


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed question; no later stage reads the question's text for meaning."""

    text: str
    """The question, normalised, with misspelt words corrected."""
    ask: str
    """The sentences that ask, without the story around them; equal to `text` where all of it asks."""
    focus: str
    """The ask without a heading before it, which names the subject; equal to `ask` where there is none."""
    language: str
    """ISO 639-1 code; "en" where nothing says otherwise."""
    intent: Intent
    keywords: str
    """Content words of `text`, in order, with spaces between; empty where it has none."""
    terms: tuple[str, ...]
    """Stems of the content words of `text`, in order, without repeats."""
    concepts: tuple[Concept, ...] = ()
    """Concepts that the question names and a published study is about."""
    unstudied: tuple[Concept, ...] = ()
    """Concepts that the question names and no published study is about."""
    intervention: tuple[str, ...] = ()
    """Concept ids, by slot, studied or not; a concept fills one slot only."""
    comparator: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    condition: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    """Concept ids of the groups of people that it names."""
    facets: AskedFacets = field(default_factory=AskedFacets)
    numbers: tuple[str, ...] = ()
    """Digits with a point, each with its unit as written: "1.6 g/kg"."""
    units: Mapping[str, UnitForm] = field(default_factory=dict)
    """Units that the corpus declares, by each folded form."""
    years: tuple[str, ...] = ()
    """Calendar years that it asks about: "in 2014"."""
    sources: NamedSources = field(default_factory=NamedSources)
    sections: tuple[Section, ...] = ()
    """Sections that the question aims at."""
    collection: str | None = None
    """Slug of the collection that keywords and concepts point at."""
    corrections: tuple[tuple[str, str], ...] = ()
    """Words as typed, and the word of the corpus in their place."""
    is_comparison: bool = False
    """Whether it sets two things against each other."""
    term: Concept | None = None
    """The concept whose meaning is all that it asks for; it has a definition."""
    aspect: Aspect | None = None
    request: Request | None = None
    is_addressed: bool = False
    """Whether it speaks to the owner of the site, whose name stands in `text`."""
    linked: tuple[Concept, ...] = ()
    """Neighbouring concepts that a second pass searched for."""

    @property
    def formulations(self) -> tuple[str, ...]:
        """Return the texts to compare by meaning: the ask, its content words, and the ask with its concepts' names."""
        names = " ".join(concept.name for concept in (*self.concepts, *self.unstudied))
        return (self.ask, self.keywords or self.ask, f"{self.ask} {names}".strip())

    @property
    def also_searched(self) -> tuple[str, ...]:
        """Return the words searched for in addition to the reader's own: corrections and neighbouring concepts."""
        return tuple(dict.fromkeys((*(meant for _, meant in self.corrections), *(c.name for c in self.linked))))
