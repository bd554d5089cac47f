"""The corpus by REST: lists and pages of them, filters, sparse fields, conditional reads, and never a draft."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from corpus_app import curation, search
from corpus_app.models import Passage
from tests.api.conftest import V1, body, get, problem
from tests.builders import make_collection, make_concept, make_study
from tests.qa.conftest import DRAFT, PROTEIN, SETS

pytestmark = pytest.mark.usefixtures("library")

STUDIES = f"{V1}studies"
LISTS = ("studies", "studies/T-SETS/passages", "concepts", "collections")
ROUTES = (*LISTS, "studies/T-SETS", "corpus/version", "corpus/changes", "concepts/training-volume")


def passage_of(study_id: str) -> int:
    return int(Passage.objects.get(study__study_id=study_id).pk)


def every(path: str) -> list[Any]:
    """All rows of a list, by following `next`."""
    rows: list[Any] = []
    following: str | None = path
    while following:
        page = body(get(following))
        assert set(page) == {"items", "next"}
        rows += page["items"]
        following = page["next"]
    return rows


# --- Studies ---------------------------------------------------------------------------------------------------------


def test_published_studies_are_listed() -> None:
    found = body(get(STUDIES))

    assert [study["study_id"] for study in found["items"]] == ["T-SETS", "T-PROTEIN"]
    assert found["next"] is None
    study = next(study for study in found["items"] if study["study_id"] == "T-SETS")
    assert study["design"] == "randomized_controlled_trial"
    assert study["page"] == "/studies/T-SETS/"
    assert study["concepts"] == ["training-volume"]
    assert "curator_notes" not in study


def test_studies_are_found_by_words_with_an_excerpt() -> None:
    [found] = body(get(f"{STUDIES}?q=protein"))["items"]

    assert found["study_id"] == "T-PROTEIN"
    assert [piece["text"] for piece in found["excerpt"] if piece["marked"]] == ["protein"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("collection=nutrition", {"T-PROTEIN"}),
        ("collection=nutrition&collection=training", {"T-PROTEIN", "T-SETS"}),
        ("design=meta_analysis", {"T-PROTEIN"}),
        ("topic=training-volume", {"T-SETS"}),
        ("from=2021", set()),
        ("from=2020&to=2020&sort=title", {"T-PROTEIN", "T-SETS"}),
        ("q=nowhere", set()),
    ],
)
def test_filters_narrow_the_list(query: str, found: set[str]) -> None:
    assert {study["study_id"] for study in body(get(f"{STUDIES}?{query}"))["items"]} == found


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("studies?colour=red", "colour"),
        ("studies?design=essay", "design"),
        ("studies?collection=%00", "collection"),
        ("studies?topic=sauna", "topic"),
        ("studies?from=soon", "from"),
        ("studies?sort=best", "sort"),
        ("studies?q=%00", "q"),
        ("studies?q=" + "x" * 300, "q"),
        ("studies?limit=0", "limit"),
        ("studies?limit=101", "limit"),
        ("studies?limit=" + "9" * 50, "limit"),
        ("studies?limit=%D9%A3", "limit"),
        ("studies?page=2", "page"),
        ("studies?fields=study_id,secret", "fields"),
        ("studies?fields=", "fields"),
        ("studies?%00=1", "\\0"),
        ("studies/T-SETS?q=x", "q"),
        ("concepts?kind=nothing", "kind"),
        ("concepts?collection=nowhere", "collection"),
        ("corpus/changes?since=-1", "since"),
        ("corpus/changes?since=" + "9" * 30, "since"),
        ("corpus/changes?limit=1000", "limit"),
        ("corpus/version?x=1", "x"),
    ],
)
def test_what_cannot_be_used_is_400_and_named(path: str, field: str) -> None:
    [error] = problem(get(V1 + path), 400, "invalid")["errors"]

    assert (error["field"], bool(error["detail"])) == (field, True)


def test_a_study_is_shown_with_what_it_found_and_what_became_of_it() -> None:
    found = body(get(f"{STUDIES}/T-SETS"))

    assert [finding["direction"] for finding in found["findings"]] == ["favours_intervention"]
    assert found["passages"] == [passage_of("T-SETS")]
    assert [change["kind"] for change in found["history"]] == ["published"]
    assert (found["cited_by"], found["weeks"]) == (0, {"shortest": None, "longest": None})


def test_passages_are_shown_with_the_words_and_their_sentences() -> None:
    listed = body(get(f"{STUDIES}/T-PROTEIN/passages"))["items"]
    found = body(get(f"{V1}passages/{listed[0]['passage_id']}"))

    assert (listed[0]["text"], found["text"], found["study_id"]) == (PROTEIN, PROTEIN, "T-PROTEIN")
    assert [PROTEIN[start:end].strip() for start, end in found["sentences"]] == [
        "Older adults kept more lean mass with 1.2 g/kg of protein a day.",
        "Trials lasted 💪 twelve weeks.",
    ]
    assert found["study"]["study_id"] == "T-PROTEIN"


# --- Concepts, collections, the corpus -------------------------------------------------------------------------------


def test_concepts_are_those_of_published_studies() -> None:
    assert [row["concept_id"] for row in body(get(f"{V1}concepts"))["items"]] == ["training-volume"]

    found = body(get(f"{V1}concepts/training-volume"))
    assert (found["studies"], found["study_ids"], found["aliases"]) == (1, ["T-SETS"], ["weekly sets"])
    assert found["wanted"] == "neither"
    problem(get(f"{V1}concepts/sauna"), 404, "not-found")


def test_collections_say_how_many_studies_they_hold() -> None:
    rows = body(get(f"{V1}collections"))["items"]

    assert {row["slug"]: row["studies"] for row in rows} == {"training": 1, "nutrition": 1}


def test_the_corpus_says_which_it_is() -> None:
    before = body(get(f"{V1}corpus/version"))
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")
    after = body(get(f"{V1}corpus/version"))

    assert (before["studies"], after["studies"]) == (2, 1)
    assert after["corpus_version"] > before["corpus_version"]
    assert after["sha256"] != before["sha256"]


def test_changes_are_told_from_a_version_on() -> None:
    first = body(get(f"{V1}corpus/changes"))
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")

    [change] = body(get(f"{V1}corpus/changes?since={first['upto']}"))["items"]

    assert [(c["kind"], c["studies"]) for c in first["items"]] == [("published", ["T-PROTEIN", "T-SETS"])]
    assert (change["kind"], change["studies"], change["count"]) == ("withdrawn", [], 1)
    assert first["upto"] == search.corpus_version() - 1


def test_changes_are_read_version_by_version() -> None:
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")

    first = body(get(f"{V1}corpus/changes?limit=1"))
    second = body(get(first["next"]))

    assert [change["kind"] for change in first["items"] + second["items"]] == ["published", "withdrawn"]
    assert second["next"] is None
    assert body(get(f"{V1}corpus/changes?since={second['upto']}"))["items"] == []


# --- Pages, fields, copies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["newest", "title", "relevance"])
def test_pages_hold_every_study_once(sort: str) -> None:
    for number in range(7):
        make_study(study_id=f"P{number}", title=f"Growth {number % 2}", year=2018 + number % 3)
    whole = [study["study_id"] for study in every(f"{STUDIES}?q=growth&sort={sort}&limit=100")]

    paged = [study["study_id"] for study in every(f"{STUDIES}?q=growth&sort={sort}&limit=2")]

    assert paged == whole
    assert len(set(paged)) == 9


def test_what_goes_meanwhile_makes_no_study_be_passed_over() -> None:
    for number in range(4):
        make_study(study_id=f"P{number}", title=f"A{number}")
    first = body(get(f"{STUDIES}?sort=title&limit=2"))
    curation.withdraw(["P0", "P1"], by=None, by_name="tests", reason="faulty")

    second = body(get(first["next"]))

    assert [study["study_id"] for study in first["items"]] == ["P0", "P1"]
    assert [study["study_id"] for study in second["items"]] == ["P2", "P3"]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "cursor",
    ["", "x", "%00", "bnVsbA", "WzFd" * 2_000, "W251bGxd", "W1tdXQ", "eyJhIjoxfQ", "/w", "W1wiXQ", "%F0%9F%92%AA"],
)
def test_a_cursor_of_ones_own_making_is_no_server_error(path: str, cursor: str) -> None:
    response = get(f"{V1}{path}?cursor={cursor}")

    assert response.status_code in {200, 400}
    if response.status_code == 400:
        assert problem(response, 400, "invalid")["errors"][0]["field"] == "cursor"


def test_a_link_header_leads_on() -> None:
    response = get(f"{STUDIES}?limit=1")

    assert response["Link"] == f'<{body(response)["next"]}>; rel="next"'


@pytest.mark.parametrize("path", ROUTES)
def test_fields_can_be_chosen(path: str) -> None:
    whole = body(get(V1 + path))
    name = sorted(whole["items"][0] if path in LISTS else whole)[0]

    chosen = body(get(f"{V1}{path}?fields={name}"))

    rows = chosen["items"] if path in LISTS else [chosen]
    assert [set(row) for row in rows] == [{name}] * len(rows)


@pytest.mark.parametrize("path", ROUTES)
def test_a_copy_is_good_until_something_changes(path: str) -> None:
    first = get(V1 + path)
    again = get(V1 + path, **{"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert get(V1 + path, **{"If-None-Match": '"other"'}).status_code == 200
    assert first["Cache-Control"] == "private, no-cache"


def test_a_copy_of_what_changed_is_sent_anew() -> None:
    first = get(STUDIES)
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")

    assert get(STUDIES, **{"If-None-Match": first["ETag"]}).status_code == 200


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_the_corpus_can_only_be_read(path: str, method: str) -> None:
    problem(getattr(Client(), method)(V1 + path), 405, "method-not-allowed")


# --- Never a draft ---------------------------------------------------------------------------------------------------


@pytest.fixture
def drafts() -> int:
    """A draft, one in review and one withdrawn; the id of the draft's passage."""
    return make_canaries(3)


