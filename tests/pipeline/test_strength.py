"""The level of evidence follows docs/strength.md, row by row."""

from dataclasses import replace

import pytest

from corpus_app.records import AgeGroup, Design, Direction, Finding, Lean, Notice, Sex, Status, Study, TrainingStatus
from qa_app.pipeline.query import Population
from qa_app.pipeline.strength import START, StudySize, grade

REVIEW = Study(
    "A", "Lifting", (), 2020, None, None, None, Design.META_ANALYSIS, True, "training", "adults",
    TrainingStatus.UNTRAINED, AgeGroup.ADULTS, Sex.MALE, Status.PUBLISHED, Notice.NONE,
)  # fmt: skip
LARGE = StudySize(participants=900, included_studies=20)


def found(study_id: str, lean: Lean) -> Finding:
    return Finding("lifting", "rest", "strength", Direction.UNCLEAR, "", 1, study_id, lean=lean)


@pytest.mark.parametrize(
    ("design", "level"),
    [
        (Design.META_ANALYSIS, "high"),
        (Design.UMBRELLA_REVIEW, "high"),
        (Design.COHORT_STUDY, "low"),
        (Design.NARRATIVE_REVIEW, "low"),
        (Design.POSITION_STAND, "low"),
        (Design.CROSS_SECTIONAL_STUDY, "very_low"),
        (Design.PREPRINT, "very_low"),
    ],
)
def test_a_grade_starts_from_the_design(design: Design, level: str) -> None:
    graded = grade([replace(REVIEW, design=design)], [], Population(), sizes={"A": LARGE})

    assert (graded.level, [reason.code for reason in graded.reasons]) == (level, ["design"])


@pytest.mark.parametrize(
    ("change", "size", "asked", "lean", "level", "codes"),
    [
        ({}, StudySize(900, 4), {}, Lean.YES, "moderate", ["few_studies"]),
        ({}, StudySize(399, 20), {}, Lean.YES, "moderate", ["few_participants"]),
        ({}, StudySize(None, None), {}, Lean.YES, "high", []),
        ({"design": Design.RANDOMIZED_CONTROLLED_TRIAL}, StudySize(30), {}, Lean.YES, "low", ["few_studies", "few_participants"]),
        ({}, LARGE, {}, Lean.MIXED, "moderate", ["mixed_results"]),
        ({}, LARGE, {}, Lean.UNCLEAR, "moderate", ["unclear_results"]),
        ({}, LARGE, {"age_groups": (AgeGroup.OLDER_ADULTS,)}, Lean.YES, "moderate", ["indirect"]),
        ({}, LARGE, {"age_groups": (AgeGroup.OLDER_ADULTS,), "sexes": (Sex.FEMALE,)}, Lean.YES, "moderate", ["indirect"]),
        ({"sex": Sex.BOTH}, LARGE, {"sexes": (Sex.FEMALE,)}, Lean.YES, "high", []),
        ({"training_status": TrainingStatus.ATHLETES}, LARGE, {"training": (TrainingStatus.TRAINED,)}, Lean.YES, "high", []),
        ({"peer_reviewed": False}, LARGE, {}, Lean.YES, "moderate", ["not_peer_reviewed"]),
        ({"notice": Notice.EXPRESSION_OF_CONCERN}, LARGE, {}, Lean.YES, "moderate", ["concern"]),
        ({"notice": Notice.CORRECTED}, LARGE, {}, Lean.YES, "high", ["corrected"]),
    ],
)  # fmt: skip
def test_each_row_lowers_the_grade_and_says_why(change, size, asked, lean, level, codes) -> None:  # type: ignore[no-untyped-def]
    graded = grade([replace(REVIEW, **change)], [found("A", lean)], Population(**asked), sizes={"A": size})

    assert (graded.level, [reason.code for reason in graded.reasons[1:]]) == (level, codes)


def test_studies_that_disagree_lower_the_grade() -> None:
    other = replace(REVIEW, study_id="B")
    findings = [found("A", Lean.YES), found("B", Lean.NO_CLEAR_DIFFERENCE)]

    graded = grade([REVIEW, other], findings, Population(), sizes={"A": LARGE, "B": LARGE})

    assert (graded.level, graded.reasons[-1].code) == ("moderate", "disagreement")


def test_a_weaker_design_beside_a_review_does_not_count() -> None:
    weak = replace(REVIEW, study_id="B", design=Design.THESIS, peer_reviewed=False)

    assert grade([weak, REVIEW], [found("B", Lean.NO)], Population(), sizes={"A": LARGE}).level == "high"


def test_retracted_studies_are_no_evidence() -> None:
    graded = grade([replace(REVIEW, notice=Notice.RETRACTED)], [], Population(), sizes={})

    assert (graded.level, graded.reasons[0].code) == ("very_low", "retracted")


def test_no_study_cannot_be_graded() -> None:
    with pytest.raises(ValueError, match="without a study"):
        grade([], [], Population(), sizes={})


def test_every_design_has_a_start() -> None:
    assert set(START) == set(Design)


def test_a_part_that_is_not_covered_lowers_the_grade_once() -> None:
    whole = grade([REVIEW], [], Population(), sizes={})
    part = grade([REVIEW], [], Population(), sizes={}, is_partial=True)

    assert (whole.level, part.level) == ("high", "moderate")
    assert "indirect_question" in {reason.code for reason in part.reasons}
