"""Models that read question and passage together, behind the pipeline's port: a CrossEncoder, or a language model."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from corpus_app.records import Passage
from qa_app.pipeline.ports import RerankerFailed
from qa_app.writers.model_server import ModelServer
from qa_app.writers.records import Deadline, ServerFailed, Waiting

T = TypeVar("T")

PAIRS_AT_ONCE = 8  # between two batches the time limit is looked at
LONGEST_PASSAGE = 2_000  # characters that a language model is sent of a passage
MOST = 10  # the best mark that it gives
PROMPT = "rerank-1"
LATE = "not in time"


class CrossEncoderReranker:
    """A CrossEncoder of sentence-transformers, by name or folder; nothing is downloaded."""

    name = "cross-encoder"

    def __init__(self, model: str) -> None:
        self._model = model
        self._loaded: Any = None
        self._loading = threading.Lock()

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        pairs = [(question, f"{passage.heading}. {passage.text}") for passage in passages]
        deadline = monotonic() + seconds
        return _in_time(lambda: self._read(pairs, deadline), seconds)

    def prepare(self) -> None:
        """Raises RerankerFailed where there is no such model."""
        self._encoder()

    def _read(self, pairs: list[tuple[str, str]], deadline: float) -> list[float]:
        encoder = self._encoder()  # questions asked while it loads are answered in the built-in order
        found: list[float] = []
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            if monotonic() > deadline:
                raise RerankerFailed(LATE)
            batch = encoder.predict(pairs[start : start + PAIRS_AT_ONCE], show_progress_bar=False)
            found += [float(score) for score in batch]
        if not all(map(math.isfinite, found)):
            raise RerankerFailed("gave no number")
        return found

    def _encoder(self) -> Any:
        with self._loading:
            if self._loaded is None:
                from sentence_transformers import CrossEncoder

                try:
                    self._loaded = CrossEncoder(self._model, local_files_only=True, num_labels=1)
                except Exception as error:  # whatever a model's files can hold
                    raise RerankerFailed("could not be loaded") from error
            return self._loaded


class ModelReranker:
    """A language model marks each passage from 0 to 10. What it leaves out counts 0; labels that were not sent count nothing."""

    name = "llm reranker"

    def __init__(self, server: ModelServer, waiting: Waiting | None = None) -> None:
        self._server, self._waiting = server, waiting

    def prepare(self) -> None:
        """Nothing: the server has the model."""

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        labels = [f"p{number}" for number in range(1, len(passages) + 1)]
        material = {
            "question": question,
            "passages": [
                {
                    "label": label,
                    "study": passage.study.title,
                    "section": passage.section.value,
                    "text": passage.text[:LONGEST_PASSAGE],
                }
                for label, passage in zip(labels, passages, strict=True)
            ],
        }
        messages = [
            {"role": "system", "content": _prompt()},
            {"role": "user", "content": json.dumps(material, ensure_ascii=False)},
        ]
        try:
            reply = self._server.complete(
                messages, _MARKS, Deadline.after(seconds, waiting=self._waiting), name="marks"
            )
        except ServerFailed as failure:
            raise RerankerFailed(LATE if failure.reason == "timeout" else "did not answer") from failure
        marks = _marks(reply.text, frozenset(labels))
        return [marks.get(label, 0.0) for label in labels]


_MARKS: dict[str, object] = {
    "type": "object",
    "properties": {
        "marks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"label": {"type": "string"}, "mark": {"type": "number"}},
                "required": ["label", "mark"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["marks"],
    "additionalProperties": False,
}


def _marks(reply: str, labels: frozenset[str]) -> dict[str, float]:
    """The marks of the passages that were sent, each the first given. Raises RerankerFailed where there is none."""
    try:
        rows = [(str(row["label"]), float(row["mark"])) for row in json.loads(reply)["marks"]]
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise RerankerFailed("gave no order that can be read") from error
    marks = {label: min(MOST, max(0.0, mark)) for label, mark in reversed(rows) if label in labels and mark == mark}
    if not marks:
        raise RerankerFailed("gave no order that can be read")
    return marks


def _prompt() -> str:
    return (Path(__file__).parent / "prompts" / f"{PROMPT}.txt").read_text(encoding="utf-8")


def _in_time(work: Callable[[], T], seconds: float) -> T:
    """What the work gives, or RerankerFailed when the time is over; a thread that is late ends by itself."""
    done: SimpleQueue[T | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except BaseException as error:  # raised again where it is waited for
            done.put(error)

    threading.Thread(target=run, name="reranker", daemon=True).start()
    try:
        result = done.get(timeout=seconds)
    except Empty:
        raise RerankerFailed(LATE) from None
    if isinstance(result, RerankerFailed):
        raise result
    if isinstance(result, BaseException):
        raise RerankerFailed("failed") from result
    return result
