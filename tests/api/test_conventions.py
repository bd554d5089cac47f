"""What every response of the API has in common: who may read it from another page, its id, and what is told of a bad request."""

from __future__ import annotations

import gzip
import json

import pytest
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client

from tests.api.conftest import V1, body, get, post, problem

COLLECTIONS = f"{V1}collections"
OURS, OTHERS = "https://clinic.example", "https://elsewhere.example"

pytestmark = pytest.mark.django_db


@pytest.fixture
def for_the_clinic(settings: LazySettings) -> None:
    settings.CORS_ORIGINS = [OURS]


def preflight(origin: str, path: str = f"{V1}answers") -> HttpResponse:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    return Client().options(path, headers=headers)


# --- Pages of other origins ------------------------------------------------------------------------------------------


def test_no_other_origin_may_read_unless_it_is_named() -> None:
    response = get(COLLECTIONS, Origin=OURS)

    assert response.status_code == 200
    assert [name for name in response.headers if name.startswith("Access-Control")] == []
    assert "Access-Control-Allow-Origin" not in preflight(OURS)


def test_a_named_origin_may_read_and_no_cookie_goes_along(for_the_clinic: None) -> None:
    response = get(COLLECTIONS, Origin=OURS)

    assert response["Access-Control-Allow-Origin"] == OURS
    assert {"ETag", "RateLimit", "Retry-After", "X-Request-ID"} <= set(
        response["Access-Control-Expose-Headers"].split(", ")
    )
    assert "Origin" in response["Vary"]
    assert "Access-Control-Allow-Credentials" not in response


def test_a_named_origin_may_send_its_key(for_the_clinic: None) -> None:
    response = preflight(OURS)

    assert (response.status_code, response.content) == (204, b"")
    assert response["Access-Control-Allow-Origin"] == OURS
    assert {"Authorization", "X-API-Key", "Idempotency-Key"} <= set(
        response["Access-Control-Allow-Headers"].split(", ")
    )
    assert "POST" in response["Access-Control-Allow-Methods"]


@pytest.mark.parametrize("origin", [OTHERS, "null", f"{OURS}.elsewhere.example", OURS.upper()])
def test_another_origin_is_told_nothing(for_the_clinic: None, origin: str) -> None:
    for response in (get(COLLECTIONS, Origin=origin), preflight(origin)):
        assert "Access-Control-Allow-Origin" not in response
        assert "Origin" in response["Vary"]


def test_errors_can_be_read_from_a_named_origin(for_the_clinic: None) -> None:
    for response in (get(f"{V1}nothing", Origin=OURS), post(f"{V1}answers", b"{", Origin=OURS)):
        assert response["Access-Control-Allow-Origin"] == OURS


def test_everybody_may_read_where_it_says_so(settings: LazySettings) -> None:
    settings.CORS_ORIGINS = ["*"]

    assert get(COLLECTIONS, Origin=OTHERS)["Access-Control-Allow-Origin"] == "*"


def test_pages_are_not_for_other_origins(for_the_clinic: None) -> None:
    assert "Access-Control-Allow-Origin" not in get("/how-it-works/", Origin=OURS)


# --- The request's id ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", ["a", "7f3c-9.B_x", "x" * 64])
def test_an_id_that_the_client_sends_is_kept(sent: str) -> None:
    assert get(COLLECTIONS, **{"X-Request-ID": sent})["X-Request-ID"] == sent
    assert get(f"{V1}nothing", **{"X-Request-ID": sent})["X-Request-ID"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 65, "two words", "a\tb", "<b>", "é"])
def test_another_id_is_made_where_the_clients_could_harm_a_log(sent: str) -> None:
    made = get(COLLECTIONS, **{"X-Request-ID": sent})["X-Request-ID"]

    assert made != sent
    assert len(made) == 32


def test_requests_have_ids_of_their_own() -> None:
    assert len({get(COLLECTIONS)["X-Request-ID"] for _ in range(3)}) == 3


# --- Conditional reads -----------------------------------------------------------------------------------------------


def test_a_read_is_conditional_as_http_has_it() -> None:
    tag = get(COLLECTIONS)["ETag"]

    for fits in (tag, f'"other", {tag}', "*"):
        assert get(COLLECTIONS, **{"If-Match": fits}).status_code == 200
        assert get(COLLECTIONS, **{"If-None-Match": fits}).status_code == 304
    for other in ('"other"', f"W/{tag}"):
        refused = get(COLLECTIONS, **{"If-Match": other})
        problem(refused, 412, "stale")
        assert refused["ETag"] == tag
        assert refused["Cache-Control"] == "no-store"
    for other in ("rubbish", '"unended'):  # no tags, so no condition
        assert get(COLLECTIONS, **{"If-Match": other}).status_code == 200
    for other in ('"other"', "rubbish"):
        assert get(COLLECTIONS, **{"If-None-Match": other}).status_code == 200
    assert get(COLLECTIONS, **{"If-None-Match": f"W/{tag}"}).status_code == 304  # compared weakly
    assert get(COLLECTIONS, **{"If-Unmodified-Since": "Sat, 29 Oct 1994 19:43:31 GMT"}).status_code == 200
    assert get(COLLECTIONS, Range="bytes=0-10").status_code == 200  # a range may be passed over