def make_canaries(count: int) -> int:
    """Studies that nobody has published, with the word all over them; the id of a passage of the first."""
    secret = make_concept("canary-concept", definition="canary")
    for number in range(count):
        make_study(
            study_id=f"canary-{number}",
            title=f"Canary {number}",
            texts=(SETS + " Canary.",),
            status=["draft", "in_review", "withdrawn"][number % 3],
            concepts=(secret,),
            journal="Canary Journal",
            collection=make_collection(),
        )
    return passage_of("canary-0")


def test_no_route_tells_of_a_hundred_drafts() -> None:
    canaries = make_canaries(100)
    paths = [
        *ROUTES, f"passages/{canaries}", f"studies/{DRAFT}", "studies/canary-0/passages", "concepts/canary-concept",
        "studies?limit=100", "studies?q=canary", "studies?sort=title&limit=1", "search?q=weekly+sets+canary&limit=50",
        "studies?q=growth", "corpus/changes?since=0&limit=100", "schema", "health",
    ]  # fmt: skip

    for path in paths:
        assert b"anary" not in get(V1 + path).content.replace(b"weekly sets canary", b""), path
    assert {row["studies"] for row in body(get(f"{V1}collections"))["items"]} == {1}
    assert body(get(f"{V1}corpus/version"))["studies"] == 2


