"""Example questions for the Ask page: those of the site that its corpus covers, then ones built from its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from corpus_app import search
from corpus_app.records import Concept
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.text import content_words, words

SHOWN = 6
SINGULAR_ENDINGS = ("ss", "is", "us")  # stress, sepsis, thrombus: nouns that take "does"


def shown() -> tuple[str, ...]:
    """Return at most SHOWN questions that the corpus covers."""
    return search.once_per_version(_read) if search.corpus_version() else ()


def question_about(concept: Concept) -> str:
    """Return a question that fits a concept of any kind."""
    return f"What is known about {concept.name}?"


def topics() -> tuple[Concept, ...]:
    """Return the concepts that readers may see."""
    public = search.topic_ids()
    return tuple(concept for concept in search.concepts() if concept.concept_id in public)


def _read() -> tuple[str, ...]:
    known = topics()
    curated = _covered_questions(search.site().examples, known)
    made = (*_questions_from_findings(known), *_questions_from_concepts(known))
    return tuple(dict.fromkeys((*curated, *made)))[:SHOWN]


def _covered_questions(questions: Sequence[str], known: Sequence[Concept]) -> Iterator[str]:
    """Yield the questions that name a topic and whose content words all occur in the corpus."""
    index = ConceptIndex.build(known)
    for question in questions:
        if search.has_words(" ".join(content_words(question))) and index.find(question):
            yield question


def _questions_from_findings(known: Sequence[Concept]) -> Iterator[str]:
    """Yield a question for each intervention and outcome, the most studied pairs first; no concept occurs twice."""
    index = ConceptIndex.build(known)
    pairs: Counter[tuple[str, str]] = Counter()
    for intervention, outcome, studies in search.most_compared():
        given, measured = (_only_concept(text, index) for text in (intervention, outcome))
        if given and measured and given != measured:
            pairs[given.name, measured.name] += studies
    used: set[str] = set()
    for (intervention, outcome), _ in sorted(pairs.items(), key=lambda row: (-row[1], row[0])):
        if used.isdisjoint((intervention, outcome)) and _is_singular(intervention):
            used |= {intervention, outcome}  # each concept once, for variety
            yield f"What does {intervention} do for {outcome}?"


def _only_concept(text: str, index: ConceptIndex) -> Concept | None:
    """Return the concept that this text names, if it is the whole text."""
    mentions = index.find(text)
    if len(mentions) != 1:
        return None
    named = mentions[0].concept
    spelt = (words(name) for name in (named.name, *named.aliases))
    return named if words(text) in spelt else None


def _is_singular(name: str) -> bool:
    return not name.endswith("s") or name.endswith(SINGULAR_ENDINGS)


def _questions_from_concepts(known: Sequence[Concept]) -> Iterator[str]:
    by_id = {concept.concept_id: concept for concept in known}
    return (question_about(by_id[concept_id]) for concept_id in search.most_studied(SHOWN) if concept_id in by_id)
