"""From a question to ranked passages: understanding, the halves of the search, fusion, ranking, signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from corpus_app.records import Section
from qa_app.pipeline import candidates, confidence, core, query, ranking, reordering
from qa_app.pipeline.naming import by_id
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import (
    Abandoned,
    Corpus,
    Encoded,
    LegFailed,
    Limit,
    Progress,
    Reranker,
    RerankerFailed,
    Unwatched,
)
from qa_app.pipeline.records import (
    ADVICE,
    Candidate,
    Collection,
    Concept,
    Finding,
    Found,
    LeftOut,
    Leg,
    NearFinding,
    Question,
    Searched,
    Signals,
    Understanding,
)

STAGES = (
    "scope",
    "understand",
    "encode",
    "lexical",
    "dense",
    "linked",
    "rank",
    "rerank",
    "summary",
    "answer",
    "verify",
)


@dataclass
class Clock:
    """Milliseconds per stage; None for a stage that did not run, or whose time another one's holds.

    Every stage passes here: whoever watches is told when it has finished, and none begins for nobody (Abandoned). One that is
    running when the last watcher leaves runs on, as `lexical` does around `encode`, and is told to nobody. Nor does one begin
    when the time is over (OutOfTime).
    """

    spent: dict[str, float | None] = field(default_factory=lambda: dict.fromkeys(STAGES))
    progress: Progress = field(default_factory=Unwatched)
    limit: Limit | None = None
    _inner: float = 0.0
    """Milliseconds of stages that ran inside the one that is running: they are not its own."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        if self.progress.is_abandoned():
            raise Abandoned
        if self.limit is not None:
            self.limit.require()
        start = perf_counter()
        outer, self._inner = self._inner, 0.0
        try:
            yield
        finally:
            whole = 1000 * (perf_counter() - start)
            spent = (self.spent.get(stage) or 0.0) + round(whole - self._inner, 3)
            self.spent[stage] = spent
            self._inner = outer + whole
        if not self.progress.is_abandoned():
            self.progress.stage(stage, spent)


class Judged:
    """What the search showed of the question. Who asks first waits for what is still being encoded, and may be told what failed."""

    def __init__(self, read: Callable[[], Signals], *, waits: bool) -> None:
        self._read, self._waits = read, waits
        self._signals: Signals | None = None

    @property
    def waits(self) -> bool:
        """Whether it hangs on something that was begun and that nobody has asked for."""
        return self._waits and self._signals is None

    def __call__(self) -> Signals:
        if self._signals is None:
            self._signals = self._read()
        return self._signals


@dataclass(frozen=True)
class Search:
    """What was found for a question, ranked."""

    understanding: Understanding
    found: Found
    ranked: tuple[Candidate, ...]
    searched: Searched
    judged: Judged
    related: tuple[Concept, ...]
    collections: tuple[Collection, ...]
    findings: tuple[Finding, ...] = ()
    """What the studies of the pool found."""
    left_out: tuple[LeftOut, ...] = ()
    """Ranked, but kept out before any evidence was chosen."""
    linked: Leg | None = None
    """The second pass; None where there was none."""
    concepts: tuple[Concept, ...] = ()
    """All of the graph."""
    further: tuple[Candidate, ...] = ()
    """What else was found of the studies that lead: it stands behind all that is ranked."""
    near: tuple[NearFinding, ...] = ()
    """The finding of each study that comes closest to the question."""

    @property
    def signals(self) -> Signals:
        """What the search showed of the question. The first time it waits for what is still being encoded; may raise as a stage does."""
        return self.judged()


@dataclass
class _Meaning:
    """The question's vectors, which are wanted while its words are looked up. That of its text as it is has been begun before."""

    begun: Encoded
    corpus: Corpus
    question: Question
    understanding: Understanding
    policy: Policy
    clock: Clock
    encoded: tuple[Sequence[float] | None, Sequence[float] | None, str | None] | None = None

    def __call__(self) -> tuple[Sequence[float] | None, str | None]:
        """The vector to search by; or None and the reason."""
        vector, _, error = self.vectors()
        return vector, error

    def vectors(self) -> tuple[Sequence[float] | None, Sequence[float] | None, str | None]:
        """The vector to search by and, without what it leans to its core, that of the whole question, said in field terms too and with
        what was misspelt spelt again beside it; or None and the reason."""
        if self.encoded is None:
            with self.clock("encode"):
                self.encoded = self._encode()
        return self.encoded

    def _encode(self) -> tuple[Sequence[float] | None, Sequence[float] | None, str | None]:
        text = confidence.searched_text(self.question, self.understanding)
        said, policy = self.understanding, self.policy
        weights = {said.in_field_terms: policy.field_terms_weight, said.core: policy.core_weight}
        beside = [other for other, weight in weights.items() if other and weight]
        try:
            if text == self.question.searched:
                others = self.corpus.encode_ahead(beside) if beside else tuple
                vectors, (whole,) = others(), self.begun()  # these here, while the question itself is encoded beside
            else:
                whole, *vectors = self.corpus.encode_ahead([text, *beside])()
        except LegFailed as failure:
            return None, None, str(failure)
        found = dict(zip(beside, vectors, strict=True))
        if in_field_terms := found.get(said.in_field_terms):
            whole = core.leaning(whole, in_field_terms, policy.field_terms_weight)
        asked = found.get(said.core)
        return core.leaning(whole, asked, policy.core_weight) if asked else whole, whole, None


