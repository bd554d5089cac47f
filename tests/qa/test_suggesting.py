"""Questions offered while one types: of what readers may see, by the words that are typed, the last one unfinished."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from corpus_app import curation
from corpus_app.records import Notice
from corpus_app.search import versions
from inform_site.clients.limits import Limits
from qa_app.answers import asking, listed
from qa_app.feedback import suggestions
from tests.builders import make_concept, make_curator, make_study
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

BY: dict[str, Any] = {"by": None, "by_name": "tests", "reason": "for this test"}
SETS_TOPIC = "What do the studies say about training volume?"
HIDDEN = "Zorblatt"


def offered(typed: str) -> list[tuple[str, str]]:
    rows = Client().get("/suggest/", {"q": typed}).json()["suggestions"]
    return [(row["kind"], row["question"]) for row in rows]


def publish(study_id: str, **changes: Any) -> None:
    make_study(study_id=study_id, status="draft", **changes)
    curation.publish([study_id], **BY)


def test_a_topic_is_found_by_its_name_and_by_its_other_names() -> None:
    assert ("topic", SETS_TOPIC) in offered("training vol")
    (found,) = (one for one in suggestions.suggest("weekly se") if one.kind == "topic")

    assert (found.question, found.also) == (SETS_TOPIC, "weekly sets")


def test_a_study_is_found_by_words_of_its_title_the_newest_first() -> None:
    publish("T-OLD", title="Kettlebells and grip", year=1999)
    publish("T-NEW", title="Grip after kettlebell swings", year=2021)

    assert offered("Does grip need kettleb") == [
        ("study", "What did “Grip after kettlebell swings” find?"),
        ("study", "What did “Kettlebells and grip” find?"),
    ]


def test_every_word_counts_and_only_the_last_one_may_be_unfinished() -> None:
    publish("T-GRIP", title="Kettlebells and grip")

    assert offered("kettlebell grip") == offered("grip kettle") != []
    assert offered("kettle grip") == []
    assert offered("grip sauna") == []


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "t", "how many of the", "?!", "\0", "\ud800", "“”", "%", "training " * 40, "weekly sets\0" * 999],
)
def test_what_names_nothing_is_offered_nothing(typed: str) -> None:
    assert suggestions.suggest(typed) == ()


def test_a_question_answered_before_is_offered_once_a_curator_approved_it() -> None:
    body = asking.ask(question=ASKED)
    before = offered(ASKED[:-4])

    listed.list_publicly([body["id"]], by=make_curator(), now=timezone.now())

    assert ("question", ASKED) not in before
    assert offered(ASKED[:-4])[0] == ("question", ASKED)
    curation.withdraw(["T-SETS"], **BY)
    assert ("question", ASKED) not in offered(ASKED[:-4])


@pytest.mark.parametrize("status", ["draft", "in_review", "withdrawn"])
def test_what_is_not_published_is_never_offered(status: str) -> None:
    concept = make_concept("zorblatting", aliases=(f"{HIDDEN} sets",))
    make_study(study_id="HIDDEN", title=f"{HIDDEN} and weekly sets", status=status, concepts=(concept,))
    versions.cache.clear()  # what was read of this version is read again: nothing may hide behind it

    assert offered("zorb") == []
    assert HIDDEN.lower() not in repr(offered("weekly sets")).lower()


def test_a_change_of_the_corpus_is_offered_at_once() -> None:
    publish("T-GRIP", title="Kettlebells and grip")
    assert offered("kettleb")

    curation.set_notice(["T-GRIP"], Notice.RETRACTED, **BY)
    assert offered("kettleb") == []
    curation.set_notice(["T-GRIP"], Notice.NONE, **BY)
    assert offered("kettleb")
    curation.withdraw(["T-GRIP"], **BY)
    assert offered("kettleb") == []


def test_few_are_offered_and_of_no_kind_too_many() -> None:
    for number in range(9):
        publish(f"T-MANY{number}", title=f"Kettlebells, part {number}")

    assert len(offered("kettlebells")) == suggestions.MAX_PER_KIND


def test_it_is_read_only_and_asked_for_anew_each_time() -> None:
    response = Client().get("/suggest/?q=weekly")

    assert "no-cache" in response["Cache-Control"]
    assert Client().post("/suggest/?q=weekly").status_code == 405
    assert Client().get("/suggest/").json() == {"suggestions": []}


def test_more_than_anybody_types_is_asked_to_wait(settings: Any) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"suggest": Limits(1_000, 2)}
    client = Client()

    first, second, third = (client.get("/suggest/", {"q": "training vol"}) for _ in range(3))

    assert [first.status_code, second.status_code, third.status_code] == [200, 200, 429]
    assert (third.json(), int(third["Retry-After"]) > 0) == ({"suggestions": []}, True)
    assert '"suggest-day";r=0' in third["RateLimit"]
