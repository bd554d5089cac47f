"""The stages are timed by their names; none begins for nobody, or after the time is over."""

from __future__ import annotations

import pytest

from qa_app.pipeline.clock import STAGES, Clock
from qa_app.pipeline.ports import Abandoned, OutOfTime, Unwatched


class Watcher(Unwatched):
    """Notes the stages, and leaves when `leaves_after` of them have finished."""

    def __init__(self, leaves_after: int = 99) -> None:
        self.stages: list[tuple[str, float]] = []
        self.leaves_after = leaves_after

    def is_abandoned(self) -> bool:
        return len(self.stages) >= self.leaves_after

    def stage(self, name: str, milliseconds: float) -> None:
        self.stages.append((name, milliseconds))


@pytest.fixture(autouse=True)
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by 1, 2, 3, ... seconds from one look at it to the next: 0, 1, 3, 6, 10, 15."""
    times = iter([n * (n + 1) / 2 for n in range(20)])
    monkeypatch.setattr("qa_app.pipeline.clock.perf_counter", lambda: next(times))


def test_a_stage_that_runs_again_or_fails_has_all_its_time_and_others_have_none() -> None:
    watcher = Watcher()
    clock = Clock(progress=watcher)

    for _ in range(2):
        with clock("encode"):
            pass
    with pytest.raises(ValueError, match="no"), clock("scope"):
        raise ValueError("no")
    with clock("rank"):
        pass

    assert clock.spent == dict.fromkeys(STAGES) | {"encode": 1000.0 + 3000.0, "scope": 5000.0, "rank": 7000.0}
    assert watcher.stages == [("encode", 1000.0), ("encode", 4000.0), ("rank", 7000.0)]


def test_a_stage_inside_another_has_its_own_time() -> None:
    clock = Clock()

    with clock("linked"):
        with clock("encode"):
            pass
        with clock("rank"):
            pass

    assert (clock.spent["encode"], clock.spent["rank"]) == (2000.0, 4000.0)
    assert clock.spent["linked"] == 15_000.0 - 6000.0


def test_once_nobody_waits_or_the_time_is_over_no_stage_begins() -> None:
    class Over:
        def require(self) -> None:
            raise OutOfTime(30.0)

    watcher = Watcher()
    clock = Clock(progress=watcher)
    with clock("scope"):
        pass
    with clock("encode"):  # runs on, and is told to nobody
        watcher.leaves_after = 1

    with pytest.raises(Abandoned), clock("rank"):
        raise AssertionError
    with pytest.raises(OutOfTime, match="longer than 30 seconds"), Clock(limit=Over())("rank"):
        raise AssertionError
    assert [name for name, _ in watcher.stages] == ["scope"]
    assert clock.spent["encode"] == 3000.0
