"""Read which type of answer a question expects, and how well a sentence holds one for what is asked about.

Answer type detection as in question answering (Li and Roth 2002, COLING; Moldovan et al. 2000, ACL).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qa_app.pipeline.concepts import name_stems
from qa_app.pipeline.lexicon import SENTENCE_END, UNIT_OF, PhraseIndex, Span, language_table, value_of, words_of
from qa_app.pipeline.query import Query, Request
from qa_app.pipeline.question.numbers import find_years
from qa_app.pipeline.text import WORD, content_stems, folded, stem, stem_set


class AnswerType(StrEnum):
    """Types of answer that a sentence can be checked for, in the order in which a question is tried for them."""

    MONEY = "money"
    COUNT = "count"
    DATE = "date"
    DURATION = "duration"
    PERSON = "person"
    PLACE = "place"
    QUANTITY = "quantity"
    NAME = "name"
    EVENT = "event"
    """What a sentence says of the year that the question names, or of any year where it asks what happened when."""
    FREQUENCY = "frequency"
    AMOUNT = "amount"
    """A number with a unit, beside what is asked about."""


FIGURES = (AnswerType.FREQUENCY, AnswerType.AMOUNT, AnswerType.COUNT, AnswerType.DURATION)
"""What questions for advice ask for too: a sentence with such a figure leads, but may be missing."""
LEAST_SHARE: Mapping[AnswerType, float] = {
    AnswerType.MONEY: 0.5, AnswerType.COUNT: 0.5, AnswerType.DATE: 0.7, AnswerType.DURATION: 0.6,
    AnswerType.PERSON: 0.7, AnswerType.PLACE: 0.3, AnswerType.QUANTITY: 0.5, AnswerType.NAME: 0.15,
    AnswerType.EVENT: 0.5, AnswerType.FREQUENCY: 0.3, AnswerType.AMOUNT: 0.3,
}  # fmt: skip
"""Share of what is asked about, by rarity, that a sentence must name beside the answer, 0 to 1."""
NEAR = 4  # words from a number to the noun that it counts

_TABLE = language_table("answer_types")
_QUESTIONS = PhraseIndex.compile([_TABLE])
_SIGNS = PhraseIndex.compile([{"lists": _TABLE["signs"]}])
_SIGN_OF = {AnswerType.QUANTITY: "number", AnswerType.COUNT: "number"}
_MONEY_SIGN = re.compile(r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]")
_HEADS = re.compile(r"(?:^|; )[^:;]*(?:: |$)")
"""Heads of a row's cells, and its title."""
_CAPITAL = re.compile(r"(?<=[\w,;:)’'\"”] )[A-Z][\w’'-]+")
_UNITS = {written: unit for written, unit in UNIT_OF.items() if unit not in {"people", "studies"}}
"""Without those that stand for several kinds of things."""
_HAS_NOUN = frozenset({AnswerType.COUNT, AnswerType.NAME, AnswerType.AMOUNT})
_NAMED = frozenset({AnswerType.PERSON, AnswerType.PLACE})
_MAY_PRECEDE = frozenset({"the", "a", "an", "of"})
_Found = Mapping[str, Sequence[Span]]


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The answer that a question expects."""

    type: AnswerType
    subject: str
    """What is asked about: the noun or the words that carry the subject, as the reader wrote them."""
    head: str
    """Stem or unit that the sentence must have beside the answer; empty where no single noun is asked for."""
    weights: Mapping[str, float]
    """Rarity of each stem that says what is asked about."""
    asked: frozenset[str]
    """Stems of all words of the question."""
    concepts: tuple[tuple[frozenset[str], ...], ...]
    """Stems of the names of each concept that the question names."""
    units: Mapping[str, str]
    """The plain name of each way to write a unit, those of the corpus with them."""
    signs: frozenset[str] = frozenset()
    """Stems of words that only say which type is expected: a sentence with a sum answers "cost"."""


def read_expected(query: Query, idf: Mapping[str, float]) -> ExpectedAnswer | None:
    """Return the answer that a question expects, from the inverse document frequency of its stems.

    None where other words may answer it too: advice, comparisons, several questions, a subordinate clause.
    """
    if query.language != "en" or query.is_comparison:
        return None
    if query.request is not None:
        return _event(query, "", idf) if query.request is Request.TIMELINE else None
    words = words_of(query.ask)
    found = _QUESTIONS.find(words)
    for kind in (kind for kind in AnswerType if kind not in {AnswerType.FREQUENCY, AnswerType.AMOUNT}):
        for span in found.get(kind, ()):
            last = words.index(SENTENCE_END, span[1])
            is_general = any(span[0] <= start < last for start, _ in found.get("general", ()))
            if not is_general and not content_stems(" ".join((*words[: span[0]], *words[last:]))):
                return _expected(kind, words[:last], span, found, query, idf)
    return _event(query, query.years[0], idf) if len(query.years) == 1 and idf.get(query.years[0]) else None


def read_figure(query: Query, idf: Mapping[str, float]) -> ExpectedAnswer | None:
    """Return the figure that a question asks for, be it advice; None where it asks for none.

    A sentence may answer it without the figure, so that this says what leads, not what is missing.
    """
    if query.language != "en" or query.request is not None:
        return None
    words = words_of(query.ask)
    found = _QUESTIONS.find(words)
    asked = ((kind, span) for kind in FIGURES for span in found.get(kind, ()))
    figures = (
        _expected(kind, words[: words.index(SENTENCE_END, span[1])], span, found, query, idf) for kind, span in asked
    )
    return next(filter(None, figures), None)


def binding(expected: ExpectedAnswer, sentence: str, heading: str, *, is_row: bool = False) -> float:
    """Return the share of what is asked about that a sentence with such an answer names, 0 to 1; 0 without an answer.

    A concept may go by any of its names, and the heading of the passage counts for all but the noun. In a row of a
    table the number may stand in any cell, and heads of columns are no names.
    """
    own = stem_set(sentence)
    found = [frozenset().union(*names) for names in expected.concepts if any(name <= own for name in names)]
    named = frozenset[str]().union(*found)
    words = words_of(sentence)
    heads = frozenset({expected.head}).union(*(stems for stems in found if expected.head in stems))
    places = [place for place, unit in enumerate(_with_units(words, expected.units)) if unit in heads]
    if expected.head and not places:
        return 0.0
    present = own | named | stem_set(heading) | {expected.head}
    total = sum(expected.weights.values())
    share = sum(w for stem, w in expected.weights.items() if stem in present) / total if total else 1.0
    is_held = share >= LEAST_SHARE[expected.type] and _holds(expected, sentence, words, places, is_row=is_row)
    return share if is_held else 0.0


def _expected(
    kind: AnswerType, words: Sequence[str], span: Span, found: _Found, query: Query, idf: Mapping[str, float]
) -> ExpectedAnswer | None:
    noun = _noun(words, span[1], found) if kind in _HAS_NOUN else ""
    if kind in _HAS_NOUN and not noun:
        return None
    charged = (*found.get("paid", ()), *found.get("price", ())) if kind is AnswerType.MONEY else ()
    signs = {word for start, end in charged for word in words[start:end]}
    clause = [w for w in words[span[1] if noun else span[0] :] if content_stems(w)]
    weighed = [word for word in clause if word not in signs]
    weights = {stem: idf.get(stem, 0.0) for stem in content_stems(" ".join(weighed))}
    if not sum(weights.values()):
        return None
    written = {folded(word).replace("'", ""): word for word in WORD.findall(query.ask)}
    units = _units_of(query)
    stands_for_any = bool(noun) and any(start == span[1] for start, _ in found.get("anything", ()))
    subject = [words[span[1]]] if stands_for_any else [noun] if noun else clause
    return ExpectedAnswer(
        type=kind,
        subject=" ".join(written.get(word, word) for word in subject),
        head="" if stands_for_any or not noun else units.get(noun, stem(noun)),
        weights=weights,
        asked=stem_set(query.text),
        concepts=tuple(name_stems(concept) for concept in (*query.concepts, *query.unstudied)),
        units=units,
        signs=frozenset(map(stem, signs)),
    )


def _units_of(query: Query) -> Mapping[str, str]:
    return {**_UNITS, **{form: declared.unit for form, declared in query.units.items()}} if query.units else _UNITS


def _event(query: Query, year: str, idf: Mapping[str, float]) -> ExpectedAnswer:
    """Return the expectation of a sentence about a year; about any where it is empty."""
    weights = {term: idf.get(term, 0.0) for term in query.terms}
    concepts = tuple(name_stems(concept) for concept in (*query.concepts, *query.unstudied))
    return ExpectedAnswer(AnswerType.EVENT, year, year, weights, stem_set(query.text), concepts, _UNITS)


def _noun(words: Sequence[str], start: int, found: _Found) -> str:
    """Return the noun that the words from here ask for; empty where there is none.

    A verb or "of" after the phrase shows where it ends, with its noun. Elsewhere a verb may be among the words, and
    only the first is sure to belong to the noun: "how many people work there".
    """
    boundaries = {place for place, _ in found.get("boundary", ())}
    verbs = {place for place, _ in found.get("verb", ())}
    phrase: list[str] = []
    for place in range(start, len(words)):
        if place in boundaries and not (words[place] in _MAY_PRECEDE and not phrase):
            is_whole = place in verbs or words[place] == "of"
            return "" if not phrase else phrase[-1] if is_whole else phrase[0]
        if content_stems(words[place]):
            phrase.append(words[place])
    return phrase[0] if phrase else ""


def _with_units(words: Sequence[str], units: Mapping[str, str]) -> list[str]:
    """Return the plain unit or the stem of each word; a single letter is a unit only after a number."""
    before = ("", *words)
    return [
        units[word] if word in units and (len(word) > 1 or before[n][:1].isdigit()) else stem(word)
        for n, word in enumerate(words)
    ]


def _holds(
    expected: ExpectedAnswer, sentence: str, words: Sequence[str], places: Sequence[int], *, is_row: bool
) -> bool:
    """Tell whether a sentence holds an answer of the type; a count stands beside the noun, which has these places."""
    sentence = _HEADS.sub("; ", sentence) if is_row else sentence
    kind = expected.type
    if kind is AnswerType.EVENT:
        return bool(expected.subject or find_years(sentence))
    if kind is AnswerType.NAME or (kind is AnswerType.MONEY and _MONEY_SIGN.search(sentence)):
        return True
    if kind in _NAMED and any(stem(name) not in expected.asked for name in _CAPITAL.findall(sentence)):
        return True
    if kind is AnswerType.AMOUNT:
        amounts = (
            n for n, word in enumerate(words[:-1]) if value_of(word) is not None and words[n + 1] in expected.units
        )
        return any(abs(place - n) <= NEAR for n in amounts for place in places)
    found = _SIGNS.find(words)
    signs = [start for start, _ in found.get(_SIGN_OF.get(kind, kind), ())]
    if kind is AnswerType.COUNT and expected.head and "total" not in found and not is_row:
        return any(0 < place - sign <= NEAR for place in places for sign in signs)
    return bool(signs)
