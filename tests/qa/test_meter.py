"""Where the studies stand: the meter counts each study once, and effects are drawn only as far as they compare."""

from typing import Any

import pytest

from corpus_app.appraisal import Effect, EffectMeasure
from corpus_app.records import Direction, Finding, Notice, Reference, Study
from corpus_app.site import Site
from corpus_app.sources import site_of
from qa_app.answers import forest, meter
from qa_app.answers.stated_effects import read_stated_effect
from tests.pipeline.values import make_study

SMD, MD = EffectMeasure.STANDARDISED_MEAN_DIFFERENCE, EffectMeasure.MEAN_DIFFERENCE


def reference(study_id: str, **changes: Any) -> Reference:
    beside = {"design": "meta_analysis", "notice": Notice.NONE} | changes
    return Reference(study_id, study_id, ("Example A",), 2020, None, None, None, None, **beside)


def payload(**stances: list[tuple[str, int]]) -> dict[str, Any]:
    rows = {
        stance: [{"study_id": study, "finding_id": pk, "statement": f"{study} {pk}."} for study, pk in found]
        for stance, found in stances.items()
    }
    agreement = {stance: [] for stance in meter.STANCES} | rows | {"outcome_name": "strength", "subject_concept": None}
    return {"agreement": agreement, "summary": {"sentences": []}, "answer": {"sentences": []}}


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> list[Study]:
    studies: list[Study] = []
    monkeypatch.setattr(
        meter.search, "studies", lambda ids: {one.study_id: one for one in studies if one.study_id in ids}
    )
    monkeypatch.setattr(meter.search, "site", Site)
    monkeypatch.setattr(meter.search, "concepts", lambda: ())
    return studies


def test_each_study_counts_once_and_what_does_not_count_is_told() -> None:
    known = {name: reference(name) for name in "ABCDE"} | {
        "C": reference("C", participants=2_000),
        "E": reference("E", notice=Notice.RETRACTED),
    }
    stands = payload(favours=[("A", 1), ("A", 2), ("C", 3)], no_difference=[("B", 4)], unclear=[("E", 5)])

    drawn = meter.draw_meter(stands, {"A": 1, "D": 2}, known)

    assert drawn is not None
    assert drawn.counts == (("favours", 2), ("no_difference", 1))
    assert (drawn.total, drawn.not_counted, drawn.retracted) == (3, 1, 1)
    assert [(side.start, side.width) for side in drawn.sides] == [(0, 66.67), (66.67, 33.33)]
    assert [(mark.study.study_id, mark.index, mark.size) for mark in drawn.sides[0].marks] == [
        ("A", 1, 1),
        ("C", None, 3),
    ]
    assert [mark.statements for mark in drawn.sides[0].marks] == [(("A 1.", ""), ("A 2.", "")), (("C 3.", ""),)]


def test_fewer_than_two_studies_are_no_picture() -> None:
    known = {"A": reference("A"), "B": reference("B", notice=Notice.RETRACTED)}

    assert meter.draw_meter(payload(favours=[("A", 1)], against=[("B", 2)]), {}, known) is None
    assert meter.draw_meter({"agreement": None}, {}, known) is None


def test_the_facets_in_which_the_studies_differ_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, corpus: list[Study]
) -> None:
    values = {"small": {"label": "Small"}, "large": {"label": "Large"}}
    facets = {
        "place": {"label": "Place", "values": {"here": {"label": "Here"}}},
        "size": {"label": "Size", "values": values},
        "age": {"label": "Age", "values": {"old": {"label": "Old"}, "young": {"label": "Young"}}},
    }
    site = site_of({"facets": facets})
    monkeypatch.setattr(meter.search, "site", lambda: site)
    for name, size in (("A", "small"), ("B", "large"), ("C", "large")):
        corpus.append(make_study(name, facets=(("place", ("here",)), ("size", (size,)), ("age", ("old", "young")))))
    known = {name: reference(name) for name in "ABC"}

    drawn = meter.draw_meter(payload(favours=[("A", 1), ("B", 2)], against=[("C", 3)]), {}, known)

    assert drawn is not None
    assert [trait.label for trait in drawn.traits] == ["Size", "Age"]
    assert [(group.label, group.counts) for group in drawn.traits[0].groups] == [
        ("Small", (("favours", 1),)),
        ("Large", (("favours", 1), ("against", 1))),
    ]


