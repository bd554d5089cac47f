"""What depends on studies outside the corpus: asked of those that settings name, before something is taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.conf import settings
from django.utils.module_loading import import_string

from corpus_app.records import Impact

Provider = Callable[[Sequence[str], Sequence[int] | None], Iterable[Impact]]
"""Study ids, and the passages of them that it is about (None: all of them)."""


def of(study_ids: Sequence[str], passage_ids: Sequence[int] | None = None) -> tuple[Impact, ...]:
    """Everything that rests on these studies, or on these passages of them. Raises ImportError for a wrong setting."""
    found: list[Impact] = []
    for name in settings.IMPACT_PROVIDERS:
        provider: Provider = import_string(name)
        found += provider(study_ids, passage_ids)
    return tuple(found)
