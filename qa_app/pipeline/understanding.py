"""Describe a Query as stored answers and clients see it."""

from __future__ import annotations

from collections.abc import Mapping

from corpus_app.records import Concept
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.records import NamedSource, Understanding

MOST_RELATED = 6


def understanding_of(query: Query, linked: tuple[Concept, ...] = ()) -> Understanding:
    """Return the Query as the stored record, whose keys are older than some of its names.

    `linked` are neighbouring concepts that were searched for, too.
    """
    by_id = {concept.concept_id: concept for concept in query.concepts}

    def named(ids: tuple[str, ...]) -> tuple[Concept, ...]:
        return tuple(by_id[concept_id] for concept_id in ids if concept_id in by_id)

    return Understanding(
        intents=(query.intent.value,),
        target_sections=query.sections,
        concepts=query.concepts,
        collection=query.collection,
        terms=query.terms,
        core=query.ask if query.ask != query.text else "",
        asks_for_figures=query.intent is Intent.HOW_MANY,
        corrections=query.corrections,
        population=query.population,
        numbers=query.numbers,
        unstudied=query.unstudied,
        linked=linked,
        ask=query.ask,
        intent=query.intent.value,
        intervention=named(query.intervention),
        comparator=named(query.comparator),
        outcome=named(query.outcome),
        language=query.language,
        sources=tuple(NamedSource(author=name) for name in query.sources.names),
    )


def related_concepts(query: Query, by_id: Mapping[str, Concept]) -> tuple[Concept, ...]:
    """Return studied concepts one hop from those that the question names, at most `MOST_RELATED`."""
    named = {concept.concept_id for concept in query.concepts}
    near = dict.fromkeys(n for concept in query.concepts for n in concept.neighbours if n in by_id and n not in named)
    return tuple(by_id[n] for n in near)[:MOST_RELATED]