@pytest.mark.parametrize(("statement", "effect"), [
    ("Strength rose more (SMD 0.60, 95% CI 0.17 to 1.03).", Effect(SMD, 0.6, 0.17, 1.03)),
    ("The pooled difference was trivial (SMD −0.11, 90% CI −0.23 to 0.01).", Effect(SMD, -0.11, -0.23, 0.01, 90)),
    ("The weight did not differ (mean difference −0.1 kg; 95% CI −0.7 to 0.5).", Effect(MD, -0.1, -0.7, 0.5, unit="kg")),
    ("It raised the weight by 1.4 kg more (95% CI 1.0 to 1.8).", Effect(MD, 1.4, 1.0, 1.8, unit="kg")),
    ("Fewer fell ill (OR 0.5, 95% CI 0.3 to 0.9).", Effect(EffectMeasure.ODDS_RATIO, 0.5, 0.3, 0.9)),
    ("The weight fell by 2.2 kg more (95% CI −3.1 to −1.3).", None),  # the sign stands in the words
    ("The weight rose by 1.5 kg (95% CI 1.3 to 1.8) from before to after.", None),
    ("It rose by 0.7% (95% CI 0.4 to 1.0) per gram.", None),
    ("A (SMD 0.1, 95% CI 0.0 to 0.2) and B (SMD 0.2, 95% CI 0.1 to 0.3).", None),
    ("Strength rose more (SMD 0.60, 95% CI 0.70 to 1.03).", None),
    ("It rose by 3 kg (P = 0.02).", None),
])  # fmt: skip
def test_the_one_effect_of_a_statement_is_read(statement: str, effect: Effect | None) -> None:
    assert read_stated_effect(statement) == effect


HEAVY, LIGHT = ("heavy weights", "light weights"), ("light weights", "heavy weights")
FOR, AGAINST, SAME = Direction.FAVOURS_INTERVENTION, Direction.FAVOURS_COMPARATOR, Direction.NO_DIFFERENCE


def sided(*rows: tuple[str, tuple[str, str], Direction, str]) -> tuple[dict[str, Any], list[Finding]]:
    """An agreement on heavy weights against light ones, and its findings: study, sides, direction and effect."""
    findings = [
        Finding(*sides, f"strength {pk}", way, f"It differed ({effect}).", pk, study)
        for pk, (study, sides, way, effect) in enumerate(rows)
    ]
    stands = payload(unclear=[(f.study_id, f.finding_id) for f in findings])
    for row, (_, sides, *_) in zip(stands["agreement"]["unclear"], rows, strict=True):
        row |= {"is_turned": sides == LIGHT, "stance": "favours"}
    stands["agreement"] |= {"intervention": HEAVY[0], "comparator": HEAVY[1], "outcome_concept": "strength"}
    return stands, findings


def test_effects_of_one_scale_are_drawn_with_each_side_on_its_own_end() -> None:
    stands, findings = sided(
        ("A", HEAVY, FOR, "SMD 0.5, 95% CI 0.0 to 1.0"), ("B", LIGHT, AGAINST, "SMD −1.0, 95% CI −1.5 to −0.5"),
        ("B", LIGHT, FOR, "SMD 0.5, 95% CI 0.25 to 0.75"), ("C", HEAVY, FOR, "SMD −0.5, 95% CI −0.75 to −0.25"),
        ("C", HEAVY, SAME, "SMD 0.25, 95% CI 0.0 to 0.5"), ("D", HEAVY, SAME, "SMD 0.1, 95% CI −0.1 to 0.3"),
        ("D", HEAVY, FOR, "mean difference 1 kg, 95% CI 0 to 2"), ("E", HEAVY, Direction.INCREASE, "SMD 0.3, 95% CI 0.1 to 0.5"),
    )  # fmt: skip
    known = {name: reference(name) for name in "ABCDE"}

    drawn = forest.draw_forest(stands, {"B": 1}, known, findings)

    assert drawn is not None
    assert (drawn.measure, drawn.intervention, drawn.comparator) == (SMD, "heavy weights", "light weights")
    assert [(row.study.study_id, row.label, row.effect.value) for row in drawn.rows] == [
        ("B", "strength 1", 1.0), ("B", "strength 2", -0.5), ("A", "strength 0", 0.5),
        ("C", "strength 3", 0.5), ("C", "strength 4", -0.25), ("D", "strength 5", 0.1),
    ]  # fmt: skip
    assert (drawn.left_out, drawn.without_side, drawn.has_turned) == (1, 1, True)  # a rise is neither good nor bad here
    assert [(row.lower, row.value, row.upper) for row in drawn.rows[:1]] == [(55.11, 75.56, 96)]
    assert forest.draw_forest(stands, {}, known, findings[:1]) is None


def test_a_ratio_is_turned_by_its_inverse_and_what_has_no_side_is_left_out() -> None:
    ratios = (("A", HEAVY, FOR, "OR 2, 95% CI 1.0 to 4"), ("B", LIGHT, FOR, "OR 2, 95% CI 1.25 to 4"))
    same = ("C", HEAVY, SAME, "OR 1.1, 95% CI 0.5 to 2")
    known = {name: reference(name) for name in "ABC"}

    drawn = forest.draw_forest(*_for(ratios, known))
    assert drawn is not None
    assert [row.effect.figures for row in drawn.rows] == [(1.0, 2.0, 4.0), (0.25, 0.5, 0.8)]
    assert forest.draw_forest(*_for((same, same), known)) is None

    stands, findings = sided(*ratios)
    for row in stands["agreement"]["unclear"]:
        del row["is_turned"]  # as older answers have it
    assert forest.draw_forest(stands, {}, known, findings) is None


def _for(rows: Any, known: dict[str, Reference]) -> Any:
    stands, findings = sided(*rows)
    return stands, {}, known, findings
