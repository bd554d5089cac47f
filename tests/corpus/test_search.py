from __future__ import annotations

import random
from dataclasses import replace

import bm25s
import numpy as np
import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from common import pipelining
from corpus_app import curation, embedding, indexing, records, search
from corpus_app.models import Concept, ConceptRelation, ConceptRelationStudy, CorpusVersion, Passage, PassageTerm, Study
from corpus_app.search import hybrid, question_vectors
from tests.builders import make_collection, make_concept, make_finding, make_passage, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

SQUATS = "Squats increased leg strength in trained men."
PRESSES = "Bench presses increased chest thickness in women."
PROTEIN = "Protein intake after training increased lean mass."


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


def find(text: str, **options: object) -> records.Found:
    return search.find(text, search.encode_question(text), **options)


def bm25(found: records.Found) -> dict[int, float]:
    return {hit.passage_id: hit.bm25 for hit in found.hits if hit.bm25}


# --- The lexical leg


def oracle(question: dict[str, int], *, k1: float = hybrid.K1, b: float = hybrid.B) -> dict[int, float]:
    """BM25 by bm25s over the lexemes that PostgreSQL made of each passage, each as often as the question repeats it."""
    documents: dict[int, list[str]] = {}
    for pk, lexeme, frequency in PassageTerm.objects.exclude(lexeme="").values_list("passage", "lexeme", "frequency"):
        documents.setdefault(pk, []).extend([lexeme] * int(frequency))
    retriever = bm25s.BM25(method="lucene", k1=k1, b=b)
    retriever.index(list(documents.values()), show_progress=False)
    scores = sum(
        (hybrid.K3 + 1) * times / (hybrid.K3 + times) * retriever.get_scores([lexeme])
        for lexeme, times in question.items()
        if lexeme in retriever.vocab_dict
    )
    return {pk: float(score) for pk, score in zip(documents, scores, strict=True) if score > 0}


@pytest.mark.parametrize(("k1", "b"), [(hybrid.K1, hybrid.B), (0.7, 0.6)])
@pytest.mark.parametrize("seed", range(5))
def test_bm25_is_that_of_the_reference_on_the_same_lexemes(seed: int, k1: float, b: float) -> None:
    dice = random.Random(seed)
    words = "squat press row muscle strength protein sleep rest load volume week man woman growth fat".split()
    for _ in range(6):
        make_study(
            title=" ".join(dice.choices(words, k=4)),
            texts=tuple(" ".join(dice.choices(words, k=dice.randint(3, 60))) for _ in range(5)),
        )
    question = "protein growth in women after squats, squats and more squats"

    found = search.find(question, None, k1=k1, b=b)

    times = {"protein": 1, "growth": 1, "women": 1, "squat": 3}
    assert set(found.lexemes) == set(times)
    expected = oracle(times, k1=k1, b=b)
    assert bm25(found) == pytest.approx(expected, abs=1e-4)  # bm25s counts in single precision
    assert [hit.passage_id for hit in found.hits] == sorted(expected, key=lambda pk: (-bm25(found)[pk], pk))


def test_any_word_of_the_question_is_enough() -> None:
    study = make_study(texts=(SQUATS, PRESSES, PROTEIN))

    found = search.find("What do squats, or protein, or pizza?", None)

    assert set(bm25(found)) == {p.pk for p in study.passages.all() if p.text in {SQUATS, PROTEIN}}


def test_the_words_of_the_question_come_with_the_number_of_passages_they_stand_in() -> None:
    make_study(title="A trial", texts=(SQUATS, PRESSES, PROTEIN))

    found = search.find("pizza increased squats", None)

    assert found.lexemes == ("increas", "pizza", "squat")
    assert found.document_frequency == (("increas", 3), ("pizza", 0), ("squat", 1))
    assert found.searchable_passages == 3


def test_words_are_found_through_accents_hyphens_and_hidden_characters() -> None:
    passage = make_passage(heading="", text="The naïve Göteborg group did squ\u00adats.")

    for question in ("naive", "goteborg", "squats", "na\u0308ive go\u0308teborg", "squ\u200bats"):
        assert set(bm25(search.find(question, None))) == {passage.pk}, question


