"""The scores of studies against a question: both maxima of each kind of text, with what the best texts belong to."""

from typing import Any

import numpy as np
import pytest
from django.db import connection

from corpus_app import curation, indexing, models, search
from corpus_app.models import Passage, PassageVector, Study, StudyTextVector
from corpus_app.records import Direction, StudyScores, TextKind
from corpus_app.sources import FindingDraft
from tests import snapshots
from tests.builders import make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]

QUESTION = "How many weekly sets build bigger thighs?"


_saved: list[snapshots.Rows] = []


@pytest.fixture
def corpus() -> list[Study]:
    """Four published studies with all kinds of texts, embedded."""
    if _saved:
        _saved[0].restore()
    else:
        _saved.append(snapshots.Rows.made_by(make_corpus))
    return list(Study.objects.order_by("study_id"))


def make_corpus() -> None:
    subjects = [("weekly sets", "thighs"), ("rest", "strength"), ("protein", "muscle"), ("creatine", "sprints")]
    for name, (subject, outcome) in zip("ABCD", subjects, strict=True):
        make_study(
            study_id=name, title=f"{subject} and {outcome}", texts=(f"More {subject} built {outcome}.", "Nobody fell.")
        )
        takeaway, asked_as = f"More {subject} build bigger {outcome}.", f"How much {subject} for bigger {outcome}?"
        curation.revise_study(name, by=None, by_name="test", takeaway=takeaway, asked_as=asked_as)
        words = (f"{outcome} grew.", f"Does {subject} help {outcome}?", f"{outcome} got bigger.")
        finding = FindingDraft(subject, "none", outcome, Direction.INCREASE, *words)
        curation.set_findings(name, [finding], by=None, by_name="test")
    indexing.index_stale()


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


def test_the_nearest_questions_are_returned_with_the_study_that_answers_them(corpus: list[Study]) -> None:
    vector = np.array(search.encode_question(QUESTION))
    near = [question for scores in ask().values() for question in scores.near_questions]
    rows = StudyTextVector.objects.filter(kind="question").values_list("text__text", "study__study_id", "vector")

    assert {(one.text, one.study_id, round(one.nearness, 2)) for one in near} == {
        (text, study_id, round(float(np.dot(own, vector)), 2)) for text, study_id, own in rows
    }


def test_the_best_texts_tell_what_they_belong_to(corpus: list[Study]) -> None:
    best = ask("Does weekly sets help thighs?")["A"].best
    finding = corpus[0].findings.get()
    question, plain, statement = best["question"].by_words, best["plain"].by_words, best["statement"].by_meaning

    assert question
    assert (question.words, question.finding_id, question.passage_id) == (
        "Does weekly sets help thighs?", finding.pk, None,
    )  # fmt: skip
    assert best["question"].cosine == pytest.approx(1, abs=1e-3)
    assert plain
    assert Passage.with_plain.filter(study=corpus[0], kind="plain", pk=plain.passage_id).exists()
    assert statement
    assert statement.finding_id == finding.pk
    passage = best["passage"].by_words
    assert passage
    assert (passage.text_id, passage.passage_id) == (None, corpus[0].passages.get(position=0).pk)


def test_what_is_not_searchable_is_neither_scored_nor_matched(corpus: list[Study]) -> None:
    states = ({"status": "draft"}, {"status": "withdrawn"}, {"notice": "retracted"})
    for row, state in zip(corpus, states, strict=False):
        Study.objects.filter(pk=row.pk).update(**state)
        indexing.sync_studies([row.pk])

    assert set(ask()) == {"D"}
    assert set(ask("Does protein help creatine?")["D"].matched) >= {"creatin", "help"}
    assert "protein" not in ask("Does protein help creatine?")["D"].matched
    assert [scores.study_id for scores in search.score_studies("creatine protein", ())] == ["D"]
    Study.objects.all().delete()
    assert search.score_studies(QUESTION, [search.encode_question(QUESTION)]) == search.score_studies("", ()) == ()


def test_an_approximate_index_finds_the_same(corpus: list[Study], monkeypatch: pytest.MonkeyPatch) -> None:
    exact, one = ask(), ask("protein", limit=1)
    connection.check_constraints()  # nothing may be pending when an index is built
    monkeypatch.setattr(models, "ANN_FROM", 0)
    assert len(indexing.maintain_ann([search.encoder_name()])) >= 2 + len(TextKind)

    assert ask() == exact
    assert ask("protein", limit=1) == one
    assert set(ask(collection="training")) == set(exact)


def add_questions(study_id: str, *questions: str) -> None:
    curation.revise_study(study_id, by=None, by_name="test", asked_as="\n".join(questions))
    indexing.index_stale()


def test_the_mean_of_the_three_best_is_that_of_all_texts_of_the_kind(corpus: list[Study]) -> None:
    add_questions("A", "Do weekly sets build thighs?", "Sets for thighs?", "How many weekly sets?", "Is rest good?")
    vector = np.array(search.encode_question(QUESTION))

    found = ask()
    best = found["A"].best["question"]

    assert {study: found[study].best["question"].top3 for study in "BCD"} == dict.fromkeys("BCD")  # too few
    vectors = StudyTextVector.objects.filter(study=corpus[0], kind="question").values_list("vector", flat=True)
    cosines = sorted((float(np.dot(one, vector)) for one in vectors), reverse=True)
    assert len(cosines) > 3
    assert best.top3 == pytest.approx(np.mean(cosines[:3]), abs=2e-3)
    assert best.cosine == pytest.approx(cosines[0], abs=2e-3)


def test_a_study_matches_the_words_of_all_its_texts(corpus: list[Study]) -> None:
    matched = {study: scores.matched for study, scores in ask("Does protein or sleep help muscles grow?").items()}

    assert {"protein", "muscl"} <= matched["C"]  # of its passages and its title
    assert "help" in matched["A"]  # of a curated question
    assert "protein" not in matched["A"]
    assert not [study for study, words in matched.items() if "sleep" in words]
