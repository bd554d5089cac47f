"""Records without impossible states, what clients read of a question, and policies by name and figure."""

from dataclasses import fields, replace
from typing import Any

import pytest

from corpus_app.records import Section
from qa_app.answers import payload
from qa_app.pipeline.policy import DEFAULT, PRESETS, BadPolicy, Policy, read
from qa_app.pipeline.query import Intent, NamedSources, Query
from qa_app.pipeline.records import InsufficientEvidence, Outcome, Refused, Scope
from qa_app.pipeline.writer import EXTRACTIVE
from tests.pipeline.corpora import asked
from tests.pipeline.values import make_concept, make_evidence, make_query, make_question


def refuse(outcome: Outcome = Outcome.INSUFFICIENT_EVIDENCE, **changes: Any) -> Refused:
    values = {
        "question": make_question(), "query": make_query(), "scope": Scope.GLOBAL, "policy": DEFAULT, "message": "No.",
        "corpus_version": 1, "generator": EXTRACTIVE, "search": None, "timings_ms": {},
    }  # fmt: skip
    return Refused(outcome=outcome, **(values | changes))


def payload_of(query: Query) -> payload.Payload:
    stored = {"answer_id": "a", "url": "/a", "request_id": "r", "parent": None, "encoder": "e", "created_at": "now"}
    return payload.build_payload(refuse(query=query), **stored)


@pytest.mark.parametrize("outcome", Outcome)
def test_only_a_refusal_has_the_outcome_and_the_code_of_one(outcome: Outcome) -> None:
    if outcome.is_answer:
        with pytest.raises(ValueError, match="outcome of an answer"):
            refuse(outcome)
    else:
        assert refuse(outcome).outcome.code is not None


def test_evidence_without_passages_cannot_be_made() -> None:
    with pytest.raises(InsufficientEvidence):
        make_evidence()


VOLUME = make_concept("volume", neighbours=("failure", "gone", "volume", "strength"))
STRENGTH = make_concept("strength", neighbours=("volume", "failure", "power"))
OTHERS = [make_concept(name) for name in ("failure", "power")]


def test_everything_that_was_read_of_a_question_is_told() -> None:
    query = make_query(
        "I am old. Do 10 sets build strenght?", ask="Do 10 sets build strength?", intent=Intent.HOW_MANY,
        concepts=(VOLUME, STRENGTH), unstudied=(OTHERS[0],), intervention=("volume",), outcome=("strength", "unknown"),
        facets=asked(age_group="older_adults"), numbers=("10 set",), sections=(Section.RESULTS,),
        corrections=(("strenght", "strength"),), collection="training", sources=NamedSources(names=("Ogborn",)),
        linked=(OTHERS[1],),
    )  # fmt: skip

    body = payload_of(query)
    found = body["understood"]

    assert (found["concepts"], found["unstudied"]) == (["volume", "strength"], ["failure"])
    assert (found["intervention"], found["outcome"], found["comparator"]) == (["volume"], ["strength"], [])
    assert (found["population"]["age_groups"], found["numbers"]) == (["older_adults"], ["10 set"])
    assert (found["core"], found["ask"], body["scope"]["collection"]) == (query.ask, query.ask, "training")
    assert (found["intent"], found["asks_for_figures"], found["language"]) == ("how_many", True, "en")
    assert [source["author"] for source in found["sources"]] == ["Ogborn"]
    assert (body["target_sections"], body["also_searched"]) == (["results"], ["strength", "power"])
    assert payload_of(make_query("Does it work?", ask="Does it work?"))["understood"]["core"] is None


def another(value: Any) -> Any:
    return f"{value}-2" if isinstance(value, str) else not value if isinstance(value, bool) else value + 1


def test_every_preset_and_figure_has_its_own_label_and_can_be_set_from_outside() -> None:
    labels = [preset.label.rpartition("-") for preset in PRESETS.values()]

    assert set(PRESETS) == {"default", *(f"seed-00{n}" for n in (0, 1, 2, 4))} == {name for name, _, _ in labels}
    assert len({own for _, _, own in labels}) == len(PRESETS)
    for figure in (f.name for f in fields(Policy)):
        value = getattr(DEFAULT, figure)
        assert replace(DEFAULT, **{figure: another(value)}).label != DEFAULT.label
        assert figure == "name" or read(f"{figure}={value}") == DEFAULT


def test_a_policy_that_is_not_there_is_refused_in_words() -> None:
    for text, message in {
        "seed-003": "There is no preset 'seed-003'; there are default, seed-000, seed-001, seed-002, seed-004.",
        "default, magic=1": "'magic' is no figure of the policy; there are order, ",
        "default name=other": "'name' is no figure of the policy", "default pool=many": "pool=many cannot be read",
        "default pool=0": "pool must be 1 or more, not 0.", "default order=magic": "order=magic cannot be read",
        "default mode_weight=-1": "mode_weight must be 0 or more, not -1.",
        "default mode_weight=nan": "mode_weight must be 0 or more, not nan.",
        "default scope_detected=perhaps": "scope_detected is true or false, not 'perhaps'.",
        "default fusion=min_max": "'fusion' is no figure of the policy",  # a figure of a former engine
    }.items():  # fmt: skip
        with pytest.raises(BadPolicy) as refused:
            read(text)
        assert message in str(refused.value)
