"""What has changed, as readers are told and in the feed. Drafts: tests/api/test_canaries.py."""

from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app import curation
from corpus_app.public import changes
from tests.builders import make_study
from tests.corpus.test_browsing import CANARY, PAGES, shown

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
