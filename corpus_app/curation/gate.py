"""The text-quality gate on stored passages; each text's faults are cached in a `PassageCheck` row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import F, Q, QuerySet

from corpus_app import quality
from corpus_app.models import Passage, PassageCheck, QualityWaiver
from corpus_app.quality import Kind, Severity, TextFault

BATCH = 200  # passages checked between two writes


@dataclass(frozen=True, slots=True)
class CheckedFault:
    """A text fault in a stored passage, with the reason of its waiver, if any."""

    fault: TextFault
    key: str
    """Identifies the fault until the passage's text changes."""
    waived: str = ""
    waived_by: str = ""

    @property
    def is_open(self) -> bool:
        return self.fault.severity is Severity.BLOCKS and not self.waived


def _read_code_digest() -> str:
    """Return a digest of the gate's code and word lists; cached faults of another digest are stale."""
    folder = Path(quality.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.txt")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CODE_DIGEST = _read_code_digest()


def key_of(text: str, fault: TextFault) -> str:
    identity = f"{fault.kind}\0{fault.start}\0{fault.end}\0{text}"
    return hashlib.sha256(identity.encode()).hexdigest()


def count_blocking(texts: Iterable[str]) -> int:
    """Count the faults in these texts that block publishing."""
    return sum(fault.severity is Severity.BLOCKS for text in texts for fault in quality.check(text))


def stale_passages() -> QuerySet[Passage]:
    """Return the passages whose current text this version of the gate has not checked."""
    seen = Q(check_of_text__content_hash=F("content_hash"), check_of_text__gate=CODE_DIGEST)
    return Passage.objects.exclude(seen)


def refresh(passages: QuerySet[Passage] | None = None, *, limit: int | None = None) -> int:
    """Check stale passages and return how many there were. Safe to repeat."""
    waiting = stale_passages() if passages is None else stale_passages().filter(pk__in=passages.order_by().values("pk"))
    rows = list(waiting.order_by("pk").values_list("pk", "text", "content_hash")[:limit])
    for start in range(0, len(rows), BATCH):
        _check_rows(rows[start : start + BATCH])
    return len(rows)


def _check_rows(rows: Sequence[tuple[int, str, str]]) -> None:
    waived = _waivers([pk for pk, _, _ in rows])
    checks = []
    for pk, text, content_hash in rows:
        found = quality.check(text)
        n_open = sum(
            fault.severity is Severity.BLOCKS and key_of(text, fault) not in waived.get(pk, {}) for fault in found
        )
        checks.append(
            PassageCheck(
                passage_id=pk,
                content_hash=content_hash,
                gate=CODE_DIGEST,
                findings=[_to_json(fault) for fault in found],
                n_open=n_open,
            )
        )
    PassageCheck.objects.bulk_create(
        checks,
        update_conflicts=True,
        unique_fields=["passage"],
        update_fields=["content_hash", "gate", "findings", "n_open"],
    )


def delete_check(passage_id: int) -> None:
    """Delete a passage's cached faults, because a waiver was added or removed."""
    PassageCheck.objects.filter(passage=passage_id).delete()


def _to_json(fault: TextFault) -> list[Any]:
    return [fault.start, fault.end, fault.kind.value, fault.words, fault.mend]


def _from_json(stored: Sequence[Any]) -> TextFault:
    start, end, kind, words, mend = stored
    return TextFault(start, end, Kind(kind), words, mend)


def _waivers(passage_ids: Sequence[int]) -> dict[int, dict[str, tuple[str, str]]]:
    found: dict[int, dict[str, tuple[str, str]]] = {}
    rows = QualityWaiver.objects.filter(passage__in=passage_ids)
    for pk, key, reason, who in rows.values_list("passage_id", "words_hash", "reason", "by_name"):
        found.setdefault(pk, {})[key] = (reason, who)
    return found


def faults_of(passages: QuerySet[Passage]) -> Mapping[int, tuple[CheckedFault, ...]]:
    """Return the faults by passage id; passages without any are left out."""
    return faults_of_loaded(passages.select_related("check_of_text"))


def faults_of_loaded(passages: Iterable[Passage]) -> Mapping[int, tuple[CheckedFault, ...]]:
    """Return the faults of loaded passages by passage id; stale ones are checked without storing the result.

    Load the passages with `check_of_text` to avoid a query for each.
    """
    found: dict[int, tuple[str, Sequence[TextFault]]] = {}
    for passage in passages:
        if faults := _faults(passage):
            found[passage.pk] = passage.text, faults
    waived = _waivers(list(found)) if found else {}
    return {
        pk: tuple(
            CheckedFault(fault, key, *waived.get(pk, {}).get(key, ("", "")))
            for fault in faults
            for key in [key_of(text, fault)]
        )
        for pk, (text, faults) in found.items()
    }


def _faults(passage: Passage) -> Sequence[TextFault]:
    check: PassageCheck | None = getattr(passage, "check_of_text", None)
    if check and (check.content_hash, check.gate) == (passage.content_hash, CODE_DIGEST):
        return [_from_json(stored) for stored in check.findings]
    return quality.check(passage.text)


def filter_blocked(passages: QuerySet[Passage]) -> QuerySet[Passage]:
    """Return those of these passages that block publishing, after checking the stale ones."""
    refresh(passages)
    return passages.filter(check_of_text__n_open__gt=0)


def known_blocked() -> QuerySet[Passage]:
    """Return the passages known to block publishing; unchecked passages are left out."""
    return Passage.objects.filter(check_of_text__n_open__gt=0, check_of_text__content_hash=F("content_hash"))
