"""Verification: whole sentences of a cited passage stay, word for word; everything else falls and says why."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import DraftSentence, LeftOut, LeftOutReason, Sentence, SentenceKind, Verdict
from qa_app.pipeline.verification import align_to_passage, find_span, verify
from tests.pipeline.values import TEXTS, make_candidate, make_evidence, make_passage

SAFE = "No trial found that creatine harms the kidneys. It was safe. It was safe in older adults, too."
LOADS = "In young men, heavy loads raised leg strength by 12% (95% CI 8 to 16). Sleep did not change in either group. Diet was free."
GAIN = "After three months the men who had lifted heavy weights had gained clearly more strength in the legs than the men on light weights."
TOLD = "Those lifting heavy saw their leg strength improve."
SURE, NEVER = Policy(support_high=0.0, support_medium=0.0), Policy(support_high=1.0, support_medium=1.0)


@given(TEXTS, st.data())
def test_neighbouring_sentences_give_back_their_words(text: str, data: st.DataObject) -> None:
    passage = make_passage(text)
    first = data.draw(st.integers(0, len(passage.sentences) - 1))
    last = data.draw(st.integers(first, len(passage.sentences) - 1))
    words = text[passage.sentences[first].start : passage.sentences[last].end]

    span = find_span(words, passage)

    assert passage.text[span.start : span.end] == span.quote == words


@given(TEXTS, st.integers(0, 200), st.integers(0, 200))
def test_a_span_begins_and_ends_with_a_sentence(text: str, start: int, end: int) -> None:
    passage = make_passage(text)

    span = find_span(text[start:end], passage)

    if span is not None:
        assert span.start in {s.start for s in passage.sentences}
        assert span.end in {s.end for s in passage.sentences}


def test_part_of_a_sentence_or_other_words_are_no_support() -> None:
    for claim in (
        "creatine harms the kidneys.", "No trial found", "It was safe in older adults", "kidneys. It was safe.",
        "it was safe.", "It was safe.  ", "It is safe.", " ", "",
    ):  # fmt: skip
        assert find_span(claim, make_passage(SAFE)) is None, claim


@pytest.mark.parametrize(("source", "claim"), [
    ("Larger trials are needed to establish that {}.", "Creatine improves strength in men."),
    ("The authors set out to show that {}.", "Creatine improves strength in men."),
    ("It was wrongly concluded that {}.", "Creatine improves strength in men."),
    ("A minority of trials found that {}.", "Creatine improves strength in men."),
    ("According to a common myth, {}.", "Creatine harms the kidneys."),
    ("The myth: {}.", "Creatine harms the kidneys."),
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
    ("Fat mass changed by −3.4 to −1.2 kg.", "Fat mass changed by −3.4."),
    ("Strength rose by 10 percent to 12 percent in the trained men.", "Strength rose by 10 percent."),
    ("Strength changed little (95% CI −3.4, −1.2) in men.", "Strength changed little (95% CI −3.4 to 1.2) in men."),
    ("The programme lasted 8-week to 12-week.", "The programme lasted 8-week."),
    ("In the trained group, glucose rose by 5 µmol/l.", "In the trained group, glucose rose by 5 mmol/l after training."),
    ("In men, peak power rose to 900 kW with training.", "Peak power rose to 900 W in men after training."),
    ("Muscle growth rose in mice after training.", "Muscle growth rose in monkeys after resistance training."),
])  # fmt: skip
def test_what_turns_a_sentence_round_is_not_trimmed_away_or_put_in(source: str, claim: str) -> None:
    kept, fallen = judged(claim, source.format(f"{claim[0].lower()}{claim[1:-1]}"))

    assert claim not in [sentence.text for sentence in kept]
    assert len(fallen) == 1


def test_a_span_is_counted_in_code_points_where_the_words_are_a_sentence() -> None:
    text = "We ask: It grew 💪. Ten sets 💪💪 were done. It grew 💪."

    span = find_span("It grew 💪.", make_passage(text))

    assert (span.start, span.end) == (text.rindex("It grew"), len(text))


def test_a_sentence_keeps_the_version_and_study_of_its_passage() -> None:
    candidate = make_candidate(SAFE, version=7, study="T009")
    drafted = DraftSentence("It was safe.", (candidate.passage.passage_id,), paragraph=1)

    (kept,), fallen = verify([drafted], make_evidence(candidate))

    [span] = kept.support
    assert (span.passage_version, span.study_id, kept.paragraph, kept.verdict) == (7, "T009", 1, Verdict.VERBATIM)
    assert fallen == ()


@pytest.mark.parametrize("passage_ids", [(), (999_999,)])
def test_a_sentence_that_cites_nothing_of_the_evidence_falls(passage_ids: tuple[int, ...]) -> None:
    kept, (fallen,) = verify([DraftSentence("It was safe.", passage_ids)], make_evidence(make_candidate(SAFE)))

    assert kept == ()
    assert fallen.reason is LeftOutReason.UNKNOWN_CITATION


@pytest.mark.parametrize(("text", "sources"), [
    ("It was safe.", (SAFE, SAFE, "Sets matter.")),
    ("Heavy loads raised leg strength by 12%.", (LOADS, LOADS, "Sets matter.")),
    (TOLD, (GAIN, f"Diet was free. {GAIN}", "Sets matter.")),
], ids=["quote", "near quote", "paraphrase"])  # fmt: skip
def test_a_sentence_is_supported_by_each_cited_passage_that_says_it(text: str, sources: tuple[str, ...]) -> None:
    (kept,), _ = judged(text, *sources, cites=3, policy=SURE)

    assert [span.study_id for span in kept.support] == ["T0", "T1"]


def judged(
    text: str, *sources: str, cites: int = 1, question: str = "is creatine safe?", **options: Any
) -> tuple[tuple[Sentence, ...], tuple[LeftOut, ...]]:
    """One sentence that cites the first `cites` of the sources, each of them a study's."""
    found = [make_candidate(source, study=f"T{n}") for n, source in enumerate(sources)]
    ids = tuple(candidate.passage.passage_id for candidate in found[:cites])
    return verify([DraftSentence(text, ids)], make_evidence(*found, question=question), **options)


