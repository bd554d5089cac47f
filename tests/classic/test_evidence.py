"""Evidence: never empty, within its budgets, from different places, and everything left out with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Direction, Finding, NearFinding, Section, Sex
from qa_app.classic.evidence import find_citable, location, select, study_signals, with_studies
from qa_app.classic.policy import Policy
from qa_app.classic.query import understand
from qa_app.pipeline.records import Candidate, Evidence, InsufficientEvidence, LeftOutReason
from tests.classic.values import (
    POLICY,
    SENTENCES,
    candidate_lists,
    make_candidate,
    make_concept,
    make_question,
    make_study,
)

QUESTION = make_question()
UNDERSTANDING = understand(QUESTION, concepts=(), collections=())
policies = st.builds(
    Policy,
    evidence_passages=st.integers(1, 12),
    evidence_studies=st.integers(1, 5),
    passages_per_study=st.integers(1, 4),
    near_duplicate_jaccard=st.floats(0.6, 1.0),
    bears_from=st.integers(0, 50),
)


def chosen_from(candidates: tuple[Candidate, ...] | list[Candidate], policy: Policy = POLICY) -> Evidence:
    return select(candidates, question=QUESTION, understanding=UNDERSTANDING, policy=policy)


def ids(evidence: Evidence) -> list[int]:
    return [c.passage.passage_id for c in evidence.passages]


def reasons(evidence: Evidence) -> list[LeftOutReason]:
    return [entry.reason for entry in evidence.left_out]


@given(candidate_lists())
def test_evidence_has_at_most_12_passages_of_5_studies(candidates: tuple[Candidate, ...]) -> None:
    evidence = chosen_from(candidates)

    assert 1 <= len(evidence.passages) <= 12
    assert len(evidence.studies) <= 5
    assert max(Counter(c.passage.study.study_id for c in evidence.passages).values()) <= 3


@given(candidate_lists(), policies)
def test_no_two_passages_stand_at_one_location(candidates: tuple[Candidate, ...], policy: Policy) -> None:
    locations = [location(c, policy) for c in chosen_from(candidates, policy).passages]

    assert len(set(locations)) == len(locations)


@given(candidate_lists(), policies)
def test_every_candidate_is_chosen_or_left_out_with_a_reason(candidates: tuple[Candidate, ...], policy: Policy) -> None:
    evidence = chosen_from(candidates, policy)

    left_out = [entry.passage_id for entry in evidence.left_out]
    assert sorted(ids(evidence) + left_out) == sorted(c.passage.passage_id for c in candidates)
    assert all(entry.detail and entry.study_id for entry in evidence.left_out)


@given(candidate_lists(), policies)
def test_evidence_keeps_the_order_of_the_ranking(candidates: tuple[Candidate, ...], policy: Policy) -> None:
    ranked = [c.passage.passage_id for c in candidates]

    assert ids(chosen_from(candidates, policy)) == [n for n in ranked if n in ids(chosen_from(candidates, policy))]


@given(candidate_lists(), policies)
def test_raising_the_budget_never_removes_evidence(candidates: tuple[Candidate, ...], policy: Policy) -> None:
    small, large = policy, replace(policy, evidence_passages=policy.evidence_passages + 1)

    assert ids(chosen_from(candidates, large))[: policy.evidence_passages] == ids(chosen_from(candidates, small))


@given(candidate_lists())
def test_the_best_passage_is_always_chosen(candidates: tuple[Candidate, ...]) -> None:
    assert chosen_from(candidates).passages[0] is candidates[0]


def test_no_candidates_are_no_evidence() -> None:
    with pytest.raises(InsufficientEvidence):
        chosen_from([])


def test_evidence_cannot_be_written_empty() -> None:
    with pytest.raises(InsufficientEvidence):
        Evidence(QUESTION, UNDERSTANDING, ())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"study": "T001", "position": 2}, LeftOutReason.DUPLICATE_LOCATION),
        ({"study": "T002", "text": SENTENCES[0]}, LeftOutReason.NEAR_DUPLICATE),
        ({"study": "T002", "bears": 39}, LeftOutReason.BELOW_THRESHOLD),
        ({"study": "T002"}, None),
        ({"study": "T001", "position": 3}, None),
        ({"study": "T001", "position": 2, "section": Section.METHODS}, None),
        ({"study": "T001", "position": 0, "page": 7}, None),
    ],
)
def test_a_second_passage_is_left_out_for_its_reason(changes: dict[str, object], reason: LeftOutReason | None) -> None:
    first = make_candidate(SENTENCES[0], study="T001", position=0, bears=60)
    second = make_candidate(**({"text": SENTENCES[6], "position": 0} | changes))  # type: ignore[arg-type]

    assert reasons(chosen_from([first, second])) == ([reason] if reason else [])


def test_a_passage_that_bears_far_less_than_the_best_is_left_out() -> None:
    first = make_candidate(SENTENCES[0], study="T001", bears=90)
    second = make_candidate(SENTENCES[6], study="T002", bears=53)

    assert reasons(chosen_from([first, second], replace(POLICY, bears_share=0.6))) == [LeftOutReason.BELOW_THRESHOLD]
    assert reasons(chosen_from([first, second], replace(POLICY, bears_share=0.5))) == []


def test_the_thirteenth_passage_is_beyond_the_budget() -> None:
    places = [(study, position) for position in (0, 3, 6) for study in range(5)]
    candidates = [
        make_candidate(f"Trial{n} found{n} that{n} growth{n}.", study=f"T{study}", position=position)
        for n, (study, position) in enumerate(places)
    ]

    evidence = chosen_from(candidates)

    assert len(evidence.passages) == POLICY.evidence_passages == 12
    assert reasons(evidence) == [LeftOutReason.BUDGET] * 3


def test_one_study_gives_no_more_than_its_cap() -> None:
    candidates = [make_candidate(SENTENCES[n], position=3 * n) for n in range(5)]

    assert reasons(chosen_from(candidates)) == [LeftOutReason.STUDY_CAP] * 2


def test_a_sixth_study_is_beyond_the_budget() -> None:
    candidates = [make_candidate(SENTENCES[n], study=f"T{n:03}") for n in range(6)]

    evidence = chosen_from(candidates)

    assert [c.passage.study.study_id for c in evidence.passages] == ["T000", "T001", "T002", "T003", "T004"]
    assert reasons(evidence) == [LeftOutReason.BUDGET]


def test_a_study_that_may_be_quoted_gives_more_passages_and_need_not_bear_as_much() -> None:
    candidates = [make_candidate(SENTENCES[n], position=3 * n, bears=90 - 20 * n) for n in range(5)]

    evidence = select(candidates, question=QUESTION, understanding=UNDERSTANDING, policy=POLICY, citable={"T001": 0.9})

    assert len(evidence.passages) == 5
    assert evidence.citable == {"T001": 0.9}


@given(candidate_lists())
def test_the_first_study_may_always_be_quoted(candidates: tuple[Candidate, ...]) -> None:
    citable = find_citable(candidates, understanding=UNDERSTANDING, policy=POLICY)

    assert candidates[0].passage.study.study_id in citable
    assert set(citable) <= {c.passage.study.study_id for c in candidates}


@given(candidate_lists(), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_bar_never_lets_in_more_studies(candidates: tuple[Candidate, ...], one: float, other: float) -> None:
    low, high = (
        find_citable(candidates, understanding=UNDERSTANDING, policy=replace(POLICY, cites_from=bar))
        for bar in sorted((one, other))
    )

    assert high.items() <= low.items()


def test_a_study_far_behind_the_first_is_not_quoted() -> None:
    close = make_candidate(SENTENCES[0], study="T001", score=2.0, cosine=0.7)
    far = make_candidate(SENTENCES[6], study="T002", score=0.4, cosine=0.2)

    assert find_citable([close, far], understanding=UNDERSTANDING, policy=POLICY).keys() == {"T001"}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("what did Carpinelli write in 2009?", {"T002"}),
        ("what did Carpinelli write?", {"T001"}),
        ("what did Otto find?", {"T003"}),
        ("what did young people carpinelli find?", {"T001"}),
    ],
    ids=["author and year", "author", "first author first", "no capital letter"],
)
def test_where_an_author_is_named_nobody_else_is_quoted(asked: str, expected: set[str]) -> None:
    authors = {"T001": ("Carpinelli RN", "Otto RM"), "T002": ("Carpinelli RN",), "T003": ("Otto RM",)}
    candidates = [
        make_candidate(
            SENTENCES[0], study=make_study(name, authors=own, year=2009 if name == "T002" else 2004), score=2.0 - n
        )
        for n, (name, own) in enumerate(authors.items())
    ]

    assert find_citable(candidates, understanding=UNDERSTANDING, policy=POLICY, asked=asked).keys() == expected


def test_what_may_be_quoted_has_the_first_call_on_the_budget_and_keeps_its_rank() -> None:
    others = [make_candidate(SENTENCES[n], study="T001", position=3 * n, score=2.0) for n in range(2)]
    quotable = make_candidate(SENTENCES[6], study="T002", score=1.0)

    evidence = select(
        [*others, quotable],
        question=QUESTION,
        understanding=UNDERSTANDING,
        policy=replace(POLICY, evidence_passages=2),
        citable={"T002": 0.9},
    )

    assert ids(evidence) == [others[0].passage.passage_id, quotable.passage.passage_id]
    assert reasons(evidence) == [LeftOutReason.BUDGET]


def test_every_study_that_may_be_quoted_is_heard_before_one_is_heard_out() -> None:
    first = [make_candidate(SENTENCES[n], study="T001", position=3 * n, score=2.0) for n in range(4)]
    second = make_candidate(SENTENCES[6], study="T002", score=1.0)

    evidence = select(
        [*first, second],
        question=QUESTION,
        understanding=UNDERSTANDING,
        policy=replace(POLICY, evidence_passages=3),
        citable={"T001": 0.9, "T002": 0.9},
    )

    assert ids(evidence) == [c.passage.passage_id for c in (first[0], first[1], second)]


def test_of_a_study_that_may_be_quoted_what_it_found_goes_before_its_limits() -> None:
    limits = make_candidate(SENTENCES[0], study="T002", position=0, section=Section.LIMITATIONS, score=2.0)
    found = make_candidate(SENTENCES[1], study="T002", position=3, section=Section.RESULTS, score=1.0)
    first = make_candidate(SENTENCES[2], study="T001", score=3.0)

    def chosen(question: str, citable: dict[str, float]) -> list[int]:
        asked = make_question(question)
        understanding = understand(asked, concepts=(), collections=())
        policy = replace(POLICY, evidence_passages=2)
        return ids(
            select([first, limits, found], question=asked, understanding=understanding, policy=policy, citable=citable)
        )

    both = {"T001": 0.9, "T002": 0.9}
    assert chosen("how many sets?", both) == [first.passage.passage_id, found.passage.passage_id]
    assert chosen("what are the limitations?", both) == [first.passage.passage_id, limits.passage.passage_id]
    assert chosen("how many sets?", {"T001": 0.9}) == [first.passage.passage_id, limits.passage.passage_id]


@pytest.mark.parametrize(
    ("question", "citable", "kept"),
    [
        ("do more sets help?", ("T001",), "results"),
        ("do more sets help?", (), "methods"),
        ("what methods did they use?", ("T001",), "methods"),
    ],
)
def test_what_a_quoted_study_found_goes_before_how_it_was_done(
    question: str, citable: tuple[str, ...], kept: str
) -> None:
    sections = (Section.CONCLUSION, Section.METHODS, Section.RESULTS)
    ranked = [
        make_candidate(SENTENCES[n], position=3 * n, section=section, score=3.0 - n)
        for n, section in enumerate(sections)
    ]
    asked = make_question(question)

    evidence = select(
        ranked,
        question=asked,
        understanding=understand(asked, concepts=(), collections=()),
        policy=replace(POLICY, evidence_passages=2),
        citable=dict.fromkeys(citable, 0.9),
    )

    assert [candidate.passage.section.value for candidate in evidence.passages] == ["conclusion", kept]


def test_the_best_passage_is_chosen_whatever_it_tells() -> None:
    sections = (Section.METHODS, Section.RESULTS, Section.CONCLUSION)
    ranked = [
        make_candidate(SENTENCES[n], position=3 * n, section=section, score=3.0 - n)
        for n, section in enumerate(sections)
    ]

    evidence = select(
        ranked,
        question=QUESTION,
        understanding=UNDERSTANDING,
        policy=replace(POLICY, evidence_passages=2),
        citable={"T001": 0.9},
    )

    assert ids(evidence) == [candidate.passage.passage_id for candidate in ranked[:2]]


def test_studies_that_are_counted_join_in_the_place_of_second_passages() -> None:
    first = [make_candidate(SENTENCES[n], study="T001", position=3 * n, score=3.0) for n in range(2)]
    counted = make_candidate(SENTENCES[4], study="T002", section=Section.RESULTS, score=1.0)
    limits = make_candidate(SENTENCES[5], study="T003", section=Section.LIMITATIONS, score=1.0)
    policy = replace(POLICY, evidence_passages=2)
    evidence = chosen_from(first, policy)

    joined = with_studies(evidence, [*first, counted, limits], {"T002"}, (), policy)
    assert ids(joined) == [first[0].passage.passage_id, counted.passage.passage_id]
    assert [entry.passage_id for entry in joined.left_out] == [first[1].passage.passage_id]
    assert with_studies(evidence, [*first, counted, limits], {"T002", "T003"}, (), policy) == evidence
    assert with_studies(evidence, [*first, counted], {"T002"}, (), replace(policy, counted_studies=1)) == evidence
    alone = chosen_from(first[:1], replace(policy, evidence_passages=1))
    assert with_studies(alone, [*first, counted], {"T002"}, (), replace(policy, evidence_passages=1)) == alone


def test_what_a_study_compared_and_measured_speaks_for_it() -> None:
    growth, creatine = make_concept("muscle-growth"), make_concept("creatine", kind="nutrient", rarity=3.0)
    asked = make_question("does creatine help muscle growth?")
    understanding = understand(asked, concepts=(growth, creatine), collections=())
    candidates = [make_candidate(SENTENCES[0], study=study) for study in ("T001", "T002", "T003")]
    findings = [
        Finding("creatine", "placebo", "muscle growth", Direction.INCREASE, "It rose.", study_id="T001"),
        Finding("ten sets", "five sets", "muscle growth", Direction.INCREASE, "It rose.", study_id="T002"),
    ]
    near = [NearFinding("T001", 1, 0.5, ())]

    signals = study_signals(
        candidates, understanding=understanding, concepts=(growth, creatine), findings=findings, near=near
    )

    total = growth.rarity + creatine.rarity
    assert [signals[study]["matter"] for study in signals] == [1.0, growth.rarity / total, 0.0]
    assert signals["T001"]["detail"] == pytest.approx(0.6 - 0.5)
    assert signals["T003"]["detail"] == 0.0  # no finding: its closest passage stands in


@pytest.mark.parametrize(
    ("question", "interventions", "expected"),
    [
        ("do weights grow muscle?", ("creatine",), {"T001"}),
        ("do weights grow muscle?", ("creatine", "lifting"), {"T002"}),
        ("do weights grow muscle?", ("lifting",), {"T002"}),
        ("does creatine grow muscle?", ("creatine",), {"T001", "T002"}),
        ("does protein grow muscle?", ("creatine",), {"T001", "T002"}),
        ("do powder scoops grow muscle?", ("creatine",), {"T001", "T002"}),
    ],
    ids=["another thing", "lifting too", "lifting", "the same", "another nutrient", "a word of it"],
)
def test_where_nothing_to_eat_or_take_is_named_a_study_of_nothing_else_is_not_quoted_if_another_bears(
    question: str, interventions: tuple[str, ...], expected: set[str]
) -> None:
    concepts = (make_concept("creatine", "creatine powder", kind="nutrient"), make_concept("protein", kind="nutrient"))
    understanding = understand(make_question(question), concepts=concepts, collections=())
    candidates = [make_candidate(SENTENCES[0], study=study, score=2.0, cosine=0.7) for study in ("T001", "T002")]
    findings = [
        Finding(given, "control", "muscle growth", Direction.INCREASE, "It rose.", study_id=study)
        for study, all_given in (("T001", ("creatine",)), ("T002", interventions))
        for given in all_given
    ]

    citable = find_citable(
        candidates,
        understanding=understanding,
        policy=replace(POLICY, cites_from=0.0),
        concepts=concepts,
        findings=findings,
    )

    assert citable.keys() == expected


def test_what_was_tried_of_it_alone_is_quoted_where_nothing_bears() -> None:
    concepts = (make_concept("creatine", "creatine powder", kind="nutrient"),)
    understanding = understand(make_question("do weights grow muscle?"), concepts=concepts, collections=())
    ranked = [make_candidate(SENTENCES[0], study=study, score=2.0, cosine=0.7) for study in ("T001", "T002")]
    findings = [
        Finding(given, "control", "muscle growth", Direction.INCREASE, "It rose.", study_id=study)
        for study, given in (("T001", "creatine"), ("T002", "lifting"))
    ]
    policy = replace(POLICY, cites_from=1.1)

    citable = find_citable(ranked, understanding=understanding, policy=policy, concepts=concepts, findings=findings)

    assert citable.keys() == {"T001"}


@pytest.mark.parametrize(
    ("question", "intervention", "comparator", "is_quoted"),
    [
        ("does lifting lower body fat?", "keto diet and lifting", "usual diet and lifting", False),
        ("does lifting lower body fat?", "keto diet and lifting", "keto diet", True),
        ("does lifting lower body fat if I dont change what I eat?", "keto diet", "usual diet", False),
        ("does lifting and what I eat lower body fat?", "keto diet", "usual diet", True),
        ("does a keto diet lower body fat?", "keto diet", "usual diet", True),
    ],
    ids=["a diet", "lifting on a diet", "food as before", "food", "the diet"],
)
def test_a_diet_that_nobody_asked_about_is_not_quoted_beside_the_first(
    question: str, intervention: str, comparator: str, is_quoted: bool
) -> None:
    diet = make_concept("keto-diet", "keto eating", kind="intervention")
    concepts = (diet, make_concept("lifting", kind="intervention"), make_concept("body-fat"))
    asked = make_question(question)
    findings = [
        Finding("lifting", "nothing", "body fat", Direction.DECREASE, "It fell.", study_id="T001"),
        Finding(intervention, comparator, "body fat", Direction.DECREASE, "It fell.", study_id="T002"),
    ]

    citable = find_citable(
        [make_candidate(SENTENCES[0], study=study, score=2.0, cosine=0.7) for study in ("T001", "T002")],
        understanding=understand(asked, concepts=concepts, collections=()),
        policy=replace(POLICY, cites_from=0.0),
        concepts=concepts,
        findings=findings,
        asked=question,
    )

    assert ("T002" in citable) is is_quoted


@pytest.mark.parametrize(
    ("question", "age", "is_quoted"),
    [
        ("how many sets for my 77 year old gran?", AgeGroup.YOUTH, False),
        ("how many sets for my 77 year old gran?", AgeGroup.ADULTS, True),
        ("how many sets for my 77 year old gran and for teenagers?", AgeGroup.YOUTH, True),
        ("how many sets for my 77 year old gran and for teenagers?", AgeGroup.OLDER_ADULTS, True),
        ("how many sets for teenagers?", AgeGroup.OLDER_ADULTS, False),
        ("how many sets?", AgeGroup.YOUTH, True),
    ],
)
def test_children_say_nothing_of_old_people_nor_these_of_them(question: str, age: AgeGroup, is_quoted: bool) -> None:
    asked = make_question(question)
    stranger = make_candidate(SENTENCES[0], study=make_study("T001", age_group=age), score=2.0, cosine=0.7)
    other = make_candidate(SENTENCES[0], study=make_study("T002", age_group=AgeGroup.MIXED), score=1.0, cosine=0.7)

    def quoted(candidates: list[Candidate], cites_from: float = 0.0) -> set[str]:
        understanding = understand(asked, concepts=(), collections=())
        policy = replace(POLICY, cites_from=cites_from)
        return set(find_citable(candidates, understanding=understanding, policy=policy, asked=question))

    assert quoted([stranger, other]) == ({"T001", "T002"} if is_quoted else {"T002"})
    assert "T001" in quoted([stranger])  # nothing else is at hand: it is told whom it was found in
    assert "T001" in quoted([stranger, other], cites_from=1.1)  # nothing that bears


def test_where_strangers_are_left_out_nobody_takes_their_place_who_does_not_bear() -> None:
    asked = make_question("how many sets for my 77 year old gran?")
    ages = {"T001": AgeGroup.YOUTH, "T002": AgeGroup.MIXED, "T003": AgeGroup.MIXED}
    ranked = [
        make_candidate(
            SENTENCES[0], study=make_study(study, age_group=age), score=2.0, cosine=0.1 if study == "T002" else 0.8
        )
        for study, age in ages.items()
    ]
    understanding = understand(asked, concepts=(), collections=())

    def quoted(cites_from: float) -> dict[str, float]:
        return find_citable(ranked, understanding=understanding, policy=replace(POLICY, cites_from=cites_from))

    bar = quoted(0.0)["T003"]
    assert quoted(bar).keys() == {"T003"}


def test_whoever_is_named_is_quoted_whomever_they_studied() -> None:
    asked = "Would Sample's training suit my 77 year old gran?"
    own = make_study("T001", authors=("Sample CD",), age_group=AgeGroup.YOUTH)
    second = make_study("T002", authors=("Sample CD",), age_group=AgeGroup.OLDER_ADULTS)
    other = make_study("T003", authors=("Else EF",), age_group=AgeGroup.OLDER_ADULTS)
    understanding = understand(make_question(asked), concepts=(), collections=())
    ranked = [make_candidate(SENTENCES[0], study=study, score=2.0) for study in (own, second, other)]
    policy = replace(POLICY, cites_from=0.0)

    assert find_citable(ranked, understanding=understanding, policy=policy, asked=asked).keys() == {"T001", "T002"}


def test_a_passage_on_an_outcome_asked_about_takes_the_place_of_one_that_names_none() -> None:
    concepts = (make_concept("strength"), make_concept("sleep"))
    texts = ("Strength rose with sets.", "Attendance was high in both groups.", "Sleep did not change with sets.")

    def chosen(
        positions: tuple[int, ...],
        study: str = "T001",
        told: tuple[str, ...] = texts,
        asked: tuple[Section, ...] = (),
    ) -> list[str]:
        ranked = [
            make_candidate(text, study=study, position=position, score=3.0 - n)
            for n, (text, position) in enumerate(zip(told, positions, strict=True))
        ]
        evidence = select(
            ranked,
            question=QUESTION,
            understanding=replace(UNDERSTANDING, concepts=concepts, target_sections=asked),
            policy=replace(POLICY, evidence_passages=2),
            citable={"T001": 0.9},
        )
        return [candidate.passage.text for candidate in evidence.passages]

    assert chosen((0, 3, 6)) == [texts[0], texts[2]]
    assert chosen((0, 3, 4)) == [texts[0], texts[2]]  # from the same place
    assert chosen((0, 3, 1)) == [texts[0], texts[1]]  # its place is taken by what names another one
    assert chosen((0, 3, 6), "T002") == [texts[0], texts[1]]  # not to be quoted
    swapped = (texts[1], texts[0], texts[2])
    assert chosen((0, 3, 6), asked=(Section.RESULTS,)) == [texts[0], texts[1]]  # results were asked for
    assert chosen((0, 3, 1), told=swapped) == [texts[1], texts[0]]  # the best of all stays


@pytest.mark.parametrize(
    ("chance", "outcome", "measures", "is_told"),
    [
        (0.9, "muscle strength", (), True),
        (0.5, "muscle strength", (), False),
        (0.9, "sleep", (), False),
        (0.9, "grip", (("muscle-strength", "grip"),), True),
    ],
    ids=["found of what was asked", "hardly quoted", "of something else", "by what it is measured by"],
)
def test_what_a_study_found_of_an_outcome_asked_about_takes_the_place_of_another_passage_of_it(
    chance: float, outcome: str, measures: tuple[tuple[str, str], ...], is_told: bool
) -> None:
    told = ("Muscle strength matters to women.", "Muscle strength is worth training.", "Women gained 3 kg with bands.")
    ranked = [
        make_candidate(text, study="T001", position=3 * n, score=3.0 - n, section=section)
        for n, (text, section) in enumerate(zip(told, (*[Section.CONCLUSION] * 2, Section.RESULTS), strict=True))
    ]
    found = Finding("bands", "rest", outcome, Direction.INCREASE, "Women gained 3 kg with bands", study_id="T001")
    evidence = select(
        ranked,
        question=QUESTION,
        understanding=replace(
            UNDERSTANDING,
            concepts=(make_concept("muscle-strength"),),
            target_sections=(),
            measures=tuple((owner, make_concept(name)) for owner, name in measures),
        ),
        policy=replace(POLICY, evidence_passages=2),
        findings=[found],
        citable={"T001": chance},
    )

    assert [c.passage.text for c in evidence.passages] == [told[0], told[2] if is_told else told[1]]


def test_what_alone_names_another_outcome_asked_about_stays() -> None:
    told = (
        "Muscle strength matters to women.",
        "Sleep quality did not change at all.",
        "Women gained 3 kg with bands.",
    )
    ranked = [
        make_candidate(text, study="T001", position=3 * n, score=3.0 - n, section=Section.RESULTS)
        for n, text in enumerate(told)
    ]
    found = Finding("bands", "rest", "muscle strength", Direction.INCREASE, told[2].rstrip("."), study_id="T001")

    def chosen(*asked: str) -> list[str]:
        evidence = select(
            ranked,
            question=QUESTION,
            understanding=replace(UNDERSTANDING, concepts=tuple(map(make_concept, asked)), target_sections=()),
            policy=replace(POLICY, evidence_passages=2),
            findings=[found],
            citable={"T001": 0.9},
        )
        return [c.passage.text for c in evidence.passages]

    assert chosen("muscle-strength", "sleep") == [told[0], told[1]]
    assert chosen("muscle-strength") == [told[0], told[2]]


def test_no_passage_comes_in_that_another_study_says_in_the_same_words() -> None:
    told = ("Muscle strength matters to women.", "Muscle strength is worth training.", "Women gained 3 kg with bands.")
    ranked = [
        make_candidate(told[2], study="T002", score=4.0, section=Section.RESULTS),
        *(
            make_candidate(text, study="T001", position=3 * n, score=3.0 - n, section=Section.RESULTS)
            for n, text in enumerate(told)
        ),
    ]
    found = Finding("bands", "rest", "muscle strength", Direction.INCREASE, told[2].rstrip("."), study_id="T001")

    evidence = select(
        ranked,
        question=QUESTION,
        understanding=replace(UNDERSTANDING, concepts=(make_concept("muscle-strength"),), target_sections=()),
        policy=replace(POLICY, evidence_passages=3),
        findings=[found],
        citable={"T001": 0.9, "T002": 0.5},
    )

    assert [c.passage.text for c in evidence.passages] == [told[2], told[0], told[1]]


def test_a_study_of_other_people_is_quoted_less_readily() -> None:
    women = make_question("how many sets per week for muscle growth in women?")
    understanding = understand(women, concepts=(), collections=())
    first = make_candidate(SENTENCES[0], study=make_study("T001", sex=Sex.FEMALE))
    chances = {}
    for sex in (Sex.FEMALE, Sex.MALE):
        signals = study_signals(
            [first, make_candidate(SENTENCES[6], study=make_study("T002", sex=sex))], understanding=understanding
        )
        chances[sex] = signals["T002"]["others"]

    assert chances == {Sex.FEMALE: 0.0, Sex.MALE: 1.0}


@pytest.mark.parametrize(
    ("question", "cosine", "topics", "expected"),
    [
        ("does lifting lower blood pressure?", 0.7, (), {"T002"}),
        ("does lifting lower blood pressure?", 0.0, (), {"T001"}),
        ("does lifting lower blood pressure?", 0.7, ("heart-rate",), {"T001", "T002"}),
        ("is blood pressure lowered?", 0.7, (), {"T001", "T002"}),
        ("what did Example find on lifting and blood pressure?", 0.7, (), {"T001", "T002"}),
    ],
    ids=["another matter", "nothing else bears", "an outcome next to it", "nothing done", "an author named"],
)
def test_a_study_on_another_matter_is_not_quoted_beside_one_that_found_what_was_asked(
    question: str, cosine: float, topics: tuple[str, ...], expected: set[str]
) -> None:
    lifting = make_concept("lifting", kind="intervention", rarity=2.0)
    pressure = make_concept("blood-pressure", neighbours=("heart-rate", "lifting"), rarity=3.0)
    concepts = (lifting, pressure, make_concept("heart-rate"))
    understanding = understand(make_question(question), concepts=concepts, collections=())
    first = make_candidate(SENTENCES[0], study="T001", score=2.0, cosine=0.7)
    first = replace(first, passage=replace(first.passage, study=replace(first.passage.study, concepts=topics)))
    second = make_candidate(SENTENCES[1], study="T002", score=2.0 if cosine else 0.01, cosine=cosine)
    findings = [
        Finding("cuffs", "no cuffs", "muscle growth", Direction.INCREASE, "It rose.", study_id="T001"),
        Finding("lifting", "rest", "blood pressure", Direction.DECREASE, "It fell.", study_id="T002"),
    ]

    citable = find_citable(
        [first, second],
        understanding=understanding,
        policy=POLICY,
        concepts=concepts,
        findings=findings,
        asked=question,
    )

    assert citable.keys() == expected


def test_what_is_found_of_all_that_is_asked_is_all_of_it_whatever_the_rarities() -> None:
    concepts = tuple(make_concept(f"name-{n}", rarity=rarity) for n, rarity in enumerate((3.5835, 2.4849, 1.1, 0.7)))
    understanding = understand(
        make_question("name 0 and name 1 and name 2 and name 3"), concepts=concepts, collections=()
    )
    finding = Finding("name 0", "name 1", "name 2 and name 3", Direction.INCREASE, "It rose.", study_id="T001")

    signals = study_signals(
        [make_candidate(SENTENCES[0], study="T001")], understanding=understanding, concepts=concepts, findings=[finding]
    )

    assert signals["T001"]["matter"] == 1.0
