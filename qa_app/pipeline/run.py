"""The way of a question, top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from qa_app.pipeline import (
    agreement,
    citations,
    confidence,
    core,
    evidence,
    following,
    health,
    overview,
    parts,
    query,
    scope,
    unstudied,
    writing,
)
from qa_app.pipeline.alternatives import find_alternatives, widest
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.generation import EXTRACTIVE, ExtractiveWriter
from qa_app.pipeline.naming import find_name_spans, find_terms, names_of
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Corpus, Limit, Progress, Reranker, Unwatched, Writer
from qa_app.pipeline.records import (
    Answer,
    Attempt,
    Candidate,
    Citation,
    Collection,
    Concept,
    Declined,
    Evidence,
    Generator,
    InsufficientEvidence,
    LeftOut,
    LeftOutReason,
    Mode,
    Outcome,
    Question,
    Searched,
    Sentence,
    Signals,
    Understanding,
)
from qa_app.pipeline.retrieval import Clock, Search, find_evidence
from qa_app.pipeline.telling import tell_whole
from qa_app.pipeline.text import stem, stem_set, words
from qa_app.pipeline.writing import Drafted

NOTHING_FOUND = (
    "The studies kept here do not answer this question. Below are the nearest passages; they are not an answer. "
    "Try a related question, or ask it in other words."
)
NOT_SAID = (
    "This question says “{}” and does not name what is meant: please name it and ask again. "
    "Below are the nearest passages; they are not an answer."
)
NOTHING_NAMED = (
    "This question does not name what it is about: please name it and ask again. "
    "Below are the nearest passages; they are not an answer."
)
BY_WORDS_ALONE = "Only the words of the question could be searched for just now, not its meaning; asking again in a while may find more."
COUNTER = Generator(name="counted", version="1")
NOT_OUR_SUBJECT = "This question lies outside the studies kept here, so there is no answer to give."


@dataclass(frozen=True)
class Gathered:
    """A question with its frozen evidence: all that writing needs."""

    question: Question
    search: Search
    evidence: Evidence
    drafted: Drafted | None = None
    """What was written of it before it was decided to write."""


def answer_question(
    question: Question,
    *,
    corpus: Corpus,
    writer: Writer,
    policy: Policy,
    fallbacks: Sequence[Writer] = (),
    reviewed: Callable[[Declined], Declined] | None = None,
    reranker: Reranker | None = None,
    keep: Callable[[Evidence], None] | None = None,
    progress: Progress | None = None,
    limit: Limit | None = None,
) -> Answer:
    """The answer, or an honest no. Everything that is read of the corpus belongs to one version of it.

    The fallbacks write, in order, where the writer fails, or where not enough of its sentences can be verified.
    `reviewed` puts a curator's words in the place of the built-in ones of a fixed reply. `keep` is
    given the evidence of what is answered. `progress` is told what is certain as it becomes so. Raises
    Abandoned where it says that nobody waits any more, and OutOfTime where the limit is over before the answer is made.
    """
    # A draft that costs nothing but a moment, and that nobody watches, is made while what the decision hangs on is encoded.
    is_ahead = progress is None and not fallbacks and isinstance(writer, ExtractiveWriter)
    progress = progress or Unwatched()
    clock = Clock(progress=progress, limit=limit)
    counted = _counted(question, corpus, policy, clock)
    if counted is not None:
        tell_whole(counted, progress)
        return counted

    def draft(chosen: Evidence) -> Drafted:
        return writing.write_ahead((writer,), chosen, policy, clock)

    def gathered_of(asked: Question) -> Gathered | Answer:
        return gather(
            asked,
            corpus=corpus,
            policy=policy,
            clock=clock,
            reviewed=reviewed,
            reranker=reranker,
            draft=draft if is_ahead else None,
        )

    gathered, unanswered = gathered_of(question), ""
    if isinstance(gathered, Answer) and gathered.outcome is Outcome.INSUFFICIENT_EVIDENCE:
        clause, others = core.find_first_clause(question.searched) or ("", "")
        part = gathered_of(replace(question, text=clause, searched=clause)) if clause else gathered
        if isinstance(part, Gathered):
            gathered, unanswered = part, others
    if isinstance(gathered, Answer):
        tell_whole(gathered, progress)
        return gathered
    if keep:
        keep(gathered.evidence)
    progress.evidence(gathered.evidence.passages, gathered.evidence.understanding)
    try:
        written = _written(gathered, (writer, *fallbacks), policy, clock)
        return _of_a_part(written, question, unanswered, policy) if unanswered else written
    except InsufficientEvidence as nothing:
        return _refusal(question, Outcome.INSUFFICIENT_EVIDENCE, gathered.search, policy, clock, why=nothing)


def _of_a_part(answered: Answer, question: Question, unanswered: str, policy: Policy) -> Answer:
    """The answer to one of several questions that were asked in a row, with those that stay open."""
    message = " ".join(filter(None, (answered.message, parts.in_words([f"“{unanswered}”"]))))
    answered = replace(answered, question=question, message=message)
    if answered.outcome is not Outcome.ANSWERED:  # in part already, or good studies disagree, which says more
        return answered
    sure = confidence.of_a_part(answered.confidence, policy) if answered.confidence else None
    return replace(answered, outcome=Outcome.PARTIAL, confidence=sure)


def _counted(question: Question, corpus: Corpus, policy: Policy, clock: Clock) -> Answer | None:
    """A question about the corpus itself is answered from its rows; None for every other question."""
    if not overview.has_its_form(question.searched):
        return None
    with clock("scope"):
        if scope.check_scope(question.searched) is not None:
            return None
    with corpus.snapshot(), clock("understand"):
        concepts, collections = corpus.concepts(), corpus.collections()
        asked = overview.recognise(question.searched, concepts, collection=question.collection)
        if asked is None:
            return None
        found = overview.count(*asked, corpus.studies())
        version = corpus.version()
    if found is None:
        return None
    return Answer(
        question=question,
        outcome=Outcome.ANSWERED,
        message=None,
        understanding=query.understand(question, concepts=concepts, collections=collections),
        scope=Searched.COLLECTION if question.collection else Searched.GLOBAL,
        summary=found.summary,
        answer=found.answer,
        citations=tuple(Citation(index, study) for index, study in enumerate(found.named, start=1)),
        confidence=None,
        evidence=(),
        left_out=(),
        generator=COUNTER,
        policy=policy,
        corpus_version=version,
        related=asked[1].concepts,
        overview=found.overview,
        timings_ms=clock.spent,
    )


def gather(
    question: Question,
    *,
    corpus: Corpus,
    policy: Policy,
    clock: Clock,
    reviewed: Callable[[Declined], Declined] | None = None,
    reranker: Reranker | None = None,
    draft: Callable[[Evidence], Drafted] | None = None,
) -> Gathered | Answer:
    """What an answer is written from; or the refusal, where nothing is to be written.

    A `draft` is made where the decision has to wait; a refusal holds nothing of it but the time, in its total.
    """
    with clock("scope"):
        declined = scope.check_scope(question.searched)
    if declined is not None:
        reply = reviewed(declined) if reviewed else declined
        return _without(question, reply.outcome, reply.message, policy, clock, corpus.version(), declined=reply)
    search = find_evidence(question, corpus=corpus, policy=policy, clock=clock, reranker=reranker)
    chosen: Evidence | InsufficientEvidence
    try:  # before it is decided whether to write at all: what that hangs on is still being encoded
        chosen = _chosen(question, search, policy)
    except InsufficientEvidence as nothing:
        chosen = nothing
    unsaid = _unsaid(question, search)
    is_open = search.judged.waits and not unsaid
    drafted = draft(chosen) if draft and is_open and isinstance(chosen, Evidence) else None
    outcome = confidence.decide(search.signals, search.understanding, policy)
    if outcome.is_answer and unsaid:
        outcome = Outcome.INSUFFICIENT_EVIDENCE
    if not outcome.is_answer:
        return _refusal(question, outcome, search, policy, clock)
    if isinstance(chosen, InsufficientEvidence):
        return _refusal(question, Outcome.INSUFFICIENT_EVIDENCE, search, policy, clock, why=chosen)
    return Gathered(question, search, chosen, drafted)


def _chosen(question: Question, search: Search, policy: Policy) -> Evidence:
    """The evidence that an answer would be written from. Raises InsufficientEvidence."""
    compared = find_alternatives(question.searched, search.understanding, search.findings, names_of(search.concepts))
    citable = evidence.find_citable(
        search.ranked,
        understanding=search.understanding,
        policy=policy,
        concepts=search.concepts,
        findings=search.findings,
        near=search.near,
        asked=question.text,
        searched=question.searched,
        alternatives=compared.keys(),
    )
    chosen = evidence.select(
        (*search.ranked, *search.further),
        question=question,
        understanding=search.understanding,
        policy=policy,
        findings=search.findings,
        citable=citable,
    )
    if unspoken := parts.find_unspoken(question.searched, search.understanding, chosen, search.concepts):
        raise parts.Unjoined(unspoken)
    chosen = replace(
        chosen, left_out=(*search.left_out, *chosen.left_out), alternatives=widest(compared, citable.keys())
    )
    chosen = _with_agreement(chosen, search, policy)
    return replace(chosen, conditions=health.find_unasked(chosen.studies, question.searched, search.concepts))


def _with_agreement(chosen: Evidence, search: Search, policy: Policy) -> Evidence:
    """The evidence with where its studies stand; others that the search found on the same matter join it, as far as there is room."""
    stands = agreement.read(chosen, search.concepts)
    missed = agreement.uncounted(stands, chosen, search.findings, search.concepts)
    if missed and stands and agreement.is_led(stands, chosen):
        chosen = evidence.with_studies(chosen, search.ranked, missed, search.findings, policy)
        stands = agreement.read(chosen, search.concepts)
        missed = agreement.uncounted(stands, chosen, search.findings, search.concepts)
    missed = missed or agreement.untold(stands, chosen, (*search.ranked, *search.further))
    return replace(chosen, agreement=replace(stands, is_whole=not missed) if stands else None)


def _written(gathered: Gathered, writers: Sequence[Writer], policy: Policy, clock: Clock) -> Answer:
    question, search, chosen = gathered.question, gathered.search, gathered.evidence
    written = gathered.drafted() if gathered.drafted else writing.write(writers, chosen, policy, clock)
    summary, answer = written.summary, written.answer
    sentences = (*summary, *answer)
    numbers = citations.number_studies(sentences, chosen)
    if not numbers:
        raise writing.NothingWritten("No sentence of the draft could be verified.", written.attempts)
    told = [s.text for s in sentences]
    if not all(unstudied.is_named(s, told) for s in unstudied.find_alone(question.searched, search.understanding)):
        raise writing.NothingWritten(
            "Nothing is left of the question without what no study is about.", written.attempts
        )
    try:
        outcome, message = _outcome(question, chosen, sentences, numbers, search.concepts, policy)
    except parts.Unjoined as lost:
        raise parts.Unjoined(lost.names, written.attempts) from None
    assessed = confidence.assess(search.signals, sentences, policy)
    return Answer(
        question=question,
        outcome=outcome,
        message=message,
        understanding=search.understanding,
        scope=search.searched,
        summary=attributed(citations.numbered(summary, numbers), chosen),
        answer=attributed(citations.numbered(answer, numbers), chosen),
        citations=citations.citations(numbers, chosen),
        confidence=confidence.of_a_part(assessed, policy) if outcome is Outcome.PARTIAL else assessed,
        evidence=chosen.passages,
        left_out=(*chosen.left_out, *written.fallen),
        generator=written.generator,
        policy=policy,
        corpus_version=search.found.corpus_version,
        found=search.found,
        related=search.related,
        signals=search.signals,
        agreement=chosen.agreement,
        definitions=_definitions(question, search, sentences),
        attempts=written.attempts,
        linked=search.linked,
        ranked=len(search.ranked) + len(search.left_out),
        timings_ms=clock.spent,
    )


def _outcome(
    question: Question,
    chosen: Evidence,
    sentences: tuple[Sentence, ...],
    cited: dict[str, int],
    concepts: Sequence[Concept],
    policy: Policy,
) -> tuple[Outcome, str | None]:
    """How the question ends, now that it is answered, and which part of it stays open."""
    if agreement.is_conflicting(chosen.agreement, chosen, policy):
        return Outcome.CONFLICTING, None
    studies = [study for study in chosen.studies if study.study_id in cited]
    missing = parts.find_open(
        question.searched,
        chosen.understanding,
        sentences=sentences,
        studies=studies,
        findings=[finding for finding in chosen.findings if finding.study_id in cited],
        passages=[c.passage.text for c in chosen.passages if c.passage.study.study_id in cited],
        concepts=concepts,
    )
    if lost := parts.find_lost(question.searched, chosen.understanding, missing):
        raise parts.Unjoined(lost)
    if missing:
        return Outcome.PARTIAL, parts.in_words(missing)
    first = next((study_id for s in sentences if s.support for study_id in s.study_ids), None)
    for found_in in (studies, [study for study in studies if study.study_id == first]):
        is_all = found_in is studies
        if people := parts.find_only(question.text, chosen.understanding, found_in, is_all=is_all):
            return Outcome.PARTIAL, parts.only_in_words(people, is_all=is_all)
    return Outcome.ANSWERED, None


def _definitions(question: Question, search: Search, sentences: tuple[Sentence, ...]) -> tuple[Concept, ...]:
    """For a beginner, the terms of the answer that the question did not use."""
    if question.mode is not Mode.BEGINNER:
        return ()
    known = (*search.understanding.concepts, *search.understanding.unstudied)
    return find_terms([s.text for s in sentences], search.concepts, besides=known)


def _refusal(
    question: Question,
    outcome: Outcome,
    search: Search,
    policy: Policy,
    clock: Clock,
    why: InsufficientEvidence | None = None,
) -> Answer:
    """No sentence and no confidence; the nearest passages are shown as what they are."""
    attempts: tuple[Attempt, ...] = why.attempts if isinstance(why, writing.NothingWritten | parts.Unjoined) else ()
    unjoined = why.names if isinstance(why, parts.Unjoined) and _has_more(search.understanding, why.names) else ()
    nearest: tuple[Candidate, ...] = ()
    left_out = search.left_out
    if outcome is Outcome.INSUFFICIENT_EVIDENCE and search.ranked:
        lenient = replace(policy, bears_from=0, bears_share=0.0)
        shown = evidence.select(search.ranked, question=question, understanding=search.understanding, policy=lenient)
        nearest = shown.passages[:5]
        left_out += shown.left_out + tuple(
            LeftOut(
                "passage",
                LeftOutReason.BELOW_THRESHOLD,
                "only the five nearest are shown",
                c.passage.passage_id,
                study_id=c.passage.study.study_id,
            )
            for c in shown.passages[5:]
        )
    if outcome is Outcome.OUT_OF_SCOPE:
        message = _not_our_subject(search.collections)
    else:
        told = _unsaid(question, search) or NOTHING_FOUND
        missing = (
            _not_joined(unjoined)
            if unjoined
            else _not_mentioned(question, search.signals, search.understanding, _understood(question, search))
        )
        message = " ".join((told, *missing))
        if confidence.by_words_alone(search.signals, policy):
            message = f"{message} {BY_WORDS_ALONE}"
    version = search.found.corpus_version
    return _without(
        question,
        outcome,
        message,
        policy,
        clock,
        version,
        search=search,
        nearest=nearest,
        left_out=left_out,
        attempts=attempts,
    )


def _has_more(understanding: Understanding, names: Sequence[str]) -> bool:
    """Whether a question is about more than what these names name."""
    named = (stem_set(" ".join((c.name, *c.aliases))) for c in understanding.concepts if c.name in names)
    return not frozenset(understanding.subject) <= frozenset().union(*named, stem_set(" ".join(names)))


def _not_joined(names: Sequence[str], most: int = 3) -> Iterator[str]:
    yield f"No study was found that joins {_in_marks(names[:most])} with the rest of the question."


def _not_mentioned(
    question: Question,
    signals: Signals,
    understanding: Understanding | None = None,
    understood: frozenset[str] = frozenset(),
    most: int = 3,
) -> Iterator[str]:
    """Which of the question's words none of the nearest passages holds: what no study is about alone, where it names such a thing; else the
    rarest first, but for stems that were `understood`.
    """
    named = {stem(word) for name in signals.missing_names for word in words(name)}
    typed = {stem(word): word for word in reversed(words(question.searched)) if stem(word) not in named}
    names = {_plain(name): name for name in reversed(signals.missing_names)}
    unheard = set(signals.missing_terms)
    subjects = [
        subject.text
        for subject in (unstudied.find_subjects(question.searched, understanding) if understanding else ())
        if subject.is_asked_about and stem_set(subject.text) & (unheard | named)
    ]
    told = (typed[term] for term in signals.missing_terms if term in typed.keys() - understood)
    named_too = (subject for subject in subjects if _plain(subject) not in names)
    missing = [*reversed(names.values()), *(named_too if subjects else told)][:most]
    if missing:
        yield f"None of the nearest passages mentions {_in_marks(missing)}."


def _in_marks(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def _plain(name: str) -> str:
    return " ".join(words(name.replace("-", " "))).lower()


def _understood(question: Question, search: Search) -> frozenset[str]:
    """Stems of the words by which the question names what one of the nearest studies is about: it says so in others ("hypoxic")."""
    nearest = search.ranked[: confidence.POOL]
    about = {concept_id for candidate in nearest for concept_id in candidate.passage.study.concepts}
    spans = find_name_spans(question.searched, search.understanding.concepts)
    return frozenset().union(*(stem_set(question.searched[a:b]) for a, b, c in spans if c.concept_id in about))


def _not_our_subject(collections: tuple[Collection, ...]) -> str:
    names = "; ".join(collection.name.lower() for collection in collections)
    return f"{NOT_OUR_SUBJECT} They are about: {names}." if names else NOT_OUR_SUBJECT


def _unsaid(question: Question, search: Search) -> str:
    """That the question does not name what it is about, in words; empty where it follows another one or names it."""
    if question.understood_as is not None:
        return ""
    if pointer := following.points_at_nothing(question.searched, search.concepts):
        return NOT_SAID.format(pointer)
    return NOTHING_NAMED if following.names_nothing(question.searched, search.concepts) else ""


def _without(
    question: Question,
    outcome: Outcome,
    message: str,
    policy: Policy,
    clock: Clock,
    corpus_version: int,
    *,
    search: Search | None = None,
    nearest: tuple[Candidate, ...] = (),
    left_out: tuple[LeftOut, ...] = (),
    generator: Generator = EXTRACTIVE,
    declined: Declined | None = None,
    attempts: tuple[Attempt, ...] = (),
) -> Answer:
    return Answer(
        question=question,
        outcome=outcome,
        message=message,
        understanding=search.understanding if search else query.understand(question, concepts=(), collections=()),
        scope=search.searched if search else (Searched.COLLECTION if question.collection else Searched.GLOBAL),
        summary=(),
        answer=(),
        citations=(),
        confidence=None,
        evidence=nearest,
        left_out=left_out,
        generator=generator,
        policy=policy,
        corpus_version=corpus_version,
        found=search.found if search else None,
        related=search.related if search else (),
        signals=search.signals if search else None,
        linked=search.linked if search else None,
        ranked=len(search.ranked) + len(search.left_out) if search else 0,
        declined=declined,
        attempts=attempts,
        timings_ms=clock.spent,
    )
