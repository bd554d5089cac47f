"""Describe for curators how an answer was written, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from qa_app.pipeline.records import Verdict

PARTS = {"summary": "In short", "answer": "In full"}
WRITERS = {
    "counted": "Counted from the findings of the studies",
    "extractive": "Sentences chosen from the passages",
    "llm": "A language model",
}
FAILURES = {
    "timeout": "it did not answer in time",
    "not_found": "it found no answer in the passages",
    "unreadable": "its reply could not be read",
    "too_long": "the prompt was longer than it can read",
    "too_large": "its reply was too long",
    "spend_limit": "the day’s limit for it was reached",
    "quota_used_up": "as much as may be written for this reader was used up",
    "unverified": "what it wrote could not be verified",
}
VERDICTS = {
    Verdict.VERBATIM: "word for word from the passage",
    Verdict.SUPPORTED: "borne out by the passage",
    Verdict.WEAK: "loosely borne out by the passage",
    Verdict.COUNTED: "counted from the findings",
}


@dataclass(frozen=True, slots=True)
class DraftedSentence:
    """A sentence of a draft."""

    text: str
    verdict: str
    """Its verdict, or the code of the reason for which it was left out; empty where it was not verified."""

    @property
    def is_verified(self) -> bool:
        return self.verdict in VERDICTS

    @property
    def in_words(self) -> str:
        return VERDICTS.get(self.verdict, "") if self.is_verified else ""  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class WriterAttempt:
    """The draft of one writer as it was received."""

    writer: str
    details: str
    failure: str
    parts: tuple[tuple[str, tuple[DraftedSentence, ...]], ...]
    dropped: tuple[tuple[str, str, str], ...]
    """Text, reason code and detail of what was not verified."""


def attempts(drafts: Sequence[Mapping[str, Any]]) -> Iterator[WriterAttempt]:
    """Yield the stored drafts of an answer, first attempt first."""
    for attempt in drafts:
        failure = attempt.get("failure") or ""
        yield WriterAttempt(
            writer=_(WRITERS[name]) if (name := str(attempt.get("writer", ""))) in WRITERS else name,
            details=", ".join(_details(attempt.get("generator") or {})),
            failure=FAILURES.get(failure, failure.replace("_", " ")),
            parts=tuple(_parts(attempt)),
            dropped=tuple(
                (str(row.get("text") or ""), str(row.get("reason", "")), str(row.get("detail", "")))
                for row in attempt.get("dropped") or ()
            ),
        )


def _details(generator: Mapping[str, Any]) -> Iterator[str]:
    for name in ("model", "prompt"):
        if value := generator.get(name):
            yield f"{name} {value}"
    if tokens := generator.get("tokens"):
        yield f"{tokens:,} tokens"


def _parts(attempt: Mapping[str, Any]) -> Iterator[tuple[str, tuple[DraftedSentence, ...]]]:
    """Yield the parts; verdicts are stored for the summary first, then for the answer."""
    verdicts = iter(attempt.get("verdicts") or ())
    for part, title in PARTS.items():
        sentences = tuple(
            DraftedSentence(str(row.get("text", "")), str(next(verdicts, ""))) for row in attempt.get(part) or ()
        )
        if sentences:
            yield title, sentences


def settings(policy: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each number of a policy by its dotted name."""
    for name, value in sorted(policy.items()):
        if isinstance(value, Mapping):
            yield from settings(value, f"{prefix}{name}.")
        elif _is_pairs(value):
            yield from settings(dict(value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _format(value)


def _is_pairs(value: Any) -> bool:
    """Return whether it is a list such as [["cosine", 1.1], ["bm25", 1.2]]."""
    rows = value if isinstance(value, list | tuple) else ()
    return bool(rows) and all(
        isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0], str) for row in rows
    )


def _format(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_format, value)) if isinstance(value, list | tuple) else str(value)
