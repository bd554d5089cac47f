"""Gather the evidence of an answer: composed draft, passages in rank order, agreement, strength and headline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corpus_app.records import Finding, Hit, Lean, Passage, PassageKind, Study, Wanted
from qa_app.pipeline import agreement, answer_type, grounding, strength
from qa_app.pipeline.answer_type import ExpectedAnswer
from qa_app.pipeline.composition import Composition, compose
from qa_app.pipeline.concepts import name_stems
from qa_app.pipeline.coverage import missing_parts
from qa_app.pipeline.effect_sizes import states_size
from qa_app.pipeline.matter import (
    LEANING,
    Matter,
    Stances,
    agreeing,
    asks_direction,
    count_sides,
    find_agreement,
    find_matter,
    find_stances,
    is_on_question,
    is_on_what_is_asked,
    is_strength_asked,
    passages_on_outcome,
    passages_on_people,
    studies_of_other_sides,
    unstudied_relation,
)
from qa_app.pipeline.passage_ranking import RankedPassages, find_pool, rank_passages
from qa_app.pipeline.policy import Lexical, Order, Policy
from qa_app.pipeline.ports import Corpus, CorpusFacts, Reranker
from qa_app.pipeline.query import Aspect, Intent, Query
from qa_app.pipeline.records import (
    Because,
    Candidate,
    Evidence,
    EvidenceStrength,
    Headline,
    HeadlineVerdict,
    Question,
    Span,
)
from qa_app.pipeline.reranking import rerank
from qa_app.pipeline.retrieval import Retrieved, cited_studies, fuse, hits_by_id, load_passages, load_pool
from qa_app.pipeline.selection import SelectionContext
from qa_app.pipeline.strength import StudySize
from qa_app.pipeline.text import stem_set, words
from qa_app.pipeline.verdict import PolarityKind, names_matter, read_polarity, verdict

LESS_THAN_ANY_HIT = Hit(0, 0.0, None)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of an answer with its strength and agreement."""

    evidence: Evidence
    composition: Composition
    matter: Matter | None
    """None where the leading study has no findings."""
    missing: tuple[str, ...]
    is_conflicting: bool
    strength: EvidenceStrength | None
    """None where no cited study is of a kind that is graded."""
    absent: ExpectedAnswer | None = None
    """What the question asks for, where no passage of the cited studies holds it."""
    grounds: Mapping[str, float] = field(default_factory=dict)
    """The features of `grounding`; empty where curators wrote what the leading study answers, or nothing was scaled."""

    @property
    def leading_study(self) -> Study:
        return self.composition.headline.passage.study


