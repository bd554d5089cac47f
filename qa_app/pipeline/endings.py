"""Build the outcome of a question: an answer, counts of the corpus, a fixed reply, or a refusal."""

from __future__ import annotations

from typing import Any

from corpus_app.records import Concept
from qa_app.pipeline import citations, confidence, related
from qa_app.pipeline.answer_type import AnswerType, ExpectedAnswer
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.concepts import neighbours
from qa_app.pipeline.coverage import missing_parts, worth_naming
from qa_app.pipeline.evidence import Gathered
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Corpus, CorpusFacts
from qa_app.pipeline.query import Query
from qa_app.pipeline.question import safety
from qa_app.pipeline.question.about_corpus import CorpusAnswer, CorpusQuestionUnread
from qa_app.pipeline.question.wording import ENGLISH
from qa_app.pipeline.records import (
    Answered,
    Attempt,
    Candidate,
    Citation,
    Counted,
    Declined,
    Generator,
    Headline,
    Mode,
    NearQuestion,
    Outcome,
    Question,
    Refused,
    Scope,
    SearchRun,
)
from qa_app.pipeline.reporting import report_count, report_refusal
from qa_app.pipeline.retrieval import Retrieved, fuse, hits_by_id
from qa_app.pipeline.writer import EXTRACTIVE
from qa_app.pipeline.writing import Written, not_found_twice, with_costs

COUNTED = Generator(name="counted", version="2")
SHOWN = 5  # nearest passages of a refusal
LEAST_CHANCE = 0.05
"""Least chance to answer of a study that counts as a candidate; a judgement."""
NOT_ANSWERED = (
    "The studies here do not answer this question. Below are the closest passages, but they are not "
    "an answer. Try a related question, or put it in other words."
)
NOTHING_LEFT = "No study that fits these filters answers this question."
NEAREST_SHOWN = "Below are the closest passages, but they are not an answer."
NOTHING_FOUND = "A language model read the passages of the studies twice and found no answer to this question in them."
NOT_OUR_SUBJECT = "This question is outside what the studies here cover, so there is no answer."
NOTHING_NAMED = (
    "This question does not say what it is about. Please name it and ask again. Below are the "
    "closest passages, but they are not an answer."
)
NO_SUCH_SOURCE = "There is no study here by that name: {}."
UNREAD = (
    "This seems to ask about the collection of studies itself, but not in a way that this site understands. "
    "Try, for example: {}"
)
NOT_SAID = {
    AnswerType.MONEY: "No passage found here gives an amount of money for “{}”.",
    AnswerType.COUNT: "No passage found here says how many “{}”.",
    AnswerType.DATE: "No passage found here says when: “{}”.",
    AnswerType.DURATION: "No passage found here says how long: “{}”.",
    AnswerType.PERSON: "No passage found here says who: “{}”.",
    AnswerType.PLACE: "No passage found here says where: “{}”.",
    AnswerType.QUANTITY: "No passage found here gives a figure for “{}”.",
    AnswerType.NAME: "No passage found here says which “{}”.",
    AnswerType.EVENT: "No passage found here speaks of the year {}.",
}
PART_LEFT_OPEN = "The quoted passages may leave a part of the question open."
NOT_IN_ENGLISH = (
    "This site understands questions in English only, the language of its studies. So this says nothing about what the "
    "studies hold. Please ask again in English."
)
BY_WORDS_ALONE = "Right now the site can search only by words, not by meaning. Asking again later may find more."

MOST_RELATED = 6  # topics offered with an answer


