"""The same model with weights of eight bits, run by onnxruntime: a tenth of the time, a quarter of the memory, no torch.

It is written once, by whoever indexes, checked against the original, and kept in a folder of its own under the data folder:
model.onnx, tokenizer.json and check.json, which says how near it came. The folder appears whole or not at all; that of a
refused one holds check.json alone. So its presence tells every process which form is in use.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import logging
import re
import shutil
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from corpus_app.embedding.base import LONGEST_TEXT, THREADS, Encoder, EncoderUnavailable, Matrix, first_line
from corpus_app.embedding.original import SentenceEncoder

logger = logging.getLogger(__name__)

FORMAT = "int8"
MODEL, TOKENIZER, CHECK = "model.onnx", "tokenizer.json", "check.json"
UNFINISHED = ".writing-"
OPSET = 17
SAMPLE_CHARACTERS = 500  # of a text: the check takes seconds, not a minute
TOP = 10
LOWEST_COSINE = 0.98  # mean over the sample; .993 was measured, .5 where a processor's eight-bit sums overflow
LOWEST_OVERLAP = 0.80  # of the ten nearest texts of a title
WORKED_WITH = ("onnx", "onnxruntime", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class Check:
    """How near the compressed form came to the original, and what it was made of."""

    model: str
    accepted: bool
    reason: str
    """Why it was refused; empty where it was not."""
    versions: dict[str, str]
    weights_sha256: str = ""
    model_sha256: str = ""
    dimensions: int = 0
    texts: int = 0
    titles: int = 0
    cosine_mean: float = 0.0
    cosine_lowest: float = 0.0
    top10_overlap: float = 0.0


class Int8Encoder:
    """Each text goes through the model alone: its vector depends on nothing but itself, and no padding is computed.

    In a batch the scale of the eight bits would follow its neighbours, and on two cores it is no faster.
    """

    def __init__(self, place: Path, *, name: str, dimensions: int) -> None:
        """From a folder with model and tokenizer; raises whatever onnxruntime and tokenizers raise."""
        from tokenizers import Tokenizer

        self.name = name
        self.dimensions = dimensions
        self._model = place / MODEL
        self._tokenizer = Tokenizer.from_file(str(place / TOKENIZER))
        self._sessions: dict[int, Any] = {}  # by number of threads
        self._opening = threading.Lock()
        # A model written by an earlier release; the vectors are the same, a seventh slower.
        self._wants_mask = any(one.name == "attention_mask" for one in self._session(THREADS).get_inputs())

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        """Encode the texts one by one; several threads share them."""
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if threads < 2 or len(texts) < 2:
            for row, text in enumerate(texts):
                rows[row] = self._encode_one(text, threads)
            return rows
        with ThreadPoolExecutor(threads, thread_name_prefix="encode") as pool:
            for row, vector in enumerate(pool.map(lambda text: self._encode_one(text, 1), texts)):
                rows[row] = vector
        return rows

    def _encode_one(self, text: str, threads: int) -> Matrix:
        tokens = self._tokenizer.encode(text[:LONGEST_TEXT])
        inputs = {"input_ids": np.array([tokens.ids])}
        if self._wants_mask:
            inputs["attention_mask"] = np.array([tokens.attention_mask])
        vector: Matrix = self._session(threads).run(None, inputs)[0][0]
        return vector

    def _session(self, threads: int) -> Any:
        with self._opening:
            if threads not in self._sessions:
                self._sessions[threads] = _open(self._model, threads)
            return self._sessions[threads]


def _open(path: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.force_spinning_stop", "1")  # between texts other work needs the processor
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def load(model: str, *, name: str) -> Int8Encoder:
    """Raises EncoderUnavailable."""
    place = folder(model)
    check = read_check(model)
    if check is None or not check.accepted or not can_run():
        raise EncoderUnavailable(
            f"The encoder {name} is not in {place}. `manage.py index_corpus` or the worker writes it there; "
            "web and worker need the same INFORM_DATA_DIR."
        )
    try:
        return Int8Encoder(place, name=name, dimensions=check.dimensions)
    except Exception as error:  # onnxruntime and tokenizers raise whatever they like
        raise EncoderUnavailable(
            f"The encoder {name} could not be loaded ({type(error).__name__}: {first_line(error)}). "
            f"Remove {place}, and the worker writes it anew."
        ) from error


# --- Whether there is one ---------------------------------------------------------------------------------------------


def folder(model: str) -> Path:
    """Where the compressed form of a model is kept."""
    return _folder(model, settings.DATA_DIR)


@lru_cache(maxsize=8)
def _folder(model: str, data: str | Path) -> Path:
    readable = re.sub(r"[^\w.-]+", "-", model).strip("-.")[-60:]
    if readable != model:
        readable += "-" + hashlib.sha256(model.encode()).hexdigest()[:8]
    return Path(data) / "models" / f"{readable}@{FORMAT}"


@cache
def can_run() -> bool:
    """Whether onnxruntime is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


def is_accepted(model: str) -> bool:
    check = read_check(model)
    return check is not None and check.accepted and can_run()


def is_settled(model: str) -> bool:
    """Whether it was written or refused, and no other versions give a refused one another chance."""
    check = read_check(model)
    return check is not None and (check.accepted or check.versions == _versions())


def read_check(model: str) -> Check | None:
    """None where the compressed form was never written."""
    path = folder(model) / CHECK
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=8)
def _read(path: Path, modified: int) -> Check | None:
    try:
        return Check(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        return None


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in WORKED_WITH if importlib.util.find_spec(name)}


