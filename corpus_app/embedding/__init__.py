"""The encoder: turns texts into vectors, loaded once per process on first use, named and versioned.

A name says which vectors these are: `model@format`. The compressed form (int8) is used where it was written and accepted
(see `compressed`), the original (fp32) elsewhere. Which one it is, the data folder tells every process without loading it.

The model stack takes seconds and hundreds of megabytes to import, so it is imported where it is loaded and nowhere else.
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
    """The name of the encoder that passages are embedded with, without loading it."""
    if _chosen:
        return _chosen.name
    if choice := chosen.read():
        return choice.name
    return configured_name()


def configured_name() -> str:
    """The name of the encoder that the settings ask for."""
    return f"{settings.ENCODER}@{COMPRESSED if compressed.is_accepted(settings.ENCODER) else ORIGINAL}"


def kept_name() -> str:
    """The encoder whose vectors are kept for a return; empty where there is none."""
    choice = None if _chosen else chosen.read()
    return choice.keeps if choice else ""


def on_offer() -> tuple[str, ...]:
    """The encoders that this installation can run without fetching anything: the configured model and the packaged one."""
    models = dict.fromkeys((settings.ENCODER, PACKAGED))
    return tuple(
        f"{model}@{form}"
        for model in models
        for form in (COMPRESSED, ORIGINAL)
        if form == ORIGINAL or compressed.is_accepted(model)
    )


def choose(name: str, *, keeps: str = "") -> None:
    """From now on passages are embedded with this one, and the vectors of `keeps` stay. Raises OSError."""
    if name == configured_name() and not keeps:
        chosen.forget()
    else:
        chosen.write(name=name, keeps=keeps)


def get(name: str = "") -> Encoder:
    """The encoder of this name, or the active one, loaded on first use. Raises EncoderUnavailable."""
    global _loaded
    name = name or active_name()
    if _chosen and _chosen.name == name:
        return _chosen
    with _loading:
        if _loaded is None or _loaded.name != name:
            _loaded = _load(name)
        return _loaded


def original_of(encoder: Encoder) -> Encoder:
    """The same model as it was published, to compare with. Raises EncoderUnavailable."""
    model, _, number_format = encoder.name.rpartition("@")
    return encoder if number_format == ORIGINAL else SentenceEncoder(model, name=f"{model}@{ORIGINAL}")


def is_chosen() -> bool:
    """Whether `use` has put an encoder in the place of the configured one."""
    return _chosen is not None


@contextmanager
def use(encoder: Encoder | None) -> Iterator[Encoder | None]:
    """Puts another encoder in the place of the configured one, in this process; None is the configured one again."""
    global _chosen
    before, _chosen = _chosen, encoder
    try:
        yield encoder
    finally:
        _chosen = before


def is_prepared() -> bool:
    """Whether it is settled which form is in use. Until it is, embedding anything would be work for nothing."""
    return is_chosen() or settings.ENCODER in _given_up or compressed.is_settled(settings.ENCODER)


def prepare(*, titles: Sequence[str], texts: Sequence[str]) -> None:
    """Writes the compressed form where that was not tried yet, and checks it on these. Raises EncoderUnavailable."""
    if is_prepared():
        return
    if not compressed.can_run():
        logger.warning("The encoder is used uncompressed, which is slower: onnxruntime is not installed.")
        _given_up.add(settings.ENCODER)
        return
    try:
        compressed.write(settings.ENCODER, titles=titles, texts=texts)
    except OSError as error:
        logger.warning("The encoder is used uncompressed, which is slower: %s cannot be written.", error.filename)
        _given_up.add(settings.ENCODER)


def _load(name: str) -> Encoder:
    model, _, number_format = name.rpartition("@")
    if number_format == COMPRESSED:
        return compressed.load(model, name=name)
    return SentenceEncoder(model, name=name)


_chosen: Encoder | None = None
_loaded: Encoder | None = None
_loading = threading.Lock()
_given_up: set[str] = set()  # models that this process could not compress for a reason that may pass
