"""Questions put to a site about whoever it belongs to, and the sources that answer them."""

from datetime import date

import pytest

from corpus_app.records import Collection, Study
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.query import Request
from qa_app.pipeline.question.site_questions import SiteIndex, SiteQuestion, read
from qa_app.pipeline.records import Answered, Mode, Question, Refused
from qa_app.pipeline.writer import ExtractiveWriter
from tests.pipeline.fake_corpus import FakeCorpus, eager_engine
from tests.pipeline.test_parse import examples
from tests.pipeline.values import make_concept, make_passage, make_study

WEAVING = make_concept("weaving", kind="craft")
STUDIES: tuple[Study, ...] = (
    make_study("about", title="About Ash Mill", collection="mill"),
    make_study("loom", title="The looms", collection="mill", concepts=("weaving",)),
    make_study("tours", title="Guided tours", collection="visits"),
    make_study("school", title="School days", collection="visits"),
)
COLLECTIONS = (Collection("mill", "The mill", "", ()), Collection("visits", "Visits", "", ()))
SITE = SiteIndex.build("Ash Mill", STUDIES, COLLECTIONS, [WEAVING], {"craft": "Crafts"})


def test_lists_catch_their_examples_and_miss_the_others() -> None:
    phrases = PhraseIndex.of_language("site_questions")
    for name, caught, missed in examples("site_questions"):
        found, other = (phrases.find(words_of(text)) for text in (caught, missed))
        assert name in found, name
        assert name not in other, name


@pytest.mark.parametrize(
    ("question", "request_", "studies"),
    [
        ("Who are you?", Request.OVERVIEW, ("about",)),
        ("What does the mill do?", Request.OVERVIEW, ("about",)),
        ("Tell me about your company", Request.OVERVIEW, ("about",)),
        ("What do you offer?", Request.OVERVIEW, ("about",)),
        ("How did the mill develop over time?", Request.TIMELINE, ()),
        ("Timeline of the roof", Request.TIMELINE, ()),
        ("What is your history?", Request.TIMELINE, ()),
        ("Which visits do you offer?", Request.SOURCES, ("tours", "school")),
        ("Give me an overview of your crafts", Request.SOURCES, ("loom",)),
        ("Compare guided tours and school days", Request.SOURCES, ("tours", "school")),
        ("Tell me about weaving", Request.SOURCES, ("loom",)),
        ("What is weaving?", None, ()),
        ("guided tours vs weaving", Request.SOURCES, ("tours", "loom")),
        ("Compare guided tours and concerts", None, ()),
        ("Which visits do you offer on Mondays?", None, ()),
        ("What is the history of felt?", None, ()),
        ("How do you weave felt?", None, ()),
        ("When did you open?", None, ()),
    ],
)
def test_a_question_about_the_owner_asks_for_its_sources(
    question: str, request_: Request | None, studies: tuple[str, ...]
) -> None:
    found = read(question, SITE)

    assert (found.request, found.studies) == (request_, studies)
    assert read(question, SiteIndex()) == SiteQuestion(question)  # of a site whose sources name nobody


@pytest.mark.parametrize(
    ("question", "put"),
    [
        ("When did you open?", "When did Ash Mill open?"),
        ("Who started your company?", "Who started Ash Mill?"),
        ("How do you get there?", "How do you get there?"),
        ("Can you bring your own lunch?", "Can you bring your own lunch?"),
    ],
)
def test_the_owner_is_asked_about_by_name(question: str, put: str) -> None:
    assert read(question, SITE).text == put


def test_a_timeline_tells_dated_events_in_their_order() -> None:
    history, news = make_study("A", title="How it came about"), make_study("B", title="News")
    texts = (
        "The mill got a wing in 1936. The roof was renewed in 1974.",
        "The mill was built in 1909. It is of brick.",
    )
    passages = [make_passage(text, study=history, position=n) for n, text in enumerate(texts)]
    later = make_passage("The mill opens in 2020 and has a wing of brick.", study=news)
    corpus = FakeCorpus([*passages, later], owner="Ash Mill")

    ending = eager_engine().answer(
        Question("Timeline of the mill", "Timeline of the mill", Mode.BEGINNER), corpus=corpus,
        writers=(ExtractiveWriter(),), today=date(2026, 1, 2),
    )  # fmt: skip

    assert isinstance(ending, Answered), isinstance(ending, Refused) and ending.message
    assert ending.headline.text == "The mill was built in 1909."
    assert [s.text for s in ending.answer] == ["The mill got a wing in 1936.", "The roof was renewed in 1974."]


def test_sources_that_are_asked_for_speak_with_their_first_words() -> None:
    passages = [
        make_passage(f"The {study.title.lower()} of the mill are loved. In May {n} of them take place.", study=study)
        for n, study in enumerate(STUDIES[2:], start=10)
    ]
    corpus = FakeCorpus(passages, owner="Ash Mill", collections=COLLECTIONS)

    ending = eager_engine().answer(
        Question("Which visits do you offer?", "Which visits do you offer?", Mode.BEGINNER), corpus=corpus,
        writers=(ExtractiveWriter(),), today=date(2026, 1, 2),
    )  # fmt: skip

    assert isinstance(ending, Answered), isinstance(ending, Refused) and ending.message
    told = {sentence.text for sentence in (*ending.summary, *ending.answer)}
    assert {passage.text.partition(". ")[0] + "." for passage in passages} <= told