@dataclass(frozen=True)
class _Asked:
    """A question on its way, with all that a search of it needs."""

    question: Question
    understanding: Understanding
    concepts: tuple[Concept, ...]
    meaning: _Meaning
    corpus: Corpus
    policy: Policy
    clock: Clock

    @property
    def vector(self) -> Sequence[float] | None:
        """What is searched by meaning: it leans towards the core of the question."""
        return self.meaning.vectors()[0]

    @property
    def whole(self) -> Sequence[float] | None:
        """The vector of the whole text, said in field terms too."""
        return self.meaning.vectors()[1]


@dataclass(frozen=True)
class _Look:
    """One search, of a collection or of everything."""

    collection: str | None
    found: Found
    ranked: tuple[Candidate, ...]
    judged: Judged
    findings: tuple[Finding, ...]
    left_out: tuple[LeftOut, ...]
    further: tuple[Candidate, ...] = ()
    near: tuple[NearFinding, ...] = ()

    @property
    def signals(self) -> Signals:
        return self.judged()


def find_evidence(
    question: Question, *, corpus: Corpus, policy: Policy, clock: Clock, reranker: Reranker | None = None
) -> Search:
    with corpus.snapshot():
        begun = corpus.encode_ahead([question.searched])
        with clock("understand"):
            concepts = corpus.concepts()
            collections = corpus.collections()
            understanding = query.understand(
                question,
                concepts=concepts,
                collections=collections,
                vocabulary=corpus.vocabulary(),
                is_word=corpus.is_word,
                expand_lay_words=policy.expand_lay_words,
                say_in_field_terms=policy.field_terms_weight > 0,
            )
        meaning = _Meaning(begun, corpus, question, understanding, policy, clock)
        asked = _Asked(question, understanding, concepts, meaning, corpus, policy, clock)
        look, searched = _look_where_it_belongs(asked)
        linked = None
        if policy.linked_below > 0 and confidence.answerability(look.signals, policy) < policy.linked_below:
            asked, look, linked = _look_further(asked, look)
    ranked = look.ranked if reranker is None else _read_by_model(look.ranked, reranker, asked)
    related = _related(asked.understanding, concepts)
    return Search(
        asked.understanding,
        look.found,
        ranked,
        searched,
        look.judged,
        related,
        collections,
        look.findings,
        look.left_out,
        linked,
        concepts,
        look.further,
        look.near,
    )


def _look_where_it_belongs(asked: _Asked) -> tuple[_Look, Searched]:
    """A collection first, where one is chosen or the policy goes by the one detected; then everything, if it holds too little.

    A reader who chose a collection is led out of it only to a clear answer; else what comes nearest is shown from it.
    """
    policy, chosen = asked.policy, asked.question.collection
    scope = chosen or (asked.understanding.collection if policy.scope_detected else None)
    if scope is None:
        return _look(asked, None), Searched.GLOBAL
    scoped = _look(asked, scope)
    if confidence.answerability(scoped.signals, policy) >= policy.scope_enough:
        return scoped, Searched.COLLECTION
    everything = _look(asked, None)
    is_clear = confidence.answerability(everything.signals, policy) >= policy.leave_chosen_from
    is_clear &= confidence.decide(everything.signals, asked.understanding, policy).is_answer
    return (scoped if chosen and not is_clear else everything), Searched.COLLECTION_THEN_GLOBAL


