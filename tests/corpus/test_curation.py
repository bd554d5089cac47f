from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import celery
import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from corpus_app import curation, passages
from corpus_app.models import (
    ConceptAlias,
    CorpusEvent,
    CorpusVersion,
    Finding,
    Passage,
    PassageSentence,
    PassageTerm,
    Study,
)
from corpus_app.records import Direction
from corpus_app.sources import ConceptDraft, FindingDraft
from tests.builders import make_collection, make_concept, make_curator, make_finding, make_passage, make_study

pytestmark = pytest.mark.django_db


def version() -> int:
    last = CorpusVersion.objects.first()
    return last.number if last else 0


def last_event() -> CorpusEvent:
    event = CorpusEvent.objects.first()
    assert event
    return event


def terms(passage: Passage) -> set[str]:
    return set(PassageTerm.objects.filter(passage=passage).exclude(lexeme="").values_list("lexeme", flat=True))


# --- Studies ------------------------------------------------------------------------------------------------------------


def test_created_study_is_a_draft_that_no_reader_notices() -> None:
    by = make_curator()

    study = curation.create_study(
        "N001", by=by, title="New", design="thesis", collection=make_collection(), doi="https://doi.org/10.1000/ABC"
    )

    assert (study.status, study.version, study.doi) == ("draft", 1, "10.1000/abc")
    assert study.status_reason
    assert (last_event().action, last_event().actor, last_event().actor_name) == ("create_study", by, "curator")
    assert version() == 0


def test_revision_of_a_published_study_is_an_event_and_a_corpus_version() -> None:
    study = make_study(title="Old title")

    curation.revise_study(study.study_id, by=make_curator(), title="New title", year=2020)

    event = last_event()
    assert event.detail["changes"] == {"title": {"before": "Old title", "after": "New title"}}
    assert event.corpus_version_id == version() == 1
    assert (event.study_key, event.action) == (study.study_id, "revise_study")
    study.refresh_from_db()
    assert (study.title, study.version) == ("New title", 2)


def test_new_title_is_the_heading_of_every_passage_without_a_new_version_of_them() -> None:
    study = make_study(title="Old title", texts=("One.", "Two."))

    curation.revise_study(study.study_id, by=make_curator(), title="Creatine")

    for passage in study.passages.all():
        assert (passage.heading, passage.version) == ("Creatine", 1)
        assert passage.content_hash == passages.content_hash(heading="Creatine", text=passage.text)
        assert "creatin" in terms(passage)


def test_revision_without_a_difference_leaves_no_trace() -> None:
    study = make_study(year=2020)

    curation.revise_study(study.study_id, by=make_curator(), year=2020)

    study.refresh_from_db()
    assert study.version == 1
    assert not CorpusEvent.objects.exists()


def test_curators_own_notes_are_no_new_corpus_version() -> None:
    study = make_study()

    curation.revise_study(study.study_id, by=make_curator(), curator_notes="Ask the authors.")

    assert last_event().action == "revise_study"
    assert version() == 0


def test_revision_of_a_draft_is_no_new_corpus_version() -> None:
    study = make_study(status="draft")

    curation.revise_study(study.study_id, by=make_curator(), title="Another")

    assert version() == 0


def test_revision_over_another_ones_is_refused() -> None:
    study = make_study()
    curation.revise_study(study.study_id, by=make_curator("first"), expected_version=1, year=1999)

    with pytest.raises(curation.EditConflict, match="Someone else has saved"):
        curation.revise_study(study.study_id, by=make_curator("second"), expected_version=1, year=2001)

    study.refresh_from_db()
    assert study.year == 1999


@pytest.mark.parametrize(
    "values",
    [
        {"title": "a\x00b"},
        {"title": "a\x1bb"},
        {"title": ""},
        {"year": 3000},
        {"authors": ["a\x00"]},
        {"design": "rct"},
        {"duration_weeks_min": 9, "duration_weeks_max": 8},
    ],
)
def test_revision_to_what_cannot_be_kept_is_refused(values: dict[str, Any]) -> None:
    study = make_study()

    with pytest.raises(ValidationError):
        curation.revise_study(study.study_id, by=make_curator(), **values)

    assert not CorpusEvent.objects.exists()


def test_revision_to_the_doi_of_another_study_is_refused() -> None:
    make_study(doi="10.1000/taken")
    study = make_study()

    with pytest.raises(ValidationError, match="Another study has this DOI"):
        curation.revise_study(study.study_id, by=make_curator(), doi="https://doi.org/10.1000/TAKEN")


