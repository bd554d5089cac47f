"""The scores of studies against a question: both maxima of each kind of text, with what the best texts belong to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction

from corpus_app import curation, indexing, models, search
from corpus_app.models import Passage, PassageVector, Study, StudyText, StudyTextTerm, StudyTextVector
from corpus_app.records import Direction, StudyScores, TextKind
from corpus_app.search import hybrid
from corpus_app.search.study_scores import Rows
from corpus_app.sources import FindingDraft
from tests.builders import make_collection, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

QUESTION = "How many weekly sets build bigger thighs?"


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


@pytest.fixture
def corpus() -> list[Study]:
    """Four published studies with all kinds of texts, embedded."""
    for number, (subject, outcome) in enumerate(
        [("weekly sets", "thighs"), ("rest", "strength"), ("protein", "muscle"), ("creatine", "sprints")]
    ):
        name = "ABCD"[number]
        make_study(
            study_id=name, title=f"{subject} and {outcome}", texts=(f"More {subject} built {outcome}.", "Nobody fell.")
        )
        takeaway, asked_as = f"More {subject} build bigger {outcome}.", f"How much {subject} for bigger {outcome}?"
        curation.revise_study(name, by=None, by_name="test", takeaway=takeaway, asked_as=asked_as)
        finding = FindingDraft(
            subject,
            "none",
            outcome,
            Direction.INCREASE,
            f"{outcome} grew.",
            f"Does {subject} help {outcome}?",
            f"{outcome} got bigger.",
        )
        curation.set_findings(name, [finding], by=None, by_name="test")
    indexing.index_stale()
    return list(Study.objects.order_by("study_id"))


def ask(question: str = QUESTION, **options: Any) -> dict[str, StudyScores]:
    found = search.score_studies(question, [search.encode_question(question)], **options)
    assert [scores.study_id for scores in found] == sorted(scores.study_id for scores in found)
    return {scores.study_id: scores for scores in found}


def test_every_maximum_is_that_of_all_texts_of_the_kind(corpus: list[Study]) -> None:
    vector = np.array(search.encode_question(QUESTION))
    found = ask()

    for study in corpus:
        for kind in TextKind:
            vectors = StudyTextVector.objects.filter(study=study, kind=kind).values_list("vector", flat=True)
            best = max(float(np.dot(one, vector)) for one in vectors)
            assert found[study.study_id].best[kind].cosine == pytest.approx(best, abs=2e-3)
        ordinary = PassageVector.objects.filter(passage__in=study.passages.all()).values_list("vector", flat=True)
        best = max(float(np.dot(one, vector)) for one in ordinary)
        assert found[study.study_id].best["passage"].cosine == pytest.approx(best, abs=2e-3)


def test_bm25_is_that_of_the_texts_of_a_kind(corpus: list[Study]) -> None:
    rows = list(StudyTextTerm.objects.filter(kind="question").values_list("text", "lexeme", "frequency", "length"))
    lengths = [length for _, lexeme, _, length in rows if lexeme == ""]
    mean, total = sum(lengths) / len(lengths), len(lengths)
    wanted: dict[int, float] = {}
    asked = {lexeme for lexeme, _ in search.find(QUESTION, None).document_frequency}
    for lexeme in asked:
        own = [row for row in rows if row[1] == lexeme]
        idf = math.log(1 + (total - len(own) + 0.5) / (len(own) + 0.5))
        for text, _, frequency, length in own:
            norm = hybrid.K1 * (1 - hybrid.B + hybrid.B * length / mean)
            wanted[text] = wanted.get(text, 0.0) + idf * frequency / (frequency + norm)

    found = ask()

    for study in corpus:
        best = found[study.study_id].best["question"]
        own_texts = StudyText.objects.filter(study=study, kind="question").values_list("pk", flat=True)
        assert best.bm25 == pytest.approx(max(wanted.get(pk, 0.0) for pk in own_texts), abs=1e-6)
    assert any(found[study.study_id].best["question"].bm25 > 0 for study in corpus)


def test_bm25_of_passages_is_that_of_the_search_for_passages(corpus: list[Study]) -> None:
    hits = {hit.passage_id: hit.bm25 for hit in search.find(QUESTION, None).hits}

    found = ask()

    for study in corpus:
        own = [hits.get(pk, 0.0) for pk in study.passages.values_list("pk", flat=True)]
        assert found[study.study_id].best["passage"].bm25 == pytest.approx(max(own), abs=1e-6)


def test_the_best_texts_tell_what_they_belong_to(corpus: list[Study]) -> None:
    best = ask("Does weekly sets help thighs?")["A"].best
    finding = corpus[0].findings.get()
    question, plain, statement = best["question"].by_words, best["plain"].by_words, best["statement"].by_meaning

    assert question
    assert (question.words, question.finding_id, question.passage_id) == (
        "Does weekly sets help thighs?",
        finding.pk,
        None,
    )
    assert best["question"].cosine == pytest.approx(1, abs=1e-3)
    assert plain
    assert plain.passage_id in set(
        Passage.with_plain.filter(study=corpus[0], kind="plain").values_list("pk", flat=True)
    )
    assert statement
    assert statement.finding_id == finding.pk
    passage = best["passage"].by_words
    assert passage
    assert (passage.text_id, passage.passage_id) == (None, corpus[0].passages.get(position=0).pk)


def test_without_a_vector_the_words_alone_are_scored(corpus: list[Study]) -> None:
    found = {scores.study_id: scores for scores in search.score_studies("protein", ())}

    assert set(found) == {"C"}
    assert all(score.cosine is None and score.bm25 > 0 for score in found["C"].best.values())


def test_the_limit_is_one_of_texts_and_names_the_candidates_of_either_half(corpus: list[Study]) -> None:
    found = ask("protein", limit=1)

    assert "C" in found
    assert len(found) < len(corpus)
    assert found["C"] == ask("protein")["C"]


def test_a_collection_is_scored_alone_by_the_statistics_of_all(corpus: list[Study]) -> None:
    whole = ask()
    curation.revise_study("B", by=None, by_name="test", collection=make_collection("nutrition"))

    found = ask(collection="nutrition")

    assert found == {"B": whole["B"]}


@pytest.mark.parametrize("state", [{"status": "draft"}, {"status": "withdrawn"}, {"notice": "retracted"}])
def test_what_is_not_searchable_is_not_scored(corpus: list[Study], state: dict[str, str]) -> None:
    with transaction.atomic():
        Study.objects.filter(study_id="A").update(**state)
        indexing.sync_study(corpus[0])

    assert "A" not in ask()


def test_scores_are_of_the_snapshot_that_is_open(corpus: list[Study]) -> None:
    with search.snapshot():
        assert ask() == ask()


def test_an_empty_corpus_has_no_scores() -> None:
    assert search.score_studies(QUESTION, [search.encode_question(QUESTION)]) == ()
    assert search.score_studies("", ()) == ()


def test_an_approximate_index_finds_the_same_in_a_corpus_that_is_small(
    corpus: list[Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, one = ask(), ask("protein", limit=1)
    connection.check_constraints()  # nothing may be pending when an index is built
    indexing.build_ann()
    monkeypatch.setattr(models, "ANN_FROM", 0)

    assert ask() == exact
    assert ask("protein", limit=1) == one
    assert set(ask(collection="training")) == set(exact)


# --- Three best and matched words ----------------------------------------------------------------------------------------


def add_questions(study_id: str, *questions: str) -> None:
    curation.revise_study(study_id, by=None, by_name="test", asked_as="\n".join(questions))
    indexing.index_stale()


def test_the_mean_of_the_three_best_is_that_of_all_texts_of_the_kind(corpus: list[Study]) -> None:
    add_questions("A", "Do weekly sets build thighs?", "Sets for thighs?", "How many weekly sets?", "Is rest good?")
    vector = np.array(search.encode_question(QUESTION))

    best = ask()["A"].best["question"]

    vectors = StudyTextVector.objects.filter(study=corpus[0], kind="question").values_list("vector", flat=True)
    cosines = sorted((float(np.dot(one, vector)) for one in vectors), reverse=True)
    assert len(cosines) > 3
    assert best.top3 == pytest.approx(np.mean(cosines[:3]), abs=2e-3)
    assert best.cosine == pytest.approx(cosines[0], abs=2e-3)


def test_fewer_than_three_texts_have_no_mean_of_three(corpus: list[Study]) -> None:
    found = ask()

    assert {study: found[study].best["question"].top3 for study in "ABCD"} == dict.fromkeys("ABCD")
    assert found["A"].best["title"].top3 is None


@pytest.mark.parametrize(
    ("scores", "mean"),
    [([], None), ([0.5, 0.1], None), ([0.1, 0.5, 0.3], 0.3), ([0.1, 0.5, 0.3, 0.4, 0.2], 0.4), ([0.2] * 3, 0.2)],
)
def test_the_three_best_are_picked_by_study_and_kind(scores: list[float], mean: float | None) -> None:
    own, other = len(scores), 4
    rows = Rows(
        text=np.arange(own + other),
        study=np.array([7] * own + [8] * other),
        kind=np.array([1] * own + [2] * other),
        score=np.array([*scores, 0.9, 0.9, 0.9, 0.9]),
    )

    found = rows.means_of_best(np.array([7, 8]))

    assert found.get((7, 1)) == (mean if mean is None else pytest.approx(mean))
    assert found[(8, 2)] == pytest.approx(0.9)
    assert rows.means_of_best(np.array([7])).keys() == ({(7, 1)} if mean is not None else set())


def test_a_study_matches_the_words_of_all_its_texts(corpus: list[Study]) -> None:
    matched = {study: scores.matched for study, scores in ask("Does protein or sleep help muscles grow?").items()}

    assert {"protein", "muscl"} <= matched["C"]  # of its passages and its title
    assert "help" in matched["A"]  # of a curated question
    assert "protein" not in matched["A"]
    assert not [study for study, words in matched.items() if "sleep" in words]


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"notice": "retracted"}])
def test_words_of_what_is_not_searchable_match_nothing(corpus: list[Study], state: dict[str, str]) -> None:
    with transaction.atomic():
        Study.objects.filter(study_id="C").update(**state)
        indexing.sync_study(corpus[2])

    assert not [study for study, scores in ask("Does protein help?").items() if "protein" in scores.matched]


def test_each_further_formulation_has_its_own_maxima(corpus: list[Study]) -> None:
    texts = (QUESTION, "protein powder")
    vectors = [search.encode_question(text) for text in texts]

    together = {scores.study_id: scores for scores in search.score_studies(QUESTION, vectors)}
    apart = {scores.study_id: scores for scores in search.score_studies(QUESTION, vectors[1:])}

    compared = [(pk, kind) for pk in together.keys() & apart.keys() for kind in together[pk].best]
    assert compared
    for pk, kind in compared:
        assert together[pk].best[kind].others == (apart[pk].best[kind].cosine,)
