"""Describe a Query as stored answers and clients see it."""

from __future__ import annotations

from corpus_app.records import Concept
from qa_app.engine.query import Intent, Query
from qa_app.pipeline.records import NamedSource, Understanding


def understanding_of(query: Query) -> Understanding:
    """Return the Query as the stored record, whose keys are older than some of its names."""
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
        subject=query.terms,
        asks_for_figures=query.intent is Intent.HOW_MANY,
        corrections=query.corrections,
        population=query.population,
        numbers=query.numbers,
        unstudied=query.unstudied,
        ask=query.ask,
        intent=query.intent.value,
        intervention=named(query.intervention),
        comparator=named(query.comparator),
        outcome=named(query.outcome),
        language=query.language,
        sources=tuple(NamedSource(author=name) for name in query.sources.names),
    )