def test_status_cannot_be_set_by_a_revision() -> None:
    study = make_study(status="draft")

    with pytest.raises(TypeError, match="status"):
        curation.revise_study(study.study_id, by=make_curator(), status="published")


def test_unknown_study_is_named() -> None:
    with pytest.raises(curation.UnknownStudy, match="There is no study S999"):
        curation.revise_study("S999", by=make_curator(), year=2000)


def test_nobody_changes_nothing() -> None:
    with pytest.raises(curation.CurationError, match="Say who"):
        curation.publish([], by=None)


def test_findings_and_concepts_are_replaced_as_a_whole() -> None:
    study = make_study()
    make_finding(study)
    concepts = [make_concept("hypertrophy"), make_concept("strength")]
    finding = FindingDraft("creatine", "placebo", "strength", Direction.INCREASE, "Creatine increased strength.")

    curation.set_findings(study.study_id, [finding], by=make_curator())
    curation.set_concepts(study.study_id, [concept.pk for concept in concepts], by=None, by_name="a command")

    assert list(study.findings.values_list("statement", "position")) == [("Creatine increased strength.", 0)]
    assert list(study.concepts.order_by("studyconcept__position")) == concepts
    assert CorpusEvent.objects.filter(study_key=study.study_id).count() == version() == 2
    assert last_event().actor_name == "a command"


# --- Passages -----------------------------------------------------------------------------------------------------------


def test_revised_passage_is_found_by_its_new_words_and_not_by_its_old() -> None:
    passage = make_passage(text="Squats increased thickness.")

    curation.revise_passage(passage.pk, by=make_curator(), text="Creatine raised strength. It was safe.")

    passage.refresh_from_db()
    assert passage.version == 2
    assert passage.text_changed_at is not None
    assert {"creatin", "strength"} <= terms(passage)
    assert "squat" not in terms(passage)
    assert PassageSentence.objects.filter(passage=passage).count() == 2
    event = last_event()
    assert (event.passage_key, event.corpus_version_id) == (passage.pk, 1)
    assert event.detail["changes"]["text"]["before"] == "Squats increased thickness."


def test_another_section_is_no_new_version_of_the_words() -> None:
    passage = make_passage()

    curation.revise_passage(passage.pk, by=make_curator(), section="conclusion", page=4)

    passage.refresh_from_db()
    assert (passage.section, passage.page, passage.version, passage.text_changed_at) == ("conclusion", 4, 1, None)
    assert passage.study.version == 2


def test_passage_revised_by_another_meanwhile_is_refused() -> None:
    passage = make_passage()
    curation.revise_passage(passage.pk, by=make_curator("first"), expected_version=1, text="First.")

    with pytest.raises(curation.EditConflict):
        curation.revise_passage(passage.pk, by=make_curator("second"), expected_version=1, text="Second.")


@pytest.mark.parametrize(
    "values", [{"text": ""}, {"text": " "}, {"text": "a\x00"}, {"section": "middle"}, {"kind": "rumour"}]
)
def test_passage_that_cannot_be_kept_is_refused(values: dict[str, Any]) -> None:
    passage = make_passage()

    with pytest.raises(ValidationError):
        curation.revise_passage(passage.pk, by=make_curator(), **values)


def test_added_passage_goes_to_the_end_and_is_searchable() -> None:
    study = make_study(texts=("One.",))

    passage = curation.add_passage(study.study_id, by=make_curator(), text="Creatine helps.", section="results")

    assert (passage.position, passage.heading) == (1, study.title)
    assert "creatin" in terms(passage)


def test_removed_passage_leaves_no_gap_and_its_words_in_the_history() -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    first = study.passages.get(position=0)

    curation.remove_passage(first.pk, by=make_curator())

    assert list(study.passages.values_list("position", "text")) == [(0, "Two."), (1, "Three.")]
    assert last_event().detail["text"] == "One."


@pytest.mark.parametrize("text", ["\u200b", "\u0301", "\u2060 \ufeff", "\u3164"])
def test_words_that_nobody_can_see_are_refused(text: str) -> None:
    study = make_study()
    by = make_curator()

    with pytest.raises(ValidationError, match="nothing that can be seen"):
        curation.revise_study(study.study_id, by=by, title=text)
    with pytest.raises(ValidationError, match="nothing that can be seen"):
        curation.add_passage(study.study_id, by=by, text=text, section="results")


@pytest.mark.parametrize("text", ["é", "e\u0301", "肌", "½", "💪", "a\u200bb"])
def test_words_of_any_script_are_kept(text: str) -> None:
    study = make_study()

    assert curation.revise_study(study.study_id, by=make_curator(), title=text).title == text


