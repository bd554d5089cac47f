"""Choose what a language model is sent: prompt, evidence by rank within its context, and the schema of its reply."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from common.orders import gives_orders, visible
from corpus_app.records import Passage
from qa_app.pipeline.composition import budget_of
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Candidate, Mode, Question
from qa_app.writers.drafts import Bounds

PROMPT = "write-3"
RETRY_PASSAGES = 6  # passages of the second attempt
PARTS = {"summary": 5, "answer": 12}  # most sentences, as the prompts ask; longer replies are cut
SMALL_CONTEXT = 8_192  # tokens up to which one short request asks for both parts
SMALL_PASSAGES = 6  # and one sentence of each
REPLY_SHARE = 4  # the reply may take this part of the context
LEAST_REPLY_TOKENS = 128
BYTES_PER_TOKEN = 3  # a low estimate for English prose: 4 are common
PASSAGE_TOKENS = 32  # label, keys and punctuation of a passage
LEAST_TOKENS = 4  # punctuation of a passage without a label
TEMPLATE_TOKENS = 48  # what the server's chat template may add
_FOLDER = Path(__file__).parent / "prompts" / PROMPT


@dataclass(frozen=True, slots=True)
class Material:
    """The question and the passages as sent."""

    labels: Mapping[str, Passage]
    """The passages by random labels, so that no text can name a passage that was not sent with it."""
    text: str
    """One JSON value, which cannot be mistaken for the prompt."""
    choices: tuple[tuple[str, ...], ...]
    """The sentences that were sent, passage by passage."""


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """One reply to ask for."""

    part: str
    prompt: str
    bounds: Bounds
    words: int
    """How long the reader's text should be."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests of one attempt."""

    material: Material
    requests: tuple[ReplyRequest, ...]
    reply_tokens: int | None
    """None where the context is not known to be short."""
    is_small: bool
    """Whether one reply serves for both parts, and copies its sentences."""

    def schema(self, bounds: Bounds | None = None) -> dict[str, object]:
        """Return the JSON schema of a reply, with or without bounds."""
        if self.is_small:
            copied = _object(text={"type": "string"})
            return choice_schema(self.material.choices[: bounds.sentences]) if bounds else _list_of(copied, None)
        return reply_schema(bounds, self.material.labels)


