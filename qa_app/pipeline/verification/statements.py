"""Compare a claim with a sentence: does the sentence say the same, the opposite, or neither?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app.records import Concept
from qa_app.pipeline.concepts import ConceptIndex, slot_of
from qa_app.pipeline.records import LeftOutReason
from qa_app.pipeline.text import WORD, content_stems, stem, stem_set, words
from qa_app.pipeline.verification import alignment, scope, support
from qa_app.pipeline.verification.effect import (
    Change,
    Effect,
    Outcomes,
    read_effects,
)
from qa_app.pipeline.verification.lexicon import (
    ATTRIBUTES,
    COMPARATIVES,
    COMPARING,
    FALLING,
    HEDGES,
    LEVEL,
    MAKING,
    NEGATIONS,
    OBLIGING,
    QUANTIFIERS,
    RISING,
    SIGNIFICANCE,
    Kind,
)
from qa_app.pipeline.verification.people import is_group, people_of
from qa_app.pipeline.verification.qualities import QUALITIES, Quality, qualities_of
from qa_app.pipeline.verification.reading import Token, read
from qa_app.pipeline.verification.relation import Relation, is_on_quality, relate

NEARNESS = 0.6
"""Share of a claim's words, weighted by rarity, that a sentence must have with its context."""
OWN_NEARNESS = 0.4
"""The share that it must have by itself."""
PLAIN_NEARNESS = 0.85
"""The share where the claim asserts no change, so that the words alone decide."""
CONTEXT_DISCOUNT = 0.1
"""Lost where words are found in the context only."""
CONCEPT_RARITY = 2.0
"""Added to the rarity of a concept among studies, to compare it with that of a word among sentences."""
_BOUNDS = frozenset("<>≤≥")  # any of many figures fits these
_MARK = "xqx"  # no word of a text begins with it
_FREE = (
    RISING
    | FALLING
    | LEVEL
    | QUANTIFIERS
    | SIGNIFICANCE
    | frozenset(stem(word) for word in (*NEGATIONS, *HEDGES, *OBLIGING))
)
_EQUAL = re.compile(
    r"\bas (much|many|well|good|great|large|strong|effective|often|high|low|big|fast)\b([^,.;]{0,80}?)\bas\b"
)
_UNEQUAL = re.compile(rf"\b(?:not|never)\b([^,.;]{{0,30}}?){_EQUAL.pattern}")
_NON = re.compile(r"\b[Nn]on-(?=\w)")


VERBATIM_FROM = 0.8
"""Share of a claim's tokens, in order, from which a sentence holds it word for word."""
_PARAPHRASING = frozenset({LeftOutReason.UNSUPPORTED, LeftOutReason.DIRECTION_MISMATCH})
"""Differences that other words for the same make, too."""


class Stance(StrEnum):
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence, read for comparison."""

    tokens: tuple[Token, ...]
    verbatim: tuple[Token, ...]
    """The same before concepts were marked."""
    effects: tuple[Effect, ...]
    stems: frozenset[str]
    """Content stems without figures and without words that say how something changes; marks of concepts among them."""
    spelling: Mapping[str, frozenset[str]]
    """Stems of the words by which it names each concept, by mark."""
    words: frozenset[str]
    """Stems of all its words, as they are written."""
    obliges: bool = False
    """Whether it says what ought to be done, which no result proves or refutes."""
    advises: bool = False
    """Whether it advises for or against something."""

    @property
    def concepts(self) -> frozenset[str]:
        """Return the marks of the concepts that it names."""
        return frozenset(s for s in self.stems if s.startswith(_MARK))

    @property
    def changes(self) -> tuple[Effect, ...] | None:
        """Return the effects that assert a change; None where none does."""
        return tuple(e for e in self.effects if e.change is not Change.NONE) or None

    @property
    def opening(self) -> frozenset[str]:
        """Return the stems before the change that it asserts, but for its people; empty where none does."""
        people = {stem(token.word) for token in self.tokens if token.kind is Kind.POPULATION}
        return frozenset(s for e in self.changes or () for s in e.opening & self.stems) - people

    @property
    def people(self) -> frozenset[str]:
        """Return the words for groups of people, singular."""
        return people_of(self.tokens)


Found = tuple[Stance, LeftOutReason | None, Effect | None]
"""A stance, why it contradicts, and the clause that decides; no clause where the whole sentence does."""


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """The stance of one sentence on a claim."""

    stance: Stance
    nearness: float
    """Share of the claim's words that the sentence has with its context, 0 to 1."""
    reason: LeftOutReason | None = None
    """Why it contradicts."""
    is_on_same_people: bool = True
    """Whether the clause that decides names all people that the claim names."""
    other_people: frozenset[str] = frozenset()
    """Other people that it names, where it does not name all of the claim's."""


