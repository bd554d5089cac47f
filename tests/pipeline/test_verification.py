"""Verification: whole sentences of a cited passage stay, word for word; everything else falls and says why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import DraftSentence, LeftOut, LeftOutReason, Sentence, SentenceKind, Verdict
from qa_app.pipeline.verification import Judge, align_to_passage, find_span, verify
from tests.pipeline.values import TEXTS, make_candidate, make_evidence, make_passage

SAFE = "No trial found that creatine harms the kidneys. It was safe. It was safe in older adults, too."
PART = "creatine harms the kidneys."


@given(TEXTS, st.data())
def test_neighbouring_sentences_of_a_passage_give_back_exactly_their_words(text: str, data: st.DataObject) -> None:
    passage = make_passage(text)
    first = data.draw(st.integers(0, len(passage.sentences) - 1))
    last = data.draw(st.integers(first, len(passage.sentences) - 1))
    words = text[passage.sentences[first].start : passage.sentences[last].end]

    span = find_span(words, passage)

    assert span is not None
    assert passage.text[span.start : span.end] == span.quote == words


@given(TEXTS, st.integers(0, 200), st.integers(0, 200))
def test_a_span_begins_and_ends_with_a_sentence(text: str, start: int, end: int) -> None:
    passage = make_passage(text)

    span = find_span(text[start:end], passage)

    if span is not None:
        assert span.start in {s.start for s in passage.sentences}
        assert span.end in {s.end for s in passage.sentences}


@pytest.mark.parametrize(
    "claim",
    [
        PART,
        "No trial found",
        "It was safe in older adults",
        "kidneys. It was safe.",
        "it was safe.",
        "It was safe.  ",
        "It is safe.",
        " ",
        "",
    ],
)
def test_part_of_a_sentence_or_other_words_are_no_support(claim: str) -> None:
    assert find_span(claim, make_passage(SAFE)) is None


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("Larger trials are needed to establish that creatine improves strength in men.", "Creatine improves strength in men."),
        ("The authors set out to show that creatine improves strength in men.", "Creatine improves strength in men."),
        ("It was wrongly concluded that creatine improves strength in men.", "Creatine improves strength in men."),
        ("A minority of trials found that creatine improves strength in men.", "Creatine improves strength in men."),
        ("According to a common myth, creatine harms the kidneys.", "Creatine harms the kidneys."),
        ("The myth: creatine harms the kidneys.", "Creatine harms the kidneys."),
        ("Creatine harms the kidneys, it is often claimed.", "Creatine harms the kidneys."),
        ("Creatine improved strength, a finding that later trials refuted.", "Creatine improved strength."),
        ("Creatine improved strength in only one of twelve trials.", "Creatine improved strength."),
        ("Creatine improved strength in 0 of 12 trials.", "Creatine improved strength."),
        ("Creatine improved strength in no more than 2 of 12 trials.", "Creatine improved strength."),
        ("Creatine improved strength in few trials.", "Creatine improved strength."),
        ("Strength rose by 10 in the trained group.", "Strength rose by 10 ‰ in the trained group."),
        ("Strength changed in the trained group.", "Strength ↓ changed in the trained group."),
        ("Strength changed in the trained group.", "Strength c\u0336h\u0336anged in the trained group."),
        ("Strength rose by 12 in the trained group.", "Strength rose by ٠12 in the trained group."),
    ],
)  # fmt: skip
def test_what_turns_a_sentence_round_is_not_trimmed_away_or_put_in(source: str, claim: str) -> None:
    candidate = make_candidate(source)
    sentence = DraftSentence(claim, (candidate.passage.passage_id,))

    kept, fallen = verify([sentence], make_evidence(candidate))

    assert claim not in [sentence.text for sentence in kept]
    assert len(fallen) == 1


def test_words_that_first_stand_inside_a_sentence_are_found_where_they_are_one() -> None:
    text = "We ask: It was safe. It was safe."

    span = find_span("It was safe.", make_passage(text))

    assert span is not None
    assert text[: span.start] == "We ask: It was safe. "


def test_offsets_count_code_points() -> None:
    span = find_span("It grew 💪.", make_passage("Ten sets 💪💪 were done. It grew 💪."))

    assert span is not None
    assert (span.start, span.end) == (len("Ten sets 💪💪 were done. "), len("Ten sets 💪💪 were done. It grew 💪."))


def test_a_sentence_keeps_the_version_and_study_of_its_passage() -> None:
    candidate = make_candidate(SAFE, version=7, study="T009")
    drafted = DraftSentence("It was safe.", (candidate.passage.passage_id,), paragraph=1)

    (kept,), fallen = verify([drafted], make_evidence(candidate))

    [span] = kept.support
    assert (span.passage_version, span.study_id, kept.paragraph, kept.verdict) == (7, "T009", 1, Verdict.VERBATIM)
    assert fallen == ()


def test_words_of_an_uncited_passage_are_no_support() -> None:
    cited, other = make_candidate("Sets matter.", study="T001"), make_candidate(SAFE, study="T002")
    drafted = DraftSentence("It was safe.", (cited.passage.passage_id,))

    kept, (fallen,) = verify([drafted], make_evidence(cited, other))

    assert kept == ()
    assert (fallen.what, fallen.reason, fallen.text) == ("sentence", LeftOutReason.UNSUPPORTED, "It was safe.")


@pytest.mark.parametrize("passage_ids", [(), (999_999,)])
def test_a_sentence_that_cites_nothing_of_the_evidence_falls(passage_ids: tuple[int, ...]) -> None:
    kept, (fallen,) = verify([DraftSentence("It was safe.", passage_ids)], make_evidence(make_candidate(SAFE)))

    assert kept == ()
    assert fallen.reason is LeftOutReason.UNKNOWN_CITATION


def test_a_sentence_is_supported_by_each_cited_passage_that_says_it() -> None:
    first, second, third = (make_candidate(text, study=f"T{n}") for n, text in enumerate([SAFE, SAFE, "Sets matter."]))
    drafted = DraftSentence("It was safe.", tuple(c.passage.passage_id for c in (first, second, third)))

    (kept,), _ = verify([drafted], make_evidence(first, second, third))

    assert [span.study_id for span in kept.support] == ["T0", "T1"]


# --- Near quotes ----------------------------------------------------------------------------------------------------------

LOADS = "In young men, heavy loads raised leg strength by 12% (95% CI 8 to 16). Sleep did not change in either group. Diet was free."


def judged(
    text: str,
    *sources: str,
    cites: int = 1,
    policy: Policy | None = None,
    judge: Judge | None = None,
    question: str = "is creatine safe?",
) -> tuple[tuple[Sentence, ...], tuple[LeftOut, ...]]:
    """One sentence that cites the first `cites` of the sources, each of them a study's."""
    candidates = [make_candidate(source, study=f"T{n}") for n, source in enumerate(sources)]
    ids = tuple(c.passage.passage_id for c in candidates[:cites])
    return verify([DraftSentence(text, ids)], make_evidence(*candidates, question=question), policy=policy, judge=judge)


