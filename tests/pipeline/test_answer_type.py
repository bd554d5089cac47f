"""The type of answer that a question expects, and the sentences that hold one."""

from datetime import date

import pytest

from corpus_app.records import Concept, Unit
from qa_app.pipeline.answer_type import AnswerType, ExpectedAnswer, binding, read_expected, read_figure
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.follow_up import asks_of_years
from qa_app.pipeline.question.numbers import find_numbers, find_years
from qa_app.pipeline.records import Answered, Mode, Question, Refused
from qa_app.pipeline.units import unit_forms
from qa_app.pipeline.writer import ExtractiveWriter
from tests.pipeline.fake_corpus import FakeCorpus, eager_engine
from tests.pipeline.test_parse import examples
from tests.pipeline.values import make_concept, make_passage, make_query

ADVISED = {AnswerType.FREQUENCY, AnswerType.AMOUNT}
HALL = "The hall was opened in 1931 by the painter Ada Lund and seats 420 guests on Sundays."


def read(question: str, *concepts: Concept) -> ExpectedAnswer | None:
    query: Query = make_query(question, concepts=concepts)
    return read_expected(query, dict.fromkeys(query.terms, 1.0))


def read_asked_figure(question: str) -> ExpectedAnswer | None:
    query: Query = make_query(question)
    return read_figure(query, dict.fromkeys(query.terms, 1.0))


def test_types_catch_their_examples_and_miss_the_others() -> None:
    assert {name for name, _, _ in examples("answer_types")} == set(AnswerType) - {AnswerType.EVENT}
    for name, caught, missed in examples("answer_types"):
        read_one = read_asked_figure if name in ADVISED else read
        found, other = read_one(caught), read_one(missed)
        assert (found and found.type, other and other.type) == (name, None), name


@pytest.mark.parametrize(
    "question",
    [
        "I sleep badly. How many hours does a cat sleep?",
        "Explain how they decide which ships sail",
        "when the hall was opened",
    ],
)
def test_a_part_of_a_longer_question_has_no_type(question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize(
    ("question", "sentence", "is_held"),
    [
        ("How often should I water tomatoes?", "Water tomatoes on three days a week.", True),
        ("How often should I water tomatoes?", "Tomatoes took 3 litres of water.", False),
        ("How much water do tomatoes need?", "Give each tomato 3 litres of water.", True),
        ("How much water do tomatoes need?", "Tomatoes grew 3 cm more where they had warm water.", False),
    ],
)
def test_advice_leads_with_its_figure(question: str, sentence: str, *, is_held: bool) -> None:
    asked = read_asked_figure(question)
    assert asked
    assert bool(binding(asked, sentence, "")) is is_held


@pytest.mark.parametrize(
    ("question", "sentence", "is_held"),
    [
        ("How many guests does the hall seat?", HALL, True),
        ("How many dancers does the hall seat?", HALL, False),
        ("How many guests does the hall seat?", "In the hall, guests seat themselves, and 12 leave.", False),
        ("How many people visit the hall?", "About 90 visit the hall.", True),
        ("How many grams of flour are in a loaf?", "A loaf has 500 g of flour.", True),
        ("When was the hall opened?", HALL, True),
        ("When will the hall be repainted?", HALL, False),
        ("Who opened the hall?", HALL, True),
        ("Who sold the hall?", HALL, False),
        ("Where is the hall kept open?", "The hall is kept open near Lund.", True),
        ("How long does the tour take?", "The tour of the hall takes half a day.", True),
        ("How long does the tour take?", "The tour takes visitors past the stage.", False),
        ("How much does a tour cost?", "A tour is €12.", True),
        ("How much does a tour cost?", "A tour costs a fifth of a concert.", False),
        ("What is the height of the stage?", "The height of the stage is 1.2 metres.", True),
        ("Which metals does the mill recycle?", "The mill recycles paper and glass.", False),
    ],
)
def test_a_sentence_holds_an_answer_of_the_type_for_what_is_asked(question: str, sentence: str, is_held: bool) -> None:
    expected = read(question)

    assert expected is not None
    assert bool(binding(expected, sentence, "")) is is_held


@pytest.mark.parametrize(
    ("question", "is_held"),
    [
        ("How many seats does the red room have?", True),
        ("How many lamps does the red room have?", False),
        ("What does the red room cost?", True),
        ("How much is the red room?", True),
        ("How much is the blue balcony room?", False),
        ("Who designed the red room?", False),  # heads of columns are no names
    ],
)
def test_a_row_of_a_table_holds_an_answer_in_any_of_its_cells(question: str, is_held: bool) -> None:
    expected = read(question)

    assert expected is not None
    row = "Rooms designed here; Room: red; Seats: 40; Rent (EUR): 90"
    assert bool(binding(expected, row, "", is_row=True)) is is_held


def test_units_of_the_corpus_count_as_those_of_english() -> None:
    units = unit_forms({"quire": Unit(("quire", "qr"))})
    query = make_query("How many quires fill a ream of paper?", units=units)

    expected = read_expected(query, dict.fromkeys(query.terms, 1.0))

    assert expected is not None
    assert binding(expected, "Of paper, 20 qr fill a ream.", "")
    assert not binding(expected, "Of paper, 20 guests fill a ream.", "")
    assert find_numbers("from 3 qr to 5 kg, 2-4 quires", units) == ("3 qr", "5 kg", "2 quires", "4 quires")


@pytest.mark.parametrize(("question", "years"), [
    ("What happened in 1931?", ("1931",)), ("Was ist im Jahr 1931 geschehen?", ("1931",)), ("Is 1500 ok?", ()),
    ("Does a dose of 1500 mg help?", ()), ("in 1931 or since 1940", ("1931", "1940")), ("by 1931/32", ()),
])  # fmt: skip
def test_a_year_is_asked_for_behind_a_word_that_dates(question: str, years: tuple[str, ...]) -> None:
    assert find_years(question) == years


@pytest.mark.parametrize(("year", "is_held"), [("1931", True), ("1932", False)])
def test_a_question_about_a_year_is_answered_by_a_sentence_that_states_it(year: str, is_held: bool) -> None:
    query = make_query(f"What happened in {year}?", terms=(year,), years=(year,))

    expected = read_expected(query, {year: 1.0})

    assert expected is not None
    assert asks_of_years(query)
    assert bool(binding(expected, HALL, "")) is is_held


def test_a_concept_may_go_by_any_of_its_names() -> None:
    expected = read("How many lorries does the mill own?", make_concept("truck", aliases=("lorry", "lorries")))

    assert expected is not None
    assert binding(expected, "The mill owns nine trucks.", "")
    assert not binding(expected, "The mill owns trucks that carry 9 tonnes.", "")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many guests does the hall seat?", "420 guests"),
        ("How many dancers does the hall seat?", "how many “dancers”"),
    ],
)
def test_an_answer_quotes_what_is_asked_for_or_says_that_it_is_missing(question: str, words: str) -> None:
    others = ("Music in the hall begins at noon for all who come.", "Visitors praise the old organ of the hall.")
    ending = eager_engine().answer(
        Question(question, question, Mode.BEGINNER), corpus=FakeCorpus([make_passage(t) for t in (*others, HALL)]),
        writers=(ExtractiveWriter(),), today=date(2026, 1, 2),
    )  # fmt: skip

    assert isinstance(ending, Answered | Refused)
    told = (
        ending.message if isinstance(ending, Refused) else " ".join(s.text for s in (*ending.summary, *ending.answer))
    )
    assert words in (told or "")
    assert isinstance(ending, Refused) is ("dancers" in question)
