"""Grade the cited studies as evidence with one table of rules, in the manner of GRADE (see docs/strength.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from corpus_app.appraisal import BiasJudgement, CertaintyLevel, RiskOfBias
from corpus_app.facets import COLUMNS, Facet
from corpus_app.records import Certainty, Design, Lean, Notice, Study
from qa_app.pipeline.agreement import REVIEWS, is_conflicting, weigh
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.query import AskedFacets, Query
from qa_app.pipeline.records import EvidenceStrength, StrengthReason, StudyLean

LEVELS = (CertaintyLevel.VERY_LOW, CertaintyLevel.LOW, CertaintyLevel.MODERATE, CertaintyLevel.HIGH)
FEW_STUDIES = 5  # fewer trials than this are few; a judgement
FEW_PARTICIPANTS = 400  # the optimal information size for continuous outcomes: Guyatt 2011, J Clin Epidemiol 64:1283
MOST = 0.5  # share of the evidence at risk of bias that lowers the grade; a judgement
SEVERE_DOMAINS = 3  # of the five of RoB 2: at high risk in so many, a trial is at very high risk; a judgement
NO_BIASES: Mapping[str, RiskOfBias] = MappingProxyType({})
VOWELS = frozenset("aeiouAEIOU")
_CERTAINTIES = PhraseIndex.of_language("certainty")
TRIALS = frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL, Design.CROSSOVER_TRIAL})
START: Mapping[str, tuple[CertaintyLevel, str]] = {
    Design.META_ANALYSIS: (CertaintyLevel.HIGH, "a meta-analysis"),
    Design.SYSTEMATIC_REVIEW: (CertaintyLevel.HIGH, "a systematic review"),
    Design.UMBRELLA_REVIEW: (CertaintyLevel.HIGH, "a review of reviews"),
    Design.RANDOMIZED_CONTROLLED_TRIAL: (CertaintyLevel.HIGH, "a randomised trial"),
    Design.CROSSOVER_TRIAL: (CertaintyLevel.HIGH, "a crossover trial"),
    Design.NONRANDOMIZED_TRIAL: (CertaintyLevel.LOW, "a trial without randomisation"),
    Design.COHORT_STUDY: (CertaintyLevel.LOW, "a cohort study"),
    Design.SCOPING_REVIEW: (CertaintyLevel.LOW, "a scoping review"),
    Design.NARRATIVE_REVIEW: (CertaintyLevel.LOW, "a narrative review"),
    Design.POSITION_STAND: (CertaintyLevel.LOW, "a position statement"),
    Design.GUIDELINE: (CertaintyLevel.LOW, "a guideline"),
    Design.CROSS_SECTIONAL_STUDY: (CertaintyLevel.VERY_LOW, "a survey at one point in time"),
    Design.THESIS: (CertaintyLevel.VERY_LOW, "a thesis"),
    Design.PREPRINT: (CertaintyLevel.VERY_LOW, "a preprint"),
}


@dataclass(frozen=True, slots=True)
class StudySize:
    """The size of a study; None where the corpus does not say."""

    participants: int | None = None
    included_studies: int | None = None
    """Of a review."""


@dataclass(frozen=True, slots=True)
class Body:
    """The best of the cited studies, their sizes, and where they stand."""

    studies: Sequence[Study]
    sizes: Mapping[str, StudySize]
    leans: Sequence[StudyLean]
    biases: Mapping[str, RiskOfBias]
    is_cited: bool


class Severity(IntEnum):
    """The seriousness of a risk of bias."""

    NONE = 0
    SOME = 1
    SERIOUS = 2
    VERY_SERIOUS = 3


def grade(
    studies: Sequence[Study], leans: Sequence[StudyLean], asked: AskedFacets, *, sizes: Mapping[str, StudySize],
    biases: Mapping[str, RiskOfBias] = NO_BIASES, is_partial: bool = False, is_cited: bool = True,
) -> EvidenceStrength | None:  # fmt: skip
    """Return the level of evidence of the studies, with the rows of the table that led to it.

    None where none of them is of a kind that is graded.

    `leans` are where the studies stand on the matter of the headline, its own study first. `asked` are the facets asked
    about; `biases` are the assessed risks of bias by study id; `is_partial` says that a part of the question is not
    covered, `is_cited` that the answer cites all of the studies. Raises ValueError without a study.
    """
    sound = _sound(studies)
    if not studies:
        raise ValueError("Evidence without a study cannot be graded.")
    if not sound:
        return RETRACTED
    levels = {study.study_id: LEVELS.index(graded[0]) for study in sound if (graded := _start(study))}
    if not levels:
        return None
    start = max(levels.values())
    best = [study for study in sound if levels.get(study.study_id) == start]
    ids = {study.study_id for study in best}
    body = Body(best, sizes, [row for row in leans if row.study_id in ids], biases, is_cited)
    rows = [
        _design(body),
        *_number(body),
        *_risk_of_bias(body),
        *_consistency(body),
        *_directness(body, asked, is_partial),
        *_peer_review(body),
        *_notices(best),
    ]
    return _lowered(start, rows)


def find_certainty(certainties: Sequence[Certainty], query: Query) -> Certainty | None:
    """Return the curators' judgement for a question about one intervention, one outcome and these facets alone.

    None where there is none, or where the question names anything else.
    """
    if query.comparator or query.condition or query.unstudied or query.sources.is_named:
        return None
    for one in certainties:
        people = {"age_group": one.age_group, "sex": one.sex, "training_status": one.training_status}
        named = {key: (value.value,) for key, value in people.items() if value} | dict(one.facets)
        subjects = (one.intervention,), (one.outcome,)
        if (query.intervention, query.outcome) == subjects and query.facets.values == named:
            return one
    return None


def assessed(certainty: Certainty, studies: Sequence[Study]) -> EvidenceStrength:
    """Return the curators' judgement with their reasons, lowered as the notices of the cited studies require."""
    sound = _sound(studies)
    if not sound:
        return RETRACTED
    rows = [
        (0, StrengthReason("judged_by_curators", "Judged by the curators.")),
        *((0, StrengthReason("curators_reason", reason)) for reason in certainty.reasons),
        *_notices(sound),
    ]
    return _lowered(LEVELS.index(certainty.level), rows)


