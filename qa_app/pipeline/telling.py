"""Telling whoever watches of each sentence as soon as it is certain to stand in the answer."""

from __future__ import annotations

from collections.abc import Sequence

from qa_app.pipeline import citations
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.ports import Progress
from qa_app.pipeline.records import Answer, Evidence, Sentence


class Telling:
    """Tells each sentence once, the summary's before the answer's: so its numbers are those of the finished answer."""

    def __init__(self, evidence: Evidence, progress: Progress) -> None:
        self._evidence, self._progress = evidence, progress
        self._studies = {study.study_id: study for study in evidence.studies}
        self._told: dict[str, int] = {"summary": 0, "answer": 0}
        self._introduced = {1} if evidence.headline_study else set[int]()  # by the headline

    def tell(self, summary: Sequence[Sentence], answer: Sequence[Sentence]) -> None:
        """What these hold beyond what was told. A part may only have grown, and the summary only before any answer."""
        numbers = citations.number_studies((*summary, *answer), self._evidence)
        for part, sentences in (("summary", summary), ("answer", answer)):
            if len(sentences) == self._told[part]:
                continue
            numbered = attributed(citations.numbered(tuple(sentences), numbers), self._evidence)
            for index, sentence in enumerate(numbered[self._told[part] :], start=self._told[part]):
                new = [n for n in sentence.citations if n not in self._introduced]
                study_of = {number: study_id for study_id, number in numbers.items()}
                self._progress.sentence(part, index, sentence, {n: self._studies[study_of[n]] for n in new})
                self._introduced.update(new)
            self._told[part] = len(sentences)


def tell_whole(answer: Answer, progress: Progress) -> None:
    """An answer that was there at once: a refusal with what came nearest, or one counted from rows."""
    if answer.evidence:
        progress.evidence(answer.evidence, answer.query)
    studies = {citation.index: citation.study for citation in answer.citations}
    for part, sentences in (("summary", answer.summary), ("answer", answer.answer)):
        for index, sentence in enumerate(sentences):
            new = {number: studies.pop(number) for number in sentence.citations if number in studies}
            progress.sentence(part, index, sentence, new)