@dataclass(frozen=True, slots=True)
class StatementReader:
    """Reads sentences so that every name of a concept of the corpus counts as the same word."""

    concepts: ConceptIndex
    outcomes: Outcomes
    """Marks of concepts that are outcomes or measures, with the qualities that their names judge."""
    interventions: frozenset[str]
    """Marks of concepts that are done, given or set."""
    rarity: Mapping[str, float]
    """Rarity among studies by mark."""

    @classmethod
    def build(cls, concepts: ConceptIndex) -> StatementReader:
        """Build the reader for the concepts of a corpus."""
        marks = {_stem_of(concept): concept for concept in concepts.by_id.values()}
        return cls(
            concepts=concepts,
            outcomes={
                mark: qualities_of(WORD.findall(concept.name))
                for mark, concept in marks.items()
                if slot_of(concept) == "outcome"
            },
            interventions=frozenset(mark for mark, concept in marks.items() if slot_of(concept) == "intervention"),
            rarity={mark: concept.rarity + CONCEPT_RARITY for mark, concept in marks.items()},
        )

    def read(self, text: str) -> ReadSentence:
        """Read a sentence."""
        marked = self._marked(text)
        tokens = read(marked)
        stems = frozenset(s for s in content_stems(marked) if not s.isdigit()) - _FREE
        plain = words(text)
        return ReadSentence(
            tokens=tokens,
            verbatim=read(text),
            effects=read_effects(tokens, self.outcomes),
            stems=stems,
            spelling={_stem_of(m.concept): stem_set(text[m.start : m.end]) for m in self.concepts.find(text)},
            words=stem_set(text),
            obliges=scope.obliges(plain),
            advises=scope.advises(plain),
        )

    def words(self, text: str) -> frozenset[str]:
        """Return the stems of a text that may stand around a sentence, such as its passage."""
        return frozenset(content_stems(self._marked(text)))

    def compare(
        self,
        claim: ReadSentence,
        source: ReadSentence,
        context: frozenset[str] = frozenset(),
        *,
        least: float = NEARNESS,
        is_near: bool = False,
    ) -> ClaimComparison | None:
        """Return the stance of a sentence on a claim; None where it is about something else or says neither.

        `context` holds the stems of what stands around the sentence, `least` replaces NEARNESS. With `is_near` the
        sentence is known to be on the same matter, whatever its words.
        """
        if scope.states_nothing(source.tokens) or not (source.advises if claim.obliges else not source.obliges):
            return None
        own = self._share(claim, source.stems)
        nearness = max(own, self._share(claim, source.stems | context) - CONTEXT_DISCOUNT)
        outcomes = claim.concepts & self.outcomes.keys()
        is_on_outcome = outcomes <= source.stems
        if not is_near and (own < min(OWN_NEARNESS, least) or nearness < least or not is_on_outcome):
            return None
        if not (is_on_outcome or source.concepts.isdisjoint(self.outcomes)):
            return None  # it is on another outcome
        if not self._is_on_intervention(claim, source, context):
            return None
        found = _quoted(claim, source, _stance(claim, source, frozenset(outcomes)))
        if found is None:
            return None
        stance, reason, effect = found
        is_plain = (claim.changes is None or claim.obliges) and reason is not LeftOutReason.NUMBER_MISMATCH
        if is_plain and (nearness < PLAIN_NEARNESS or own < NEARNESS):
            return None
        people = effect.people if effect else source.people
        others = frozenset[str]() if claim.people <= people else people - claim.people
        return ClaimComparison(stance, nearness, reason, claim.people <= people, others)

    def _is_on_intervention(self, claim: ReadSentence, source: ReadSentence, context: frozenset[str]) -> bool:
        """Tell whether what a claim says is done is what the sentence is on: not a broader thing, nor one of several.

        A sentence that names nothing that is done is on what its context names.
        """
        if (
            scope.has_other_conditions(claim.tokens, source.tokens)
            or not claim.concepts - self.interventions <= source.stems | context
        ):
            return False
        named = claim.concepts & self.interventions
        fixed = scope.controlled(source.tokens, named) - scope.controlled(claim.tokens, named)
        spelt = {mark for mark in named if claim.spelling[mark] <= source.words}
        others = (source.concepts & self.interventions) - claim.concepts
        others -= scope.controlled(source.tokens, others)
        if others:
            fixed |= scope.in_setting(source.tokens, named) - scope.in_setting(claim.tokens, named)
        given = (source.stems | spelt) - fixed
        doers = named or claim.opening
        if not doers:
            return claim.obliges or not (others or fixed)
        if doers.isdisjoint(given):
            return doers <= context and not (others or fixed or claim.obliges)
        is_named = named <= (given if claim.obliges else given | context)
        most = max((self.rarity.get(mark, 0.0) for mark in doers), default=0.0)
        special = frozenset(mark for mark in others if self.rarity[mark] > most)
        return is_named and not scope.is_combined(source.tokens, doers, others, special)

    def _share(self, claim: ReadSentence, stems: frozenset[str]) -> float:
        weights = {s: self.rarity.get(s) or support.FITTED.rarity(s) for s in claim.stems}
        return sum(weight for s, weight in weights.items() if s in stems) / (sum(weights.values()) or 1.0)

    def _marked(self, text: str) -> str:
        """Return the text with a mark in place of each name of a concept; words that compare or deny stay."""
        text = _UNEQUAL.sub(r"\1less\3 than", text)  # "does not hold as much water as"
        text = _EQUAL.sub(r"same \1\2 than", text)
        parts, at = [], 0
        for mention in self.concepts.find(text):
            words = WORD.findall(text[mention.start : mention.end])
            if slot_of(mention.concept) == "people" or all(stem(word) in _FREE for word in words):
                continue
            if _names_loss(words) and not _names_loss(WORD.findall(mention.concept.name)):
                continue  # "water loss" is no plain name of water content
            kept = ["increase"] if words[0].lower() in MAKING else []  # "build roots" says that they rise
            kept += [word for word in words if word.lower() in NEGATIONS or _is_judgement(word, mention.concept)]
            if words[0].lower().startswith("non") and not mention.concept.name.lower().startswith("non"):
                kept = [*(word for word in kept if word.lower() != "non"), "non-"]
            parts += [text[at : mention.start], " ".join([*kept, _mark_of(mention.concept)]).replace("- ", "-")]
            at = mention.end
        return _NON.sub("non", "".join([*parts, text[at:]]))


