"""Parse a question into a Query: the only reader of its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from corpus_app.records import Collection, Concept, Reference
from qa_app.pipeline.concepts import ConceptIndex, Mention
from qa_app.pipeline.lexicon import SENTENCE_END, PhraseIndex, Word, placed_words
from qa_app.pipeline.query import NO_UNITS, Aspect, Intent, Query, UnitForm
from qa_app.pipeline.question import site_questions, wording
from qa_app.pipeline.question.facets import FacetIndex, spell_signs
from qa_app.pipeline.question.numbers import find_numbers, find_years
from qa_app.pipeline.question.site_questions import SiteIndex
from qa_app.pipeline.question.sources import SourceIndex, find_sources
from qa_app.pipeline.question.spelling import WordCounts, find_corrections, known_forms
from qa_app.pipeline.text import EMPTY_WORDS, clean, content_stems, content_words, corrected, stem

NEAR = 3  # words between a mark of comparison and what it sets against each other
_PHRASES = PhraseIndex.of_language("slots")
NO_OWNER = SiteIndex()


def parse(
    text: str,
    *,
    concepts: ConceptIndex,
    word_counts: WordCounts,
    is_word: Callable[[str], bool],
    collections: Sequence[Collection] = (),
    references: Sequence[Reference] | SourceIndex = (),
    facets: FacetIndex,
    site: SiteIndex = NO_OWNER,
    units: Mapping[str, UnitForm] = NO_UNITS,
) -> Query:
    """Read everything that later stages know of a question from its text."""
    text = clean(text)
    sources = find_sources(text, references)
    words = [word.text for word in placed_words(text)]
    vocabulary = word_counts({*words, *known_forms(text), *wording.REQUESTS})
    language = wording.guess_language(words, lambda w: w in vocabulary or w in concepts.words or is_word(w))
    corrections: tuple[tuple[str, str], ...] = ()
    if language == wording.ENGLISH:
        corrections = find_corrections(
            sources.rest, vocabulary=vocabulary, concepts=concepts, word_counts=word_counts, is_word=is_word
        )
    text, rest = corrected(text, corrections), corrected(sources.rest, corrections)
    spelt = spell_signs(rest)
    placed = placed_words(spelt)
    words = [word.text for word in placed]
    traits = facets.find(spelt)
    figures = [(trait.start, trait.end) for trait in traits if trait.is_number]
    mentions = [m for m in concepts.find(spelt) if not any(start < m.start < end for start, end in figures)]
    named = tuple({mention.concept.concept_id: mention.concept for mention in mentions}.values())
    comparators, is_comparison = find_comparators(placed, mentions)
    slots = _fill_slots(mentions, comparators)
    put = site_questions.read(text, site if language == wording.ENGLISH else NO_OWNER)
    text, ask = put.text, put.ask or wording.find_ask(put.text)
    subject = wording.without_requests(content_words(put.ask or text), vocabulary)
    aspect = wording.read_aspect(ask)
    terms = content_stems(" ".join(wording.without_requests(content_words(rest), vocabulary)))
    return Query(
        text=text,
        ask=ask,
        focus=wording.find_focus(ask),
        language=language,
        intent=Intent.HOW_MANY if aspect is Aspect.SIZE else wording.read_intent(ask),
        aspect=aspect,
        keywords=" ".join(subject),
        terms=tuple(term for term in wording.without_aspect(terms, aspect) if term not in put.idle),
        concepts=tuple(concept for concept in named if concept.is_studied),
        unstudied=tuple(concept for concept in named if not concept.is_studied),
        facets=facets.asked(traits),
        numbers=find_numbers(spelt, units, excluded=[*figures, *((m.start, m.end) for m in mentions)]),
        units=units,
        years=find_years(spelt),
        sources=replace(sources, studies=put.studies) if put.studies else sources,
        sections=wording.find_sections(words),
        collection=wording.find_collection(words, [c for c in named if c.is_studied], collections),
        corrections=corrections,
        is_comparison=is_comparison,
        term=_find_term(placed, mentions),
        request=put.request,
        is_addressed=put.is_addressed,
        intervention=slots["intervention"],
        comparator=slots["comparator"],
        outcome=slots["outcome"],
        condition=slots["condition"],
        people=slots["people"],
    )


def _find_term(words: Sequence[Word], mentions: Sequence[Mention]) -> Concept | None:
    """Return the defined concept whose meaning is all that the words ask for."""
    if len(mentions) != 1 or not mentions[0].concept.definition:
        return None
    around = [word.text for word in words if not _within([word], mentions)]
    return mentions[0].concept if wording.asks_meaning(around) else None


def _fill_slots(mentions: Sequence[Mention], comparators: Sequence[Mention]) -> dict[str, tuple[str, ...]]:
    """Return concept ids by slot; what is compared with is no intervention unless it is named as one, too."""
    slots: dict[str, dict[str, None]] = {
        name: {} for name in ("intervention", "comparator", "outcome", "condition", "people")
    }
    for mention in mentions:
        if mention.slot and mention not in comparators:
            slots[mention.slot][mention.concept.concept_id] = None
    for mention in comparators:
        if mention.concept.concept_id not in slots["intervention"]:
            slots["comparator"][mention.concept.concept_id] = None
    return {name: tuple(ids) for name, ids in slots.items()}


def find_comparators(words: Sequence[Word], mentions: Sequence[Mention]) -> tuple[tuple[Mention, ...], bool]:
    """Return the interventions that others are compared with, and whether the question compares at all."""
    marks = _PHRASES.find([word.text for word in words])
    tried = [mention for mention in mentions if mention.slot == "intervention"]
    against = marks.get("compare.against", ())
    found = {mention for _, end in against for mention in _within(_until_end(words[end : end + NEAR]), tried)}
    is_choice = False
    for start, end in marks.get("compare.or", ()):
        one, other = _until_end(words[max(0, start - NEAR) : start][::-1])[::-1], _until_end(words[end : end + NEAR])
        sides = _within(one, tried)[-1:], _within(other, tried)[:1]
        if all(sides) and sides[0][0].concept != sides[1][0].concept:
            found.add(sides[1][0])
        is_choice = is_choice or all(sides) or not _content(one).isdisjoint(_content(other))
    is_comparison = bool(found or is_choice or against or marks.get("compare.between"))
    return tuple(mention for mention in tried if mention in found), is_comparison


def _until_end(words: Sequence[Word]) -> list[Word]:
    return list(takewhile(lambda word: word.text != SENTENCE_END, words))


def _within(words: Sequence[Word], tried: Sequence[Mention]) -> list[Mention]:
    """Return the mentions that share code points with these words."""
    return [m for m in tried if words and m.start < words[-1].end and words[0].start < m.end]


def _content(words: Sequence[Word]) -> set[str]:
    return {stem(word.text) for word in words if word.text not in EMPTY_WORDS}