def gather(
    question: Question, query: Query, facts: CorpusFacts, retrieved: Retrieved, corpus: Corpus, policy: Policy,
    reranker: Reranker | None = None,
) -> Gathered | None:  # fmt: skip
    """Choose what to quote and freeze it with its evidence; None where the leading study has nothing to quote."""
    ranked = rank(question, query, facts, retrieved, corpus, policy, reranker)
    studies = dict.fromkeys(candidate.passage.study.study_id for candidate in ranked.passages)
    cited = tuple(studies)[: policy.cited_studies]
    if policy.order is Order.RELEVANCE and reranker is None:
        cited = cited_studies(retrieved, policy)
    candidates = tuple(candidate for candidate in ranked.passages if candidate.passage.study.study_id in cited)
    stances = find_stances(query, corpus.findings(cited), facts, corpus)
    if query.aspect is Aspect.DISAGREEMENT and (others := studies_of_other_sides(stances, cited)):
        candidates += rank_by_relevance(load_passages(others, retrieved, corpus), retrieved)
        cited += others
    expected = _expected_answer(query, retrieved, cited)
    bindings = _bindings(expected, [c.passage for c in candidates]) if expected else {}
    findings = corpus.findings(cited)
    nearest = _nearest_finding(cited[0], retrieved, findings) if cited else None
    context = _selection_context(query, facts, retrieved, [c.passage for c in candidates], findings, stances)
    context = replace(context, finding_id=nearest.finding_id if nearest else None, bindings=bindings)
    composed = compose([c.passage for c in candidates], cited, context, policy, question.mode)
    if composed and len(composed.passages) > policy.evidence_passages:
        composed = compose(composed.first_passages(policy.evidence_passages), cited, context, policy, question.mode)
    if composed is None:
        return None
    quoted = tuple({p.study.study_id: p.study for p in composed.passages}.values())
    matter = find_matter(query, composed, nearest, findings, stances, facts, corpus)
    sentences = [sentence for q in composed.quotations for sentence in q.sentences]
    texts = [*sentences, *(passage.heading for passage in composed.passages)]
    chosen = Evidence(
        question=question,
        query=query,
        passages=_shown(candidates, composed, policy),
        left_out=ranked.left_out,
        agreement=find_agreement(query, matter, facts) if matter else None,
        draft=composed.draft(),
        headline_study=composed.headline.study_id,
    )
    has_answer = _has_answer(query, expected, bool(bindings))
    weights = {study.study_id: agreement.weigh(study) for study in quoted}
    compared = [row for row in matter.studies if row.study_id in weights] if matter else []
    said = expected.signs if expected and bindings else frozenset()
    idf = {term: value for term, value in retrieved.idf.items() if term not in said}
    missing = missing_parts(query, texts, quoted, idf, lambda stem: retrieved.is_unknown(stem, cited), policy)
    ids = {study.study_id for study in quoted}
    relation = unstudied_relation(query, sentences, [f for f in findings if f.study_id in ids], facts)
    if relation and not set(missing) & {concept.name for concept in (*query.concepts, *query.unstudied)}:
        missing = (*missing, relation)
    return Gathered(
        evidence=chosen,
        composition=composed,
        matter=matter,
        missing=missing,
        is_conflicting=asks_direction(query)
        and not agreeing(stances.studies)
        and agreement.is_conflicting(compared, weights),
        strength=_strength(query, corpus, quoted, matter, composed.headline.sentences, is_partial=bool(missing)),
        absent=None if bindings else expected,
        grounds=_grounds(query, retrieved, corpus, candidates, missing, has_answer),
    )


def _selection_context(
    query: Query, facts: CorpusFacts, retrieved: Retrieved, passages: Sequence[Passage], findings: Sequence[Finding],
    stances: Stances,
) -> SelectionContext:  # fmt: skip
    figure = answer_type.read_figure(query, retrieved.idf)
    plain = [passage for passage in passages if passage.kind is PassageKind.PLAIN]
    return SelectionContext(
        query=query,
        vector=retrieved.vector,
        idf=retrieved.idf,
        chances=retrieved.chances,
        passage_cosines={pk: hit.cosine or 0.0 for pk, hit in hits_by_id(retrieved).items()},
        leans={finding.finding_id: finding.lean for finding in findings},
        leading=_leading(query, facts, stances, plain, findings),
        on_outcome=passages_on_outcome(query, passages, findings, facts),
        asked=_asked_names(query),
        compared={finding.finding_id: f"{finding.intervention} {finding.comparator}" for finding in findings},
        on_people=passages_on_people(query, plain, findings, facts),
        sides=stances.sides if query.aspect is Aspect.DISAGREEMENT else {},
        figures=frozenset(pk for pk, _ in _bindings(figure, plain)) if figure else frozenset(),
    )


def _asked_names(query: Query) -> tuple[frozenset[str], ...]:
    asked = (*query.intervention, *query.comparator)
    concepts = query.unstudied or [concept for concept in query.concepts if concept.concept_id in asked]
    return tuple(stems for concept in concepts for stems in name_stems(concept))


