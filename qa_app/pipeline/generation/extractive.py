"""The extractive writer: picks the sentences that answer, word for word, and puts them in a reader's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus_app.records import Section
from qa_app.pipeline.agreement import lead_line
from qa_app.pipeline.generation.sentences import Quotable, rank_sentences
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Draft, DraftSentence, Evidence, Generator, Mode
from qa_app.pipeline.text import jaccard, word_count

EXTRACTIVE = Generator(name="extractive", version="2")

REPEATED = 0.6  # token overlap from which two sentences say the same
REPEATED_WITHIN_STUDY = 0.45  # and of one study
SHARED_FIGURES = 2  # decimals in common from which two sentences of one study report one result


class ExtractiveWriter:
    """Deterministic; needs no key and no network."""

    name = EXTRACTIVE.name

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        ranked = rank_sentences(evidence, policy)
        budget = policy.words_beginner if evidence.question.mode is Mode.BEGINNER else policy.words_intermediate
        wants_limits = Section.LIMITATIONS in evidence.understanding.target_sections
        body = [q for q in ranked if wants_limits or q.section is not Section.LIMITATIONS] or ranked
        summary = _summary(body, evidence.question.mode, policy)
        limit = () if wants_limits else _limit(ranked, summary, policy)
        answer = _answer(body, summary, limit, budget, policy)
        counted = lead_line(evidence.agreement, evidence, policy)
        lead = (counted,) if counted else ()
        return Draft((*lead, *(_draft(q, 0) for q in summary)), answer), EXTRACTIVE


def _summary(ranked: Sequence[Quotable], mode: Mode, policy: Policy) -> tuple[Quotable, ...]:
    """The most direct sentences, at most two of a study where there are others, none that repeats another."""
    most = policy.summary_sentences_beginner if mode is Mode.BEGINNER else policy.summary_sentences_intermediate
    limits = _Limits(most, policy.words_summary, per_study=2, within=policy.summary_within)
    chosen = _pick(ranked, limits, policy)
    if len(chosen) < policy.summary_sentences_least:  # there is no more to say but by those that were quoted already
        more = replace(limits, most=policy.summary_sentences_least - len(chosen), per_study=most)
        chosen += _pick(ranked, more, policy, besides=chosen)
    studies = list(dict.fromkeys(q.study_id for q in chosen))
    return tuple(sorted(chosen, key=lambda q: studies.index(q.study_id)))


def _answer(
    ranked: Sequence[Quotable], summary: Sequence[Quotable], limit: Sequence[Quotable], budget: int, policy: Policy
) -> tuple[DraftSentence, ...]:
    """What the summary has not said: a paragraph for each study, the most direct first, then a limit of what was cited.

    Sentences that stand side by side in their passage are quoted as one. Where nothing is left to say, the summary is the answer.
    """
    left = budget - sum(word_count(q.text) for q in limit)
    limits = _Limits(policy.answer_sentences, left, policy.answer_per_study, policy.answer_within)
    findings = _pick(ranked, limits, policy, besides=(*summary, *limit))
    told = list(dict.fromkeys(q.study_id for q in (*summary, *findings)))
    paragraphs = [study_id for study_id in told if any(q.study_id == study_id for q in findings)]
    joined = _joined(findings)
    passages = list(dict.fromkeys(q.candidate.passage.passage_id for q in joined))
    # The passage of the best sentence first, its sentences in their own order: apart from each other they read as scraps.
    grouped = sorted(
        joined,
        key=lambda q: (paragraphs.index(q.study_id), passages.index(q.candidate.passage.passage_id), q.first),
    )
    written = (
        *(_draft(q, paragraphs.index(q.study_id)) for q in grouped),
        *(_draft(q, len(paragraphs)) for q in limit),
    )
    return written or tuple(_draft(q, 0) for q in summary)


def _limit(ranked: Sequence[Quotable], summary: Sequence[Quotable], policy: Policy) -> tuple[Quotable, ...]:
    """The limitation that says most about the studies of the summary, if it is close enough to the question."""
    cited = {q.study_id for q in summary}
    limits = [q for q in ranked if q.section is Section.LIMITATIONS and q.study_id in cited and q not in summary]
    return tuple(limits[:1]) if limits and limits[0].score >= ranked[0].score - policy.limit_within else ()


@dataclass(frozen=True, slots=True)
class _Limits:
    """How much may be picked: sentences, words, sentences of one study, and how far below the best one may stand."""

    most: int
    words: int
    per_study: int
    within: float


def _pick(
    ranked: Sequence[Quotable], limits: _Limits, policy: Policy, besides: Sequence[Quotable] = ()
) -> tuple[Quotable, ...]:
    """The best sentences that fit, one after another; one that goes on from a chosen one gains, a repeated one is passed over."""
    floor = max((q.score for q in (*ranked, *besides)), default=0.0) - limits.within
    waiting = [q for q in ranked if q.score >= floor and not any(_same(q, other) for other in besides)]
    chosen: list[Quotable] = []
    words = limits.words
    while waiting and len(chosen) < limits.most:
        best = max(
            waiting, key=lambda q: q.score + policy.neighbour_gain * any(q.follows(o) for o in (*besides, *chosen))
        )
        waiting.remove(best)
        if word_count(best.text) > words:
            continue
        words -= word_count(best.text)
        chosen.append(best)
        is_full = sum(q.study_id == best.study_id for q in chosen) >= limits.per_study
        waiting = [q for q in waiting if not (is_full and q.study_id == best.study_id) and not _same(q, best)]
    return tuple(chosen)


def _joined(chosen: Sequence[Quotable]) -> tuple[Quotable, ...]:
    """Those that stand side by side in their passage as one, at the place of the better one."""
    joined: list[Quotable] = []
    for quotable in chosen:
        place = next((i for i, q in enumerate(joined) if quotable.follows(q) or q.follows(quotable)), None)
        if place is None:
            joined.append(quotable)
        else:
            joined[place] = joined[place].joined(quotable)
    return tuple(joined)


def _same(first: Quotable, second: Quotable) -> bool:
    """Whether two sentences say the same: words within words, mostly the same words, or the same figures of one study."""
    if first.text in second.text or second.text in first.text:
        return True
    alike = jaccard(first.stems, second.stems)
    if first.study_id != second.study_id:
        return alike >= REPEATED
    return alike >= REPEATED_WITHIN_STUDY or len(first.decimals & second.decimals) >= SHARED_FIGURES


def _draft(quotable: Quotable, paragraph: int) -> DraftSentence:
    return DraftSentence(quotable.text, (quotable.candidate.passage.passage_id,), paragraph)