def test_study_id_that_differs_by_case_alone_is_refused() -> None:
    study = make_study(study_id="S018")

    with pytest.raises(ValidationError, match="There is a study S018 already"):
        curation.create_study("s018", by=make_curator(), collection=study.collection, title="T", design="thesis")


def test_last_passage_of_a_published_study_stays() -> None:
    passage = make_passage()

    with pytest.raises(curation.LastPassage, match="withdraw it first, or add another passage"):
        curation.remove_passage(passage.pk, by=make_curator())

    assert Passage.objects.filter(pk=passage.pk).exists()


def test_passages_are_put_in_order() -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    keys = {passage.text: passage.pk for passage in study.passages.all()}

    curation.arrange_passages(study.study_id, [keys["Three."], keys["One."]], by=make_curator())

    assert list(study.passages.values_list("text", flat=True)) == ["Three.", "One.", "Two."]


# --- Publish, withdraw, notice, delete ----------------------------------------------------------------------------------


def test_publishing_makes_searchable_in_one_corpus_version() -> None:
    studies = [make_study(status="draft", status_reason="new") for _ in range(3)]

    done = curation.publish([study.study_id for study in studies], by=make_curator())

    assert done == tuple(sorted(study.study_id for study in studies))
    assert version() == 1
    assert CorpusEvent.objects.filter(action="publish", corpus_version=1).count() == 3
    for study in Study.objects.all():
        assert (study.status, study.status_reason) == ("published", "")
        assert study.state_changed_at is not None
        assert terms(study.passages.get())


def test_study_without_passages_is_not_published_and_neither_are_the_others() -> None:
    sound, empty = make_study(status="draft"), make_study(status="draft", texts=())

    with pytest.raises(curation.NotPublishable, match="it has no passage") as raised:
        curation.publish([sound.study_id, empty.study_id], by=make_curator())

    assert raised.value.study_id == empty.study_id
    assert not Study.objects.published().exists()
    assert version() == 0


def test_published_study_is_not_published_again() -> None:
    study = make_study()

    assert curation.publish([study.study_id], by=make_curator()) == ()
    assert not CorpusEvent.objects.exists()


def test_withdrawn_study_is_gone_from_search_at_once() -> None:
    study = make_study()

    done = curation.withdraw([study.study_id], by=make_curator(), reason="The data were fabricated.")

    study.refresh_from_db()
    assert done == (study.study_id,)
    assert (study.status, study.status_reason) == ("withdrawn", "The data were fabricated.")
    assert study.state_changed_at is not None
    assert not PassageTerm.objects.exists()
    assert (last_event().reason, version()) == ("The data were fabricated.", 1)


def test_draft_is_not_withdrawn() -> None:
    study = make_study(status="draft")

    assert curation.withdraw([study.study_id], by=make_curator(), reason="why") == ()


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_withdrawing_and_marking_need_a_reason(reason: str) -> None:
    study, by = make_study(), make_curator()

    with pytest.raises(curation.ReasonMissing):
        curation.withdraw([study.study_id], by=by, reason=reason)
    with pytest.raises(curation.ReasonMissing):
        curation.set_notice([study.study_id], "retracted", by=by, reason=reason)


def test_retracted_study_is_gone_from_search_and_comes_back_when_the_notice_goes() -> None:
    study, by = make_study(), make_curator()

    curation.set_notice([study.study_id], "retracted", by=by, reason="Retracted by the journal.")
    study.refresh_from_db()
    assert (study.notice, study.notice_reason, study.status) == ("retracted", "Retracted by the journal.", "published")
    assert not PassageTerm.objects.exists()

    curation.set_notice([study.study_id], "none", by=by, reason="It was another paper.")
    study.refresh_from_db()
    assert (study.notice, study.notice_reason) == ("none", "")
    assert PassageTerm.objects.exists()
    assert version() == 2


def test_published_study_is_not_deleted() -> None:
    study = make_study()

    with pytest.raises(curation.NotDeletable, match="Withdraw it first"):
        curation.delete_study(study.study_id, by=make_curator())


def test_deleted_study_leaves_its_events_without_its_words() -> None:
    study, by = make_study(texts=("Secret words.", "More.")), make_curator()
    curation.remove_passage(study.passages.get(position=0).pk, by=by)
    curation.withdraw([study.study_id], by=by, reason="why")

    curation.delete_study(study.study_id, by=by)

    events = CorpusEvent.objects.filter(study_key=study.study_id)
    assert list(events.values_list("action", flat=True)) == ["delete_study", "withdraw", "remove_passage"]
    assert "Secret" not in str(list(events.values_list("detail", flat=True)))
    assert not Passage.objects.exists()


