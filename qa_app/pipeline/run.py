"""Answer a question: the order of work, top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from corpus_app.records import Concept
from qa_app.pipeline import claims, endings, evidence, timeline, writing
from qa_app.pipeline.claims import CheckedClaim
from qa_app.pipeline.clock import Clock, Span, no_span
from qa_app.pipeline.concepts import name_stems
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Corpus, CorpusFacts, LegFailed, Limit, Progress, Reranker, Unwatched, Writer
from qa_app.pipeline.query import Query, Request
from qa_app.pipeline.question import about_corpus, safety
from qa_app.pipeline.question.follow_up import asks_of_years, names_nothing
from qa_app.pipeline.question.parse import parse
from qa_app.pipeline.question.safety_model import SafetyClassifier
from qa_app.pipeline.question.sources import SourceIndex, read_cues
from qa_app.pipeline.records import Candidate, Declined, Ending, InsufficientEvidence, Question, Refused, Scope
from qa_app.pipeline.retrieval import Models, Retrieved, retrieve_scoped
from qa_app.pipeline.text import stem_set
from qa_app.pipeline.verification.assertions import assertion
from qa_app.pipeline.verification.statements import StatementReader


@dataclass(frozen=True, slots=True)
class Searched:
    """The ranked passages of a question, without an answer."""

    query: Query
    retrieved: Retrieved
    ranked: tuple[Candidate, ...]
    scope: Scope
    related: tuple[Concept, ...]


class Engine:
    """The answering engine with everything that does not change from question to question."""

    def __init__(
        self, models: Models, classifier: SafetyClassifier | None, policy: Policy, *, span: Span = no_span
    ) -> None:
        self.models, self.classifier, self.policy, self.span = models, classifier, policy, span

    def answer(
        self,
        question: Question,
        *,
        corpus: Corpus,
        writers: Sequence[Writer],
        today: date,
        reviewed: Callable[[Declined], Declined] = lambda declined: declined,
        progress: Progress | None = None,
        limit: Limit | None = None,
        reranker: Reranker | None = None,
    ) -> Ending:
        """Return the answer, or an honest refusal. Raises Abandoned, OutOfTime and DatabaseError."""
        progress = progress or Unwatched()
        clock = Clock(progress=progress, limit=limit, span=self.span)
        with corpus.snapshot():
            with clock("understand"):
                facts = corpus.facts()
                sources = named_sources(question.searched, corpus)
                query = parse_question(question.searched, corpus, facts, sources)
            ending = endings.EndingBuilder(question, query, facts, self.policy, clock)
            with clock("scope"):
                declined = self._declined(question, corpus, facts)
                rows = None if declined else _read_about_corpus(question, corpus, facts, sources, today)
            if declined is not None:
                return ending.guardrail(reviewed(declined))
            if rows is not None:
                return ending.about_corpus(rows)
            if query.sources.unknown and not query.sources.studies:
                return ending.unknown_source()
            if question.filters.narrows:
                corpus = corpus.among(question.filters)
            retrieved, ending.scope = retrieve_scoped(
                query, corpus, facts, self.models, self.policy, clock, question.collection
            )
            query = ending.query = replace(query, linked=retrieved.linked)
            if names_nothing(query) and question.understood_as is None:
                return ending.names_nothing(retrieved, corpus)
            if query.request is Request.TIMELINE:
                query, retrieved = timeline.rank_by_events(query, retrieved, corpus)
                ending.query = query
            is_dated = asks_of_years(query) or query.request is Request.TIMELINE  # the sentences themselves decide
            if not retrieved.ranked or not (retrieved.is_scaled or is_dated or _may_answer(query, retrieved, corpus)):
                return self._refuse(query, retrieved, ending, corpus)
            with clock("rerank" if reranker else "rank"):
                gathered = evidence.gather(question, query, facts, retrieved, corpus, self.policy, reranker)
            if gathered is None:
                return ending.insufficient(retrieved, corpus)
            retrieved = self.models.grounded(retrieved, gathered.grounds)
            is_estimated = gathered.grounds and not is_dated
            is_enough = gathered.absent is None
            if is_estimated:
                is_enough = retrieved.is_answerable or (is_enough and _may_answer(query, retrieved, corpus))
            if not is_enough and gathered.absent is not None:
                return ending.insufficient(retrieved, corpus, gathered.absent)
            if not is_enough:
                return self._refuse(query, retrieved, ending, corpus)
        headline = evidence.headline(query, facts, gathered)
        progress.evidence(gathered.evidence.passages, query)
        progress.headline(headline, {1: gathered.leading_study})
        try:
            written = writing.write(writers, gathered.evidence, self.policy, clock)
        except InsufficientEvidence as nothing:
            return ending.nothing_written(retrieved, nothing.attempts, gathered.evidence.passages)
        return ending.answered(gathered, written, headline, retrieved, self.models.version)

    def search(
        self, question: Question, *, corpus: Corpus, clock: Clock, reranker: Reranker | None = None
    ) -> Searched | Declined:
        """Return the ranked passages of a question, or its fixed reply. Raises OutOfTime and DatabaseError."""
        with corpus.snapshot():
            facts = corpus.facts()
            with clock("scope"):
                declined = self._declined(question, corpus, facts)
            if declined is not None:
                return declined
            with clock("understand"):
                query = parse_question(question.searched, corpus, facts)
            retrieved, scope = retrieve_scoped(
                query, corpus, facts, self.models, self.policy, clock, question.collection
            )
            with clock("rerank" if reranker else "rank"):
                ranked = evidence.rank_all(question, query, facts, retrieved, corpus, self.policy, reranker)
        query = replace(query, linked=retrieved.linked)
        return Searched(query, retrieved, ranked, scope, endings.related_concepts(query, facts))

    def check_claim(self, claim: Question, *, corpus: Corpus, clock: Clock) -> CheckedClaim | Declined:
        """Return the verdict on a claim, or its fixed reply. Raises OutOfTime and DatabaseError."""
        with corpus.snapshot():
            facts = corpus.facts()
            with clock("scope"):
                declined = self._declined(claim, corpus, facts)
            if declined is not None:
                return declined
            with clock("understand"):
                query = parse_question(assertion(claim.searched), corpus, facts)
            retrieved, _ = retrieve_scoped(query, corpus, facts, self.models, self.policy, clock, claim.collection)
            with clock("verify"):
                reader = StatementReader.build(facts.concept_index)
                return claims.check_claim(query, retrieved, corpus, self.policy, reader)

    def _declined(self, question: Question, corpus: Corpus, facts: CorpusFacts) -> Declined | None:
        vector = None
        if self.classifier is not None:
            try:
                (vector,) = corpus.encode((question.searched,))
            except LegFailed:
                vector = None
        return safety.check(question.searched, vector, facts.safety, self.classifier)

    def _refuse(self, query: Query, retrieved: Retrieved, ending: endings.EndingBuilder, corpus: Corpus) -> Refused:
        """Refuse a question that the corpus does not answer: as one of its subjects, or as none of them."""
        is_named = bool(query.concepts or query.unstudied)
        is_near = is_named or retrieved.signals["best_passage_cosine"] >= self.policy.in_scope_from
        is_near = is_near or ending.question.filters.narrows  # some of the studies cannot tell what all are about
        return ending.insufficient(retrieved, corpus) if is_near else ending.out_of_scope(retrieved, corpus)


def _may_answer(query: Query, retrieved: Retrieved, corpus: Corpus) -> bool:
    """Tell whether the corpus is likely to answer; studies that the question names are asked whatever the chance."""
    is_named = bool(query.sources.studies and retrieved.ranked) or _names_topic(query, retrieved, corpus)
    return retrieved.is_answerable or is_named


def _names_topic(query: Query, retrieved: Retrieved, corpus: Corpus) -> bool:
    """Return whether the subject is no more than the title or a concept of the leading study: "about the old mill".

    Where curators wrote which questions a study answers, these say more than its title.
    """
    if not query.terms or not retrieved.ranked:
        return False
    study_id, _ = retrieved.ranked[0]
    if retrieved.by_id[study_id].is_curated:
        return False
    study = corpus.studies([study_id])[study_id]
    own = [name for c in query.concepts if c.concept_id in study.concepts for name in name_stems(c)]
    return stem_set(study.title).union(*own).issuperset(query.terms)


def named_sources(text: str, corpus: Corpus) -> SourceIndex:
    """Return an index of the sources that a normalised question may name."""
    return SourceIndex.build(corpus.named_studies(read_cues(text)))


def parse_question(text: str, corpus: Corpus, facts: CorpusFacts, sources: SourceIndex | None = None) -> Query:
    """Parse a normalised question with what the corpus knows; `sources` are looked up where they are not given."""
    return parse(
        text,
        concepts=facts.concept_index,
        word_counts=corpus.word_counts,
        is_word=corpus.is_word,
        collections=facts.collections,
        references=sources or named_sources(text, corpus),
        facets=facts.facets,
        site=facts.site,
        units=facts.units,
    )


def _read_about_corpus(
    question: Question, corpus: Corpus, facts: CorpusFacts, sources: SourceIndex, today: date
) -> about_corpus.CorpusAnswer | about_corpus.CorpusQuestionUnread | None:
    if not about_corpus.may_be_about_corpus(question.searched, facts.corpus_words):
        return None
    return about_corpus.read(
        question.searched,
        holdings=corpus.holdings(question.collection),
        journals=facts.journals,
        concepts=facts.concepts,
        collections=facts.collections,
        facets=facts.facets,
        changed_at=facts.changed_at,
        today=today,
        corpus_words=facts.corpus_words,
        sources=sources,
    )
