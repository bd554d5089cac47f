"""The extractive writer: picks the sentences that answer, word for word, and puts them in a reader's order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from corpus_app.records import Section
from qa_app.pipeline.agreement import counted_lines, goes_beyond
from qa_app.pipeline.generation.choosing import (
    Limits,
    is_same,
    joined,
    pick,
    with_gaps_filled,
    with_its_rest,
    with_what_is_asked,
    with_what_takes_back,
)
from qa_app.pipeline.generation.counted import number_asked
from qa_app.pipeline.generation.sentences import Quotable, find_hanging, rank_sentences
from qa_app.pipeline.naming import MEASURED
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.population import is_about_others
from qa_app.pipeline.records import Draft, DraftSentence, Evidence, Generator, Mode, Stance
from qa_app.pipeline.text import stem_set, word_count
from qa_app.pipeline.unstudied import find_subjects
from qa_app.pipeline.wording import Sound

EXTRACTIVE = Generator(name="extractive", version="17")

NEVER_SURER = 0.01  # nor less sure, of 0 and 1, is a chance that a study bears on the question
FAR_FROM_BEST = 0.5  # log odds below the best of its passage from which a sentence does not stand before that one


class ExtractiveWriter:
    """Deterministic; needs no key and no network. Writes nothing where no sentence is likely to answer."""

    name = EXTRACTIVE.name

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        ranked, mode = rank_sentences(evidence, policy), evidence.question.mode
        if not any(q.chance >= policy.says_from or not q.cosine for q in ranked):
            return Draft((), (), find_hanging(evidence, ())), EXTRACTIVE
        wants_limits = Section.LIMITATIONS in evidence.understanding.target_sections
        body = [q for q in ranked if wants_limits or q.section is not Section.LIMITATIONS] or list(ranked)
        room = Room.of(mode, policy)
        opening = _opening(body, evidence, policy)
        chosen = _chosen(body, room, policy, opening=opening, evidence=evidence)
        summary = _summary(chosen, room, policy)
        limit = () if wants_limits else _limit(ranked, chosen, summary, policy)
        rest = _within([q for q in _in_order(chosen) if q not in summary], room.answer - _words(limit))
        if limit and not rest and len(summary) > 1 and sum(q.length for q in summary) >= policy.summary_sentences_most:
            summary, rest = summary[:-1], summary[-1:]
        counted = _counted((*summary, *rest, *limit), evidence, policy)
        short = (*counted, *(_draft(q, 0) for q in summary))
        if not rest:  # only the limit is left to say
            short += tuple(_draft(q, 1) for q in limit)
        answer = _answer(rest, limit, evidence) if rest else short[len(counted) :]
        return Draft(short, answer, find_hanging(evidence, (*summary, *rest, *limit))), EXTRACTIVE


def _counted(quoted: Sequence[Quotable], evidence: Evidence, policy: Policy) -> tuple[DraftSentence, ...]:
    """The lines that count, unless something quoted is a word on the matter by a study that is not counted."""
    stands = evidence.agreement
    if stands is None or any(goes_beyond(q.text, q.study_id, stands, evidence) for q in quoted):
        return ()
    return counted_lines(stands, evidence, policy)


@dataclass(frozen=True, slots=True)
class Room:
    """How much a reader is told."""

    most: int
    """Quotations of the summary."""
    summary: int
    """Words of the summary."""
    answer: int
    """Words of the answer."""
    long_from: int
    """Words of both from which on a sentence has to be needed more."""

    @staticmethod
    def of(mode: Mode, policy: Policy) -> Room:
        if mode is Mode.BEGINNER:
            sentences, words, long_from = (
                policy.summary_sentences_beginner,
                policy.words_beginner,
                policy.long_from_beginner,
            )
        else:
            sentences, words, long_from = (
                policy.summary_sentences_intermediate,
                policy.words_intermediate,
                policy.long_from_intermediate,
            )
        return Room(sentences, policy.words_summary, words, long_from)


def _chosen(
    body: Sequence[Quotable], room: Room, policy: Policy, *, opening: Quotable, evidence: Evidence
) -> tuple[Quotable, ...]:
    """All that is quoted, the sentence that opens the answer first, then the most direct ones."""
    limits = Limits(
        policy.answer_sentences,
        room.summary + room.answer,
        policy.answer_per_study,
        policy.answer_per_other_study,
        room.long_from,
    )
    outcomes = tuple(concept for concept in evidence.understanding.concepts if concept.kind in MEASURED)
    findings = evidence.findings if opening.serves is None and not outcomes else ()
    # What no study is about may be named in one all the same: "constipation" among the harms of a diet.
    subjects = find_subjects(evidence.question.searched, evidence.understanding)
    wanted = (*outcomes, *(subject.concept for subject in subjects if subject.is_asked_about))
    told_apart = outcomes if opening.serves is None else ()
    picked = pick(body, limits, policy, opening=opening, wanted=wanted, outcomes=told_apart, findings=findings)
    first, *others = with_gaps_filled(joined(picked, opening=opening))
    whole = with_its_rest(first)
    told = (whole, *(q for q in others if q.text not in whole.text))
    # Words of the outcomes asked about: "LDL cholesterol did not differ" is told where the sentence before it is.
    of_outcomes = frozenset().union(*(stem_set(" ".join((c.name, *c.aliases))) for c in outcomes))
    return with_what_is_asked(told, of_outcomes.intersection(evidence.understanding.terms))


def _opening(body: Sequence[Quotable], evidence: Evidence, policy: Policy) -> Quotable:
    """Of the study of the best sentence the one that makes the best first sentence, if it is not far below that. How likely the study
    bears on the question counts beside how well the sentence answers it.

    People whom nobody asked about do not open where others can, and where a number is asked for, what comes close to the question
    counts beside how it sounds, and what gives that number counts more. The one before it in its passage stands first where it would
    open the answer about as well, and with it where it is needed too: what leads to the opening is not told after it.
    """
    asked = evidence.understanding.population
    body = [q for q in body if not is_about_others(q.candidate.passage.study, asked)] or body
    near = policy.opening_number_weight if number_asked(evidence.question.searched) else 0.0

    def answers(quotable: Quotable) -> float:
        return near * quotable.cosine + policy.opening_serves_weight * (quotable.serves is True)

    def leads(quotable: Quotable) -> float:
        return quotable.leads + answers(quotable) + policy.opening_bears_weight * _log_odds(quotable.bears)

    def opens(quotable: Quotable) -> float:
        beside = policy.nameless_weight * quotable.is_nameless + policy.unasked_weight * (
            (quotable.is_aside or sets_out(quotable)) and not quotable.serves
        )
        return quotable.opening + answers(quotable) - beside

    best = max(body, key=leads)
    fit = [q for q in body if q.study_id == best.study_id and leads(q) >= leads(best) - policy.opening_within]
    opening = max(fit, key=lambda q: (opens(q), -body.index(q)))
    for other in sorted(fit, key=lambda q: -q.last):
        is_next = other.candidate is opening.candidate and other.last == opening.first - 1
        if is_next and opens(other) >= opens(opening) - FAR_FROM_BEST:
            opening = other
    while before := next((q for q in body if _is_needed_before(opening, q, policy)), None):
        opening = before.joined(opening)
    return opening


def _log_odds(chance: float) -> float:
    """Of a chance that is never quite 0 nor 1."""
    kept = min(1 - NEVER_SURER, max(NEVER_SURER, chance))
    return math.log(kept / (1 - kept))


def sets_out(quotable: Quotable) -> bool:
    """Whether its first sentence only says what was looked for, or what will be told."""
    first = quotable.candidate.passage.sentences[quotable.first]
    return Sound.of(quotable.candidate.passage.text[first.start : first.end]).is_aim


def _is_needed_before(opening: Quotable, quotable: Quotable, policy: Policy) -> bool:
    return quotable.leads_to(opening) and quotable.chance >= policy.needed_from and not quotable.is_aside


def _summary(chosen: Sequence[Quotable], room: Room, policy: Policy) -> tuple[Quotable, ...]:
    """The most direct ones: at least so many sentences where there are, and of more than one study where there are others."""
    floor = max(q.score for q in chosen) - policy.summary_within
    summary: list[Quotable] = [chosen[0]]
    others = [q for q in chosen[1:] if q.score >= floor and not (q.is_aside or q.is_further)]
    firsts = [q for n, q in enumerate(others) if q.study_id not in {o.study_id for o in (chosen[0], *others[:n])}]
    for quotable in dict.fromkeys((*firsts, *others, *chosen[1:])):
        told = sum(q.length for q in summary)
        if len(summary) >= room.most or told >= policy.summary_sentences_most:
            break
        is_short = told < policy.summary_sentences_least or len(summary) < policy.summary_sentences_least
        fits = _words((*summary, quotable)) <= room.summary and told + quotable.length <= policy.summary_sentences_most
        if is_short and fits:
            summary.append(quotable)
    return _in_order(summary)


def _answer(rest: Sequence[Quotable], limit: Sequence[Quotable], evidence: Evidence) -> tuple[DraftSentence, ...]:
    """What the summary has not said, a paragraph for the studies that found the same, then a limit of what was cited."""
    stands = {row.study_id: row.stance for row in evidence.agreement.studies} if evidence.agreement else {}

    def group(quotable: Quotable) -> str:
        stance = stands.get(quotable.study_id, Stance.UNCLEAR)
        return quotable.study_id if stance is Stance.UNCLEAR else stance.value

    paragraphs = list(dict.fromkeys(map(group, rest)))
    return (
        *(_draft(q, paragraphs.index(group(q))) for q in sorted(rest, key=lambda q: paragraphs.index(group(q)))),
        *(_draft(q, len(paragraphs)) for q in limit),
    )


def _in_order(chosen: Sequence[Quotable]) -> tuple[Quotable, ...]:
    """A study's sentences together, the first of all first; the passage of its first sentence first, in the passage's own order.

    Apart from each other they read as scraps. A sentence that is far from the best of its passage does not stand before that one,
    nor anything before the opening; talk about the literature comes after what was found.
    """

    def place(quotable: Quotable) -> tuple[int, bool, int, bool, int]:
        passage = [q for q in chosen if q.candidate is quotable.candidate]
        is_far = quotable.score < max(q.score for q in passage) - FAR_FROM_BEST or (
            quotable is not chosen[0] and chosen[0] in passage
        )
        return (
            studies.index(quotable.study_id), quotable is not chosen[0] and quotable.is_aside,
            passages.index(quotable.candidate.passage.passage_id), is_far, quotable.first,
        )  # fmt: skip

    studies = list(dict.fromkeys(q.study_id for q in chosen))
    passages = list(dict.fromkeys(q.candidate.passage.passage_id for q in chosen))
    return tuple(sorted(chosen, key=place))


def _within(quotables: Sequence[Quotable], words: int) -> tuple[Quotable, ...]:
    """Those that fit, one after another; the first in any case."""
    kept: list[Quotable] = []
    for quotable in quotables:
        if not kept or _words((*kept, quotable)) <= words:
            kept.append(quotable)
    return tuple(kept)


def _words(quotables: Sequence[Quotable]) -> int:
    return sum(word_count(q.text) for q in quotables)


def _limit(
    ranked: Sequence[Quotable], chosen: Sequence[Quotable], summary: Sequence[Quotable], policy: Policy
) -> tuple[Quotable, ...]:
    """The limitation of the studies of the summary that is needed most, if a short answer needs one and it says what is new."""
    cited = {q.study_id for q in summary}
    limits = [
        q
        for q in ranked
        if q.section is Section.LIMITATIONS
        and q.study_id in cited
        and q.chance >= policy.needed_from
        and not any(is_same(q, other) for other in chosen)
    ]
    return (with_what_takes_back(max(limits, key=lambda q: q.needed)),) if limits else ()


def _draft(quotable: Quotable, paragraph: int) -> DraftSentence:
    return DraftSentence(quotable.text, (quotable.candidate.passage.passage_id,), paragraph)
