"""Compose the draft of an answer: the headline's sentence, a short answer in plain words, and the details by study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from corpus_app.records import Lean, Passage
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Request
from qa_app.pipeline.question.numbers import find_years
from qa_app.pipeline.quotations import Quotation, cut, has_statistics
from qa_app.pipeline.records import Draft, DraftSentence, Mode
from qa_app.pipeline.selection import SelectionContext, relevance, select
from qa_app.pipeline.text import stem_set

INTRODUCING = frozenset({Request.OVERVIEW, Request.SOURCES})
"""Requests for the words with which sources open."""


@dataclass(frozen=True, slots=True)
class Composition:
    """Headline, summary and answer as quotations, before verification."""

    headline: Quotation
    summary: tuple[Quotation, ...]
    """Begins with the headline's quotation where that is a plain sentence."""
    answer: tuple[Quotation, ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return every quoted passage once, in order of first appearance."""
        return tuple({q.passage.passage_id: q.passage for q in self.quotations}.values())

    @property
    def quotations(self) -> tuple[Quotation, ...]:
        """Return every quotation, the headline first."""
        return (self.headline, *self.summary, *self.answer)

    def first_passages(self, most: int) -> tuple[Passage, ...]:
        """Return up to `most` quoted passages, first those of the answer's first quotation and the headline."""
        quotations = (*self.answer[:1], *self.quotations)
        return tuple({q.passage.passage_id: q.passage for q in quotations}.values())[:most]

    def draft(self) -> Draft:
        """Return the sentences as a writer gives them: one paragraph for the summary, one a study for the answer."""
        studies = {study_id: n for n, study_id in enumerate(dict.fromkeys(q.study_id for q in self.answer), start=1)}
        return Draft(
            summary=tuple(s for q in self.summary for s in _sentences(q, 0)),
            answer=tuple(s for q in self.answer for s in _sentences(q, studies[q.study_id])),
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits on words and quotations for readers of one mode."""

    summary_words: int
    answer_words: int
    quotations_leader: int
    quotations_other: int


def budget_of(policy: Policy, mode: Mode) -> Budget:
    """Return the policy's budget for readers of a mode."""
    if mode is Mode.BEGINNER:
        fewer = max(policy.quotations_leader - 2, 1), max(policy.quotations_other - 1, 1)
        return Budget(policy.summary_words_beginner, policy.answer_words_beginner, *fewer)
    words = policy.summary_words_intermediate, policy.answer_words_intermediate
    return Budget(*words, policy.quotations_leader, policy.quotations_other)


def compose(
    passages: Sequence[Passage], ranked: Sequence[str], context: SelectionContext, policy: Policy, mode: Mode
) -> Composition | None:
    """Choose headline, summary and answer from the passages of the cited studies, in the order `ranked`.

    The first study with a sentence to quote leads. None where no study has one, or nothing is left for the answer.
    """
    budget = budget_of(policy, mode)
    place = {study_id: n for n, study_id in enumerate(ranked)}
    options = [q for p in passages if p.study.study_id in place for q in cut(p, _readable_alone(p, context))]
    ordinary = [q for q in options if not q.is_plain]
    plain = _readable([q for q in options if q.is_plain], mode)
    if context.query.request is Request.TIMELINE and (events := [q for q in ordinary if context.binding(q)]):
        return _chronicle(events, place, context, policy)
    if context.query.request in INTRODUCING and ordinary:
        return _survey(ordinary, place, context, policy, budget)
    leaders = (
        [q for q in plain if context.leads(q)] or [q for q in plain if context.has_figure(q)] or [*plain, *ordinary]
    )
    leaders = [q for q in leaders if q.passage.passage_id in context.on_people] or leaders
    leader = next((study for study in ranked if any(q.study_id == study for q in leaders)), None)
    if leader is None:
        return None
    headline = _headline([p for p in passages if p.study.study_id == leader], plain, context, policy, mode)
    leader = headline.study_id
    place[leader] = -1
    fitting = [q for q in plain if context.is_on_outcome(q)]
    if context.sides:
        fitting = [q for q in plain if q.passage.finding_id in context.sides]
    elif not context.is_on_outcome(headline):
        fitting = plain
    summary = select(
        fitting,
        context,
        policy,
        words=budget.summary_words,
        most_of=lambda _: 2,
        opening=(headline, *_other_sides(headline, plain, context, policy)),
    )
    summary = _by_study(summary, place)
    answer = select(
        ordinary,
        context,
        policy,
        words=budget.answer_words,
        most_of=lambda study: budget.quotations_leader if study == leader else budget.quotations_other,
        excluded=summary,
    )
    answer = _with_every_study(answer, summary, ordinary, context, policy)
    answer = answer or _next_best(summary, ordinary, context, policy)
    if not answer and not headline.is_plain:  # all that can be quoted is one quotation
        return Composition(headline, (), (headline,))
    return Composition(headline, summary, _in_order(answer, place)) if answer else None


def _headline(
    own: Sequence[Passage], plain: Sequence[Quotation], context: SelectionContext, policy: Policy, mode: Mode
) -> Quotation:
    """Return the sentence that opens the answer: of the leading study, whose passages are `own`, where one fits.

    Where none of its plain sentences is on what the question asks about, any of its sentences may, or the plain one of
    another study.
    """
    written = [q for q in plain if q.study_id == own[0].study.study_id]
    if context.asked and written and not any(map(context.is_on_asked, written)):
        if naming := [q for q in _unwritten(own, context, policy, mode) if context.is_on_asked(q)]:
            return _best(naming, context, policy.for_unwritten)
        written = [q for q in plain if context.is_on_asked(q)] or written
    leading = written or _unwritten(own, context, policy, mode)
    leading = [q for q in leading if context.leads(q)] or [q for q in leading if context.has_figure(q)] or leading
    weights = policy if written else policy.for_unwritten
    headline = _best(leading, context, weights)
    if headline.passage.finding_id:
        headline = _best([q for q in leading if context.is_on_outcome(q)] or leading, context, weights)
    return headline


def _best(quotations: Sequence[Quotation], context: SelectionContext, policy: Policy) -> Quotation:
    return max(quotations, key=lambda q: (relevance(q, context, policy), -q.passage.passage_id))


def _other_sides(
    headline: Quotation, plain: Sequence[Quotation], context: SelectionContext, policy: Policy
) -> list[Quotation]:
    """Return the best plain sentence of each side other than the headline's, where the question asks for the sides."""
    best: dict[Lean, Quotation] = {}
    for quotation in sorted(plain, key=lambda q: -relevance(q, context, policy)):
        side = context.sides.get(quotation.passage.finding_id or 0)
        if side and side is not context.sides.get(headline.passage.finding_id or 0):
            best.setdefault(side, quotation)
    return list(best.values())


def _readable_alone(passage: Passage, context: SelectionContext) -> frozenset[int]:
    """Return the indices of sentences in which "the" needs no antecedent."""
    is_introduced = context.query.request in INTRODUCING  # by the title
    return context.sentences_with_answer(passage.passage_id) | frozenset([0] if is_introduced else [])


def _unwritten(
    passages: Sequence[Passage], context: SelectionContext, policy: Policy, mode: Mode
) -> Sequence[Quotation]:
    """Return the quotations that may lead where no curator wrote a plain sentence.

    "The" at the start of a passage needs no antecedent: no sentence of the passage stands before it.
    """
    own = [q for p in passages for q in cut(p, _readable_alone(p, context) | {0}) if not q.is_plain]
    opening = _openings(own, context, policy)
    return _readable(opening, mode) or opening


def _chronicle(
    events: Sequence[Quotation], place: Mapping[str, int], context: SelectionContext, policy: Policy
) -> Composition | None:
    """Tell events study by study, in the order of their years, the earliest of the first study at the head."""
    ordered = sorted(events, key=lambda q: (place[q.study_id], _year(q), q.passage.position, q.first))
    first, *others = ordered
    told, left = set(first.sentences), policy.answer_words_intermediate
    chosen: list[Quotation] = []
    for quotation in sorted(others, key=lambda q: -relevance(q, context, policy)):
        if quotation.words <= left and told.isdisjoint(quotation.sentences):
            chosen.append(quotation)
            told.update(quotation.sentences)
            left -= quotation.words
    return Composition(first, (first,), tuple(q for q in ordered if q in chosen)) if chosen else None


def _survey(
    ordinary: Sequence[Quotation], place: Mapping[str, int], context: SelectionContext, policy: Policy, budget: Budget
) -> Composition:
    """Let the first study speak with the words that it opens with, and each other one that is asked for.

    What fits the question is added within the budget.
    """
    ordered = sorted(ordinary, key=lambda q: (place[q.study_id], q.is_row, q.passage.position, q.first))
    first, *others = [next(own) for _, own in groupby(ordered, key=lambda q: q.study_id)]
    answer = select(
        ordinary,
        context,
        policy,
        words=budget.answer_words,
        most_of=lambda study: budget.quotations_leader if study == first.study_id else budget.quotations_other,
        opening=others if context.query.request is Request.SOURCES else (),
        excluded=(first,),
    )
    answer = answer or _next_best((first,), ordinary, context, policy)
    return Composition(first, (first,), _in_order(answer, place)) if answer else Composition(first, (), (first,))


def _year(quotation: Quotation) -> int:
    return min((int(year) for sentence in quotation.sentences for year in find_years(sentence)), default=0)


def _openings(own: Sequence[Quotation], context: SelectionContext, policy: Policy) -> Sequence[Quotation]:
    """Return the quotations of the leading study that may open an answer.

    Rows of tables do where they hold more of the answer expected than any sentence; where none is expected, where
    they name a part of the question that no sentence names.
    """
    prose, rows = [q for q in own if not q.is_row], [q for q in own if q.is_row]
    bound = max((context.binding(q) for q in prose), default=0.0)
    named = frozenset(stem for q in prose for stem in stem_set(" ".join(q.sentences)))
    if context.bindings:
        fitting = [q for q in rows if context.binding(q) > bound]
    else:
        fitting = [q for q in rows if context.share(q.terms - named) >= policy.missing_idf_share]
    return fitting or prose or own


def _next_best(
    summary: Sequence[Quotation], ordinary: Sequence[Quotation], context: SelectionContext, policy: Policy
) -> tuple[Quotation, ...]:
    """Return a tuple of the best quotation that the summary does not show; empty where there is none."""
    shown = {text for q in summary for text in q.sentences}
    others = [q for q in ordinary if shown.isdisjoint(q.sentences)]
    return (max(others, key=lambda q: relevance(q, context, policy)),) if others else ()


def _readable(quotations: Sequence[Quotation], mode: Mode) -> list[Quotation]:
    """Return the quotations that suit the mode: beginners get none with abbreviations of statistics."""
    return [q for q in quotations if mode is not Mode.BEGINNER or not has_statistics(" ".join(q.sentences))]


def _with_every_study(
    answer: tuple[Quotation, ...],
    summary: Sequence[Quotation],
    ordinary: Sequence[Quotation],
    context: SelectionContext,
    policy: Policy,
) -> tuple[Quotation, ...]:
    """Add the best quotation of each study that the summary cites and the answer does not."""
    present = {q.study_id for q in answer}
    shown = {text for q in (*summary, *answer) for text in q.sentences}
    for study_id in dict.fromkeys(q.study_id for q in summary):
        own = [q for q in ordinary if q.study_id == study_id and shown.isdisjoint(q.sentences)]
        if study_id not in present and own:
            best = max(own, key=lambda q: relevance(q, context, policy))
            answer += (best,)
            shown.update(best.sentences)
    return answer


def _by_study(quotations: Sequence[Quotation], place: Mapping[str, int]) -> tuple[Quotation, ...]:
    """Order by study, the headline's first; within a study in the order of choice."""
    return tuple(sorted(quotations, key=lambda q: place[q.study_id]))


def _in_order(quotations: Sequence[Quotation], place: Mapping[str, int]) -> tuple[Quotation, ...]:
    """Order by study, within a study by position."""
    return tuple(sorted(quotations, key=lambda q: (place[q.study_id], q.passage.position, q.first)))


def _sentences(quotation: Quotation, paragraph: int) -> list[DraftSentence]:
    return [DraftSentence(text, (quotation.passage.passage_id,), paragraph) for text in quotation.sentences]
