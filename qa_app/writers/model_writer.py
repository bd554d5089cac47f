"""A writer that lets a language model draft summary and answer from frozen evidence."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from common.orders import gives_orders, visible
from corpus_app.records import Passage
from qa_app.pipeline.composition import budget_of
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import WriterFailed
from qa_app.pipeline.records import Candidate, Draft, Evidence, Generator, Mode, Question
from qa_app.writers.drafts import DraftPart, Unreadable, read_part
from qa_app.writers.model_server import ModelServer
from qa_app.writers.records import Deadline, Reply, Request, ServerFailed

PROMPT = "write-2"
RETRY_PASSAGES = 6  # passages of the second attempt
PARTS = {"summary": 5, "answer": 12}  # most sentences, as the prompts ask; longer replies are cut
EMPTY_PART = DraftPart()
MAX_RECORDED_REPLY = 20_000  # characters stored of a reply
_FOLDER = Path(__file__).parent / "prompts" / PROMPT
_SENTENCE: dict[str, object] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "passages": {"type": "array", "items": {"type": "string"}},
        "paragraph": {"type": "integer"},
    },
    "required": ["text", "passages", "paragraph"],
    "additionalProperties": False,
}
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"sentences": {"type": "array", "items": _SENTENCE}, "not_found": {"type": "boolean"}},
    "required": ["sentences", "not_found"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ModelWriter:
    """A writer that asks a language model; the strict one retries with fewer passages."""

    server: ModelServer
    deadline: Deadline
    is_strict: bool = False
    parts: tuple[str, ...] = tuple(PARTS)
    """Parts to write, one request each."""

    @property
    def name(self) -> str:
        return "llm"

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        passages = _strongest(evidence.passages) if self.is_strict else evidence.passages
        labels = _labelled([candidate.passage for candidate in passages])
        data = _prompt_data(evidence.question, labels)
        requests = [
            Request(
                part,
                [
                    {"role": "system", "content": _prompt(part, evidence.question.mode, policy, self.is_strict)},
                    {"role": "user", "content": data},
                ],
                SCHEMA,
            )
            for part in self.parts
        ]
        try:
            replies = dict(zip(self.parts, self.server.complete_all(requests, self.deadline), strict=True))
        except ServerFailed as failure:
            raise WriterFailed(str(failure), reason=failure.reason, is_final=True) from failure
        generator = self._generator(list(replies.values()))
        received = {part: visible(reply.text[:MAX_RECORDED_REPLY]) for part, reply in replies.items()}
        try:
            parts = {part: _read(reply, labels, evidence.question, PARTS[part]) for part, reply in replies.items()}
        except Unreadable as error:
            raise WriterFailed(str(error), reason="unreadable", generator=generator, received=received) from error
        if not any(part.sentences for part in parts.values()):
            raise WriterFailed(
                "The language model found no answer in the passages.",
                reason="not_found",
                generator=generator,
                received=received,
            )
        summary, answer = (parts.get(part, EMPTY_PART) for part in PARTS)
        return (
            Draft(
                summary.sentences,
                answer.sentences,
                dropped=(*summary.dropped, *answer.dropped),
                received=received,
                labels={label: passage.passage_id for label, passage in labels.items()},
                timings_ms={part: round(1000 * reply.seconds, 3) for part, reply in replies.items()},
            ),
            generator,
        )

    def _generator(self, replies: Sequence[Reply]) -> Generator:
        costs = [reply.cost for reply in replies if reply.cost is not None]
        return Generator(
            self.name,
            "2",
            self.server.model,
            prompt_name(self.is_strict),
            tokens=sum(reply.tokens for reply in replies),
            cost=sum(costs) if costs else None,
        )


def prompt_name(is_strict: bool) -> str:
    """Return the name and hash of the prompt files: `write-2@0f3c…` or `write-2-strict@…`."""
    text = "\0".join(_text(path.stem) for path in sorted(_FOLDER.glob("*.txt")))
    return f"{PROMPT}{'-strict' if is_strict else ''}@{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def _prompt(part: str, mode: Mode, policy: Policy, is_strict: bool) -> str:
    words = budget_of(policy, mode).answer_words
    names = ("system", part, mode.value, *(("strict",) if is_strict else ()))
    return "\n".join(Template(_text(name)).safe_substitute(words=words) for name in names)


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def _strongest(passages: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the passages that share most words with the question."""
    by_words = sorted(passages, key=lambda c: (-c.keyword_hits, -c.hit.bm25, c.passage.passage_id))
    return tuple(by_words[:RETRY_PASSAGES])


def _labelled(passages: Sequence[Passage]) -> dict[str, Passage]:
    """Map random labels to passages, so that no text can name a passage that was not sent with it."""
    labels: dict[str, Passage] = {}
    for passage in passages:
        label = secrets.token_hex(4)
        while label in labels or label.isdigit():  # digits alone would look like a citation number
            label = secrets.token_hex(4)
        labels[label] = passage
    return labels


def _prompt_data(question: Question, labels: Mapping[str, Passage]) -> str:
    """Return question and passages as one JSON value, which cannot be mistaken for the prompt.

    Sentences that give instructions to a machine are left out.
    """
    passages = [
        {
            "label": label,
            "study": visible(passage.study.title),
            "section": passage.section.value,
            "sentences": [visible(text) for text in _sentences(passage) if not gives_orders(text)],
        }
        for label, passage in labels.items()
    ]
    return json.dumps({"question": visible(question.text), "passages": passages}, ensure_ascii=False)


def _sentences(passage: Passage) -> list[str]:
    return [passage.text[sentence.start : sentence.end] for sentence in passage.sentences]


def _read(reply: Reply, labels: Mapping[str, Passage], question: Question, most: int) -> DraftPart:
    if not reply.is_complete:
        raise Unreadable("The reply was cut off or refused.")
    return read_part(reply.text, labels, question=question.text, most=most)
