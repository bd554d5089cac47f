"""Find the values of declared facets that a question names, by phrases, numbers with a unit, and ages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus_app.facets import YEARS_OF_AGE, Facet
from qa_app.pipeline.lexicon import (
    SENTENCE_END,
    UNIT_OF,
    PhraseIndex,
    Span,
    Word,
    language_table,
    placed_words,
    value_of,
)
from qa_app.pipeline.query import AskedFacets
from qa_app.pipeline.text import WORD, folded

IMPLIED = "implied"
OLDEST = 110  # years

_AGES = PhraseIndex.of_language("years_of_age")
_DECADES = {word: 20 + 10 * n for n, word in enumerate(language_table("years_of_age")["lists"]["decade"]["phrases"])}
_RANGE = re.compile(r"\s*(?:-|–|±|or|to)\s*\d[\d.,]*")
"""A second figure, whose unit is that of the first: "60 or 80 %", "70 ± 5 kg"."""
_PLUS = re.compile(r"(?<=\d) ?\+")
_BEYOND = re.compile(r"[>≥]=? ?(?=\d)")


@dataclass(frozen=True, slots=True)
class FacetMention:
    """A mention of values of a facet, and its place in the text: code points, `end` exclusive."""

    start: int
    end: int
    facet: str
    values: tuple[str, ...]
    is_number: bool = False
    """Whether it is an age in years, or a number with another unit of the facet."""
    is_implied: bool = False
    """Whether the words name something else that only such studies have ("pension")."""


@dataclass(frozen=True, slots=True)
class FacetIndex:
    """The facets that a corpus declares, with their phrases; build it once per corpus version."""

    facets: Mapping[str, Facet]
    phrases: PhraseIndex
    units: Mapping[str, re.Pattern[str]]
    """A number with the unit of a facet, by the facets whose unit is no age."""

    @classmethod
    def build(cls, facets: Mapping[str, Facet], lists: Mapping[str, Sequence[str]]) -> FacetIndex:
        """Compile the declared facets and the lists of phrases that they refer to. Raises LexiconError."""
        table: dict[str, dict[str, Sequence[str]]] = {name: {"phrases": rows} for name, rows in lists.items()}
        for key, facet in facets.items():
            for name, value in facet.values.items():
                table[f"{key}.{name}"] = {"phrases": value.phrases, "except": value.exceptions}
                table[f"{key}.{name}.{IMPLIED}"] = {"phrases": value.implied}
        units = {
            key: re.compile(rf"(\d+(?:[.,]\d+)?) ?{re.escape(facet.unit)}\b", re.IGNORECASE)
            for key, facet in facets.items()
            if facet.ranges and facet.unit != YEARS_OF_AGE
        }
        return cls(facets, PhraseIndex.compile([{"lists": table}]), units)

    def find(self, text: str) -> tuple[FacetMention, ...]:
        """Return the mentions of facets in a text whose signs are spelt, in order."""
        if not self.facets:
            return ()
        words = placed_words(text)
        texts = [word.text for word in words]
        found = []
        for name, spans in self.phrases.find(texts).items():
            key, *rest = name.split(".")
            if rest:
                implied = rest[1:] == [IMPLIED]
                found += [FacetMention(*_place(words, s), key, (rest[0],), is_implied=implied) for s in spans]
        for key, facet in self.facets.items():
            if facet.ranges and facet.unit == YEARS_OF_AGE:
                found += _ages(key, facet, text, words)
        for key, pattern in self.units.items():
            for match in pattern.finditer(text):
                if values := self.facets[key].of_number(value_of(match[1]) or 0):
                    found.append(FacetMention(*match.span(), key, values, is_number=True))
        return tuple(sorted(found, key=lambda mention: (mention.start, mention.end)))

    def asked(self, mentions: Iterable[FacetMention]) -> AskedFacets:
        """Return the values that the mentions name, each once, in the order of the declaration."""
        named = {(mention.facet, value) for mention in mentions for value in mention.values}
        values = {
            key: own
            for key, facet in self.facets.items()
            if (own := tuple(v for v in facet.values if (key, v) in named))
        }
        return AskedFacets(self.facets, values)


def _ages(key: str, facet: Facet, text: str, words: Sequence[Word]) -> Iterator[FacetMention]:
    texts = [word.text for word in words]
    for name, spans in _AGES.find(texts).items():
        kind = name.removeprefix("ages.")
        for first, end in spans if name.startswith("ages.") else ():
            if kind in {"bare", "under"} and _continues_number(text, words, end):
                continue
            years = [value - (kind == "under") for value in map(_years, texts[first:end]) if value is not None]
            values = tuple(dict.fromkeys(v for age in years if age <= OLDEST for v in facet.of_number(age)))
            if values:
                yield FacetMention(*_place(words, (first, end)), key, values, is_number=True)


def spell_signs(text: str) -> str:
    """Write the signs of "70+" and ">70" as words, which phrases can have."""
    return _BEYOND.sub(" over ", _PLUS.sub(" plus", text))


def _years(word: str) -> int | None:
    value = _DECADES.get(word) or value_of(word)
    return int(value) if value is not None and value == int(value) else None


def _continues_number(text: str, words: Sequence[Word], end: int) -> bool:
    """Tell whether a unit or another number follows at once, so that the number is no age."""
    after = words[end - 1].end
    if second := _RANGE.match(text, after):
        return _has_unit(text[second.end() :])
    is_adjacent = end < len(words) and words[end].start - after <= 1
    return _has_unit(text[after:]) or (is_adjacent and value_of(words[end].text) is not None)


def _has_unit(rest: str) -> bool:
    """Tell whether the text after a number begins with its unit."""
    word = WORD.match(rest.lstrip(" -"))
    return rest.lstrip().startswith(("%", "°")) or (word is not None and folded(word[0]) in UNIT_OF)


def _place(words: Sequence[Word], span: Span) -> Span:
    """Return the code points of a span of words, without the sentence ends at its edges."""
    inner = [word for word in words[span[0] : span[1]] if word.text != SENTENCE_END]
    return (inner[0].start, inner[-1].end) if inner else (0, 0)
