"""The supervisor, with small Python programs for children. It runs in a process of its own, as it does in life."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SUPERVISE = """
import signal, sys
from inform_site.supervisor import Supervisor

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may ignore it
with Supervisor(grace_seconds=float(sys.argv[1]), backoff_seconds=0.01) as supervisor:
    for number, source in enumerate(sys.argv[3:]):
        supervisor.start(f"child{number}", [sys.executable, "-u", "-c", source], max_failures=int(sys.argv[2]))
    status = supervisor.run()
print("left with", status, flush=True)
sys.exit(status)
"""
IDLE = "import time, os; print('pid', os.getpid()); time.sleep(60)"
FINISHES_ITS_TASK = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: print('finishing') or time.sleep(0.3) or print('finished') or exit(0))
print('ready')
while True: time.sleep(1)
"""
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready')\nwhile True: time.sleep(1)"
DEAF_WITH_CHILD = f"""
import subprocess, sys, os
print('grandchild', subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)
{DEAF}
"""

Supervise = Callable[..., "Run"]


class Run:
    """A supervisor at work, and the lines it has printed."""

    def __init__(self, *sources: str, grace: float = 5, failures: int = 1) -> None:
        command = [sys.executable, "-c", SUPERVISE, str(grace), str(failures), *sources]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines: list[str] = []

    def wait_for(self, words: str) -> str:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if words in line:
                return self.lines[-1]
        raise AssertionError(f"{words!r} never came: {self.lines}")

    def end(self) -> int:
        out, _ = self.process.communicate(timeout=30)
        self.lines += out.splitlines()
        return self.process.returncode


@pytest.fixture
def supervise() -> Iterator[Supervise]:
    runs: list[Run] = []

    def start(*sources: str, **options: float) -> Run:
        runs.append(Run(*sources, **options))  # type: ignore[arg-type]
        return runs[-1]

    yield start
    for run in runs:
        run.process.kill()
        run.process.communicate()


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


ASKED = {"int": [signal.SIGINT], "term": [signal.SIGTERM], "hup": [signal.SIGHUP], "echo": [signal.SIGINT] * 2}


@pytest.mark.parametrize("signals", ASKED.values(), ids=ASKED)
def test_running_work_is_finished_when_asked_to_stop(supervise: Supervise, signals: list[signal.Signals]) -> None:
    run = supervise(FINISHES_ITS_TASK)
    run.wait_for("ready")

    for number in signals:
        run.process.send_signal(number)

    assert run.end() == 0
    assert "child0 | finished" in run.lines


def test_a_second_interrupt_ends_all_at_once(supervise: Supervise) -> None:
    run = supervise(DEAF_WITH_CHILD, grace=60)
    grandchild = int(run.wait_for("grandchild").split()[-1])
    run.wait_for("ready")

    run.process.send_signal(signal.SIGINT)
    run.wait_for("stopping")
    time.sleep(0.6)
    run.process.send_signal(signal.SIGINT)

    assert run.end() == 0
    assert ends(grandchild)


def test_deaf_child_is_killed_after_the_grace(supervise: Supervise) -> None:
    run = supervise(DEAF, grace=0.2)
    run.wait_for("ready")

    run.process.send_signal(signal.SIGTERM)

    assert run.end() == 0
    assert "inform | child0 has not ended and is killed" in run.lines


def test_end_of_one_child_ends_the_others(supervise: Supervise) -> None:
    run = supervise(IDLE, "import time; time.sleep(0.3); exit(3)")
    other = int(run.wait_for("pid").split()[-1])

    assert run.end() == 1
    assert "inform | child1 ended (status 3)" in run.lines
    assert ends(other)


def test_killed_child_always_comes_back_and_one_that_cannot_start_ends_all(supervise: Supervise) -> None:
    killed = supervise("import os, time; print('born', flush=True); time.sleep(0.05); os.kill(os.getpid(), 9)")
    for _ in range(4):
        killed.wait_for("born")
    assert "child0 ended (killed by SIGKILL); starting it again in 0.02 s" in "".join(killed.lines)
    killed.process.send_signal(signal.SIGINT)
    assert killed.end() == 0

    broken = supervise("print('born'); exit(3)", failures=3)
    assert broken.end() == 1
    assert broken.lines.count("child0 | born") == 3


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot tie a child to its parent")
def test_children_end_with_a_killed_supervisor(supervise: Supervise) -> None:
    run = supervise(IDLE)
    child = int(run.wait_for("pid").split()[-1])

    os.kill(run.process.pid, signal.SIGKILL)

    assert ends(child)
