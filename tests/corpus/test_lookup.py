"""The look-up client against recorded replies of a server on this machine."""

import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from corpus_app.curation import lookup
from corpus_app.curation.lookup import MAX_REPLY_BYTES, LookupFailed, Services, look_up
from corpus_app.records import Notice, Section
from corpus_app.sources import Intake
from corpus_app.sources.identifier_lists import identifiers_in, is_identifier_list

INTAKE = Intake(collection="training")
WORK: dict[str, Any] = {
    "DOI": "10.1519/JSC.0000000000002776", "type": "journal-article",
    "title": ["Strength and Hypertrophy Adaptations"], "subtitle": ["A Meta-analysis"],
    "author": [{"family": "Schoenfeld", "given": "Brad J."}, {"name": "The Group"}],
    "issued": {"date-parts": [[2017, 12]]}, "container-title": ["Journal of Strength"],
    "license": [{"URL": "http://creativecommons.org/licenses/by/4.0/"}],
    "abstract": "<jats:title>Abstract</jats:title><jats:p>Strength rose by <jats:italic>5</jats:italic> kg.</jats:p>",
}  # fmt: skip
PUBMED = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>27102172</PMID><Article><Journal><Title>Gut</Title></Journal>
<ArticleTitle>A trial</ArticleTitle><Abstract><AbstractText Label="RESULTS">It rose.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"""


@pytest.fixture
def local(httpserver: HTTPServer) -> Services:
    return Services(httpserver.url_for("/crossref"), httpserver.url_for("/eutils"), "desk@example.org", 5.0)


def work(httpserver: HTTPServer, **changes: Any) -> None:
    httpserver.expect_request(
        "/crossref/works/10.1519/jsc.0000000000002776", query_string={"mailto": "desk@example.org"}
    ).respond_with_json({"status": "ok", "message": WORK | changes})


def test_a_doi_gives_a_draft(httpserver: HTTPServer, local: Services) -> None:
    work(httpserver)

    (draft,) = look_up("https://doi.org/10.1519/JSC.0000000000002776", INTAKE, local).studies

    assert draft.title == "Strength and Hypertrophy Adaptations: A Meta-analysis"
    assert (draft.authors, draft.year, draft.journal) == (("Schoenfeld BJ", "The Group"), 2017, "Journal of Strength")
    assert (draft.doi, draft.licence, draft.collection) == ("10.1519/jsc.0000000000002776", "CC BY 4.0", "training")
    assert [passage.text for passage in draft.passages] == ["Strength rose by 5 kg."]


def test_a_doi_is_sent_as_one_part_of_the_path(httpserver: HTTPServer, local: Services) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Response:
        asked.append(request.environ["REQUEST_URI"])
        return Response(status=404)

    httpserver.expect_request("/crossref/works/10.1000/../../x?y=1").respond_with_handler(answer)
    with pytest.raises(LookupFailed, match="no such record"):
        look_up("10.1000/../../x?y=1", INTAKE, local)

    assert asked == ["/crossref/works/10.1000%2F..%2F..%2Fx%3Fy%3D1?mailto=desk%40example.org"]


def test_retracted_studies_are_marked_and_notices_are_no_studies(httpserver: HTTPServer, local: Services) -> None:
    work(httpserver, **{"updated-by": [{"type": "retraction", "DOI": "10.1000/r", "label": "Retraction"}]})
    (draft,) = look_up("10.1519/jsc.0000000000002776", INTAKE, local).studies
    assert (draft.notice, "10.1000/r" in draft.notice_reason) == (Notice.RETRACTED, True)

    httpserver.clear()
    work(httpserver, **{"update-to": [{"type": "retraction", "DOI": "10.1000/OLD"}]})
    reading = look_up("10.1519/jsc.0000000000002776", INTAKE, local)
    assert reading.studies == ()
    assert [(notice.notice, notice.doi) for notice in reading.notices] == [(Notice.RETRACTED, "10.1000/old")]


def test_a_pmid_gives_a_draft(httpserver: HTTPServer, local: Services) -> None:
    asked = {"db": "pubmed", "id": "27102172", "retmode": "xml", "tool": "inform", "email": "desk@example.org"}
    httpserver.expect_request("/eutils/efetch.fcgi", query_string=asked).respond_with_data(PUBMED)

    for value in ("27102172", "PMID: 27102172", "https://pubmed.ncbi.nlm.nih.gov/27102172/"):
        (draft,) = look_up(value, INTAKE, local).studies
        assert (draft.pmid, draft.title, draft.passages[0].section) == ("27102172", "A trial", Section.RESULTS)


def test_another_record_than_the_one_asked_for_is_refused(httpserver: HTTPServer, local: Services) -> None:
    work(httpserver, DOI="10.1000/other")
    httpserver.expect_request("/eutils/efetch.fcgi").respond_with_data(PUBMED)

    with pytest.raises(LookupFailed, match="another record"):
        look_up("10.1519/jsc.0000000000002776", INTAKE, local)
    with pytest.raises(LookupFailed, match="no record 1"):
        look_up("1", INTAKE, local)


def test_what_is_neither_doi_nor_pmid_is_not_asked() -> None:
    nowhere = Services("http://127.0.0.1:9", "http://127.0.0.1:9")

    for value in ("", "words", "10.1", "javascript:alert(1)", "file:///etc/passwd", "http://127.0.0.1/1"):
        with pytest.raises(LookupFailed, match="neither a DOI") as failed:
            look_up(value, INTAKE, nowhere)
        assert failed.value.permanent
    with pytest.raises(LookupFailed, match="cannot be reached"):
        look_up("1", INTAKE, nowhere)


def test_a_bad_reply_is_reported(httpserver: HTTPServer, local: Services) -> None:
    odd = {"DOI": "10.1519/jsc.0000000000002776", "title": 5, "author": [3]}
    for reply, words, permanent, wait in (
        (Response(status=404), "no such record", True, None),
        (Response(status=429, headers={"Retry-After": "7"}), "busy", False, 7),
        (Response(status=503), "busy", False, None),
        (Response(status=302, headers={"Location": "http://127.0.0.1:9/"}), "redirection", True, None),
        (Response(status=403), "refused", True, None),
        (Response("no json"), "not in the form", True, None),
        (Response(json.dumps({"message": []})), "not in the form", True, None),
        (Response(json.dumps({"message": odd})), "not in the form", True, None),
        (Response(b"[" * 100_000), "not in the form", True, None),
        (Response(b"x" * (MAX_REPLY_BYTES + 1)), "larger than 2 MB", True, None),
    ):
        httpserver.clear()
        httpserver.expect_request("/crossref/works/10.1519/jsc.0000000000002776").respond_with_response(reply)
        with pytest.raises(LookupFailed, match=words) as failed:
            look_up("10.1519/jsc.0000000000002776", INTAKE, local)
        assert (failed.value.permanent, failed.value.retry_after_seconds) == (permanent, wait)


def test_a_silent_service_is_not_waited_for(httpserver: HTTPServer, local: Services) -> None:
    given_up = threading.Event()
    httpserver.expect_request("/crossref/works/10.1519/jsc.0000000000002776").respond_with_handler(
        lambda request: given_up.wait(20) and Response()
    )

    with pytest.raises(LookupFailed, match="took longer") as failed:
        look_up("10.1519/jsc.0000000000002776", INTAKE, replace(local, timeout_seconds=0.2))

    given_up.set()
    assert not failed.value.permanent


def test_a_list_is_asked_for_in_batches(
    httpserver: HTTPServer, local: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "INTERVAL_SECONDS", {})
    open_article = (
        '<article><front><article-meta><article-id pub-id-type="pmcid">PMC12</article-id><title-group><article-title>Open'
        "</article-title></title-group></article-meta></front><body><sec><title>Results</title><p>It rose.</p></sec></body></article>"
    )
    for database, ids, reply in (
        ("pubmed", "27102172,5", PUBMED), ("pmc", "12,13", f"<pmc-articleset>{open_article}</pmc-articleset>"),
    ):  # fmt: skip
        asked = {"db": database, "id": ids, "retmode": "xml", "tool": "inform", "email": "desk@example.org"}
        httpserver.expect_request("/eutils/efetch.fcgi", query_string=asked).respond_with_data(reply)
    httpserver.expect_oneshot_request("/crossref/works/10.1000/a").respond_with_response(
        Response(status=429, headers={"Retry-After": "0"})
    )
    httpserver.expect_request("/crossref/works/10.1000/a").respond_with_json({"message": WORK | {"DOI": "10.1000/A"}})
    asker = lookup.Asker(INTAKE, local)

    def told(words: str, asker: lookup.Asker = asker) -> list[tuple[str, str, bool]]:
        answers = asker.answers(identifiers_in(words))
        return [(getattr(one.items[0], "title", "") if one.items else "", one.reason, one.can_retry) for one in answers]

    assert told("27102172, PMID: 5") == [("A trial", "", False), ("", "PubMed has no record 5.", False)]
    assert told("PMC12 PMC13.1") == [("Open", "", False), ("", "PubMed Central has no article PMC13.", False)]
    assert told("10.1000/a")[0][0].startswith("Strength and Hypertrophy")
    nowhere = lookup.Asker(INTAKE, replace(local, crossref="http://127.0.0.1:9"))
    reasons = [told(f"10.1000/{n}", nowhere)[0] for n in range(4)]
    assert [("cannot be reached" in reason, can_retry) for _, reason, can_retry in reasons[:3]] == [(True, True)] * 3
    assert "was not asked" in reasons[3][1]


@pytest.mark.parametrize(("text", "values"), [
    ("10.1000/a,10.1000/B;10.1000/c 10.1000/d", ["10.1000/a", "10.1000/b", "10.1000/c", "10.1000/d"]),
    ('"DOI"\n"https://doi.org/10.1000/x"\n"10.1000/y"', ["10.1000/x", "10.1000/y"]),
    ("doi: 10.1002/(SICI)1097(1998)49:8<693::AID-A4>3.0.CO;2-O", ["10.1002/(sici)1097(1998)49:8<693::aid-a4>3.0.co;2-o"]),
    ("PMID: 123, pmid:456\tPMC0789", ["123", "456", "789"]),
    ("https://pmc.ncbi.nlm.nih.gov/articles/PMC77/, https://pubmed.ncbi.nlm.nih.gov/88/", ["77", "88"]),
    ("words, 10.1000/a", ["words", "10.1000/a"]),
])  # fmt: skip
def test_a_list_of_identifiers_is_told_apart(text: str, values: list[str]) -> None:
    assert [one.value for one in identifiers_in(text)] == values
    assert is_identifier_list(text.encode()) is ("words" not in text)
