"""No secret stands in any line of the log of a whole test run (`-p tests.unlogged` in pyproject.toml).

What tests use is noted as they use it: keys, passwords and questions. What is logged, and what goes to stderr, is gathered in each
process; when it ends, it is searched for them. One that is found fails the run. The report names the line, not the secret.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import pytest

SHORTEST_PASSWORD = 8  # shorter ones may stand anywhere
FEWEST_WORDS = 4  # of a question; fewer, and made-up signs, may stand anywhere
_WORD = re.compile(r"[^\W\d_]{2,}")
MOST_SHOWN = 20
_TIMES = re.compile(r"\b\d+\.\d ms")

used: dict[str, str] = {}
"""What was used, and of what kind it is."""
lines: set[str] = set()


def note(kind: str, secret: object) -> None:
    if not isinstance(secret, str) or not secret.strip():
        return
    if kind == "password" and len(secret) < SHORTEST_PASSWORD:
        return
    if kind == "question" and len(_WORD.findall(secret)) < FEWEST_WORDS:
        return
    used.setdefault(secret.strip(), kind)


def gather(text: str) -> None:
    lines.update(_TIMES.sub("ms", line) for line in text.splitlines())


def found(secrets: dict[str, str], said: Iterable[str]) -> Iterator[str]:
    """Each secret that stands in a line: its kind, and the first such line without it."""
    whole = "\n".join(sorted(said))
    for secret, kind in secrets.items():
        place = whole.find(secret)
        if place >= 0:
            start, end = whole.rfind("\n", 0, place) + 1, whole.find("\n", place)
            yield f"a {kind} stands in the log: {whole[start : end if end >= 0 else None].replace(secret, '***')[:300]}"


class Gathering(logging.Handler):
    """What is logged as a site in service logs it: nothing below INFO."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        gather(self.format(record))


def _noting(kind: str, call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same function; its argument `name`, or the first text, is noted."""

    @wraps(call)
    def noted(*arguments: Any, **options: Any) -> Any:
        texts = [options.get(name), *(argument for argument in arguments if isinstance(argument, str))]
        note(kind, next((text for text in texts if text), None))
        return call(*arguments, **options)

    return noted


def watch() -> None:
    """Notes secrets as the site receives them. After the apps are loaded."""
    from django.contrib.auth.base_user import AbstractBaseUser

    from inform_site.clients import keys
    from qa_app.answers import asking

    draw = keys._draw

    def drawn() -> tuple[str, str]:
        prefix, secret = draw()
        note("key", secret)
        return prefix, secret

    keys._draw = drawn
    AbstractBaseUser.set_password = _noting("password", AbstractBaseUser.set_password, "raw_password")  # type: ignore[method-assign]
    asking.check = _noting("question", asking.check, "question")  # which every question goes through


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LEAKS] = []
    logging.getLogger().addHandler(Gathering())


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.pluginmanager.hasplugin("django"):
        watch()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    gather(report.capstderr)


_LEAKS = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    leaks = config.stash[_LEAKS]
    leaks += found(used, lines)
    if hasattr(config, "workeroutput"):
        config.workeroutput["leaks"] = leaks
    elif leaks:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker's, at the controller."""
    node.config.stash[_LEAKS].extend(getattr(node, "workeroutput", {}).get("leaks", ()))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if leaks := config.stash[_LEAKS]:
        terminalreporter.section("secrets in the log", red=True)
        for leak in leaks[:MOST_SHOWN]:
            terminalreporter.write_line(leak)
