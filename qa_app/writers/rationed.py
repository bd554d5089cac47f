"""Quotas on answers that a language model writes for a client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Writer, WriterFailed
from qa_app.pipeline.records import Draft, Evidence, Generator


class ModelQuotaUsedUp(Exception):
    """A client requested the language model by name and has no quota left."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "The answers that a language model may write for you are used up. "
            f"Try again in {retry_after_seconds} seconds, or leave out who is to write."
        )
        self.retry_after_seconds = retry_after_seconds


class Allowance:
    """Permission for a model to write one answer, counted once when the first attempt begins."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._wait: int | None = None

    def seconds_to_wait(self) -> int:
        """Return the seconds until a model may write; 0 where it may."""
        if self._wait is None:
            self._wait = self._count()
        return self._wait

    def require(self) -> None:
        """Raise ModelQuotaUsedUp without quota."""
        if wait := self.seconds_to_wait():
            raise ModelQuotaUsedUp(wait)


@dataclass(frozen=True)
class RationedWriter:
    """A writer within a quota. Without quota it fails, or raises ModelQuotaUsedUp if it was requested by name."""

    writer: Writer
    allowance: Allowance
    is_named: bool

    @property
    def name(self) -> str:
        return self.writer.name

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        if self.is_named:
            self.allowance.require()
        if self.allowance.seconds_to_wait():
            raise WriterFailed(
                "The client's quota of a model's answers is used up.", reason="quota_used_up", is_final=True
            )
        return self.writer.write(evidence, policy)