def _leading(
    query: Query, facts: CorpusFacts, stances: Stances, plain: Sequence[Passage], findings: Sequence[Finding]
) -> frozenset[int]:  # fmt: skip
    """Return the findings that open the answer, whichever study they are of; empty where any may."""
    if query.aspect is Aspect.DISAGREEMENT:
        return frozenset(stances.sides)
    if query.aspect is not Aspect.SIZE:
        return agreeing(stances.studies)
    by_id = {finding.finding_id: finding for finding in findings if is_on_question(finding, query, facts)}
    return frozenset(
        finding.finding_id
        for passage in plain
        if passage.finding_id and (finding := by_id.get(passage.finding_id))
        and states_size(passage.text, finding, facts.facets, facts.units)
    )  # fmt: skip


def _has_answer(query: Query, expected: ExpectedAnswer | None, is_bound: bool) -> bool | None:
    """Tell whether the sentences hold the answer expected, or these are the sources asked for.

    None where no type of answer is expected.
    """
    if query.request is not None and query.sources.studies:
        return True
    return is_bound if expected else None


def _grounds(
    query: Query, retrieved: Retrieved, corpus: Corpus, candidates: Sequence[Candidate], missing: Sequence[str],
    has_answer: bool | None,
) -> Mapping[str, float]:  # fmt: skip
    if not retrieved.is_scaled:
        return {}
    leader = candidates[0].passage.study.study_id
    passages = [c.passage for c in candidates if c.passage.study.study_id == leader]
    vectors = [s.vector for passage in passages for s in passage.sentences if s.vector is not None]
    texts = [text for words in missing if (text := grounding.without(query.text, words))]
    if retrieved.vector is None or not vectors or not texts:
        return grounding.signals(retrieved.lead, has_answer, 0.0)
    asked, *occluded = corpus.encode((query.text, *texts))
    unsupported = grounding.unsupported(asked, occluded, np.asarray(vectors, np.float32))
    return grounding.signals(retrieved.lead, has_answer, unsupported)


def _expected_answer(query: Query, retrieved: Retrieved, cited: Sequence[str]) -> ExpectedAnswer | None:
    """Return the answer that the question expects; None where curators wrote which questions the first study answers.

    Their questions say more than the words of a sentence.
    """
    leader = retrieved.by_id.get(cited[0]) if cited else None
    return None if leader is None or leader.is_curated else answer_type.read_expected(query, retrieved.idf)


def _bindings(expected: ExpectedAnswer, passages: Sequence[Passage]) -> Mapping[tuple[int, int], float]:
    """Return how well each sentence that holds the expected answer names what is asked about, by passage and index."""
    shares = {
        (passage.passage_id, n): answer_type.binding(
            expected, passage.text[s.start : s.end], passage.heading, is_row=passage.kind is PassageKind.TABLE
        )
        for passage in passages
        for n, s in enumerate(passage.sentences)
    }
    return {place: share for place, share in shares.items() if share}


def _strength(
    query: Query, corpus: Corpus, cited: Sequence[Study], matter: Matter | None, headline: Sequence[str], *,
    is_partial: bool,
) -> EvidenceStrength | None:  # fmt: skip
    """Return the curators' judgement where the question is about just what they judged and a cited study is too.

    Elsewhere, grade the studies on the matter of the quoted finding, where it is the one asked about, cited or not; or
    else the cited studies. No grade is above the certainty that the headline or its finding states.
    """
    judged = len(query.intervention) == len(query.outcome) == 1
    certainties = corpus.certainties(query.intervention[0], query.outcome[0]) if judged else ()
    certainty = strength.find_certainty(certainties, query)
    is_judged = certainty and any({certainty.intervention, certainty.outcome} <= set(s.concepts) for s in cited)
    if certainty and is_judged and not is_partial:
        return strength.assessed(certainty, cited)
    is_asked = matter is not None and is_strength_asked(query, matter)
    leans = matter.studies if matter and is_asked else ()
    own = {study.study_id: study for study in cited}
    body = tuple(cited)
    if matter and matter.is_quoted and leans:
        uncited = [row.study_id for row in leans if row.study_id not in own]
        others = corpus.studies(uncited) if uncited else {}
        body = tuple(study for row in leans if (study := own.get(row.study_id) or others.get(row.study_id)))
    known = corpus.references([study.study_id for study in body])
    sizes = {r.study_id: StudySize(r.participants, r.included_studies) for r in known}
    biases = {r.study_id: r.risk_of_bias for r in known if r.risk_of_bias}
    is_cited = all(study.study_id in own for study in body)
    graded = strength.grade(
        body, leans, query.facets, sizes=sizes, biases=biases, is_partial=is_partial, is_cited=is_cited
    )
    stated = strength.read_certainty([*headline, matter.finding.statement] if matter and matter.is_quoted else headline)
    return strength.capped(graded, stated=stated, judged=certainty.level if certainty and is_judged else None)