# --- Bad requests ----------------------------------------------------------------------------------------------------


def test_a_host_that_is_not_this_sites_is_a_problem() -> None:
    response = get(COLLECTIONS, Host="elsewhere.example")

    problem(response, 400, "malformed")
    assert b"elsewhere" not in response.content


def test_what_cannot_be_taken_says_what_to_do() -> None:
    asked = {"question": "sets?"}

    assert "Allow" in problem(Client().put(f"{V1}answers"), 405, "method-not-allowed")["detail"]
    assert "application/json" in problem(get(COLLECTIONS, Accept="text/html"), 406, "not-acceptable")["detail"]
    as_text = Client().post(f"{V1}answers", b"{}", content_type="text/plain")
    assert "application/json" in problem(as_text, 415, "unsupported-media-type")["detail"]
    packed = post(f"{V1}answers", gzip.compress(json.dumps(asked).encode()), **{"Content-Encoding": "gzip"})
    assert "without Content-Encoding" in problem(packed, 415, "unsupported-media-type")["detail"]


@pytest.mark.parametrize("cursor", ["x", "W10", "WzFd", "WzEsMl0", "WyJhIiwiYiIsImMiXQ", "e30", "W1tdXQ"])
@pytest.mark.usefixtures("library")
def test_a_cursor_of_no_list_is_refused(cursor: str) -> None:
    for path in ("studies", "concepts", "collections", "studies/T-SETS/passages"):
        response = get(f"{V1}{path}?cursor={cursor}")
        assert response.status_code == 400 or body(response)["items"] == []
    problem(get(f"{V1}studies?cursor={cursor}"), 400, "invalid")


SEARCHES = {
    "no question": ("", "q"),
    "blank": ("q=+", "q"),
    "too long": ("q=" + "a" * 2_001, "q"),
    "no text": ("q=a%00b", "q"),
    "no number": ("q=sets&limit=many", "limit"),
    "none": ("q=sets&limit=0", "limit"),
    "too many": ("q=sets&limit=51", "limit"),
    "another script's digits": ("q=sets&limit=%D9%A3", "limit"),
    "unknown mode": ("q=sets&mode=expert", "mode"),
    "unknown collection": ("q=sets&collection=moon", "collection"),
    "unknown field": ("q=sets&moon=1", "moon"),
    "the body's name": ("question=sets", "question"),
}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("query", "field"), SEARCHES.values(), ids=SEARCHES)
def test_a_bad_search_says_which_field(query: str, field: str) -> None:
    found = problem(get(f"{V1}search?{query}"), 400, "invalid")

    assert field in [error["field"] for error in found["errors"]]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("sent", "field"),
    [({}, "question"), ({"q": "sets"}, "q"), ({"question": 5}, "question"), ({"question": None}, "question"),
     ({"question": "sets", "limit": "5"}, "limit"), ({"question": "sets", "limit": True}, "limit"),
     ({"question": "sets", "limit": 1e99}, "limit"), ({"question": "sets", "mode": ["beginner"]}, "mode")],
)  # fmt: skip
def test_a_bad_search_by_body_says_which_field(sent: dict[str, object], field: str) -> None:
    found = problem(post(f"{V1}search", sent), 400, "invalid")

    assert field in [error["field"] for error in found["errors"]]


# --- Reading ---------------------------------------------------------------------------------------------------------


def test_head_says_what_get_says_and_is_conditional_like_it() -> None:
    tag = get(COLLECTIONS)["ETag"]
    client = Client()

    said = client.head(COLLECTIONS)
    assert (said.status_code, said["ETag"], said.content) == (200, tag, b"")
    assert client.head(COLLECTIONS, headers={"If-None-Match": tag}).status_code == 304
    assert client.head(COLLECTIONS, headers={"If-Match": '"another"'}).status_code == 412


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (f"{V1}studies?limit=1&limit=2", "limit"),
        (f"{V1}studies?q=a&q=b", "q"),
        (f"{V1}studies?fields=title&fields=year", "fields"),
        (f"{V1}search?q=a&q=b", "q"),
        (f"{V1}answers/x?format=ris&format=md", "format"),
        (f"{V1}concepts?kind=outcome&kind=intervention", "kind"),
        (f"{COLLECTIONS}?x%00=1&x%00=2", "x\\0"),
    ],
)
def test_a_parameter_sent_twice_is_refused(address: str, name: str) -> None:
    refused = problem(get(address), 400, "invalid")

    assert {error["field"]: error["code"] for error in refused["errors"]}[name] == "repeated"


def test_a_filter_of_studies_may_be_given_several_times() -> None:
    assert get(f"{V1}studies?design=meta_analysis&design=cohort_study").status_code == 200


def test_a_byte_order_mark_is_named() -> None:
    refused = problem(post(f"{V1}answers", b'\xef\xbb\xbf{"question": "x"}'), 400, "malformed")

    assert "byte order mark" in refused["detail"]


@pytest.mark.parametrize("address", ["/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/answers"])
def test_no_address_under_api_is_a_page(address: str) -> None:
    problem(get(address), 404, "not-found")
