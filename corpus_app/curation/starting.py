"""Steps of the start that a curator has confirmed; another corpus begins anew."""

from __future__ import annotations

from django.contrib.auth.models import User

from corpus_app.curation.acts import act
from corpus_app.models import CorpusEvent

CONFIRM = "confirm_start"


def confirm_step(step: str, *, by: User | None, by_name: str = "") -> None:
    """Record that a step needs nothing more."""
    with act(by=by, by_name=by_name) as current:
        if step not in confirmed_steps():
            current.record(CONFIRM, entry=step)


def confirmed_steps() -> frozenset[str]:
    """Return the steps confirmed since the corpus was replaced, if it ever was."""
    replaced = CorpusEvent.objects.filter(action="replace_corpus").values_list("pk", flat=True).first() or 0
    events = CorpusEvent.objects.filter(action=CONFIRM, pk__gt=replaced)
    return frozenset(events.values_list("detail__entry", flat=True))