def rank(
    question: Question, query: Query, facts: CorpusFacts, retrieved: Retrieved, corpus: Corpus, policy: Policy,
    reranker: Reranker | None = None,
) -> RankedPassages:  # fmt: skip
    """Rank passages by the policy: by the relevance of their studies, or one by one as a preset says."""
    hits = hits_by_id(retrieved)
    if policy.order is Order.RELEVANCE:
        passages = load_passages(cited_studies(retrieved, policy), retrieved, corpus)
        ranked = RankedPassages(rank_by_relevance(passages, retrieved))
    else:
        pool = load_pool(find_pool(list(hits.values()), policy, 2 * policy.pool), corpus)
        total = retrieved.found.searchable_passages
        counts = corpus.word_counts(_words_to_compare(query, pool)) if policy.lexical is Lexical.TFIDF else {}
        ranked = rank_passages(query, pool, hits, counts, total, policy, question.mode)
    if reranker is None or not ranked.passages:
        return ranked
    return replace(ranked, passages=rerank(question.searched, ranked.passages, reranker))


def _words_to_compare(query: Query, pool: Sequence[Passage]) -> frozenset[str]:
    return frozenset(word for text in (query.text, *(passage.text for passage in pool)) for word in words(text))


def rank_all(
    question: Question, query: Query, facts: CorpusFacts, retrieved: Retrieved, corpus: Corpus, policy: Policy,
    reranker: Reranker | None = None,
) -> tuple[Candidate, ...]:  # fmt: skip
    """Rank every passage for a search without an answer; the budget of an answer does not apply."""
    if policy.order is not Order.RELEVANCE:
        whole = replace(policy, evidence_passages=2 * policy.pool)
        return rank(question, query, facts, retrieved, corpus, whole, reranker).passages
    pool = load_pool(list(fuse(retrieved.found.hits, policy.lexical_weight))[: policy.pool], corpus)
    ranked = rank_by_relevance(pool, retrieved)
    return rerank(question.searched, ranked, reranker) if reranker else ranked


def rank_by_relevance(passages: Sequence[Passage], retrieved: Retrieved) -> tuple[Candidate, ...]:
    """Return the passages by the chance that their study answers and their own cosine, the best first."""
    hits = hits_by_id(retrieved)
    rows = []
    for passage in passages:
        hit = hits.get(passage.passage_id, LESS_THAN_ANY_HIT)
        chance = retrieved.chances.get(passage.study.study_id, 0.0)
        score = float(chance + (hit.cosine or 0.0))
        because = (Because("relevance", "=", round(chance, 4)),)
        own = Hit(passage.passage_id, hit.bm25, hit.cosine)
        words = len(stem_set(passage.text) & retrieved.idf.keys())
        rows.append(Candidate(passage, own, score, score, because, words, chance=round(100 * chance)))
    return tuple(sorted(rows, key=lambda row: (-row.score, row.passage.passage_id)))


