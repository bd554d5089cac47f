"""The answering engine of this process: its models, its safety classifier, and the corpus it reads."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from common import tracing
from corpus_app import search
from qa_app.pipeline import learned
from qa_app.pipeline.learned import DEFAULT_ENCODER, BadModel, ModelFile
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.question.safety_model import FILE as SAFETY_FILE
from qa_app.pipeline.question.safety_model import SafetyClassifier
from qa_app.pipeline.retrieval import Models
from qa_app.pipeline.run import Engine

KINDS = ("relevance", "answerability", "lead", "grounding")


def engine(policy: Policy) -> Engine:
    """Return the engine for the configured encoder."""
    models, classifier = load(search.encoder_name())
    return Engine(models, classifier, policy, span=tracing.span)


@lru_cache(maxsize=4)  # files are read once a process: a millisecond each
def load(encoder: str) -> tuple[Models, SafetyClassifier | None]:
    """Return the encoder's models, and its safety classifier or None where it has none."""
    return _load_models(encoder), SafetyClassifier.load(_path(encoder, SAFETY_FILE))


def _load_models(encoder: str) -> Models:
    """Return the encoder's models; without any, those of the default encoder, marked as uncalibrated."""
    try:
        files = model_files(encoder)
        is_calibrated = True
    except BadModel:
        files, is_calibrated = model_files(DEFAULT_ENCODER), False
    version = files["lead"].version if is_calibrated else f"uncalibrated ({files['lead'].version})"
    relevance, answerability, lead, grounding = (files[kind].models for kind in KINDS)
    return Models(relevance, answerability, lead, version, grounding["bare"], is_calibrated)


def model_files(encoder: str) -> dict[str, ModelFile]:
    """Read the encoder's model files; files in settings.CALIBRATIONS take precedence. Raises BadModel."""
    return {kind: learned.read(_path(encoder, f"{kind}.json")) for kind in KINDS}


def model_trouble() -> str | None:
    """Return why the configured encoder has no usable models, as a message for the operator; None where it has."""
    try:
        model_files(search.encoder_name())
    except BadModel as error:
        return str(error)
    return None


def _path(encoder: str, name: str) -> Path:
    own = Path(settings.CALIBRATIONS) / name
    return own if settings.CALIBRATIONS and own.exists() else learned.folder_of(encoder) / name
