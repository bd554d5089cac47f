"""Administration of vectors: embed passages again, change the encoder, drop the vectors of the former one."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User

from corpus_app import embedding, indexing
from corpus_app.curation.acts import CurationError, act
from corpus_app.models import Passage


class CannotChangeEncoder(CurationError):
    """A refused change of the encoder; the message says why."""


def embed_again(
    *, passages: Sequence[int] | None = None, studies: Sequence[str] | None = None, by: User | None, by_name: str = ""
) -> int:
    """Queue passages for a new embedding (all, if neither argument is given); return how many."""
    with act(by=by, by_name=by_name) as current:
        rows = Passage.objects.get_queryset()
        if passages is not None:
            rows = rows.filter(pk__in=passages)
        if studies is not None:
            rows = rows.filter(study__study_id__in=studies)
        count = indexing.embed_again(rows)
        named = list(rows.order_by("study__study_id").values_list("study__study_id", flat=True).distinct()[:20])
        everything = passages is None and studies is None
        current.record("embed_again", passages=count, studies="all" if everything else named)
        current.request_indexing()
        return count


def change_encoder(name: str, *, used: str, by: User | None, by_name: str = "") -> None:
    """Queue all passages for another encoder. Raises CannotChangeEncoder.

    Search continues with the encoder `used`, whose vectors are kept, so that the change can be undone.
    """
    if name == embedding.active_name():
        raise CannotChangeEncoder("Passages are embedded with it already.")
    if not name or name not in {*embedding.on_offer(), embedding.fallback_name()}:
        raise CannotChangeEncoder("This installation has no such encoder.")
    with act(by=by, by_name=by_name) as current:
        current.record("change_encoder", encoder=name, kept=used)
        current.request_indexing()
        indexing.reset_failures()
        embedding.choose(name, keeps=used if used != name else embedding.active_name())


def drop_former_vectors(*, by: User | None, by_name: str = "") -> None:
    """Delete the vectors of the former encoder, which a change back would need. Raises CannotChangeEncoder."""
    former = embedding.fallback_name()
    if not former:
        raise CannotChangeEncoder("No former vectors are kept.")
    if indexing.has_work():
        raise CannotChangeEncoder("Search may still need them: wait until every passage has its new vector.")
    with act(by=by, by_name=by_name) as current:
        current.record("drop_former_vectors", encoder=former)
        embedding.choose(embedding.active_name(), keeps="")
        indexing.drop_superseded()