def _look(asked: _Asked, collection: str | None) -> _Look:
    with asked.clock("lexical"):
        found = asked.corpus.find_while(
            core.with_core(
                asked.question.searched,
                asked.understanding.core,
                repeats=asked.policy.core_repeats,
                also=asked.understanding.also_searched,
            ),
            asked.meaning,
            collection=collection,
            limit=asked.policy.leg_limit,
            k1=asked.policy.bm25_k1,
            b=asked.policy.bm25_b,
        )
        near = _near_findings(asked, found)
    with asked.clock("rank"):
        fused = candidates.order(found, asked.policy, near)
        pool = fused.best(asked.policy)
    return _completed(asked, replace(_ranked(asked, collection, found, pool, near), near=near), fused)


def _completed(asked: _Asked, look: _Look, fused: candidates.Fused) -> _Look:
    """With what else the search found of the studies that lead: what a study concluded may be said in other words than the
    question's. Of the first one whatever it says, where nothing that was found of it tells what it concluded or advises. The ranking
    and its signals do not want it, the writing does.
    """
    leading = list(dict.fromkeys(c.passage.study.study_id for c in look.ranked))[: asked.policy.completed_studies]
    ranked = {c.passage.passage_id for c in look.ranked} | {entry.passage_id for entry in look.left_out}
    others = _hits_of(leading, asked, look, fused) - ranked
    further: tuple[Candidate, ...] = ()
    if others:
        with asked.clock("rank"):
            _, further, _ = _ordered(asked, fused.best(asked.policy, among=others), None)
    if leading and not any(_concludes(c, leading[0]) for c in (*look.ranked, *further)):
        rest = [pk for pk in asked.corpus.passage_ids(leading[0]) if pk not in ranked | others]
        if rest:
            with asked.clock("rank"):
                unfound = fused.unfound(rest[: asked.policy.pool], beside=look.ranked[0].passage.passage_id)
                _, told, _ = _ordered(asked, unfound, None)
            further = (*further, *told)
    return replace(look, further=further) if further else look


def _hits_of(studies: Sequence[str], asked: _Asked, look: _Look, fused: candidates.Fused) -> set[int]:
    """Passages of these studies that the search came upon: what is near says it of studies with findings, of others the corpus does."""
    near = {entry.study_id: entry.passage_ids for entry in look.near if entry.study_id in studies}
    hits = {pk for passage_ids in near.values() for pk in passage_ids}
    if silent := [study_id for study_id in studies if study_id not in near]:
        found = set(fused.hits.ids.tolist())
        hits |= {pk for study_id in silent for pk in asked.corpus.passage_ids(study_id) if pk in found}
    return hits


def _concludes(candidate: Candidate, study_id: str) -> bool:
    """Whether it is a passage of this study that says what was concluded or advised."""
    return candidate.passage.study.study_id == study_id and candidate.passage.section in ADVICE | {Section.ABSTRACT}


def _near_findings(asked: _Asked, found: Found) -> tuple[NearFinding, ...]:
    if asked.vector is None or not asked.policy.finding_weight:
        return ()
    near = asked.corpus.near_findings(asked.vector, found.hits.ids.tolist())
    return candidates.evened(near) if asked.policy.question_weight else candidates.by_what_they_say(near)


def _ranked(
    asked: _Asked,
    collection: str | None,
    found: Found,
    pool: Sequence[candidates.FusedHit],
    near: Sequence[NearFinding],
    gains: dict[int, float] | None = None,
) -> _Look:
    with asked.clock("rank"):
        findings, ordered, left_out = _ordered(asked, pool, gains)
    read_unmet, waits = _begin_unmet(asked, ordered, found)
    with asked.clock("rank"):
        signals = confidence.read_signals(ordered, found, asked.question, asked.understanding, near=near)

    def judge() -> Signals:
        unmet = read_unmet()
        if unmet and signals.missing_names:
            word, together = unmet
            unmet = max(word, asked.policy.unmet_name), max(together, asked.policy.unmet_name)
        return confidence.with_unmet(signals, unmet)

    return _Look(collection, found, ordered, Judged(judge, waits=waits), findings, left_out)


