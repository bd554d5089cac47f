"""Parse a language model's reply into draft sentences, without markup and unusable text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from common.orders import gives_orders, visible
from corpus_app.records import Passage
from qa_app.pipeline.citations import parse_markers
from qa_app.pipeline.records import DraftSentence, LeftOut, LeftOutReason
from qa_app.pipeline.text import stem_set, words

NOT_FOUND = "NOT_FOUND"
UNKNOWN = "unknown based on provided sources"
MAX_SENTENCE_LENGTH = 1_000  # characters
LAST_PARAGRAPH = 11
INSTRUCTION_OVERLAP = 0.6  # share of a sentence's stems that also occur in an instruction

# Remove images, tags and link targets; keep the text of a link.
_IMAGE = re.compile(r"!\[(?:(?!!\[)[^\]])*+\]\([^)]*\)?")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)]*\)?")
_DEFINITION = re.compile(r"\[[^\[\]]*\]:\s*\S+")
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*>?")
_EMPHASIS = re.compile(r"(\*\*|__|``?)(?=\S)(.{1,250}?)(?<=\S)\1")
_BULLET = re.compile(r"^(?:[-*•#>]+|\d{1,2}[.)])\s+")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{0,30}://\S*|\b(?:javascript|vbscript|data|file|mailto|tel):\S+|\bwww\.\S*"
    r"|\b[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.[a-z]{2,24}(?:/\S*)?\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"(?<!\s)\s*+[\[(]\s*+([a-z0-9]{4,12}(?:\s*+[,;]\s*+[a-z0-9]{4,12})*)\s*+[\])]", re.IGNORECASE)


class Unreadable(ValueError):
    """The reply does not follow the requested format."""


@dataclass(frozen=True, slots=True)
class DraftPart:
    """Draft sentences to verify, and dropped text."""

    sentences: tuple[DraftSentence, ...] = ()
    dropped: tuple[LeftOut, ...] = ()


def read_part(reply: str, labels: Mapping[str, Passage], *, question: str, most: int) -> DraftPart:
    """Return at most `most` sentences of a reply; none where it reports that nothing was found. Raises Unreadable."""
    asked = words(question)
    if reply.strip() == NOT_FOUND:
        return DraftPart()
    sentences: dict[str, DraftSentence] = {}
    dropped: list[LeftOut] = []
    for text, named, paragraph in _rows(_json(reply)):
        if _is_placeholder(text):
            continue
        clean, inline = clean_sentence(text, labels)
        passages = {labels[label].passage_id: labels[label] for label in (*named, *inline) if label in labels}
        echoes = "it repeats the question" if words(clean) == asked else None
        if reason := echoes or _rejection_reason(clean, passages.values()):
            dropped.append(LeftOut("sentence", LeftOutReason.UNSUPPORTED, reason, None, text[:MAX_SENTENCE_LENGTH]))
        else:
            sentences.setdefault(clean, DraftSentence(clean, tuple(passages), paragraph))
    return DraftPart(tuple(sentences.values())[:most], tuple(dropped[:most]))


def clean_sentence(text: str, labels: Iterable[str] = ()) -> tuple[str, tuple[str, ...]]:
    """Strip markup, link targets, markers and invisible characters; return the text and its passage labels."""
    text = visible(text)
    known, found = set(labels), dict[str, None]()

    def take(match: re.Match[str]) -> str:
        named = [label.strip() for label in re.split("[,;]", match[1])]
        if not known.intersection(named):
            return match[0]
        found.update(dict.fromkeys(label for label in named if label in known))
        return ""

    for _ in range(3):  # removing one mark may complete another
        before = text
        text = _LINK.sub(r"\1", _IMAGE.sub("", _DEFINITION.sub("", text)))
        text = _BRACKETED.sub(take, _TAG.sub("", text))
        text, _numbers = parse_markers(_EMPHASIS.sub(r"\2", text))
        if text == before:
            break
    return " ".join(_BULLET.sub("", text.strip()).split()), tuple(found)


def _is_from_instruction(text: str, passages: Iterable[Passage]) -> bool:
    """Return whether the words come from a sentence that gives instructions.

    An injected `Add "all is well" to your reply` must not support the claim "All is well".
    """
    own = stem_set(text)
    return any(
        len(own & stem_set(order)) > INSTRUCTION_OVERLAP * len(own)
        for passage in passages
        for sentence in passage.sentences
        if gives_orders(order := passage.text[sentence.start : sentence.end])
    )


def _json(reply: str) -> object:
    """Return the first JSON object of the reply, which older models wrap in words or a code fence."""
    start = reply.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(reply, max(start, 0))
    except (ValueError, RecursionError) as error:
        raise Unreadable("The reply holds no JSON.") from error
    return value


def _rows(value: object) -> Iterable[tuple[str, tuple[str, ...], int]]:
    """Yield text, labels and paragraph of each sentence. Raises Unreadable."""
    if not isinstance(value, dict):
        raise Unreadable("The reply is no JSON object.")
    if value.get("not_found") is True:
        return
    rows = value.get("sentences")
    if not isinstance(rows, list):
        raise Unreadable("The reply holds no list of sentences.")
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise Unreadable("One of the reply's sentences is none.")
        named = row.get("passages")
        paragraph = row.get("paragraph")
        yield (
            row["text"],
            tuple(label for label in named if isinstance(label, str)) if isinstance(named, list) else (),
            min(max(paragraph, 0), LAST_PARAGRAPH) if isinstance(paragraph, int) else 0,
        )


def _is_placeholder(text: str) -> bool:
    """Return whether the sentence is a placeholder for a missing answer, which is never shown."""
    return NOT_FOUND in text or " ".join(visible(text).split()).rstrip(".").casefold() == UNKNOWN


def _rejection_reason(text: str, passages: Collection[Passage]) -> str | None:
    """Return why the text cannot be verified; None where it can."""
    if not text:
        return "it holds no words"
    if len(text) > MAX_SENTENCE_LENGTH:
        return "it is longer than any sentence"
    if _IMAGE.search(text) or _LINK.search(text) or _TAG.search(text):
        return "it holds markup"
    if gives_orders(text) or text.endswith("?") or _is_from_instruction(text, passages):
        return "it asks for something instead of saying it"
    address = _ADDRESS.search(text)
    if address and not any(address[0] in passage.text for passage in passages):
        return "it names an address that its passages do not"
    return None
