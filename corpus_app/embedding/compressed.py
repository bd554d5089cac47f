"""The compressed encoder: 8-bit weights run by onnxruntime, in a tenth of the time and a quarter of the memory.

The indexing process writes it once and checks it against the original. Its folder in the data folder contains
model.onnx, tokenizer.json and check.json with the result of the check; for a refused model, check.json alone. The
folder appears atomically, so its presence tells every process which form is in use.
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
SAMPLE_CHARACTERS = 500  # of each text: the check takes seconds, not a minute
TOP = 10
LOWEST_COSINE = 0.98  # mean over the sample; .993 is normal, .5 occurs where a processor's 8-bit sums overflow
LOWEST_OVERLAP = 0.80  # of the ten nearest texts of a title
TOOLS = ("onnx", "onnxruntime", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of comparing the compressed form with the original, and the versions that produced it."""

    model: str
    accepted: bool
    reason: str
    """Why it was refused; empty when it was accepted."""
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
    """An encoder that runs each text through the model alone, without padding.

    In a batch the quantisation scale of a text would depend on the others, and on two cores a batch is no faster.
    """

    def __init__(self, place: Path, *, name: str, dimensions: int) -> None:
        """Load model and tokenizer from a folder; raise whatever onnxruntime and tokenizers raise."""
        from tokenizers import Tokenizer

        self.name = name
        self.dimensions = dimensions
        self._model = place / MODEL
        self._tokenizer = Tokenizer.from_file(str(place / TOKENIZER))
        self._sessions: dict[int, Any] = {}  # by number of threads
        self._session_lock = threading.Lock()
        # Models written by an earlier release have a mask input; their vectors are the same, a seventh slower.
        self._has_mask_input = any(item.name == "attention_mask" for item in self._session(THREADS).get_inputs())

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        """Return one vector of unit length for each text; several threads share the texts."""
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
        if self._has_mask_input:
            inputs["attention_mask"] = np.array([tokens.attention_mask])
        vector: Matrix = self._session(threads).run(None, inputs)[0][0]
        return vector

    def _session(self, threads: int) -> Any:
        with self._session_lock:
            if threads not in self._sessions:
                self._sessions[threads] = _open(self._model, threads)
            return self._sessions[threads]


def _open(path: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry(
        "session.force_spinning_stop", "1"
    )  # leave the processor to other work between texts
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def load(model: str, *, name: str) -> Int8Encoder:
    """Load the compressed form of a model. Raises EncoderUnavailable when it is missing, refused or damaged."""
    place = folder(model)
    check = read_check(model)
    if check is None or not check.accepted or not can_run():
        raise EncoderUnavailable(
            f"The encoder {name} is not in {place}. `manage.py index_corpus` or the worker writes it there; "
            "web and worker need the same INFORM_DATA_DIR."
        )
    try:
        return Int8Encoder(place, name=name, dimensions=check.dimensions)
    except Exception as error:  # whatever onnxruntime and tokenizers raise
        raise EncoderUnavailable(
            f"The encoder {name} could not be loaded ({type(error).__name__}: {first_line(error)}). "
            f"Remove {place}, and the worker writes it anew."
        ) from error


# --- Find -------------------------------------------------------------------------------------------------------------


def folder(model: str) -> Path:
    """Return the folder of a model's compressed form."""
    return _folder(model, settings.DATA_DIR)


def _folder(model: str, data: str | Path) -> Path:
    readable = re.sub(r"[^\w.-]+", "-", model).strip("-.")[-60:]
    if readable != model:
        readable += "-" + hashlib.sha256(model.encode()).hexdigest()[:8]
    return Path(data) / "models" / f"{readable}@{FORMAT}"


def can_run() -> bool:
    """Return whether onnxruntime is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


def is_accepted(model: str) -> bool:
    check = read_check(model)
    return check is not None and check.accepted and can_run()


def is_settled(model: str) -> bool:
    """Return whether compression was accepted, or refused with the installed versions of the tools."""
    check = read_check(model)
    return check is not None and (check.accepted or check.versions == _versions())


def read_check(model: str) -> Check | None:
    """Return the check of a model's compressed form; None when it was never written."""
    try:
        return Check(**json.loads((folder(model) / CHECK).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _versions() -> dict[str, str]:
    return {name: version(name) for name in TOOLS if importlib.util.find_spec(name)}


# --- Write ------------------------------------------------------------------------------------------------------------


def write(model: str, *, titles: Sequence[str], texts: Sequence[str]) -> Check:
    """Write and check the compressed form of a model, while other processes wait; return the check.

    Raises EncoderUnavailable when the original cannot be loaded, OSError when the data folder cannot be written.
    """
    place = folder(model)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _lock(place.parent / ".lock"):
        if is_settled(model) and (check := read_check(model)):
            return check
        for leftover in place.parent.glob(f"{UNFINISHED}*"):  # by a process that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=UNFINISHED) as scratch:
            made = Path(scratch) / "made"
            made.mkdir(mode=0o755)
            check = _make(model, made, titles=titles, texts=texts)
            (made / CHECK).write_text(json.dumps(asdict(check), indent=2) + "\n", encoding="utf-8")
            if place.exists():
                place.rename(Path(scratch) / "former")
            made.rename(place)
    _log(check)
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
    except Exception as error:  # whatever torch, onnx and onnxruntime raise: the original is used then
        check = Check(model, False, f"{type(error).__name__}: {first_line(error)}", _versions())
    if not check.accepted:
        (made / MODEL).unlink(missing_ok=True)
        (made / TOKENIZER).unlink(missing_ok=True)
        return replace(check, weights_sha256=weights)
    return replace(check, weights_sha256=weights, model_sha256=hashlib.sha256((made / MODEL).read_bytes()).hexdigest())


def _export(original: SentenceEncoder, made: Path) -> None:
    """Write the model with mean pooling and normalisation; a model that pools otherwise fails the check."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from corpus_app.embedding import lean

    whole = made / "whole.onnx"
    with warnings.catch_warnings(), torch.no_grad(), _quiet():
        warnings.simplefilter("ignore")  # tracing warns about branches that do not depend on the text
        torch.onnx.export(
            lean.graph_of(original.model[0].auto_model),
            (torch.ones((1, 8), dtype=torch.int64),),
            str(whole),
            dynamo=False,  # the other exporter needs another package
            opset_version=OPSET,
            input_names=["input_ids"],
            output_names=["vector"],
            dynamic_axes={"input_ids": {1: "token"}},
        )
        # Weights use 7 of the 8 bits. Without VNNI a processor adds pairs of products in 16 bits, which could overflow
        # and change the vectors. With 7 bits they are the same on every processor, and as near to the original.
        try:
            quantize_dynamic(
                str(whole), str(made / MODEL), per_channel=True, weight_type=QuantType.QInt8, reduce_range=True
            )
        finally:
            whole.unlink()
    # A copy, so that the original keeps its own settings.
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
    """Return the mean share of each title's nearest texts that both forms agree on; 1.0 without texts."""
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


def _log(check: Check) -> None:
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
    """Suppress what onnxruntime's quantiser logs about each tensor."""
    thread = threading.get_ident()

    def is_foreign(record: logging.LogRecord) -> bool:
        return record.thread != thread

    root = logging.getLogger()
    root.addFilter(is_foreign)
    try:
        yield
    finally:
        root.removeFilter(is_foreign)