def plan(
    question: Question,
    passages: Sequence[Candidate],
    policy: Policy,
    parts: Sequence[str],
    *,
    context_tokens: int | None,
    is_strict: bool,
) -> Plan:
    """Plan an attempt within the context, whose size in tokens may be unknown (None).

    The passages are taken by rank; the strict attempt takes those that share most words with the question.
    """
    chosen = [c.passage for c in (_strongest(passages) if is_strict else passages)]
    budget = budget_of(policy, question.mode)
    words = {"summary": budget.summary_words, "answer": budget.answer_words}
    is_small = context_tokens is not None and context_tokens <= SMALL_CONTEXT
    reply_tokens = max(context_tokens // REPLY_SHARE, LEAST_REPLY_TOKENS) if context_tokens else None
    if is_small:
        prompts = {parts[-1]: _text("small")}
    else:
        prompts = {part: _prompt(part, question.mode, words["answer"], is_strict) for part in parts}
    room = None
    if context_tokens and reply_tokens:
        prompt_bytes = max(len(prompt.encode()) for prompt in prompts.values())
        room = (context_tokens - reply_tokens - TEMPLATE_TOKENS) * BYTES_PER_TOKEN - prompt_bytes
    material = _material(question, chosen, room, is_small=is_small)
    if is_small:
        bounds = Bounds(SMALL_PASSAGES)
        requests = [
            ReplyRequest(part, prompt, bounds, sum(words[p] for p in parts)) for part, prompt in prompts.items()
        ]
    else:
        requests = [ReplyRequest(part, prompt, Bounds(PARTS[part]), words[part]) for part, prompt in prompts.items()]
    return Plan(material, tuple(requests), reply_tokens, is_small)


def prompt_name(is_strict: bool, *, is_small: bool = False) -> str:
    """Return the name and hash of the prompt files: `write-3@0f3c…`, `write-3-strict@…` or `write-3-small@…`."""
    text = "\0".join(_text(path.stem) for path in sorted(_FOLDER.glob("*.txt")))
    kind = f"{'-small' if is_small else ''}{'-strict' if is_strict else ''}"
    return f"{PROMPT}{kind}@{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def reply_schema(bounds: Bounds | None, labels: Iterable[str]) -> dict[str, object]:
    """Return the JSON schema of a reply; with bounds also the lengths, and the labels to choose from."""
    text: dict[str, object] = {"type": "string"}
    passages: dict[str, object] = {"type": "array", "items": {"type": "string"}}
    paragraph: dict[str, object] = {"type": "integer"}
    if bounds:
        text |= {"minLength": 1, "maxLength": bounds.characters}
        passages |= {"items": {"enum": list(labels)}, "minItems": 1, "maxItems": bounds.passages}
        paragraph |= {"minimum": 0, "maximum": 11}
    return _list_of(_object(text=text, passages=passages, paragraph=paragraph), bounds.sentences if bounds else None)


def choice_schema(choices: Sequence[Sequence[str]]) -> dict[str, object]:
    """Return the JSON schema of a reply that copies one of the sentences of each group, or none ("")."""
    items = [_object(text={"enum": [*sentences, ""]}) for sentences in choices]
    return _object(sentences={"type": "array", "prefixItems": items}, not_found={"type": "boolean"})


def _list_of(sentence: dict[str, object], most: int | None) -> dict[str, object]:
    bound = {"maxItems": most} if most else {}
    return _object(sentences={"type": "array", "items": sentence} | bound, not_found={"type": "boolean"})


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _prompt(part: str, mode: Mode, words: int, is_strict: bool) -> str:
    names = ("system", part, mode.value, *(("strict",) if is_strict else ()))
    return "\n".join(Template(_text(name)).safe_substitute(words=words) for name in names)


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def _strongest(passages: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the passages that share most words with the question."""
    by_words = sorted(passages, key=lambda c: (-c.keyword_hits, -c.hit.bm25, c.passage.passage_id))
    return tuple(by_words[:RETRY_PASSAGES])


def _material(question: Question, passages: Sequence[Passage], room: int | None, *, is_small: bool) -> Material:
    """Take passages in order until the room, in bytes, is used up; of the last one as many sentences as fit.

    The first sentence is always taken. Sentences that give instructions to a machine are left out.
    """
    labels: dict[str, Passage] = {}
    choices: list[tuple[str, ...]] = []
    rows: list[object] = []
    left = None if room is None else room - len(question.text.encode())
    for passage in passages[:SMALL_PASSAGES] if is_small else passages:
        about = {} if is_small else {"study": visible(passage.study.title), "section": passage.section.value}
        if left is not None:
            left -= (LEAST_TOKENS if is_small else PASSAGE_TOKENS) * BYTES_PER_TOKEN + sum(
                len(value.encode()) for value in about.values()
            )
        sentences: list[str] = []
        for text in _sentences(passage):
            if left is not None and (left := left - len(text.encode())) < 0 and (rows or sentences):
                break
            sentences.append(text)
        if sentences or left is None:
            label = _new_label(labels)
            labels[label] = passage
            rows.append(sentences if is_small else {"label": label, **about, "sentences": sentences})
            choices.append(tuple(sentences))
        if left is not None and left <= 0:
            break
    data = {"question": visible(question.text), "passages": rows}
    return Material(labels, json.dumps(data, ensure_ascii=False), tuple(choices))


def _new_label(labels: Mapping[str, Passage]) -> str:
    label = secrets.token_hex(4)
    while label in labels or label.isdigit():  # digits alone would look like a citation number
        label = secrets.token_hex(4)
    return label


def _sentences(passage: Passage) -> list[str]:
    texts = (passage.text[sentence.start : sentence.end] for sentence in passage.sentences)
    return [visible(text) for text in texts if not gives_orders(text)]
