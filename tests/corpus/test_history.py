"""The history of studies, passages and concepts: differences word by word, and the way back."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import curation
from corpus_app.curation import history
from corpus_app.models import Collection, Concept, CorpusEvent, Finding, Study
from corpus_app.records import Direction
from corpus_app.sources import ConceptDraft, FindingDraft
from tests.builders import make_collection, make_concept, make_curator, make_finding, make_study, make_superuser

texts = st.text(max_size=60)


@given(texts, texts)
def test_the_pieces_contain_both_texts(before: str, after: str) -> None:
    pieces = list(history.compare(before, after))

    assert "".join(piece.text for piece in pieces if piece.mark != "new") == before
    assert "".join(piece.text for piece in pieces if piece.mark != "gone") == after


@pytest.fixture
def curator(db: None) -> User:
    return make_curator()


@pytest.fixture
def study(db: None) -> Study:
    return make_study(texts=("Ten sets work.", "Five do less."), concepts=(make_concept("one"), make_concept("two")))


def newest() -> CorpusEvent:
    event = CorpusEvent.objects.order_by("-id").first()
    assert event is not None
    return event


def put_back(by: User) -> None:
    curation.restore(newest().pk, by=by)


def test_fields_and_words_are_put_back_as_a_new_version(study: Study, curator: User) -> None:
    curation.revise_study(study.study_id, by=curator, title="Another title", authors=["Only Me"], year=None)
    put_back(curator)
    restored = Study.objects.get()
    assert (restored.title, restored.authors, restored.year) == (study.title, study.authors, study.year)
    assert [event.action for event in CorpusEvent.objects.order_by("id")] == ["revise_study", "revise_study", "restore"]

    passage = study.passages.all()[0]
    curation.revise_passage(passage.pk, by=curator, text="Twelve sets work.")
    put_back(curator)
    passage.refresh_from_db()
    assert (passage.text, passage.version) == ("Ten sets work.", 3)

    curation.withdraw([study.study_id], by=curator, reason="A test.")
    with pytest.raises(curation.CannotRestore, match="by hand"):
        put_back(curator)
    with pytest.raises(curation.CannotRestore):
        curation.restore(0, by=curator)


def test_a_removed_passage_comes_back_once_and_as_what_it_was(study: Study, curator: User) -> None:
    passage = curation.add_passage(
        study.study_id, by=curator, text="Words of the source.", section="results", page=7, kind="excerpt"
    )
    curation.remove_passage(passage.pk, by=curator)
    removed = newest().pk
    curation.restore(removed, by=curator)

    back = study.passages.get(text="Words of the source.")
    assert (back.section, back.page, back.kind) == ("results", 7, "excerpt")
    with pytest.raises(curation.CannotRestore, match="again already"):
        curation.restore(removed, by=curator)


def test_a_study_is_not_put_back_into_a_collection_that_is_gone(study: Study, curator: User) -> None:
    first = study.collection
    study = curation.revise_study(study.study_id, by=curator, collection=make_collection("elsewhere"))
    moved = newest().pk
    Collection.objects.filter(pk=first.pk).delete()

    with pytest.raises(curation.CannotRestore, match="collection"):
        curation.restore(moved, by=curator)


def test_what_an_import_changed_of_a_concept_is_put_back(curator: User) -> None:
    first = ConceptDraft("one", "One", "outcome", ("uno", "eins"), "First.", ("training",))
    make_collection("training")
    curation.save_concept(first, by=curator)
    curation.save_concept(ConceptDraft("one", "Another", "outcome", ("uno",), "Second."), by=curator)
    put_back(curator)

    concept = Concept.objects.get()
    assert (concept.name, concept.definition) == ("One", "First.")
    assert list(concept.aliases.order_by("position").values_list("name", flat=True)) == ["uno", "eins"]
    assert list(concept.conceptcollection_set.values_list("collection_id", flat=True)) == ["training"]


def test_findings_and_concepts_are_put_back(study: Study, curator: User) -> None:
    make_finding(study)
    other = FindingDraft("a", "b", "c", Direction.INCREASE, "d")
    curation.set_findings(study.study_id, [other], by=curator)
    put_back(curator)
    assert Finding.objects.get().statement.startswith("Ten weekly sets")
    curation.delete_entry(Finding.objects.get(), by=curator)
    put_back(curator)
    assert Finding.objects.get().statement.startswith("Ten weekly sets")

    curation.set_concepts(study.study_id, ["two"], by=curator)
    put_back(curator)
    assert [concept.pk for concept in study.concepts.all()] == ["one", "two"]


def test_a_concept_is_put_back_unless_it_is_gone(curator: User) -> None:
    concept = make_concept("one", definition="First.", wanted="more")
    concept.definition, concept.wanted = "Second.", "less"
    curation.save_entry(concept, by=curator)
    event = newest()
    curation.restore(event.pk, by=curator)
    assert (Concept.objects.get().definition, Concept.objects.get().wanted) == ("First.", "more")

    curation.delete_entry(Concept.objects.get(), by=curator)
    with pytest.raises(curation.CannotRestore, match="deleted since"):
        curation.restore(event.pk, by=curator)


def page_of(client: Client, name: str, row: Any) -> str:
    return client.get(reverse(f"admin:corpus_app_{name}_history", args=[row.pk])).content.decode()


def test_the_page_shows_who_what_and_why(client: Client, study: Study, curator: User) -> None:
    client.force_login(curator)
    passage = study.passages.all()[0]
    curation.revise_passage(passage.pk, by=curator, text="Twelve <sets> work.")
    curation.set_notice([study.study_id], "corrected", by=curator, reason="A typing error.")

    page = page_of(client, "study", study)

    assert "<del>Ten</del><ins>Twelve</ins> <ins>&lt;</ins>sets" in page
    assert "Reason: A typing error." in page
    assert page.count("Put back as it was before this") == 1
    assert "Twelve" in page_of(client, "passage", passage)
    assert "A typing error" not in page_of(client, "passage", passage)


def test_only_events_of_the_row_are_put_back_from_its_page(client: Client, study: Study, curator: User) -> None:
    client.force_login(curator)
    curation.revise_study(study.study_id, by=curator, year=1999)
    address = reverse("admin:corpus_app_study_history", args=[study.pk])
    done = client.post(address, {"event": newest().pk}, follow=True)
    assert "Put back as it was before." in done.content.decode()
    assert Study.objects.get().year == study.year

    curation.revise_study(make_study().study_id, by=curator, year=1999)
    for key in (newest().pk, "0", "x", "9" * 30, ""):
        assert client.post(address, {"event": key}).status_code == 404


def test_readers_cannot_restore(client: Client, study: Study, curator: User) -> None:
    curation.revise_study(study.study_id, by=curator, year=1999)
    client.force_login(make_curator("reader", role="Desk readers"))

    assert "Put back" not in page_of(client, "study", study)
    address = reverse("admin:corpus_app_study_history", args=[study.pk])
    assert client.post(address, {"event": newest().pk}).status_code == 403


@pytest.mark.django_db
def test_an_import_shows_each_passage_that_it_changed(client: Client, study: Study, curator: User) -> None:
    revised = {"revised": 7, "changes": {"text": {"before": "one two", "after": "one three"}}}
    event = CorpusEvent.objects.create(
        at=timezone.now(), actor_name="import", action="import_changes", study_key=study.study_id,
        detail={"changes": {"authors": {"before": ["A B"], "after": ["C D"]}},
         "passages": [revised, {"removed": 8, "text": "Gone words."}, {"added": 9}]},
    )  # fmt: skip
    client.force_login(curator)

    told = client.get(reverse("admin:corpus_app_corpusevent_change", args=[event.pk])).content.decode()

    assert "<del>two</del><ins>three</ins>" in page_of(client, "study", study)
    for page in (page_of(client, "study", study), told):
        assert "passage 7" in page.lower()
        assert "Gone words." in page
    concept = Concept.objects.get(pk="one")
    concept.definition = "Second."
    curation.save_entry(concept, by=curator)
    assert "Second." in page_of(client, "concept", concept)
    assert "Nothing has been changed" in page_of(client, "concept", Concept.objects.get(pk="two"))


@pytest.mark.django_db
def test_an_event_tells_before_and_after_without_json(client: Client) -> None:
    client.force_login(make_superuser())
    study = make_study(population="Cyclists", texts=("Ten sets.",))
    curation.revise_study(study.study_id, by=None, by_name="ada", population="Rowers")
    event = CorpusEvent.objects.get(action="revise_study")
    listed = client.get(reverse("admin:corpus_app_corpusevent_changelist")).content.decode()
    assert "Study revised" in listed
    assert ">revise_study<" not in listed

    page = client.get(reverse("admin:corpus_app_corpusevent_change", args=[event.pk])).content.decode()

    assert '<td class="what-changed" data-of="Before">Cyclists</td>' in page
    assert '<td class="what-changed" data-of="After">Rowers</td>' in page
    assert reverse("admin:corpus_app_study_change", args=[study.pk]) in page
    assert ">None<" not in page
    assert str(event).endswith(f"ada, Study revised, {study.study_id}")
    assert "&quot;" not in page.split("What changed")[1].split("submit-row")[0]

    passage = study.passages.get()
    curation.withdraw([study.study_id], by=None, by_name="ada", reason="x")
    curation.remove_passage(passage.pk, by=None, by_name="ada")
    event = CorpusEvent.objects.get(action="remove_passage")
    page = client.get(reverse("admin:corpus_app_corpusevent_change", args=[event.pk])).content.decode()
    assert "Ten sets." in page
    assert f"{passage.pk}, deleted since" in page
