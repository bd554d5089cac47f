"""Group the findings of a corpus by what they compared and measured, and count where the studies of a group lean."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache

from corpus_app.records import Concept, ConceptRole, Design, Finding, Lean, Study
from qa_app.pipeline.lexicon import SENTENCE_END, language_table, words_of
from qa_app.pipeline.records import StudyLean
from qa_app.pipeline.text import stem

OUTCOME_ROLES = frozenset({ConceptRole.OUTCOME, ConceptRole.CONDITION})
MEASURE_ROLES = frozenset({ConceptRole.MEASURE})
COMPARED_ROLES = frozenset({ConceptRole.THING, ConceptRole.PARAMETER, ConceptRole.GROUP, ConceptRole.CONDITION})
COMPARATORS = language_table("comparators")["comparators"]
EARLIER_WORDS = frozenset(COMPARATORS["earlier"])
SHORTEST_STEMMED = 4  # letters; shorter names are abbreviations, and a stem would confuse them
SIDES = (Lean.YES, Lean.NO, Lean.NO_CLEAR_DIFFERENCE)
LEAST_STUDIES = 3  # a judgement: fewer are no body of evidence
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
_ALONG = re.compile(r"\b(?:with|during|while|alongside)\b", re.IGNORECASE)  # what both groups did, as a rule
ALONG_OR_BESIDE = re.compile(rf"{_ALONG.pattern}|\bplus\b", re.IGNORECASE)


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
    main: frozenset[str] = field(default=frozenset(), compare=False)
    """The part of the intervention before what went along with it: "tea" of "tea with milk"."""

    @property
    def is_mapped(self) -> bool:
        return bool(self.intervention and self.outcome)


def concepts_compared(finding: Finding, index: AliasIndex) -> frozenset[str]:
    """Return the concepts that either side of a finding names, those of both sides among them."""
    texts = (finding.intervention, finding.comparator)
    return frozenset(pk for text in texts for pk in find_concepts(text, index, COMPARED_ROLES))


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
    main = find_concepts(_ALONG.split(finding.intervention)[0], index, COMPARED_ROLES)
    return FindingConcepts(intervention - comparator, comparator - intervention, outcome, main - comparator)


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


def studies_on_question(
    interventions: Sequence[Concept],
    outcomes: Sequence[Concept],
    findings: Iterable[Finding],
    aliases: AliasIndex,
    by_id: Mapping[str, Concept],
) -> tuple[StudyLean, ...]:
    """Return where each study leans that tested just these interventions on any of these outcomes.

    What measures an outcome, or is a kind of it by its name ("grip strength" of "strength"), counts as the outcome; a
    kind of thing that an intervention is ("supplement") does not count as another intervention.
    """
    own: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.lean is None or finding.is_unconfirmed:
            continue
        concepts = map_finding(finding, aliases)
        if tests_just(concepts, interventions, by_id) and measures_any(finding, concepts, outcomes, by_id):
            own[finding.study_id].append(finding)
    return tuple(_study_lean(rows) for rows in own.values())


def tests_just(tested: FindingConcepts, interventions: Sequence[Concept], by_id: Mapping[str, Concept]) -> bool:
    """Tell whether a finding tested all of these interventions and none besides, against no other."""
    asked, broader = {concept.concept_id for concept in interventions}, _names(interventions)
    is_tested = asked <= tested.main and all(_is_kind(broader, _names([by_id[pk]])) for pk in tested.main - asked)
    return is_tested and not tested.comparator


def measures_any(
    finding: Finding, concepts: FindingConcepts, outcomes: Sequence[Concept], by_id: Mapping[str, Concept]
) -> bool:
    """Tell whether a finding measured one of these outcomes, what measures it, or kinds of it alone.

    Where its outcome maps to no concept, the words decide. `concepts` is what `map_finding` gave.
    """
    names, measured = _names(outcomes), concepts.outcome
    if not measured:
        return _names_any(finding.outcome, names)
    measures = {pk for outcome in outcomes for pk in (outcome.concept_id, *outcome.measured_by)}
    is_kind = all(pk in measures or _is_kind({_stems(by_id[pk].name)}, names) for pk in measured)
    return is_kind or not measured.isdisjoint(outcome.concept_id for outcome in outcomes)


def names_any(concepts: Iterable[Concept], asked: Concept) -> bool:
    """Tell whether one of the concepts is the one asked about, or a kind of it by its name."""
    own, names = list(concepts), _names([asked])
    return any(one.concept_id == asked.concept_id or _is_kind(_names([one]), names) for one in own)


def is_kind_of(asked: Iterable[Concept], broader: Concept) -> bool:
    """Tell whether one of the concepts asked about is, by its name, a kind of a broader one."""
    return _is_kind(_names(asked), _names([broader]))


def compared(study: StudyLean) -> StudyLean | None:
    """Return a study's lean by its findings that compare two things; None where all tell a change over time."""
    kept = [finding for finding in study.findings if EARLIER_WORDS.isdisjoint(words_of(finding.comparator))]
    return study if len(kept) == len(study.findings) else _study_lean(kept) if kept else None


