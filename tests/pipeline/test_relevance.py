"""Features of candidate studies, and the signals of a question."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corpus_app.records import StudyScores, TextScore
from qa_app.pipeline import answerability, relevance
from qa_app.pipeline.learned import Logistic
from qa_app.pipeline.relevance import NO_COSINE, Features, Vocabulary, read_features
from tests.pipeline.values import make_concept, make_query, make_scores, make_study

VOCABULARY = Vocabulary({"set": 1.0, "muscl": 3.0}, unknown_share=0.0)


def features_of(*scores: StudyScores, **studies: tuple[str, ...]) -> Features:
    known = {score.study_id: make_study(score.study_id, concepts=studies.get(score.study_id, ())) for score in scores}
    return read_features(make_query(), scores, known, VOCABULARY)


@pytest.mark.parametrize("kind", ["question", "plain", "statement", "title", "passage"])
def test_a_kind_of_text_that_a_study_lacks_is_below_any_score(kind: str) -> None:
    found = features_of(make_scores())

    assert found.column(f"{kind}_cosine")[0] == NO_COSINE
    assert found.column(f"{kind}_bm25")[0] == 0.0


def test_without_vectors_every_cosine_is_that_of_a_missing_text() -> None:
    found = features_of(make_scores(title=(2.0, None), passage=(1.0, None)))

    assert {float(found.column(name)[0]) for name in found.names if name.endswith("_cosine")} == {NO_COSINE}
    assert found.column("title_bm25")[0] == 2.0


def test_the_gap_is_the_distance_to_the_best_study() -> None:
    found = features_of(make_scores("A", title=(2.0, 0.4)), make_scores("B", title=(5.0, 0.7)), make_scores("C"))

    assert found.column("title_cosine_gap") == pytest.approx([-0.3, 0.0, NO_COSINE - 0.7])
    assert found.column("title_bm25_gap") == pytest.approx([-3.0, 0.0, -5.0])


@pytest.mark.parametrize(
    ("matched", "coverage", "has_rarest"),
    [((), 0.0, 0.0), (("set",), 0.25, 0.0), (("muscl",), 0.75, 1.0), (("set", "muscl"), 1.0, 1.0), (("other",), 0.0, 0.0)],
)  # fmt: skip
def test_coverage_is_the_share_of_rarity_that_a_study_has(
    matched: tuple[str, ...], coverage: float, has_rarest: float
) -> None:
    found = features_of(make_scores(matched=matched))

    assert (found.column("coverage")[0], found.column("has_rarest")[0]) == (coverage, has_rarest)


@pytest.mark.parametrize(
    ("own", "share"), [((), 0.0), (("sets",), 0.25), (("growth",), 0.75), (("sets", "growth"), 1.0)]
)
def test_concept_share_weighs_concepts_by_rarity(own: tuple[str, ...], share: float) -> None:
    query = make_query(concepts=(make_concept("sets"), make_concept("growth", rarity=3.0)))

    found = read_features(query, [make_scores()], {"A": make_study(concepts=own)}, VOCABULARY)

    assert found.column("concept_share")[0] == share


def test_a_concept_that_no_study_is_about_lowers_the_share() -> None:
    query = make_query(concepts=(make_concept("sets"),), unstudied=(make_concept("sauna"),))

    found = read_features(query, [make_scores()], {"A": make_study(concepts=("sets",))}, VOCABULARY)

    assert found.column("concept_share")[0] == found.column("unstudied_share")[0] == 0.5
    assert found.column("concepts")[0] == 2.0


def test_the_mean_of_three_questions_counts_only_where_there_are_three() -> None:
    scores = [StudyScores(s, {"question": TextScore(0.0, 0.6, top3=top3)}) for s, top3 in (("A", 0.5), ("B", None))]

    assert features_of(*scores).column("question_top3") == pytest.approx([0.5, NO_COSINE])


def test_no_candidates_give_no_rows() -> None:
    found = features_of()

    assert found.values.shape == (0, len(found.names))
    assert relevance.rank(found, []) == ()


def test_the_most_likely_study_comes_first_and_equals_by_id() -> None:
    found = features_of(make_scores("B"), make_scores("A"), make_scores("C", matched=("muscl",)))

    ranked = relevance.rank(found, [Logistic(("coverage",), (0.0,), (1.0,), (1.0,), 0.0)] * len(found.study_ids))

    assert [study for study, _ in ranked] == ["C", "A", "B"]


@pytest.mark.parametrize(
    ("frequency", "rarest", "unknown"),
    [
        ((), None, 1.0),
        ((("set", 5), ("muscl", 9)), "set", 0.0),
        ((("sauna", 0),), "sauna", 1.0),
    ],
)
def test_the_vocabulary_knows_the_rarest_word_and_the_unknown_share(
    frequency: tuple[tuple[str, int], ...], rarest: str | None, unknown: float
) -> None:
    found = Vocabulary.of(frequency, 10)

    assert (found.rarest, found.unknown_share) == (rarest, unknown)


def test_the_rarer_word_has_the_higher_inverse_frequency() -> None:
    found = Vocabulary.of((("a", 0), ("b", 1), ("c", 10)), 10)

    assert found.idf["a"] > found.idf["b"] > found.idf["c"] > 0
    assert found.idf["c"] == pytest.approx(math.log(1 + 0.5 / 10.5))


# --- Signals of the question ---------------------------------------------------------------------------------------------


def test_signals_tell_how_far_the_leader_is_ahead() -> None:
    found = features_of(make_scores("A", passage=(0.0, 0.8)), make_scores("B", passage=(0.0, 0.9)))

    signals = answerability.signals((("A", 0.5), ("B", 0.1)), found, make_query())

    assert signals["logit1"] == pytest.approx(0.0)
    assert signals["margin"] == pytest.approx(0.4)
    assert signals["likely"] == 1.0
    assert signals["expected"] == pytest.approx(0.6)
    assert signals["leader_passage_cosine"] == 0.8
    assert signals["best_passage_cosine"] == 0.9


def test_nothing_found_gives_the_same_signals_at_their_lowest() -> None:
    some = answerability.signals((("A", 0.5),), features_of(make_scores()), make_query())
    none = answerability.signals((), features_of(), make_query())

    assert none.keys() == some.keys()
    assert none["logit1"] == none["logit3"] < -9
    assert (none["expected"], none["likely"], none["leader_passage_cosine"]) == (0.0, 0.0, 0.0)


def test_an_estimate_uses_the_signals_that_its_model_names() -> None:
    model = Logistic(("margin",), (0.0,), (1.0,), (2.0,), 0.0)

    assert answerability.estimate({"margin": 1.0, "words": 9.0}, model) == pytest.approx(1 / (1 + np.exp(-2)))
