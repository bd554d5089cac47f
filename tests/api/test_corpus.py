"""The corpus by REST: lists and their pages, filters, chosen fields, conditional reads. Drafts: test_canaries.py."""

from typing import Any

import pytest

from corpus_app import curation, search
from corpus_app.models import Passage
from tests.api.conftest import V1, body, get, problem
from tests.builders import make_study
from tests.qa.conftest import PROTEIN

pytestmark = pytest.mark.usefixtures("library")

STUDIES = f"{V1}studies"
LISTS = ("studies", "studies/T-SETS/passages", "concepts", "collections")
ROUTES = (*LISTS, "studies/T-SETS", "corpus/version", "corpus/changes", "concepts/training-volume")


def passage_of(study_id: str) -> int:
    return int(Passage.objects.get(study__study_id=study_id).pk)


def test_published_studies_are_listed_and_found() -> None:
    found = body(get(STUDIES))
    by_words = body(get(f"{STUDIES}?q=protein"))["items"]

    assert [study["study_id"] for study in found["items"]] == ["T-SETS", "T-PROTEIN"]
    assert found["next"] is None
    study = found["items"][0]
    assert (study["design"], study["page"]) == ("randomized_controlled_trial", "/studies/T-SETS/")
    assert study["concepts"] == ["training-volume"]
    assert "curator_notes" not in study
    assert [row["study_id"] for row in by_words] == ["T-PROTEIN"]
    assert [piece["text"] for piece in by_words[0]["excerpt"] if piece["marked"]] == ["protein"]


def test_filters_narrow_the_list() -> None:
    filtered = {
        "collection=nutrition": {"T-PROTEIN"}, "collection=nutrition&collection=training": {"T-PROTEIN", "T-SETS"},
        "design=meta_analysis": {"T-PROTEIN"}, "topic=training-volume": {"T-SETS"}, "from=2021": set(),
        "from=2020&to=2020&sort=title": {"T-PROTEIN", "T-SETS"}, "q=nowhere": set(),
    }  # fmt: skip

    found = {query: {row["study_id"] for row in body(get(f"{STUDIES}?{query}"))["items"]} for query in filtered}

    assert found == filtered


def test_what_cannot_be_used_is_400_and_named() -> None:
    studies = {
        "colour=red": "colour", "design=essay": "design", "collection=%00": "collection", "topic=sauna": "topic",
        "from=soon": "from", "sort=best": "sort", "q=%00": "q", "q=" + "x" * 300: "q", "limit=0": "limit",
        "limit=101": "limit", "limit=" + "9" * 50: "limit", "limit=%D9%A3": "limit", "page=2": "page",
        "fields=study_id,secret": "fields", "fields=": "fields", "%00=1": "\\0",
    }  # fmt: skip
    paths = {f"studies?{query}": field for query, field in studies.items()} | {
        "studies/T-SETS?q=x": "q", "concepts?kind=nothing": "kind", "concepts?collection=nowhere": "collection",
        "corpus/changes?since=-1": "since", "corpus/changes?since=" + "9" * 30: "since",
        "corpus/changes?limit=1000": "limit", "corpus/version?x=1": "x",
    }  # fmt: skip

    for path, field in paths.items():
        [error] = problem(get(V1 + path), 400, "invalid")["errors"]
        assert (error["field"], bool(error["detail"])) == (field, True)


def test_a_study_a_passage_and_a_concept_are_shown_in_full() -> None:
    study, concept = body(get(f"{STUDIES}/T-SETS")), body(get(f"{V1}concepts/training-volume"))
    [listed] = body(get(f"{STUDIES}/T-PROTEIN/passages"))["items"]
    passage = body(get(f"{V1}passages/{listed['passage_id']}"))

    assert [finding["direction"] for finding in study["findings"]] == ["favours_intervention"]
    assert study["passages"] == [passage_of("T-SETS")]
    assert [change["kind"] for change in study["history"]] == ["published"]
    assert (study["cited_by"], study["weeks"]) == (0, {"shortest": None, "longest": None})
    assert (listed["text"], passage["text"], passage["study_id"]) == (PROTEIN, PROTEIN, "T-PROTEIN")
    assert [PROTEIN[start:end].strip() for start, end in passage["sentences"]] == [
        "Older adults kept more lean mass with 1.2 g/kg of protein a day.", "Trials lasted 💪 twelve weeks.",
    ]  # fmt: skip
    assert passage["study"]["study_id"] == "T-PROTEIN"
    assert [row["concept_id"] for row in body(get(f"{V1}concepts"))["items"]] == ["training-volume"]
    assert (concept["studies"], concept["study_ids"], concept["aliases"]) == (1, ["T-SETS"], ["weekly sets"])
    assert concept["wanted"] == "neither"
    problem(get(f"{V1}concepts/sauna"), 404, "not-found")
    collections = {row["slug"]: row["studies"] for row in body(get(f"{V1}collections"))["items"]}
    assert collections == {"training": 1, "nutrition": 1}


