"""Report the sentences of an answer to `Progress` as soon as they are final."""

from __future__ import annotations

from collections.abc import Sequence

from qa_app.pipeline import citations
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.ports import Progress
from qa_app.pipeline.records import Counted, Evidence, Refused, Sentence


class SentenceReporter:
    """A reporter of each final sentence, once: the summary first, so that citation numbers are final."""

    def __init__(self, evidence: Evidence, progress: Progress) -> None:
        self._evidence, self._progress = evidence, progress
        self._studies = {study.study_id: study for study in evidence.studies}
        self._reported: dict[str, int] = {"summary": 0, "answer": 0}
        self._introduced = {1} if evidence.headline_study else set[int]()  # by the headline

    def report(self, summary: Sequence[Sentence], answer: Sequence[Sentence]) -> None:
        """Report the sentences added since the last call.

        A part may only grow, and the summary only while the answer is empty.
        """
        numbers = citations.number_studies((*summary, *answer), self._evidence)
        for part, sentences in (("summary", summary), ("answer", answer)):
            if len(sentences) == self._reported[part]:
                continue
            numbered = attributed(citations.numbered(tuple(sentences), numbers), self._evidence)
            for index, sentence in enumerate(numbered[self._reported[part] :], start=self._reported[part]):
                new = [n for n in sentence.citations if n not in self._introduced]
                study_of = {number: study_id for study_id, number in numbers.items()}
                self._progress.sentence(part, index, sentence, {n: self._studies[study_of[n]] for n in new})
                self._introduced.update(new)
            self._reported[part] = len(sentences)


def report_refusal(refused: Refused, progress: Progress) -> None:
    """Report the nearest passages of a refusal."""
    if refused.passages:
        progress.evidence(refused.passages, refused.query)


def report_count(counted: Counted, progress: Progress) -> None:
    """Report the sentences of an answer that was counted from rows."""
    studies = {citation.index: citation.study for citation in counted.citations}
    for part, sentences in (("summary", counted.summary), ("answer", counted.answer)):
        for index, sentence in enumerate(sentences):
            new = {number: studies.pop(number) for number in sentence.citations if number in studies}
            progress.sentence(part, index, sentence, new)