def test_equals_are_in_the_order_of_their_ids() -> None:
    study = make_study(texts=(SQUATS,) * 5)

    ids = [hit.passage_id for hit in find("squats").hits]

    assert ids == sorted(study.passages.values_list("pk", flat=True))


# --- Both legs


def test_each_hit_has_the_scores_of_both_legs(encoder: WordHashEncoder) -> None:
    study = make_study(texts=(SQUATS, PROTEIN))
    indexing.index_stale()
    question = "leg strength by squats"

    found = find(question)

    rows = {p.pk: encoder.encode([indexing.embedded_text(p.heading, p.text)])[0] for p in study.passages.all()}
    wanted = encoder.encode([question])[0]
    rounding = 2 * 2**-11  # both vectors are of length one and kept in sixteen bits: eleven of them significant
    assert {hit.passage_id: hit.cosine for hit in found.hits} == pytest.approx(
        {pk: float(row @ wanted) for pk, row in rows.items()}, abs=1.1 * rounding
    )
    assert [hit.bm25 > 0 for hit in found.hits] == [True, False]


def test_the_extent_of_the_scores_is_that_of_all_candidates_not_of_the_best() -> None:
    make_study(texts=(SQUATS, PRESSES, PROTEIN, "Squats. Squats. Squats."))
    indexing.index_stale()
    everything = find("squats increased strength")

    best = find("squats increased strength", limit=1)

    assert len(best.hits) < len(everything.hits) == 4
    assert (best.lexical, best.dense) == (everything.lexical, everything.dense)
    assert best.dense.candidates == 4
    assert best.dense.lowest == min(hit.cosine for hit in everything.hits)
    assert best.dense.highest == max(hit.cosine for hit in everything.hits)
    assert best.lexical.lowest == min(hit.bm25 for hit in everything.hits)
    assert best.lexical.highest == max(hit.bm25 for hit in everything.hits)


def test_the_best_of_one_leg_carries_its_score_in_the_other() -> None:
    make_study(texts=(SQUATS, PRESSES, PROTEIN))
    indexing.index_stale()

    for hit in find("squats", limit=1).hits:
        assert hit.cosine is not None


def test_a_passage_that_waits_for_its_vector_is_found_by_its_words() -> None:
    make_study(texts=(SQUATS,))

    (hit,) = find("squats").hits

    assert hit.bm25 > 0
    assert hit.cosine is None


def test_vectors_of_another_encoder_are_not_compared() -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()

    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        (hit,) = find("squats").hits

    assert hit.cosine is None


@pytest.mark.parametrize(
    "state", [{"status": "draft"}, {"status": "in_review"}, {"status": "withdrawn"}, {"notice": "retracted"}]
)
def test_only_searchable_passages_are_hits(state: dict[str, str]) -> None:
    make_study(texts=(SQUATS,), **state)
    shown = make_study(title="A trial", texts=(PRESSES,))
    indexing.index_stale()

    found = find("squats presses")

    assert {hit.passage_id for hit in found.hits} == set(shown.passages.values_list("pk", flat=True))
    assert found.searchable_passages == 1
    assert dict(found.document_frequency)["squat"] == 0


def test_a_collection_narrows_both_legs_and_changes_no_score() -> None:
    training = make_study(texts=(SQUATS, PRESSES))
    make_study(texts=(SQUATS, PROTEIN), collection=make_collection("nutrition"))
    indexing.index_stale()
    everywhere = {hit.passage_id: hit for hit in find("squats increased mass").hits}

    found = find("squats increased mass", collection="training")

    assert {hit.passage_id for hit in found.hits} == set(training.passages.values_list("pk", flat=True))
    assert all(everywhere[hit.passage_id] == hit for hit in found.hits)
    assert found.lexical.candidates == found.dense.candidates == 2
    assert found.searchable_passages == 4


def test_the_corpus_version_is_that_of_the_search() -> None:
    make_study()
    assert find("sets").corpus_version == search.corpus_version() == 0

    CorpusVersion.objects.create(number=7, at=timezone.now(), summary="A study was published.")

    assert find("sets").corpus_version == search.corpus_version() == 7


