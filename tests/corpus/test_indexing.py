import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation, embedding, indexing, passages, search, tasks
from corpus_app.embedding import Matrix
from corpus_app.indexing.planner_statistics import update_planner_statistics
from corpus_app.models import ApproximateIndex, Passage, PassageSentence, PassageVector, Study, StudyText
from tests.builders import make_collection, make_passage, make_study
from tests.fakes import WordHashEncoder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]

TWO_SENTENCES = "Ten weekly sets increased quadriceps thickness. Five sets increased it less."


def edit(passage: Passage, text: str) -> None:
    """What the writing door does: text and hash, then everything derived."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=passage.study_id)
        Passage.objects.filter(pk=passage.pk).update(
            text=text, content_hash=passages.content_hash(heading=passage.heading, text=text)
        )
        indexing.sync_studies([passage.study.pk])


def change(study: Study, **values: str) -> None:
    with transaction.atomic():
        Study.objects.filter(pk=study.pk).update(**values)
        indexing.sync_studies([study.pk])


def found_by(text: str) -> set[int]:
    return {hit.passage_id for hit in search.find(text, None).hits}


def test_an_edit_takes_effect_at_once_in_both_legs() -> None:
    passage = make_passage(heading="A trial", text="Squats built strength.")
    indexing.index_stale()

    edit(passage, "Presser built strength.")  # the sentence keeps its place
    assert set(PassageSentence.objects.values_list("encoder", flat=True)) == {""}
    edit(passage, "Presses built strength.")

    assert found_by("squats") == set()
    assert found_by("presses") == {passage.pk}
    assert not PassageVector.objects.filter(passage=passage).exists()
    assert not PassageSentence.objects.exclude(encoder="").exists()


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"status": "draft"}, {"notice": "retracted"}])
def test_a_study_leaves_search_at_once_and_returns_without_embedding(state: dict[str, str]) -> None:
    study = make_study(texts=(TWO_SENTENCES,))
    indexing.index_stale()
    vector = search.encode_question("quadriceps")
    assert search.find("quadriceps", vector).hits

    change(study, **state)
    assert search.find("quadriceps", vector).hits == ()
    assert indexing.audit() == []

    change(study, status="published", notice="none")
    (hit,) = search.find("quadriceps", vector).hits
    assert hit.bm25 > 0
    assert hit.cosine is not None
    assert not indexing.has_work()


def test_every_passage_and_sentence_gets_its_vector_once(encoder: WordHashEncoder) -> None:
    make_study(status="withdrawn")
    assert not indexing.has_work()
    passage = make_passage(heading="A trial", text=TWO_SENTENCES)
    draft = make_study(status="draft", texts=(TWO_SENTENCES,))

    assert indexing.index_stale().count == 2

    vector = PassageVector.objects.get(passage=passage)
    assert (vector.content_hash, vector.searchable) == (passage.content_hash, True)
    assert np.allclose(vector.vector, encoder.encode([f"A trial\n{TWO_SENTENCES}"])[0], atol=1e-3)  # of sixteen bits
    assert PassageVector.objects.get(passage__study=draft).searchable is False
    assert indexing.progress() == indexing.Progress(done=2, total=2)
    assert indexing.audit() == []
    encoder.calls.clear()
    change(passage.study, notice="corrected")
    assert indexing.index_stale().count == 0
    assert encoder.calls == []


def test_vectors_of_another_encoder_stay_until_all_are_made_anew(encoder: WordHashEncoder) -> None:
    make_study()
    indexing.index_stale()
    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        assert indexing.has_work()
        indexing.index_stale()
        assert indexing.audit() == []
    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {encoder.name, "other@test"}

    assert indexing.index_all() == indexing.Indexed(1)
    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {encoder.name}
    assert indexing.audit() == []


class Meddler(WordHashEncoder):
    """Encodes only after somebody else has done something."""

    def __init__(self, meddle: Callable[[], None]) -> None:
        super().__init__()
        self._meddle: Callable[[], None] | None = meddle

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        rows = super().encode(texts, threads=threads)
        if set(texts) <= set(StudyText.objects.values_list("text", flat=True)):
            return rows  # the short texts come first
        meddle, self._meddle = self._meddle, None
        if meddle:
            meddle()
        return rows


def test_an_edit_during_embedding_leaves_no_stale_vector() -> None:
    passage = make_passage(heading="", text="Squats built strength.")

    with embedding.use(Meddler(lambda: edit(passage, "Presses built strength."))) as meddler:
        indexing.index_stale()

        assert [row.content_hash for row in PassageVector.objects.all()] == [Passage.objects.get().content_hash]
        new = meddler.encode(["Presses built strength."])[0]
        assert np.allclose(PassageVector.objects.get().vector, new, atol=1e-3)
        assert indexing.audit() == []


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"notice": "retracted"}])
def test_status_changes_during_embedding_take_effect(state: dict[str, str]) -> None:
    study = make_study(texts=(TWO_SENTENCES,))

    with embedding.use(Meddler(lambda: change(study, **state))):
        indexing.index_stale()

        assert not PassageVector.objects.filter(searchable=True).exists()
        assert indexing.audit() == []
    draft = make_study(status="draft")
    with embedding.use(Meddler(lambda: change(draft, status="published"))):
        indexing.index_stale()

        assert PassageVector.objects.get(passage__study=draft).searchable is True
        assert indexing.audit() == []


@pytest.mark.django_db(transaction=True)
def test_vectors_wait_for_an_edit_in_progress() -> None:
    passage = make_passage(heading="", text="Squats built strength.")
    encoded, edited = threading.Event(), threading.Event()

    def wait() -> None:
        encoded.set()
        assert edited.wait(10)

    def curate() -> None:
        try:
            assert encoded.wait(10)
            with transaction.atomic():
                edit(passage, "Presses built strength.")
                edited.set()  # the vector of the old text is written while this transaction is open
                connection.cursor().execute("SELECT pg_sleep(0.2)")
        finally:
            connection.close()

    curator = threading.Thread(target=curate)
    curator.start()
    with embedding.use(Meddler(wait)):
        indexing.index_stale()
        curator.join()

        assert indexing.audit() == []
    assert found_by("squats") == set()


class Faulty(WordHashEncoder):
    """Fails where a text names a fault."""

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        words = " ".join(texts)
        if "poison" in words:
            raise RuntimeError("no such token")
        if "away" in words:
            raise embedding.EncoderUnavailable("The weights are missing.")
        return super().encode(texts, threads=threads) * np.float32("nan" if "endless" in words else 1)


def test_a_text_that_breaks_the_encoder_does_not_stop_the_others() -> None:
    study = make_study(texts=("Some poison here.", "A good text.", "Another one."))
    poison = study.passages.get(position=0)

    with embedding.use(Faulty()):
        runs = [indexing.index_stale() for _ in range(indexing.MAX_ATTEMPTS + 1)]

        assert [run.count for run in runs] == [2, 0, 0, 0]
        assert [run.failed for run in runs] == [(poison.pk,)] * indexing.MAX_ATTEMPTS + [()]
        poison.refresh_from_db()
        assert (poison.index_attempts, poison.index_error) == (indexing.MAX_ATTEMPTS, "RuntimeError: no such token")
        assert indexing.progress() == indexing.Progress(done=2, total=3)
        assert any("could not be indexed" in problem for problem in indexing.audit())
        assert not indexing.has_work()
        edit(poison, "A sound text.")
        assert indexing.index_stale() == indexing.Indexed(1)
        assert indexing.audit() == []


def test_bad_vectors_are_refused_and_an_absent_encoder_costs_no_attempt() -> None:
    passage = make_passage(text="An endless vector.")
    with embedding.use(Faulty()):
        assert indexing.index_stale().failed == (passage.pk,)
        assert not PassageVector.objects.exists()

        edit(passage, "It is away.")
        with pytest.raises(embedding.EncoderUnavailable):
            indexing.index_stale()
    assert Passage.objects.get().index_attempts == 0
    assert indexing.has_work()


@pytest.fixture
def crowd(encoder: WordHashEncoder) -> list[int]:
    """Four hundred passages with vectors in clusters, as those of texts are."""
    study = make_study(texts=())
    numbers = range(400)
    Passage.objects.bulk_create(
        Passage(study=study, position=n, section="results", text=f"text {n}", content_hash=f"{n:064}") for n in numbers
    )
    ids = list(Passage.objects.order_by("position").values_list("pk", flat=True))
    dice = np.random.default_rng(0)
    rows = np.repeat(dice.standard_normal((8, 32)), 50, axis=0) + 0.7 * dice.standard_normal((400, 32))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    shared = {"collection": study.collection, "encoder": encoder.name}
    PassageVector.objects.bulk_create(
        PassageVector(passage_id=pk, content_hash=f"{n:064}", searchable=n % 10 != 0, vector=rows[n], **shared)
        for n, pk in enumerate(ids)
    )
    PassageSentence.objects.bulk_create(
        PassageSentence(passage_id=pk, position=0, start=0, end=4, encoder=encoder.name, vector=rows[n])
        for n, pk in enumerate(ids)
    )
    connection.check_constraints()  # an index cannot be built while some wait for the end of the transaction
    return ids


@pytest.fixture
def from_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus_app.models.ANN_FROM", 100)


@pytest.mark.usefixtures("from_100", "crowd")
def test_the_indexes_of_another_encoder_go(encoder: WordHashEncoder) -> None:
    former = indexing.maintain_ann([encoder.name])
    assert [row.collection for row in former] == ["", Study.objects.get().collection_id]
    assert indexing.maintain_ann([encoder.name]) == ()
    PassageVector.objects.update(encoder="next@test")
    connection.check_constraints()

    with embedding.use(WordHashEncoder("next@test")):
        present = indexing.maintain_ann(["next@test"])

    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname ~ '^(vector|text)_ann_'")
        assert {name for (name,) in cursor.fetchall()} == {row.name for row in present}
    assert not {row.name for row in former} & {row.name for row in present}
    Study.objects.update(status="withdrawn")
    indexing.maintain_ann(["next@test"])
    assert not ApproximateIndex.objects.exists()


def scans(index: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_numscans(to_regclass(%s))", [index])
        return int(cursor.fetchone()[0])


def drop_indexes(names: list[str]) -> None:
    with connection.cursor() as cursor:
        for name in names:
            cursor.execute(f'DROP INDEX IF EXISTS "{name}"')


@pytest.mark.django_db(transaction=True)  # an index is of no use to the transaction that updated its rows
def test_a_large_corpus_uses_its_index(
    crowd: list[int], monkeypatch: pytest.MonkeyPatch, encoder: WordHashEncoder, request: pytest.FixtureRequest
) -> None:
    indexing.sync_studies([Study.objects.get().pk])
    PassageVector.objects.update(searchable=True)
    vector = tuple(PassageVector.objects.get(passage=crowd[7]).vector)
    collections = (None, Study.objects.get().collection_id)
    exact = [search.find("text 367", vector, collection=one, limit=50) for one in collections]
    assert indexing.maintain_ann([encoder.name]) == ()
    monkeypatch.setattr("corpus_app.models.ANN_FROM", 100)
    rows = indexing.maintain_ann([encoder.name])
    request.addfinalizer(lambda: drop_indexes([row.name for row in rows]))
    assert [row.vectors for row in rows] == [400, 400]
    assert all(row.recall >= 0.98 for row in rows)
    with transaction.atomic(), connection.cursor() as cursor:
        # So few rows are sooner read and sorted than looked up.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
        before = scans(rows[0].name)
        near = [search.find("text 367", vector, collection=one, limit=50) for one in collections]
        assert scans(rows[0].name) > before

    for wanted, found in zip(exact, near, strict=True):
        by_meaning = [{hit.passage_id for hit in hits if hit.cosine > 0.5} for hits in (wanted.hits, found.hits)]
        assert len(by_meaning[0] & by_meaning[1]) >= 0.95 * len(by_meaning[0])
        assert all(hit.cosine is not None for hit in found.hits)
        assert found.lexical == wanted.lexical


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("from_100")
def test_a_build_blocks_neither_search_nor_publishing(
    crowd: list[int], encoder: WordHashEncoder, client: Client
) -> None:
    def build() -> int:
        try:
            return len(indexing.maintain_ann([encoder.name]))
        finally:
            connection.close()

    client.force_login(User.objects.create_superuser("c"))
    study = Study.objects.get()
    with psycopg.connect(**connection.get_connection_params()) as old, ThreadPoolExecutor(1) as pool:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        old.execute("SELECT count(*) FROM corpus_app_passagevector")  # a build waits for views as old as this
        building = pool.submit(build)
        until = time.monotonic() + 30
        while indexing.build_progress() is None and time.monotonic() < until:
            time.sleep(0.1)

        change(study, notice="retracted")
        assert found_by("text 367") == set()
        change(study, notice="none")
        assert found_by("text 367")
        assert indexing.maintain_ann([encoder.name]) == ()
        update_planner_statistics()
        assert "Being built" in client.get(reverse("admin:corpus_app_encoder"), secure=True).content.decode()
        assert not building.done()
        old.rollback()
        assert building.result(timeout=60) == 2
    assert "of the 20 nearest" in client.get(reverse("admin:corpus_app_encoder"), secure=True).content.decode()
    indexing.maintain_ann([])  # the database is used again
    assert not ApproximateIndex.objects.exists()


class Deadly(WordHashEncoder):
    """Ends the process where a text is poison, as the system ends one that takes too much memory."""

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        if "poison" in " ".join(texts):
            raise SystemExit
        return super().encode(texts, threads=threads)


def test_a_text_that_ends_the_worker_is_tried_alone_and_at_last_set_aside() -> None:
    study = make_study(texts=("Some poison here.", "A good text."))
    for _ in range(10):
        with embedding.use(Deadly()), suppress(SystemExit):
            indexing.index_stale()

    assert not indexing.has_work()
    assert list(PassageVector.objects.values_list("passage__position", flat=True)) == [1]
    assert study.passages.get(position=0).index_error == "the worker ended while it embedded this text"
    assert "could not be indexed" in str(indexing.audit())


ROWS_READ = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables"


def grow(count: int, encoder: WordHashEncoder) -> None:
    """Add published studies of one passage each, with all their vectors."""
    collection = make_collection()
    studies = Study.objects.bulk_create(
        Study(study_id=f"G{Study.objects.count()}-{n}", title=f"Growth {n}", year=2020, collection=collection,
              status="published", design="other")
        for n in range(count)
    )  # fmt: skip
    Passage.objects.bulk_create(
        Passage(study=study, position=0, section="results", text=f"Text of {study}.", content_hash=f"{study.pk:064}")
        for study in studies
    )
    indexing.sync_studies([study.pk for study in studies])
    indexing.index_stale()


def test_publishing_into_ten_times_the_corpus_reads_no_more_of_it(encoder: WordHashEncoder) -> None:
    def publish(study_id: str) -> int:
        """Return how many rows are read until a new study is found by its meaning and nothing waits any more."""
        with connection.cursor() as cursor:
            cursor.execute(ROWS_READ)
            (before,) = cursor.fetchone()
            curation.create_study(
                study_id, by=None, by_name="t", collection=make_collection(), title=study_id, year=2020, design="other"
            )
            curation.add_passage(study_id, by=None, by_name="t", text="Squats helped.", section="results")
            curation.publish([study_id], by=None, by_name="t")
            tasks.index_stale_passages()
            assert indexing.count_late(timezone.now()) == 0
            assert not indexing.has_work()
            cursor.execute(ROWS_READ)
            return cursor.fetchone()[0] - before

    grow(30, encoder)
    with connection.cursor() as cursor:  # small tables would be read whole, though there is an index
        for way in ("seqscan", "hashjoin", "mergejoin"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
    publish("N0")  # what is done once in a process

    small = publish("N1")
    grow(300, encoder)
    assert publish("N2") < 1.5 * small
