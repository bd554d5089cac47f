"""One greedy objective chooses what to quote: relevant, new, from more than one side, within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Lean, Passage, Section
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.quotations import Quotation, cut
from qa_app.pipeline.selection import SelectionContext, select
from tests.pipeline.values import make_passage, make_plain, make_query, make_scope, passage_lists

POLICY = Policy()
GENEROUS = Policy(least_gain=-9.0, least_share=-9.0)
"""Takes whatever fits."""
SETS = "Ten weekly sets build more muscle than five."
SETS_AGAIN = "Ten weekly sets build more muscle than five did."
REST = "Long rests between sets helped strength."


def options_of(*passages: Passage) -> list[Quotation]:
    return [quotation for passage in passages for quotation in cut(passage)]


def choose(
    options: Sequence[Quotation], scope: SelectionContext | None = None, policy: Policy = GENEROUS, *, words: int = 200,
    most: int = 9,
) -> list[str]:  # fmt: skip
    chosen = select(options, scope or make_scope(), policy, words=words, most_of=lambda _: most)
    return [" ".join(quotation.sentences) for quotation in chosen]


def test_the_nearest_sentence_comes_first_then_what_is_new_and_repetition_is_left_out() -> None:
    repeating = options_of(make_passage(SETS_AGAIN), make_passage(REST), make_passage(SETS))
    strict = Policy(least_gain=-9.0, least_share=-9.0, redundancy_weight=2.0)

    assert choose(repeating[1:])[0] == SETS
    assert choose(repeating, policy=strict)[1] == REST
    assert len(choose(repeating[::2], policy=Policy(redundancy_weight=2.0))) == 1
    unrelated = options_of(make_passage("Nobody slept.", section=Section.METHODS))
    assert choose(unrelated, make_scope(chances={}), POLICY) == []


def test_words_of_the_question_that_nothing_chosen_has_are_covered() -> None:
    query = make_query("Do sets and protein build muscle?")
    protein = "Protein helped as well."
    options = options_of(make_passage(SETS), make_passage(REST), make_passage(protein))

    assert choose(options, make_scope(query, vector=None))[:2] == [SETS, protein]


def test_the_budget_of_words_and_of_quotations_holds_but_for_a_first_quotation() -> None:
    options = options_of(make_passage(SETS), make_passage(REST), make_passage(f"{REST[:-1]} in both of the groups."))

    assert [len(choose(options, words=words)) for words in (1, 8, 13, 14, 200)] == [1, 1, 1, 2, 3]
    assert [len(choose(options, most=most)) for most in (0, 1, 2)] == [0, 1, 2]


def test_a_finding_that_leans_the_other_way_is_preferred() -> None:
    first = make_plain(SETS, finding_id=1)
    same, other = make_plain(REST, study="B", finding_id=2), make_plain(f"{REST[:-1]} too.", study="C", finding_id=3)
    leans = {1: Lean.YES, 2: Lean.YES, 3: Lean.NO}
    scope = make_scope(leans=leans, chances={"A": 0.9, "B": 0.5, "C": 0.5})

    chosen = select(options_of(first, same, other), scope, GENEROUS, words=200, most_of=lambda _: 1)

    assert [quotation.study_id for quotation in chosen] == ["A", "C", "B"]


@given(passage_lists(), st.integers(0, 60), st.integers(1, 3))
def test_a_selection_repeats_nothing_and_stays_within_its_limits(
    passages: list[Passage], words: int, most: int
) -> None:
    options = options_of(*passages)
    shown = options[:2]

    chosen = select(options, make_scope(), GENEROUS, words=words, most_of=lambda _: most)
    others = select(options, make_scope(), GENEROUS, words=200, most_of=lambda _: 9, excluded=shown)

    sentences = [text for q in chosen for text in q.sentences]
    assert len(set(sentences)) == sum(len(set(q.sentences)) for q in chosen)
    assert len(chosen) <= 1 or sum(q.words for q in chosen) <= words
    assert all(sum(q.study_id == study for q in chosen) <= most for study in "ABC")
    assert {text for q in shown for text in q.sentences}.isdisjoint(text for q in others for text in q.sentences)
