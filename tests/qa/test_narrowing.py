"""An answer narrowed by filters comes from studies that fit alone, at an address that shows them; all that follows keeps
them.
"""

import re
from typing import Any

import pytest
from django.test import Client

from corpus_app import curation, indexing
from corpus_app.models import Concept
from corpus_app.records import AgeGroup, Design, Direction, Lean
from qa_app.answers import asking, exporting, replaying
from qa_app.following import followers
from qa_app.models import Answer, Gap
from tests.builders import make_finding, make_study
from tests.qa.conftest import ASKED

LATE = "Twelve weekly sets per muscle increased growth more than six in older adults. Few sets still build muscle."
WOMEN = "What about women?"
ADDRESS = {"from": "2020", "age": "older_adults"}
FILTERS = {"from": 2020, "age": ["older_adults"]}


@pytest.fixture
def first(library: tuple[str, ...]) -> dict[str, Any]:
    """An answer from an early trial and a late review."""
    study = make_study(
        study_id="T-LATE", texts=(LATE,), year=2024, design=Design.META_ANALYSIS.value, status="draft",
        age_group=AgeGroup.OLDER_ADULTS.value, concepts=(Concept.objects.get(concept_id="training-volume"),),
    )  # fmt: skip
    make_finding(
        study, intervention="twelve weekly sets", comparator="six weekly sets", outcome="muscle growth",
        lean=Lean.YES.value,
        statement="Twelve weekly sets per muscle increased growth more than six.",
        plain="Twelve weekly sets for each muscle built more muscle than six.", direction=Direction.FAVOURS_INTERVENTION.value,
        asked_as="How many weekly sets for each muscle to grow?\nHow many sets a week per muscle are best for growth?\n"
        "Do more weekly sets build more muscle?",
    )  # fmt: skip
    curation.publish(("T-LATE",), by=None, by_name="tests")
    indexing.index_stale()
    answer = asking.ask(question=ASKED)
    assert cited(answer) == {"T-SETS", "T-LATE"}
    return answer


def cited(payload: dict[str, Any]) -> set[str]:
    return {row["study_id"] for row in payload["citations"]}


def shown(client: Client, address: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], str, str]:
    """The payload of the answer that an address leads to, that answer's address, and its page."""
    response = client.get(address, parameters, follow=True)
    answer = Answer.objects.get(pk=response.redirect_chain[-1][0].split("/")[2])
    return asking.find_answer(answer.pk) or {}, response.redirect_chain[-1][0], response.content.decode()


def test_an_address_with_filters_leads_to_one_answer_from_the_studies_that_fit(
    client: Client, first: dict[str, Any]
) -> None:
    page = client.get(first["url"]).content.decode()
    narrowed, address, own_page = shown(client, f"{first['url']}narrow/", ADDRESS)

    assert 'name="age" value="older_adults"' in page
    assert 'name="design" value="meta_analysis"' in page
    assert (cited(narrowed), narrowed["filters"]) == ({"T-LATE"}, FILTERS)
    assert address == f"{narrowed['url']}?from=2020&age=older_adults"
    assert "Older adults" in own_page
    assert "from 2020" in own_page
    assert re.search(r'name="design" value="\w+" disabled>', own_page), "a kind that no study left has"
    assert 'name="from" min="1000" max="2999" inputmode="numeric" value="2020"' in own_page
    assert shown(client, f"{first['url']}narrow/", ADDRESS)[1] == address
    assert shown(client, first["url"], ADDRESS)[1] == address
    assert client.get(address).status_code == 200
    assert shown(client, narrowed["url"], {"from": "2020"})[0]["filters"] == {"from": 2020}
    assert shown(client, f"{narrowed['url']}narrow/", {})[1] == first["url"]


def test_where_nothing_fits_the_page_says_so_and_leads_back_and_no_gap_is_filed(
    client: Client, first: dict[str, Any]
) -> None:
    refused, _, page = shown(client, f"{first['url']}narrow/", {"from": "2090", "sex": "nonsense"})

    assert (refused["outcome"], refused["filters"]) == ("insufficient_evidence", {"from": 2090})
    assert refused["message"].startswith("No study that fits these filters answers this question.")
    assert f'href="{refused["url"]}narrow/" rel="nofollow">The answer from all studies' in page
    assert not Gap.objects.exists()


def test_follow_ups_replays_files_and_followers_keep_the_filters(client: Client, first: dict[str, Any]) -> None:
    narrowed = asking.ask(question=ASKED, filters=FILTERS)
    again = asking.ask_again(narrowed["id"]) or {}
    markdown = exporting.export(narrowed["id"], "md", site="https://example.org/")

    assert asking.ask(question=WOMEN, parent=narrowed["id"])["filters"] == FILTERS
    assert asking.ask(question=WOMEN, parent=narrowed["id"], filters={})["filters"] == {}
    assert (again["filters"], cited(again)) == (FILTERS, {"T-LATE"})
    assert replaying.replay(narrowed["id"]).is_same  # type: ignore[union-attr]
    assert markdown is not None
    assert "Only from studies that fit: age older adults; from 2020." in markdown.content.decode()
    assert followers.follow_by_feed(narrowed["id"]) == followers.follow_by_feed(again["id"])
    assert followers.follow_by_feed(narrowed["id"]) != followers.follow_by_feed(first["id"])


def test_counts_of_the_corpus_and_fixed_replies_are_not_narrowed(client: Client, first: dict[str, Any]) -> None:
    counted = asking.ask(question="How many studies do you have?", filters={"from": 2020})
    whole = asking.ask(question="How many studies do you have?")

    assert (counted["overview"], counted["filters"]) == (whole["overview"], {})
    assert client.get(f"{counted['url']}narrow/", ADDRESS)["Location"] == counted["url"]
    assert asking.ask(question="What dose of steroids should I take?", filters={"from": 2020})["filters"] == {}


@pytest.mark.parametrize(
    ("filters", "advice"),
    [
        ("2020", "Send an object"),
        ({"from": "2020"}, "Send a year"),
        ({"from": True}, "Send a year"),
        ({"colour": ["red"]}, "Filter by from, to, collection, design, age"),
        ({"age": "adults"}, "Send a list of values of age"),
        ({"design": ["opinion"]}, "Send a list of values of design"),
    ],
)
def test_the_api_names_what_may_be_filtered_by(client: Client, library: object, filters: object, advice: str) -> None:
    asked = {"question": ASKED, "filters": filters}
    problem = client.post("/api/v1/answers", asked, content_type="application/json")

    assert problem.status_code == 400
    (error,) = problem.json()["errors"]
    assert error["field"] == "filters"
    assert advice in error["detail"]