@pytest.mark.parametrize(
    "text",
    [
        "Heavy loads raised leg strength by 12%.",
        "In young men, the heavy loads raised leg strength by twelve per cent (95% CI 8–16).",
        "In young men, heavy loads raised leg strength by 12%; sleep did not change in either group.",
    ],
)
def test_what_is_cut_down_or_joined_is_a_near_quote_with_its_sentences(text: str) -> None:
    (kept,), fallen = judged(text, LOADS)

    assert (kept.kind, kept.verdict, kept.support_level) == (SentenceKind.NEAR_QUOTE, Verdict.SUPPORTED, "high")
    assert kept.text == text
    assert kept.support[0].quote == LOADS[: kept.support[0].end]
    assert fallen == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("In young men, heavy loads raised leg strength by 16% (95% CI 8 to 12).", LeftOutReason.NUMBER_MISMATCH),
        ("In old men, heavy loads raised leg strength by 12%.", LeftOutReason.POPULATION_MISMATCH),
        ("In young men, heavy loads reduced leg strength by 12%.", LeftOutReason.DIRECTION_MISMATCH),
        ("In young men, heavy loads never raised leg strength by 12%.", LeftOutReason.NEGATION_MISMATCH),
        ("In young men, heavy loads raised leg strength by 12% in space.", LeftOutReason.UNSUPPORTED),
        ("Heavy *loads* raised leg strength by 12%.", LeftOutReason.UNSUPPORTED),
        ("Heavy loads raised leg strength by 12%?", LeftOutReason.UNSUPPORTED),
    ],
)
def test_a_near_quote_that_differs_falls_with_the_words_that_differ(text: str, reason: LeftOutReason) -> None:
    kept, (fallen,) = judged(text, LOADS)

    assert kept == ()
    assert (fallen.reason, fallen.text) == (reason, text)
    assert "differs" in fallen.detail


