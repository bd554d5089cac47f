import random

import bm25s
import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from corpus_app import indexing, records, search
from corpus_app.curation.lexica import set_lexica
from corpus_app.models import ConceptRelation, ConceptRelationStudy, CorpusVersion, PassageTerm, Study
from corpus_app.search.bm25 import K1, K3, B
from qa_app.pipeline.question.about_filters import Filters
from tests.builders import make_collection, make_concept, make_finding, make_passage, make_study
from tests.fakes import WordHashEncoder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]

SQUATS = "Squats increased leg strength in trained men."
PRESSES = "Bench presses increased chest thickness in women."
PROTEIN = "Protein intake after training increased lean mass."
HIDDEN = ({"status": "draft"}, {"status": "in_review"}, {"status": "withdrawn"}, {"notice": "retracted"})


def find(text: str, **options: object) -> records.Found:
    return search.find(text, search.encode_question(text), **options)


def bm25(found: records.Found) -> dict[int, float]:
    return {hit.passage_id: hit.bm25 for hit in found.hits if hit.bm25}


def oracle(question: dict[str, int]) -> dict[int, float]:
    """BM25 by bm25s over the lexemes that PostgreSQL made of each passage, each as often as the question repeats it."""
    documents: dict[int, list[str]] = {}
    for pk, lexeme, frequency in PassageTerm.objects.exclude(lexeme="").values_list("passage", "lexeme", "frequency"):
        documents.setdefault(pk, []).extend([lexeme] * int(frequency))
    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)
    retriever.index(list(documents.values()), show_progress=False)
    scores = sum(
        (K3 + 1) * times / (K3 + times) * retriever.get_scores([lexeme])
        for lexeme, times in question.items()
        if lexeme in retriever.vocab_dict
    )
    return {pk: float(score) for pk, score in zip(documents, scores, strict=True) if score > 0}


@pytest.mark.parametrize("seed", range(2))
def test_bm25_is_that_of_the_reference_on_the_same_lexemes(seed: int) -> None:
    dice = random.Random(seed)
    words = "squat press row muscle strength protein sleep rest load volume week man woman growth fat".split()
    for _ in range(4):
        make_study(
            title=" ".join(dice.choices(words, k=4)),
            texts=tuple(" ".join(dice.choices(words, k=dice.randint(3, 60))) for _ in range(5)),
        )
    question = "protein growth in women after squats, squats and more squats"
    times = {"protein": 1, "growth": 1, "women": 1, "squat": 3}

    found = search.find(question, None)
    assert set(found.lexemes) == set(times)
    expected = oracle(times)
    assert bm25(found) == pytest.approx(expected, abs=1e-4)  # bm25s counts in single precision
    assert [hit.passage_id for hit in found.hits] == sorted(expected, key=lambda pk: (-bm25(found)[pk], pk))


def test_words_are_found_through_accents_hyphens_and_hidden_characters() -> None:
    passage = make_passage(heading="", text="The naïve Göteborg group did squ\u00adats.")

    for question in ("naive", "goteborg", "squats", "na\u0308ive go\u0308teborg", "squ\u200bats"):
        assert set(bm25(search.find(question, None))) == {passage.pk}, question


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


def test_only_searchable_passages_are_hits() -> None:
    for state in HIDDEN:
        make_finding(make_study(texts=(SQUATS,), **state))
    shown = make_study(title="A trial", texts=(PRESSES,))
    indexing.index_stale()

    found = find("squats presses")

    assert {hit.passage_id for hit in found.hits} == set(shown.passages.values_list("pk", flat=True))
    assert found.searchable_passages == 1
    assert dict(found.document_frequency)["squat"] == 0
    assert search.findings(list(Study.objects.values_list("pk", flat=True))) == ()


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


def test_any_question_is_answered_without_an_error() -> None:
    assert find("squats").hits == ()
    make_study(texts=(SQUATS, PRESSES))
    indexing.index_stale()

    for question in ("", "is it the", "?!", "pizza", "squats " * 285, "'\"\\%s:*|&!()<->", "漢字", "%(text)s"):
        found = find(question)
        assert (found.lexical.ok, found.dense.ok, found.dense.candidates) == (True, True, 2), question


@pytest.mark.parametrize("table", ["corpus_app_passageterm", "corpus_app_passagevector"])
def test_one_search_that_fails_leaves_the_other(table: str) -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()
    vector = search.encode_question("squats")
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO gone")

    with search.snapshot():
        found = search.find("squats", vector)

    failed, sound = (found.lexical, found.dense) if table.endswith("term") else (found.dense, found.lexical)
    words = "words" if table.endswith("term") else "meaning"
    assert failed == records.Leg(ok=False, candidates=0, error=f"The search by {words} failed.")
    assert sound.ok
    assert len(found.hits) == 1


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


