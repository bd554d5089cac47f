"""Read the filters of a question about the corpus: topic, author, year, journal, design, facets, notice, collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from corpus_app.facets import parameter_of
from corpus_app.records import Collection, Concept, Design
from qa_app.pipeline.lexicon import Span, Word, value_of, words_of
from qa_app.pipeline.question.facets import FacetMention
from qa_app.pipeline.study_filters import COLUMNS
from qa_app.pipeline.text import stem

DESIGN_GROUPS = {
    "reviews": tuple(design.value for design in Design if design.value.endswith(("review", "meta_analysis"))),
    "trials": tuple(design.value for design in Design if design.value.endswith("trial")),
}
MARKERS = ("item", "wish.", "place", "possession")
"""Prefixes of the lists whose words name no topic."""
FEW_YEARS = {"few": 5, "decade": 10}
SMALL_WORDS = frozenset({"of", "the", "and", "in", "for", "de", "del", "a"})
SHORTEST_ACRONYM = 3  # letters of a journal's initials

Found = Mapping[str, Sequence[Span]]
Names = Mapping[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """A concept that the question names, and the studied ones of its kind whose names have its words too."""

    concepts: tuple[Concept, ...]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(concept.concept_id for concept in self.concepts)


@dataclass(frozen=True, slots=True)
class Filters:
    """Traits that a study has to have; values of one column are alternatives, topics are all required."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By facet; none is empty."""
    journals: tuple[str, ...] = ()
    topics: tuple[TopicFilter, ...] = ()
    first_year: int | None = None
    last_year: int | None = None
    sources: tuple[str, ...] | None = None
    """Ids of the studies by the authors named; None where the question names none."""
    source_names: tuple[str, ...] = ()

    def apart(self) -> tuple[Filters, ...]:
        """Return each trait as filters of its own; nothing if there is only one."""
        parts = [
            *(Filters({facet: allowed}) for facet, allowed in self.values.items()),
            *(Filters(topics=(topic,)) for topic in self.topics),
            *([Filters(journals=self.journals)] if self.journals else []),
            *([Filters(sources=self.sources, source_names=self.source_names)] if self.sources else []),
        ]
        return tuple(parts) if len(parts) > 1 else ()

    @property
    def topic_ids(self) -> tuple[frozenset[str], ...]:
        return tuple(topic.ids for topic in self.topics)

    @property
    def facets(self) -> tuple[str, ...]:
        """Return the declared facets among the filters."""
        return tuple(name for name in self.values if name not in COLUMNS)

    @property
    def _ordered(self) -> tuple[str, ...]:
        """Return the filters in the order of the corpus page: notices last."""
        first = tuple(name for name in COLUMNS if name in self.values and name != "notice")
        return (*first, *self.facets, *(("notice",) if "notice" in self.values else ()))

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Return the filters as parameters of the corpus page, which searches journals and authors as words."""
        words = " ".join((*self.source_names, *self.journals))
        years = (("from", self.first_year), ("to", self.last_year))
        return (
            *((("q", words),) if words else ()),
            *((parameter_of(name), value) for name in self._ordered for value in self.values[name]),
            *(("topic", concept.concept_id) for topic in self.topics for concept in topic.concepts),
            *((name, str(year)) for name, year in years if year is not None),
        )


def read_filters(
    placed: Sequence[Word],
    found: Found,
    mentions: Sequence[FacetMention],
    *,
    journals: Names,
    concepts: Sequence[Concept],
    collections: Sequence[Collection],
    today: date,
) -> tuple[Filters, frozenset[int]]:
    """Return the filters the words name, and the positions of the words that were read for them."""
    words = [word.text for word in placed]
    taken: set[int] = set()
    named_journals = _match(words, taken, journals)
    named_collections = _match(words, taken, _collection_names(collections))
    values = _column_values(found, taken) | _facet_values(placed, mentions, taken)
    if named_collections:
        values["collection"] = _once(slug for slug, _ in named_collections)
    first, last = _years(words, found, taken, today)
    markers = [n for name in found if name.startswith(MARKERS) or name.endswith(".asks") for n in _places(found[name])]
    by_id = {concept.concept_id: concept for concept in concepts}
    topics = _match(words, taken, _concept_names(concepts), blocked=frozenset(markers), key=stem)
    filters = Filters(
        values=values,
        journals=_once(journal for journal, _ in named_journals),
        topics=tuple({i: _topic(by_id[i], name, concepts) for i, name in topics}.values()),
        first_year=first,
        last_year=last,
    )
    return filters, frozenset(taken)


def _places(spans: Iterable[Span]) -> Iterable[int]:
    return (n for span in spans for n in range(*span))


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _column_values(found: Found, taken: set[int]) -> dict[str, tuple[str, ...]]:
    """Return by facet the values whose lists occur, in order; of overlapping phrases the longest counts."""
    spans = [
        (span, name)
        for name in found
        if name in DESIGN_GROUPS or name.partition(".")[0] in COLUMNS
        for span in found[name]
    ]
    read = []
    for (start, end), name in sorted(spans, key=lambda pair: (pair[0][0] - pair[0][1], pair[0])):
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            facet, _, value = name.partition(".")
            read += (
                [(start, "design", v) for v in DESIGN_GROUPS[name]]
                if name in DESIGN_GROUPS
                else [(start, facet, value)]
            )
    read.sort(key=lambda row: row[0])
    return {facet: _once(v for _, f, v in read if f == facet) for facet in _once(f for _, f, _ in read)}


def _facet_values(
    placed: Sequence[Word], mentions: Sequence[FacetMention], taken: set[int]
) -> dict[str, tuple[str, ...]]:
    """Return the named values by facet; words of a journal or a design are ignored."""
    values: dict[str, tuple[str, ...]] = {}
    free = frozenset(range(len(placed))) - taken
    for mention in (mention for mention in mentions if not mention.is_implied):
        own = {n for n, word in enumerate(placed) if word.text.isalnum() and mention.start <= word.start < mention.end}
        if own <= free:
            taken |= own
            values[mention.facet] = _once((*values.get(mention.facet, ()), *mention.values))
    return dict(sorted(values.items()))


# --- Names from the rows ----------------------------------------------------------------------------------------------


def _match(
    words: Sequence[str],
    taken: set[int],
    names: Names,
    *,
    blocked: frozenset[int] = frozenset(),
    key: Callable[[str], str] = str,
) -> list[tuple[str, tuple[str, ...]]]:
    """Return what the words name and the words that do, the longest names first; mark the words as taken."""
    keyed = [key(word) for word in words]
    found = []
    for length in sorted({len(name) for name in names}, reverse=True):
        for start in range(len(words) - length + 1):
            own, name = range(start, start + length), tuple(keyed[start : start + length])
            if name in names and taken.isdisjoint(own) and blocked.isdisjoint(own):
                taken.update(own)
                found.append((start, names[name], name))
    return [(value, name) for _, value, name in sorted(found)]


def _plain(text: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(text) if word.isalnum())


def journal_names(journals: Iterable[str]) -> Names:
    """Return journals by name, with and without "and", and by initials; a single word only after "in" or "journal"."""
    names: dict[tuple[str, ...], str] = {}
    for journal in journals:
        words = _plain(journal)
        initials = "".join(word[0] for word in words if word not in SMALL_WORDS)
        forms = [("journal", *words), ("in", *words), words, tuple(word for word in words if word != "and")]
        names |= {form: journal for form in forms if len(form) > 1}
        names |= {(initials,): journal} if len(initials) >= SHORTEST_ACRONYM else {}
    return names


def _collection_names(collections: Sequence[Collection]) -> Names:
    named = [(words, c.slug) for c in collections for words in (_plain(c.name), _plain(c.slug))]
    return {(*words, noun): slug for words, slug in named for noun in ("collection", "section")}


def _concept_names(concepts: Sequence[Concept]) -> Names:
    """Return concepts by the stems of names, then of aliases; those that studies are about come first."""
    ordered = sorted(concepts, key=lambda concept: not concept.is_studied)
    pairs = [(c.name, c.concept_id) for c in ordered] + [(alias, c.concept_id) for c in ordered for alias in c.aliases]
    names: dict[tuple[str, ...], str] = {}
    for name, concept_id in pairs:
        names.setdefault(tuple(map(stem, _plain(name))), concept_id)
    names.pop((), None)
    return names


def _topic(concept: Concept, named: Sequence[str], concepts: Sequence[Concept]) -> TopicFilter:
    narrower = [
        other
        for other in concepts
        if other.kind == concept.kind and other.is_studied and other != concept
        if set(named) <= set(map(stem, _plain(other.name)))
    ]
    return TopicFilter((concept, *narrower))


# --- Years ------------------------------------------------------------------------------------------------------------


def _years(words: Sequence[str], found: Found, taken: set[int], today: date) -> tuple[int | None, int | None]:
    """Return the first and the last year asked for; None where it is open."""
    for start, end in found.get("year.last", ()):
        taken.update(range(start, end))
        return _recent_years(words[start:end], today)
    years = {n: int(word) for n, word in enumerate(words) if re.fullmatch(r"(?:19|20)\d\d", word)}
    taken.update(years)
    if not years:
        return None, None
    place, year = next(iter(years.items()))
    if len(years) > 1:
        joints = [span for name in ("between", "until") for span in found.get(f"year.{name}", ()) if span[1] in years]
        taken.update(n for span in joints for n in range(*span))
        return min(years.values()), max(years.values())
    bounds = {"since": (year, None), "after": (year + 1, None), "before": (None, year - 1), "until": (None, year)}
    for name, bound in bounds.items():
        for start, end in found.get(f"year.{name}", ()):
            if end == place:
                taken.update(range(start, end))
                return bound
    following = words[place + 1] if place + 1 < len(words) else ""
    last = {"s": year + 9, "onwards": None, "onward": None}.get(following, year)
    taken.update([place + 1] if last != year else [])
    return year, last


def _recent_years(phrase: Sequence[str], today: date) -> tuple[int, int | None]:
    """Return the years of "this year", "last year" or "the last five years", counting the present one."""
    if phrase[-1] == "year":
        year = today.year - (phrase[0] != "this")
        return year, year
    numbers = [int(number) for word in phrase if (number := value_of(word))]
    span = numbers[0] if numbers else next(n for word, n in FEW_YEARS.items() if word in phrase)
    return today.year - span + 1, None