def _study_lean(findings: Sequence[Finding]) -> StudyLean:
    """Join the findings of a study, those that lean as it does first.

    A study that found something on one measure and no clear difference on another has found something: no clear
    difference is no evidence that there is none.
    """
    leans = {finding.lean for finding in findings if finding.lean}
    found = leans & {Lean.YES, Lean.NO}
    joined = next(iter(found or leans)) if len(found or leans) == 1 else Lean.MIXED
    return StudyLean(tuple(sorted(findings, key=lambda finding: finding.lean is not joined)), joined)


def consensus(studies: Iterable[tuple[StudyLean, float]]) -> Lean | None:
    """Return where studies on one matter lean together; None for few, or where no side is clearly stronger.

    Each comes with its weight (`weigh`).
    """
    counted = list(studies)
    return _clear_side(sum_sides(counted)) if len(counted) >= LEAST_STUDIES else None


def sum_sides(studies: Iterable[tuple[StudyLean, float]]) -> Mapping[Lean, float]:
    """Return the weight of the studies on each side; mixed and unclear ones are on none."""
    sides: dict[Lean, float] = defaultdict(float)
    for row, weight in studies:
        if row.lean in SIDES:
            sides[row.lean] += weight
    return sides


def _clear_side(sides: Mapping[Lean, float]) -> Lean | None:
    """Return the side with `CLEARLY_STRONGER` times the weight of all others together; None where there is none."""
    strongest = max(sides, key=lambda side: sides[side], default=None)
    if strongest is None:
        return None
    return strongest if sides[strongest] >= CLEARLY_STRONGER * (sum(sides.values()) - sides[strongest]) else None


def _names(concepts: Iterable[Concept]) -> set[tuple[str, ...]]:
    return {_stems(name) for concept in concepts for name in (concept.name, *concept.aliases)} - {()}


def _is_kind(names: Set[tuple[str, ...]], general: Set[tuple[str, ...]]) -> bool:
    """Tell whether one of the names is a general one with words before it: "grip strength" is a "strength"."""
    return any(name[start:] in general for name in names for start in range(1, len(name)))


def _names_any(text: str, names: Set[tuple[str, ...]]) -> bool:
    """Tell whether a text contains one of these names, as stems."""
    stems, lengths = _stems(text), {len(name) for name in names}
    return any(stems[start : start + length] in names for start in range(len(stems)) for length in lengths)


def weigh(study: Study) -> float:
    """Return the weight of a study by its design."""
    return WEIGHTS.get(study.design, OTHER_WEIGHT)


def is_conflicting(studies: Sequence[StudyLean], weights: Mapping[str, float]) -> bool:
    """Tell whether studies on one matter lean to different sides and no side is clearly stronger.

    `weights` are by study id (`weigh`). Mixed and unclear ones do not count. One side is clearly stronger with
    `CLEARLY_STRONGER` times the weight of all others together. Studies that favour something differ from studies
    without a clear difference.
    """
    sides = sum_sides((row, weights[row.study_id]) for row in studies if row.lean in SIDES)
    return len(sides) > 1 and _clear_side(sides) is None


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
    return lean.turned if matter.comparator and sides == own[::-1] else None


@lru_cache(20_000)  # the names of concepts and findings come with every question: a tenth of its time
def _stems(text: str) -> tuple[str, ...]:
    words = (word for word in words_of(text) if word != SENTENCE_END)
    return tuple(stem(word) if len(word) >= SHORTEST_STEMMED else word for word in words)


_LESS_STEMS = frozenset(stem for word in COMPARATORS["less"] for stem in _stems(word))
