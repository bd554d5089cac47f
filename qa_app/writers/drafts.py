"""Parse a language model's reply into draft sentences, without markup and unusable text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from common.orders import gives_orders, visible
from corpus_app.records import Passage
from qa_app.pipeline.citations import parse_markers
from qa_app.pipeline.records import DraftSentence, LeftOut, LeftOutReason
from qa_app.pipeline.text import stem_set, words

NOT_FOUND = "NOT_FOUND"
UNKNOWN = "unknown based on provided sources"
MAX_SENTENCE_LENGTH = 1_000  # characters
MAX_LABELS = 4
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
_LIST = re.compile(r'"sentences"\s*:\s*\[')
_BRACKETED = re.compile(r"(?<!\s)\s*+[\[(]\s*+([a-z0-9]{4,12}(?:\s*+[,;]\s*+[a-z0-9]{4,12})*)\s*+[\])]", re.IGNORECASE)


class Unreadable(ValueError):
    """The reply does not follow the requested format."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a reply may hold."""

    sentences: int
    characters: int = MAX_SENTENCE_LENGTH
    """Of a sentence."""
    passages: int = MAX_LABELS
    """Labels of a sentence."""


@dataclass(frozen=True, slots=True)
class DraftPart:
    """Draft sentences to verify, and dropped text."""

    sentences: tuple[DraftSentence, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    is_not_found: bool = False
    """Whether the reply says that the passages hold no answer."""


def read_part(reply: str, labels: Mapping[str, Passage], *, question: str, bounds: Bounds) -> DraftPart:
    """Return the sentences of a reply within the bounds; of one that broke off, those that are complete.

    A sentence that is word for word in passages which the reply does not name gets those instead. Raises Unreadable.
    """
    asked = words(question)
    if reply.strip() == NOT_FOUND:
        return DraftPart(is_not_found=True)
    sentences: dict[str, DraftSentence] = {}
    dropped: list[LeftOut] = []
    for text, named, paragraph in _rows(reply):
        if _is_placeholder(text):
            continue
        clean, inline = clean_sentence(text, labels)
        cited = {labels[label].passage_id: labels[label] for label in (*named, *inline) if label in labels}
        passages = _holders(clean, labels.values(), cited) or cited
        echoes = "it repeats the question" if words(clean) == asked else None
        if reason := echoes or _rejection_reason(clean, passages.values(), bounds.characters):
            dropped.append(LeftOut("sentence", LeftOutReason.UNSUPPORTED, reason, None, text[:MAX_SENTENCE_LENGTH]))
        else:
            ids = tuple(passages)[: bounds.passages]
            sentences.setdefault(clean, DraftSentence(clean, ids, paragraph))
    kept, most = tuple(sentences.values()), bounds.sentences
    return DraftPart(kept[:most], tuple(dropped[:most]), is_not_found=not kept and not dropped)


def complete_rows(reply: str) -> Iterator[object]:
    """Yield the items of the list of sentences that are complete, of a reply that may break off anywhere."""
    begin = _LIST.search(reply)
    place = begin.end() if begin else len(reply)
    decoder = json.JSONDecoder()
    while (place := _skip_separators(reply, place)) < len(reply) and reply[place] == "{":
        try:
            row, place = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError):
            return
        yield row


def _skip_separators(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,":
        place += 1
    return place


def _holders(text: str, passages: Iterable[Passage], cited: Mapping[int, Passage]) -> dict[int, Passage]:
    """Return the passages with exactly this sentence, where none of them is cited."""
    holders = {
        passage.passage_id: passage
        for passage in passages
        if any(text == passage.text[sentence.start : sentence.end] for sentence in passage.sentences)
    }
    return {} if holders.keys() & cited.keys() else holders


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


def _rows(reply: str) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield text, labels and paragraph of each sentence. Raises Unreadable."""
    for row in _items(reply):
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise Unreadable("One of the reply's sentences is none.")
        named = row.get("passages")
        paragraph = row.get("paragraph")
        yield (
            row["text"],
            tuple(label for label in named if isinstance(label, str)) if isinstance(named, list) else (),
            min(max(paragraph, 0), LAST_PARAGRAPH) if isinstance(paragraph, int) else 0,
        )


def _items(reply: str) -> list[object]:
    """Return the list of sentences in the reply's first JSON object, which some models wrap in words or a fence."""
    start = reply.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(reply, max(start, 0))
    except (ValueError, RecursionError) as error:
        if complete := list(complete_rows(reply)):
            return complete
        raise Unreadable("The reply holds no JSON, or broke off before its first sentence.") from error
    rows = value.get("sentences") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise Unreadable("The reply holds no list of sentences.")
    return rows


def _is_placeholder(text: str) -> bool:
    """Return whether the sentence is a placeholder for a missing answer, which is never shown."""
    return not text.strip() or NOT_FOUND in text or " ".join(visible(text).split()).rstrip(".").casefold() == UNKNOWN


def _rejection_reason(text: str, passages: Collection[Passage], longest: int) -> str | None:
    """Return why the text cannot be verified; None where it can."""
    if not text:
        return "it holds no words"
    if len(text) > longest:
        return "it is longer than any sentence"
    if _IMAGE.search(text) or _LINK.search(text) or _TAG.search(text):
        return "it holds markup"
    if gives_orders(text) or text.endswith("?") or _is_from_instruction(text, passages):
        return "it asks for something instead of saying it"
    address = _ADDRESS.search(text)
    if address and not any(address[0] in passage.text for passage in passages):
        return "it names an address that its passages do not"
    return None
