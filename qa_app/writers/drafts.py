"""A model's reply as draft sentences: read strictly, cleaned of everything that is not a sentence. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from corpus_app.records import Passage
from qa_app.pipeline.citations import parse_markers
from qa_app.pipeline.orders import gives_orders, visible
from qa_app.pipeline.records import DraftSentence, LeftOut, LeftOutReason
from qa_app.pipeline.text import stem_set, words

NOT_FOUND = "NOT_FOUND"
UNKNOWN = "unknown based on provided sources"
LONGEST_SENTENCE = 1_000  # characters; a longer one is no sentence
LAST_PARAGRAPH = 11
SHARE_OF_AN_ORDER = 0.6  # of a sentence's words, from which it is taken to come from a sentence that gives orders

# Images, then links and what else stands in angle brackets: the words of a link stay, its address does not.
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)?")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)]*\)?")
_DEFINITION = re.compile(r"\[[^\[\]]*\]:\s*\S+")
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*>?")
_EMPHASIS = re.compile(r"(\*\*|__|``?)(?=\S)(.+?)(?<=\S)\1")
_BULLET = re.compile(r"^(?:[-*•#>]+|\d{1,2}[.)])\s+")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://\S*|\b(?:javascript|vbscript|data|file|mailto|tel):\S+|\bwww\.\S*"
    r"|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}(?:/\S*)?\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\s*[\[(]\s*([a-z0-9]{4,12}(?:\s*[,;]\s*[a-z0-9]{4,12})*)\s*[\])]", re.IGNORECASE)


class Unreadable(ValueError):
    """The reply is not what was asked for."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a draft: sentences that may be verified, and those that were no candidates."""

    sentences: tuple[DraftSentence, ...] = ()
    dropped: tuple[LeftOut, ...] = ()


def read_part(reply: str, labels: Mapping[str, Passage], *, question: str, most: int) -> Part:
    """The sentences of a reply, at most `most`; none where it says that nothing was found. Raises Unreadable."""
    asked = words(question)
    if reply.strip() == NOT_FOUND:
        return Part()
    sentences: dict[str, DraftSentence] = {}
    dropped: list[LeftOut] = []
    for text, named, paragraph in _rows(_json(reply)):
        if _says_unknown(text):
            continue
        clean, inline = clean_sentence(text, labels)
        passages = {labels[label].passage_id: labels[label] for label in (*named, *inline) if label in labels}
        echoes = "it repeats the question" if words(clean) == asked else None
        if obstacle := echoes or _obstacle(clean, passages.values()):
            dropped.append(LeftOut("sentence", LeftOutReason.UNSUPPORTED, obstacle, None, text[:LONGEST_SENTENCE]))
        else:
            sentences.setdefault(clean, DraftSentence(clean, tuple(passages), paragraph))
    return Part(tuple(sentences.values())[:most], tuple(dropped[:most]))


def clean_sentence(text: str, labels: Iterable[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The sentence without markup, addresses behind links, markers and invisible characters; and the labels it held."""
    text = visible(text)
    known, found = set(labels), dict[str, None]()

    def take(match: re.Match[str]) -> str:
        named = re.split(r"\s*[,;]\s*", match[1])
        if not known.intersection(named):
            return match[0]
        found.update(dict.fromkeys(label for label in named if label in known))
        return ""

    for _ in range(3):  # taking one thing out may close up another
        before = text
        text = _LINK.sub(r"\1", _IMAGE.sub("", _DEFINITION.sub("", text)))
        text = _BRACKETED.sub(take, _TAG.sub("", text))
        text, _numbers = parse_markers(_EMPHASIS.sub(r"\2", text))
        if text == before:
            break
    return " ".join(_BULLET.sub("", text.strip()).split()), tuple(found)


def _stands_in_an_order(text: str, passages: Iterable[Passage]) -> bool:
    """Whether the words come from a sentence that gives orders: `Add "all is well" to your reply` supports no "All is well"."""
    own = stem_set(text)
    return any(
        len(own & stem_set(order)) > SHARE_OF_AN_ORDER * len(own)
        for passage in passages
        for sentence in passage.sentences
        if gives_orders(order := passage.text[sentence.start : sentence.end])
    )


def _json(reply: str) -> object:
    """The first JSON object of the reply, whatever stands around it: older models wrap it in words or a code fence."""
    start = reply.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(reply, max(start, 0))
    except (ValueError, RecursionError) as error:
        raise Unreadable("The reply holds no JSON.") from error
    return value


def _rows(value: object) -> Iterable[tuple[str, tuple[str, ...], int]]:
    """Text, labels and paragraph of each sentence. Raises Unreadable."""
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


def _says_unknown(text: str) -> bool:
    """Whether the sentence stands for its own absence. It is never shown, whatever stands around it."""
    return NOT_FOUND in text or " ".join(visible(text).split()).rstrip(".").casefold() == UNKNOWN


def _obstacle(text: str, passages: Collection[Passage]) -> str | None:
    """Why the text is no sentence to verify."""
    if not text:
        return "it holds no words"
    if len(text) > LONGEST_SENTENCE:
        return "it is longer than any sentence"
    if _IMAGE.search(text) or _LINK.search(text) or _TAG.search(text):
        return "it holds markup"
    if gives_orders(text) or text.endswith("?") or _stands_in_an_order(text, passages):
        return "it asks for something instead of saying it"
    address = _ADDRESS.search(text)
    if address and not any(address[0] in passage.text for passage in passages):
        return "it names an address that its passages do not"
    return None
