"""The words of the corpus, brought in step passage by passage."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from corpus_app import passages
from corpus_app.models import Passage, Study
from corpus_app.search import vocabulary
from tests.builders import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_read_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_hashes", {})
    monkeypatch.setattr(vocabulary, "_words", {})
    monkeypatch.setattr(vocabulary, "_counts", type(vocabulary._counts)())


def reword(passage: Passage, text: str) -> None:
    content_hash = passages.content_hash(heading=passage.heading, text=text)
    Passage.objects.filter(pk=passage.pk).update(text=text, content_hash=content_hash)


def test_each_word_comes_with_the_number_of_passages_it_stands_in() -> None:
    make_study(texts=("Squats and more squats.", "Squats at 80 % of 1RM."))

    assert vocabulary.read() == {"squats": 2, "and": 1, "more": 1, "at": 1, "of": 1}


def test_after_edits_it_says_what_a_first_reading_would(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make_study(texts=("Squats build strength.", "Presses build strength."))
    withdrawn = make_study(texts=("Zebras build nothing.",))
    vocabulary.read()
    reword(kept.passages.get(position=0), "Rowing builds endurance and strength.")
    Study.objects.filter(pk=withdrawn.pk).update(status="withdrawn")
    make_study(texts=("Sleep helps.",))

    after = vocabulary.read()

    forget(monkeypatch)
    assert after == vocabulary.read()
    assert after["strength"] == 2
    assert not {"squats", "zebras", "nothing"} & after.keys()


def test_only_what_changed_is_read_again() -> None:
    study = make_study(texts=("Squats build strength.", "Presses build strength."))
    vocabulary.read()
    changed = study.passages.get(position=0)
    reword(changed, "Rowing builds endurance.")

    with CaptureQueriesContext(connection) as queries:
        vocabulary.read()

    [_, texts] = queries.captured_queries
    assert f"'{{{changed.pk}}}'" in texts["sql"]


def test_a_reading_that_fails_leaves_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(texts=("Squats build strength.",))
    before = vocabulary.read()
    reword(study.passages.get(), "Rowing builds endurance.")
    working = vocabulary._WRITTEN
    monkeypatch.setattr(vocabulary, "_WRITTEN", "SELECT no_such_column FROM corpus_app_passage WHERE id = ANY(%s)")
    with pytest.raises(DatabaseError), transaction.atomic():
        vocabulary.read()
    monkeypatch.setattr(vocabulary, "_WRITTEN", working)

    assert before.keys() == {"squats", "build", "strength"}
    assert vocabulary.read().keys() == {"rowing", "builds", "endurance"}
