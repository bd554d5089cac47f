"""Sentences, terms and vectors derived from the corpus: updated with every write, embedded in the background."""

from corpus_app.indexing.approximate import build_progress, maintain_ann
from corpus_app.indexing.claims import is_under_way, pace
from corpus_app.indexing.consistency import audit
from corpus_app.indexing.state import (
    MAX_ATTEMPTS,
    Progress,
    count_late,
    counts,
    has_work,
    progress,
    read_state,
)
from corpus_app.indexing.superseded import drop_superseded
from corpus_app.indexing.sync import sync_states, sync_studies
from corpus_app.indexing.term_statistics import merge_term_statistics
from corpus_app.indexing.worker import (
    BATCH,
    Indexed,
    embed_again,
    embedded_text,
    index_all,
    index_stale,
    reset_failures,
)

__all__ = [
    "BATCH",
    "MAX_ATTEMPTS",
    "Indexed",
    "Progress",
    "audit",
    "build_progress",
    "count_late",
    "counts",
    "drop_superseded",
    "embed_again",
    "embedded_text",
    "has_work",
    "index_all",
    "index_stale",
    "is_under_way",
    "maintain_ann",
    "merge_term_statistics",
    "pace",
    "progress",
    "read_state",
    "reset_failures",
    "sync_states",
    "sync_studies",
]
