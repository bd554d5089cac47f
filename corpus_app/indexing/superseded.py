"""Vectors of former encoders, which are dropped once nothing needs them."""

from __future__ import annotations

from django.db.models import F

from corpus_app import embedding
from corpus_app.indexing import study_texts
from corpus_app.indexing.state import has_work
from corpus_app.models import PassageSentence, PassageVector

swept: set[tuple[str, str]] = set()
"""The active and the kept encoder when this process last dropped all others' vectors: looking reads every vector."""


def drop_superseded(*, once: bool = False) -> int:
    """Drop the vectors of former encoders once nothing waits for the active one; return their number.

    Call it later than the last embedding: a question under way may still use the former encoder. `once` does nothing
    where this process has done it for the present encoders.
    """
    names = embedding.active_name(), embedding.fallback_name()
    if (once and swept == {names}) or has_work():
        return 0
    count = drop_other_vectors()
    swept.clear()
    swept.add(names)
    return count


def drop_other_vectors() -> int:
    """Delete the vectors of all encoders but the active one and the fallback."""
    active, fallback = embedding.active_name(), embedding.fallback_name()
    study_texts.drop_others(active, fallback)
    others = PassageVector.objects.exclude(encoder__in=[active, fallback])
    if not others.exists():
        return 0
    # After a change back, the active encoder's sentence vectors are in the second column: move them to the first.
    PassageSentence.objects.filter(kept_encoder=active).exclude(encoder=active).update(
        encoder=F("kept_encoder"), vector=F("kept_vector"), kept_encoder=F("encoder"), kept_vector=F("vector")
    )
    PassageSentence.objects.exclude(kept_encoder__in=["", fallback]).update(kept_encoder="", kept_vector=None)
    return others.delete()[0]