@pytest.mark.parametrize("path", ["studies/{}", "studies/{}/passages", "studies/{}?fields=title"])
def test_a_draft_a_withdrawn_and_a_missing_study_answer_alike(drafts: int, path: str) -> None:
    answers = {get(V1 + path.format(study_id)).content for study_id in ("canary-0", "canary-1", "canary-2", "missing")}

    assert len(answers) == 1
    problem(get(V1 + path.format("missing")), 404, "not-found")


def test_a_drafts_passage_and_a_missing_one_answer_alike(drafts: int) -> None:
    answers = [get(f"{V1}passages/{passage}").content for passage in (drafts, 10**9, "0", "x", "9" * 5_000, "%00")]

    assert len(set(answers)) == 1


def test_a_drafts_concept_and_a_missing_one_answer_alike(drafts: int) -> None:
    assert get(f"{V1}concepts/canary-concept").content == get(f"{V1}concepts/missing").content


@pytest.mark.parametrize("study_id", ["%00", "a%00b", "x" * 5_000, "%F0%9F%92%AA", "' OR 1=1 --", "..%2F.."])
def test_an_id_that_no_study_has_is_not_found(study_id: str) -> None:
    problem(get(f"{STUDIES}/{study_id}"), 404, "not-found")


# --- Query counts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "queries"), [("studies?limit=100", 3), ("studies/T-SETS", 10), ("concepts", 3)])
def test_reading_takes_a_fixed_number_of_queries(
    path: str, queries: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    get(V1 + path)  # fills what is kept per corpus version

    with django_assert_num_queries(queries):
        get(V1 + path)
