"""Parse a question into a Query: the only reader of its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus_app.records import Collection, Reference
from qa_app.pipeline.concepts import ConceptIndex, Mention
from qa_app.pipeline.lexicon import placed_words
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.ask import find_ask, find_focus
from qa_app.pipeline.question.comparison import find_comparators
from qa_app.pipeline.question.intent import read_intent
from qa_app.pipeline.question.language import ENGLISH, guess_language
from qa_app.pipeline.question.numbers import find_numbers
from qa_app.pipeline.question.people import PeopleIndex, population_of, spell_signs
from qa_app.pipeline.question.sections import find_collection, find_sections
from qa_app.pipeline.question.sources import SourceIndex, find_sources
from qa_app.pipeline.question.spelling import find_corrections
from qa_app.pipeline.text import clean, content_stems, content_words, corrected


def parse(
    text: str,
    *,
    concepts: ConceptIndex,
    vocabulary: Mapping[str, int],
    is_word: Callable[[str], bool],
    collections: Sequence[Collection] = (),
    references: Sequence[Reference] | SourceIndex = (),
    people: PeopleIndex,
) -> Query:
    """Read everything that later stages know of a question from its text."""
    text = clean(text)
    sources = find_sources(text, references)
    words = [word.text for word in placed_words(text)]
    language = guess_language(words, lambda word: word in vocabulary or word in concepts.words or is_word(word))
    is_english = language == ENGLISH
    corrections = (
        find_corrections(sources.rest, concepts=concepts, vocabulary=vocabulary, is_word=is_word) if is_english else ()
    )
    text, rest = corrected(text, corrections), corrected(sources.rest, corrections)
    spelt = spell_signs(rest)
    placed = placed_words(spelt)
    words = [word.text for word in placed]
    groups = people.find(spelt)
    ages = [(group.start, group.end) for group in groups if group.is_age]
    mentions = [m for m in concepts.find(spelt) if not any(start < m.start < end for start, end in ages)]
    named = tuple({mention.concept.concept_id: mention.concept for mention in mentions}.values())
    comparators, is_comparison = find_comparators(placed, mentions)
    slots = _fill_slots(mentions, comparators)
    ask = find_ask(text)
    return Query(
        text=text,
        ask=ask,
        focus=find_focus(ask),
        language=language,
        intent=read_intent(ask),
        keywords=" ".join(content_words(text)),
        terms=content_stems(rest),
        concepts=tuple(concept for concept in named if concept.is_studied),
        unstudied=tuple(concept for concept in named if not concept.is_studied),
        intervention=slots["intervention"],
        comparator=slots["comparator"],
        outcome=slots["outcome"],
        condition=slots["condition"],
        people=slots["people"],
        population=population_of(groups),
        numbers=find_numbers(spelt, besides=[*ages, *((m.start, m.end) for m in mentions)]),
        sources=sources,
        sections=find_sections(words),
        collection=find_collection(words, [c for c in named if c.is_studied], collections),
        corrections=corrections,
        is_comparison=is_comparison,
    )


def _fill_slots(mentions: Sequence[Mention], comparators: Sequence[Mention]) -> dict[str, tuple[str, ...]]:
    """Return concept ids by slot; what is compared with is no intervention unless it is named as one, too."""
    slots: dict[str, list[str]] = {
        name: [] for name in ("intervention", "comparator", "outcome", "condition", "people", "")
    }
    for mention in mentions:
        if mention not in comparators:
            slots[mention.slot].append(mention.concept.concept_id)
    for mention in comparators:
        if mention.concept.concept_id not in slots["intervention"]:
            slots["comparator"].append(mention.concept.concept_id)
    return {name: tuple(dict.fromkeys(ids)) for name, ids in slots.items()}