@pytest.mark.parametrize(
    "question", ["", "is it the", "?!", "pizza", "squats " * 285, "'\"\\%s:*|&!()<->", "漢字", "%(text)s"]
)
def test_any_question_is_answered_without_an_error(question: str) -> None:
    make_study(texts=(SQUATS, PRESSES))
    indexing.index_stale()

    found = find(question)

    assert found.lexical.ok
    assert found.dense.ok
    assert found.dense.candidates == 2


def test_an_empty_corpus_has_no_hits() -> None:
    found = find("squats")

    assert found.hits == ()
    assert (found.lexical.candidates, found.dense.candidates, found.searchable_passages) == (0, 0, 0)


# --- Statistics of the corpus


def test_what_is_known_of_one_version_is_not_used_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(texts=(SQUATS, PRESSES))
    indexing.index_stale()
    new_version()
    truth = find("squats for strength")
    of_another = replace(hybrid._corpus, number=hybrid._corpus.number + 1, passages=9_999, mean_length=1.0)
    monkeypatch.setattr(hybrid, "_corpus", of_another)

    assert find("squats for strength") == truth


def test_the_statistics_follow_the_corpus_version() -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()
    new_version()
    find("squats")
    make_study(texts=(PRESSES, PROTEIN, "Squats at last."))
    indexing.index_stale()
    new_version()

    assert find("squats").searchable_passages == 4
    assert bm25(find("squats")) == pytest.approx(oracle({"squat": 1}))


# --- A leg that fails


def test_without_a_vector_the_words_still_answer_and_the_reason_is_told() -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()

    found = search.find("squats", None, dense_error="The encoder is not installed.")

    assert [hit.cosine for hit in found.hits] == [None]
    assert found.lexical.ok
    assert found.dense == records.Leg(ok=False, candidates=0, error="The encoder is not installed.")


def test_a_lexical_leg_that_fails_leaves_the_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()
    monkeypatch.setattr(hybrid, "_LEXICAL", hybrid._LEXICAL.replace("corpus_app_passageterm", "no_such_table"))

    with search.snapshot():
        found = find("squats")

    assert [hit.bm25 for hit in found.hits] == [0.0]
    assert found.lexical == records.Leg(ok=False, candidates=0, error="The search by words failed.")
    assert found.dense.ok


def test_a_dense_leg_that_fails_leaves_the_lexical_one(monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()
    monkeypatch.setattr(hybrid, "_DENSE", hybrid._DENSE.replace("corpus_app_passagevector", "no_such_table"))

    found = find("squats")

    assert [hit.cosine for hit in found.hits] == [None]
    assert found.dense == records.Leg(ok=False, candidates=0, error="The search by meaning failed.")
    assert found.lexical.ok


def test_when_both_legs_fail_so_does_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid, "_LEXICAL", hybrid._LEXICAL.replace("corpus_app_passageterm", "no_such_table"))
    monkeypatch.setattr(hybrid, "_DENSE", hybrid._DENSE.replace("corpus_app_passagevector", "no_such_table"))

    with pytest.raises(DatabaseError):
        find("squats")


# --- One snapshot


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_keeps_to_one_corpus_version_and_writes_nothing() -> None:
    make_study(texts=(SQUATS,))

    with search.snapshot():
        before = search.find("squats", None)
        other = connection.copy()
        try:
            with other.cursor() as cursor:
                cursor.execute("DELETE FROM corpus_app_passageterm")
        finally:
            other.close()
        assert search.find("squats", None) == before
        with pytest.raises(DatabaseError, match="read-only"), transaction.atomic():
            PassageTerm.objects.all().delete()

    assert search.find("squats", None).hits == ()


# --- Passages and studies


def test_passages_come_in_the_order_asked_for(django_assert_num_queries) -> None:
    study = make_study(texts=(SQUATS, PRESSES, PROTEIN))
    first, second, third = study.passages.order_by("position").values_list("pk", flat=True)

    with django_assert_num_queries(2):
        loaded = search.load_passages([third, first, 10**12, second])

    assert [passage.passage_id for passage in loaded] == [third, first, second]
    assert [passage.text for passage in loaded] == [PROTEIN, SQUATS, PRESSES]
    assert loaded[0].study is loaded[1].study