def test_a_version_and_its_changes_are_told() -> None:
    before, first, copy = (get(V1 + path) for path in ("corpus/version", "corpus/changes", "studies"))
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")
    after = body(get(f"{V1}corpus/version"))
    [change] = body(get(f"{V1}corpus/changes?since={body(first)['upto']}"))["items"]
    one = body(get(f"{V1}corpus/changes?limit=1"))
    two = body(get(one["next"]))

    assert (body(before)["studies"], after["studies"]) == (2, 1)
    assert after["corpus_version"] > body(before)["corpus_version"]
    assert after["sha256"] != body(before)["sha256"]
    assert [(c["kind"], c["studies"]) for c in body(first)["items"]] == [("published", ["T-PROTEIN", "T-SETS"])]
    assert (change["kind"], change["studies"], change["count"]) == ("withdrawn", [], 1)
    assert [change["kind"] for change in one["items"] + two["items"]] == ["published", "withdrawn"]
    assert two["next"] is None
    assert two["upto"] == search.corpus_version()
    assert body(get(f"{V1}corpus/changes?since={two['upto']}"))["items"] == []
    assert get(STUDIES, **{"If-None-Match": copy["ETag"]}).status_code == 200


def test_no_study_is_missed_when_others_go_between_two_pages() -> None:
    for number in range(4):
        make_study(study_id=f"P{number}", title=f"A{number}")
    first = get(f"{STUDIES}?sort=title&limit=2")
    curation.withdraw(["P0", "P1"], by=None, by_name="tests", reason="faulty")

    second = body(get(body(first)["next"]))

    assert first["Link"] == f'<{body(first)["next"]}>; rel="next"'
    assert [study["study_id"] for study in body(first)["items"]] == ["P0", "P1"]
    assert [study["study_id"] for study in second["items"]] == ["P2", "P3"]


def test_a_made_up_cursor_is_refused() -> None:
    cursors = (
        "", "x", "%00", "bnVsbA", "WzFd" * 2_000, "W251bGxd", "W1tdXQ", "eyJhIjoxfQ", "/w", "W1wiXQ", "%F0%9F%92%AA",
    )  # fmt: skip
    lists = "W10", "WzFd", "WzEsMl0", "WyJhIiwiYiIsImMiXQ", "e30"
    for path in LISTS:
        for cursor in (*cursors, *lists):
            response = get(f"{V1}{path}?cursor={cursor}")
            if response.status_code == 200:
                assert body(response)["items"] == [] or not cursor
            else:
                assert problem(response, 400, "invalid")["errors"][0]["field"] == "cursor"
    for cursor in lists:
        problem(get(f"{STUDIES}?cursor={cursor}"), 400, "invalid")


@pytest.mark.parametrize("path", ROUTES)
def test_every_read_is_conditional_and_has_fields_to_choose(path: str) -> None:
    first = get(V1 + path)
    again = get(V1 + path, **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert get(V1 + path, **{"If-None-Match": '"other"'}).status_code == 200
    assert first["Cache-Control"] == "private, no-cache"

    name = sorted(body(first)["items"][0] if path in LISTS else body(first))[0]
    chosen = body(get(f"{V1}{path}?fields={name}"))
    rows = chosen["items"] if path in LISTS else [chosen]
    assert [set(row) for row in rows] == [{name}] * len(rows)


@pytest.mark.parametrize(("path", "queries"), [("studies?limit=100", 7), ("studies/T-SETS", 12), ("concepts", 3)])
def test_reads_take_few_queries(path: str, queries: int, django_assert_num_queries: Any) -> None:
    get(V1 + path)  # fills what is kept per corpus version

    with django_assert_num_queries(queries):
        get(V1 + path)
