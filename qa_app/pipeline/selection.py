"""Choose quotations by one greedy objective: relevance + coverage - redundancy - length.

The greedy algorithm for a monotone submodular objective under a budget (Lin and Bilmes 2011, ACL, section 4) is within
a constant factor of the best choice, and the gain explains each pick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from corpus_app.records import Lean, Section
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Query
from qa_app.pipeline.quotations import Quotation
from qa_app.pipeline.text import jaccard, stem_set

ROLES: Mapping[Section, float] = {
    Section.RESULTS: 1.0, Section.CONCLUSION: 1.0, Section.PRACTICAL_APPLICATIONS: 0.9, Section.ABSTRACT: 0.8,
    Section.DISCUSSION: 0.6, Section.LIMITATIONS: 0.3, Section.METHODS: 0.2, Section.BACKGROUND: 0.2,
    Section.INTRODUCTION: 0.2,
}  # fmt: skip
"""Chance that a section states findings, 0 to 1: a judgement, used where a sentence has no rhetorical role."""
ROW_ROLE = 0.3
"""Role of a row of a table: figures without a statement."""
ROLE_VALUES: Mapping[str, float] = {
    "result": 1.0,
    "conclusion": 1.0,
    "method": 0.2,
    "objective": 0.1,
    "background": 0.2,
}


@dataclass(frozen=True, slots=True)
class SelectionContext:
    """The facts about a question that selection weighs."""

    query: Query
    vector: Sequence[float] | None
    idf: Mapping[str, float]
    """Inverse document frequency by stem of the question."""
    chances: Mapping[str, float]
    """Chance that each cited study answers."""
    passage_cosines: Mapping[int, float]
    finding_id: int | None = None
    """The finding whose curated question is nearest to the question."""
    leans: Mapping[int, Lean | None] = field(default_factory=dict)
    """Where each finding leans, by its id."""
    leading: frozenset[int] = frozenset()
    """Findings of which one opens the answer, whichever study it is of; empty where any may."""
    on_outcome: frozenset[int] = frozenset()
    """Plain passages on an outcome that the question names, by id: they open before findings on others."""
    on_people: frozenset[int] = frozenset()
    """Plain passages on the people and an intervention that the question names, by id: one of them opens the answer."""
    asked: tuple[frozenset[str], ...] = ()
    """Stems of each name of what the question asks about: what no study is about, or else its interventions."""
    compared: Mapping[int, str] = field(default_factory=dict)
    """What each finding compared, in its words, by its id."""
    sides: Mapping[int, Lean] = field(default_factory=dict)
    """The side of each finding where a question asks why studies disagree: the answer opens with each."""
    bindings: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """How well a sentence with an answer of the expected type names what is asked about, by passage and index."""

    figures: frozenset[int] = frozenset()
    """Plain passages with the figure that a question asks for, by id: they open before others."""

    def sentences_with_answer(self, passage_id: int) -> frozenset[int]:
        """Return the indices of the passage's sentences that hold an answer of the expected type."""
        return frozenset(n for pk, n in self.bindings if pk == passage_id)

    def binding(self, option: Quotation) -> float:
        """Return how well the quotation's sentence holds the expected answer, 0 to 1."""
        return self.bindings.get((option.passage.passage_id, option.core), 0.0)

    def leads(self, option: Quotation) -> bool:
        """Tell whether the quotation states a finding that opens the answer."""
        return option.passage.finding_id in self.leading

    def has_figure(self, option: Quotation) -> bool:
        """Tell whether the quotation holds the figure that the question asks for."""
        return option.passage.passage_id in self.figures

    def is_on_asked(self, option: Quotation) -> bool:
        """Tell whether the quotation's core sentence, or what its finding compared, has one of the names in `asked`."""
        sentence = option.passage.sentences[option.core]
        text = option.passage.text[sentence.start : sentence.end]
        stems = stem_set(f"{text} {self.compared.get(option.passage.finding_id or 0, '')}")
        return any(name <= stems for name in self.asked)

    def is_on_outcome(self, option: Quotation) -> bool:
        """Tell whether the quotation is on an outcome that the question names."""
        return option.passage.passage_id in self.on_outcome

    def share(self, terms: frozenset[str]) -> float:
        """Return the share of the question, by rarity, that these stems name, 0 to 1."""
        total = sum(self.idf.values())
        return sum(value for term, value in self.idf.items() if term in terms) / total if total else 0.0


