"""Generated cases are the same in every run, and no clock decides; a few real studies in a database, for whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from hypothesis import settings

from corpus_app import curation, embedding, indexing, sources
from tests.pipeline.corpora import FITTED, copy_slice

settings.register_profile("engine", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("engine")


@pytest.fixture(scope="module")
def corpus(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Import and index the slice of the starter corpus once; whatever a test changes is taken back after it."""
    folder = copy_slice(tmp_path_factory.mktemp("corpus"))
    with django_db_blocker.unblock(), embedding.use(FITTED), transaction.atomic():
        curation.import_corpus(sources.read(folder, known=curation.known_ids()), publish=True)
        indexing.index_stale()
        yield
        transaction.set_rollback(True)
