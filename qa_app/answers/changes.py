"""Compare an answer with a later one to the same question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Study:
    """A cited study."""

    study_id: str
    title: str
    year: int | None


@dataclass(frozen=True, slots=True)
class ChangedSentence:
    """A sentence with its place."""

    part: str
    number: int
    """From 1 within its part."""
    text: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between two answers; a pair is None where both are equal."""

    before: Payload
    after: Payload
    outcome: tuple[str, str] | None
    confidence: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None] | None
    policy: tuple[str, str] | None
    has_newer_corpus: bool
    studies_in: tuple[Study, ...]
    studies_out: tuple[Study, ...]
    """Studies no longer cited that are still public."""
    studies_gone: int
    """Number of studies that the earlier answer cited and that are no longer public."""
    sentences_in: tuple[ChangedSentence, ...]
    sentences_out: tuple[ChangedSentence, ...]

    @property
    def is_same(self) -> bool:
        """Return whether a reader sees no difference."""
        return not (
            self.outcome or self.confidence or self.studies_in or self.studies_out or self.studies_gone
            or self.sentences_in or self.sentences_out
        )  # fmt: skip


def changes_between(before: Payload, after: Payload) -> Changes:
    """Compare two redacted payloads."""
    studies = {"before": _studies(before), "after": _studies(after)}
    sentences = {"before": _sentences(before), "after": _sentences(after)}
    confidence = (before["confidence"], after["confidence"])
    is_alike = [row and (row["score"], row["label"]) for row in confidence]
    return Changes(
        before=before,
        after=after,
        outcome=_pair(before["outcome"], after["outcome"]),
        confidence=None if is_alike[0] == is_alike[1] else confidence,
        policy=_pair(before["policy"], after["policy"]),
        has_newer_corpus=before["corpus_version"] != after["corpus_version"],
        studies_in=tuple(study for key, study in studies["after"].items() if key not in studies["before"]),
        studies_out=tuple(study for key, study in studies["before"].items() if key not in studies["after"]),
        studies_gone=sum(row["status"] == "withdrawn" for row in before["citations"]),
        sentences_in=tuple(one for text, one in sentences["after"].items() if text not in sentences["before"]),
        sentences_out=tuple(one for text, one in sentences["before"].items() if text not in sentences["after"]),
    )


def _pair(before: str, after: str) -> tuple[str, str] | None:
    return None if before == after else (before, after)


def _studies(payload: Payload) -> dict[str, Study]:
    return {
        row["study_id"]: Study(row["study_id"], row["title"], row["year"])
        for row in payload["citations"]
        if row["status"] != "withdrawn"
    }


def _sentences(payload: Payload) -> dict[str, ChangedSentence]:
    """Map texts to their first sentence; skip sentences of withdrawn sources."""
    found: dict[str, ChangedSentence] = {}
    for part in ("summary", "answer"):
        for number, row in enumerate(payload[part]["sentences"], start=1):
            if row["support"]:
                found.setdefault(row["text"], ChangedSentence(part, number, row["text"]))
    return found
