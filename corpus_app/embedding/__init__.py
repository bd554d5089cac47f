"""The encoder, which turns texts into vectors; each process loads it once, on first use.

An encoder's name is `model@format`. The compressed form (int8) is used once it was written and accepted (see
`compressed`), the original (fp32) until then. Every process learns which from the data folder, without loading a model.

Importing the model stack takes seconds and hundreds of megabytes, so only the functions that load a model import it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings

from corpus_app.embedding import chosen, compressed
from corpus_app.embedding.base import THREADS as THREADS
from corpus_app.embedding.base import Encoder as Encoder
from corpus_app.embedding.base import EncoderUnavailable as EncoderUnavailable
from corpus_app.embedding.base import Matrix as Matrix
from corpus_app.embedding.original import PACKAGED as PACKAGED
from corpus_app.embedding.original import SentenceEncoder as SentenceEncoder

logger = logging.getLogger(__name__)

ORIGINAL = "fp32"
COMPRESSED = compressed.FORMAT


def active_name() -> str:
    """Return the name of the encoder that passages are embedded with, without loading it."""
    if _override:
        return _override.name
    if choice := chosen.read():
        return choice.name
    return configured_name()


def configured_name() -> str:
    """Return the name of the encoder that the settings ask for."""
    return f"{settings.ENCODER}@{COMPRESSED if compressed.is_accepted(settings.ENCODER) else ORIGINAL}"


def fallback_name() -> str:
    """Return the encoder whose vectors are kept so that a change can be undone; empty when there is none."""
    choice = None if _override else chosen.read()
    return choice.keeps if choice else ""


def on_offer() -> tuple[str, ...]:
    """Return the encoders that this installation can run offline: those of the configured and the packaged model."""
    models = dict.fromkeys((settings.ENCODER, PACKAGED))
    return tuple(
        f"{model}@{form}"
        for model in models
        for form in (COMPRESSED, ORIGINAL)
        if form == ORIGINAL or compressed.is_accepted(model)
    )


def choose(name: str, *, keeps: str = "") -> None:
    """Embed passages with this encoder from now on, and keep the vectors of `keeps`."""
    if name == configured_name() and not keeps:
        chosen.forget()
    else:
        chosen.write(name=name, keeps=keeps)


def get(name: str = "") -> Encoder:
    """Return the encoder of this name, or the active one. Raises EncoderUnavailable when it cannot be loaded."""
    global _loaded
    name = name or active_name()
    if _override and _override.name == name:
        return _override
    with _load_lock:
        if _loaded is None or _loaded.name != name:
            _loaded = _load(name)
        return _loaded


def original_of(encoder: Encoder) -> Encoder:
    """Return the uncompressed form of an encoder. Raises EncoderUnavailable when it cannot be loaded."""
    model, _, number_format = encoder.name.rpartition("@")
    return encoder if number_format == ORIGINAL else SentenceEncoder(model, name=f"{model}@{ORIGINAL}")


def is_overridden() -> bool:
    """Return whether `use` has replaced the configured encoder."""
    return _override is not None


@contextmanager
def use(encoder: Encoder | None) -> Iterator[Encoder | None]:
    """Replace the configured encoder in this process; None restores the configured one."""
    global _override
    before, _override = _override, encoder
    try:
        yield encoder
    finally:
        _override = before


def is_prepared() -> bool:
    """Return whether the choice between compressed and original form is made; until then nothing should be embedded."""
    return is_overridden() or settings.ENCODER in _uncompressible or compressed.is_settled(settings.ENCODER)


def prepare(*, titles: Sequence[str], texts: Sequence[str]) -> None:
    """Write the compressed form unless that was tried before, and check it on these texts.

    Raises EncoderUnavailable when the original cannot be loaded.
    """
    if is_prepared():
        return
    if not compressed.can_run():
        logger.warning("The encoder is used uncompressed, which is slower: onnxruntime is not installed.")
        _uncompressible.add(settings.ENCODER)
        return
    try:
        compressed.write(settings.ENCODER, titles=titles, texts=texts)
    except OSError as error:
        logger.warning("The encoder is used uncompressed, which is slower: %s cannot be written.", error.filename)
        _uncompressible.add(settings.ENCODER)


def _load(name: str) -> Encoder:
    model, _, number_format = name.rpartition("@")
    if number_format == COMPRESSED:
        return compressed.load(model, name=name)
    return SentenceEncoder(model, name=name)


_override: Encoder | None = None
_loaded: Encoder | None = None
_load_lock = threading.Lock()
_uncompressible: set[str] = set()  # models that this process could not compress; another process may succeed