def read_certainty(sentences: Iterable[str]) -> CertaintyLevel | None:
    """Return the lowest certainty of the evidence that sentences state in the words of GRADE; None where none does."""
    said = {name for sentence in sentences for name in _CERTAINTIES.find(words_of(sentence))}
    return next((level for level in LEVELS if level.value in said), None)


def capped(
    graded: EvidenceStrength | None, *, stated: CertaintyLevel | None, judged: CertaintyLevel | None
) -> EvidenceStrength | None:
    """Return a grade, no higher than the certainty that the quoted source states and the one that curators judged."""
    for level, code, who in (
        (stated, "stated_certainty", "The source quoted first calls the certainty"),
        (judged, "judged_certainty", "The curators judged the certainty"),
    ):
        if graded and level and LEVELS.index(level) < LEVELS.index(graded.level):
            reason = StrengthReason(code, f"{who} {level.value.replace('_', ' ')}.")
            graded = EvidenceStrength(level, (*graded.reasons, reason))
    return graded


Row = tuple[int, StrengthReason]
"""How many levels down, and why."""


RETRACTED = EvidenceStrength(CertaintyLevel.VERY_LOW, (StrengthReason("retracted", "Every study here was retracted."),))


def _sound(studies: Sequence[Study]) -> list[Study]:
    return [study for study in studies if study.notice is not Notice.RETRACTED]


def _lowered(start: int, rows: Sequence[Row]) -> EvidenceStrength:
    level = LEVELS[max(0, start - sum(steps for steps, _ in rows))]
    return EvidenceStrength(level, tuple(reason for _, reason in rows))


def _start(study: Study) -> tuple[CertaintyLevel, str] | None:
    """Return the level that a study starts at and what it is; None where its kind is not graded."""
    if study.kind is None:
        return START.get(study.design)
    label = study.kind.label
    return (study.kind.strength, f"{'an' if label[:1] in VOWELS else 'a'} {label}") if study.kind.strength else None


def _design(body: Body) -> Row:
    names = dict.fromkeys(graded[1] for study in body.studies if (graded := _start(study)))
    where = "cited here" if body.is_cited else "here on this"
    return 0, StrengthReason("design", f"The best evidence {where} is {' and '.join(names)}.")


def _number(body: Body) -> Iterator[Row]:
    """Yield a reason for few studies or participants.

    Reviews share trials, so only the largest review counts; trials are added to it.
    """
    if not any(study.design in TRIALS | REVIEWS | {Design.NONRANDOMIZED_TRIAL} for study in body.studies):
        return
    sizes = [(study.design in REVIEWS, body.sizes.get(study.study_id, StudySize())) for study in body.studies]
    studies = _total([(is_review, size.included_studies if is_review else 1) for is_review, size in sizes])
    people = _total([(is_review, size.participants) for is_review, size in sizes])
    if studies is not None and studies < FEW_STUDIES:
        text = "It rests on one study." if studies == 1 else f"It rests on {studies} studies."
        yield 1, StrengthReason("few_studies", text)
    if people is not None and people < FEW_PARTICIPANTS:
        yield 1, StrengthReason("few_participants", f"Only {people} people took part.")


