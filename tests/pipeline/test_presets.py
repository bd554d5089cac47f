"""Each preset ranks passages in the order of its document, and the engine answers from those it keeps."""

from dataclasses import replace
from itertools import pairwise

import pytest

from qa_app.answers import answering, engines
from qa_app.answers.corpus import SearchedCorpus
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.policy import PRESETS, Order, Policy
from qa_app.pipeline.records import Declined, Ending, Mode, Question
from qa_app.pipeline.run import Searched
from qa_app.pipeline.text import clean

pytestmark = pytest.mark.usefixtures("corpus", "db")

SETS = "How many sets a week do I need for each muscle to get bigger?"
KIDNEYS = "Does creatine change how well your kidneys filter the blood?"
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


@pytest.mark.parametrize("preset", [PRESETS["default"], *DOCUMENTED], ids=lambda preset: preset.name)
def test_the_engine_answers_from_what_a_preset_keeps_in_its_own_order(preset: Policy) -> None:
    for question, study in ((SETS, VOLUME), (KIDNEYS, KIDNEY)):
        answer = ask(question, preset)
        kept = {candidate.passage.passage_id: candidate.passage for candidate in answer.passages}
        cited = {citation.study.study_id for citation in answer.citations}

        assert answer.outcome.is_answer
        assert answer.headline is not None
        assert (answer.policy.name, answer.policy.label) == (preset.name, preset.label)
        assert study in cited
        assert cited <= {passage.study.study_id for passage in kept.values()}
        for span in (span for sentence in (*answer.summary, *answer.answer) for span in sentence.support):
            assert kept[span.passage_id].text[span.start : span.end] == span.quote
        if preset in DOCUMENTED:
            best = [candidate.score for candidate in answer.passages]
            assert list(kept) == [candidate.passage.passage_id for candidate in search(question, preset).ranked[:5]]
            assert len(kept) == preset.evidence_passages == 5
            assert all(first >= second - preset.recency_band for first, second in pairwise(best))


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_no_preset_answers_what_the_studies_do_not(preset: Policy) -> None:
    answer = ask("Does a sauna help against jet lag?", preset)

    assert not answer.outcome.is_answer
    assert answer.message