def _ordered(
    asked: _Asked, pool: Sequence[candidates.FusedHit], gains: dict[int, float] | None
) -> tuple[tuple[Finding, ...], tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """What the studies of the pool found, its passages best first, and those that the policy keeps out."""
    policy, understanding = asked.policy, asked.understanding
    passages = asked.corpus.load([entry.hit.passage_id for entry in pool])
    joined = reordering.mark_linked(candidates.join(tuple(pool), passages), gains or {}, understanding.linked)
    findings = asked.corpus.findings(list(dict.fromkeys(p.study.study_id for p in passages)))
    ranked = ranking.rerank(
        reordering.with_gains(joined, understanding, policy),
        question=asked.question,
        vector=asked.vector,
        understanding=understanding,
        policy=policy,
        concepts=asked.concepts,
    )
    ordered, left_out = reordering.reorder(ranked, policy)
    return findings, confidence.with_bearing(ordered, understanding, policy), left_out


def _look_further(asked: _Asked, look: _Look) -> tuple[_Asked, _Look, Leg]:
    """The second pass: what concepts one hop away bring is added to what was found; without any, nothing changes."""
    policy = asked.policy
    near = query.find_linked(asked.understanding, asked.concepts, hub=policy.linked_hub, most=policy.linked_most)
    if not near:
        return asked, look, Leg(True, 0)
    with asked.clock("linked"):
        text = " ".join(concept.name for concept in near)
        try:
            found = asked.corpus.find_linked(
                text,
                asked.vector,
                collection=look.collection,
                limit=policy.leg_limit,
                k1=policy.bm25_k1,
                b=policy.bm25_b,
            )
        except LegFailed as failure:
            return asked, look, Leg(False, 0, str(failure))
        hits = {hit.passage_id: hit for hit in found.hits if hit.bm25 > 0}
        gains = {
            pk: policy.linked_weight * candidates.min_max(hit.bm25, found.lexical.lowest, found.lexical.highest)
            for pk, hit in hits.items()
        }
        whole = replace(policy, pool_cap=len(look.found.hits) or 1, reranker_top_k=len(look.found.hits) or 1)
        findings = _near_findings(asked, look.found)
        fused = {entry.hit.passage_id: entry for entry in candidates.fuse(look.found, whole, findings)}
        for pk, hit in hits.items():
            entry = fused.get(pk) or candidates.FusedHit(replace(hit, bm25=0.0), 0.0, ())
            fused[pk] = replace(entry, score=entry.score + gains[pk])
        pool = sorted(fused.values(), key=lambda entry: (-entry.score, entry.hit.passage_id))[: policy.pool]
        further = replace(asked, understanding=replace(asked.understanding, linked=near))
        leg = Leg(found.lexical.ok, len(hits), found.lexical.error)
    again = _ranked(further, look.collection, look.found, pool, findings, gains)
    ranked = {c.passage.passage_id for c in again.ranked}
    rest = tuple(c for c in look.further if c.passage.passage_id not in ranked)
    return further, replace(again, near=findings, further=rest), leg


def _read_by_model(ranked: tuple[Candidate, ...], reranker: Reranker, asked: _Asked) -> tuple[Candidate, ...]:
    """The model's order of the best; the built-in one where it fails or takes too long."""
    policy = asked.policy
    head = ranked[: policy.reranker_top_k]
    with asked.clock("rerank"):
        try:
            scores = reranker.scores(
                asked.question.searched, [c.passage for c in head], seconds=policy.reranker_seconds
            )
        except RerankerFailed as failure:
            return reordering.without_model(ranked, name=reranker.name, why=str(failure))
        return reordering.by_model(ranked, scores, name=reranker.name, weight=policy.reranker_weight)


def _begin_unmet(
    asked: _Asked, ranked: Sequence[Candidate], found: Found
) -> tuple[Callable[[], tuple[float, float] | None], bool]:
    """What gives what `confidence.unmet_word` and `unmet_together` say, None where no vector can be had; and whether it has to wait."""
    whole = asked.whole
    if whole is None:
        return (lambda: None), False
    with asked.clock("rank"):
        without = confidence.questions_without(ranked, asked.question, asked.understanding, found, asked.policy)
    written = [text for text in without if text]
    begun = asked.corpus.encode_ahead(written) if written else None

    def read() -> tuple[float, float] | None:
        vectors: Iterator[Sequence[float]] = iter(())
        if begun is not None:
            try:
                with asked.clock("encode"):
                    vectors = iter(begun())
            except LegFailed:
                return None
        others = [next(vectors) if text else None for text in without]
        word = confidence.unmet_word(ranked, whole, others if len(others) < 2 else others[:-1])
        return word, confidence.unmet_together(ranked, whole, others)

    return read, begun is not None


def _related(understanding: Understanding, concepts: tuple[Concept, ...], most: int = 6) -> tuple[Concept, ...]:
    """Neighbours of the concepts that the question names, each once, the named ones left out."""
    known = by_id(concepts)
    named = [concept.concept_id for concept in understanding.concepts]
    near = dict.fromkeys(n for concept in understanding.concepts for n in concept.neighbours if n not in named)
    return tuple(known[concept_id] for concept_id in near if concept_id in known)[:most]