def test_the_passages_of_a_study_come_in_its_order_where_it_may_be_searched() -> None:
    study, draft = (
        make_study(texts=(SQUATS, PRESSES, PROTEIN)),
        make_study(texts=(SQUATS,), status=records.Status.DRAFT),
    )
    retracted = make_study(texts=(SQUATS,), notice=records.Notice.RETRACTED)
    own = study.passages.order_by("position").values_list("pk", flat=True)

    assert search.passage_ids(study.study_id) == tuple(own)
    assert search.passage_ids(draft.study_id) == search.passage_ids(retracted.study_id) == ()
    assert search.passage_ids("nobody") == ()


def loaded(*passages: Passage) -> tuple[records.Passage, ...]:
    with search.snapshot():
        return search.load_passages([passage.pk for passage in passages])


def new_version() -> None:
    CorpusVersion.objects.create(number=CorpusVersion.objects.count() + 1, at=timezone.now(), summary="a change")


def test_the_next_corpus_version_is_read_anew(encoder: WordHashEncoder) -> None:
    passage = make_passage(text="Old words.")
    indexing.index_stale()
    new_version()
    assert loaded(passage)[0].text == "Old words."

    Passage.objects.filter(pk=passage.pk).update(text="New words.")
    new_version()

    assert loaded(passage)[0].text == "New words."
    Study.objects.filter(pk=passage.study_id).update(status="withdrawn")
    new_version()
    assert loaded(passage) == ()


def test_a_passage_that_waits_is_read_again_until_its_sentences_have_vectors(encoder: WordHashEncoder) -> None:
    passage = make_passage()
    new_version()
    assert loaded(passage)[0].sentences[0].vector is None

    indexing.index_stale()

    assert loaded(passage)[0].sentences[0].vector is not None


@pytest.mark.parametrize("ids", [[], [7], [-1, 0, 2**63 - 1, -(2**63)], list(range(1_000, 0, -3))])
def test_ids_arrive_in_the_database_as_they_were_sent(ids: list[int]) -> None:
    with pipelining.snapshot_pipeline(settings={"jit": "off"}, is_planned_once=True) as send:
        cursor = send(
            "SELECT cardinality(sent), sent = %(written)s::bigint[] FROM (SELECT %(ids)s::bigint[]) AS s (sent)",
            {"ids": pipelining.Ids(ids), "written": ids},
        )

    assert pipelining.single_row(cursor) == (len(ids), True)


def test_ids_of_any_size_and_scores_of_eight_and_four_bytes_arrive_as_they_were_sent() -> None:
    ids, scores = [1, 2**31, 2**63 - 1, 5], [0.1, -1.0, 1 / 3, 0.0]
    with pipelining.snapshot_pipeline(settings={"jit": "off"}, is_planned_once=True) as send:
        cursor = send(
            """
            SELECT string_agg(int8send(id) || float8send(score), ''), string_agg(int8send(id) || float4send(score::float4), ''),
                   string_agg(int8send(id) || float8send(score), '') FILTER (WHERE false)
            FROM unnest(%(ids)s::bigint[], %(scores)s::float8[]) AS row (id, score)
            """,
            {"ids": ids, "scores": scores},
        )

    whole, short, none = pipelining.single_row(cursor)
    words, meaning, nothing = (
        hybrid._Scored.unpack(whole, hybrid.WEIGHTS),
        hybrid._Scored.unpack(short, hybrid.COSINES),
        hybrid._Scored.unpack(none, hybrid.COSINES),
    )
    assert words.ids.tolist() == meaning.ids.tolist() == ids
    assert words.scores.tolist() == scores
    assert meaning.scores.tolist() == [float(np.float32(score)) for score in scores]
    assert (len(nothing.ids), nothing.highest) == (0, 0.0)


def test_no_passages_are_no_passages() -> None:
    assert search.load_passages([]) == ()


