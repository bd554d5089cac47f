"""A writer that lets a language model draft summary and answer from frozen evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from common.orders import visible
from corpus_app.records import Passage
from qa_app.pipeline import verification
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import WriterFailed
from qa_app.pipeline.records import Draft, DraftSentence, Evidence, Generator
from qa_app.writers import prompting
from qa_app.writers.drafts import Bounds, DraftPart, Unreadable, complete_rows, read_part
from qa_app.writers.model_server import ModelServer
from qa_app.writers.prompting import PARTS, Plan, ReplyRequest, prompt_name
from qa_app.writers.records import Deadline, ModelRequest, Reply, ServerFailed

EMPTY_PART = DraftPart()
MAX_RECORDED_REPLY = 20_000  # characters stored of a reply
LEAST_SENTENCES = 3  # verified ones, before a number of words is enough
ENOUGH_WORDS = 2  # times the words that a reader wants; a model that ends by itself tells what it used
MAX_ROWS = 2  # times as many sentences as wanted, verified or not: a model that goes on and on is stopped


@dataclass(frozen=True)
class ModelWriter:
    """A writer that asks a language model; the strict one retries with fewer passages."""

    server: ModelServer
    deadline: Deadline
    is_strict: bool = False
    parts: tuple[str, ...] = tuple(PARTS)
    """Parts to write: one request each, or one for both where the model's context is small."""

    @property
    def name(self) -> str:
        return "llm"

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        if self.deadline.is_over:
            raise WriterFailed("No time is left for the language model.", reason="timeout", is_final=True)
        plan = prompting.plan(
            evidence.question,
            evidence.passages,
            policy,
            self.parts,
            context_tokens=self.server.context_tokens(self.deadline),
            is_strict=self.is_strict,
        )
        readers = {request.part: _reader(request, plan, evidence, policy) for request in plan.requests}
        replies = self._ask(plan, readers)
        generator = self._generator(plan, list(replies.values()))
        received = {part: visible(reply.text[:MAX_RECORDED_REPLY]) for part, reply in replies.items()}
        try:
            read = {part: _read(readers[part], reply) for part, reply in replies.items()}
        except Unreadable as error:
            raise WriterFailed(str(error), reason="unreadable", generator=generator, received=received) from error
        if all(part.is_not_found for part in read.values()):
            raise WriterFailed(
                "The language model found no answer in the passages.",
                reason="not_found",
                generator=generator,
                received=received,
            )
        if plan.is_small and len(self.parts) > 1:
            read = readers[self.parts[-1]].split(read[self.parts[-1]])
        summary, answer = (read.get(part, EMPTY_PART) for part in PARTS)
        return (
            Draft(
                summary.sentences,
                answer.sentences,
                dropped=(*summary.dropped, *answer.dropped),
                received=received,
                labels={label: passage.passage_id for label, passage in plan.material.labels.items()},
                timings_ms={part: round(1000 * reply.seconds, 3) for part, reply in replies.items()},
            ),
            generator,
        )

    def _ask(self, plan: Plan, readers: Mapping[str, DraftReader]) -> dict[str, Reply]:
        """Return the reply to each request. Raises WriterFailed."""
        requests = [
            ModelRequest(
                request.part,
                [{"role": "system", "content": request.prompt}, {"role": "user", "content": plan.material.text}],
                plan.schema(),
                plan.schema(request.bounds),
                plan.reply_tokens,
                readers[request.part],
            )
            for request in plan.requests
        ]
        try:
            replies = self.server.complete_all(requests, self.deadline)
        except ServerFailed as failure:
            is_final = failure.reason != "too_long"  # the next prompt is shorter
            raise WriterFailed(str(failure), reason=failure.reason, is_final=is_final) from failure
        return {request.name: reply for request, reply in zip(requests, replies, strict=True)}

    def _generator(self, plan: Plan, replies: Sequence[Reply]) -> Generator:
        costs = [reply.cost for reply in replies if reply.cost is not None]
        return Generator(
            self.name,
            "3",
            self.server.model,
            prompt_name(self.is_strict, is_small=plan.is_small),
            tokens=sum(reply.tokens for reply in replies),
            cost=sum(costs) if costs else None,
        )


class DraftReader:
    """Reads a draft while it is written, and verifies each sentence once it is complete."""

    def __init__(
        self, labels: Mapping[str, Passage], question: str, bounds: Bounds, words: int,
        is_verified: Callable[[DraftSentence], bool],
    ) -> None:  # fmt: skip
        self._labels, self._question, self._bounds, self._words = labels, question, bounds, words
        self._is_verified = is_verified
        self._verdicts: dict[str, bool] = {}
        self._ends = 0

    def read(self, text: str) -> DraftPart:
        """Return the draft's sentences. Raises Unreadable."""
        return read_part(text, self._labels, question=self._question, bounds=self._bounds)

    def is_enough(self, text: str) -> bool:
        """Tell whether enough sentences are verified, or so many have come that the rest is not worth waiting for."""
        ends = text.count("}")
        if ends == self._ends:
            return False
        self._ends = ends
        rows = sum(1 for _ in complete_rows(text))
        try:
            verified = [s for s in self.read(text).sentences if self._verdict(s)] if rows else []
        except Unreadable:
            return False
        words = sum(len(sentence.text.split()) for sentence in verified)
        return (
            (len(verified) >= self._bounds.sentences and rows > self._bounds.sentences)
            or (len(verified) >= LEAST_SENTENCES and words >= ENOUGH_WORDS * self._words)
            or rows >= MAX_ROWS * self._bounds.sentences
        )

    def is_usable(self, text: str) -> bool:
        """Tell whether a sentence is complete."""
        return any(True for _ in complete_rows(text))

    def split(self, part: DraftPart) -> dict[str, DraftPart]:
        """Divide one draft into summary and answer: the first verified sentences, at most half, are the summary."""
        verified = [place for place, sentence in enumerate(part.sentences) if self._verdict(sentence)]
        short = min(max(len(verified) // 2, 1), LEAST_SENTENCES)
        end = verified[short - 1] + 1 if verified else len(part.sentences)
        answer = replace(part, sentences=part.sentences[end:])
        return {"summary": DraftPart(part.sentences[:end]), "answer": answer}

    def _verdict(self, sentence: DraftSentence) -> bool:
        if sentence.text not in self._verdicts:
            self._verdicts[sentence.text] = self._is_verified(sentence)
        return self._verdicts[sentence.text]


def _reader(request: ReplyRequest, plan: Plan, evidence: Evidence, policy: Policy) -> DraftReader:
    def is_verified(sentence: DraftSentence) -> bool:
        return bool(verification.verify([sentence], evidence, policy=policy)[0])

    return DraftReader(plan.material.labels, evidence.question.text, request.bounds, request.words, is_verified)


def _read(reader: DraftReader, reply: Reply) -> DraftPart:
    if reply.is_refused:
        raise Unreadable("The model refused to reply.")
    return reader.read(reply.text)
