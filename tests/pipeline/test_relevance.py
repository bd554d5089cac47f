"""Features of candidate studies, and the signals of a question."""

from __future__ import annotations

import math

import pytest

from corpus_app.records import StudyScores
from qa_app.pipeline import answerability, relevance
from qa_app.pipeline.learned import Logistic
from qa_app.pipeline.query import Query
from qa_app.pipeline.relevance import NO_COSINE, Features, Vocabulary, read_features
from tests.pipeline.values import make_concept, make_query, make_scores, make_study

VOCABULARY = Vocabulary({"set": 1.0, "muscl": 3.0}, unknown_share=0.0)


def features_of(*scores: StudyScores, **studies: tuple[str, ...]) -> Features:
    known = {score.study_id: make_study(score.study_id, concepts=studies.get(score.study_id, ())) for score in scores}
    return read_features(make_query(), scores, known, VOCABULARY)


def test_the_gap_is_the_distance_to_the_best_study_and_a_missing_text_is_below_any_score() -> None:
    found = features_of(make_scores("A", title=(2.0, 0.4)), make_scores("B", title=(5.0, 0.7)), make_scores("C"))
    without_vectors = features_of(make_scores(title=(2.0, None), passage=(1.0, None)))

    assert found.column("title_cosine_gap") == pytest.approx([-0.3, 0.0, NO_COSINE - 0.7])
    assert found.column("title_bm25_gap") == pytest.approx([-3.0, 0.0, -5.0])
    for kind in ("question", "plain", "statement", "title", "passage"):
        assert (found.column(f"{kind}_cosine")[2], found.column(f"{kind}_bm25")[2]) == (NO_COSINE, 0.0)
        assert without_vectors.column(f"{kind}_cosine")[0] == NO_COSINE
    assert without_vectors.column("title_bm25")[0] == 2.0


def test_coverage_is_the_share_of_rarity_that_a_study_has() -> None:
    for matched, coverage, has_rarest in (
        ((), 0.0, 0.0), (("set",), 0.25, 0.0), (("muscl",), 0.75, 1.0), (("set", "muscl"), 1.0, 1.0), (("other",), 0.0, 0.0),
    ):  # fmt: skip
        found = features_of(make_scores(matched=matched))
        assert (found.column("coverage")[0], found.column("has_rarest")[0]) == (coverage, has_rarest)


def test_the_share_of_concepts_is_weighed_by_rarity_and_lowered_by_those_of_no_study() -> None:
    two = make_query(concepts=(make_concept("sets"), make_concept("growth", rarity=3.0)))
    unstudied = make_query(concepts=(make_concept("sets"),), unstudied=(make_concept("sauna"),))

    def share(query: Query, *own: str) -> Features:
        return read_features(query, [make_scores()], {"A": make_study(concepts=own)}, VOCABULARY)

    shares = [share(two, *own).column("concept_share")[0] for own in ((), ("sets",), ("growth",), ("sets", "growth"))]
    assert shares == [0.0, 0.25, 0.75, 1.0]
    found = share(unstudied, "sets")
    assert found.column("concept_share")[0] == found.column("unstudied_share")[0] == 0.5
    assert found.column("concepts")[0] == 2.0


def test_no_candidates_give_no_rows() -> None:
    found = features_of()

    assert found.values.shape == (0, len(found.names))
    assert relevance.rank(found, []) == ()


def test_the_most_likely_study_comes_first_and_equals_by_id() -> None:
    found = features_of(make_scores("B"), make_scores("A"), make_scores("C", matched=("muscl",)))

    ranked = relevance.rank(found, [Logistic(("coverage",), (0.0,), (1.0,), (1.0,), 0.0)] * len(found.study_ids))

    assert [study for study, _ in ranked] == ["C", "A", "B"]


def test_the_rarer_word_has_the_higher_inverse_frequency() -> None:
    found = Vocabulary.of((("a", 0), ("b", 1), ("c", 10)), 10)
    cases = [(), (("set", 5), ("muscl", 9)), (("sauna", 0),)]

    assert found.idf["a"] > found.idf["b"] > found.idf["c"] == pytest.approx(math.log(1 + 0.5 / 10.5))
    known = [(v.rarest, v.unknown_share) for v in (Vocabulary.of(frequency, 10) for frequency in cases)]
    assert known == [(None, 1.0), ("set", 0.0), ("sauna", 1.0)]


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
