"""Read the documents of a BEIR folder (`corpus.jsonl`, plain or gzip) as studies."""

from __future__ import annotations

import json
from collections.abc import Iterator

from corpus_app.passages import SectionText
from corpus_app.records import Section
from corpus_app.sources.bibliography import Intake, Item, Record, clean_text, drafted, items_of
from corpus_app.sources.drafts import Problem
from corpus_app.sources.intake import Source, encoding_of, lines_of
from corpus_app.sources.tables import MAX_WRONG
from corpus_app.sources.values import shown


def is_beir(head: str) -> bool:
    try:
        row = json.loads(head.lstrip("\ufeff").split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"_id", "text"} <= row.keys()


def items(source: Source, intake: Intake) -> Iterator[Item]:
    seen: dict[str, int] = {}
    wrong = 0
    for number, line in lines_of(source, encoding_of(source)):
        if not line.strip():
            continue
        if wrong >= MAX_WRONG:
            yield Problem(source.name, number, "", f"{MAX_WRONG} lines could not be read; the rest was left unread.")
            return
        try:
            row = json.loads(line)
            key, title, text = row["_id"], row.get("title") or "", row["text"]
            if not all(isinstance(value, str) for value in (key, title, text)):
                raise TypeError
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            wrong += 1
            yield Problem(source.name, number, "", "is no document; a line holds an object with _id, title and text.")
            continue
        if key in seen:
            yield Problem(source.name, number, "_id", f"{shown(key)} stands on line {seen[key]} already; keep one.")
            continue
        seen[key] = number
        words = clean_text(text)
        record = Record(source.name, number, title=title or " ".join(words.split()[:12]), is_reviewed=False)
        record.pmid = (
            key
            if key.isdigit() and isinstance(row.get("metadata"), dict) and row["metadata"].get("pmid") == key
            else ""
        )
        record.passages = drafted([SectionText(Section.ABSTRACT, "", words)])
        yield from items_of(record, intake)
