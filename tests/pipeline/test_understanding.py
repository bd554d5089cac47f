"""What was understood of a question, as clients read it, and what else may be asked next."""

from __future__ import annotations

import pytest

from corpus_app.records import AgeGroup, Section
from qa_app.pipeline.query import Intent
from qa_app.pipeline.question.sources import NamedSources
from qa_app.pipeline.records import NamedSource, Number, Population
from qa_app.pipeline.understanding import MOST_RELATED, related_concepts, understanding_of
from tests.pipeline.values import make_concept, make_query

VOLUME = make_concept("volume", neighbours=("failure", "gone", "volume", "strength"))
STRENGTH = make_concept("strength", neighbours=("volume", "failure", "power"))
OTHERS = [make_concept(name) for name in ("failure", "power")]
BY_ID = {concept.concept_id: concept for concept in (VOLUME, STRENGTH, *OTHERS)}


@pytest.mark.parametrize(
    ("named", "related"),
    [
        ((), []),
        ((VOLUME,), ["failure", "strength"]),
        ((VOLUME, STRENGTH), ["failure", "power"]),
        ((OTHERS[0],), []),
    ],
)
def test_neighbours_that_the_question_does_not_name_are_related(named: tuple[object, ...], related: list[str]) -> None:
    found = related_concepts(make_query(concepts=named), BY_ID)

    assert [concept.concept_id for concept in found] == related


def test_only_a_few_are_related() -> None:
    many = {f"c{n}": make_concept(f"c{n}") for n in range(2 * MOST_RELATED)}

    found = related_concepts(make_query(concepts=(make_concept("hub", neighbours=tuple(many)),)), many)

    assert [concept.concept_id for concept in found] == [f"c{n}" for n in range(MOST_RELATED)]


def test_everything_that_was_read_of_a_question_is_told() -> None:
    people, number = Population(age_groups=(AgeGroup.OLDER_ADULTS,)), Number("10", "set")
    query = make_query(
        "I am old. Do 10 sets build strenght?", ask="Do 10 sets build strength?", intent=Intent.HOW_MANY,
        concepts=(VOLUME, STRENGTH), unstudied=(OTHERS[0],), intervention=("volume",), outcome=("strength", "unknown"),
        population=people, numbers=(number,), sections=(Section.RESULTS,), corrections=(("strenght", "strength"),),
        collection="training", sources=NamedSources(names=("Ogborn",)),
    )  # fmt: skip

    found = understanding_of(query, linked=(OTHERS[1],))

    assert (found.concepts, found.unstudied, found.linked) == ((VOLUME, STRENGTH), (OTHERS[0],), (OTHERS[1],))
    assert (found.intervention, found.outcome, found.comparator) == ((VOLUME,), (STRENGTH,), ())
    assert (found.population, found.numbers, found.target_sections) == (people, (number,), (Section.RESULTS,))
    assert (found.core, found.ask, found.collection) == (query.ask, query.ask, "training")
    assert (found.intent, found.asks_for_figures, found.language) == ("how_many", True, "en")
    assert found.also_searched == ("strength", "power")
    assert found.sources == (NamedSource(author="Ogborn"),)


def test_a_question_that_asks_as_a_whole_has_no_core() -> None:
    assert understanding_of(make_query()).core == ""