def headline(query: Query, facts: CorpusFacts, gathered: Gathered) -> Headline:
    """Return the headline: the composed sentence with its verdict and the counts of studies on the same matter."""
    quotation = gathered.composition.headline
    passage = quotation.passage
    start, end = passage.sentences[quotation.first].start, passage.sentences[quotation.last].end
    text = passage.text[start:end]
    counts = count_sides(gathered.evidence.agreement)
    return Headline(
        text=text,
        verdict=_verdict(query, facts, gathered),
        citations=(1,),
        support=(Span(passage.passage_id, passage.version, quotation.study_id, start, end, text),),
        studies_for=counts[Lean.YES] if counts else None,
        studies_against=counts[Lean.NO] if counts else None,
        studies_without_difference=counts[Lean.NO_CLEAR_DIFFERENCE] if counts else None,
    )


def _verdict(query: Query, facts: CorpusFacts, gathered: Gathered) -> HeadlineVerdict | None:
    """Return the verdict for the headline's finding; one by a finding's lean only where the headline states it."""
    polarity = read_polarity(query.ask, query.intent, facts.polarity)
    matter = gathered.matter
    if matter is None:
        return None
    measured = [c for c in facts.concepts if c.concept_id in matter.concepts.outcome]
    outcomes = [matter.outcome] if matter.outcome and matter.is_on_question else measured
    asked = frozenset((*query.intervention, *query.comparator, *query.outcome, *query.condition))
    if matter.outcome:
        asked |= matter.concepts.outcome
    if query.aspect is Aspect.DISAGREEMENT:
        is_split = matter.is_quoted and len(count_sides(gathered.evidence.agreement)) > 1
        return HeadlineVerdict.DEPENDS if is_split else None
    if query.intent in LEANING and not (matter.is_quoted and is_on_what_is_asked(query, matter)):
        return None
    if query.intent is Intent.YES_NO and polarity.kind is PolarityKind.NONE and not (query.outcome or query.condition):
        return None  # what a yes would say is not known, nor of which outcome
    text = " ".join(gathered.composition.headline.sentences)
    has_size = query.aspect is not Aspect.SIZE or states_size(text, matter.finding, facts.facets, facts.units)
    return verdict(
        query.intent if has_size else Intent.CLAIM,
        polarity,
        matter.finding,
        wanted=outcomes[0].wanted if outcomes else Wanted.NEITHER,
        is_on_topic=matter.is_quoted and (matter.is_on_question or names_matter(asked, matter.concepts)),
        is_whole=not (gathered.missing or gathered.is_conflicting),
    )


def _nearest_finding(study_id: str, retrieved: Retrieved, findings: Sequence[Finding]) -> Finding | None:
    """Return the finding whose plain sentence or curated question is nearest by meaning.

    Without vectors, words decide.
    """
    scores = retrieved.by_id.get(study_id)
    best = scores.best if scores else {}
    near = [
        (score.cosine or 0.0, score.bm25, text.finding_id)
        for kind in ("question", "plain", "statement")
        if (score := best.get(kind)) and (text := score.by_meaning or score.by_words) and text.finding_id
    ]
    wanted = max(near, default=(0.0, 0.0, None))[2]
    return next((finding for finding in findings if finding.finding_id == wanted), None)


def _shown(ranked: Sequence[Candidate], composed: Composition, policy: Policy) -> tuple[Candidate, ...]:
    """Return the quoted passages and the best others of the same studies, in rank order."""
    quoted = {passage.passage_id for passage in composed.passages}
    studies = {passage.study.study_id for passage in composed.passages}
    if policy.order is not Order.RELEVANCE:
        return tuple(ranked)
    others = [c for c in ranked if c.passage.study.study_id in studies and c.passage.passage_id not in quoted]
    remaining = max(policy.evidence_passages - len(quoted), 0)
    shown = quoted | {candidate.passage.passage_id for candidate in others[:remaining]}
    return tuple(candidate for candidate in ranked if candidate.passage.passage_id in shown)