@pytest.mark.parametrize(
    "text", ["Sleep did not change in either group.", "In either group, sleep did not change.", "Sleep did not change."]
)
def test_words_of_a_passage_that_is_not_cited_are_no_support(text: str) -> None:
    kept, (fallen,) = judged(
        text,
        "Sets matter for growth.",
        "We saw that sleep did not change in either group. In either group, sleep did not change. " + LOADS,
    )

    assert kept == ()
    assert "does not cite" in fallen.detail


def test_passages_that_say_other_things_do_not_change_why_a_sentence_falls() -> None:
    alone, among = (
        judged("Heavy loads raised leg strength by 15%.", LOADS, *others)[1]
        for others in ((), ("Sets matter for growth.", "Sleep did not change in either group."))
    )

    assert [left.reason for left in among] == [left.reason for left in alone] == [LeftOutReason.NUMBER_MISMATCH]


def test_a_near_quote_is_laid_on_every_cited_passage_that_says_it() -> None:
    (kept,), _ = judged("Heavy loads raised leg strength by 12%.", LOADS, LOADS, "Sets matter.", cites=3)

    assert [span.study_id for span in kept.support] == ["T0", "T1"]


def test_too_few_words_are_no_near_quote() -> None:
    assert align_to_passage("Heavy loads.", make_passage(LOADS)) is None
    assert judged("Heavy loads.", LOADS)[0] == ()


# --- Paraphrases ----------------------------------------------------------------------------------------------------------

GAIN = "After three months the men who had lifted heavy weights had gained clearly more strength in the legs than the men on light weights."
TOLD = "Those lifting heavy saw their leg strength improve."
SURE, NEVER = Policy(support_high=0.0, support_medium=0.0), Policy(support_high=1.0, support_medium=1.0)


def test_a_paraphrase_carries_the_sentences_nearest_to_it() -> None:
    (kept,), fallen = judged(TOLD, f"{SAFE} {GAIN}", policy=SURE)

    assert (kept.kind, kept.verdict, kept.support_level) == (SentenceKind.PARAPHRASE, Verdict.SUPPORTED, "high")
    assert [span.quote for span in kept.support] == [GAIN]
    assert fallen == ()


def test_a_paraphrase_of_two_studies_carries_both() -> None:
    (kept,), _ = judged(TOLD, GAIN, f"Diet was free. {GAIN}", "Sets matter.", cites=3, policy=SURE)

    assert [span.study_id for span in kept.support] == ["T0", "T1"]


def test_a_paraphrase_between_the_thresholds_is_weak() -> None:
    (kept,), _ = judged(TOLD, GAIN, policy=Policy(support_high=1.0, support_medium=0.0))

    assert (kept.verdict, kept.support_level) == (Verdict.WEAK, "medium")


def test_a_paraphrase_without_support_falls() -> None:
    kept, (fallen,) = judged("Bananas grow on tall trees in the tropics.", GAIN)

    assert kept == ()
    assert fallen.reason is LeftOutReason.UNSUPPORTED


def test_a_weak_paraphrase_gives_way_to_the_quote_that_answers() -> None:
    (kept,), (fallen,) = judged(TOLD, GAIN, policy=NEVER, question="heavy weights for strength?")

    assert (kept.text, kept.kind, kept.verdict) == (GAIN, SentenceKind.QUOTE, Verdict.VERBATIM)
    assert (fallen.text, fallen.reason) == (TOLD, LeftOutReason.UNSUPPORTED)


