"""Curated questions that pages offer a reader: of a study, about a topic, and while a question is typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpus_app import search
from corpus_app.records import CuratedQuestion
from qa_app.answers.corpus import SearchedCorpus
from qa_app.pipeline import related
from qa_app.pipeline.question import safety
from qa_app.pipeline.text import content_stems


def questions_of(study_id: str) -> Sequence[str]:
    """Return different questions that this study answers; none where answers may not use it."""
    return _choose(search.questions_of(study_id), most=related.MOST)


def questions_about(concept_id: str) -> Sequence[str]:
    """Return different questions that name this concept and that studies answer."""
    index = SearchedCorpus().facts().concept_index
    concept = index.by_id.get(concept_id)
    if concept is None:
        return ()
    found = search.questions_naming((concept.name, *concept.aliases))
    named = ((question, {mention.concept for mention in index.find(question.text)}) for question in found)
    naming = (replace(question, nearness=1 / len(own)) for question, own in named if concept in own)
    return _choose(naming, most=related.MOST)


def questions_typed(words: Sequence[str], prefix: str, *, most: int) -> Sequence[str]:
    """Return different questions with these words and one that begins with `prefix`, those with few others first."""
    number = len(words) + 1
    found = (
        replace(question, nearness=number / max(number, len(content_stems(question.text))))
        for question in search.questions_typed(words, prefix)
    )
    return _choose(found, most=most)


def _choose(questions: Iterable[CuratedQuestion], *, most: int) -> Sequence[str]:
    lexicon = SearchedCorpus().facts().safety
    chosen = related.diverse(
        questions, most=most, is_askable=lambda question: safety.check(question, None, lexicon, None) is None
    )
    return [question.text for question in chosen]
