"""What the text-quality gate says of the passages that are kept: looked at once for each text, remembered in a row beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db.models import F, Q, QuerySet

from corpus_app import quality
from corpus_app.models import Passage, PassageCheck, QualityWaiver
from corpus_app.quality import Finding, Kind, Severity

BATCH = 200  # passages looked at between two writes


@dataclass(frozen=True, slots=True)
class Held:
    """A finding of a passage, and the reason why it may stand, where there is one."""

    finding: Finding
    key: str
    """Names the finding as long as the passage's words are the same."""
    waived: str = ""
    waived_by: str = ""

    @property
    def is_open(self) -> bool:
        return self.finding.severity is Severity.BLOCKS and not self.waived


@cache
def edition() -> str:
    """Names the gate by its own code and words: what an earlier edition found is looked at again."""
    folder = Path(quality.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.txt")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def key_of(text: str, finding: Finding) -> str:
    place = f"{finding.kind}\0{finding.start}\0{finding.end}\0{text}"
    return hashlib.sha256(place.encode()).hexdigest()


def blocking(texts: Iterable[str]) -> int:
    """How many findings in these texts stand in the way of publishing."""
    return sum(finding.severity is Severity.BLOCKS for text in texts for finding in quality.check(text))


def stale() -> QuerySet[Passage]:
    """Passages whose present words this edition of the gate has not seen."""
    seen = Q(check_of_text__content_hash=F("content_hash"), check_of_text__gate=edition())
    return Passage.objects.exclude(seen)


def refresh(passages: QuerySet[Passage] | None = None, *, limit: int | None = None) -> int:
    """Looks at those that are stale; how many they were. Safe to repeat."""
    waiting = stale() if passages is None else stale().filter(pk__in=passages.order_by().values("pk"))
    rows = list(waiting.order_by("pk").values_list("pk", "text", "content_hash")[:limit])
    for start in range(0, len(rows), BATCH):
        _look(rows[start : start + BATCH])
    return len(rows)


def _look(rows: Sequence[tuple[int, str, str]]) -> None:
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
                gate=edition(),
                findings=[_kept(finding) for finding in found],
                n_open=n_open,
            )
        )
    PassageCheck.objects.bulk_create(
        checks,
        update_conflicts=True,
        unique_fields=["passage"],
        update_fields=["content_hash", "gate", "findings", "n_open"],
    )


def forget(passage_id: int) -> None:
    """What was found in a passage counts no more: a waiver has come or gone."""
    PassageCheck.objects.filter(passage=passage_id).delete()


def _kept(finding: Finding) -> list[Any]:
    return [finding.start, finding.end, finding.kind.value, finding.words, finding.mend]


def _finding(kept: Sequence[Any]) -> Finding:
    start, end, kind, words, mend = kept
    return Finding(start, end, Kind(kind), words, mend)


def _waivers(passage_ids: Sequence[int]) -> dict[int, dict[str, tuple[str, str]]]:
    found: dict[int, dict[str, tuple[str, str]]] = {}
    rows = QualityWaiver.objects.filter(passage__in=passage_ids)
    for pk, key, reason, who in rows.values_list("passage_id", "words_hash", "reason", "by_name"):
        found.setdefault(pk, {})[key] = (reason, who)
    return found


def findings_of(passages: QuerySet[Passage]) -> Mapping[int, tuple[Held, ...]]:
    """What was found in each of these passages that has something, by its key."""
    return findings_in(passages.select_related("check_of_text"))


def findings_in(passages: Iterable[Passage]) -> Mapping[int, tuple[Held, ...]]:
    """The same of rows at hand, best with `check_of_text`; those that are stale are looked at without a trace."""
    found: dict[int, tuple[str, Sequence[Finding]]] = {}
    for passage in passages:
        if findings := _known(passage):
            found[passage.pk] = passage.text, findings
    waived = _waivers(list(found)) if found else {}
    return {
        pk: tuple(
            Held(finding, key, *waived.get(pk, {}).get(key, ("", "")))
            for finding in findings
            for key in [key_of(text, finding)]
        )
        for pk, (text, findings) in found.items()
    }


def _known(passage: Passage) -> Sequence[Finding]:
    check: PassageCheck | None = getattr(passage, "check_of_text", None)
    if check and (check.content_hash, check.gate) == (passage.content_hash, edition()):
        return [_finding(kept) for kept in check.findings]
    return quality.check(passage.text)


def open_in(passages: QuerySet[Passage]) -> QuerySet[Passage]:
    """Those of these passages that cannot be published as they are."""
    refresh(passages)
    return passages.filter(check_of_text__n_open__gt=0)


def known_open() -> QuerySet[Passage]:
    """Passages known to have something in the way; those not yet looked at are not among them."""
    return Passage.objects.filter(check_of_text__n_open__gt=0, check_of_text__content_hash=F("content_hash"))
