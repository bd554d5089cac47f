"""Example questions for the Ask page: those of the site that its corpus covers, then ones built from its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from corpus_app import search
from corpus_app.records import Concept, Notice, Study
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


def citable_studies() -> tuple[Study, ...]:
    """Return the studies that are published and not retracted."""
    return tuple(study for _, study in search.published_studies() if study.notice is not Notice.RETRACTED)


def _read() -> tuple[str, ...]:
    known, studies = topics(), citable_studies()
    curated = _covered_questions(search.site().examples, known)
    made = (*_questions_from_findings(known, studies), *_questions_from_concepts(known, studies))
    return tuple(dict.fromkeys((*curated, *made)))[:SHOWN]


def _covered_questions(questions: Sequence[str], known: Sequence[Concept]) -> Iterator[str]:
    """Yield the questions that name a topic and whose content words all occur in the corpus."""
    index = ConceptIndex.build(known)
    for question in questions:
        if search.has_words(" ".join(content_words(question))) and index.find(question):
            yield question


def _questions_from_findings(known: Sequence[Concept], studies: Sequence[Study]) -> Iterator[str]:
    """Yield a question for each intervention and outcome, the most studied pairs first; no concept occurs twice."""
    index = ConceptIndex.build(known)
    pairs: Counter[tuple[str, str]] = Counter()
    found = search.findings([study.study_id for study in studies])
    for pair in {(f.study_id, f.intervention, f.outcome) for f in found}:
        given, measured = (_only_concept(text, index) for text in pair[1:])
        if given and measured and given != measured:
            pairs[given.name, measured.name] += 1
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


def _questions_from_concepts(known: Sequence[Concept], studies: Sequence[Study]) -> Iterator[str]:
    carried = Counter(concept for study in studies for concept in study.concepts)
    for concept in sorted(known, key=lambda concept: (-carried[concept.concept_id], concept.concept_id)):
        if carried[concept.concept_id]:
            yield question_about(concept)
