"""Search as if the corpus had one more curated question or alias; nothing of it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from corpus_app import embedding
from corpus_app.indexing import study_texts
from corpus_app.models import ConceptAlias, Study
from corpus_app.search.question_vectors import encoder_name
from corpus_app.search.versions import without_version

LAST_POSITION = 1_000_000_000  # behind every alias of a concept


@contextmanager
def with_question(study_id: str, finding_id: int | None, question: str) -> Iterator[None]:
    """Search inside as if this searchable study, or this finding of it, had the curated question.

    Raises EncoderUnavailable, and LookupError where there is no such study.
    """
    with _undone():
        study = Study.objects.filter(study_id=study_id).first()
        if study is None or not study.is_searchable:
            raise LookupError(f"{study_id} is not searchable.")
        own = study.findings.filter(pk=finding_id or 0).values_list("pk", flat=True).first()
        study_texts.add_question(embedding.get(encoder_name()), study, own, question)
        yield


@contextmanager
def with_alias(concept_id: str, name: str) -> Iterator[None]:
    """Read inside as if this concept had the alias. Raises IntegrityError where there is no such concept."""
    with _undone():
        ConceptAlias.objects.create(concept_id=concept_id, name=name, position=LAST_POSITION)
        yield


@contextmanager
def _undone() -> Iterator[None]:
    """Undo all writes of the block, and keep what is read of them out of the caches.

    No row that curators write is locked meanwhile.
    """
    with transaction.atomic():
        with without_version():
            yield
        transaction.set_rollback(True)
