"""Each question searches the corpus as it is when its snapshot opens."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from pgvector import HalfVector

from corpus_app import embedding, indexing, records, search
from corpus_app.models import CorpusVersion, PassageVector, Study
from tests.builders import make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db(transaction=True)  # transactions of the test's own, as readers' questions have

SQUATS = "Squats increased leg strength in trained men."
PRESSES = "Bench presses increased chest thickness in women."


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


def new_version() -> None:
    CorpusVersion.objects.create(number=CorpusVersion.objects.count() + 1, at=timezone.now(), summary="a change")


def publish(*texts: str, **fields: Any) -> Study:
    study = make_study(texts=texts, **fields)
    indexing.index_stale()
    new_version()
    return study


def find(text: str) -> records.Found:
    vector = search.encode_question(text)
    with search.snapshot():
        return search.find(text, vector)


def test_without_a_vector_the_words_still_answer() -> None:
    publish(SQUATS, PRESSES)
    with search.snapshot():
        found = search.find("squats", None, dense_error="The encoder is not installed.")

    assert [hit.cosine for hit in found.hits] == [None]
    assert found.lexical.ok
    assert found.dense == records.Leg(ok=False, candidates=0, error="The encoder is not installed.")


def test_a_change_is_searched_with_its_version() -> None:
    study = publish(SQUATS)
    assert [hit.bm25 > 0 for hit in find("squats").hits] == [True]

    publish("Squats at last.", study_id="S900")
    assert [hit.bm25 > 0 for hit in find("squats").hits] == [True, True]

    study.delete()
    new_version()
    assert len(find("squats").hits) == 1


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"notice": "retracted"}])
def test_a_withdrawn_or_retracted_study_is_not_found(state: dict[str, str]) -> None:
    study = publish(SQUATS)
    publish(PRESSES, study_id="S900")
    assert len(find("squats and presses").hits) == 2

    Study.objects.filter(pk=study.pk).update(**state)
    indexing.index_stale()
    indexing.sync_study(study)
    new_version()

    assert len(find("squats and presses").hits) == 1


def test_a_passage_without_a_vector_is_found_by_its_words() -> None:
    publish(SQUATS)
    waiting = make_study(texts=("Squats in no time.",), study_id="S900")
    indexing.sync_study(waiting)
    new_version()
    assert sorted(hit.cosine is None for hit in find("squats").hits) == [False, True]

    indexing.index_stale()

    assert all(hit.cosine is not None for hit in find("squats").hits)


def test_a_passage_indexed_without_a_new_version_is_found_at_once() -> None:
    publish(SQUATS)
    find("leg")
    late = make_study(texts=("Squats in no time.",), study_id="S900")
    indexing.index_stale()
    indexing.sync_study(late)

    assert len(find("squats").hits) == 2


def test_a_vector_embedded_again_is_searched_at_once() -> None:
    publish(SQUATS)
    (before,) = find("squats").hits
    vector = PassageVector.objects.get()
    PassageVector.objects.update(vector=HalfVector([-number for number in vector.vector]))

    (after,) = find("squats").hits

    assert after.cosine == pytest.approx(-before.cosine, abs=1e-5)


@pytest.mark.parametrize("vector", [[1.0, 0.0], [float("nan")] * 64])
def test_a_vector_that_cannot_be_compared_leaves_the_search_by_words(vector: list[float]) -> None:
    publish(SQUATS)

    with search.snapshot():
        found = search.find("squats", vector)

    assert found.lexical.ok
    assert not found.dense.ok


def test_each_encoder_searches_its_own_vectors() -> None:
    publish(SQUATS, PRESSES)
    before = find("squats")

    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        indexing.index_stale()
        other = find("squats")

    assert other.hits.cosines.tolist() != before.hits.cosines.tolist()
    assert find("squats") == before


def test_passages_without_words_are_compared_by_meaning() -> None:
    publish("Of the and.", title="The")

    assert len(find("squats of the").hits) == 1


def test_an_empty_corpus_has_no_hits() -> None:
    new_version()

    assert find("squats").hits == ()
