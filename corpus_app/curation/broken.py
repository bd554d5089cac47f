"""The check of edits to published studies: new faults in their text are corrected or waived first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from corpus_app import quality
from corpus_app.curation import gate
from corpus_app.models import Passage, QualityWaiver, Study
from corpus_app.quality import Severity, TextFault

Texts = frozenset[str]
FAULTS_SHOWN = 5  # faults that a message names
CONTEXT_CHARACTERS = 12  # characters shown on each side of a fault
MAX_CHARACTERS = 60  # characters of a fault that are shown


@dataclass(frozen=True, slots=True)
class NewFault:
    """A text fault that an edit adds to a published study."""

    passage_id: int
    number: int
    """The passage's place in its study, from 1."""
    fault: TextFault
    key: str
    around: str
    """The fault with a few characters of context."""

    def __str__(self) -> str:
        kind = self.fault.kind.replace("_", " ")
        proposed = f" (proposed: “{self.fault.mend}”)" if self.fault.mend else ""
        return f"passage {self.number}, {kind} “{self.around}”{proposed}"


def find_new(study: Study, before: Texts) -> tuple[NewFault, ...]:
    """Return the blocking faults in texts that are not in `before`.

    Faults that the replaced texts already had, and waived ones, do not count.
    """
    now = list(Passage.objects.filter(study=study).order_by("position"))
    present = {passage.text for passage in now}
    had = Counter((f.kind, f.words) for text in sorted(before - present) for f in _blocking(text))
    found: list[NewFault] = []
    for passage in now:
        if passage.text in before:
            continue
        for fault in _blocking(passage.text):
            if had[fault.kind, fault.words]:
                had[fault.kind, fault.words] -= 1
                continue
            key, around = gate.key_of(passage.text, fault), _around(passage.text, fault)
            found.append(NewFault(passage.pk, passage.position + 1, fault, key, around))
    waivers = QualityWaiver.objects.filter(words_hash__in=[new.key for new in found])
    waived = set(waivers.values_list("words_hash", "passage_id"))
    return tuple(new for new in found if (new.key, new.passage_id) not in waived)


def describe_faults(faults: Sequence[NewFault]) -> str:
    more = f"; and {len(faults) - FAULTS_SHOWN} more" if len(faults) > FAULTS_SHOWN else ""
    return "; ".join(map(str, faults[:FAULTS_SHOWN])) + more


def correct_text(text: str) -> str:
    """Return the text with the proposed correction of every blocking fault applied."""
    return quality.apply_mends(text, [fault for fault in _blocking(text) if fault.mend is not None])


def get_or_create_waiver(
    passage_id: int, fault: TextFault, key: str, *, reason: str, by: User | None, by_name: str, at: datetime
) -> tuple[QualityWaiver, bool]:
    """Return the waiver of a fault, and whether it is new."""
    defaults = {"words": fault.words, "reason": reason, "by": by, "by_name": by_name, "at": at}
    waiver, is_new = QualityWaiver.objects.get_or_create(
        passage_id=passage_id, kind=fault.kind.value, words_hash=key, defaults=defaults
    )
    if is_new:
        gate.delete_check(passage_id)
    return waiver, is_new


def _around(text: str, fault: TextFault) -> str:
    start, end = (
        max(0, fault.start - CONTEXT_CHARACTERS),
        min(fault.end, fault.start + MAX_CHARACTERS) + CONTEXT_CHARACTERS,
    )
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _blocking(text: str) -> list[TextFault]:
    return [fault for fault in quality.check(text) if fault.severity is Severity.BLOCKS]
