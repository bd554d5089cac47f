"""Agreement: where each study stands on the outcome asked for, by its findings; the line that counts them, and its proof.

Studies are counted, not passages or findings. A study whose findings on the matter point in different ways is unclear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from corpus_app.records import (
    AgeGroup,
    Concept,
    Design,
    Direction,
    Finding,
    Passage,
    Sex,
    Study,
    TrainingStatus,
    Wanted,
)
from qa_app.pipeline.alternatives import find_set_apart
from qa_app.pipeline.naming import DONE, MEASURED, VARIABLE, Names, find_name_spans, names_of
from qa_app.pipeline.naming import names as is_named
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.population import is_about, is_about_others, names_others
from qa_app.pipeline.records import (
    TELLING,
    Agreement,
    Candidate,
    DraftSentence,
    Evidence,
    LeftOut,
    LeftOutReason,
    Population,
    PopulationSplit,
    Sentence,
    SentenceKind,
    Stance,
    StudyStance,
    Understanding,
    Verdict,
)
from qa_app.pipeline.text import content_stems, folded, stem_set

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

NAMELESS_SHARE = 0.5  # of the question's other words, from which a finding is on what it asks by no name of a concept
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()
_OPPOSITE = {Stance.FAVOURS: Stance.AGAINST, Stance.AGAINST: Stance.FAVOURS}
_SAID = {
    Stance.FAVOURS: "found a benefit",
    Stance.AGAINST: "found a disadvantage",
    Stance.NO_DIFFERENCE: "found no clear difference",
    Stance.UNCLEAR: "gave mixed or unclear results",
}
_SAID_OF_VARIABLE = _SAID | {Stance.FAVOURS: "found that it matters"}
_ONE = {"studies": "study", "reviews": "review", "trials": "trial"}
NOUNS = tuple(_ONE)


# --- Where studies stand ----------------------------------------------------------------------------------------------


def read(evidence: Evidence, concepts: Sequence[Concept]) -> Agreement | None:
    """Where the studies of the evidence stand on the first outcome asked for that any of them measured; None without one, and where
    the sexes are compared: what was found of one says nothing of both.
    """
    if len(evidence.understanding.population.sexes) > 1 and _COMPARES.search(evidence.question.searched):
        return None
    names = names_of(concepts)
    for outcome in (c for c in evidence.understanding.concepts if c.kind in MEASURED):
        subject = _subject(evidence, outcome)
        stances = tuple(_stances(evidence, outcome, subject, names))
        if stances:
            return Agreement(outcome, subject, stances, tuple(_splits(stances, subject, evidence)))
    return None


_SEX = r"(?:wom[ae]n|m[ae]n|females?|males?|girls?|boys?|guys?|ladies|blokes?)"
_COMPARES = re.compile(
    rf"\b(?:than|vs\.?|versus|same|equal\w*|match\w*|differ\w*|compar\w*)\b|\bas\b.{{1,40}}\bas\b|\blike {_SEX}\b|\b{_SEX} or (?:just |only )?{_SEX}\b",
    re.IGNORECASE,
)


def uncounted(
    agreement: Agreement | None, evidence: Evidence, findings: Iterable[Finding], concepts: Sequence[Concept]
) -> frozenset[str]:
    """The studies of these findings that found something on the same matter and are not in the evidence: a count would miss them."""
    if agreement is None or agreement.subject is None:
        return frozenset()
    names, terms = names_of(concepts), _other_terms(evidence.understanding, agreement.outcome)
    inside = {study.study_id for study in evidence.studies}
    return frozenset(
        finding.study_id
        for finding in findings
        if finding.study_id not in inside
        and _is_matter(finding, agreement.outcome, agreement.subject, terms, names)
        and not _is_of_others(finding, evidence.understanding.population)
    )


def untold(agreement: Agreement | None, evidence: Evidence, found: Iterable[Candidate]) -> frozenset[str]:
    """The studies that the search `found`, of the people asked about, that say something on the same matter in a sentence but have no finding on it.

    What they say cannot be counted, so nothing is said of "all studies here".
    """
    if agreement is None or agreement.subject is None:
        return frozenset()
    subject, outcome = agreement.subject, agreement.outcome
    counted, asked = {row.study_id for row in agreement.studies}, evidence.understanding.population
    return frozenset(
        passage.study.study_id
        for passage in (candidate.passage for candidate in found)
        if passage.study.study_id not in counted
        and passage.section in TELLING
        and not is_about_others(passage.study, asked)
        and any(is_named(text, subject) and is_named(text, outcome) for text in _sentences(passage))
    )


def _sentences(passage: Passage) -> Iterator[str]:
    return (passage.text[sentence.start : sentence.end] for sentence in passage.sentences)


def is_led(agreement: Agreement, evidence: Evidence) -> bool:
    """Whether the study that comes closest to the question has a say; else what is counted may not be what was asked."""
    return evidence.leading_study in {row.study_id for row in agreement.studies}


def _other_terms(understanding: Understanding, outcome: Concept) -> frozenset[str]:
    """What the question says beside the names of the outcome."""
    return frozenset(understanding.terms) - frozenset(content_stems(" ".join((outcome.name, *outcome.aliases))))


def _subject(evidence: Evidence, outcome: Concept) -> Concept | None:
    """What is asked about the outcome: the rarest of the interventions named, as it says most; of two that the question sets against
    each other the one that it names first.
    """
    subjects = [c for c in evidence.understanding.concepts if c.kind in DONE and c.concept_id != outcome.concept_id]
    rarest = max(subjects, key=lambda c: (c.rarity, c.concept_id), default=None)
    if rarest is None or len(subjects) < 2:
        return rarest
    pairs = find_set_apart(evidence.question.searched, evidence.understanding)
    compared = (c for c in subjects if c is rarest or frozenset((c.concept_id, rarest.concept_id)) in pairs)
    return next(compared)


def _stances(evidence: Evidence, outcome: Concept, subject: Concept | None, names: Names) -> Iterator[StudyStance]:
    terms = _other_terms(evidence.understanding, outcome)
    for study in evidence.studies:
        asked = evidence.understanding.population
        own = [f for f in evidence.findings if f.study_id == study.study_id and not _is_of_others(f, asked)]
        matter = _without_changes([f for f in own if _is_matter(f, outcome, subject, terms, names)], subject)
        if matter and not is_about_others(study, asked):
            stands = _stance_of(matter, outcome, subject, names)
            near = [f for f in own if is_named(f.outcome, outcome) and _is_on_subject(f, subject, terms, names)]
            if _stance_of([*matter, *near], outcome, subject, names) is not stands:
                stands = Stance.UNCLEAR  # of leg press 1RM it found something else than of 1RM
            yield StudyStance(study.study_id, stands, tuple(matter))


def _without_changes(matter: Sequence[Finding], subject: Concept | None) -> Sequence[Finding]:
    """Without findings that compare a group only with itself before, where the study compared groups; and without them for a
    variable of training in any case: that people grew with light loads does not say that the load matters.
    """
    compared = [finding for finding in matter if not _BEFORE.match(finding.comparator)]
    return compared if compared or (subject and subject.kind == VARIABLE) else matter


_BEFORE = re.compile(r"\s*(?:before|baseline)\b(?!.*\bor\b)", re.IGNORECASE)


def _is_of_others(finding: Finding, asked: Population) -> bool:
    """Whether a finding names people, and others than the question: what a review found of young women is nothing for girls."""
    return names_others(folded(" ".join((finding.intervention, finding.comparator, finding.outcome))), asked)


def _is_matter(
    finding: Finding, outcome: Concept, subject: Concept | None, terms: frozenset[str], names: Names
) -> bool:
    """Whether a finding is about the outcome and, on either side of its comparison, about what is asked."""
    return outcome.concept_id in names.ids_in(finding.outcome) and _is_on_subject(finding, subject, terms, names)


def _is_on_subject(finding: Finding, subject: Concept | None, terms: frozenset[str], names: Names) -> bool:
    """Whether what is asked about the outcome stands on a side of what a finding compares."""
    if subject is None:
        return len(terms & stem_set(f"{finding.intervention} {finding.comparator}")) >= max(
            1, NAMELESS_SHARE * len(terms)
        )
    sides = [subject.concept_id in names.ids_in(side) for side in (finding.intervention, finding.comparator)]
    if all(sides):  # both groups had it, and something else was compared: how much of it, for a variable of training
        return subject.kind == VARIABLE
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
    is_turned = compared and not _had_it(finding, subject, names)
    return _OPPOSITE.get(stands, stands) if is_turned else stands


def _had_it(finding: Finding, subject: Concept, names: Names) -> bool:
    """Whether those who were compared with others had what is asked about, or more of it: against a "lower-protein diet", but not
    against "low-load training" where that is what is asked about.
    """
    less = _LESS.match(finding.comparator)
    had_less = less is not None and subject.concept_id in names.ids_in(finding.comparator[less.end() :])
    return had_less or (
        subject.concept_id in names.ids_in(finding.intervention) and not _is_less_of(finding.intervention, subject)
    )


def _is_less_of(side: str, subject: Concept) -> bool:
    """Whether a side of a comparison had less of just that: "low-volume training" of volume, but not "low-load training" of low loads,
    nor "low-load training to failure" of failure.
    """
    less = _LESS.match(side)
    return less is not None and any(start == 0 for start, _, _ in find_name_spans(side[less.end() :], (subject,)))


# Compared with less of it, the others had more.
_LESS = re.compile(r"\s*(?:no|without|fewer|less|lower|low|lesser|reduced|smaller|minimal)[\s-]", re.IGNORECASE)
_BY_DIRECTION = {
    Direction.FAVOURS_INTERVENTION: Stance.FAVOURS,
    Direction.FAVOURS_COMPARATOR: Stance.AGAINST,
    Direction.NO_DIFFERENCE: Stance.NO_DIFFERENCE,
    Direction.MIXED: Stance.UNCLEAR,
    Direction.UNCLEAR: Stance.UNCLEAR,
}


def _wanted(direction: Direction, outcome: Concept) -> Stance:
    """A rise or a fall is good or bad as the concept has it; where it has neither, nobody can say."""
    if outcome.wanted is Wanted.NEITHER:
        return Stance.UNCLEAR
    is_good = (direction is Direction.INCREASE) is (outcome.wanted is Wanted.MORE)
    return Stance.FAVOURS if is_good else Stance.AGAINST


# --- Populations and conflicts ----------------------------------------------------------------------------------------


def _splits(stances: Sequence[StudyStance], subject: Concept | None, evidence: Evidence) -> Iterator[PopulationSplit]:
    """Groups of people whose studies mostly stand elsewhere than those of others; by age, training, then sex.

    A group is told with all its studies, and only where more than half of them stand at one place.
    """
    studies = {study.study_id: study for study in evidence.studies}
    for group_of in (_age, _training, _sex):
        groups: dict[str, list[StudyStance]] = {}
        for row in stances:
            if name := group_of(studies[row.study_id]):
                groups.setdefault(name, []).append(row)
        places = {name: _most(_counted(rows, subject)) for name, rows in groups.items()}
        if len(set(places.values()) - {None}) > 1:
            yield from (PopulationSplit(name, tuple(rows)) for name, rows in groups.items() if places[name])
            return


def _counted(rows: Iterable[StudyStance], subject: Concept | None) -> Counter[Stance]:
    """How many studies stand where. Of a variable of training, more or less: what matters is whether it makes a difference."""
    counts = Counter(row.stance for row in rows)
    if subject is not None and subject.kind == VARIABLE:
        counts[Stance.FAVOURS] += counts.pop(Stance.AGAINST, 0)
    return +counts


def _most(counts: Counter[Stance]) -> Stance | None:
    """Where more than half of the studies stand; None where they do not, or where that is unclear."""
    ((stance, count),) = counts.most_common(1)
    return stance if 2 * count > counts.total() and stance is not Stance.UNCLEAR else None


def _age(study: Study) -> str:
    return {
        AgeGroup.YOUTH: "young people",
        AgeGroup.ADULTS: "younger adults",
        AgeGroup.OLDER_ADULTS: "older adults",
    }.get(study.age_group, "")


def _training(study: Study) -> str:
    trained = {TrainingStatus.TRAINED, TrainingStatus.ATHLETES, TrainingStatus.RECREATIONALLY_TRAINED}
    if study.training_status in trained:
        return "trained people"
    return "untrained people" if study.training_status is TrainingStatus.UNTRAINED else ""


def _sex(study: Study) -> str:
    return {Sex.FEMALE: "women", Sex.MALE: "men"}.get(study.sex, "")


def is_conflicting(agreement: Agreement | None, evidence: Evidence, policy: Policy) -> bool:
    """Whether enough good studies (reviews with a method, randomised trials) of the same people point in opposite directions. That
    more of a training variable was better than less, and less than more, is none: how much is best lies between what each compared.
    """
    if agreement is None or _is_of_amounts(agreement):
        return False
    studies = {study.study_id: study for study in evidence.studies}
    good = [(studies[row.study_id], row.stance) for row in agreement.studies if studies[row.study_id].design in GOOD]
    sides = [
        (one.study_id, other.study_id)
        for one, stands in good
        for other, against in good
        if stands is Stance.FAVOURS and against is Stance.AGAINST and not _are_others(one, other)
    ]
    return bool(sides) and min(len(set(side)) for side in zip(*sides, strict=True)) >= policy.conflict_from


def _is_of_amounts(agreement: Agreement) -> bool:
    """Whether a variable of training is asked about, and less of it was compared with more."""
    sides = (side for row in agreement.studies for f in row.findings for side in (f.intervention, f.comparator))
    return agreement.subject is not None and agreement.subject.kind == VARIABLE and any(map(_LESS.match, sides))


def _are_others(one: Study, other: Study) -> bool:
    """Whether two studies were plainly made with different people: what differs between them need not be a conflict."""
    return any(
        bool(group_of(one)) and bool(group_of(other)) and group_of(one) != group_of(other)
        for group_of in (_age, _training, _sex)
    )


# --- The lines that count ---------------------------------------------------------------------------------------------


def counted_lines(
    agreement: Agreement | None, evidence: Evidence, policy: Policy, *, paragraph: int = 0
) -> tuple[DraftSentence, ...]:
    """Of all studies, and of groups of people that stand apart.

    `Of the five trials here on creatine and muscle strength, three found a benefit and two found no clear difference.`
    `In older adults, all three trials here on creatine and muscle strength found a benefit; in younger adults, both found no
    clear difference.` None where too few studies of the people asked about stand anywhere clear, or where what was asked about
    has no name.
    """
    if agreement is None or agreement.subject is None or agreement.subject.rarity < policy.counted_rarity_from:
        return ()
    if not agreement.is_whole:  # "both reviews" would be a word about those only that were read
        return ()
    rows = _of_those_asked(agreement.studies, evidence)
    if not is_led(replace(agreement, studies=rows), evidence):
        return ()
    counts = Counter(row.stance for row in rows)
    is_variable = agreement.subject.kind == VARIABLE
    if counts.total() - counts[Stance.UNCLEAR] < (
        policy.counted_variables_from if is_variable else policy.counted_from
    ):
        return ()
    lines = [(count_in_words(counts, _noun(rows, evidence), agreement.subject, agreement.outcome), rows)]
    splits = agreement.by_population
    if rows == agreement.studies and any(len(split.studies) >= policy.counted_from for split in splits):
        apart = tuple(row for split in splits for row in split.studies)
        noun = _noun(agreement.studies, evidence)
        lines.append((split_in_words(splits, noun, agreement.subject, agreement.outcome), apart))
    return tuple(
        DraftSentence(text, (), paragraph, tuple(f.finding_id for row in rows for f in row.findings))
        for text, rows in lines
    )


def goes_beyond(text: str, study_id: str, agreement: Agreement, evidence: Evidence) -> bool:
    """Whether a text of a study that is not counted speaks of what is counted, the subject and the outcome: beside it "all three
    studies here" would be wrong.
    """
    if study_id in {row.study_id for row in _of_those_asked(agreement.studies, evidence)}:
        return False
    about = agreement.subject is None or is_named(text, agreement.subject)
    return about and is_named(text, agreement.outcome)


def _of_those_asked(rows: tuple[StudyStance, ...], evidence: Evidence) -> tuple[StudyStance, ...]:
    """Without studies of which nobody can say that they are about the people asked about: such a count would be of others."""
    studies = {study.study_id: study for study in evidence.studies}
    asked = evidence.understanding.population
    return tuple(row for row in rows if is_about(studies[row.study_id], asked))


def split_in_words(splits: Sequence[PopulationSplit], noun: str, subject: Concept, outcome: Concept) -> str:
    about = f" here on {subject.name} and {outcome.name}"
    said = _SAID_OF_VARIABLE if subject.kind == VARIABLE else _SAID
    parts: list[str] = []
    for split in splits:
        counts = _counted(split.studies, subject)
        total, (stance, count) = counts.total(), counts.most_common(1)[0]
        who = "" if parts else f" {noun if total > 1 else _ONE[noun]}{about}"
        of_them = (
            f"{_number(count)} of {_number(total)}"
            if count < total
            else {1: "the one", 2: "both"}.get(total, f"all {_number(total)}")
        )
        parts.append(f"in {split.population}, {of_them}{who} {said[stance]}")
    line = "; ".join(parts)
    return f"{line[0].upper()}{line[1:]}."


def count_in_words(counts: Counter[Stance], noun: str, subject: Concept, outcome: Concept) -> str:
    said = _SAID_OF_VARIABLE if subject.kind == VARIABLE else _SAID
    if subject.kind == VARIABLE:
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


def _noun(rows: Iterable[StudyStance], evidence: Evidence) -> str:
    counted = {row.study_id for row in rows}
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
    subject, outcome = agreement.subject, agreement.outcome
    if subject is None:
        return False
    counted = {finding.study_id for finding in findings}
    rows = [row for row in agreement.studies if row.study_id in counted]
    if len(rows) != len(counted):
        return False
    splits = [split for split in agreement.by_population if counted.issuperset(row.study_id for row in split.studies)]
    if counted == {row.study_id for split in splits for row in split.studies} and any(
        text == split_in_words(splits, noun, subject, outcome) for noun in NOUNS
    ):
        return True
    stands = Counter(row.stance for row in rows)
    return text in {count_in_words(stands, noun, subject, outcome) for noun in NOUNS}


def _fallen(sentence: DraftSentence, reason: LeftOutReason, detail: str) -> LeftOut:
    return LeftOut("sentence", reason, detail, None, sentence.text)
