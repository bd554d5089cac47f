import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import celery
import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from common import waking
from corpus_app import curation
from corpus_app.models import CorpusEvent, CorpusVersion, Study
from tests.builders import make_concept, make_curator, make_passage, make_study

pytestmark = pytest.mark.django_db


def version() -> int:
    last = CorpusVersion.objects.first()
    return last.number if last else 0


def last_event() -> CorpusEvent:
    event = CorpusEvent.objects.first()
    assert event
    return event


def test_what_readers_cannot_notice_is_no_new_corpus_version() -> None:
    study, draft, by = make_study(year=2020), make_study(status="draft"), make_curator()

    curation.revise_study(study.study_id, by=by, year=2020)
    curation.save_entry(make_concept(), by=by)
    assert not CorpusEvent.objects.exists()
    curation.revise_study(study.study_id, by=by, curator_notes="Ask the authors.")
    curation.revise_study(draft.study_id, by=by, title="Another")

    assert list(CorpusEvent.objects.values_list("action", flat=True)) == ["revise_study"] * 2
    assert version() == 0


def test_invalid_values_are_refused() -> None:
    make_study(study_id="S018", doi="10.1000/taken")
    passage, by = make_passage(), make_curator()
    study = passage.study

    for values, reason in (
        ({"title": "a\x00b"}, "U.0000"), ({"title": "a\x1bb"}, "U.001B"), ({"title": ""}, "blank"),
        ({"title": "\u2060 \ufeff"}, "nothing that can be seen"), ({"year": 3000}, "2100"),
        ({"authors": ["a\x00"]}, "U.0000"), ({"design": "rct"}, "rct"),
        ({"duration_weeks_min": 9, "duration_weeks_max": 8}, "longer"),
        ({"doi": "https://doi.org/10.1000/TAKEN"}, "Another study has this DOI"),
    ):  # fmt: skip
        with pytest.raises(ValidationError, match=reason):
            curation.revise_study(study.study_id, by=by, **values)
    for values in ({"text": " "}, {"text": "a\x00"}, {"text": "\u3164"}, {"section": "middle"}, {"kind": "rumour"}):
        with pytest.raises(ValidationError):
            curation.revise_passage(passage.pk, by=by, **values)
    with pytest.raises(ValidationError, match="There is a study S018 already"):
        curation.create_study("s018", by=by, collection=study.collection, title="T", design="thesis")
    with pytest.raises(TypeError, match="status"):
        curation.revise_study(study.study_id, by=by, status="published")
    with pytest.raises(curation.UnknownStudy, match="There is no study S999"):
        curation.revise_study("S999", by=by, year=2000)
    with pytest.raises(curation.CurationError, match="Say who"):
        curation.publish([], by=None)
    with pytest.raises(curation.EditConflict, match="Someone else has saved"):
        curation.revise_passage(passage.pk, by=by, expected_version=9, text="Mine.")
    for act in (curation.send_back, curation.withdraw, partial(curation.set_notice, notice="retracted")):
        with pytest.raises(curation.ReasonMissing):
            act([study.study_id], by=by, reason="  \n")
    assert not CorpusEvent.objects.exists()
    for title in ("é", "e\u0301", "肌", "½", "💪", "a\u200bb"):
        assert curation.revise_study(study.study_id, by=by, title=title).title == title


def test_removed_passage_leaves_no_gap_and_its_words_in_the_history() -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    first = study.passages.get(position=0)

    curation.remove_passage(first.pk, by=make_curator())

    assert list(study.passages.values_list("position", "text")) == [(0, "Two."), (1, "Three.")]
    assert last_event().detail["text"] == "One."


def test_a_title_that_may_be_a_notice_blocks_publishing_until_it_is_settled() -> None:
    unsure = make_study(status="draft", title="Expression of concern: Vitamin K and grip strength")
    by = make_curator()

    with pytest.raises(curation.NotPublishable, match="expression of concern"):
        curation.publish([unsure.study_id], by=by)
    curation.revise_study(unsure.study_id, by=by, title="Vitamin K and grip strength")

    assert curation.publish([unsure.study_id], by=by) == (unsure.study_id,)


def test_failed_act_leaves_nothing() -> None:
    study, by = make_study(), make_curator()

    def revise_and_fail() -> None:
        with curation.act(by=by):
            curation.revise_study(study.study_id, by=by, year=1999)
            curation.withdraw([study.study_id], by=by, reason="")

    with pytest.raises(curation.ReasonMissing):
        revise_and_fail()

    study.refresh_from_db()
    assert study.year == 2020
    assert not CorpusEvent.objects.exists()


def test_a_committed_act_asks_the_queue(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(celery.current_app, "send_task", lambda name, **options: sent.append(name))
    study = make_study()

    with django_capture_on_commit_callbacks(execute=True):
        curation.revise_study(study.study_id, by=make_curator(), year=1999)
        assert sent == []

    assert sent == ["corpus_app.tasks.index_stale_passages"]


def test_a_broken_queue_neither_breaks_nor_delays_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, **options: Any) -> None:
        raise ConnectionRefusedError("no broker")

    answered, began = threading.Event(), time.monotonic()
    monkeypatch.setattr(celery.current_app, "send_task", refuse)
    curation.wake_indexing()
    monkeypatch.setattr(waking, "QUEUE_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(celery.current_app, "send_task", lambda name, **options: answered.wait(30))
    curation.wake_indexing()  # comes back although the queue has not
    answered.set()

    assert time.monotonic() - began < 20


EDITS, CURATORS = 100, 8


def lines(text: str) -> list[int]:
    return [int(line) for line in text.split()]


@pytest.mark.django_db(transaction=True)
def test_of_many_edits_none_is_overwritten_silently() -> None:
    """Each edit adds its number to two texts of the study and to one of its passage, as it has read them."""
    study_id = make_study(texts=("Edits so far: 0.",)).study_id
    people = [make_curator(f"curator {n}") for n in range(CURATORS)]

    def edit(n: int) -> str:
        by = people[n % CURATORS]
        try:
            row = Study.objects.get(study_id=study_id)
            passage = row.passages.get()
            if passage.study.version != row.version:
                return "told"  # saved between the two reads; a page reads both at once
            with curation.act(by=by):
                notes, population = f"{row.curator_notes} {n}".strip(), f"{row.population} {n}".strip()
                curation.revise_study(
                    study_id, by=by, expected_version=row.version, curator_notes=notes, population=population
                )
                text = passage.text.removesuffix(".") + f" {n}."
                curation.revise_passage(passage.pk, by=by, expected_version=passage.version, text=text)
        except curation.EditConflict:
            return "told"
        finally:
            connection.close()
        return "saved"

    with ThreadPoolExecutor(max_workers=CURATORS) as threads:
        outcomes = list(threads.map(edit, range(1, EDITS + 1)))

    saved = [n for n, outcome in enumerate(outcomes, start=1) if outcome == "saved"]
    study = Study.objects.get(study_id=study_id)
    assert set(outcomes) == {"saved", "told"}
    assert sorted(lines(study.curator_notes)) == sorted(lines(study.population)) == saved
    kept = study.passages.get().text.removeprefix("Edits so far: 0").removesuffix(".")
    assert lines(kept) == lines(study.curator_notes)
    versions = CorpusVersion.objects.order_by("number").values_list("number", flat=True)
    assert list(versions) == [*range(1, len(saved) + 1)]
    assert Counter(CorpusEvent.objects.values_list("action", flat=True)) == {
        "revise_study": len(saved),
        "revise_passage": len(saved),
    }
