"""Find the people a question is about: the corpus's words for them, and ages as English states them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app.records import AgeGroup, Sex, TrainingStatus
from qa_app.pipeline.lexicon import (
    SENTENCE_END,
    UNIT_OF,
    PhraseIndex,
    Span,
    Table,
    Word,
    language_table,
    placed_words,
    value_of,
)
from qa_app.pipeline.query import Population
from qa_app.pipeline.text import WORD, folded

COLUMNS: Mapping[str, type[StrEnum]] = {"age_group": AgeGroup, "training_status": TrainingStatus, "sex": Sex}
"""Columns of a study's population. Lists of the subject's lexicon are named COLUMN.VALUE or COLUMN.VALUE.implied."""
IMPLIED = "implied"
OLDEST = 110  # years

_AGES = PhraseIndex.of_language("years_of_age")
_DECADES = {word: 20 + 10 * n for n, word in enumerate(language_table("years_of_age")["lists"]["decade"]["phrases"])}
_RANGE = re.compile(r"\s*(?:-|–|±|or|to)\s*\d[\d.,]*")
"""A second figure, whose unit is that of the first: "60 or 80 %", "70 ± 5 kg"."""
_PLUS = re.compile(r"(?<=\d) ?\+")
_BEYOND = re.compile(r"[>≥]=? ?(?=\d)")


@dataclass(frozen=True, slots=True)
class PeopleMention:
    """A mention of people, and its place in the text: code points, `end` exclusive."""

    start: int
    end: int
    column: str
    values: tuple[str, ...]
    is_age: bool = False
    """Whether it is an age in years."""
    is_implied: bool = False
    """Whether the words name something else that only such people have ("pension")."""


@dataclass(frozen=True, slots=True)
class PeopleIndex:
    """The subject's words for people; build it once per corpus version."""

    phrases: PhraseIndex
    ages: tuple[tuple[int, tuple[str, ...]], ...]
    """Age groups that count for somebody from this age on, the oldest first."""

    @classmethod
    def build(cls, table: Table) -> PeopleIndex:
        """Compile the corpus's list `people`; an empty list matches nothing. Raises LexiconError."""
        ages = sorted(((row["from"], tuple(row["groups"])) for row in table.get("ages", ())), reverse=True)
        return cls(PhraseIndex.compile([table]), tuple(ages))

    def find(self, text: str) -> tuple[PeopleMention, ...]:
        """Return the mentions of people in a text whose signs are spelt, in order."""
        words = placed_words(text)
        texts = [word.text for word in words]
        found = []
        for name, spans in self.phrases.find(texts).items():
            column, *rest = name.split(".")
            if column in COLUMNS:
                implied = rest[1:] == [IMPLIED]
                found += [PeopleMention(*_place(words, s), column, (rest[0],), is_implied=implied) for s in spans]
        if self.ages:
            found += self._ages(text, words)
        return tuple(sorted(found, key=lambda mention: (mention.start, mention.end)))

    def _ages(self, text: str, words: Sequence[Word]) -> Iterator[PeopleMention]:
        texts = [word.text for word in words]
        for name, spans in _AGES.find(texts).items():
            kind = name.removeprefix("ages.")
            for first, end in spans if name.startswith("ages.") else ():
                if kind in {"bare", "under"} and _continues_number(text, words, end):
                    continue
                years = [value - (kind == "under") for value in map(_years, texts[first:end]) if value is not None]
                groups = tuple(dict.fromkeys(group for age in years for group in self._groups(age)))
                if groups:
                    yield PeopleMention(*_place(words, (first, end)), "age_group", groups, is_age=True)

    def _groups(self, years: int) -> tuple[str, ...]:
        return next((groups for age, groups in self.ages if age <= years <= OLDEST), ())


def population_of(mentions: Iterable[PeopleMention]) -> Population:
    """Return the people that the mentions are about, each value once, in the order of the columns' values."""
    values = {(mention.column, value) for mention in mentions for value in mention.values}
    return Population(
        tuple(group for group in AgeGroup if ("age_group", group.value) in values),
        tuple(status for status in TrainingStatus if ("training_status", status.value) in values),
        tuple(sex for sex in Sex if ("sex", sex.value) in values),
    )


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
