"""Alignment and support: what a source says stays; what differs in a figure, direction or group falls."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Unit
from qa_app.pipeline.records import LeftOutReason
from qa_app.pipeline.units import unit_forms
from qa_app.pipeline.verification.alignment import Fit, fit, window
from qa_app.pipeline.verification.reading import read
from qa_app.pipeline.verification.support import FITTED, SIGNALS, Support, read_signals
from tests.pipeline.values import SENTENCES

NUMBER, DIRECTION = LeftOutReason.NUMBER_MISMATCH, LeftOutReason.DIRECTION_MISMATCH
NEGATION, POPULATION = LeftOutReason.NEGATION_MISMATCH, LeftOutReason.POPULATION_MISMATCH
UNSUPPORTED = LeftOutReason.UNSUPPORTED


def laid(claim: str, *source: str) -> Fit:
    tokens = [read(sentence) for sentence in source]
    return fit(read(claim), tokens[0] if len(tokens) == 1 else window(*tokens))


def keys(text: str) -> list[str]:
    return [token.key for token in read(text)]


@pytest.mark.parametrize("same", [
    ("12 % after 21 weeks", "twelve per cent after twenty-one weeks", "12% after 21 wk", "12 percent after twenty one weeks"),
    ("10-12 sets", "10 to 12 sets", "10–12 sets", "10 - 12 sets", "10 -12 sets", "between 10 and 12 sets", "from 10 to 12 sets", "ten to twelve sets"),
    ("rose by 10% to 12%", "rose by 10–12 %", "rose by between 10% and 12%"),
    ("1.2 g/kg/day", "1.2 g·kg⁻¹·d⁻¹", "1.2 grams per kilogram a day", "1.20 g per kg per day"),
    ("1,234 people", "1 234 people", "1234 people"), ("P < .05", "p<0.05", "P < 0·05", "P below 0.050"),
    ("at least 3 sets", "≥ three sets", ">= 3 sets", "no fewer than 3 sets", "a minimum of 3 sets"),
    ("up to 5 days", "at most 5 days", "<=5 d", "no more than five days"),
    ("more than 60 years", "over 60 years", "> 60 y"),
    ("about 30 s", "approximately 30 seconds", "~30 s", "≈ 30 s"),
    ("24.0 ± 4.4 kg", "24 +/- 4.40 kg", "24 plus or minus 4.4 kg"),
    ("two sessions a week", "2 sessions per week", "two sessions each week", "2 sessions/week"),
    ("it didn't rise", "it did not rise", "it does not rise"), ("one hundred twenty kg", "120 kg"),
    ("zero five", "0 5"), ("two thousand five hundred", "2,500"), ("the third week", "third week"),
    ("subjects gained more", "participants gained more"),
    ("95% CI -0.5 to 0.2", "95 % CI −0.5 to 0.2", "95% CI [−0.5 to 0.2]"),
])  # fmt: skip
def test_what_says_the_same_reads_the_same(same: tuple[str, ...]) -> None:
    assert {tuple(keys(text)) for text in same} == {tuple(keys(same[0]))}


@pytest.mark.parametrize(("one", "other"), [
    ("12 % after 21 weeks", "21 % after 12 weeks"), ("I² = 0 %", "I² = 00 %"), ("5 kg", "05 kg"),
    ("−0.5 kg", "0.5 kg"), ("10⁶ cells", "106 cells"), ("10⁶ cells", "10⁵ cells"), ("P < 0.05", "P > 0.05"),
    ("at least 3", "at most 3"), ("2 to 3 sets", "2 sets"), ("5 mg", "5 g"), ("NO rose", "no rose"),
    ("CD4 cells", "CD8 cells"), ("trained men", "untrained men"), ("trained people", "training people"),
    ("the second group", "30 seconds"), ("rose by 5", "rose to 5"), ("half of them", "a third of them"),
    ("1.2.3", "12.3"), ("daily", "weekly"),
])  # fmt: skip
def test_what_says_another_thing_reads_otherwise(one: str, other: str) -> None:
    assert keys(one) != keys(other)


UNITS = unit_forms({
    "quire": Unit(("quire",), "sheets", 24), "chain": Unit(("chain",), "length", 20.1168), "pew": Unit(("pew",)),
    "sheets": Unit(("sheet",), "sheets"),
})  # fmt: skip


@pytest.mark.parametrize(("one", "other", "is_same"), [
    ("three quires of paper", "72 sheets of paper", True), ("three quires of paper", "3 sheets of paper", False),
    ("a wall of 2 chains", "a wall of 40.2336 m", True), ("12 pews", "twelve pew", True), ("12 pews", "12 rows", False),
    ("2 to 3 quires", "2 to 72 sheets", False), ("2, 3 and 4 quires", "2, 3 and 96 sheets", False),
    ("in 10 books of 2 quires", "in 10 books of 48 sheets", True), ("5 s, 2 quires", "5 sec, 48 sheets", True),
])  # fmt: skip
def test_amounts_in_units_of_the_corpus_are_compared_in_their_base_unit(one: str, other: str, is_same: bool) -> None:
    assert ([t.key for t in read(one, UNITS)] == [t.key for t in read(other, UNITS)]) is is_same


FIGURES = "one two twenty hundred thousand - 5 % to between and from g per a week second".split()


@given(st.text(max_size=80) | st.lists(st.sampled_from(FIGURES), max_size=8).map(" ".join))
def test_any_text_and_any_figures_can_be_read(text: str) -> None:
    assert all(token.key for token in read(text))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_fits_itself(sentence: str) -> None:
    assert laid(sentence, sentence) == Fit(1.0, None)


SHORTENED = (
    "In the pooled analysis of eight trials, strength rose in men.",
    "Although sleep did not change, strength rose in men.", "Sleep did not change, but strength rose in men.",
    "Sleep was not measured at all, strength rose in men.", "Without covariates, strength rose in men.",
    "With unchanged diet, strength rose in men.", "Strength rose in men after twelve weeks of training.",
    "Strength rose in men, but sleep did not change.", "Strength rose in men, but not in women.",
    "Strength rose in men, with no change in sleep.", "Strength rose in men; only two trials asked for sleep.",
    "Strength rose in men, and only three trials asked for sleep.", "Strength rose in men who did not smoke.",
    "Strength rose in men, thus overall.", "Strength (by dynamometer) rose in men.",
    "Strength rose in men without a change of diet.", "Strength therefore rose in men.",
    "Strength - measured twice - rose in men.",
)  # fmt: skip


@pytest.mark.parametrize(("claim", "source"), [
    *(("Strength rose in men.", source) for source in SHORTENED),
    ("Strength rose by 12%.", "However, the strength rose by twelve per cent (P = 0.03)."),
    ("Heavy loads raised strength.", "The authors found that heavy loads raised strength."),
    ("The adherence averaged 92%.", "The adherence averaged 92%, and no harm was seen."),
    ("Strength, rose in men.", "Strength, measured twice, rose in men."),
    ("Strength also rose in men.", "Strength rose in men."),
    ("It must be unfolded and moved away.", "It must be unfolded (and perhaps freed) and moved away."),
    ("It must be freed and moved far.", "It must be freed and (once unfolded and) moved far."),
    ("Samples came from 52 women.", "Samples came from 52 women between 36 and 40 weeks of gestation."),
    ("Strength rose (unlike all fat and bone) in men.", "Strength rose (unlike all fat and bone) in men and women."),
])  # fmt: skip
def test_what_is_cut_down_stays(claim: str, source: str) -> None:
    assert laid(claim, source).reason is None


@pytest.mark.parametrize(("claim", "source", "reason"), [
    ("Strength rose by 21% after 12 weeks.", "Strength rose by 12% after 21 weeks.", NUMBER),
    ("Strength rose by 12 kg.", "Strength rose by 12 lb.", NUMBER),
    ("Strength rose by 12%.", "Strength rose by 12 to 15%.", NUMBER),
    ("More than five sets helped growth.", "Less than five sets helped growth.", NUMBER),
    ("There were 101 men in two groups.", "There were 31 and 101 men in two groups.", NUMBER),
    ("The groups held 31.", "The groups held 31 and 101 men.", NUMBER),
    ("The men lifted 12.", "The men lifted 12 kg.", NUMBER),
    ("CD8 cells grew in number.", "CD4 cells grew in number.", NUMBER),
    ("Creatine harms the kidneys of men.", "No trial found that creatine harms the kidneys of men.", NEGATION),
    ("Creatine did increase strength in men.", "Creatine did not increase strength in men.", NEGATION),
    ("Creatine did not increase strength in men.", "Creatine increased strength in men.", NEGATION),
    ("Strength rose in all.", "Strength rose in all, but not significantly.", NEGATION),
    ("Strength rose after training in.", "Strength rose after training in none.", NEGATION),
    ("Growth rose in men.", "Growth rose in no men of those.", NEGATION),
    ("Training without rest helps men.", "Training with rest helps men.", NEGATION),
    ("Cause damage of kidneys in men.", "Creatine did not, in young people, cause damage of kidneys in men.", NEGATION),
    ("Increase strength in old men.", "Creatine did not change sleep, increase strength in old men.", NEGATION),
    ("Strength rose and sleep improved.", "Strength rose (not significantly) and sleep improved.", NEGATION),
    ("Strength fell in trained men.", "Strength rose in trained men.", DIRECTION),
    ("To raise strength in men.", "Creatine was unable, in women, to raise strength in men.", NEGATION),
    ("Heavy loads gave lower strength.", "Heavy loads gave greater strength.", DIRECTION),
    ("Strength rose in women.", "Strength rose in men.", POPULATION),
    ("Placebo raised the strength of men.", "Creatine raised the strength of men.", POPULATION),
    ("Men gained as much as women here.", "Women gained as much as men here.", POPULATION),
    ("In men, strength rose at once.", "In men, strength did not change, but in women, strength rose at once.", NEGATION),
    ("Strength fell in trained women.", "Strength rose in trained men, but fat fell in trained women.", DIRECTION),
    ("Strength may rise in men.", "Strength will rise in men.", UNSUPPORTED),
    ("Strength rose in men.", "Strength may have rose in men.", UNSUPPORTED),
    ("Strength rose in men.", "If sleep is good, strength rose in men.", UNSUPPORTED),
    ("Strength rose in men.", "Strength rose in men only when tired.", UNSUPPORTED),
    ("Strength rose in men.", "Strength rose in men, but only in two towns.", NUMBER),
    ("Muscle grew most in spring.", "The loss of muscle grew most in spring.", DIRECTION),
    ("Or bread helped strength again.", "Meat, or bread helped strength again.", UNSUPPORTED),
    ("Bread and wine helped strength.", "Bread and milk helped strength.", UNSUPPORTED),
    ("Heavy loads raised strength.", "Few trials found that heavy loads raised strength.", DIRECTION),
    ("Heavy loads raised strength.", "Trials may have shown that heavy loads raised strength.", UNSUPPORTED),
    ("", "Strength rose in men.", UNSUPPORTED), ("Wholly other words here.", "Strength rose in men.", UNSUPPORTED),
])  # fmt: skip
def test_what_differs_falls_and_says_why(claim: str, source: str, reason: LeftOutReason) -> None:
    assert laid(claim, source).reason is reason


def test_two_sentences_may_be_set_side_by_side_but_not_spliced() -> None:
    assert window(read("Strength rose."), ()) == read("Strength rose.")
    for joint in ("; sleep", ", and sleep", " while sleep", " - sleep"):
        claim = f"Strength rose in trained men{joint} did not change in women."
        assert laid(claim, "Strength rose in trained men.", "However, sleep did not change in women.").reason is None
    for spliced in (
        "Creatine lean mass of old men.",
        "Creatine did not increase strength because protein increased lean mass of old men.",
        "Creatine did not increase strength protein increased lean mass of old men.",
        "Creatine, and protein increased lean mass of old men.",
    ):
        assert laid(spliced, "Creatine did not increase strength.", "Protein increased lean mass of old men.").reason


@given(st.sampled_from(SENTENCES), st.data())
def test_a_word_of_the_sentence_replaced_by_a_number_never_fits(sentence: str, data: st.DataObject) -> None:
    words = sentence.split()
    place = data.draw(st.integers(0, len(words) - 1))
    claim = " ".join([*words[:place], "777", *words[place + 1 :]])

    assert laid(claim, sentence).reason is not None


EVIDENCE = ("Heavy loads raised leg strength by 12% in Norway.", "Sleep did not change.")


@given(st.sampled_from(SENTENCES) | st.text(max_size=60), st.lists(st.sampled_from(SENTENCES), max_size=4))
def test_the_fitted_score_is_a_chance(claim: str, evidence: list[str]) -> None:
    fewer, more = read_signals(claim, evidence[:1], FITTED), read_signals(claim, evidence, FITTED)

    assert set(more) == set(SIGNALS)
    assert 0 < FITTED.score(more) < 1
    assert more["union_recall"] >= fewer["union_recall"]


def test_the_fitted_score_prefers_the_supported() -> None:
    claims = "Heavy loads raised strength.", "Bananas are yellow."
    rarely = Support(0.0, {}, {}, {}, 100, {"muscl": 50}, "")

    good, bad = (FITTED.score(read_signals(claim, EVIDENCE, FITTED)) for claim in claims)

    assert good > 0.5 > bad
    assert Support(**json.loads(json.dumps(asdict(FITTED)))) == FITTED
    assert set(FITTED.weights) == set(SIGNALS)
    assert rarely.rarity("anconeus") > rarely.rarity("muscl")