def test_passages_come_in_the_order_of_their_study_or_as_asked_for(django_assert_num_queries) -> None:
    study = make_study(texts=(SQUATS, PRESSES, PROTEIN))
    first, second, third = study.passages.order_by("position").values_list("pk", flat=True)

    assert search.passage_ids(study.study_id) == (first, second, third)
    assert [search.passage_ids(make_study(**state).study_id) for state in HIDDEN] == [()] * len(HIDDEN)
    new_version()
    search.site()
    with search.snapshot(), django_assert_num_queries(1):
        loaded = search.load_passages([third, first, 10**12, second])
    assert [(passage.passage_id, passage.text) for passage in loaded] == [
        (third, PROTEIN), (first, SQUATS), (second, PRESSES),
    ]  # fmt: skip
    assert loaded[0].study is loaded[1].study


def new_version() -> None:
    CorpusVersion.objects.create(number=CorpusVersion.objects.count() + 1, at=timezone.now(), summary="a change")


def test_a_vector_that_cannot_be_compared_leaves_the_search_by_words() -> None:
    make_study(texts=(SQUATS,))
    indexing.index_stale()

    for vector, error in (([1.0, 0.0], None), ([float("nan")] * 64, None), (None, "The encoder is not installed.")):
        with search.snapshot():
            found = search.find("squats", vector, **({"dense_error": error} if error else {}))
        assert (found.lexical.ok, found.dense.ok, len(found.hits)) == (True, False, 1)
        assert not error or found.dense == records.Leg(ok=False, candidates=0, error=error)


def test_who_may_see_what() -> None:
    for state, is_public, is_searchable in (
        ({"status": "published"}, True, True), ({"notice": "corrected"}, True, True),
        ({"notice": "retracted"}, True, False), ({"status": "draft"}, False, False),
        ({"status": "in_review"}, False, False), ({"status": "withdrawn"}, False, False),
    ):  # fmt: skip
        study = make_study(**state)
        passage = study.passages.get()
        assert bool(search.find_study(study.study_id)) is is_public, state
        assert bool(search.find_passage(passage.pk)) is is_public, state
        assert bool(search.load_passages([passage.pk])) is is_searchable, state
    assert search.find_study("S999") is None
    assert search.find_passage(10**12) is None


def relate(source: str, target: str, *studies: Study) -> None:
    relation = ConceptRelation.objects.create(source_id=source, relation="affects", target_id=target)
    for study in studies:
        ConceptRelationStudy.objects.create(relation=relation, study=study)


def test_neighbours_need_published_studies_and_the_strongest_come_first() -> None:
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


def test_figures_count_what_readers_can_see() -> None:
    make_study(texts=(SQUATS, PRESSES))
    make_study(notice="retracted")
    make_study(status="draft", collection=make_collection("nutrition"))

    figures = search.corpus_figures()

    assert (figures["studies"], figures["passages"], figures["corpus_version"]) == (2, 2, 0)
    assert {c["slug"]: c["studies"] for c in figures["collections"]} == {"training": 2, "nutrition": 0}


@pytest.mark.parametrize(
    ("name", "author", "owner"),
    [
        ("Ash Mill", "Ada Lund", "Ash Mill"),
        ("Ash Mill Stories", "Ada Lund", "Ash Mill Stories"),  # passages have its first words
        ("Mill", "Ada Lund", "Ada Lund"),  # a word of the dictionary is no name
        ("Oak Mill", "Nobody", ""),
    ],
)
def test_the_owner_is_whom_the_sources_tell_of(name: str, author: str, owner: str) -> None:
    set_lexica({"site": f'name = "{name}"'}, by=None, by_name="test")
    for text in ("Ash Mill was built in 1909.", "Ada Lund runs the mill.", "Mill stones wear."):
        make_study(texts=(text,), authors=[author])

    assert search.owner_name() == owner


def test_nothing_is_counted_where_no_study_fits() -> None:
    make_study()
    holdings = search.counted_studies()
    nobody = holdings.where(Filters(sources=()))

    assert (holdings.count().total, nobody.count().total) == (1, 0)
    assert [nobody.tally(trait).most for trait in records.StudyTrait] == [()] * len(records.StudyTrait)
    for traits in ((("design", ()),), (("place", ()),)):
        assert not find(SQUATS, among=search.StudySelection(traits)).hits.ids.size
