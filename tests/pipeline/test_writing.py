"""Writers one after another until one holds; watchers see what stays and how long stages take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Study
from qa_app.pipeline import citations
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.policy import DEFAULT, Policy
from qa_app.pipeline.ports import Abandoned, OutOfTime, Unwatched, WriterFailed
from qa_app.pipeline.records import Draft, DraftSentence, Evidence, Generator, InsufficientEvidence, Sentence, Verdict
from qa_app.pipeline.writer import EXTRACTIVE, ExtractiveWriter
from qa_app.pipeline.writing import Written, write
from tests.pipeline.values import make_candidate, make_evidence

TEXTS = {
    1: "Ten weekly sets per muscle increased growth more than five. Few sets still build muscle.",
    2: "Weekly sets per muscle raised growth in older adults. Growth was larger with more sets.",
    3: "Growth did not differ between weekly sets done in one session or in three.",
}
TRUE = tuple((sentence.strip(" .") + ".", pk) for pk, text in TEXTS.items() for sentence in text.split(". "))
FALSE = (("Ten weekly sets per muscle increased growth more than six.", 1), ("Nobody should ever lift.", 2))
CANDIDATES = [make_candidate(text, passage_id=pk, study=f"T00{pk}") for pk, text in TEXTS.items()]
EVIDENCE = replace(make_evidence(*CANDIDATES), headline_study="T002")
Script = tuple[Sequence[tuple[str, int]], Sequence[tuple[str, int]]]
drafted = st.lists(st.sampled_from((*TRUE, *FALSE)), max_size=6)
scripts = st.lists(st.none() | st.tuples(drafted, drafted), min_size=1, max_size=3)


class Watcher(Unwatched):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.sentences: list[tuple[str, int, Sentence]] = []
        self.studies: dict[int, str] = {}

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None:
        assert not introduced.keys() & self.studies.keys()
        self.sentences.append((part, index, sentence))
        self.studies |= {number: study.study_id for number, study in introduced.items()}


class ScriptedWriter:
    """Writes one draft of sentences with the passages they cite, or fails."""

    def __init__(self, name: str, script: Script | None) -> None:
        self.name, self.asked = name, 0
        self._script = script

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        self.asked += 1
        if self._script is None:
            raise WriterFailed("Nothing came.")
        summary, answer = (tuple(DraftSentence(text, (pk,)) for text, pk in part) for part in self._script)
        return Draft(summary, answer), Generator(self.name, "1", tokens=10, cost=0.1)


def written_by(*writers: ScriptedWriter) -> tuple[Written | None, Watcher]:
    watcher = Watcher()
    try:
        return write(writers, EVIDENCE, DEFAULT, Clock(progress=watcher)), watcher
    except InsufficientEvidence:
        return None, watcher


GOOD: Script = ([TRUE[0]], [TRUE[2]])
BAD: Script = ([FALSE[0]], [FALSE[1]])


@given(scripts)
def test_what_is_told_is_the_answer_and_nothing_made_up(scripts: list[Script | None]) -> None:
    written, watcher = written_by(*(ScriptedWriter(f"w{n}", script) for n, script in enumerate(scripts)))

    summary, answer = (written.summary, written.answer) if written else ((), ())
    assert not {sentence.text for sentence in (*summary, *answer)} & {text for text, _ in FALSE}
    numbers = citations.number_studies((*summary, *answer), EVIDENCE)
    parts = {
        part: attributed(citations.numbered(sentences, numbers), EVIDENCE)
        for part, sentences in (("summary", summary), ("answer", answer))
    }
    assert watcher.sentences == [(part, n, s) for part, own in parts.items() for n, s in enumerate(own)]
    cited = {number for own in parts.values() for sentence in own for number in sentence.citations}
    assert watcher.studies == {number: study for study, number in numbers.items() if number in cited - {1}}


def test_rejected_sentences_keep_their_reasons() -> None:
    unasked = ScriptedWriter("last", GOOD)
    twice = ScriptedWriter("extractive", ([TRUE[0], TRUE[0]], [TRUE[2]]))
    written, _ = written_by(ScriptedWriter("llm", BAD), twice, unasked)

    assert [sentence.text for sentence in written.summary] == [TRUE[0][0]]  # said once
    assert {entry.text for entry in written.rejected} == {text for text, _ in FALSE}
    assert written.attempts[0].verdicts == ("number_mismatch", "negation_mismatch")
    assert set(written.attempts[1].verdicts) == {Verdict.VERBATIM}
    assert (written.generator.tokens, written.generator.cost, unasked.asked) == (20, 0.2, 0)


def test_the_extractive_writer_hands_over_what_was_composed() -> None:
    composed = Draft((DraftSentence(TRUE[0][0], (1,)),), (DraftSentence(TRUE[2][0], (2,)),))

    assert ExtractiveWriter().write(replace(EVIDENCE, draft=composed), DEFAULT) == (composed, EXTRACTIVE)
    with pytest.raises(InsufficientEvidence):
        ExtractiveWriter().write(EVIDENCE, DEFAULT)


class StageWatcher(Unwatched):
    """Notes the stages, and leaves when `leaves_after` of them have finished."""

    def __init__(self, leaves_after: int = 99) -> None:
        self.stages: list[tuple[str, float]] = []
        self.leaves_after = leaves_after

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.stages]

    def is_abandoned(self) -> bool:
        return len(self.stages) >= self.leaves_after

    def stage(self, name: str, milliseconds: float) -> None:
        self.stages.append((name, milliseconds))


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by 1, 2, 3, ... seconds from one look at it to the next: 0, 1, 3, 6, 10, 15."""
    times = iter([n * (n + 1) / 2 for n in range(20)])
    monkeypatch.setattr("qa_app.pipeline.clock.perf_counter", lambda: next(times))


@pytest.mark.usefixtures("seconds")
def test_once_nobody_waits_or_the_time_is_over_no_stage_begins() -> None:
    class Over:
        def require(self) -> None:
            raise OutOfTime(30.0)

    watcher = StageWatcher()
    clock = Clock(progress=watcher)
    with clock("scope"):
        pass
    with clock("encode"):  # runs on, and is told to nobody
        watcher.leaves_after = 1

    with pytest.raises(Abandoned), clock("rank"):
        raise AssertionError
    with pytest.raises(OutOfTime, match="longer than 30 seconds"), Clock(limit=Over())("rank"):
        raise AssertionError
    assert watcher.names == ["scope"]
    assert clock.spent["encode"] == 3000.0