def test_the_quote_is_not_said_twice() -> None:
    candidate = make_candidate(GAIN)
    drafted = [DraftSentence(text, (candidate.passage.passage_id,)) for text in (TOLD, GAIN)]

    kept, (fallen,) = verify(drafted, make_evidence(candidate, question="heavy weights for strength?"), policy=NEVER)

    assert [sentence.text for sentence in kept] == [GAIN]
    assert fallen.text == TOLD


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Heavy lifting did 40% more for the strength of the legs than light weights.", LeftOutReason.NUMBER_MISMATCH),
        ("Heavy lifting did nothing more for the strength of the legs than light weights.", LeftOutReason.NEGATION_MISMATCH),
        ("The strength of male legs was reduced by training.", LeftOutReason.DIRECTION_MISMATCH),
        ("Those lifting heavy saw the strength of toddlers improve.", LeftOutReason.POPULATION_MISMATCH),
        ("Those lifting heavy saw their leg strength improve [x](y).", LeftOutReason.UNSUPPORTED),
    ],
)  # fmt: skip
def test_a_paraphrase_that_brings_its_own_facts_falls(text: str, reason: LeftOutReason) -> None:
    source = "Training for three months had clearly raised leg strength in male students." if "male" in text else GAIN

    kept, (fallen,) = judged(text, source, policy=SURE)

    assert kept == ()
    assert fallen.reason is reason


def test_the_figures_of_a_paraphrase_must_stand_in_one_passage_in_order() -> None:
    source = "Of the 40 men, those on heavy weights gained 12 kg of leg strength in 9 weeks, far beyond what the light weights gave."
    told = "The legs became stronger by {} kg in {} weeks when the weights were heavy."

    assert judged(told.format(12, 9), source, policy=SURE)[0]
    assert judged(told.format(9, 12), source, policy=SURE)[1][0].reason is LeftOutReason.NUMBER_MISMATCH


def test_a_judge_can_only_lower_the_score_and_its_failure_is_no_support() -> None:
    def failing(claim: str, sentences: object) -> float:
        raise RuntimeError("no server")

    assert judged(TOLD, GAIN, policy=Policy(support_high=0.0, support_medium=0.01), judge=lambda claim, sentences: 1.0)[
        0
    ]
    assert judged(TOLD, GAIN, policy=Policy(support_high=0.9, support_medium=0.01), judge=failing)[0] == ()
    assert judged("Bananas grow on tall trees.", GAIN, judge=lambda claim, sentences: 1.0)[0] == ()


@given(TEXTS, st.data())
def test_nothing_leaves_that_is_neither_in_a_cited_passage_nor_graded(text: str, data: st.DataObject) -> None:
    words = text.split()
    drawn = data.draw(
        st.lists(st.sampled_from([*words, "not", "5", "kg", "women", "reduced"]), min_size=1, max_size=12)
    )
    candidate = make_candidate(text)

    kept, fallen = verify([DraftSentence(" ".join(drawn), (candidate.passage.passage_id,))], make_evidence(candidate))

    assert len(kept) <= 1
    assert kept or fallen
    for sentence in kept:
        assert all(text[span.start : span.end] == span.quote for span in sentence.support)


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("Fat mass changed by −3.4 to −1.2 kg.", "Fat mass changed by −3.4."),
        ("Strength rose by 10 percent to 12 percent in the trained men.", "Strength rose by 10 percent."),
        ("Strength changed little (95% CI −3.4, −1.2) in men.", "Strength changed little (95% CI −3.4 to 1.2) in men."),
        ("The programme lasted 8-week to 12-week.", "The programme lasted 8-week."),
        (
            "In the trained group, glucose rose by 5 µmol/l.",
            "In the trained group, glucose rose by 5 mmol/l after training.",
        ),
        ("In men, peak power rose to 900 kW with training.", "Peak power rose to 900 W in men after training."),
        ("Muscle growth rose in mice after training.", "Muscle growth rose in monkeys after resistance training."),
    ],
)
def test_another_range_unit_or_population_is_never_supported(source: str, claim: str) -> None:
    kept, _ = judged(claim, source)

    assert kept == ()