class EndingBuilder:
    """Builds how a question ends, and reports a refusal or a count to whoever watches."""

    def __init__(self, question: Question, query: Query, facts: CorpusFacts, policy: Policy, clock: Clock) -> None:
        self.question, self.query, self.facts, self.policy, self.clock = question, query, facts, policy, clock
        self.scope = Scope.GLOBAL

    def guardrail(self, declined: Declined) -> Refused:
        """Return the fixed reply of a route."""
        return self._refuse(declined.outcome, declined.message, declined=declined)

    def unknown_source(self) -> Refused:
        """Refuse a question that names a source the corpus does not have."""
        return self._refuse(Outcome.INSUFFICIENT_EVIDENCE, NO_SUCH_SOURCE.format(", ".join(self.query.sources.unknown)))

    def about_corpus(self, read: CorpusAnswer | CorpusQuestionUnread) -> Counted | Refused:
        """Answer a question about the corpus from its rows, or refuse one that the grammar cannot parse."""
        if isinstance(read, CorpusQuestionUnread):
            return self._refuse(Outcome.INSUFFICIENT_EVIDENCE, UNREAD.format(" ".join(f"“{e}”" for e in read.examples)))
        counted = Counted(
            summary=read.sentences if read.lines else read.sentences[:1],
            answer=read.lines or read.sentences[1:],
            citations=tuple(Citation(index, study) for index, study in enumerate(read.studies, start=1)),
            overview=read.overview,
            **self._context(COUNTED, None),
        )
        report_count(counted, self.clock.progress)
        return counted

    def insufficient(self, retrieved: Retrieved, corpus: Corpus, expected: ExpectedAnswer | None = None) -> Refused:
        """Refuse a question that no study answers, with the nearest passages and near questions that are answered.

        `expected` is an answer that no passage holds.
        """
        nearest = self._nearest(retrieved, corpus)
        parts = [*self._not_answered(nearest)]
        missing = self._missing(nearest, retrieved) if self._is_english else ()
        if expected is not None:
            parts.append(NOT_SAID[expected.type].format(expected.subject))
            missing = tuple(dict.fromkeys((expected.subject, *missing)))
        absent = self._absent(nearest) if self._is_english else ()
        if absent:
            parts.append(f"None of the closest passages mentions {', '.join(f'“{word}”' for word in absent)}.")
        if retrieved.vector is None:
            parts.append(BY_WORDS_ALONE)
        return self._refuse(
            Outcome.INSUFFICIENT_EVIDENCE,
            " ".join(parts),
            retrieved=retrieved,
            passages=nearest,
            missing=missing,
        )

    def out_of_scope(self, retrieved: Retrieved, corpus: Corpus) -> Refused:
        """Refuse a question outside the subject; one in another language is refused as not understood."""
        if not self._is_english:
            return self.insufficient(retrieved, corpus)
        names = "; ".join(collection.name.lower() for collection in self.facts.collections)
        message = f"{NOT_OUR_SUBJECT} They are about: {names}." if names else NOT_OUR_SUBJECT
        missing = self._missing(self._nearest(retrieved, corpus), retrieved)
        return self._refuse(Outcome.OUT_OF_SCOPE, message, retrieved=retrieved, missing=missing)

    def names_nothing(self, retrieved: Retrieved, corpus: Corpus) -> Refused:
        """Refuse a question that names no subject; one in another language is refused as not understood."""
        if not self._is_english:
            return self.insufficient(retrieved, corpus)
        nearest = self._nearest(retrieved, corpus)
        return self._refuse(Outcome.INSUFFICIENT_EVIDENCE, NOTHING_NAMED, retrieved=retrieved, passages=nearest)

    def nothing_written(
        self, retrieved: Retrieved, attempts: tuple[Attempt, ...], passages: tuple[Candidate, ...]
    ) -> Refused:
        """Refuse a question for which no drafted sentence could be verified, or whose passages hold no answer.

        The passages, which have been reported, are shown as the nearest.
        """
        message = " ".join(self._not_answered(passages))
        if not_found_twice(attempts):
            message = f"{NOTHING_FOUND} {NEAREST_SHOWN}"
        return self._refuse(
            Outcome.INSUFFICIENT_EVIDENCE,
            message,
            retrieved=retrieved,
            attempts=attempts,
            passages=passages,
            is_reported=True,
        )

    def answered(
        self, gathered: Gathered, written: Written, headline: Headline, retrieved: Retrieved, version: str
    ) -> Answered | Refused:
        """Return the answer with its verified sentences; a refusal where none of them cites a study."""
        chosen = gathered.evidence
        numbers = citations.number_studies((*written.summary, *written.answer), chosen)
        if not numbers:
            return self.nothing_written(retrieved, written.attempts, chosen.passages)
        outcome, message = _outcome(gathered)
        return Answered(
            outcome=outcome,
            message=message,
            headline=headline,
            summary=attributed(citations.numbered(written.summary, numbers), chosen),
            answer=attributed(citations.numbered(written.answer, numbers), chosen),
            citations=citations.citations(numbers, chosen),
            confidence=confidence.assess(
                retrieved.lead, retrieved.signals, gathered.missing, version, self.policy, is_doubted=written.is_doubted
            ),
            strength=gathered.strength,
            evidence=chosen,
            left_out=(*chosen.left_out, *written.rejected),
            definitions=self._definitions((*written.summary, *written.answer)),
            near_questions=self._near_questions(retrieved),
            missing=worth_naming(gathered.missing),
            attempts=written.attempts,
            ranked=len(retrieved.ranked),
            **self._context(written.generator, retrieved),
        )

    # --- Parts --------------------------------------------------------------------------------------------------------

    @property
    def _is_english(self) -> bool:
        return self.query.language == ENGLISH

    def _not_answered(self, nearest: tuple[Candidate, ...]) -> tuple[str, ...]:
        if self._is_english and not self.question.filters.narrows:
            return (NOT_ANSWERED,)
        reason = NOTHING_LEFT if self._is_english else NOT_IN_ENGLISH
        return (reason, NEAREST_SHOWN) if nearest else (reason,)

    def _refuse(
        self, outcome: Outcome, message: str, *, retrieved: Retrieved | None = None, is_reported: bool = False,
        **parts: Any,
    ) -> Refused:  # fmt: skip
        near = self._near_questions(retrieved) if retrieved else ()
        context = self._context(with_costs(EXTRACTIVE, parts.get("attempts", ())), retrieved)
        refused = Refused(outcome=outcome, message=message, near_questions=near, **parts, **context)
        if not is_reported:
            report_refusal(refused, self.clock.progress)
        return refused

    def _context(self, generator: Generator, retrieved: Retrieved | None) -> dict[str, Any]:
        """Return the fields of EndingContext."""
        search = retrieved and SearchRun(
            found=retrieved.found,
            signals=retrieved.signals | {"answerable": retrieved.answerable},
            related=related_concepts(self.query, self.facts),
            linked=retrieved.linked_leg,
            candidates=tuple(study for study, chance in retrieved.ranked if chance >= LEAST_CHANCE),
        )
        return {
            "question": self.question,
            "query": self.query,
            "scope": self.scope,
            "policy": self.policy,
            "corpus_version": self.facts.version,
            "site_hash": self.facts.site_hash,
            "generator": generator,
            "search": search,
            "timings_ms": self.clock.spent,
        }

    def _nearest(self, retrieved: Retrieved, corpus: Corpus) -> tuple[Candidate, ...]:
        hits = hits_by_id(retrieved)
        fused = fuse(retrieved.found.hits, self.policy.lexical_weight)
        nearest = list(fused.items())[: min(SHOWN, self.policy.evidence_passages)]
        loaded = {passage.passage_id: passage for passage in corpus.load([pk for pk, _ in nearest])}
        return tuple(Candidate(loaded[pk], hits[pk], score, score) for pk, score in nearest if pk in loaded)

    def _missing(self, near: tuple[Candidate, ...], retrieved: Retrieved) -> tuple[str, ...]:
        """Return the parts of the question that none of the nearest passages mentions."""
        texts = [text for candidate in near for text in (candidate.passage.text, candidate.passage.study.title)]
        return missing_parts(self.query, texts, (), retrieved.idf, lambda _: True, self.policy)

    def _absent(self, near: tuple[Candidate, ...]) -> tuple[str, ...]:
        """Return, in the reader's words, the concepts that no study is about and no shown passage mentions."""
        index, text = self.facts.concept_index, self.query.text
        mentioned = {m.concept.concept_id for candidate in near for m in index.find(candidate.passage.text)}
        written = {m.concept.concept_id: text[m.start : m.end] for m in index.find(text)}
        absent = [c for c in self.query.unstudied if c.concept_id not in mentioned]
        return tuple(written.get(c.concept_id, c.name) for c in absent)

    def _near_questions(self, retrieved: Retrieved) -> tuple[NearQuestion, ...]:
        near = related.nearest(
            (question for score in retrieved.scores for question in score.near_questions),
            self.query.text,
            self.facts.concept_index,
            least=self.policy.near_from,
            is_askable=self._is_askable,
        )
        return tuple(NearQuestion(question.text, question.study_id) for question in near)

    def _is_askable(self, question: str) -> bool:
        """Tell whether a question gets an answer and no fixed reply."""
        return safety.check(question, None, self.facts.safety, None) is None

    def _definitions(self, sentences: tuple[object, ...]) -> tuple[Concept, ...]:
        """Return the term asked about, and those of the answer that a beginner did not use in the question."""
        term = (self.query.term,) if self.query.term else ()
        if self.question.mode is not Mode.BEGINNER:
            return term
        asked = {concept.concept_id for concept in (*self.query.concepts, *self.query.unstudied)}
        text = " ".join(getattr(sentence, "text", "") for sentence in sentences)
        found = {m.concept.concept_id: m.concept for m in self.facts.concept_index.find(text)}
        return (*term, *(c for pk, c in found.items() if c.definition and pk not in asked))


def related_concepts(query: Query, facts: CorpusFacts) -> tuple[Concept, ...]:
    """Return the first neighbours of the concepts that the question names."""
    return neighbours(query.concepts, facts.concept_index.by_id)[:MOST_RELATED]


def _in_words(missing: tuple[str, ...]) -> str:
    *others, last = missing
    names = f"{', '.join(others)} or {last}" if others else last
    return f"The quoted passages do not mention {names}. The answer covers the rest of the question."


def _outcome(gathered: Gathered) -> tuple[Outcome, str | None]:
    if gathered.is_conflicting:
        return Outcome.CONFLICTING, None
    if gathered.missing:
        named = worth_naming(gathered.missing)
        return Outcome.PARTIAL, _in_words(named) if named else PART_LEFT_OPEN
    return Outcome.ANSWERED, None
