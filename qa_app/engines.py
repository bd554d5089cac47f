"""The answering engine of this process: its models, its safety classifier, and the corpus it reads."""

from __future__ import annotations

from functools import lru_cache

from corpus_app import search
from qa_app.engine import learned
from qa_app.engine.learned import BadModel, ModelFile
from qa_app.engine.policy import EnginePolicy
from qa_app.engine.ports import Corpus, CorpusFacts
from qa_app.engine.query import Query
from qa_app.engine.question.parse import parse
from qa_app.engine.question.safety_model import FILE as SAFETY_FILE
from qa_app.engine.question.safety_model import SafetyClassifier
from qa_app.engine.retrieval import Models
from qa_app.engine.run import Engine
from qa_app.pipeline import calibration
from qa_app.pipeline.calibration import DEFAULT_ENCODER
from qa_app.pipeline.policy import Policy

KINDS = ("relevance", "answerability", "lead")


def engine(policy: Policy) -> Engine:
    """Return the engine for the encoder in use."""
    encoder = search.encoder_name()
    return Engine(models(encoder), classifier(encoder), EnginePolicy(), policy)


@lru_cache(maxsize=4)  # model files are read once a process: a millisecond each
def models(encoder: str) -> Models:
    """Return the encoder's models; those of the default encoder, by words alone, where it has none of its own."""
    try:
        files = _read(encoder)
        is_calibrated = True
    except BadModel:
        files, is_calibrated = _read(DEFAULT_ENCODER), False
    version = files["lead"].version if is_calibrated else f"uncalibrated ({files['lead'].version})"
    relevance, answerability, lead = (files[kind].models for kind in KINDS)
    return Models(relevance, answerability, lead, version=version, is_calibrated=is_calibrated)


@lru_cache(maxsize=4)  # read once a process, too
def classifier(encoder: str) -> SafetyClassifier | None:
    """Return the encoder's safety classifier; None where it has none."""
    return SafetyClassifier.load(calibration.folder_of(encoder) / SAFETY_FILE)


def parse_question(text: str, corpus: Corpus, facts: CorpusFacts) -> Query:
    """Parse a normalised question with what the corpus knows."""
    return parse(
        text,
        concepts=facts.concept_index,
        vocabulary=facts.vocabulary,
        is_word=corpus.is_word,
        collections=facts.collections,
        references=facts.sources,
        people=facts.people,
    )


def _read(encoder: str) -> dict[str, ModelFile]:
    return {kind: learned.read(learned.folder_of(encoder) / f"{kind}.json") for kind in KINDS}
