"""What has changed, and that nothing unpublished shows on any page."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app import curation
from corpus_app.public import changes
from corpus_app.search import versions
from tests.builders import make_collection, make_concept, make_finding, make_study
from tests.corpus.test_browsing import CANARY, PAGES, relate, shown

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]


def kinds() -> list[tuple[str, list[str]]]:
    return [(change.kind, [study.study_id for study in change.studies]) for change in changes.latest()]


def test_changes_tell_what_readers_could_notice(curator: User) -> None:
    make_study(study_id="A", status="draft")
    make_study(study_id="B", status="draft")
    curation.revise_study("A", by=curator, title="A draft with another title")
    curation.publish(["A", "B"], by=curator)
    curation.revise_study("A", by=curator, curator_notes="Not for readers.")
    curation.revise_study("A", by=curator, title="A better title")
    curation.set_notice(["B"], "retracted", reason="Data made up.", by=curator)

    assert kinds() == [("retracted", ["B"]), ("revised", ["A"]), ("published", ["A", "B"])]


def test_a_withdrawn_study_is_only_counted(curator: User) -> None:
    make_study(study_id="A", status="draft", title=f"A {CANARY} study")
    curation.publish(["A"], by=curator)
    curation.withdraw(["A"], by=curator, reason=CANARY)

    assert kinds() == [("withdrawn", [])]
    for address in PAGES:
        assert CANARY not in shown(address)
    assert "A study was withdrawn" in shown("/changes/")


def test_a_reused_study_id_does_not_inherit_history(curator: User) -> None:
    make_study(study_id="A", status="draft")
    curation.publish(["A"], by=curator)
    curation.set_notice(["A"], "corrected", reason="A slip.", by=curator)
    curation.withdraw(["A"], by=curator, reason="Wrong file.")
    curation.delete_study("A", by=curator)
    make_study(study_id="A", status="draft", title="Quite another")
    curation.publish(["A"], by=curator)

    assert kinds() == [("published", ["A"]), ("withdrawn", [])]


def test_the_feed_is_valid_atom_with_stable_ids(curator: User) -> None:
    make_study(study_id="A", status="draft", title="Fish & <chips>")
    curation.publish(["A"], by=curator)
    atom = {"a": "http://www.w3.org/2005/Atom"}
    response = Client().get("/changes/atom.xml")
    feed = ElementTree.fromstring(response.content)
    first = [entry.findtext("a:id", namespaces=atom) for entry in feed.findall("a:entry", atom)]
    make_study(study_id="B", status="draft")
    curation.publish(["B"], by=curator)
    again = ElementTree.fromstring(Client().get("/changes/atom.xml").content)

    assert response["Content-Type"].startswith("application/atom+xml")
    assert feed.findtext("a:entry/a:summary", namespaces=atom) == "Fish & <chips>"
    assert feed.findtext("a:entry/a:updated", namespaces=atom)
    assert feed.findtext("a:author/a:name", namespaces=atom) == "InForm"
    assert len(first) == 1
    assert [entry.findtext("a:id", namespaces=atom) for entry in again.findall("a:entry", atom)][1:] == first
    assert 'type="application/atom+xml"' in shown("/changes/")


@pytest.mark.parametrize("status", ["draft", "in_review", "withdrawn"])
def test_what_is_not_published_shows_nowhere(status: str, curator: User) -> None:
    strength = make_concept("strength")
    hidden_topic = make_concept("zorblatt", aliases=("Zorblatting",), definition=CANARY)
    make_study(study_id="PUBLIC", concepts=(strength,), status="draft")
    curation.publish(["PUBLIC"], by=curator)
    pages = ("/corpus/?q=public", "/topics/strength/", "/studies/PUBLIC/", "/suggest/?q=strength", "/suggest/?q=zorb")
    before = {address: shown(address) for address in (*PAGES, *pages)}

    hidden = make_study(
        study_id="HIDDEN", title=f"{CANARY} strength", authors=[f"{CANARY} Z"], journal=CANARY, year=1931,
        design="thesis", sex="male", texts=(f"{CANARY} strength.",), population=CANARY, notice="retracted",
        collection=make_collection("training"), concepts=(strength, hidden_topic), status=status,
    )  # fmt: skip
    make_finding(hidden, statement=f"{CANARY} strength.", outcome="strength")
    relate(hidden_topic, "affects", strength, hidden)
    curation.comment("HIDDEN", CANARY, by=curator)
    if status != "withdrawn":
        curation.set_notice(["HIDDEN"], "corrected", reason=CANARY, by=curator)
        curation.revise_study("HIDDEN", by=curator, population=f"{CANARY}s")

    versions.cache.clear()  # what was read of this version is read again: nothing may hide behind it

    assert {address: shown(address) for address in before} == before
    assert "PUBLIC" in before["/corpus/"]
    for address in ("/corpus/?q=zorblatt", "/corpus/?q=1931&from=1931&to=1931", "/corpus/?topic=zorblatt"):
        html = shown(address)
        assert "HIDDEN" not in html
        assert CANARY not in html.replace(f'value="{CANARY.lower()}"', "")


def test_what_is_hidden_answers_byte_for_byte_like_what_is_missing() -> None:
    make_study(study_id="HIDDEN", status="draft", concepts=(make_concept("zorblatt"),))

    for pair in (("/studies/HIDDEN/", "/studies/MISSIN/"), ("/topics/zorblatt/", "/topics/missing-/")):
        answers = [Client().get(address) for address in pair]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
        headers = [{name: value for name, value in a.headers.items() if name != "X-Request-ID"} for a in answers]
        assert headers[0] == headers[1]
    assert shown("/corpus/?topic=zorblatt") == shown("/corpus/?topic=zorblatx")
