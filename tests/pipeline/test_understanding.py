"""What was understood of a question, as clients read it, and what else may be asked next."""

from __future__ import annotations

import pytest

from corpus_app.records import AgeGroup, Section
from qa_app.answers import payload
from qa_app.pipeline.concepts import neighbours
from qa_app.pipeline.query import Intent, NamedSources, Population
from tests.pipeline.test_records import make_answer
from tests.pipeline.values import make_concept, make_query

VOLUME = make_concept("volume", neighbours=("failure", "gone", "volume", "strength"))
STRENGTH = make_concept("strength", neighbours=("volume", "failure", "power"))
OTHERS = [make_concept(name) for name in ("failure", "power")]
BY_ID = {concept.concept_id: concept for concept in (VOLUME, STRENGTH, *OTHERS)}


@pytest.mark.parametrize(
    ("named", "near"),
    [
        ((), []),
        ((VOLUME,), ["failure", "strength"]),
        ((VOLUME, STRENGTH), ["failure", "power"]),
        ((OTHERS[0],), []),
    ],
)
def test_neighbours_are_one_hop_away_and_not_named(named: tuple[object, ...], near: list[str]) -> None:
    assert [concept.concept_id for concept in neighbours(named, BY_ID)] == near  # type: ignore[arg-type]


def test_everything_that_was_read_of_a_question_is_told() -> None:
    query = make_query(
        "I am old. Do 10 sets build strenght?", ask="Do 10 sets build strength?", intent=Intent.HOW_MANY,
        concepts=(VOLUME, STRENGTH), unstudied=(OTHERS[0],), intervention=("volume",), outcome=("strength", "unknown"),
        population=Population(age_groups=(AgeGroup.OLDER_ADULTS,)), numbers=("10 set",), sections=(Section.RESULTS,),
        corrections=(("strenght", "strength"),), collection="training", sources=NamedSources(names=("Ogborn",)),
        linked=(OTHERS[1],),
    )  # fmt: skip

    body = payload.build_payload(
        make_answer(query=query), answer_id="a", url="/a", request_id="r", parent=None, encoder="e", created_at="now"
    )
    found = body["understood"]

    assert (found["concepts"], found["unstudied"]) == (["volume", "strength"], ["failure"])
    assert (found["intervention"], found["outcome"], found["comparator"]) == (["volume"], ["strength"], [])
    assert (found["population"]["age_groups"], found["numbers"]) == (["older_adults"], ["10 set"])
    assert (found["core"], found["ask"], body["scope"]["collection"]) == (query.ask, query.ask, "training")
    assert (found["intent"], found["asks_for_figures"], found["language"]) == ("how_many", True, "en")
    assert [source["author"] for source in found["sources"]] == ["Ogborn"]
    assert (body["target_sections"], body["also_searched"]) == (["results"], ["strength", "power"])


def test_a_question_that_asks_as_a_whole_has_no_core() -> None:
    query = make_query("Does it work?", ask="Does it work?")
    body = payload.build_payload(
        make_answer(query=query), answer_id="a", url="/a", request_id="r", parent=None, encoder="e", created_at="now"
    )

    assert body["understood"]["core"] is None
