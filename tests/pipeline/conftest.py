"""A few real studies in a database."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from corpus_app import curation, embedding, indexing, sources
from corpus_app.models import CorpusVersion
from tests.pipeline.corpora import FITTED, copy_slice
from tests.snapshots import Rows

_saved: list[Rows] = []


@pytest.fixture(scope="module")
def corpus(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The slice of the starter corpus, imported once in a process; whatever a test changes is taken back after it."""

    def make() -> None:
        folder = copy_slice(tmp_path_factory.mktemp("corpus"))
        curation.import_corpus(sources.read(folder, known=curation.known_ids()), publish=True)
        indexing.index_stale()

    with django_db_blocker.unblock(), embedding.use(FITTED), transaction.atomic():
        if _saved:
            _saved[0].restore()
            CorpusVersion.objects.update(at=timezone.now())  # what was read for the version of before is of no use
        else:
            _saved.append(Rows.made_by(make))
        yield
        transaction.set_rollback(True)