def _risk_of_bias(body: Body) -> Iterator[Row]:
    """Yield a reason where studies were assessed: two levels at most.

    A study weighs as many as took part in it; all weigh the same where that is not known of each. Studies that were not
    assessed count as sound.
    """
    severities = {s.study_id: _severity(bias) for s in body.studies if (bias := body.biases.get(s.study_id))}
    if not severities:
        return
    sizes = {study.study_id: body.sizes.get(study.study_id, StudySize()).participants for study in body.studies}
    weights = {study_id: size or 1 if all(sizes.values()) else 1 for study_id, size in sizes.items()}

    def share(least: Severity) -> float:
        at_risk = sum(weights[study_id] for study_id, severity in severities.items() if severity >= least)
        return at_risk / sum(weights.values())

    if share(Severity.VERY_SERIOUS) >= MOST:
        yield 2, StrengthReason("risk_of_bias", "Most of it is at very high risk of bias.")
    elif share(Severity.SERIOUS) >= MOST:
        yield 1, StrengthReason("risk_of_bias", "Most of it is at high risk of bias.")
    elif share(Severity.SERIOUS):
        yield 0, StrengthReason("risk_of_bias", "Some of it is at high risk of bias.")
    elif share(Severity.SOME):
        yield 0, StrengthReason("risk_of_bias", "There are some concerns about bias in it.")
    elif len(severities) == len(sizes):
        yield 0, StrengthReason("risk_of_bias", "Its risk of bias was judged to be low.")


def _severity(bias: RiskOfBias) -> Severity:
    at_high_risk = sum(row.judgement is BiasJudgement.HIGH for row in bias.domains)
    if bias.judgement is BiasJudgement.CRITICAL or at_high_risk >= SEVERE_DOMAINS:
        return Severity.VERY_SERIOUS
    if bias.judgement in {BiasJudgement.HIGH, BiasJudgement.SERIOUS}:
        return Severity.SERIOUS
    return Severity.NONE if bias.judgement is BiasJudgement.LOW else Severity.SOME


def _total(numbers: Sequence[tuple[bool, int | None]]) -> int | None:
    """Add the largest number of a review to those of the trials; None where one is not known."""
    known = [(is_review, number) for is_review, number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    largest = max((number for is_review, number in known if is_review), default=0)
    return largest + sum(number for is_review, number in known if not is_review)


def _consistency(body: Body) -> Iterator[Row]:
    if is_conflicting(body.leans, {study.study_id: weigh(study) for study in body.studies}):
        yield 1, StrengthReason("disagreement", "The studies do not agree with each other.")
    elif body.leans and body.leans[0].lean is Lean.MIXED:
        yield 1, StrengthReason("mixed_results", "The results were mixed.")
    elif body.leans and body.leans[0].lean is Lean.UNCLEAR:
        yield 1, StrengthReason("unclear_results", "The results were too uncertain to settle it.")


def _directness(body: Body, asked: AskedFacets, is_partial: bool) -> Iterator[Row]:
    """Yield a reason where the facets differ or a part of the question is not covered: one level at most."""
    differing = [
        key
        for key, wanted in asked.values.items()
        if not any(_covers(asked.declared[key], study.values_of(key), wanted) for study in body.studies)
    ]
    if differing:
        ways = " and ".join(asked.declared[key].label.lower() for key in differing)
        is_about_people = COLUMNS.keys() >= set(differing)
        begin = "The people studied differ from those" if is_about_people else "The sources differ from what is"
        yield 1, StrengthReason("indirect", f"{begin} asked about in {ways}.")
    if is_partial:
        text = "A part of what was asked was not studied."
        yield 0 if differing else 1, StrengthReason("indirect_question", text)


def _covers(facet: Facet, studied: Sequence[str], asked: Sequence[str]) -> bool:
    """Tell whether a study may be of a value asked about; a study that does not say may be."""
    if not studied or any(map(facet.is_open, studied)):
        return True
    near = {other for value in studied for other in (value, *facet.values[value].counts_as)}
    return not near.isdisjoint(asked)


def _peer_review(body: Body) -> Iterator[Row]:
    if not any(study.peer_reviewed for study in body.studies):
        yield 1, StrengthReason("not_peer_reviewed", "It was not reviewed by other researchers before publication.")


def _notices(studies: Sequence[Study]) -> Iterator[Row]:
    notices = {study.notice for study in studies}
    if notices == {Notice.EXPRESSION_OF_CONCERN}:
        yield 1, StrengthReason("concern", "The journal has published a concern about it.")
    elif Notice.EXPRESSION_OF_CONCERN in notices:
        yield 0, StrengthReason("concern", "The journal has published a concern about one of the studies.")
    if Notice.CORRECTED in notices:
        yield 0, StrengthReason("corrected", "A correction to one of the studies was published.")
