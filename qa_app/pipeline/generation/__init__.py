"""Writing from the evidence alone: the extractive writer, which picks whole sentences word for word."""

from __future__ import annotations

from qa_app.pipeline.generation.extractive import EXTRACTIVE as EXTRACTIVE
from qa_app.pipeline.generation.extractive import ExtractiveWriter as ExtractiveWriter
from qa_app.pipeline.generation.sentences import rank_sentences as rank_sentences
