"""The words of the corpus, brought in step passage by passage."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from corpus_app import passages
from corpus_app.models import Passage, Study
from corpus_app.search import word_counts
from tests.builders import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_read_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_counts, "_hashes", {})
    monkeypatch.setattr(word_counts, "_words", {})
    monkeypatch.setattr(word_counts, "_counts", type(word_counts._counts)())


def reword(passage: Passage, text: str) -> None:
    content_hash = passages.content_hash(heading=passage.heading, text=text)
    Passage.objects.filter(pk=passage.pk).update(text=text, content_hash=content_hash)


def test_each_word_comes_with_the_number_of_passages_it_stands_in() -> None:
    make_study(texts=("Squats and more squats.", "Squats at 80 % of 1RM."))

    assert word_counts.read() == {"squats": 2, "and": 1, "more": 1, "at": 1, "of": 1}


def test_after_edits_it_says_what_a_first_reading_would(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make_study(texts=("Squats build strength.", "Presses build strength."))
    withdrawn = make_study(texts=("Zebras build nothing.",))
    word_counts.read()
    reword(kept.passages.get(position=0), "Rowing builds endurance and strength.")
    Study.objects.filter(pk=withdrawn.pk).update(status="withdrawn")
    make_study(texts=("Sleep helps.",))

    after = word_counts.read()

    forget(monkeypatch)
    assert after == word_counts.read()
    assert after["strength"] == 2
    assert not {"squats", "zebras", "nothing"} & after.keys()


def test_only_what_changed_is_read_again() -> None:
    study = make_study(texts=("Squats build strength.", "Presses build strength."))
    word_counts.read()
    changed = study.passages.get(position=0)
    reword(changed, "Rowing builds endurance.")

    with CaptureQueriesContext(connection) as queries:
        word_counts.read()

    [_, texts] = queries.captured_queries
    assert f"'{{{changed.pk}}}'" in texts["sql"]


def test_a_reading_that_fails_leaves_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(texts=("Squats build strength.",))
    before = word_counts.read()
    reword(study.passages.get(), "Rowing builds endurance.")
    working = word_counts._WORDS
    monkeypatch.setattr(word_counts, "_WORDS", "SELECT no_such_column FROM corpus_app_passage WHERE id = ANY(%s)")
    with pytest.raises(DatabaseError), transaction.atomic():
        word_counts.read()
    monkeypatch.setattr(word_counts, "_WORDS", working)

    assert before.keys() == {"squats", "build", "strength"}
    assert word_counts.read().keys() == {"rowing", "builds", "endurance"}
