from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from pgvector import HalfVector

from corpus_app import embedding, held, indexing, legs, records, search
from corpus_app.models import CorpusVersion, PassageTerm, PassageVector, Study
from tests.builders import make_collection, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db(transaction=True)  # transactions of the test's own, as readers' questions have

SQUATS = "Squats increased leg strength in trained men."
PRESSES = "Bench presses increased chest thickness in women."
WORDS = "squat press row muscle strength protein sleep rest load volume week man woman growth fat".split()


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    search._held.clear()


@pytest.fixture
def in_database(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each search that PostgreSQL made."""
    calls: list[int] = []
    search_there = legs.find

    def counted(*arguments: Any, **options: Any) -> records.Found:
        calls.append(len(calls))
        return search_there(*arguments, **options)

    monkeypatch.setattr(legs, "find", counted)
    return calls


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the time on."""
    now = [1000.0]
    monkeypatch.setattr(search.time, "monotonic", lambda: now[0])
    return lambda seconds: now.append(now.pop() + seconds)


def new_version() -> None:
    CorpusVersion.objects.create(number=CorpusVersion.objects.count() + 1, at=timezone.now(), summary="a change")


def publish(*texts: str, **fields: Any) -> Study:
    study = make_study(texts=texts, **fields)
    indexing.index_stale()
    new_version()
    return study


def find(text: str, **options: Any) -> records.Found:
    vector = search.encode_question(text)
    with search.snapshot():
        return search.find(text, vector, **options)


def assert_equal(found: records.Found, expected: records.Found) -> None:
    assert found.hits.ids.tolist() == expected.hits.ids.tolist()
    assert found.hits.bm25 == pytest.approx(expected.hits.bm25, abs=2e-9)
    assert found.hits.cosines == pytest.approx(expected.hits.cosines, abs=2e-6, nan_ok=True)
    for own, theirs in ((found.lexical, expected.lexical), (found.dense, expected.dense)):
        assert (own.ok, own.candidates, own.error) == (theirs.ok, theirs.candidates, theirs.error)
        assert (own.lowest, own.highest) == pytest.approx((theirs.lowest, theirs.highest), abs=2e-6)
    assert (found.corpus_version, found.lexemes, found.document_frequency, found.searchable_passages) == (
        expected.corpus_version, expected.lexemes, expected.document_frequency, expected.searchable_passages,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_what_is_held_is_searched_as_the_database_searches(seed: int, in_database: list[int]) -> None:
    dice = random.Random(seed)
    other = make_collection("other")
    for number in range(6):
        make_study(
            title=" ".join(dice.choices(WORDS, k=4)),
            texts=tuple(" ".join(dice.choices(WORDS, k=dice.randint(3, 40))) for _ in range(5)),
            **({"collection": other} if number % 2 else {}),
        )
    make_study(texts=("Squats in a draft.",), status="draft")
    publish("Squats and squats again.", notice="retracted")
    for text in ("protein growth in women after squats and squats", "sleep unheardof", "of the", "load"):
        for options in ({}, {"collection": "other"}, {"limit": 3, "k1": 0.7, "b": 0.4}, {"collection": "none"}):
            vector = search.encode_question(text)

            found = find(text, **options)
            assert in_database == []
            expected = legs.find(
                text, lambda v=vector: (v, None), encoder=search.encoder_name(), is_one_view=False,
                **{"collection": None, "limit": 200} | options,
            )  # fmt: skip
            in_database.clear()

            assert_equal(found, expected)


def test_without_a_vector_the_words_still_answer(in_database: list[int]) -> None:
    publish(SQUATS, PRESSES)
    with search.snapshot():
        found = search.find("squats", None, dense_error="The encoder is not installed.")

    assert [hit.cosine for hit in found.hits] == [None]
    assert found.lexical.ok
    assert found.dense == records.Leg(ok=False, candidates=0, error="The encoder is not installed.")
    assert in_database == []


def test_a_change_is_searched_with_its_version(in_database: list[int]) -> None:
    study = publish(SQUATS)
    assert [hit.bm25 > 0 for hit in find("squats").hits] == [True]

    publish("Squats at last.", study_id="S900")
    assert [hit.bm25 > 0 for hit in find("squats").hits] == [True, True]

    study.delete()
    new_version()
    assert len(find("squats").hits) == 1
    assert in_database == []


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"notice": "retracted"}])
def test_what_is_taken_back_is_not_found_any_more(state: dict[str, str], in_database: list[int]) -> None:
    study = publish(SQUATS)
    publish(PRESSES, study_id="S900")
    assert len(find("squats and presses").hits) == 2

    Study.objects.filter(pk=study.pk).update(**state)
    indexing.index_stale()
    indexing.sync_study(study)
    new_version()

    assert len(find("squats and presses").hits) == 1


def test_a_question_of_an_older_view_is_searched_as_it_was() -> None:
    publish(SQUATS)
    vector = search.encode_question("squats")
    with search.snapshot():
        before = search.find("squats", vector)
        again = search.find("squats", vector)

    assert_equal(again, before)
    assert before.corpus_version == 1


