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
    assert drawn.sides[0].statements == ("A 1.", "A 2.", "C 3.")


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


def test_effects_of_the_most_frequent_scale_are_drawn_below_one_another() -> None:
    stated = (
        ("A", "It rose more (SMD 0.5, 95% CI 0.0 to 1.0)."), ("B", "It rose more (SMD −1.0, 95% CI −1.5 to −0.5)."),
        ("C", "It rose by 1.4 kg more (95% CI 1.0 to 1.8)."), ("D", "It rose."),
    )  # fmt: skip
    findings = [
        Finding("this", "that", "it", Direction.INCREASE, text, pk, study) for pk, (study, text) in enumerate(stated)
    ]
    swapped = Finding("that", "this", "it", Direction.INCREASE, stated[0][1], 9, "E")
    stands = payload(favours=[(f.study_id, f.finding_id) for f in [*findings, swapped]])
    known = {name: reference(name) for name in "ABCDE"}

    drawn = forest.draw_forest(stands, {"B": 1}, known, [*findings, swapped])

    assert drawn is not None
    assert (drawn.measure, drawn.unit, drawn.left_out) == (SMD, "", 1)
    assert [(row.study.study_id, row.lower, row.value, row.upper) for row in drawn.rows] == [
        ("B", 4, 22.4, 40.8), ("A", 59.2, 77.6, 96),
    ]  # fmt: skip
    assert drawn.none == 59.2
    assert forest.draw_forest(stands, {}, known, findings[:1]) is None
