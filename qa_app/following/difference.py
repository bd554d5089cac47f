"""Compare the answers to a followed question in what readers rely on: outcome, sources, notices and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from corpus_app.records import Notice
from qa_app.answers import redaction, storing
from qa_app.answers.changes import Changes, Study, changes_between
from qa_app.models import Answer, AnswerChange

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewNotice:
    """A notice that a cited study got after the earlier answer was made."""

    study: Study
    kind: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between two answers to a followed question."""

    changes: Changes
    notices: tuple[NewNotice, ...]

    @property
    def is_news(self) -> bool:
        """Return whether followers are told; a model words the same evidence anew each time, which is no news."""
        changes = self.changes
        is_quoted = all(body["generator"]["name"] != "llm" for body in (changes.before, changes.after))
        return bool(
            changes.outcome or changes.studies_in or changes.studies_out or changes.studies_gone or self.notices
            or (is_quoted and (changes.sentences_in or changes.sentences_out))
        )  # fmt: skip


def compare(before: Answer, after: Payload) -> Difference:
    """Compare a stored answer with a later one, which shows the present state of its sources."""
    stored = storing.restore_payload(before.payload)
    recorded = {row["study_id"]: row["notice"] for row in stored["citations"]}
    present = redaction.redact(stored)
    notices = tuple(
        NewNotice(Study(row["study_id"], row["title"], row["year"]), row["notice"])
        for row in present["citations"]
        if row["status"] != "withdrawn" and row["notice"] not in {Notice.NONE.value, recorded[row["study_id"]]}
    )
    return Difference(changes_between(present, after), notices)


def find_difference(change: AnswerChange) -> Difference:
    """Compare both answers of a change as their sources stand now; words of withdrawn sources are left out."""
    after = redaction.redact(storing.restore_payload(change.after.payload))
    return compare(change.before, after)
