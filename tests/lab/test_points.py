"""Answer points: a fact counts as told where a sentence cites its study and carries its figures, or else its content."""

from __future__ import annotations

import pytest

from lab.points import CitedSentence, Point, is_covered, is_covered_together
from qa_app.pipeline.concepts import ConceptIndex
from tests.pipeline.values import make_concept

CONCEPTS = ConceptIndex.build(
    (
        make_concept("muscle-hypertrophy", aliases=("muscle growth", "hypertrophy")),
        make_concept("low-load", aliases=("light loads",)),
    )
)
GROWTH = Point("Light loads gave muscle growth of 0.12 over 12 weeks", ("T001",))


def says(text: str, *studies: str) -> CitedSentence:
    return CitedSentence(text, studies or ("T001",))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (says("Hypertrophy with light loads was 0.12 after 12 weeks."), True),
        (says("Hypertrophy with light loads was 0.121 after twelve weeks."), True),
        (says("Hypertrophy with light loads was 0.21 after 12 weeks."), False),
        (says("Hypertrophy with light loads was 0.12 after 21 weeks."), False),
        (says("Hypertrophy with light loads was 0.12."), False),
        (says("Hypertrophy with light loads was 0.12 after 12 weeks.", "T002"), False),
    ],
)
def test_a_point_with_figures_needs_them_all_from_its_own_study(sentence: CitedSentence, expected: bool) -> None:
    assert is_covered(GROWTH, [sentence], CONCEPTS) is expected


def test_a_point_without_figures_needs_half_of_its_content_under_any_name() -> None:
    point = Point("Muscle growth was similar with light loads", ("T001",))

    assert is_covered(point, [says("Hypertrophy was similar.")], CONCEPTS)
    assert not is_covered(point, [says("Hypertrophy was larger with heavy weights.")], CONCEPTS)


def test_figures_may_stand_in_two_sentences_of_one_study_only_where_both_are_read_together() -> None:
    first, second = says("Light loads gave hypertrophy of 0.12."), says("The trial took 12 weeks.")

    assert not is_covered(GROWTH, [first, second], CONCEPTS)
    assert is_covered_together(GROWTH, [first, second], CONCEPTS)
    assert not is_covered_together(GROWTH, [first, says("The trial took 12 weeks.", "T002")], CONCEPTS)