def test_a_loaded_passage_says_all_that_readers_may_know(encoder: WordHashEncoder) -> None:
    study = make_study(texts=(f"{SQUATS} {PRESSES}",), year=2019, notice="corrected")
    indexing.index_stale()
    row = study.passages.get()

    (passage,) = search.load_passages([row.pk])

    assert passage == records.Passage(
        passage_id=row.pk,
        version=1,
        study=records.Study(
            study_id=study.study_id,
            title=study.title,
            authors=("Example AB", "Sample CD"),
            year=2019,
            journal="Journal of Examples",
            doi=study.doi,
            url=study.url,
            design=records.Design.RANDOMIZED_CONTROLLED_TRIAL,
            peer_reviewed=True,
            collection="training",
            population="",
            training_status=records.TrainingStatus.NOT_REPORTED,
            age_group=records.AgeGroup.NOT_REPORTED,
            sex=records.Sex.NOT_REPORTED,
            status=records.Status.PUBLISHED,
            notice=records.Notice.CORRECTED,
        ),
        position=0,
        section=records.Section.RESULTS,
        page=None,
        heading=study.title,
        text=row.text,
        kind=records.PassageKind.SUMMARY,
        sentences=(records.Sentence(0, len(SQUATS)), records.Sentence(len(SQUATS) + 1, len(row.text))),
    )
    assert np.array_equal([s.vector for s in passage.sentences], encoder.encode([SQUATS, PRESSES]))


def test_sentences_that_wait_have_no_vector() -> None:
    passage = make_passage(text=SQUATS)

    assert [s.vector for s in search.load_passages([passage.pk])[0].sentences] == [None]


@pytest.mark.parametrize(
    ("state", "is_public", "is_searchable"),
    [
        ({"status": "published"}, True, True),
        ({"notice": "corrected"}, True, True),
        ({"notice": "retracted"}, True, False),
        ({"status": "draft"}, False, False),
        ({"status": "in_review"}, False, False),
        ({"status": "withdrawn"}, False, False),
    ],
)
def test_who_may_see_what(state: dict[str, str], is_public: bool, is_searchable: bool) -> None:
    study = make_study(**state)
    passage = study.passages.get()

    assert bool(search.find_study(study.study_id)) is is_public
    assert bool(search.find_passage(passage.pk)) is is_public
    assert bool(search.load_passages([passage.pk])) is is_searchable


def test_a_study_comes_with_passages_findings_and_concepts() -> None:
    concept = make_concept("hypertrophy", aliases=("muscle growth",))
    make_concept("strength")
    study = make_study(texts=(SQUATS, PRESSES), concepts=(concept,))
    make_finding(study, statement="Squats helped.")

    page = search.find_study(study.study_id)

    assert page is not None
    assert page.study.title == study.title
    assert [passage.text for passage in page.passages] == [SQUATS, PRESSES]
    assert [(finding.statement, finding.direction) for finding in page.findings] == [
        ("Squats helped.", records.Direction.FAVOURS_INTERVENTION)
    ]
    assert [(c.concept_id, c.aliases) for c in page.concepts] == [("hypertrophy", ("muscle growth",))]


def test_a_study_without_passages_has_a_page() -> None:
    assert search.find_study(make_study(texts=()).study_id).passages == ()


def test_absent_ones_are_none() -> None:
    assert search.find_study("S999") is None
    assert search.find_passage(10**12) is None


@pytest.mark.parametrize(
    "state", [{"status": "draft"}, {"status": "in_review"}, {"status": "withdrawn"}, {"notice": "retracted"}]
)
def test_findings_are_those_of_searchable_studies_in_the_order_asked_for(state: dict[str, str]) -> None:
    first, second = make_study(), make_study()
    rows = [make_finding(first, position=1), make_finding(first, position=0), make_finding(second)]
    hidden = make_study(**state)
    make_finding(hidden)

    found = search.findings([second.study_id, hidden.study_id, first.study_id, "S999"])

    assert [(f.study_id, f.finding_id) for f in found] == [
        (second.study_id, rows[2].pk),
        (first.study_id, rows[1].pk),
        (first.study_id, rows[0].pk),
    ]
    assert found[0].direction is records.Direction(rows[2].direction)
    assert search.findings([]) == ()


