"""Citations and attributions: numbered by first appearance, naming who says it, absent from texts of others."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Design, Sex, TrainingStatus
from qa_app.pipeline import attribution
from qa_app.pipeline.attribution import attributed, describe, differing_traits, names_its_study, spoken, surname
from qa_app.pipeline.citations import MARKER, marked, number_studies, numbered, parse_markers, with_markers
from qa_app.pipeline.query import AskedFacets
from qa_app.pipeline.records import Sentence, SentenceKind, Span, Verdict
from tests.pipeline.corpora import asked
from tests.pipeline.values import SENTENCES, make_candidate, make_evidence, make_study

numbers = st.lists(st.integers(1, 99), max_size=5, unique=True).map(tuple)
FUZZED = int(os.environ.get("FUZZED", "400"))  # `make fuzz` makes many more
PIECES = (
    *("[", "]", "［", "］", "【", "】", "[1]", "[2, 3]", "[^4]", "[p1]", "[0]", "[99]", "[1-3]"),
    *("(x)", "(javascript:y(1))", "†s", " ", "1", ","),
)
garbage = (
    st.text(st.sampled_from("[]［］【】1２39,;，、-–^ \t\nab.é💪"), max_size=40)
    | st.text()
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)


def sentence_citing(*study_ids: str) -> Sentence:
    spans = tuple(Span(n, 1, study_id, 0, 5, "Words") for n, study_id in enumerate(study_ids, start=1))
    return Sentence("Words", (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, spans)


@pytest.mark.parametrize(("text", "stripped", "found"), [
    ("It grows [1, 3].", "It grows.", (1, 3)), ("It grows [1] [3].", "It grows.", (1, 3)),
    ("It grows [1, 3–5; 7].", "It grows.", (1, 3, 4, 5, 7)),
    ("It grows [9-2] [1-4000].", "It grows.", (9, 2, 1, 4000)), ("It grows 【1，2】.", "It grows.", (1, 2)),
    ("It grows[^1].", "It grows.", (1,)), ("It grows [[1]].", "It grows.", (1,)),
    ("It grows [3][1][3].", "It grows.", (3, 1)), ("[1] It grows", "It grows", (1,)),
    ("It grows [[[1] 2] 3].", "It grows 3].", (1, 2)), ("It grows [ [ [ [1] 2] 3] 4].", "It grows   3 4.", (1, 2)),
    ("It grows [a].", "It grows [a].", ()), ("It grows [12345].", "It grows.", (12345,)),
    ("It grows [1234567890].", "It grows.", ()), ("It grows [0] [99].", "It grows.", (0, 99)),
    ("It grows [p3].", "It grows.", ()), ("It grows [Source 2; 3].", "It grows.", (3,)),
    ("It grows 【2†source】.", "It grows.", (2,)), ("It grows 〔2〕 and [1 & 3].", "It grows and.", (2, 1, 3)),
    ("It grows [1](https://example.org/a?b=c) well.", "It grows well.", (1,)),
    ("It grows [1](javascript:alert(1)).", "It grows.", (1,)),
    ("It grows [1] (in men).", "It grows (in men).", (1,)),
    ("Interval [0.2 to 0.4], dose [5 mg].", "Interval [0.2 to 0.4], dose [5 mg].", ()),
    ("It gr[1]ows.", "It grows.", (1,)), ("It grows [].", "It grows [].", ()),
    ("It grows (1).", "It grows (1).", ()),
])  # fmt: skip
def test_markers_are_read_and_taken_out(text: str, stripped: str, found: tuple[int, ...]) -> None:
    assert parse_markers(text) == (stripped, found)


@settings(max_examples=FUZZED, deadline=None)
@given(garbage)
@pytest.mark.slow
def test_no_marker_survives_whatever_is_written(text: str) -> None:
    stripped, found = parse_markers(text)

    assert MARKER.search(stripped) is None
    assert parse_markers(stripped) == (stripped, ())
    assert len(set(found)) == len(found)


@given(st.sampled_from(SENTENCES) | st.sampled_from(["Does it grow?", "It grows!", "no stop", "💪 grows."]), numbers)
def test_what_is_marked_is_read_back(text: str, cited: tuple[int, ...]) -> None:
    assert parse_markers(marked(text, cited)) == (text, cited)


def test_markers_stand_before_the_closing_mark() -> None:
    for text, cited, expected in (
        ("It grows.", (1,), "It grows [1]."), ("Why?", (1, 2), "Why [1][2]?"), ("no stop", (3,), "no stop [3]"),
        ("It grows.", (), "It grows."), ("Others saw this [12].", (1,), "Others saw this [1]."),
        ("Others saw this [12].", (), "Others saw this."),
    ):  # fmt: skip
        assert marked(text, cited) == expected
    paragraphs = with_markers([("One.", (1,), 0), ("Two.", (), 0), ("Three.", (2,), 1)])
    assert paragraphs == "One [1]. Two.\n\nThree [2]."


@given(st.lists(st.lists(st.sampled_from("ABC"), max_size=3), max_size=5))
def test_each_sentence_bears_the_numbers_of_its_studies_once(behind: list[list[str]]) -> None:
    sentences = tuple(sentence_citing(*own) for own in behind)
    numbers = number_studies(sentences, make_evidence(*(make_candidate(study=study) for study in "ABC")))
    names = {number: study for study, number in numbers.items()}

    for sentence, own in zip(numbered(sentences, numbers), behind, strict=True):
        assert [names[number] for number in sentence.citations] == list(dict.fromkeys(own))


STUDIES = (
    make_study("A", authors=("Grgic J", "Schoenfeld BJ", "Davies TB"), year=2018, design=Design.META_ANALYSIS),
    make_study("B", authors=("Csapo R", "Alegre LM"), year=2016, sex=Sex.BOTH),
    make_study("C", authors=(), year=2023, sex=Sex.BOTH),
)
NOBODY = asked()
OLDER, WOMEN = asked(age_group="older_adults"), asked(sex="female")
MEN_AND_WOMEN = asked(sex="female male")
YOUTH = asked(age_group="youth")
ADULTS = asked(age_group="adults older_adults")
BEGINNERS = asked(training_status="untrained")
TRAINED = asked(training_status="trained athletes")


def attributed_to(sentences: list[Sentence], facets: AskedFacets = MEN_AND_WOMEN) -> tuple[Sentence, ...]:
    candidates = (make_candidate(study=study) for study in STUDIES)
    return attributed(sentences, make_evidence(*candidates, facets=facets))


def quoting(study: str, text: str = "Strength rose.", kind: SentenceKind = SentenceKind.QUOTE) -> Sentence:
    return Sentence(text, (), Verdict.VERBATIM, "high", kind, (Span(1, 1, study, 0, len(text), text),))


def test_the_family_name_is_found_in_every_form() -> None:
    families = {
        "Schoenfeld BJ": "Schoenfeld", "dos Santos EEP": "dos Santos", "Schoenfeld, Brad J.": "Schoenfeld",
        "B. J. Schoenfeld": "Schoenfeld", "Corvane Aviation": "Corvane Aviation", "O'Brien K": "O'Brien",
        "Hernández-Belmonte A": "Hernández-Belmonte", "WHO": "WHO", "": "",
        "American College of Sports Medicine": "American College of Sports Medicine",
    }  # fmt: skip

    assert {author: surname(author) for author in families} == families


def test_a_study_is_described_by_its_authors_design_year_and_people() -> None:
    one, bare = {"authors": ("Grgic J",)}, {"design": Design.OTHER, "year": None}
    for changes, people, name in (
        (one, "", "Grgic (randomised trial, 2020)"), (one, "men", "Grgic (randomised trial, 2020; men)"),
        ({"authors": ("Grgic J", "Csapo R")}, "", "Grgic and Csapo (randomised trial, 2020)"),
        ({"authors": ("Aber B", "Ceder D", "Esche F"), "year": None}, "", "Aber and colleagues (randomised trial)"),
        (one | {"design": Design.OTHER}, "", "Grgic (2020)"), (one | bare, "", "Grgic"),
        ({"authors": (), "design": Design.POSITION_STAND}, "men", "Position stand, 2020; men"),
        (bare | {"authors": ()}, "men", "A study (men)"), (bare | {"authors": ()}, "", ""),
    ):  # fmt: skip
        assert describe(make_study("A", **changes), people) == name


def test_a_text_names_its_study_by_first_author_or_by_its_year() -> None:
    for text, is_named in (
        ("Grgic and colleagues found no difference.", True), ("In the review by GRGIC strength rose.", True),
        ("The 2018 frequency meta-analysis found a small effect.", True), ("The 2016 meta-analysis found it.", False),
        ("Trials were searched up to April 2018 and pooled.", False), ("In 22 studies strength rose more.", False),
        ("Schoenfeld and colleagues are not its first authors.", False),
    ):  # fmt: skip
        assert names_its_study(text, STUDIES[0]) is is_named, text


def test_a_change_of_study_is_named() -> None:
    found = attributed_to([quoting("A"), quoting("A"), quoting("B"), quoting("A", "Grgic found it."), quoting("C")])

    assert [s.attribution for s in found] == [
        "Grgic and colleagues (meta-analysis, 2018)", "", "Csapo and Alegre (randomised trial, 2016)", "",
        "Randomised trial, 2023",
    ]  # fmt: skip


def test_people_not_asked_about_are_named() -> None:
    for named, age, sex, people in (
        (OLDER, AgeGroup.MIXED, Sex.BOTH, "mixed ages"), (OLDER, AgeGroup.ADULTS, Sex.BOTH, "younger adults"),
        (OLDER, AgeGroup.OLDER_ADULTS, Sex.FEMALE, "women"), (OLDER, AgeGroup.NOT_REPORTED, Sex.BOTH, ""),
        (YOUTH, AgeGroup.ADULTS, Sex.BOTH, "adults"), (ADULTS, AgeGroup.MIXED, Sex.BOTH, ""),
        (ADULTS, AgeGroup.YOUTH, Sex.BOTH, "children and adolescents"), (WOMEN, AgeGroup.MIXED, Sex.BOTH, ""),
        (WOMEN, AgeGroup.MIXED, Sex.MALE, "men"), (MEN_AND_WOMEN, AgeGroup.MIXED, Sex.MALE, ""),
        (BEGINNERS, AgeGroup.OLDER_ADULTS, Sex.FEMALE, "older women"), (NOBODY, AgeGroup.YOUTH, Sex.FEMALE, "girls"),
        (NOBODY, AgeGroup.ADULTS, Sex.MALE, "men"), (NOBODY, AgeGroup.ADULTS, Sex.BOTH, ""),
    ):  # fmt: skip
        study = make_study("A", authors=("Grgic J",), year=2018, age_group=age, sex=sex)
        name = f"Grgic (randomised trial, 2018{'; ' * bool(people)}{people})"
        assert differing_traits(study, named) == people
        assert attribution.attribution("Strength rose.", study, named) == name
        assert attribution.attribution("Grgic saw strength rise.", study, named) == (name if people else "")


def test_training_is_named_where_others_were_asked_about() -> None:
    untrained_too = asked(training_status="untrained trained")
    for named, training, people in (
        (TRAINED, TrainingStatus.MIXED, "trained and untrained people"), (TRAINED, TrainingStatus.ATHLETES, ""),
        (TRAINED, TrainingStatus.NOT_REPORTED, ""), (BEGINNERS, TrainingStatus.TRAINED, "trained people"),
        (BEGINNERS, TrainingStatus.RECREATIONALLY_TRAINED, "recreationally trained people"),
        (untrained_too, TrainingStatus.MIXED, ""), (NOBODY, TrainingStatus.UNTRAINED, ""),
    ):  # fmt: skip
        study = make_study("A", sex=Sex.BOTH, training_status=training)
        assert differing_traits(study, named) == people
        assert differing_traits(study, named, "Resistance training raised strength.") == people

    young_men = make_study("A", age_group=AgeGroup.ADULTS, sex=Sex.MALE)
    older_women = asked(age_group="older_adults", sex="female")
    for text, people in (
        ("Strength rose by 5 kg.", "younger adults, men"), ("The men gained 5 kg.", "younger adults"),
        ("Younger adults gained 5 kg.", "men"), ("In older adults strength rose.", "younger adults, men"),
        ("Men among the younger adults gained 5 kg.", ""),
    ):  # fmt: skip
        assert differing_traits(young_men, older_women, text) == people


def test_only_quotations_of_one_study_are_attributed() -> None:
    near = quoting("A", kind=SentenceKind.NEAR_QUOTE)
    support = (*quoting("A").support, *quoting("B").support)
    both = Sentence("Both rose.", (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, support)

    assert [s.attribution for s in attributed_to([near, both, quoting("unknown")])] == ["", "", ""]
    assert spoken("It rose.", "Grgic (2018)").endswith("It rose.")
    assert spoken("It rose.", None) == spoken("It rose.", "") == "It rose."


@given(st.lists(st.sampled_from([quoting(s, t) for s in "ABC" for t in ("It rose.", "Csapo found it.")]), max_size=8))
def test_attributions_change_no_text_and_look_back_only(quoted: list[Sentence]) -> None:
    whole = attributed_to(quoted)

    assert [(s.text, s.support) for s in whole] == [(s.text, s.support) for s in quoted]
    for end in range(len(quoted) + 1):
        assert attributed_to(quoted[:end]) == whole[:end]