# --- Writing it -------------------------------------------------------------------------------------------------------


def write(model: str, *, titles: Sequence[str], texts: Sequence[str]) -> Check:
    """The compressed form of a model, written and checked; one process does, others wait for it.

    Raises EncoderUnavailable where the original cannot be loaded, OSError where nothing can be written.
    """
    place = folder(model)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _lock(place.parent / ".lock"):
        if is_settled(model) and (check := read_check(model)):
            return check
        for left in place.parent.glob(f"{UNFINISHED}*"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=UNFINISHED) as scratch:
            made = Path(scratch) / "made"
            made.mkdir(mode=0o755)
            check = _make(model, made, titles=titles, texts=texts)
            (made / CHECK).write_text(json.dumps(asdict(check), indent=2) + "\n", encoding="utf-8")
            if place.exists():
                place.rename(Path(scratch) / "former")
            made.rename(place)
    _say(check)
    return check


def _make(model: str, made: Path, *, titles: Sequence[str], texts: Sequence[str]) -> Check:
    original = SentenceEncoder(model, name="original")
    weights = original.weights_sha256()
    try:
        _export(original, made)
        candidate = Int8Encoder(made, name="candidate", dimensions=original.dimensions)
        check = _compare(model, original, candidate, titles=titles, texts=[text[:SAMPLE_CHARACTERS] for text in texts])
    except OSError:
        raise
    except Exception as error:  # torch, onnx and onnxruntime raise whatever they like: the original then serves
        check = Check(model, False, f"{type(error).__name__}: {first_line(error)}", _versions())
    if not check.accepted:
        (made / MODEL).unlink(missing_ok=True)
        (made / TOKENIZER).unlink(missing_ok=True)
        return replace(check, weights_sha256=weights)
    return replace(check, weights_sha256=weights, model_sha256=hashlib.sha256((made / MODEL).read_bytes()).hexdigest())


def _export(original: SentenceEncoder, made: Path) -> None:
    """The model with mean pooling and unit length. A model that pools otherwise does not pass the check."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from corpus_app.embedding import lean

    whole = made / "whole.onnx"
    with warnings.catch_warnings(), torch.no_grad(), _quiet():
        warnings.simplefilter("ignore")  # tracing warns of branches that do not depend on the text
        torch.onnx.export(
            lean.graph_of(original.model[0].auto_model),
            (torch.ones((1, 8), dtype=torch.int64),),
            str(whole),
            dynamo=False,  # the other exporter needs one package more
            opset_version=OPSET,
            input_names=["input_ids"],
            output_names=["vector"],
            dynamic_axes={"input_ids": {1: "token"}},
        )
        # Weights of seven bits in eight: without VNNI a processor adds up pairs of products in sixteen bits, and where those
        # overflow its vectors are others than elsewhere. So they are the same everywhere, and no further from the original.
        quantize_dynamic(
            str(whole), str(made / MODEL), per_channel=True, weight_type=QuantType.QInt8, reduce_range=True
        )
    whole.unlink()
    # A copy: the original goes on with its own settings.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(original.model.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(int(original.model.max_seq_length))
    tokenizer.no_padding()
    tokenizer.save(str(made / TOKENIZER))


def _compare(
    model: str, original: Encoder, candidate: Encoder, *, titles: Sequence[str], texts: Sequence[str]
) -> Check:
    theirs, ours = (
        {"titles": encoder.encode(titles, threads=2), "texts": encoder.encode(texts, threads=2)}
        for encoder in (original, candidate)
    )
    cosines = np.concatenate([(theirs[kind] * ours[kind]).sum(axis=1) for kind in theirs])
    overlap = _overlap(theirs["titles"] @ theirs["texts"].T, ours["titles"] @ ours["texts"].T)
    check = Check(
        model=model,
        accepted=bool(cosines.mean() >= LOWEST_COSINE and overlap >= LOWEST_OVERLAP),
        reason="",
        versions=_versions(),
        dimensions=original.dimensions,
        texts=len(texts),
        titles=len(titles),
        cosine_mean=round(float(cosines.mean()), 4),
        cosine_lowest=round(float(cosines.min()), 4),
        top10_overlap=round(overlap, 4),
    )
    if check.accepted:
        return check
    return replace(check, reason=f"too far from the original: {_nearness(check)}")


def _overlap(theirs: Matrix, ours: Matrix) -> float:
    """The share of each title's nearest texts that both forms name; 1.0 where there is nothing to compare."""
    nearest = [np.argsort(-scores, axis=1, kind="stable")[:, :TOP] for scores in (theirs, ours)]
    if not nearest[0].size:
        return 1.0
    shares = [len(set(a) & set(b)) / len(a) for a, b in zip(*nearest, strict=True)]
    return float(np.mean(shares))


def _nearness(check: Check) -> str:
    return (
        f"cosine {check.cosine_mean:.3f} (lowest {check.cosine_lowest:.3f}), "
        f"{check.top10_overlap:.0%} of the ten nearest texts, over {check.titles} titles and {check.texts} texts"
    )


def _say(check: Check) -> None:
    if check.accepted:
        logger.info("The encoder %s was compressed: %s.", check.model, _nearness(check))
        return
    logger.warning("The encoder %s is used uncompressed, which is slower: %s.", check.model, check.reason)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what onnxruntime's quantiser tells the root logger of each tensor."""
    thread = threading.get_ident()

    def is_ours(record: logging.LogRecord) -> bool:
        return record.thread != thread

    root = logging.getLogger()
    root.addFilter(is_ours)
    try:
        yield
    finally:
        root.removeFilter(is_ours)
