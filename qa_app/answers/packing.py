"""Compact payloads for storage, and restore them without loss.

Passage texts that answers share are stored once, by digest. Lists of similar rows become columns with distinct values.
Quotations become offsets into a passage.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from qa_app.pipeline.citations import with_markers

Payload = dict[str, Any]

FORM = 1
"""Version of the packed format; payloads without it are not packed."""
SHARED = ("passage_id", "passage_version", "study_id", "title", "section", "kind", "text")
"""Evidence fields that do not depend on the question."""
SPAN = frozenset({"passage_id", "passage_version", "study_id", "start", "end", "quote"})
PARTS = ("summary", "answer")
ABSENT = -1
"""Marks a field that a row does not have."""
DIGEST_BYTES = 16


def pack(body: Mapping[str, Any]) -> tuple[Payload, dict[str, Payload]]:
    """Return the packed payload and its passages by digest."""
    packed = dict(body)
    passages = {row["passage_id"]: row for row in body["evidence"]}
    shared = [{name: row[name] for name in SHARED} for row in body["evidence"]]
    digests = [digest(row) for row in shared]
    own = [{name: value for name, value in row.items() if name not in SHARED} for row in body["evidence"]]
    packed["because"] = _columns([step for row in own for step in row["because"]])
    packed["evidence"] = _columns(
        [row | {"because": len(row["because"]), "stored": key} for row, key in zip(own, digests, strict=True)]
    )
    packed["left_out"] = _columns(body["left_out"])
    for name in PARTS:
        packed[name] = _packed_part(body[name], passages)
    if headline := body.get("headline"):
        packed["headline"] = _packed_sentence(headline, passages)
    return packed | {"packed": FORM}, dict(zip(digests, shared, strict=True))


def unpack(packed: Mapping[str, Any], stored: Mapping[str, Mapping[str, Any]]) -> Payload:
    """Restore a packed payload from its passages by digest; return other payloads unchanged."""
    body = deepcopy(dict(packed))
    if body.pop("packed", None) is None:
        return body
    steps = iter(list(_rows(body.pop("because"))))
    body["evidence"] = [
        {
            **{name: value for name, value in row.items() if name != "stored"},
            **stored[row["stored"]],
            "because": [next(steps) for _ in range(row["because"])],
        }
        for row in _rows(body["evidence"])
    ]
    body["left_out"] = list(_rows(body["left_out"]))
    passages = {row["passage_id"]: row for row in body["evidence"]}
    for name in PARTS:
        sentences = [_unpacked_sentence(row, passages) for row in body[name]["sentences"]]
        body[name] = {"text": body[name].get("text", _text(sentences)), "sentences": sentences}
    if headline := body.get("headline"):
        body["headline"] = _unpacked_sentence(headline, passages)
    return body


def digests(packed: Mapping[str, Any]) -> list[str]:
    """Return the digests of the passages that a packed payload refers to."""
    return [row["stored"] for row in _rows(packed["evidence"])] if "packed" in packed else []


def digest(row: Mapping[str, Any]) -> str:
    """Return 22 URL-safe characters that identify a passage's words and place."""
    text = json.dumps([row[name] for name in SHARED], ensure_ascii=False)
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(hashed).decode().rstrip("=")


# --- Sentences ---


def _packed_part(part: Mapping[str, Any], passages: Mapping[int, Payload]) -> Payload:
    packed: Payload = {"sentences": [_packed_sentence(row, passages) for row in part["sentences"]]}
    return packed if part["text"] == _text(part["sentences"]) else packed | {"text": part["text"]}


def _text(sentences: Iterable[Mapping[str, Any]]) -> str:
    return with_markers((row["text"], row["citations"], row["paragraph"]) for row in sentences)


def _packed_sentence(sentence: Mapping[str, Any], passages: Mapping[int, Payload]) -> Payload:
    """Replace quotations by offsets, and drop the text where it equals them."""
    packed = dict(sentence)
    packed["support"] = [_packed_span(span, passages) for span in sentence["support"]]
    if sentence["text"] == _quoted(sentence["support"]):
        del packed["text"]
    return packed


