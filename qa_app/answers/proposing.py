"""Plain words proposed by the configured language model, for the curators' desk."""

from __future__ import annotations

from functools import partial

from django.conf import settings

from corpus_app.hooks import FindingWordWriter
from qa_app.answers.answering import model_server
from qa_app.writers.finding_words import propose
from qa_app.writers.records import Deadline


def finding_word_writer() -> FindingWordWriter | None:
    """Return the writer of a finding's plain words; None where no language model is configured."""
    server = model_server()
    return partial(propose, server, Deadline.after(settings.OPENAI_TIMEOUT_SECONDS)) if server else None