def _mark_of(concept: Concept) -> str:
    return _MARK + "".join(filter(str.isalnum, concept.concept_id))


def _stem_of(concept: Concept) -> str:
    return stem(_mark_of(concept))


def _names_loss(words: Sequence[str]) -> bool:
    return any(stem(w) in FALLING and w.lower() not in ATTRIBUTES | COMPARATIVES for w in words)


def _is_judgement(word: str, concept: Concept) -> bool:
    """Tell whether a name compares or judges more than the concept's own: "stronger" of strength."""
    own = set(map(stem, WORD.findall(concept.name)))
    judges = stem(word) in QUALITIES and stem(word) in RISING | FALLING and word.lower() not in ATTRIBUTES
    return (judges or word.lower() in COMPARATIVES) and stem(word) not in own


def _stance(claim: ReadSentence, source: ReadSentence, outcomes: frozenset[str]) -> Found | None:
    missing, are_replaced = _missing_figures(claim, source)
    if claim.obliges:
        own, found = scope.advice(claim.tokens, claim.stems), scope.advice(source.tokens, claim.stems)
        if own is None or found is None:
            return None
        if own is not found:
            return Stance.CONTRADICTS, LeftOutReason.NEGATION_MISMATCH, None
        return _by_figures(missing, are_replaced, None)
    if claim.changes is None:
        if not _denies_shared(claim, source):
            return None
        if _is_denied(claim) != _is_denied(source):
            return Stance.CONTRADICTS, LeftOutReason.NEGATION_MISMATCH, None
        return _by_figures(missing, are_replaced, None)
    if len(claim.changes) != 1 or claim.changes[0].change is Change.UNCLEAR:
        return None
    (effect,) = claim.changes
    on_outcome = [e for e in source.effects if _is_on_matter(effect, e, outcomes) and is_on_quality(effect, e)]
    most = max((len(effect.stems & e.stems) for e in on_outcome), default=0)
    nearest = [e for e in on_outcome if len(effect.stems & e.stems) == most]
    relations = {relate(effect, e) for e in nearest}
    if relations == {Relation.OPPOSES}:
        is_denied = Change.NO_RISE in {effect.change, nearest[0].change}
        reason = LeftOutReason.NEGATION_MISMATCH if is_denied else LeftOutReason.DIRECTION_MISMATCH
        return Stance.CONTRADICTS, reason, nearest[0]
    return _by_figures(missing, are_replaced, nearest[0]) if relations == {Relation.AGREES} else None


