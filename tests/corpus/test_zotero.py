"""Collections of Zotero against recorded replies of a server on this machine."""

import json
from typing import Any

import celery
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from corpus_app.curation import zotero
from corpus_app.models import ImportJob, Study, ZoteroLibrary
from tests.builders import make_collection, make_curator
from tests.corpus.test_import_desk import at, text_of, work

pytestmark = pytest.mark.django_db
KEY = "P9NiFoyLeZu2bZNvvuQPDWsd"
COLLECTIONS = [
    {"key": "AAAA1111", "data": {"name": "Nutrition", "parentCollection": False}, "meta": {"numItems": 0}},
    {"key": "BBBB2222", "data": {"name": "Creatine", "parentCollection": "AAAA1111"}, "meta": {"numItems": 3}},
]


def item(number: int, version: int, **data: Any) -> dict[str, Any]:
    shown = {
        "itemType": "journalArticle", "title": f"Creatine in trial {number}", "date": "2021", "DOI": f"10.1000/z.{number}",
        "creators": [{"creatorType": "author", "lastName": "Lee", "firstName": "Ann"}], "collections": ["BBBB2222"],
        "tags": [{"tag": "dose"}, {"tag": "Humans", "type": 1}], "abstractNote": f"It helped {number} people.",
    }  # fmt: skip
    return {"key": f"I{number}", "version": version, "data": shown | data}


class Library:
    """A library behind Zotero's addresses; it notes what it was asked."""

    def __init__(self, httpserver: HTTPServer) -> None:
        self.items = [item(1, 3), item(2, 4), item(3, 5, itemType="attachment")]
        self.asked: list[tuple[int, int]] = []
        self.replies: list[Response] = []
        httpserver.expect_request("/zotero/users/12/collections").respond_with_json(
            COLLECTIONS, headers={"Total-Results": "2"}
        )
        httpserver.expect_request("/zotero/users/12/collections/BBBB2222/items/top").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        assert (request.headers["Zotero-API-Key"], request.headers["Zotero-API-Version"]) == (KEY, "3")
        start, since = int(request.args["start"]), int(request.args["since"])
        self.asked.append((start, since))
        if self.replies:
            return self.replies.pop()
        found = [row for row in self.items if row["version"] > since]
        headers = {"Total-Results": str(len(found)), "Last-Modified-Version": str(self.items[-1]["version"])}
        return Response(json.dumps(found[start : start + zotero.PAGE_ITEMS]), headers=headers)


@pytest.fixture
def library(httpserver: HTTPServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr(celery.current_app, "send_task", lambda name, **options: None)
    settings.ZOTERO_URL = httpserver.url_for("/zotero")
    monkeypatch.setattr(zotero, "PAGE_ITEMS", 2)
    return Library(httpserver)


@pytest.fixture
def curator(client: Client) -> User:
    make_collection("training")
    client.force_login(who := make_curator())
    return who


def connected(client: Client) -> str:
    asked = {"verb": "connect", "kind": "users", "number": "12", "key": KEY}
    return str(client.post(at("importjob_zotero"), asked).headers["Location"])


def test_a_collection_comes_in_and_then_its_changes_only(client: Client, curator: User, library: Library) -> None:
    page = connected(client)
    assert "Nutrition &gt; Creatine, 3 items" in text_of(client.get(page))
    preview = client.post(page, {"collection": "BBBB2222"}).headers["Location"]
    work()

    assert library.asked == [(0, 0), (2, 0)]
    assert "is called “attachment” and is no study" in text_of(client.get(preview))
    client.post(preview, {"verb": "leave"})
    assert "came in before" not in text_of(client.get(page))  # nothing of it came in
    preview = client.post(page, {"collection": "BBBB2222"}).headers["Location"]
    work()
    chosen = {"items": list(ImportJob.objects.latest("pk").items.values_list("pk", flat=True))}
    client.post(preview, {"verb": "confirm", "collection": "training", "among": chosen["items"], **chosen})
    work()
    study = Study.objects.get(doi="10.1000/z.1")
    assert (study.labels, study.authors) == (["Zotero: dose", "Zotero: Nutrition > Creatine"], ["Lee A"])

    library.items.append(item(4, 9))
    assert "only its changes come" in text_of(client.get(page))
    client.post(page, {"collection": "BBBB2222"})
    work()
    assert library.asked[-1] == (0, 5)
    assert ImportJob.objects.latest("pk").total == 1


def test_the_key_is_encrypted_its_owners_alone_and_removable(client: Client, curator: User, library: Library) -> None:
    page = connected(client)
    stored = ZoteroLibrary.objects.get()
    assert KEY not in repr(ZoteroLibrary.objects.values())
    assert KEY not in text_of(client.get(page)) + text_of(client.get(at("importjob_zotero")))

    client.force_login(make_curator("other"))
    assert client.get(page).status_code == 404
    assert "users/12" not in text_of(client.get(at("importjob_zotero")))
    client.post(at("importjob_zotero"), {"remove": stored.pk})
    assert ZoteroLibrary.objects.exists()
    client.force_login(curator)
    client.post(page, {"collection": "BBBB2222"})
    client.post(at("importjob_zotero"), {"remove": stored.pk})
    work()
    assert "connect the library again" in ImportJob.objects.get().error
    assert "letters and digits" in text_of(client.post(at("importjob_zotero"), {"verb": "connect", "kind": "users", "number": "1", "key": "x y"}))  # fmt: skip


def test_zotero_is_waited_for_and_a_failure_is_tried_again(
    client: Client, curator: User, library: Library, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(zotero, "sleep", waited.append)
    monkeypatch.setattr(zotero, "time", lambda: 1000.0 + sum(waited))
    page = connected(client)
    library.replies = [Response(status=403), Response(status=429, headers={"Retry-After": "7"})]
    preview = client.post(page, {"collection": "BBBB2222"}).headers["Location"]
    work()
    assert sum(waited) >= 7
    assert "refused the question (403)" in text_of(client.get(preview))

    client.post(preview, {"verb": "again"})
    work()
    assert ImportJob.objects.get().status == "previewed"
    settings.SECRET_KEY = "another"
    client.force_login(curator)
    assert "SECRET_KEY has changed" in text_of(client.get(page))