# --- Concepts and collections -------------------------------------------------------------------------------------------


def test_saved_entries_are_events_and_noticed() -> None:
    concept = make_concept("hypertrophy", aliases=("get bigger",))
    by = make_curator()

    alias = ConceptAlias(concept=concept, name="muscle growth")
    curation.save_entry(alias, by=by)
    concept.name = "muscle hypertrophy"
    curation.save_entry(concept, by=by)
    curation.delete_entry(alias, by=by)

    assert alias.position == 1
    assert [event.action for event in CorpusEvent.objects.order_by("pk")] == [
        "add_concept_alias",
        "revise_concept",
        "delete_concept_alias",
    ]
    assert version() == 3


def test_unchanged_entry_leaves_no_trace() -> None:
    concept = make_concept()

    curation.save_entry(concept, by=make_curator())

    assert not CorpusEvent.objects.exists()


def test_finding_saved_alone_belongs_to_its_study() -> None:
    study = make_study()
    finding = Finding(study=study, intervention="a", outcome="b", direction="increase", statement="A did B.")

    curation.save_entry(finding, by=make_curator())

    study.refresh_from_db()
    assert (finding.position, study.version, last_event().study_key) == (0, 2, study.study_id)


def test_concept_is_saved_with_its_aliases_and_collections() -> None:
    make_collection("nutrition")
    draft = ConceptDraft("creatine", "creatine", "nutrient", ("creatine monohydrate", "kre"), "", ("nutrition",))

    changes = curation.save_concept(draft, by=make_curator())
    again = curation.save_concept(draft, by=None, by_name="import")

    assert changes["aliases"]["after"] == ["creatine monohydrate", "kre"]
    assert again == {}
    assert version() == 1


# --- Acts ---------------------------------------------------------------------------------------------------------------


def test_verbs_of_one_act_are_one_corpus_version() -> None:
    study, by = make_study(texts=("One.", "Two.")), make_curator()

    with curation.act(by=by):
        curation.revise_study(study.study_id, by=by, year=1999)
        curation.revise_passage(study.passages.get(position=0).pk, by=by, text="Changed.")
        curation.add_passage(study.study_id, by=by, text="New.", section="results")

    assert version() == 1
    assert CorpusEvent.objects.filter(corpus_version=1).count() == 3


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


def test_removing_and_adding_the_only_passage_in_one_act_is_fine() -> None:
    passage, by = make_passage(), make_curator()

    with curation.act(by=by):
        curation.remove_passage(passage.pk, by=by)
        curation.add_passage(passage.study.study_id, by=by, text="New.", section="results")

    assert passage.study.passages.get().position == 0


def test_queue_is_asked_once_an_act_is_committed(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(celery.current_app, "send_task", lambda name, **options: sent.append(name))
    study = make_study()

    with django_capture_on_commit_callbacks(execute=True):
        curation.revise_study(study.study_id, by=make_curator(), year=1999)
        assert sent == []

    assert sent == ["corpus_app.tasks.index_stale_passages"]


def test_broken_queue_neither_breaks_nor_delays_saving(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(name: str, **options: Any) -> None:
        raise ConnectionRefusedError("no broker")

    monkeypatch.setattr(celery.current_app, "send_task", refuse)
    caplog.set_level("DEBUG", logger="common.waking")
    curation.wake_indexing()
    assert "index_stale_passages runs on schedule" in caplog.text

    monkeypatch.setattr(celery.current_app, "send_task", lambda name, **options: time.sleep(5))
    curation.wake_indexing()  # comes back although the queue has not
    assert "The queue takes its time" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_corpus_versions_rise_one_by_one_when_curators_save_at_once() -> None:
    by = make_curator()
    studies = [make_study().study_id for _ in range(6)]

    def revise(study_id: str) -> None:
        try:
            curation.revise_study(study_id, by=by, year=1999)
            curation.withdraw([study_id], by=by, reason="why")
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=6) as threads:
        list(threads.map(revise, studies))

    assert list(CorpusVersion.objects.order_by("number").values_list("number", flat=True)) == list(range(1, 13))


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_one_is_told() -> None:
    by, study_id = make_curator(), make_study().study_id

    def revise(year: int) -> str:
        try:
            curation.revise_study(study_id, by=by, expected_version=1, year=year)
        except curation.EditConflict:
            return "told"
        finally:
            connection.close()
        return "saved"

    with ThreadPoolExecutor(max_workers=2) as threads:
        outcomes = list(threads.map(revise, [1998, 1999]))

    assert sorted(outcomes) == ["saved", "told"]
