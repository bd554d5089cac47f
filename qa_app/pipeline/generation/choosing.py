"""Which sentences are quoted: the best that fit, none that repeats another, and of other studies only what is on the matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qa_app.pipeline.generation.sentences import Quotable
from qa_app.pipeline.generation.wording import TAKES_BACK
from qa_app.pipeline.orders import gives_orders
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.text import jaccard, stem_set, word_count

REPEATED = 0.6  # token overlap from which two sentences say the same
REPEATED_WITHIN_STUDY = 0.45  # and of one study
HELD_WITHIN_STUDY = 0.75  # share of the words of the shorter one that the longer holds, without a figure of its own
LONGEST = 2  # chosen sentences that are quoted as one; more of a passage follow as a quotation of their own
SHARED_FIGURES = 2  # decimals in common from which two sentences of one study report one result


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be picked: sentences, words, sentences of the leading study and of another."""

    most: int
    words: int
    per_study: int
    per_other: int

    def is_full(self, study_id: str, chosen: Sequence[Quotable], leading: str) -> bool:
        most = self.per_study if study_id == leading else self.per_other
        return sum(q.study_id == study_id for q in chosen) >= most


def pick(ranked: Sequence[Quotable], limits: Limits, policy: Policy, *, opening: Quotable) -> tuple[Quotable, ...]:
    """The opening, then what a short answer most likely needs, one after another; a repeated one is passed over.

    A sentence beside a chosen one gains, one of a study that has been quoted loses for each of its sentences. One that hangs on a
    chosen one is added to that. What is hardly needed is left out, but for what makes up a summary; where no sentence is needed much,
    as of studies whose findings nobody has recorded yet, less will do.
    """
    scale = (
        min(1.0, policy.needed_share * max(q.chance for q in ranked) / policy.needed_from)
        if policy.needed_from
        else 1.0
    )
    opening = with_what_takes_back(opening)
    chosen: list[Quotable] = [opening]
    waiting = [q for q in ranked if q.goes_on(opening) or not (is_same(q, opening) or q.leads_to(opening))]
    words = limits.words - word_count(opening.text)

    def belongs(quotable: Quotable) -> bool:
        if quotable.is_nameless and quotable.study_id not in {q.study_id for q in chosen}:
            return False  # "the authors" would seem to be those of the study quoted before
        if quotable.chance >= scale * policy.needed_from:
            return True
        is_short = sum(q.length for q in chosen) < policy.summary_sentences_least
        return quotable.chance >= scale * policy.fills_from and (is_short or _goes_with(quotable, chosen, policy))

    def worth(quotable: Quotable) -> float:
        told = sum(other.study_id == quotable.study_id for other in chosen)
        return (
            quotable.needed + policy.neighbour_gain * _goes_with(quotable, chosen, policy) - policy.told_weight * told
        )

    waiting = [with_what_takes_back(q) for q in waiting]
    while waiting:
        best = max(filter(belongs, waiting), key=worth, default=None)
        if best is None:
            break
        waiting.remove(best)
        place = next((i for i, q in enumerate(chosen) if best.goes_on(q)), None)
        more = word_count(best.text) - (word_count(chosen[place].text) if place is not None else 0)
        if more > words or (place is None and len(chosen) >= limits.most):
            continue
        words -= more
        if place is None:
            chosen.append(best)
        else:
            best = chosen[place] = replace(chosen[place].joined(best), parts=chosen[place].parts)
        full = {q.study_id for q in chosen if limits.is_full(q.study_id, chosen, opening.study_id)}
        waiting = [q for q in waiting if any(map(q.goes_on, chosen)) or not (q.study_id in full or is_same(q, best))]
    return tuple(chosen)


def _goes_with(quotable: Quotable, chosen: Sequence[Quotable], policy: Policy) -> bool:
    """Whether it goes on from a chosen one, or leads to it, and is not far below that: what it speaks of stands there."""
    return not quotable.is_aside and any(
        quotable.needed >= other.needed - policy.neighbour_within
        for other in chosen
        if quotable.is_beside(other) or quotable.goes_on(other)
    )


def joined(chosen: Sequence[Quotable], *, opening: Quotable) -> tuple[Quotable, ...]:
    """Those that stand side by side in their passage as one, at the place of the better one; nothing comes before the opening."""
    result: list[Quotable] = []
    for quotable in chosen:
        is_before = quotable.candidate is opening.candidate and quotable.first < opening.first
        place = None if is_before else next((i for i, q in enumerate(result) if _may_join(quotable, q)), None)
        if place is None:
            result.append(quotable)
        else:
            result[place] = result[place].joined(quotable)
    return tuple(result)


def with_what_takes_back(quotable: Quotable) -> Quotable:
    """The quotation with the next sentence of its passage, where that takes back or narrows what was quoted."""
    passage, after = quotable.candidate.passage, quotable.last + 1
    if after >= len(passage.sentences):
        return quotable
    sentence = passage.sentences[after]
    text = passage.text[sentence.start : sentence.end]
    if not TAKES_BACK.search(text) or gives_orders(text):
        return quotable
    whole = passage.text[passage.sentences[quotable.first].start : sentence.end]
    return replace(quotable, text=whole, last=after, stems=quotable.stems | stem_set(text))


def _may_join(quotable: Quotable, other: Quotable) -> bool:
    return quotable.is_beside(other) and quotable.parts + other.parts <= LONGEST


def is_same(first: Quotable, second: Quotable) -> bool:
    """Whether two sentences say the same: words within words, mostly the same words, or the same figures of one study."""
    if first.text in second.text or second.text in first.text:
        return True
    alike = jaccard(first.stems, second.stems)
    if first.study_id != second.study_id:
        return alike >= REPEATED
    if alike >= REPEATED_WITHIN_STUDY or len(first.decimals & second.decimals) >= SHARED_FIGURES:
        return True
    short, long = sorted((first, second), key=lambda q: len(q.stems))
    return not short.decimals and len(short.stems & long.stems) >= HELD_WITHIN_STUDY * len(short.stems)
