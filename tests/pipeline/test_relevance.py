"""Fitted models, the features they read, the parts of a question that nothing answers, and the confidence shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_app.records import AgeGroup, Sex, StudyScores, TrainingStatus
from qa_app.answers import engines
from qa_app.pipeline import confidence, learned, relevance
from qa_app.pipeline.coverage import missing_parts
from qa_app.pipeline.learned import BadModel, Logistic
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Population, Query
from qa_app.pipeline.relevance import NO_COSINE, Features, Vocabulary, read_features
from tests.pipeline.values import make_concept, make_query, make_scores, make_study

VOCABULARY = Vocabulary({"set": 1.0, "muscl": 3.0}, unknown_share=0.0)


def features_of(*scores: StudyScores) -> Features:
    studies = {score.study_id: make_study(score.study_id) for score in scores}
    return read_features(make_query(), scores, studies, VOCABULARY)


def test_the_gap_is_the_distance_to_the_best_study_and_a_missing_text_is_below_any_score() -> None:
    found = features_of(make_scores("A", title=(2.0, 0.4)), make_scores("B", title=(5.0, 0.7)), make_scores("C"))
    without_vectors = features_of(make_scores(title=(2.0, None), passage=(1.0, None)))

    assert found.column("title_cosine_gap") == pytest.approx([-0.3, 0.0, NO_COSINE - 0.7])
    assert found.column("title_bm25_gap") == pytest.approx([-3.0, 0.0, -5.0])
    for kind in ("question", "plain", "statement", "title", "passage"):
        assert (found.column(f"{kind}_cosine")[2], found.column(f"{kind}_bm25")[2]) == (NO_COSINE, 0.0)
        assert without_vectors.column(f"{kind}_cosine")[0] == NO_COSINE
    assert without_vectors.column("title_bm25")[0] == 2.0


def test_the_most_likely_study_comes_first_and_equals_by_id() -> None:
    found = features_of(make_scores("B"), make_scores("A"), make_scores("C", matched=("muscl",)))

    ranked = relevance.rank(found, [Logistic(("coverage",), (0.0,), (1.0,), (1.0,), 0.0)] * len(found.study_ids))

    assert [study for study, _ in ranked] == ["C", "A", "B"]


MODEL = Logistic(("cosine", "coverage"), (0.5, 0.25), (0.1, 0.5), (2.0, -1.0), 0.5, threshold=0.4)


def row_of(**models: Logistic) -> dict[str, Any]:
    return {
        "kind": "lead", "encoder": "word-hash@test", "data": "dev", "figures": {"meaning": {"auroc": 0.8}},
        "models": {name: model.as_row() for name, model in models.items()},
    }  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "lead.json"
    learned.write(path, row_of(meaning=MODEL, words=MODEL))
    return path


def test_a_model_file_reads_as_it_was_written(path: Path) -> None:
    found = learned.read(path)

    assert found.models == {"meaning": MODEL, "words": MODEL}
    assert (found.kind, found.encoder, found.data) == ("lead", "word-hash@test", "dev")
    assert found.figures == {"meaning": {"auroc": 0.8}}
    assert found.version == learned.version_of(row_of(meaning=MODEL, words=MODEL))


def test_a_file_changed_by_hand_is_refused(path: Path) -> None:
    whole = path.read_text()
    for one, other in (('"intercept": 0.5', '"intercept": 0.6'), ('"auroc": 0.8', '"auroc": 0.9'), ('"dev"', '"test"')):
        path.write_text(whole.replace(one, other))
        with pytest.raises(BadModel, match="changed by hand"):
            learned.read(path)


def test_what_is_no_model_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "lead.json"
    with pytest.raises(BadModel, match=r"lead\.json"):
        learned.read(path)

    for text in ("", "[]", "{}", "null", '{"models": {"meaning": {}}}'):
        path.write_text(text)
        with pytest.raises(BadModel, match="calibrate"):
            learned.read(path)


def test_a_chance_is_logistic_in_standardised_features_and_between_0_and_1() -> None:
    rows = [[0.5, 0.25], [0.6, 0.25], [0.5, 0.75]]  # the mean; one standard deviation more of the first, of the second
    far = MODEL.predict(np.array([[1e9, 0.0], [-1e9, 0.0]]))

    assert MODEL.predict(np.array(rows)) == pytest.approx([1 / (1 + np.exp(-x)) for x in (0.5, 2.5, -0.5)])
    assert 0 < far[1] < 1e-6 < 1 - 1e-6 < far[0] < 1


@pytest.mark.parametrize("folder", sorted(learned.FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_the_files_that_come_with_the_code_are_whole(folder: Path) -> None:
    files = [learned.read(folder / f"{kind}.json") for kind in engines.KINDS]

    assert [file.kind for file in files] == list(engines.KINDS)
    for file in files:
        assert set(file.models) == {"meaning", "words", "meaning_bare", "words_bare"}
        assert learned.folder_of(file.encoder) == folder
        assert set(file.figures) >= {"meaning", "words"}
        by_words = [name for kind, model in file.models.items() if kind.startswith("words") for name in model.names]
        assert not [name for name in by_words if "cosine" in name or "top3" in name]


POLICY = Policy()
CITED = "Ten weekly sets build muscle in men."


def missing(query: Query, *texts: str, idf: dict[str, float] | None = None, **study: object) -> tuple[str, ...]:
    shares = dict.fromkeys(query.terms, 1.0) if idf is None else idf
    return missing_parts(query, texts or (CITED,), [make_study(**study)], shares, lambda word: word != "muscel", POLICY)  # type: ignore[arg-type]


def test_a_word_that_nothing_cited_has_is_missing_as_it_was_written() -> None:
    for question, parts in {
        "Do weekly sets build muscle?": (), "Do saunas build muscle?": ("saunas",),
        "Does setting out to build Muscles work?": (), "muscel sets": (),  # a misspelt word is no part
    }.items():  # fmt: skip
        query = make_query(question)
        assert missing(query, idf={term: 1.0 for term in query.terms if term != "work"}) == parts


def test_the_rarest_comes_first_and_what_matters_little_is_not_named() -> None:
    four = {"creatin": 1.0, "sauna": 1.3, "sleep": 1.2, "caffein": 1.1}

    assert missing(make_query("creatine sauna sleep caffeine"), idf=four) == ("sauna", "sleep", "caffeine")
    assert missing(make_query("Do saunas build muscle?"), idf={"sauna": 0.1, "build": 1.0, "muscl": 3.0}) == ()
    assert missing_parts(make_query("sauna"), [], [], {"sauna": 1.0}, lambda _: True, POLICY) == ("sauna",)


def test_a_concept_that_no_study_is_about_is_named_once_unless_a_cited_text_mentions_it() -> None:
    query = make_query("Does a sauna build muscle?", unstudied=(make_concept("sauna"),))

    assert missing(query) == ("sauna",)
    assert missing(query, CITED, "They sat in a sauna.") == ()


def test_people_asked_about_whom_no_cited_study_includes_are_missing() -> None:
    women, older = Population(sexes=(Sex.FEMALE,)), Population(age_groups=(AgeGroup.OLDER_ADULTS,))
    trained = Population(training=(TrainingStatus.TRAINED,))
    for asked, own, parts in (
        (women, {"sex": Sex.MALE}, ("women",)), (women, {"sex": Sex.BOTH}, ()), (women, {"sex": Sex.FEMALE}, ()),
        (older, {"age_group": AgeGroup.ADULTS}, ("older adults",)), (older, {"age_group": AgeGroup.NOT_REPORTED}, ()),
        (trained, {"training_status": TrainingStatus.UNTRAINED}, ("trained people",)), (Population(), {}, ()),
    ):  # fmt: skip
        assert missing(make_query("Do weekly sets build muscle?", population=asked), **own) == parts


def test_the_confidence_is_the_chance_in_a_hundred_and_says_what_it_rests_on() -> None:
    for chance, score, label in (
        (0.0, 0, "low"), (0.444, 44, "low"), (0.45, 45, "medium"), (0.694, 69, "medium"), (0.696, 70, "high"), (1.0, 100, "high"),
    ):  # fmt: skip
        found = confidence.assess(chance, {"leader_question_cosine": 0.0, "likely": 1.0}, (), "lead-1", POLICY)
        assert (found.score, found.label, found.calibration) == (score, label, "lead-1")
    for cosine, likely, parts, reason in (
        (0.8, 1.0, (), "a curated question asks the same"), (0.0, 0.0, (), "no study stands out"),
        (0.0, 1.0, (), "one study stands out"), (0.0, 3.0, (), "3 studies are likely to answer"),
        (0.0, 1.0, (), "the cited studies use the question's words"),
        (0.0, 1.0, ("sauna",), "some words of the question stand in no cited study"),
    ):  # fmt: skip
        reasons = confidence.assess(
            0.5, {"leader_question_cosine": cosine, "likely": likely}, parts, "", POLICY
        ).reasons
        assert reason in reasons
        assert ("a curated question asks the same" in reasons) == (cosine > 0)
