"""The extractive writer: picks the sentences that answer, word for word, and puts them in a reader's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus_app.records import Section
from qa_app.pipeline.agreement import counted_lines
from qa_app.pipeline.generation.sentences import EXPLANATION, Quotable, find_hanging, rank_sentences
from qa_app.pipeline.generation.wording import Sound
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Draft, DraftSentence, Evidence, Generator, Mode
from qa_app.pipeline.text import jaccard, word_count

EXTRACTIVE = Generator(name="extractive", version="3")

REPEATED = 0.6  # token overlap from which two sentences say the same
REPEATED_WITHIN_STUDY = 0.45  # and of one study
ADVICE = frozenset({Section.CONCLUSION, Section.PRACTICAL_APPLICATIONS})
ADVICE_FIRST = 1.0  # log odds by which conclusions and advice go before findings of the same study
FAR_FROM_BEST = 1.0  # log odds below the best of its passage from which a sentence does not stand before that one
SHARED_FIGURES = 2  # decimals in common from which two sentences of one study report one result


class ExtractiveWriter:
    """Deterministic; needs no key and no network."""

    name = EXTRACTIVE.name

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        ranked, asked, mode = rank_sentences(evidence, policy), evidence.understanding, evidence.question.mode
        wants_limits = Section.LIMITATIONS in asked.target_sections
        advice_first = mode is Mode.BEGINNER and EXPLANATION not in asked.intents and not asked.asks_for_figures
        body = [q for q in ranked if wants_limits or q.section is not Section.LIMITATIONS] or ranked
        summary = _in_order(_summary(body, mode, policy), advice_first=advice_first)
        limit = () if wants_limits else _limit(ranked, summary, policy)
        budget = policy.words_beginner if mode is Mode.BEGINNER else policy.words_intermediate
        findings = _in_order(_findings(body, (*summary, *limit), budget, limit, policy), advice_first=advice_first)
        answer = _answer(summary, findings, limit)
        lead = counted_lines(evidence.agreement, evidence, policy)
        hanging = find_hanging(evidence, (*summary, *findings, *limit))
        return Draft((*lead, *(_draft(q, 0) for q in summary)), answer, hanging), EXTRACTIVE


def _summary(ranked: Sequence[Quotable], mode: Mode, policy: Policy) -> tuple[Quotable, ...]:
    """The most direct sentences, at most two of a study where there are others, none that repeats another."""
    most = policy.summary_sentences_beginner if mode is Mode.BEGINNER else policy.summary_sentences_intermediate
    limits = _Limits(most, policy.words_summary, per_study=2, per_other=2, within=policy.summary_within)
    chosen = _pick(ranked, limits, policy)
    if len(chosen) < policy.summary_sentences_least:  # there is no more to say but by those that were quoted already
        more = replace(limits, most=policy.summary_sentences_least - len(chosen), per_study=most, per_other=most)
        chosen += _pick(ranked, more, policy, besides=chosen)
    return chosen


def _findings(
    ranked: Sequence[Quotable], told: Sequence[Quotable], budget: int, limit: Sequence[Quotable], policy: Policy
) -> tuple[Quotable, ...]:
    """What the summary has not said; sentences that stand side by side in their passage are quoted as one."""
    left = budget - sum(word_count(q.text) for q in limit)
    limits = _Limits(
        policy.answer_sentences, left, policy.answer_per_study, policy.answer_per_other_study, policy.answer_within
    )
    return _joined(_pick(ranked, limits, policy, besides=told))


def _answer(
    summary: Sequence[Quotable], findings: Sequence[Quotable], limit: Sequence[Quotable]
) -> tuple[DraftSentence, ...]:
    """A paragraph for each study, in the summary's order, then a limit of what was cited.

    Where nothing is left to say, the summary is the answer.
    """
    told = dict.fromkeys(q.study_id for q in (*summary, *findings))
    paragraphs = [study_id for study_id in told if any(q.study_id == study_id for q in findings)]
    grouped = sorted(findings, key=lambda q: paragraphs.index(q.study_id))
    written = (
        *(_draft(q, paragraphs.index(q.study_id)) for q in grouped),
        *(_draft(q, len(paragraphs)) for q in limit),
    )
    return written or tuple(_draft(q, 0) for q in summary)


def _in_order(chosen: Sequence[Quotable], *, advice_first: bool) -> tuple[Quotable, ...]:
    """A study's sentences together, the best study first; the passage of its best sentence first, in the passage's own order.

    Apart from each other they read as scraps. With `advice_first` what was concluded or advised goes before findings of the same
    study, and talk about the literature comes after what was found. A sentence that is far from the best of its passage does not
    stand before that one.
    """

    def worth(quotable: Quotable) -> float:
        return quotable.score + ADVICE_FIRST * (advice_first and quotable.section in ADVICE)

    def place(quotable: Quotable) -> tuple[int, bool, int, bool, int]:
        passage = [q for q in chosen if q.candidate is quotable.candidate]
        is_far = quotable.score < max(q.score for q in passage) - FAR_FROM_BEST
        is_aside = Sound.of(quotable.text).is_aside
        return (
            studies.index(quotable.study_id), is_aside, passages.index(quotable.candidate.passage.passage_id), is_far,
            quotable.first,
        )  # fmt: skip

    studies = list(dict.fromkeys(q.study_id for q in chosen))
    passages = list(dict.fromkeys(q.candidate.passage.passage_id for q in sorted(chosen, key=worth, reverse=True)))
    return tuple(sorted(chosen, key=place))


def _limit(ranked: Sequence[Quotable], summary: Sequence[Quotable], policy: Policy) -> tuple[Quotable, ...]:
    """The limitation that says most about the studies of the summary, if it is close enough to the question."""
    cited = {q.study_id for q in summary}
    limits = [q for q in ranked if q.section is Section.LIMITATIONS and q.study_id in cited and q not in summary]
    return tuple(limits[:1]) if limits and limits[0].score >= ranked[0].score - policy.limit_within else ()


@dataclass(frozen=True, slots=True)
class _Limits:
    """How much may be picked: sentences, words, sentences of the leading study and of another, how far below the best one."""

    most: int
    words: int
    per_study: int
    per_other: int
    within: float

    def is_full(self, study_id: str, chosen: Sequence[Quotable], leading: str) -> bool:
        most = self.per_study if study_id == leading else self.per_other
        return sum(q.study_id == study_id for q in chosen) >= most


def _pick(
    ranked: Sequence[Quotable], limits: _Limits, policy: Policy, besides: Sequence[Quotable] = ()
) -> tuple[Quotable, ...]:
    """The best sentences that fit, one after another; one beside a chosen one gains, a repeated one is passed over.

    One that hangs on a chosen one is added to that.
    """
    floor = max((q.score for q in (*ranked, *besides)), default=0.0) - limits.within
    leading = (*besides, *ranked)[0].study_id if besides or ranked else ""
    waiting = [q for q in ranked if q.score >= floor and not any(_same(q, other) for other in besides)]
    chosen: list[Quotable] = []
    words = limits.words
    while waiting:
        best = max(waiting, key=lambda q: q.score + policy.neighbour_gain * _is_near(q, (*besides, *chosen)))
        waiting.remove(best)
        place = next((i for i, q in enumerate(chosen) if best.goes_on(q)), None)
        more = word_count(best.text) - (word_count(chosen[place].text) if place is not None else 0)
        if more > words or (place is None and len(chosen) >= limits.most):
            continue
        words -= more
        if place is None:
            chosen.append(best)
        else:
            best = chosen[place] = chosen[place].joined(best)
        full = {q.study_id for q in chosen if limits.is_full(q.study_id, chosen, leading)}
        waiting = [q for q in waiting if any(map(q.goes_on, chosen)) or not (q.study_id in full or _same(q, best))]
    return tuple(chosen)


def _is_near(quotable: Quotable, chosen: Sequence[Quotable]) -> bool:
    return any(quotable.is_beside(other) or quotable.goes_on(other) for other in chosen)


def _joined(chosen: Sequence[Quotable]) -> tuple[Quotable, ...]:
    """Those that stand side by side in their passage as one, at the place of the better one."""
    joined: list[Quotable] = []
    for quotable in chosen:
        place = next((i for i, q in enumerate(joined) if quotable.is_beside(q)), None)
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