def test_what_is_cut_down_or_joined_is_a_near_quote_with_its_sentences() -> None:
    for text in (
        "Heavy loads raised leg strength by 12%.",
        "In young men, the heavy loads raised leg strength by twelve per cent (95% CI 8–16).",
        "In young men, heavy loads raised leg strength by 12%; sleep did not change in either group.",
    ):
        (kept,), fallen = judged(text, LOADS)
        assert (kept.kind, kept.verdict, kept.support_level) == (SentenceKind.NEAR_QUOTE, Verdict.SUPPORTED, "high")
        assert (kept.text, fallen) == (text, ())
        assert kept.support[0].quote == LOADS[: kept.support[0].end]
    assert align_to_passage("Heavy loads.", make_passage(LOADS)) is None
    assert judged("Heavy loads.", LOADS)[0] == ()


@pytest.mark.parametrize(("text", "reason"), [
    ("In young men, heavy loads raised leg strength by 16% (95% CI 8 to 12).", LeftOutReason.NUMBER_MISMATCH),
    ("In old men, heavy loads raised leg strength by 12%.", LeftOutReason.POPULATION_MISMATCH),
    ("In young men, heavy loads reduced leg strength by 12%.", LeftOutReason.DIRECTION_MISMATCH),
    ("In young men, heavy loads never raised leg strength by 12%.", LeftOutReason.NEGATION_MISMATCH),
    ("In young men, heavy loads raised leg strength by 12% in space.", LeftOutReason.UNSUPPORTED),
    ("Heavy *loads* raised leg strength by 12%.", LeftOutReason.UNSUPPORTED),
    ("Heavy loads raised leg strength by 12%?", LeftOutReason.UNSUPPORTED),
])  # fmt: skip
def test_a_near_quote_that_differs_falls_with_the_words_that_differ(text: str, reason: LeftOutReason) -> None:
    kept, (fallen,) = judged(text, LOADS)

    assert kept == ()
    assert (fallen.reason, fallen.text) == (reason, text)
    assert "differs" in fallen.detail


