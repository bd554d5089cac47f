"""Each preset ranks passages in the order of its document, and the engine answers from those it keeps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from qa_app.answers import answering, engines
from qa_app.answers.corpus import SearchedCorpus
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.policy import PRESETS, Order, Policy
from qa_app.pipeline.records import Candidate, Declined, Ending, Mode, Question
from qa_app.pipeline.run import Searched
from qa_app.pipeline.text import clean

pytestmark = pytest.mark.usefixtures("corpus", "db")

SETS = "How many sets a week do I need for each muscle to get bigger?"
KIDNEYS = "Does creatine change how well your kidneys filter the blood?"
LIMITS = "What are the limitations of the studies on creatine and the kidneys?"
DOCUMENTED = [
    replace(preset, distance_gate=preset.distance_gate and 2.0)  # texts of a hash encoder lie farther apart
    for preset in PRESETS.values()
    if preset.order is not Order.RELEVANCE
]
VOLUME, KIDNEY = "S018", "S079"


def ask(text: str, policy: Policy, mode: Mode = Mode.BEGINNER, collection: str | None = None) -> Ending:
    return answering.make(Question(text, clean(text), mode, collection), writer="extractive", policy=policy)


def search(text: str, policy: Policy, mode: Mode = Mode.BEGINNER) -> Searched:
    question = Question(text, clean(text), mode)
    found = engines.engine(policy).search(question, corpus=SearchedCorpus(), clock=Clock())
    assert not isinstance(found, Declined)
    return found


def steps(candidate: Candidate) -> set[str]:
    return {because.step for because in candidate.because}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize(("question", "study"), [(SETS, VOLUME), (KIDNEYS, KIDNEY)])
def test_the_engine_answers_from_what_a_preset_keeps(preset: Policy, question: str, study: str) -> None:
    answer = ask(question, preset)

    assert answer.outcome.is_answer
    assert (answer.policy.name, answer.policy.label) == (preset.name, preset.label)
    assert 1 <= len(answer.passages) <= preset.evidence_passages
    assert study in {citation.study.study_id for citation in answer.citations}
    assert answer.headline is not None
    assert {c.study.study_id for c in answer.citations} <= {c.passage.study.study_id for c in answer.passages}


@pytest.mark.parametrize("preset", DOCUMENTED, ids=lambda preset: preset.name)
@pytest.mark.parametrize("question", [SETS, KIDNEYS, LIMITS])
def test_the_five_passages_of_an_answer_stand_in_the_presets_own_order(preset: Policy, question: str) -> None:
    answer, whole = ask(question, preset), search(question, preset)

    shown = [candidate.passage.passage_id for candidate in answer.passages]
    assert len(shown) == 5
    assert shown == [candidate.passage.passage_id for candidate in whole.ranked[:5]]
    best = [candidate.score for candidate in answer.passages]
    assert all(first >= second - preset.recency_band for first, second in pairwise(best))


@pytest.mark.parametrize("preset", DOCUMENTED, ids=lambda preset: preset.name)
def test_every_quotation_stands_in_a_passage_that_the_preset_kept(preset: Policy) -> None:
    for mode in Mode:
        answer = ask(SETS, preset, mode)
        kept = {candidate.passage.passage_id: candidate.passage.text for candidate in answer.passages}
        for sentence in (*answer.summary, *answer.answer):
            for span in sentence.support:
                assert kept[span.passage_id][span.start : span.end] == span.quote


def test_the_presets_do_not_all_keep_the_same() -> None:
    kept = {preset.name: tuple(c.passage.passage_id for c in ask(LIMITS, preset).passages) for preset in DOCUMENTED}

    assert len(set(kept.values())) > 2


def test_words_and_meaning_and_the_reader_count_in_the_first() -> None:
    beginner, intermediate = (search(SETS, PRESETS["seed-000"], mode).ranked for mode in Mode)

    assert all({"words", "meaning"} <= steps(candidate) for candidate in beginner)
    assert [c.passage.passage_id for c in beginner] != [c.passage.passage_id for c in intermediate]


def test_neighbouring_concepts_are_searched_in_the_second_where_little_was_found() -> None:
    question = "Does creatine monohydrate help goalkeepers in water polo?"

    alone, second = ask(question, PRESETS["default"]), ask(question, PRESETS["seed-001"])

    assert (alone.search.linked, alone.query.linked) == (None, ())
    assert second.search.linked is not None
    assert second.query.linked
    assert second.query.also_searched


def test_sections_that_the_question_aims_at_come_up_in_the_third() -> None:
    ranked = search(LIMITS, PRESETS["seed-002"]).ranked
    plain = search(LIMITS, PRESETS["seed-004"]).ranked

    assert any("section" in steps(candidate) for candidate in ranked)
    assert not any("section" in steps(candidate) for candidate in plain)


def test_the_words_of_the_question_come_first_in_the_fourth() -> None:
    hits = [candidate.keyword_hits for candidate in search(SETS, PRESETS["seed-004"]).ranked]

    assert hits == sorted(hits, reverse=True)
    assert hits[0] > 0


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("question", ["Does a sauna help against jet lag?", "Who won the world cup in 1990?"])
def test_no_preset_answers_what_the_studies_do_not(preset: Policy, question: str) -> None:
    answer = ask(question, preset)

    assert not answer.outcome.is_answer
    assert answer.message
