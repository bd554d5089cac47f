"""Changing the encoder at the desk: search stays on the old vectors until the new set is complete, and can go back."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from corpus_app import curation, embedding, indexing, search
from corpus_app.embedding import chosen, metric
from corpus_app.indexing import worker
from corpus_app.models import CorpusEvent, Passage, PassageSentence, PassageVector
from corpus_app.search import question_vectors
from tests.builders import make_curator, make_finding, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

OLD, NEW = f"{settings.ENCODER}@{embedding.ORIGINAL}", f"{settings.ENCODER}@{embedding.COMPRESSED}"
TEXTS = ("Ten weekly sets increased growth. Five did less.", "Protein helped older adults.", "Sleep was not measured.")


@pytest.fixture(autouse=True)
def two_encoders(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, settings: Any) -> dict[str, WordHashEncoder]:
    """The two forms of the configured model, each with vectors of its own size."""
    made = {OLD: WordHashEncoder(OLD, 64), NEW: WordHashEncoder(NEW, 32)}
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(embedding, "_load", made.__getitem__)
    monkeypatch.setattr(embedding, "_loaded", None)
    monkeypatch.setattr(embedding, "is_prepared", lambda: True)
    monkeypatch.setattr(embedding, "configured_name", lambda: OLD)
    monkeypatch.setattr(embedding, "on_offer", lambda: (NEW, OLD))
    monkeypatch.setattr(question_vectors, "_settled_encoder", "")
    monkeypatch.setattr(metric, "find", lambda encoder: None)  # the model's own is for vectors of its size
    return made


@pytest.fixture
def indexed() -> list[Passage]:
    for text in TEXTS:
        make_finding(make_study(texts=(text,)))
    indexing.index_stale()
    return list(Passage.objects.order_by("pk"))


def question(text: str) -> tuple[str, list[int], list[bool]]:
    """The encoder that a question is compared by, the passages its vector is compared with, and which sentences have one."""
    with search.snapshot():
        vector = search.encode_question(text)
        found = [hit for hit in search.find(text, vector).hits if hit.cosine is not None]
        passages = search.load_passages([hit.passage_id for hit in found])
    sentences = [s.vector is not None and len(s.vector) == len(vector) for p in passages for s in p.sentences]
    return vector.encoder, sorted(hit.passage_id for hit in found), sentences


def test_search_stays_up_while_the_encoder_changes_and_changes_back(
    indexed: list[Passage], two_encoders: dict[str, WordHashEncoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH", 1)
    everything = [passage.pk for passage in indexed]
    seen = []

    def look() -> None:
        encoder, found, sentences = question("How many weekly sets?")
        assert found == everything
        assert all(sentences)
        seen.append(encoder)

    look()
    curation.change_encoder(NEW, used=search.encoder_name(), by=None, by_name="tests")
    look()
    indexing.index_stale(on_progress=lambda progress: look())
    assert seen == [OLD, OLD, OLD, OLD, NEW]  # before, asked for, after each passage: with the last one it changes
    assert indexing.drop_superseded() == 0
    look()

    two_encoders[OLD].calls.clear()
    curation.change_encoder(OLD, used=search.encoder_name(), by=None, by_name="tests")
    look()
    assert seen[-2:] == [NEW, OLD]
    assert not indexing.has_work()
    assert all(len(texts) == 1 for texts in two_encoders[OLD].calls)  # the question, no passage
    assert indexing.audit() == []


def test_edits_are_embedded_before_search_changes_back(indexed: list[Passage]) -> None:
    curation.change_encoder(NEW, used=OLD, by=None, by_name="tests")
    indexing.index_stale()
    curation.revise_passage(indexed[0].pk, by=None, by_name="tests", text="Twenty sets were too many.")
    indexing.index_stale()

    curation.change_encoder(OLD, used=search.encoder_name(), by=None, by_name="tests")
    assert search.encoder_name() == NEW
    indexing.index_stale()

    assert search.encoder_name() == OLD
    assert indexing.audit() == []


def test_former_vectors_are_dropped_on_request(indexed: list[Passage]) -> None:
    curation.change_encoder(NEW, used=OLD, by=None, by_name="tests")
    with pytest.raises(curation.CannotChangeEncoder, match="may still need them"):
        curation.drop_former_vectors(by=None, by_name="tests")
    indexing.index_stale()

    curation.drop_former_vectors(by=None, by_name="tests")

    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {NEW}
    assert not PassageSentence.objects.exclude(kept_encoder="").exists()
    with pytest.raises(curation.CannotChangeEncoder, match="No former vectors"):
        curation.drop_former_vectors(by=None, by_name="tests")


def test_every_process_learns_of_a_choice_from_the_database(settings: Any, tmp_path: Path) -> None:
    curation.change_encoder(NEW, used=OLD, by=None, by_name="tests")

    settings.DATA_DIR = tmp_path / "of another container"
    chosen.forget_known()
    assert embedding.active_name() == NEW
    assert embedding.fallback_name() == OLD

    settings.ENCODER = "another"  # which cancels the choice
    assert embedding.active_name() == OLD


def test_an_unknown_encoder_is_refused() -> None:
    for name, reason in ((OLD, "already"), ("x@fp32", "no such encoder"), ("", "no such encoder")):
        with pytest.raises(curation.CannotChangeEncoder, match=reason):
            curation.change_encoder(name, used=OLD, by=None, by_name="tests")
    assert not CorpusEvent.objects.exists()


def test_passages_are_found_while_embedded_again(
    indexed: list[Passage], two_encoders: dict[str, WordHashEncoder]
) -> None:
    PassageVector.objects.filter(passage=indexed[2]).delete()
    Passage.objects.filter(pk=indexed[2].pk).update(index_attempts=indexing.MAX_ATTEMPTS, index_error="Poisoned.")
    studies = [passage.study.study_id for passage in indexed[:2]]

    for asked, which in ((1, {"passages": [indexed[2].pk]}), (2, {"studies": studies}), (3, {})):
        assert curation.embed_again(by=None, by_name="tests", **which) == asked

        vector = search.encode_question("How many weekly sets?")
        hits = search.find("How many weekly sets?", vector).hits
        assert len([hit for hit in hits if hit.cosine is not None]) == len(TEXTS) - (asked == 1)
        two_encoders[OLD].calls.clear()
        assert indexing.index_stale().count == asked
        assert sum(len(texts) for texts in two_encoders[OLD].calls) >= 2 * asked
        assert indexing.audit() == []


def test_the_desk_walks_through_every_step(client: Client, indexed: list[Passage]) -> None:
    client.force_login(make_curator(role="Administrators"))
    address = reverse("admin:corpus_app_encoder")

    def page() -> str:
        return " ".join(client.get(address).content.decode().split())

    assert "3 of 3 passages are embedded" in page()
    assert NEW in page()
    assert "Go back" not in page()

    client.post(address, {"do": "change", "name": NEW})
    assert "0 of 3 passages are embedded" in page()
    assert "search changes over when the last one is done" in page()
    indexing.index_stale()
    assert "3 of 3 passages are embedded" in page()
    assert f"Go back to {OLD}" in page()

    client.post(address, {"do": "change", "name": OLD})
    assert search.encoder_name() == OLD
    assert "Search may still need" not in client.post(address, {"do": "drop"}, follow=True).content.decode()
    assert "Go back" not in page()
    client.post(address, {"do": "again"})
    assert indexing.has_work()
    actions = list(CorpusEvent.objects.order_by("id").values_list("action", flat=True))
    assert actions == ["change_encoder", "change_encoder", "drop_former_vectors", "embed_again"]


def test_chosen_rows_are_embedded_again(client: Client, indexed: list[Passage]) -> None:
    client.force_login(make_curator(role="Administrators"))

    for model, action, row in (
        ("passage", "embed_passages_again", indexed[0].pk),
        ("study", "embed_studies_again", indexed[1].study_id),
    ):
        listed = reverse(f"admin:corpus_app_{model}_changelist")
        page = client.post(listed, {"action": action, "_selected_action": row}, follow=True)
        assert "passages will be embedded again" in page.content.decode()

    assert indexing.index_stale().count == 2
