"""The text-quality gate on stored passages; each text's findings are cached in a `PassageCheck` row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import F, Q, QuerySet

from corpus_app import quality
from corpus_app.models import Passage, PassageCheck, QualityWaiver
from corpus_app.quality import Finding, Kind, Severity

BATCH = 200  # passages checked between two writes


@dataclass(frozen=True, slots=True)
class CheckedFinding:
    """A text-quality finding in a stored passage, with the reason of its waiver, if any."""

    finding: Finding
    key: str
    """Identifies the finding until the passage's text changes."""
    waived: str = ""
    waived_by: str = ""

    @property
    def is_open(self) -> bool:
        return self.finding.severity is Severity.BLOCKS and not self.waived


def _read_code_digest() -> str:
    """Return a digest of the gate's code and word lists; cached findings of another digest are stale."""
    folder = Path(quality.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.txt")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CODE_DIGEST = _read_code_digest()


def key_of(text: str, finding: Finding) -> str:
    identity = f"{finding.kind}\0{finding.start}\0{finding.end}\0{text}"
    return hashlib.sha256(identity.encode()).hexdigest()


def count_blocking(texts: Iterable[str]) -> int:
    """Count the findings in these texts that block publishing."""
    return sum(finding.severity is Severity.BLOCKS for text in texts for finding in quality.check(text))


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
            finding.severity is Severity.BLOCKS and key_of(text, finding) not in waived.get(pk, {}) for finding in found
        )
        checks.append(
            PassageCheck(
                passage_id=pk,
                content_hash=content_hash,
                gate=CODE_DIGEST,
                findings=[_to_json(finding) for finding in found],
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
    """Delete a passage's cached findings, because a waiver was added or removed."""
    PassageCheck.objects.filter(passage=passage_id).delete()


def _to_json(finding: Finding) -> list[Any]:
    return [finding.start, finding.end, finding.kind.value, finding.words, finding.mend]


def _from_json(stored: Sequence[Any]) -> Finding:
    start, end, kind, words, mend = stored
    return Finding(start, end, Kind(kind), words, mend)


def _waivers(passage_ids: Sequence[int]) -> dict[int, dict[str, tuple[str, str]]]:
    found: dict[int, dict[str, tuple[str, str]]] = {}
    rows = QualityWaiver.objects.filter(passage__in=passage_ids)
    for pk, key, reason, who in rows.values_list("passage_id", "words_hash", "reason", "by_name"):
        found.setdefault(pk, {})[key] = (reason, who)
    return found


def findings_of(passages: QuerySet[Passage]) -> Mapping[int, tuple[CheckedFinding, ...]]:
    """Return the findings by passage id; passages without any are left out."""
    return findings_of_loaded(passages.select_related("check_of_text"))


def findings_of_loaded(passages: Iterable[Passage]) -> Mapping[int, tuple[CheckedFinding, ...]]:
    """Return the findings of loaded passages by passage id; stale ones are checked without storing the result.

    Load the passages with `check_of_text` to avoid a query for each.
    """
    found: dict[int, tuple[str, Sequence[Finding]]] = {}
    for passage in passages:
        if findings := _findings(passage):
            found[passage.pk] = passage.text, findings
    waived = _waivers(list(found)) if found else {}
    return {
        pk: tuple(
            CheckedFinding(finding, key, *waived.get(pk, {}).get(key, ("", "")))
            for finding in findings
            for key in [key_of(text, finding)]
        )
        for pk, (text, findings) in found.items()
    }


def _findings(passage: Passage) -> Sequence[Finding]:
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