def test_while_a_passage_waits_for_its_vector_the_database_searches(
    in_database: list[int], clock: Callable[[float], None]
) -> None:
    publish(SQUATS)
    waiting = make_study(texts=("Squats in no time.",), study_id="S900")
    indexing.sync_study(waiting)
    new_version()

    found = find("squats")
    assert sorted(hit.cosine is None for hit in found.hits) == [False, True]
    assert in_database == [0]

    indexing.index_stale()
    assert all(hit.cosine is not None for hit in find("squats").hits)
    assert in_database == [0, 1]  # it is looked again in a while

    clock(search.LOOK_AGAIN_SECONDS)
    assert all(hit.cosine is not None for hit in find("squats").hits)
    assert in_database == [0, 1]


def test_of_a_large_corpus_nothing_is_held(in_database: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "PASSAGES_MOST", 1)
    publish(SQUATS, PRESSES)

    assert len(find("squats").hits) == 2
    assert in_database == [0]


def test_an_empty_corpus_has_no_hits() -> None:
    new_version()

    assert find("squats").hits == ()


def test_a_failure_leaves_the_search_to_the_database(in_database: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    publish(SQUATS)
    encoded: list[str] = []
    vector = search.encode_question("squats")
    monkeypatch.setattr(held, "_POSTINGS", held._POSTINGS.replace("corpus_app_passageterm", "no_such_table"))

    with search.snapshot():
        found = search.find_while("squats", lambda: (encoded.append("squats"), (vector, None))[1])

    assert [(hit.bm25 > 0, hit.cosine is not None) for hit in found.hits] == [(True, True)]
    assert (encoded, in_database) == (["squats"], [0])


@pytest.mark.parametrize("vector", [[1.0, 0.0], [float("nan")] * 64])
def test_a_vector_that_does_not_fit_is_left_to_the_database(vector: list[float], in_database: list[int]) -> None:
    publish(SQUATS)

    with search.snapshot():
        found = search.find("squats", vector)

    assert found.lexical.ok
    assert in_database == [0]


def test_each_encoder_searches_what_is_held_of_its_own(in_database: list[int]) -> None:
    publish(SQUATS, PRESSES)
    before = find("squats")

    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        indexing.index_stale()
        other = find("squats")

    assert other.hits.cosines.tolist() != before.hits.cosines.tolist()
    assert_equal(find("squats"), before)
    assert in_database == []


def test_words_that_stand_nowhere_are_not_kept() -> None:
    publish(SQUATS)
    find("squats hfjdkshf")

    passages, _ = list(search._held.values())[-1]
    assert list(passages.postings) == ["squat"]


def test_the_same_vector_is_equally_close_in_any_row() -> None:
    vectors = np.random.default_rng(7).normal(size=(9, 384)).astype(">f2")
    vectors[8] = vectors[0]
    rows = [(pk, "training", 5.0, b"head" + vector.tobytes()) for pk, vector in enumerate(vectors, start=1)]

    cosines = held._held("any", 1, rows)._cosines(vectors[0].astype(float).tolist())

    assert cosines[0] == cosines[8]
    assert len(set(cosines.tolist())) == 8


def test_what_is_not_held_and_yet_found_is_left_to_the_database(in_database: list[int]) -> None:
    publish(SQUATS)
    find("leg")
    late = make_study(texts=("Squats in no time.",), study_id="S900")
    indexing.index_stale()
    indexing.sync_study(late)  # without a new version

    assert len(find("squats").hits) == 2
    assert in_database == [0]
    assert len(find("squats").hits) == 2
    assert in_database == [0]


def test_vectors_embedded_anew_are_searched_in_a_while(clock: Callable[[float], None]) -> None:
    publish(SQUATS)
    (before,) = find("squats").hits
    vector = PassageVector.objects.get()
    PassageVector.objects.update(vector=HalfVector([-number for number in vector.vector]))
    assert find("squats").hits == (before,)

    clock(search.HELD_SECONDS)

    (after,) = find("squats").hits
    assert after.cosine == pytest.approx(-before.cosine, abs=1e-5)


def test_an_error_while_encoding_is_that_of_the_search(in_database: list[int]) -> None:
    publish(SQUATS)
    times: list[int] = []

    def fail() -> Any:
        times.append(1)
        raise ValueError("No such thing.")

    with search.snapshot(), pytest.raises(ValueError, match="No such thing"):
        search.find_while("squats", fail)

    assert (times, in_database) == ([1], [])


def test_two_versions_are_held_and_no_more() -> None:
    for number in range(4):
        publish(SQUATS, study_id=f"S90{number}")
        find("squats")

    assert [version[0] for version, _ in search._held] == [3, 4]


def test_passages_without_words_are_compared_by_meaning() -> None:
    publish("Of the and.", title="The")

    assert len(find("squats of the").hits) == 1


def test_no_more_is_held_than_the_statistics_say() -> None:
    publish(SQUATS, PRESSES)
    PassageTerm.objects.filter(lexeme="", passage=Study.objects.get().passages.first()).delete()

    with search.snapshot():
        assert held.read(search.encoder_name(), 1) is None
