"""Time the stages of an answer, and stop once the client has left or the time limit is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter

from qa_app.pipeline.ports import Abandoned, Limit, Progress, Unwatched

STAGES = (
    "scope",
    "understand",
    "encode",
    "lexical",
    "dense",
    "linked",
    "rank",
    "rerank",
    "summary",
    "answer",
    "verify",
)
"""Names of the stages, as stored answers have them."""

Span = Callable[[str], AbstractContextManager[object]]


def no_span(stage: str) -> AbstractContextManager[object]:
    """Trace nothing."""
    return nullcontext()


@dataclass
class Clock:
    """A timer for stages, in milliseconds; None for a stage that did not run or is counted in another one.

    Each finished stage is reported to `progress`. A stage that is running when the client leaves is finished but not
    reported. Raises Abandoned before a stage when the client has left, and OutOfTime when the time limit is reached.
    """

    spent: dict[str, float | None] = field(default_factory=lambda: dict.fromkeys(STAGES))
    progress: Progress = field(default_factory=Unwatched)
    limit: Limit | None = None
    span: Span = field(default=no_span)
    """Traces each stage."""
    _inner: float = 0.0
    """Milliseconds of nested stages, which the enclosing stage does not count."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        if self.progress.is_abandoned():
            raise Abandoned
        if self.limit is not None:
            self.limit.require()
        start = perf_counter()
        outer, self._inner = self._inner, 0.0
        try:
            with self.span(stage):
                yield
        finally:
            whole = 1000 * (perf_counter() - start)
            spent = (self.spent.get(stage) or 0.0) + round(whole - self._inner, 3)
            self.spent[stage] = spent
            self._inner = outer + whole
        if not self.progress.is_abandoned():
            self.progress.stage(stage, spent)
