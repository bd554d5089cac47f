"""Group the findings of a corpus by what they compared and measured, and count where the studies of a group lean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from corpus_app.records import Concept, ConceptRole, Design, Finding, Lean, Study
from qa_app.pipeline.lexicon import SENTENCE_END, words_of
from qa_app.pipeline.records import StudyLean
from qa_app.pipeline.text import stem

OUTCOME_ROLES = frozenset({ConceptRole.OUTCOME, ConceptRole.CONDITION})
MEASURE_ROLES = frozenset({ConceptRole.MEASURE})
COMPARED_ROLES = frozenset({ConceptRole.THING, ConceptRole.PARAMETER, ConceptRole.GROUP, ConceptRole.CONDITION})
LESS_WORDS = frozenset(
    {"no", "non", "not", "without", "less", "lower", "fewer", "reduced", "lowest", "smaller", "minimal"}
)
"""Words for less of something, or none of it: a comparator so described is not another intervention."""
SHORTEST_STEMMED = 4  # letters; shorter names are abbreviations, and a stem would confuse them
SIDES = (Lean.YES, Lean.NO, Lean.NO_CLEAR_DIFFERENCE)
CLEARLY_STRONGER = 2.0  # a judgement: two thirds of the weight of the studies that lean somewhere
REVIEWS = frozenset({Design.META_ANALYSIS, Design.SYSTEMATIC_REVIEW, Design.UMBRELLA_REVIEW})
"""Reviews with a method."""
REVIEW_WEIGHT, RANDOMISED_WEIGHT, COMPARED_WEIGHT, OTHER_WEIGHT = 4.0, 2.0, 1.0, 0.5  # judgements: each tier halves
WEIGHTS: Mapping[str, float] = {
    **dict.fromkeys(REVIEWS, REVIEW_WEIGHT),
    Design.RANDOMIZED_CONTROLLED_TRIAL: RANDOMISED_WEIGHT,
    Design.CROSSOVER_TRIAL: RANDOMISED_WEIGHT,
    Design.NONRANDOMIZED_TRIAL: COMPARED_WEIGHT,
    Design.COHORT_STUDY: COMPARED_WEIGHT,
}
_REVERSED: Mapping[Lean, Lean] = {Lean.YES: Lean.NO, Lean.NO: Lean.YES}


@dataclass(frozen=True, slots=True)
class AliasIndex:
    """Concepts by the stems of each of their names."""

    concepts: Mapping[tuple[str, ...], Concept]
    longest: int
    """Words of the longest name."""


@dataclass(frozen=True, slots=True)
class FindingConcepts:
    """Concept ids of what a finding compared and measured; what both sides had is in neither."""

    intervention: frozenset[str]
    comparator: frozenset[str]
    outcome: frozenset[str]

    @property
    def is_mapped(self) -> bool:
        return bool(self.intervention and self.outcome)


def build_alias_index(concepts: Iterable[Concept]) -> AliasIndex:
    """Index concepts by name and aliases; a name that two concepts claim stays with the first."""
    index: dict[tuple[str, ...], Concept] = {}
    for concept in concepts:
        for name in (concept.name, *concept.aliases):
            index.setdefault(_stems(name), concept)
    index.pop((), None)
    return AliasIndex(index, max(map(len, index), default=0))


def find_concepts(
    text: str, index: AliasIndex, roles: frozenset[ConceptRole], *, skips_less: bool = False
) -> frozenset[str]:
    """Return ids of the concepts of these roles that a text names: the longest name first, no word counted twice.

    `skips_less` leaves out a concept directly after a word such as "no" or "less".
    """
    stems, found, start = _stems(text), set(), 0
    while start < len(stems):
        ends = range(min(len(stems), start + index.longest), start, -1)
        end = next((end for end in ends if stems[start:end] in index.concepts), 0)
        if end:
            concept = index.concepts[stems[start:end]]
            is_less = skips_less and start > 0 and stems[start - 1] in _LESS_STEMS
            if concept.role in roles and not is_less:
                found.add(concept.concept_id)
        start = end or start + 1
    return frozenset(found)


def map_finding(finding: Finding, index: AliasIndex) -> FindingConcepts:
    """Return the concepts that the sides and the outcome of a finding name.

    A measure counts as the outcome only where no outcome is named, and bracketed words only where no others match.
    """
    intervention = find_concepts(finding.intervention, index, COMPARED_ROLES)
    comparator = find_concepts(finding.comparator, index, COMPARED_ROLES, skips_less=True)
    texts = (finding.outcome.partition("(")[0], finding.outcome)
    outcomes = (find_concepts(text, index, roles) for roles in (OUTCOME_ROLES, MEASURE_ROLES) for text in texts)
    outcome = next(filter(None, outcomes), frozenset[str]())
    return FindingConcepts(intervention - comparator, comparator - intervention, outcome)


def studies_on(
    matter: FindingConcepts,
    findings: Iterable[Finding],
    concepts: Mapping[int, FindingConcepts],
    outcomes: frozenset[str] = frozenset(),
) -> tuple[StudyLean, ...]:
    """Return where each study leans on what a finding compared and measured, in the order of the findings.

    `findings` are those of all studies that readers may see, `concepts` what `map_finding` gave, by finding id. A study
    counts once; unconfirmed findings, and those without a lean, do not count. `outcomes` count as the one measured.
    Empty where the matter is not mapped.
    """
    own: dict[str, list[tuple[Finding, Lean]]] = defaultdict(list)
    for finding in findings if matter.is_mapped else ():
        lean = _lean_on(matter, concepts[finding.finding_id], finding.lean, outcomes)
        if lean and not finding.is_unconfirmed:
            own[finding.study_id].append((finding, lean))
    return tuple(
        StudyLean(
            tuple(finding for finding, _ in rows), rows[0][1] if len({lean for _, lean in rows}) == 1 else Lean.MIXED
        )
        for rows in own.values()
    )


def weigh(study: Study) -> float:
    """Return the weight of a study by its design."""
    return WEIGHTS.get(study.design, OTHER_WEIGHT)


def is_conflicting(studies: Sequence[StudyLean], weights: Mapping[str, float]) -> bool:
    """Tell whether studies on one matter lean to different sides and no side is clearly stronger.

    `weights` are by study id (`weigh`). Mixed and unclear ones do not count. One side is clearly stronger with
    `CLEARLY_STRONGER` times the weight of all others together. Studies that favour something differ from studies
    without a clear difference.
    """
    sides: dict[Lean, float] = defaultdict(float)
    for row in studies:
        if row.lean in SIDES:
            sides[row.lean] += weights[row.study_id]
    strongest = max(sides.values(), default=0.0)
    return len(sides) > 1 and strongest < CLEARLY_STRONGER * (sum(sides.values()) - strongest)


def _lean_on(
    matter: FindingConcepts, other: FindingConcepts, lean: Lean | None, outcomes: frozenset[str]
) -> Lean | None:
    """Return the lean of another finding as seen from a matter; None where it has none, or is on something else."""
    is_measured = other.outcome == matter.outcome or (bool(other.outcome) and other.outcome <= outcomes)
    sides, own = (other.intervention, other.comparator), (matter.intervention, matter.comparator)
    if not is_measured or lean is None:
        return None
    if sides == own:
        return lean
    return _REVERSED.get(lean, lean) if matter.comparator and sides == own[::-1] else None


def _stems(text: str) -> tuple[str, ...]:
    words = (word for word in words_of(text) if word != SENTENCE_END)
    return tuple(stem(word) if len(word) >= SHORTEST_STEMMED else word for word in words)


_LESS_STEMS = frozenset(stem for word in LESS_WORDS for stem in _stems(word))