def test_words_of_a_passage_that_is_not_cited_are_no_support() -> None:
    other = "We saw that sleep did not change in either group. In either group, sleep did not change. " + LOADS
    for text in ("Sleep did not change in either group.", "Sleep did not change."):
        kept, (fallen,) = judged(text, "Sets matter for growth.", other)

        assert kept == ()
        assert (fallen.what, fallen.reason, fallen.text) == ("sentence", LeftOutReason.UNSUPPORTED, text)
        assert "does not cite" in fallen.detail


def test_a_paraphrase_carries_the_sentences_nearest_to_it() -> None:
    (kept,), fallen = judged(TOLD, f"{SAFE} {GAIN}", policy=SURE)

    assert (kept.kind, kept.verdict, kept.support_level) == (SentenceKind.PARAPHRASE, Verdict.SUPPORTED, "high")
    assert [span.quote for span in kept.support] == [GAIN]
    assert fallen == ()


def test_a_weak_paraphrase_gives_way_to_a_quote() -> None:
    candidate = make_candidate(GAIN)
    drafted = [DraftSentence(text, (candidate.passage.passage_id,)) for text in (TOLD, GAIN)]
    evidence = make_evidence(candidate, question="heavy weights for strength?")

    (weak,), _ = judged(TOLD, GAIN, policy=Policy(support_high=1.0, support_medium=0.0))
    (kept,), (fallen,) = verify(drafted[:1], evidence, policy=NEVER)
    said_once, _ = verify(drafted, evidence, policy=NEVER)

    assert (weak.verdict, weak.support_level) == (Verdict.WEAK, "medium")
    assert (kept.text, kept.kind, kept.verdict) == (GAIN, SentenceKind.QUOTE, Verdict.VERBATIM)
    assert (fallen.text, fallen.reason) == (TOLD, LeftOutReason.UNSUPPORTED)
    assert said_once == (kept,)


@pytest.mark.parametrize(("text", "reason"), [
    ("Heavy lifting did 40% more for the strength of the legs than light weights.", LeftOutReason.NUMBER_MISMATCH),
    ("Heavy lifting did nothing more for the strength of the legs than light weights.", LeftOutReason.NEGATION_MISMATCH),
    ("The strength of male legs was reduced by training.", LeftOutReason.DIRECTION_MISMATCH),
    ("Those lifting heavy saw the strength of toddlers improve.", LeftOutReason.POPULATION_MISMATCH),
    ("Those lifting heavy saw their leg strength improve [x](y).", LeftOutReason.UNSUPPORTED),
])  # fmt: skip
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

    lenient = Policy(support_high=0.0, support_medium=0.01)
    assert judged(TOLD, GAIN, policy=lenient, judge=lambda claim, sentences: 1.0)[0]
    assert judged(TOLD, GAIN, policy=Policy(support_high=0.9, support_medium=0.01), judge=failing)[0] == ()
    assert judged("Bananas grow on tall trees.", GAIN, judge=lambda claim, sentences: 1.0)[0] == ()


@given(TEXTS, st.data())
def test_nothing_leaves_that_is_neither_in_a_cited_passage_nor_graded(text: str, data: st.DataObject) -> None:
    words = text.split()
    further = "not", "5", "kg", "women", "reduced"
    drawn = data.draw(st.lists(st.sampled_from([*words, *further]), min_size=1, max_size=12))
    candidate = make_candidate(text)

    kept, fallen = verify([DraftSentence(" ".join(drawn), (candidate.passage.passage_id,))], make_evidence(candidate))

    assert len(kept) <= 1
    assert kept or fallen
    for sentence in kept:
        assert all(text[span.start : span.end] == span.quote for span in sentence.support)