@dataclass
class _Chosen:
    quotations: list[Quotation] = field(default_factory=list)
    terms: frozenset[str] = frozenset()
    words: int = 0
    sides: set[Lean] = field(default_factory=set)
    per_study: dict[str, int] = field(default_factory=dict)

    def add(self, option: Quotation, lean: Lean | None) -> None:
        self.quotations.append(option)
        self.terms |= option.terms
        self.words += option.words
        self.per_study[option.study_id] = self.per_study.get(option.study_id, 0) + 1
        if lean is not None:
            self.sides.add(lean)


def relevance(option: Quotation, context: SelectionContext, policy: Policy) -> float:
    """Score one option by itself: meaning, words, role and the chance of its study."""
    sentence = option.passage.sentences[option.core]
    section = option.passage.section
    role = ROLE_VALUES.get(sentence.role, ROLES[section])
    if section in context.query.sections:
        role = 1.0
    if option.is_row:
        role = min(role, ROW_ROLE)
    score = option.cosine(context.vector)
    score += policy.passage_weight * context.passage_cosines.get(option.passage.passage_id, 0.0)
    score += policy.term_weight * context.share(option.terms)
    score += policy.role_weight * role * (1.0 if sentence.self_containedness is None else sentence.self_containedness)
    score += policy.study_weight * context.chances.get(option.study_id, 0.0)
    if option.passage.finding_id is not None and option.passage.finding_id == context.finding_id:
        score += policy.finding_weight
    return score + policy.answer_weight * context.binding(option)


def select(
    options: Sequence[Quotation],
    context: SelectionContext,
    policy: Policy,
    *,
    words: int,
    most_of: Callable[[str], int],
    opening: Sequence[Quotation] = (),
    excluded: Sequence[Quotation] = (),
) -> tuple[Quotation, ...]:
    """Return the options chosen within a budget of words, in the order of choice; `opening` comes first and always.

    `most_of` gives the most quotations of a study. No sentence is chosen twice, and none of `excluded`.
    """
    chosen = _Chosen()
    texts = [frozenset(option.sentences) for option in options]
    shown = {text for quotation in (*opening, *excluded) for text in quotation.sentences}
    scores = [relevance(option, context, policy) for option in options]
    best_of: dict[str, float] = {}
    for option, score in zip(options, scores, strict=True):
        best_of[option.study_id] = max(score, best_of.get(option.study_id, score))
    for option in opening:
        chosen.add(option, _lean(option, context))
    while True:
        best, gain = None, policy.least_gain
        for option, score, own in zip(options, scores, texts, strict=True):
            if score < policy.least_share * best_of[option.study_id]:
                continue
            fits = chosen.words + option.words <= words or not chosen.quotations
            if not fits or chosen.per_study.get(option.study_id, 0) >= most_of(option.study_id):
                continue
            if not shown.isdisjoint(own):
                continue
            found = score + _novelty(option, chosen, context, policy) - policy.length_weight * option.words / 100
            if found > gain:
                best, gain = option, found
        if best is None:
            return tuple(chosen.quotations)
        chosen.add(best, _lean(best, context))
        shown.update(best.sentences)


def _novelty(option: Quotation, chosen: _Chosen, context: SelectionContext, policy: Policy) -> float:
    gain = policy.coverage_weight * context.share(option.terms - chosen.terms)
    if option.study_id not in chosen.per_study:
        gain += policy.new_study_weight * context.chances.get(option.study_id, 0.0)
    lean = _lean(option, context)
    if lean is not None and chosen.sides and lean not in chosen.sides:
        gain += policy.new_side_weight
    same = max((jaccard(option.terms, other.terms) for other in chosen.quotations), default=0.0)
    return gain - policy.redundancy_weight * same


def _lean(option: Quotation, context: SelectionContext) -> Lean | None:
    finding_id = option.passage.finding_id
    return None if finding_id is None else context.leans.get(finding_id)
