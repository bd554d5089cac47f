"""Examples on the Ask page are about the corpus that is there."""

from typing import Any

import pytest
from django.test import Client

from corpus_app import curation
from corpus_app.models import CorpusLexicon
from corpus_app.records import Notice
from corpus_app.search import versions
from qa_app.answers import examples
from tests.builders import make_collection, make_concept, make_finding, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db
BY: dict[str, Any] = {"by": None, "by_name": "tests", "reason": "for this test"}
SAFE = "Is creatine safe for the kidneys?"
TEA = "What does green tea do for sleep?"


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


@pytest.fixture
def tea_house() -> None:
    """Another corpus: three studies of tea."""
    tea, sleep, fog = (make_concept(name, aliases=aliases) for name, aliases in TOPICS)
    for number, concepts in enumerate([(tea, sleep), (tea, sleep), (tea, fog)]):
        study = make_study(
            study_id=f"TEA{number}", title=f"Tea, part {number}", texts=("Tea was drunk at night.",), status="draft",
            collection=make_collection("drinks"), concepts=concepts,
        )  # fmt: skip
        make_finding(study, intervention="green tea", outcome="Sleep")
        make_finding(study, intervention="3 or more cups", outcome="sleep")
    make_finding(study, intervention="the brew", outcome="night mists")
    curation.publish(["TEA0", "TEA1", "TEA2"], **BY)


TOPICS = (("green-tea", ("the brew",)), ("sleep", ()), ("night-mists", ()))


def test_of_another_corpus_they_ask_what_its_studies_found(tea_house: None) -> None:
    shown = examples.shown()

    assert shown[0] == TEA
    topics = ("green tea", "sleep", "night mists")
    assert shown[1:] == tuple(f"What is known about {name}?" for name in topics)
    html = Client().get("/").content.decode()
    assert all(example in html for example in shown)


def test_those_of_the_site_come_first_where_its_corpus_is_about_them(tea_house: None) -> None:
    CorpusLexicon.objects.create(name="site", content=f"examples = ['Which sets build muscle?', '{SAFE}']")
    creatine, kidneys = make_concept("creatine"), make_concept("kidneys")
    text = "Creatine was safe for each kidney."
    make_study(study_id="CREATINE", texts=(text,), concepts=(creatine, kidneys), status="draft")
    assert SAFE not in examples.shown()

    curation.publish(["CREATINE"], **BY)

    assert examples.shown()[:2] == (SAFE, TEA)


def test_what_left_the_public_makes_no_examples(tea_house: None) -> None:
    curation.withdraw(["TEA0", "TEA1"], **BY)
    assert examples.shown()[0] == "What does green tea do for night mists?"
    assert not any("sleep" in example for example in examples.shown())
    make_finding(make_study(status="draft", concepts=()), intervention="the brew", outcome="sleep")
    versions.cache.clear()  # nothing may hide behind what was read before
    assert not any("sleep" in example for example in examples.shown())

    curation.set_notice(["TEA2"], Notice.RETRACTED, **BY)

    assert examples.shown() == ()


def test_a_question_is_made_of_single_things_only() -> None:
    weights, grip, stress = make_concept("weights"), make_concept("grip"), make_concept("stress")
    study = make_study(study_id="GRIP", concepts=(weights, grip, stress), status="draft")
    make_finding(study, intervention="weights", outcome="grip")
    make_finding(study, intervention="stress", outcome="grip")
    make_finding(study, intervention="grip and stress", outcome="weights")
    make_finding(study, intervention="grip", outcome="grip")
    curation.publish(["GRIP"], **BY)

    made = [question for question in examples.shown() if question.startswith("What does")]
    assert made == ["What does stress do for grip?"]
