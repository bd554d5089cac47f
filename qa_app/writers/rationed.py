"""A language model writes for a client as often as the client may have it written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Writer, WriterFailed
from qa_app.pipeline.records import Draft, Evidence, Generator


class ModelQuotaUsedUp(Exception):
    """A model was asked for by name, and the client has used up what may be written by one."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "The answers that a language model may write for you are used up. "
            f"Try again in {retry_after_seconds} seconds, or leave out who is to write."
        )
        self.retry_after_seconds = retry_after_seconds


class Allowance:
    """Whether a model may write one answer: counted when the first model begins, and once for all its attempts."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._wait: int | None = None

    def seconds_to_wait(self) -> int:
        """0 where it may write."""
        if self._wait is None:
            self._wait = self._count()
        return self._wait

    def require(self) -> None:
        """Raises ModelQuotaUsedUp."""
        if wait := self.seconds_to_wait():
            raise ModelQuotaUsedUp(wait)


@dataclass(frozen=True)
class RationedWriter:
    """Writes as `writer` does while there is room. After that it fails, or refuses where it was asked for by name."""

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
