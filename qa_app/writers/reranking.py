"""Rerankers that read question and passage together: a cross-encoder or a language model."""

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

BATCH_SIZE = 8  # the time limit is checked between batches
MAX_PASSAGE_LENGTH = 2_000  # characters of a passage in the prompt
MAX_MARK = 10  # the best mark
PROMPT = "rerank-1"
LATE = "not in time"


class CrossEncoderReranker:
    """A local sentence-transformers CrossEncoder, by name or folder; nothing is downloaded."""

    name = "cross-encoder"

    def __init__(self, model: str) -> None:
        self._model = model
        self._loaded: Any = None
        self._loading = threading.Lock()

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        pairs = [(question, f"{passage.heading}. {passage.text}") for passage in passages]
        deadline = monotonic() + seconds
        return _run_with_timeout(lambda: self._read(pairs, deadline), seconds)

    def prepare(self) -> None:
        """Load the model. Raises RerankerFailed when there is none."""
        self._encoder()

    def _read(self, pairs: list[tuple[str, str]], deadline: float) -> list[float]:
        encoder = self._encoder()  # while it loads, requests time out and keep the built-in order
        found: list[float] = []
        for start in range(0, len(pairs), BATCH_SIZE):
            if monotonic() > deadline:
                raise RerankerFailed(LATE)
            batch = encoder.predict(pairs[start : start + BATCH_SIZE], show_progress_bar=False)
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
                except Exception as error:  # model files may be broken in any way
                    raise RerankerFailed("could not be loaded") from error
            return self._loaded


class ModelReranker:
    """A language model that scores each passage from 0 to 10; passages that it omits score 0."""

    name = "llm reranker"

    def __init__(self, server: ModelServer, waiting: Waiting | None = None) -> None:
        self._server, self._waiting = server, waiting

    def prepare(self) -> None:
        """Do nothing: the server has loaded the model."""

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        labels = [f"p{number}" for number in range(1, len(passages) + 1)]
        data = {
            "question": question,
            "passages": [
                {
                    "label": label,
                    "study": passage.study.title,
                    "section": passage.section.value,
                    "text": passage.text[:MAX_PASSAGE_LENGTH],
                }
                for label, passage in zip(labels, passages, strict=True)
            ],
        }
        messages = [
            {"role": "system", "content": _prompt()},
            {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
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
    """Return the first mark of each passage that was sent. Raises RerankerFailed when there is none."""
    try:
        rows = [(str(row["label"]), float(row["mark"])) for row in json.loads(reply)["marks"]]
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise RerankerFailed("gave no order that can be read") from error
    marks = {label: min(MAX_MARK, max(0.0, mark)) for label, mark in reversed(rows) if label in labels and mark == mark}
    if not marks:
        raise RerankerFailed("gave no order that can be read")
    return marks


def _prompt() -> str:
    return (Path(__file__).parent / "prompts" / f"{PROMPT}.txt").read_text(encoding="utf-8")


def _run_with_timeout(work: Callable[[], T], seconds: float) -> T:
    """Return the work's result. Raises RerankerFailed when the time is over; the late thread ends by itself."""
    done: SimpleQueue[T | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except BaseException as error:  # raised in the waiting thread
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
