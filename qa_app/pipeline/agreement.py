"""Agreement: where each study stands on the outcome asked for, by its findings; the line that counts them, and its proof.

Studies are counted, not passages or findings. A study whose findings on the matter point in different ways is unclear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from corpus_app.records import AgeGroup, Concept, Design, Direction, Finding, Sex, Study, TrainingStatus
from qa_app.pipeline.naming import Names
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.population import is_about_others
from qa_app.pipeline.records import (
    Agreement,
    DraftSentence,
    Evidence,
    LeftOut,
    LeftOutReason,
    PopulationSplit,
    Sentence,
    SentenceKind,
    Stance,
    StudyStance,
    Understanding,
    Verdict,
)
from qa_app.pipeline.text import content_stems, stem_set

OUTCOMES = frozenset({"outcome", "measure"})
SUBJECTS = frozenset({"intervention", "nutrient", "training_variable"})
VARIABLES = frozenset({"training_variable"})  # more of it is no benefit in itself

# Outcomes of which more is wanted, and less. Of all others a change is neither good nor bad.
MORE_IS_WANTED = frozenset(
    """adherence hypertrophy muscle-fiber-hypertrophy muscle-mass lean-mass muscle-strength upper-body-strength lower-body-strength
    muscular-endurance muscle-power sprint-performance swimming-performance endurance-performance cardiorespiratory-fitness flexibility
    physical-function quality-of-life bone-mineral-density insulin-sensitivity recovery cognition muscle-cross-sectional-area
    muscle-quality one-repetition-maximum isometric-strength isokinetic-strength handgrip-strength maximal-oxygen-uptake gait-speed
    chair-stand-test bone-area""".split()
)  # fmt: skip
LESS_IS_WANTED = frozenset(
    """falls body-fat visceral-fat weight-loss fractures blood-glucose blood-pressure arterial-stiffness cardiometabolic-risk
    inflammation muscle-damage muscle-soreness adverse-events timed-up-and-go""".split()
)  # fmt: skip
REVIEWS = frozenset(
    {
        Design.META_ANALYSIS,
        Design.SYSTEMATIC_REVIEW,
        Design.UMBRELLA_REVIEW,
        Design.SCOPING_REVIEW,
        Design.NARRATIVE_REVIEW,
    }
)
TRIALS = frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL, Design.CROSSOVER_TRIAL, Design.NONRANDOMIZED_TRIAL})
GOOD = frozenset(
    {Design.META_ANALYSIS, Design.SYSTEMATIC_REVIEW, Design.UMBRELLA_REVIEW, Design.RANDOMIZED_CONTROLLED_TRIAL}
)
"""Designs whose disagreement is a conflict."""

NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()
_OPPOSITE = {Stance.FAVOURS: Stance.AGAINST, Stance.AGAINST: Stance.FAVOURS}
_SAID = {
    Stance.FAVOURS: "found a benefit",
    Stance.AGAINST: "found a disadvantage",
    Stance.NO_DIFFERENCE: "found no clear difference",
    Stance.UNCLEAR: "gave mixed or unclear results",
}
_SAID_OF_VARIABLE = _SAID | {Stance.FAVOURS: "found that it matters"}
NOUNS = ("studies", "reviews", "trials")


# --- Where studies stand ----------------------------------------------------------------------------------------------


def read(evidence: Evidence, concepts: Sequence[Concept]) -> Agreement | None:
    """Where the studies of the evidence stand on the first outcome asked for that any of them measured; None without one."""
    names = Names.of(tuple(concepts))
    for outcome in (c for c in evidence.understanding.concepts if c.kind in OUTCOMES):
        subject = _subject(evidence.understanding, outcome)
        stances = tuple(_stances(evidence, outcome, subject, names))
        if stances:
            return Agreement(outcome, subject, stances, tuple(_splits(stances, evidence)))
    return None


def _subject(understanding: Understanding, outcome: Concept) -> Concept | None:
    """What is asked about the outcome: the rarest of the interventions named, as it says most."""
    subjects = [c for c in understanding.concepts if c.kind in SUBJECTS and c.concept_id != outcome.concept_id]
    return max(subjects, key=lambda c: (c.rarity, c.concept_id), default=None)


def _stances(evidence: Evidence, outcome: Concept, subject: Concept | None, names: Names) -> Iterator[StudyStance]:
    terms = frozenset(evidence.understanding.terms) - frozenset(
        content_stems(" ".join((outcome.name, *outcome.aliases)))
    )
    for study in evidence.studies:
        own = [f for f in evidence.findings if f.study_id == study.study_id]
        matter = _without_changes([f for f in own if _is_matter(f, outcome, subject, terms, names)], subject)
        if matter and not is_about_others(study, evidence.understanding.population):
            yield StudyStance(study.study_id, _stance_of(matter, outcome, subject, names), tuple(matter))


def _without_changes(matter: Sequence[Finding], subject: Concept | None) -> Sequence[Finding]:
    """Without findings that compare a group only with itself before, where the study compared groups; and without them for a
    variable of training in any case: that people grew with light loads does not say that the load matters.
    """
    compared = [finding for finding in matter if not _BEFORE.match(finding.comparator)]
    return compared if compared or (subject and subject.kind in VARIABLES) else matter


_BEFORE = re.compile(r"\s*(?:before|baseline)\b(?!.*\bor\b)", re.IGNORECASE)


def _is_matter(
    finding: Finding, outcome: Concept, subject: Concept | None, terms: frozenset[str], names: Names
) -> bool:
    """Whether a finding is about the outcome and, on either side of its comparison, about what is asked."""
    if outcome.concept_id not in names.ids_in(finding.outcome):
        return False
    if subject is None:
        return bool(terms & stem_set(f"{finding.intervention} {finding.comparator}"))
    sides = [subject.concept_id in names.ids_in(side) for side in (finding.intervention, finding.comparator)]
    if all(sides):  # both groups had it, and something else was compared: how much of it, for a variable of training
        return subject.kind in VARIABLES
    return any(sides)


def _stance_of(matter: Sequence[Finding], outcome: Concept, subject: Concept | None, names: Names) -> Stance:
    decided = [finding for finding in matter if finding.direction is not Direction.UNCLEAR]
    stances = {stance(finding, outcome, subject, names) for finding in decided or matter}
    return stances.pop() if len(stances) == 1 else Stance.UNCLEAR


def stance(finding: Finding, outcome: Concept, subject: Concept | None, names: Names) -> Stance:
    """Where a finding stands on what is asked; turned round where that is what others were compared with."""
    stands = _BY_DIRECTION.get(finding.direction) or _wanted(finding.direction, outcome)
    if subject is None:
        return stands
    compared = subject.concept_id in names.ids_in(finding.comparator)
    had_it = subject.concept_id in names.ids_in(finding.intervention) or _LESS.match(finding.comparator)
    is_turned = compared and not had_it
    return _OPPOSITE.get(stands, stands) if is_turned else stands


_LESS = re.compile(r"\s*(?:no|without|fewer|less)\s", re.IGNORECASE)  # compared with less of it, the others had more
_BY_DIRECTION = {
    Direction.FAVOURS_INTERVENTION: Stance.FAVOURS,
    Direction.FAVOURS_COMPARATOR: Stance.AGAINST,
    Direction.NO_DIFFERENCE: Stance.NO_DIFFERENCE,
    Direction.MIXED: Stance.UNCLEAR,
    Direction.UNCLEAR: Stance.UNCLEAR,
}


def _wanted(direction: Direction, outcome: Concept) -> Stance:
    if outcome.concept_id in MORE_IS_WANTED:
        return Stance.FAVOURS if direction is Direction.INCREASE else Stance.AGAINST
    if outcome.concept_id in LESS_IS_WANTED:
        return Stance.AGAINST if direction is Direction.INCREASE else Stance.FAVOURS
    return Stance.UNCLEAR


# --- Populations and conflicts ----------------------------------------------------------------------------------------


def _splits(stances: Sequence[StudyStance], evidence: Evidence) -> Iterator[PopulationSplit]:
    """Groups of people whose studies agree among themselves and differ from each other; by age, training, then sex."""
    studies = {study.study_id: study for study in evidence.studies}
    for group_of in (_age, _training, _sex):
        groups: dict[str, list[StudyStance]] = {}
        for row in stances:
            if row.stance is not Stance.UNCLEAR and (name := group_of(studies[row.study_id])):
                groups.setdefault(name, []).append(row)
        sides = [{row.stance for row in rows} for rows in groups.values()]
        if len(groups) > 1 and all(len(side) == 1 for side in sides) and len(set.union(*sides)) > 1:
            yield from (PopulationSplit(name, tuple(rows)) for name, rows in groups.items())
            return


def _age(study: Study) -> str:
    return {AgeGroup.YOUTH: "young people", AgeGroup.ADULTS: "adults", AgeGroup.OLDER_ADULTS: "older adults"}.get(
        study.age_group, ""
    )


def _training(study: Study) -> str:
    trained = {TrainingStatus.TRAINED, TrainingStatus.ATHLETES, TrainingStatus.RECREATIONALLY_TRAINED}
    if study.training_status in trained:
        return "trained people"
    return "untrained people" if study.training_status is TrainingStatus.UNTRAINED else ""


def _sex(study: Study) -> str:
    return {Sex.FEMALE: "women", Sex.MALE: "men"}.get(study.sex, "")


def is_conflicting(agreement: Agreement | None, evidence: Evidence, policy: Policy) -> bool:
    """Whether enough good studies (reviews with a method, randomised trials) point in opposite directions."""
    if agreement is None:
        return False
    design = {study.study_id: study.design for study in evidence.studies}
    good = Counter(row.stance for row in agreement.studies if design[row.study_id] in GOOD)
    return min(good[Stance.FAVOURS], good[Stance.AGAINST]) >= policy.conflict_from


# --- The line that counts ---------------------------------------------------------------------------------------------


def lead_line(
    agreement: Agreement | None, evidence: Evidence, policy: Policy, *, paragraph: int = 0
) -> DraftSentence | None:
    """`Of the four reviews here on creatine and muscle strength, three found a benefit and one found no clear difference.`

    None where too few studies stand anywhere clear, or where what was asked about has no name.
    """
    if agreement is None or agreement.subject is None or agreement.subject.rarity < policy.counted_rarity_from:
        return None
    counts = Counter(row.stance for row in agreement.studies)
    if counts.total() - counts[Stance.UNCLEAR] < policy.counted_from:
        return None
    text = count_in_words(counts, _noun(agreement, evidence), agreement.subject, agreement.outcome)
    return DraftSentence(text, (), paragraph, tuple(f.finding_id for row in agreement.studies for f in row.findings))


def count_in_words(counts: Counter[Stance], noun: str, subject: Concept, outcome: Concept) -> str:
    said = _SAID_OF_VARIABLE if subject.kind in VARIABLES else _SAID
    if subject.kind in VARIABLES:  # more of it or less: what matters is whether it makes a difference
        counts = Counter(counts)
        counts[Stance.FAVOURS] += counts.pop(Stance.AGAINST, 0)
    about = f"here on {subject.name} and {outcome.name}"
    total = sum(counts.values())
    stands = [(stand, counts[stand]) for stand in said if counts[stand]]
    if len(stands) == 1:
        every = "Both" if total == 2 else f"All {_number(total)}"
        return f"{every} {noun} {about} {said[stands[0][0]]}."
    parts = [f"{_number(count)} {said[stand]}" for stand, count in stands]
    return f"Of the {_number(total)} {noun} {about}, {', '.join(parts[:-1])} and {parts[-1]}."


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def _noun(agreement: Agreement, evidence: Evidence) -> str:
    counted = {row.study_id for row in agreement.studies}
    designs = {study.design for study in evidence.studies if study.study_id in counted}
    return "reviews" if designs <= REVIEWS else "trials" if designs <= TRIALS else "studies"


# --- Its proof --------------------------------------------------------------------------------------------------------


def verify_count(sentence: DraftSentence, evidence: Evidence) -> tuple[Sentence | None, LeftOut | None]:
    """The sentence with the findings behind it, or why it falls: what it says is counted anew, from those findings alone."""
    known = {finding.finding_id: finding for finding in evidence.findings}
    findings = tuple(known[i] for i in sentence.finding_ids if i in known)
    if len(findings) < len(sentence.finding_ids) or not findings:
        return None, _fallen(sentence, LeftOutReason.UNKNOWN_CITATION, "it counts findings outside the evidence")
    if evidence.agreement is None or not recount(sentence.text, findings, evidence.agreement):
        return None, _fallen(
            sentence, LeftOutReason.NUMBER_MISMATCH, "the findings, counted by study, do not give these numbers"
        )
    return (
        Sentence(
            sentence.text, (), Verdict.COUNTED, "high", SentenceKind.COUNT, (), sentence.paragraph, counted=findings
        ),
        None,
    )


def recount(text: str, findings: Iterable[Finding], agreement: Agreement) -> bool:
    """Whether a counted line says, word for word, what its findings give when they are counted by study."""
    if agreement.subject is None:
        return False
    counted = {finding.study_id for finding in findings}
    stands = Counter(row.stance for row in agreement.studies if row.study_id in counted)
    if stands.total() != len(counted):
        return False
    return text in {count_in_words(stands, noun, agreement.subject, agreement.outcome) for noun in NOUNS}


def _fallen(sentence: DraftSentence, reason: LeftOutReason, detail: str) -> LeftOut:
    return LeftOut("sentence", reason, detail, None, sentence.text)