def _is_denied(sentence: ReadSentence) -> bool:
    """Tell whether a sentence denies something, whatever the side lacks that it compares with."""
    end = next((n for n, token in enumerate(sentence.tokens) if token.word in COMPARING), None)
    return support.is_negated(sentence.tokens[:end])


def _denies_shared(claim: ReadSentence, source: ReadSentence) -> bool:
    """Tell whether what either of two sentences denies is a matter of both, and not of a clause on the side."""
    if any(token.opens and token.word in NEGATIONS for token in source.tokens):
        return False  # "those who do not" are some of many
    return (not _is_denied(claim) or scope.denies_any(claim.tokens, source.stems)) and (
        not _is_denied(source) or scope.denies_any(source.tokens, claim.stems)
    )


def _is_on_matter(claim: Effect, source: Effect, outcomes: frozenset[str]) -> bool:
    """Tell whether a clause is on what changes by the claim: its outcomes, the quality it judges, or half its words."""
    if outcomes:
        return outcomes <= source.stems
    if claim.qualities - {Quality.VALUE}:
        return True
    return not claim.matter or 2 * len(claim.matter & source.stems) >= len(claim.matter)


def _quoted(claim: ReadSentence, source: ReadSentence, found: Found | None) -> Found | None:
    """Return the stance of a sentence that nearly holds a claim word for word: there each word that differs counts.

    A quotation must not change a figure, a denial or a group, nor any word where nearly all is quoted.
    """
    quoted = alignment.fit(claim.verbatim, source.verbatim)
    if not quoted.is_near:
        return found
    if quoted.reason is None:
        lacks = {word for effect in source.effects for word in effect.lacking} - claim.stems
        return found or (None if lacks else (Stance.SUPPORTS, None, None))  # "without water, …" is a condition
    is_verbatim = quoted.coverage >= VERBATIM_FROM
    if (found and found[0] is Stance.CONTRADICTS) or (not is_verbatim and quoted.reason in _PARAPHRASING):
        return found
    if not is_verbatim and {token.word for token in source.verbatim}.issuperset(quoted.words):
        return found  # it says the same in another order
    if quoted.reason is LeftOutReason.POPULATION_MISMATCH and not claim.people <= source.people:
        both = (*claim.verbatim, *source.verbatim)
        people = {token.word for token in both if is_group(token) or token.kind is Kind.PLACE}  # "in women"
        return found if people.issuperset(quoted.words) else None
    is_denied = quoted.reason is LeftOutReason.NEGATION_MISMATCH
    has_others = quoted.reason is LeftOutReason.NUMBER_MISMATCH and _missing_figures(claim, source)[1]
    is_reversed = is_verbatim and (is_denied or has_others)
    return (Stance.CONTRADICTS, quoted.reason, None) if is_reversed and found is None else None


def _by_figures(missing: bool, are_replaced: bool, effect: Effect | None) -> Found | None:
    """Return the stance of a sentence that agrees but for figures: others of the same unit contradict."""
    if are_replaced:
        return Stance.CONTRADICTS, LeftOutReason.NUMBER_MISMATCH, effect
    return None if missing else (Stance.SUPPORTS, None, effect)


def _missing_figures(claim: ReadSentence, source: ReadSentence) -> tuple[bool, bool]:
    """Return whether figures of the claim are missing, and whether the source has others with each of their units."""
    known = _figures(source.tokens) | _figures(source.verbatim)
    numbers, units = {number for number, _ in known}, {unit for _, unit in known}
    missing = [f for f in _figures(claim.tokens) if f not in known and (f[1] or f[0] not in numbers)]
    is_exact = not any(token.key in _BOUNDS for token in claim.tokens)
    are_others = all(unit and unit in units and number not in numbers for number, unit in missing)
    return bool(missing), bool(missing) and is_exact and are_others


def _figures(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Return the numbers with their units; an empty unit where there is none."""
    followers = (*tokens[1:], None)
    return frozenset(
        (token.key, follows.key if follows and follows.kind is Kind.UNIT else "")
        for token, follows in zip(tokens, followers, strict=False)
        if token.kind is Kind.NUMBER
    )
