"""Whoever watches is told exactly the answer: its sentences in order, with their numbers, and never one that falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qa_app.classic.generation import EXTRACTIVE, ExtractiveWriter
from qa_app.classic.policy import Policy
from qa_app.classic.run import answer_question

from qa_app.pipeline.ports import Abandoned, Unwatched, WriterFailed
from qa_app.pipeline.records import Candidate, Draft, DraftSentence, Evidence, Generator, Sentence, Study, Understanding
from tests.classic.values import POLICY, make_corpus, make_passage, make_question

TEXTS = {
    1: "Ten weekly sets per muscle increased growth more than five. Few sets still build muscle.",
    2: "Weekly sets per muscle raised growth in older adults. Growth was larger with more sets.",
    3: "Growth did not differ between weekly sets done in one session or in three.",
}
ASKED = "how many weekly sets per muscle for growth?"
CORPUS = make_corpus(*(make_passage(text, passage_id=pk, study=f"T00{pk}") for pk, text in TEXTS.items()))
TRUE = tuple((sentence.strip(" .") + ".", pk) for pk, text in TEXTS.items() for sentence in text.split(". "))
FALSE = (("Ten weekly sets per muscle increased growth more than six.", 1), ("Nobody should ever lift.", 2))

drafted = st.lists(st.sampled_from((*TRUE, *FALSE)), max_size=6)
drafts = st.lists(st.none() | st.tuples(drafted, drafted), min_size=1, max_size=3)


class Watcher(Unwatched):
    """Notes what it is told, and leaves when `leaves_after` stages have been."""

    def __init__(self, leaves_after: int | None = None) -> None:
        self.stages: list[str] = []
        self.passages: list[int] = []
        self.sentences: list[tuple[str, int, Sentence]] = []
        self.studies: dict[int, str] = {}
        self._leaves_after = leaves_after

    def is_abandoned(self) -> bool:
        return self._leaves_after is not None and len(self.stages) >= self._leaves_after

    def stage(self, name: str, milliseconds: float) -> None:
        assert milliseconds >= 0
        self.stages.append(name)

    def evidence(self, passages: Sequence[Candidate], understanding: Understanding) -> None:
        assert not self.sentences
        self.passages = [candidate.passage.passage_id for candidate in passages]

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None:
        assert self.passages
        self.sentences.append((part, index, sentence))
        self.studies |= {number: study.study_id for number, study in introduced.items()}


class Scripted:
    """Writes one draft, or fails."""

    def __init__(self, name: str, draft: tuple[Any, Any] | None) -> None:
        self.name = name
        self._draft = draft

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        if self._draft is None:
            raise WriterFailed("Nothing came.")
        summary, answer = (tuple(DraftSentence(text, (pk,)) for text, pk in part) for part in self._draft)
        return Draft(summary, answer), EXTRACTIVE


@given(drafts)
def test_what_is_told_is_the_answer_whatever_is_drafted(scripts: list[Any]) -> None:
    first, *others = (Scripted(f"w{number}", script) for number, script in enumerate(scripts))
    watcher = Watcher()

    answer = answer_question(
        make_question(ASKED), corpus=CORPUS, writer=first, fallbacks=others, policy=POLICY, progress=watcher
    )

    assert [row[2] for row in watcher.sentences] == [*answer.summary, *answer.answer]
    parts = (("summary", answer.summary), ("answer", answer.answer))
    assert [row[:2] for row in watcher.sentences] == [(part, n) for part, rows in parts for n in range(len(rows))]
    assert watcher.studies == {citation.index: citation.study.study_id for citation in answer.citations}
    if answer.outcome.is_answer:
        assert watcher.passages == [candidate.passage.passage_id for candidate in answer.evidence]


def test_once_nobody_waits_the_next_stage_does_not_begin() -> None:
    whole = Watcher()
    answer_question(make_question(ASKED), corpus=CORPUS, writer=ExtractiveWriter(), policy=POLICY, progress=whole)

    for after in range(len(whole.stages)):
        watcher = Watcher(leaves_after=after)
        with pytest.raises(Abandoned):
            answer_question(
                make_question(ASKED), corpus=CORPUS, writer=ExtractiveWriter(), policy=POLICY, progress=watcher
            )
        assert watcher.stages == whole.stages[:after]
