"""The level of evidence follows docs/strength.md, row by row."""

from dataclasses import replace

import pytest

from corpus_app.records import AgeGroup, Design, Direction, Finding, Lean, Notice, Sex, TrainingStatus
from qa_app.pipeline.query import Population
from qa_app.pipeline.strength import StudySize, grade
from tests.pipeline.values import make_study

REVIEW = make_study(design=Design.META_ANALYSIS)
LARGE = StudySize(participants=900, included_studies=20)


def found(study_id: str, lean: Lean) -> Finding:
    return Finding("lifting", "rest", "strength", Direction.UNCLEAR, "", 1, study_id, lean=lean)


def test_a_grade_starts_from_the_design() -> None:
    levels = {
        Design.META_ANALYSIS: "high", Design.UMBRELLA_REVIEW: "high", Design.COHORT_STUDY: "low", Design.PREPRINT: "very_low",
        Design.NARRATIVE_REVIEW: "low", Design.POSITION_STAND: "low", Design.CROSS_SECTIONAL_STUDY: "very_low",
    }  # fmt: skip
    graded = {d: grade([replace(REVIEW, design=d)], [], Population(), sizes={"A": LARGE}) for d in Design}

    assert {design: graded[design].level for design in levels} == levels
    assert {tuple(reason.code for reason in one.reasons) for one in map(graded.get, levels) if one} == {("design",)}


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


def test_disagreement_retractions_and_parts_lower_the_grade_but_no_weaker_design_beside_a_review() -> None:
    other, sizes = replace(REVIEW, study_id="B"), {"A": LARGE, "B": LARGE}
    findings = [found("A", Lean.YES), found("B", Lean.NO_CLEAR_DIFFERENCE)]
    weak = replace(REVIEW, study_id="B", design=Design.THESIS, peer_reviewed=False)

    disagreeing = grade([REVIEW, other], findings, Population(), sizes=sizes)
    retracted = grade([replace(REVIEW, notice=Notice.RETRACTED)], [], Population(), sizes={})
    part = grade([REVIEW], [], Population(), sizes={}, is_partial=True)

    assert (disagreeing.level, disagreeing.reasons[-1].code) == ("moderate", "disagreement")
    assert (retracted.level, retracted.reasons[0].code) == ("very_low", "retracted")
    assert (part.level, "indirect_question" in {reason.code for reason in part.reasons}) == ("moderate", True)
    assert grade([weak, REVIEW], [found("B", Lean.NO)], Population(), sizes={"A": LARGE}).level == "high"
    with pytest.raises(ValueError, match="without a study"):
        grade([], [], Population(), sizes={})
