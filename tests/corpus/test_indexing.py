from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from django.db import connection, transaction

from corpus_app import embedding, indexing, passages, search
from corpus_app.embedding import Matrix
from corpus_app.indexing import approximate
from corpus_app.models import Passage, PassageSentence, PassageTerm, PassageVector, Study, StudyText
from corpus_app.records import TextKind
from corpus_app.search import hybrid
from tests.builders import make_collection, make_passage, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

TWO_SENTENCES = "Ten weekly sets increased quadriceps thickness. Five sets increased it less."


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


def edit(passage: Passage, text: str) -> None:
    """What the writing door does: text and hash, then everything derived."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=passage.study_id)
        Passage.objects.filter(pk=passage.pk).update(
            text=text, content_hash=passages.content_hash(heading=passage.heading, text=text)
        )
        indexing.sync_study(passage.study)


def change(study: Study, **values: str) -> None:
    with transaction.atomic():
        Study.objects.filter(pk=study.pk).update(**values)
        indexing.sync_study(study)


def found_by(text: str) -> set[int]:
    return {hit.passage_id for hit in search.find(text, None).hits}


# --- In step with every write


def test_a_new_passage_is_cut_into_sentences_that_wait_for_vectors() -> None:
    passage = make_passage(text=TWO_SENTENCES)

    rows = PassageSentence.objects.filter(passage=passage).values_list("start", "end", "vector")
    assert [TWO_SENTENCES[start:end] for start, end, _ in rows] == [
        "Ten weekly sets increased quadriceps thickness.",
        "Five sets increased it less.",
    ]
    assert {vector for *_, vector in rows} == {None}


def test_a_published_passage_is_found_by_its_words_before_it_is_embedded() -> None:
    passage = make_passage(text=TWO_SENTENCES)

    assert found_by("quadriceps") == {passage.pk}


@pytest.mark.parametrize(
    "state", [{"status": "draft"}, {"status": "in_review"}, {"status": "withdrawn"}, {"notice": "retracted"}]
)
def test_what_is_not_searchable_has_no_terms(state: dict[str, str]) -> None:
    make_study(**state)

    assert not PassageTerm.objects.exists()


def test_terms_count_words_of_the_heading_more() -> None:
    passage = make_passage(heading="Squats", text="Squats and presses. Squats again.")

    frequency = dict(PassageTerm.objects.filter(passage=passage).values_list("lexeme", "frequency"))
    assert frequency == {"": 0, "squat": indexing.HEADING_WEIGHT + 2, "press": 1}
    assert set(PassageTerm.objects.filter(passage=passage).values_list("length", flat=True)) == {
        indexing.HEADING_WEIGHT + 2 + 1
    }


def test_a_passage_of_stop_words_still_counts_as_a_passage() -> None:
    make_passage(heading="", text="It was not so.")

    assert search.find("squats", None).searchable_passages == 1


def test_an_edit_takes_effect_at_once_in_both_legs() -> None:
    passage = make_passage(heading="A trial", text="Squats built strength.")
    indexing.index_stale()

    edit(passage, "Presses built strength.")

    assert found_by("squats") == set()
    assert found_by("presses") == {passage.pk}
    assert not PassageVector.objects.filter(passage=passage).exists()
    assert not PassageSentence.objects.exclude(encoder="").exists()


def test_an_edit_that_keeps_the_spans_still_drops_the_sentence_vectors() -> None:
    passage = make_passage(text="They did 5 sets. It helped.")
    indexing.index_stale()

    edit(passage, "They did 6 sets. It helped.")

    assert set(PassageSentence.objects.filter(passage=passage).values_list("encoder", flat=True)) == {""}


def test_a_write_that_changes_no_text_keeps_the_vectors() -> None:
    study = make_study()
    indexing.index_stale()

    change(study, notice="corrected")

    assert not indexing.has_work()
    assert indexing.audit() == []


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"status": "draft"}, {"notice": "retracted"}])
def test_a_study_that_leaves_search_is_gone_in_the_same_transaction(state: dict[str, str]) -> None:
    study = make_study(texts=(TWO_SENTENCES,))
    indexing.index_stale()
    vector = search.encode_question("quadriceps")
    assert search.find("quadriceps", vector).hits

    with transaction.atomic():
        change(study, **state)

        assert search.find("quadriceps", vector).hits == ()
    assert indexing.audit() == []


def test_a_study_that_comes_back_is_searchable_without_being_embedded_again() -> None:
    study = make_study(texts=(TWO_SENTENCES,))
    indexing.index_stale()
    change(study, notice="retracted")

    change(study, notice="none")

    (hit,) = search.find("quadriceps", search.encode_question("quadriceps")).hits
    assert hit.bm25 > 0
    assert hit.cosine is not None
    assert not indexing.has_work()


def test_a_study_that_changes_its_collection_takes_vectors_and_terms_along() -> None:
    study = make_study()
    indexing.index_stale()
    make_collection("nutrition")

    change(study, collection="nutrition")

    assert set(PassageVector.objects.values_list("collection", flat=True)) == {"nutrition"}
    assert set(PassageTerm.objects.values_list("collection", flat=True)) == {"nutrition"}
    assert indexing.audit() == []


# --- In the background


def test_indexing_gives_every_passage_and_sentence_its_vector(encoder: WordHashEncoder) -> None:
    passage = make_passage(heading="A trial", text=TWO_SENTENCES)

    indexed = indexing.index_stale()

    assert indexed == indexing.Indexed(1)
    vector = PassageVector.objects.get(passage=passage)
    assert vector.content_hash == passage.content_hash
    assert np.allclose(vector.vector, encoder.encode([f"A trial\n{TWO_SENTENCES}"])[0], atol=1e-3)  # of sixteen bits
    assert indexing.progress() == indexing.Progress(done=1, total=1)
    assert indexing.audit() == []


def test_drafts_are_embedded_but_not_searchable() -> None:
    make_study(status="draft", texts=(TWO_SENTENCES,))

    indexing.index_stale()

    assert PassageVector.objects.get().searchable is False
    assert search.find("quadriceps", search.encode_question("quadriceps")).hits == ()


def test_withdrawn_studies_are_left_alone() -> None:
    make_study(status="withdrawn")

    assert not indexing.has_work()
    assert indexing.progress() == indexing.Progress(done=0, total=0)


def test_a_second_run_does_nothing(encoder: WordHashEncoder) -> None:
    make_study(texts=(TWO_SENTENCES, "Another text."))
    indexing.index_stale()
    encoder.calls.clear()

    assert indexing.index_stale() == indexing.Indexed(0)
    assert encoder.calls == []


def test_another_encoder_means_new_vectors_and_the_old_ones_stay_for_a_return() -> None:
    make_study()
    indexing.index_stale()

    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        assert indexing.has_work()
        indexing.index_stale()
        assert indexing.audit() == []

    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {"word-hash@test", "other@test"}


def test_indexing_all_drops_the_vectors_of_other_encoders(encoder: WordHashEncoder) -> None:
    make_study()
    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        indexing.index_stale()

    assert indexing.index_all() == indexing.Indexed(1)
    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {encoder.name}
    assert indexing.audit() == []


def test_progress_is_told_after_each_batch() -> None:
    make_study(texts=tuple(f"Text number {number}." for number in range(indexing.BATCH + 1)))
    told: list[indexing.Progress] = []

    indexing.index_stale(on_progress=told.append)

    total = indexing.BATCH + 1
    assert told == [indexing.Progress(indexing.BATCH, total), indexing.Progress(total, total)]


def test_a_run_out_of_time_says_so_and_the_next_one_goes_on() -> None:
    make_study(texts=tuple(f"Text number {number}." for number in range(indexing.BATCH + 1)))

    assert indexing.index_stale(seconds=0) == indexing.Indexed(indexing.BATCH, is_cut_short=True)
    assert indexing.index_stale() == indexing.Indexed(1)


# --- Races


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
        assert np.allclose(
            PassageVector.objects.get().vector, meddler.encode(["Presses built strength."])[0], atol=1e-3
        )
        assert indexing.audit() == []


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"notice": "retracted"}])
def test_a_study_that_leaves_search_during_embedding_is_not_searchable_after_it(state: dict[str, str]) -> None:
    study = make_study(texts=(TWO_SENTENCES,))

    with embedding.use(Meddler(lambda: change(study, **state))):
        indexing.index_stale()

        assert not PassageVector.objects.filter(searchable=True).exists()
        assert indexing.audit() == []


def test_a_draft_that_is_published_during_embedding_is_searchable_after_it() -> None:
    study = make_study(status="draft")

    with embedding.use(Meddler(lambda: change(study, status="published"))):
        indexing.index_stale()

        assert PassageVector.objects.get().searchable is True
        assert indexing.audit() == []


def test_a_study_that_is_deleted_during_embedding_leaves_nothing() -> None:
    study = make_study()

    with embedding.use(Meddler(lambda: Study.objects.filter(pk=study.pk).delete() and None)):
        assert indexing.index_stale() == indexing.Indexed(0)

    assert not PassageVector.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_curator_at_work_holds_the_writing_of_vectors_until_it_is_known_what_is_true() -> None:
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


# --- What cannot be encoded


class Choosy(WordHashEncoder):
    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        if any("poison" in text for text in texts):
            raise RuntimeError("no such token")
        return super().encode(texts, threads=threads)


def test_a_text_that_breaks_the_encoder_is_given_up_and_the_others_are_indexed() -> None:
    study = make_study(texts=("Some poison here.", "A good text.", "Another one."))
    poison = study.passages.get(position=0)

    with embedding.use(Choosy()):
        runs = [indexing.index_stale() for _ in range(indexing.MAX_ATTEMPTS + 1)]

        assert [run.count for run in runs] == [2, 0, 0, 0]
        assert [run.failed for run in runs] == [(poison.pk,)] * indexing.MAX_ATTEMPTS + [()]
        poison.refresh_from_db()
        assert (poison.index_attempts, poison.index_error) == (indexing.MAX_ATTEMPTS, "RuntimeError: no such token")
        assert indexing.progress() == indexing.Progress(done=2, total=3)
        assert any("could not be indexed" in problem for problem in indexing.audit())


def test_a_text_that_was_given_up_is_tried_again_when_it_changes() -> None:
    passage = make_passage(text="Some poison here.")
    with embedding.use(Choosy()):
        for _ in range(indexing.MAX_ATTEMPTS):
            indexing.index_stale()
        assert not indexing.has_work()

        edit(passage, "A good text.")

        assert indexing.index_stale() == indexing.Indexed(1)
        assert indexing.audit() == []


def test_indexing_all_tries_again_what_was_given_up() -> None:
    make_passage(text="Some poison here.")
    with embedding.use(Choosy()):
        for _ in range(indexing.MAX_ATTEMPTS):
            indexing.index_stale()

    assert indexing.index_all() == indexing.Indexed(1)
    assert indexing.audit() == []


def test_a_vector_that_is_not_of_unit_length_is_refused() -> None:
    class Broken(WordHashEncoder):
        def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
            return super().encode(texts) * np.float32("nan")

    passage = make_passage()
    with embedding.use(Broken()):
        assert indexing.index_stale() == indexing.Indexed(0, failed=(passage.pk,))

    assert not PassageVector.objects.exists()


def test_an_encoder_that_is_away_costs_no_attempt() -> None:
    class Away(WordHashEncoder):
        def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
            raise embedding.EncoderUnavailable("The weights are missing.")

    make_passage()
    with embedding.use(Away()), pytest.raises(embedding.EncoderUnavailable):
        indexing.index_stale()

    assert Passage.objects.get().index_attempts == 0
    assert indexing.has_work()


# --- Taking turns


@pytest.mark.django_db(transaction=True)
def test_one_process_at_a_time_has_the_turn() -> None:
    answers: list[bool] = []

    def ask() -> None:
        try:
            with indexing.index_lock() as ours:
                answers.append(ours)
        finally:
            connection.close()

    with indexing.index_lock() as ours:
        assert ours
        other = threading.Thread(target=ask)
        other.start()
        other.join()
    after = threading.Thread(target=ask)
    after.start()
    after.join()

    assert answers == [False, True]


@pytest.mark.django_db(transaction=True)
def test_whether_a_turn_is_taken_can_be_seen() -> None:
    assert not indexing.is_under_way()

    with indexing.index_lock():
        assert indexing.is_under_way()

    assert not indexing.is_under_way()


# --- Approximate indexes


@pytest.fixture
def crowd(encoder: WordHashEncoder) -> list[int]:
    """Two thousand passages with vectors in clusters, as those of texts are."""
    study = make_study(texts=())
    numbers = range(2_000)
    Passage.objects.bulk_create(
        Passage(study=study, position=n, section="results", text=f"text {n}", content_hash=f"{n:064}") for n in numbers
    )
    ids = list(Passage.objects.order_by("position").values_list("pk", flat=True))
    dice = np.random.default_rng(0)
    centres = dice.standard_normal((40, 32))
    rows = np.repeat(centres, 50, axis=0) + 0.7 * dice.standard_normal((2_000, 32))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    PassageVector.objects.bulk_create(
        PassageVector(
            passage_id=pk,
            collection=study.collection,
            encoder=encoder.name,
            content_hash=f"{n:064}",
            searchable=n % 10 != 0,
            vector=rows[n],
        )
        for n, pk in enumerate(ids)
    )
    PassageSentence.objects.bulk_create(
        PassageSentence(passage_id=pk, position=0, start=0, end=4, encoder=encoder.name, vector=rows[n])
        for n, pk in enumerate(ids)
    )
    connection.check_constraints()  # an index cannot be built while some wait for the end of the transaction
    return ids


def test_the_approximate_index_finds_nearly_all_that_is_near(crowd: list[int]) -> None:
    names = indexing.build_ann()

    recall = indexing.measure_ann(questions=40)

    assert len(names) == 2 + len(TextKind)
    assert recall.questions == 40
    assert recall.share >= 0.98


def test_the_indexes_of_another_encoder_go(crowd: list[int]) -> None:
    former = indexing.build_ann()
    PassageVector.objects.update(encoder="next@test")
    connection.check_constraints()

    with embedding.use(WordHashEncoder("next@test")):
        present = indexing.build_ann()

    with connection.cursor() as cursor:
        cursor.execute(approximate.ANN_INDEX_NAMES)
        assert {name for (name,) in cursor.fetchall()} == set(present)
    assert not set(former) & set(present)


def test_without_vectors_there_is_nothing_to_build(encoder: WordHashEncoder) -> None:
    make_study()

    assert indexing.build_ann() == ()
    assert indexing.measure_ann() == indexing.Recall(0, 1.0)


@pytest.mark.parametrize("in_collection", [False, True])
def test_a_large_corpus_is_searched_by_the_index(
    crowd: list[int], monkeypatch: pytest.MonkeyPatch, in_collection: bool
) -> None:
    indexing.build_ann()
    indexing.sync_study(Study.objects.get())
    PassageVector.objects.update(searchable=True)
    vector = tuple(PassageVector.objects.get(passage=crowd[7]).vector)
    options = {"collection": Study.objects.get().collection_id if in_collection else None, "limit": 50}
    exact = search.find("text 1234", vector, **options)

    monkeypatch.setattr("corpus_app.models.ANN_FROM", 100)
    ran = []
    run = hybrid._run
    monkeypatch.setattr(hybrid, "_run", lambda *args: (ran.append(args), run(*args))[1])
    near = search.find("text 1234", vector, **options)

    assert "opposite" in ran[0][2]
    by_meaning = [{hit.passage_id for hit in found.hits if hit.cosine > 0.5} for found in (exact, near)]
    assert len(by_meaning[0] & by_meaning[1]) >= 0.95 * len(by_meaning[0])
    assert all(hit.cosine is not None for hit in near.hits)
    assert near.dense.lowest == pytest.approx(exact.dense.lowest, abs=0.1)
    assert near.dense.highest == exact.dense.highest
    assert near.lexical == exact.lexical


def times_scanned(index: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_numscans(to_regclass(%s))", [index])
        return int(cursor.fetchone()[0])


def test_an_exact_search_before_it_does_not_keep_the_approximate_one_from_its_index(
    crowd: list[int], monkeypatch: pytest.MonkeyPatch, encoder: WordHashEncoder
) -> None:
    indexing.build_ann()
    indexing.sync_study(Study.objects.get())
    vector = tuple(PassageVector.objects.get(passage=crowd[7]).vector)
    search.find("text 1234", vector)  # one transaction, as in a question that looks twice
    monkeypatch.setattr("corpus_app.models.ANN_FROM", 100)
    index = PassageVector.ann_index(encoder.name)
    with connection.cursor() as cursor:
        # So few rows are sooner read and sorted than looked up.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
    before = times_scanned(index)

    search.find("text 1234", vector)

    assert times_scanned(index) > before
