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


def test_studies_are_found_by_words_of_their_titles_the_newest_first_and_few_of_them() -> None:
    publish("T-OLD", title="Kettlebells and grip", year=1999)
    publish("T-NEW", title="Grip after kettlebell swings", year=2021)

    assert offered("Does grip need kettleb") == [
        ("study", "What did “Grip after kettlebell swings” find?"),
        ("study", "What did “Kettlebells and grip” find?"),
    ]
    assert offered("kettlebell grip") == offered("grip kettle") != []
    assert offered("kettle grip") == []  # only the last word may be unfinished
    assert offered("grip sauna") == []
    for number in range(5):
        publish(f"T-MANY{number}", title=f"Kettlebells, part {number}")
    assert len(offered("kettlebells")) == suggestions.MAX_PER_KIND


def test_what_names_nothing_is_offered_nothing() -> None:
    for typed in ("", "t", "how many of the", "?!", "\0", "\ud800", "“”", "%", "training " * 40, "weekly sets\0" * 999):
        assert suggestions.suggest(typed) == ()


def test_a_question_answered_before_is_offered_once_a_curator_approved_it() -> None:
    body = asking.ask(question=ASKED)
    before = offered(ASKED[:-4])

    listed.list_publicly([body["id"]], by=make_curator(), now=timezone.now())

    assert ("question", ASKED) not in before
    assert offered(ASKED[:-4])[0] == ("question", ASKED)
    curation.withdraw(["T-SETS"], **BY)
    assert ("question", ASKED) not in offered(ASKED[:-4])


def test_what_is_not_published_is_never_offered() -> None:
    concept = make_concept("zorblatting", aliases=(f"{HIDDEN} sets",))
    for status in ("draft", "in_review", "withdrawn"):
        make_study(study_id=f"HIDDEN-{status}", title=f"{HIDDEN} and weekly sets", status=status, concepts=(concept,))
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


def test_more_than_anybody_types_is_asked_to_wait(settings: Any) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"suggest": Limits(1_000, 2)}
    client = Client()

    first, second, third = (client.get("/suggest/", {"q": "training vol"}) for _ in range(3))

    assert [first.status_code, second.status_code, third.status_code] == [200, 200, 429]
    assert (third.json(), int(third["Retry-After"]) > 0) == ({"suggestions": []}, True)
    assert '"suggest-day";r=0' in third["RateLimit"]
    assert "no-cache" in first["Cache-Control"]
    assert client.post("/suggest/?q=weekly").status_code == 405
