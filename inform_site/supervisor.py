"""Run the site's processes in the foreground, prefix their output and stop them cleanly.

The first Ctrl-C (or SIGTERM, or a closed terminal) asks each main process to end and waits, so that a running task
finishes. A second Ctrl-C kills all at once. On Linux the children end with this process even when it is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

GRACE_SECONDS = 30.0
TICK_SECONDS = 0.1
STEADY_SECONDS = 60.0  # a child that ran this long starts without delay when it ends
MAX_BACKOFF_SECONDS = 30.0
ECHO_SECONDS = 0.5  # make hands a signal on that its whole group received already; that is not a second Ctrl-C
PREFIX_WIDTH = 7
COLOURS = (36, 35, 33, 32)
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass
class Child:
    """A named process, which is started again whenever it ends.

    One that ends by itself `max_failures` times in a row, and never ran steadily before, stops everything: it cannot
    start. One that was killed always comes back.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path | None
    max_failures: int
    files: Sequence[int]
    colour: int
    restarts: int = 0
    failures: int = 0
    was_steady: bool = False
    restart_at: float | None = None
    started_at: float = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)
    pump: threading.Thread = field(init=False)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def end(self) -> str:
        status = self.process.returncode
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class Supervisor:
    """A context manager: `start` the children inside, then `run`; leaving it stops what still runs."""

    def __init__(
        self, *, out: TextIO | None = None, grace_seconds: float = GRACE_SECONDS, backoff_seconds: float = 1.0
    ) -> None:
        self._out = out or sys.stdout
        self._coloured = self._out.isatty() and not os.environ.get("NO_COLOR")
        self._grace_seconds = grace_seconds
        self._backoff_seconds = backoff_seconds
        self._children: list[Child] = []
        self._writing = threading.Lock()
        self._former_handlers: dict[signal.Signals, Any] = {}
        self._asked_at: float | None = None
        self._hurry = False

    def __enter__(self) -> Supervisor:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue  # started by nohup, to outlive its terminal
            self._former_handlers[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()
        for number, handler in self._former_handlers.items():
            signal.signal(number, handler)

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        max_failures: int = 1,
        files: Sequence[int] = (),
    ) -> None:
        """Start a child, and start it again when it ends; see Child for `max_failures`.

        The child inherits the open `files`, under the same numbers.
        """
        colour = COLOURS[len(self._children) % len(COLOURS)]
        child = Child(name, command, environment or os.environ, folder, max_failures, files, colour)
        self._launch(child)
        self._children.append(child)

    def say(self, text: str) -> None:
        """Print a line of our own between the children's."""
        self._print("inform", 1, text)

    def run(self, each_tick: Callable[[], None] = lambda: None) -> int:
        """Block until the end and call `each_tick` about ten times a second; 0 when asked to stop, 1 when a child
        failed.
        """
        while self._asked_at is None:
            each_tick()
            failed = [child for child in self._children if self._has_failed(child)]
            if failed:
                return 1
            time.sleep(TICK_SECONDS)
        self.say("stopping; running work may finish (Ctrl-C again ends it at once)")
        return 0

    # --- Signals ----------------------------------------------------------------------------------------------------

    def _ask(self, number: int, frame: FrameType | None) -> None:
        """Record a stop request. Take no lock, because the interrupted code may own it."""
        now = time.monotonic()
        if self._asked_at is None:
            self._asked_at = now
        elif number == signal.SIGINT and now - self._asked_at > ECHO_SECONDS:
            self._hurry = True

    # --- Children ---------------------------------------------------------------------------------------------------

    def _launch(self, child: Child) -> None:
        parent = os.getpid()

        def die_with_parent() -> None:
            if _libc is not None:
                _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
                if os.getppid() != parent:  # it was killed before we asked
                    os._exit(1)

        child.process = subprocess.Popen(
            child.command,
            env=child.environment,
            cwd=child.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=child.files,
            start_new_session=True,  # the terminal's Ctrl-C reaches us alone
            preexec_fn=die_with_parent,
        )
        child.started_at, child.restart_at = time.monotonic(), None
        child.pump = threading.Thread(
            target=self._pump, args=(child.process.stdout, child.name, child.colour), daemon=True
        )
        child.pump.start()

    def _has_failed(self, child: Child) -> bool:
        """Check and restart one child; True when it cannot start."""
        if child.is_running:
            return False
        now = time.monotonic()
        if child.restart_at is not None:
            if now >= child.restart_at:
                self._launch(child)
            return False
        _kill_group(child)  # what it may have left behind
        if now - child.started_at > STEADY_SECONDS:
            child.was_steady, child.restarts, child.failures = True, 0, 0
        if child.process.returncode >= 0:
            child.failures += 1
        if not child.was_steady and child.failures >= child.max_failures:
            self.say(f"{child.name} ended ({child.end})")
            return True
        wait = min(MAX_BACKOFF_SECONDS, self._backoff_seconds * 2 ** min(child.restarts, 10))
        child.restarts += 1
        child.restart_at = now + wait
        self.say(f"{child.name} ended ({child.end}); starting it again in {wait:g} s")
        return False

    def _stop(self) -> None:
        """Terminate the main processes, wait, then kill their process groups."""
        running = [child for child in self._children if child.is_running]
        for child in running:
            child.process.terminate()
        deadline = time.monotonic() + self._grace_seconds
        while any(child.is_running for child in running) and not self._hurry and time.monotonic() < deadline:
            time.sleep(TICK_SECONDS / 2)
        for child in running:
            if child.is_running:
                self.say(f"{child.name} has not ended and is killed")
            _kill_group(child)
            child.process.wait()
            child.pump.join(timeout=1)  # its last words

    # --- Lines ------------------------------------------------------------------------------------------------------

    def _pump(self, lines: Iterable[bytes], name: str, colour: int) -> None:
        for line in lines:
            self._print(name, colour, line.decode(errors="replace").rstrip("\r\n"))

    def _print(self, name: str, colour: int, text: str) -> None:
        prefix = f"{name:{PREFIX_WIDTH}}|"
        if self._coloured:
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
        with self._writing, contextlib.suppress(OSError, ValueError):  # nobody reads any more; the children go on
            print(prefix, text, file=self._out, flush=True)


def _kill_group(child: Child) -> None:
    """Kill the child and its descendants; each child leads its own process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody left; macOS says the second of zombies
        os.killpg(child.process.pid, signal.SIGKILL)