def _unpacked_sentence(sentence: Mapping[str, Any], passages: Mapping[int, Payload]) -> Payload:
    support = [_unpacked_span(span, passages) for span in sentence["support"]]
    return {**sentence, "text": sentence.get("text", _quoted(support)), "support": support}


def _quoted(support: Iterable[Mapping[str, Any]]) -> str | None:
    """Join the quotations of a sentence; None for a sentence that counts studies."""
    return " ".join(span["quote"] for span in support if "quote" in span) or None


def _packed_span(span: Mapping[str, Any], passages: Mapping[int, Payload]) -> Mapping[str, Any] | list[int]:
    row = passages.get(span["passage_id"]) if span.keys() == SPAN else None
    if row is None or _span(row, span["start"], span["end"]) != span:
        return span
    return [span["passage_id"], span["start"], span["end"]]


def _unpacked_span(span: Any, passages: Mapping[int, Payload]) -> Payload:
    return _span(passages[span[0]], span[1], span[2]) if isinstance(span, list) else dict(span)


def _span(row: Mapping[str, Any], start: int, end: int) -> Payload:
    place = {name: row[name] for name in ("passage_id", "passage_version", "study_id")}
    return place | {"start": start, "end": end, "quote": row["text"][start:end]}


# --- Columns ---


def _columns(rows: Sequence[Mapping[str, Any]]) -> Payload:
    """Turn rows into columns: `same` for one constant, a plain list, or distinct values (`of`) with indexes (`at`)."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {"rows": len(rows), "columns": {name: _column(name, rows) for name in names}}


def _column(name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    written = [json.dumps(row[name]) if name in row else None for row in rows]
    distinct = {text: number for number, text in enumerate(dict.fromkeys(text for text in written if text is not None))}
    if None not in written and len(distinct) == 1:
        return {"same": rows[0][name]}
    if None not in written and 2 * len(distinct) > len(rows):
        return [row[name] for row in rows]
    numbers = [ABSENT if text is None else distinct[text] for text in written]
    return {"of": [json.loads(text) for text in distinct], "at": numbers}


def _rows(table: Mapping[str, Any]) -> Iterator[Payload]:
    """Yield the rows of a column table."""
    for place in range(table["rows"]):
        row = {}
        for name, column in table["columns"].items():
            if isinstance(column, list):
                row[name] = column[place]
            elif "same" in column:
                row[name] = deepcopy(column["same"])
            elif (number := column["at"][place]) != ABSENT:
                row[name] = deepcopy(column["of"][number])
        yield row


# --- Drafts ---


def pack_drafts(drafts: Sequence[Payload], body: Mapping[str, Any], *, writer: str) -> list[Payload]:
    """Replace sentences of `writer`'s drafts by their index, where the answer contains them."""
    return [_packed_draft(draft, body) if draft["writer"] == writer else draft for draft in drafts]


def _packed_draft(draft: Payload, body: Mapping[str, Any]) -> Payload:
    packed = dict(draft)
    for part in PARTS:
        number_of = {row["text"]: number for number, row in enumerate(body[part]["sentences"])}
        packed[part] = [
            {name: value for name, value in row.items() if name != "text"} | {"sentence": number_of[row["text"]]}
            if row["text"] in number_of
            else row
            for row in draft[part]
        ]
    return packed


def unpack_drafts(drafts: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> list[Payload]:
    """Restore packed drafts from the answer's payload."""
    return [
        {
            **draft,
            **{
                part: [
                    {
                        **{n: v for n, v in row.items() if n != "sentence"},
                        "text": body[part]["sentences"][row["sentence"]]["text"],
                    }
                    if "sentence" in row
                    else row
                    for row in draft.get(part) or ()
                ]
                for part in PARTS
            },
        }
        for draft in drafts
    ]
