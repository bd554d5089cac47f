"""Read folders of documents, questions and judgments in the layout of the BEIR benchmark."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
HEADER = "query-id\tcorpus-id\tscore"


class BadBenchmark(ValueError):
    """A folder that cannot be used; the message names the file, and the line if there is one."""


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    name: str
    documents: tuple[Document, ...]
    questions: dict[str, str]
    """Those that somebody judged a document for, by id, in the order of their file."""
    judgments: dict[str, dict[str, int]]
    """Question to document to grade."""
    unknown: int
    """Judgments of a document that is not there: it counts as never found."""
    digest: str
    """SHA-256 of the documents."""


def read(folder: Path) -> Benchmark:
    """Read a benchmark folder. Raises BadBenchmark, and OSError where a file cannot be opened."""
    documents = tuple(_documents(_first_of(folder, CORPUS)))
    texts = _questions(folder / "queries.jsonl")
    judgments = _judgments(folder, texts)
    if not documents or not judgments:
        raise BadBenchmark(f"{folder}: there is no {'document' if not documents else 'judgment'} in it.")
    known = {document.id for document in documents}
    return Benchmark(
        name=folder.resolve().name,
        documents=documents,
        questions={pk: text for pk, text in texts.items() if pk in judgments},
        judgments=judgments,
        unknown=sum(document not in known for grades in judgments.values() for document in grades),
        digest=hashlib.sha256(
            "\0".join(part for d in documents for part in (d.id, d.title, d.text)).encode()
        ).hexdigest(),
    )


def _first_of(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise BadBenchmark(f"{folder}: there is neither {' nor '.join(names)}.")


def _documents(path: Path) -> Iterator[Document]:
    seen: set[str] = set()
    for place, row in _objects(path):
        document = Document(_field(row, "_id", place), _field(row, "title", place, ""), _field(row, "text", place))
        if document.id in seen:
            raise BadBenchmark(f"{place}: a second document {document.id!r}.")
        seen.add(document.id)
        yield document


def _questions(path: Path) -> dict[str, str]:
    questions: dict[str, str] = {}
    for place, row in _objects(path):
        pk = _field(row, "_id", place)
        if pk in questions:
            raise BadBenchmark(f"{place}: a second question {pk!r}.")
        questions[pk] = _field(row, "text", place)
    return questions


def _judgments(folder: Path, questions: dict[str, str]) -> dict[str, dict[str, int]]:
    paths = [folder / "qrels.tsv"] if (folder / "qrels.tsv").is_file() else sorted((folder / "qrels").glob("*.tsv"))
    if not paths:
        raise BadBenchmark(f"{folder}: there is neither qrels.tsv nor qrels/*.tsv.")
    judgments: dict[str, dict[str, int]] = {}
    for path in paths:
        for place, line in _lines(path):
            if line.rstrip() == HEADER:
                continue
            question, document, grade = _judgment(line, place)
            if question not in questions:
                raise BadBenchmark(f"{place}: there is no question {question!r}.")
            judgments.setdefault(question, {})[document] = grade
    return judgments


def _judgment(line: str, place: str) -> tuple[str, str, int]:
    parts = line.rstrip("\r\n").split("\t")
    try:
        question, document, grade = parts
        return question, document, int(grade)
    except ValueError:
        raise BadBenchmark(
            f"{place}: a judgment is a question, a document and a whole number, with tabs between."
        ) from None


def _objects(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    for place, line in _lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadBenchmark(f"{place}: no JSON ({error}).") from error
        if not isinstance(row, dict):
            raise BadBenchmark(f"{place}: a JSON object was expected.")
        yield place, row


def _field(row: dict[str, object], name: str, place: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str):
        raise BadBenchmark(f"{place}: {name} is missing or no text.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise BadBenchmark(f"{place}: {name} holds characters that are not text.")
    return value


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, with its file name and number."""
    number = 0
    try:
        with cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as lines:
            for number, raw in enumerate(lines, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if line.strip():
                    yield f"{path}:{number}", line
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadBenchmark(f"{path}:{number + (not isinstance(error, UnicodeDecodeError))}: {error}.") from error