def test_states_say_what_has_become_of_studies_and_passages() -> None:
    now = timezone.now()
    withdrawn = make_study(status="withdrawn", state_changed_at=now)
    passage = make_passage()
    Passage.objects.filter(pk=passage.pk).update(version=3, text_changed_at=now)

    assert search.study_states([withdrawn.study_id, "S999"]) == {
        withdrawn.study_id: records.StudyState(
            withdrawn.study_id, records.Status.WITHDRAWN, records.Notice.NONE, now.isoformat()
        )
    }
    of_studies = search.study_states([withdrawn.study_id])
    of_passages = {passage.pk: records.PassageState(passage.pk, 3, now.isoformat())}
    assert search.states([withdrawn.study_id, "S999"], [passage.pk, 10**12]) == (of_studies, of_passages)
    assert search.states([withdrawn.study_id], []) == (of_studies, {})
    assert search.states([], [passage.pk]) == ({}, of_passages)
    assert search.states([], []) == ({}, {})


# --- The corpus as a whole


def relate(source: str, target: str, *studies: Study) -> None:
    relation = ConceptRelation.objects.create(source_id=source, relation="affects", target_id=target)
    for study in studies:
        ConceptRelationStudy.objects.create(relation=relation, study=study)


def test_neighbours_are_those_that_published_studies_stand_behind_strongest_first() -> None:
    for name in ("volume", "load", "rest", "sleep", "hypertrophy"):
        make_concept(name)
    first, second, draft = make_study(), make_study(), make_study(status="draft")
    relate("rest", "hypertrophy", first)
    relate("hypertrophy", "load", second)
    relate("volume", "hypertrophy", first, second, draft)
    relate("sleep", "hypertrophy", draft)

    neighbours = {concept.concept_id: concept.neighbours for concept in search.concepts()}

    assert neighbours["hypertrophy"] == ("volume", "load", "rest")
    assert neighbours["volume"] == ("hypertrophy",)
    assert neighbours["sleep"] == ()


def test_concepts_come_in_the_order_of_the_desk() -> None:
    for position, concept_id in enumerate(("squat", "sauna", "protein")):
        make_concept(concept_id, position=position)
    Concept.objects.filter(pk="squat").update(definition="Moved to the end of the table by the change.")

    assert [concept.concept_id for concept in search.concepts()] == ["squat", "sauna", "protein"]


def test_a_concept_is_studied_once_a_published_study_is_about_it() -> None:
    study = make_study(concepts=(make_concept("squat"),))
    make_concept("sauna")

    assert [(c.concept_id, c.is_studied) for c in search.concepts()] == [("sauna", False), ("squat", True)]

    curation.withdraw([study.study_id], by=None, by_name="tests", reason="A test.")
    assert not any(concept.is_studied for concept in search.concepts())


def test_concepts_and_collections_are_read_once_per_corpus_version(django_assert_num_queries) -> None:
    make_concept("hypertrophy")
    CorpusVersion.objects.create(number=1, at=timezone.now(), summary="One.")
    assert [concept.concept_id for concept in search.concepts()] == ["hypertrophy"]
    assert [collection.slug for collection in search.collections()] == ["training"]

    make_concept("strength")
    with django_assert_num_queries(2):
        assert [concept.concept_id for concept in search.concepts()] == ["hypertrophy"]
        search.collections()
    CorpusVersion.objects.create(number=2, at=timezone.now(), summary="Two.")

    assert {concept.concept_id for concept in search.concepts()} == {"hypertrophy", "strength"}


def test_figures_count_what_readers_can_see() -> None:
    make_study(texts=(SQUATS, PRESSES))
    make_study(notice="retracted")
    make_study(status="draft", collection=make_collection("nutrition"))

    figures = search.corpus_figures()

    assert (figures["studies"], figures["passages"], figures["corpus_version"]) == (2, 2, 0)
    assert {c["slug"]: c["studies"] for c in figures["collections"]} == {"training": 2, "nutrition": 0}


def test_an_unloadable_encoder_is_told_by_this_door(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENCODER = "/nowhere/at-all"
    monkeypatch.setattr(question_vectors, "PREPARATION_SECONDS", 0.0)
    with embedding.use(None), pytest.raises(search.EncoderUnavailable):  # the configured one again
        search.warm_up()


def test_the_vocabulary_holds_the_words_of_searchable_passages() -> None:
    make_study(texts=("Sarcopénia slows walking.",))
    make_study(texts=("Unpublished zebras.",), status="draft")

    words = search.vocabulary()

    assert words["sarcopenia"] == 1
    assert "zebras" not in words
