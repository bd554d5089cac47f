"""What a corpus declares of its sources is read from questions, named where it differs, and missed where it is not there."""

import tomllib

from corpus_app.sources.site_file import find_problems, site_of
from qa_app.pipeline.attribution import attribution
from qa_app.pipeline.coverage import missing_parts
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import AskedFacets
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.strength import StudySize, grade
from tests.pipeline.values import make_query, make_study

SITE = """
[facets.soil]
label = "Soil"
[facets.soil.values]
clay = { label = "clay", text = "heavy clay", phrases = ["clay", "{heavy} soil*"], exceptions = ["clay pot*"] }
sand = { label = "sand", always_named = true, phrases = ["sand*"] }
any = { label = "any soil", open = true }
[facets.height]
label = "Height"
unit = "cm"
ranges = [{ at_least = 0, values = ["dwarf"] }, { at_least = 60, values = ["tall"] }]
values = { dwarf = { label = "dwarf" }, tall = { label = "tall" } }
[phrase_lists]
heavy = ["heavy", "sticky"]
"""
DECLARED = site_of(tomllib.loads(SITE))
INDEX = FacetIndex.build(DECLARED.facets, DECLARED.phrase_lists)


def asked(question: str, index: FacetIndex = INDEX) -> AskedFacets:
    return index.asked(index.find(question))


def test_values_are_read_by_phrases_and_numbers() -> None:
    for question, values in {
        "What grows on sticky soil?": {"soil": ("clay",)}, "Which clay pots last?": {}, "clay or sandy soil?": {"soil": ("clay", "sand")},
        "Do peas of 90 cm need canes?": {"height": ("tall",)}, "beans of 45.5cm": {"height": ("dwarf",)}, "90 cmos": {},
    }.items():  # fmt: skip
        assert asked(question).values == values, question
        assert asked(question, FacetIndex.build({}, {})).values == {}


def test_another_value_than_asked_for_is_named_and_one_that_nothing_has_is_missing() -> None:
    for question, own, named, missing, indirect in (
        ("Do peas grow on clay?", ("sand",), "sand", ("heavy clay",), True), ("Do peas grow on clay?", ("clay", "sand"), "", (), False),
        ("Do peas grow on clay?", ("any",), "any soil", (), False), ("Do peas grow on clay?", (), "", (), False),
        ("Do peas grow?", ("sand",), "sand", (), False), ("Do peas grow?", ("clay",), "", (), False),
    ):  # fmt: skip
        facets, study = asked(question), make_study(facets=(("soil", own),) if own else ())
        query = make_query("peas", facets=facets)
        strength = grade([study], [], facets, sizes={"A": StudySize(900, 20)})

        assert (
            attribution("They grow.", study, facets) == f"Example (randomised trial, 2020{'; ' * bool(named)}{named})"
        )
        assert missing_parts(query, ("Peas.",), [study], {}, lambda _: True, Policy()) == missing
        assert strength
        texts = {reason.text for reason in strength.reasons}
        assert ("The sources differ from what is asked about in soil." in texts) is indirect


def test_a_declaration_that_cannot_be_used_is_refused_by_key_and_reason() -> None:
    soil = '[facets.soil]\nlabel = "Soil"\n'
    for content, place, reason in (
        (soil + "[facets.soil.values]", "facets.soil.values", "is empty"), ("[facets.soil.values]", "facets['soil'].label", "lacks label"),
        (SITE.replace("facets.soil", "facets.topic"), "facets.topic", "is not a name"),
        (SITE.replace("soil", "sex"), "facets.sex.values", "any is none of female"), (SITE.replace('unit = "cm"', ""), "facets.height.unit", "is missing"),
        (SITE.replace('["tall"]', '["high"]'), "facets.height.ranges", "high is no value"),
        (SITE.replace('"sand*"', '"Sandy-soil"'), "facets.soil.values.sand.phrases", "is no phrase"),
        (SITE.replace("heavy =", "light ="), "facets.soil.values.clay.phrases", "names the list heavy"),
        (SITE.replace('"sticky"', '"{heavy}"'), "phrase_lists.heavy", "refers to itself"),
    ):  # fmt: skip
        found = [(problem.field, problem.reason) for problem in find_problems(content)]
        assert any(field == place and reason in why for field, why in found), (place, found)
    assert list(find_problems(SITE)) == []
