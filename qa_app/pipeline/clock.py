"""Time the stages of an answer, and stop where nobody waits for it or its time is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


@dataclass
class Clock:
    """Milliseconds per stage; None for a stage that did not run, or whose time another one's holds.

    Every stage passes here: whoever watches is told when it has finished, and none begins for nobody (Abandoned). One that is
    running when the last watcher leaves runs on, as `lexical` does around `encode`, and is told to nobody. Nor does one begin
    when the time is over (OutOfTime).
    """

    spent: dict[str, float | None] = field(default_factory=lambda: dict.fromkeys(STAGES))
    progress: Progress = field(default_factory=Unwatched)
    limit: Limit | None = None
    _inner: float = 0.0
    """Milliseconds of stages that ran inside the one that is running: they are not its own."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        if self.progress.is_abandoned():
            raise Abandoned
        if self.limit is not None:
            self.limit.require()
        start = perf_counter()
        outer, self._inner = self._inner, 0.0
        try:
            yield
        finally:
            whole = 1000 * (perf_counter() - start)
            spent = (self.spent.get(stage) or 0.0) + round(whole - self._inner, 3)
            self.spent[stage] = spent
            self._inner = outer + whole
        if not self.progress.is_abandoned():
            self.progress.stage(stage, spent)
