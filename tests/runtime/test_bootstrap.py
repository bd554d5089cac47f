"""The bootstrap, without installing anything: what it decides, and what it says."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inform_site import bootstrap
from inform_site.bootstrap import Place, SetupError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A checkout with a `.venv` in which everything is installed."""
    for name in ("torch.txt", "base.lock", "dev.lock"):
        path = tmp_path / "requirements" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name}==1\n", encoding="utf-8")
    place = Place(str(tmp_path))
    python = Path(place.python)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    Path(place.stamp).write_text("\n".join(map(place.fingerprint, ("base", "dev"))), encoding="utf-8")
    return place


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of an installation, none of which is run."""
    commands: list[list[str]] = []
    monkeypatch.setattr(bootstrap, "run", lambda command, place, show=None: (commands.append(command), (0, ""))[1])
    return commands


def an_interpreter(path: Path, *, version: str = "3.11", makes_environments: bool = True, seconds: float = 0.01) -> str:
    """A program that answers as Python: its version, whether it makes environments, how long work takes."""
    answers = {"version_info": version, "ensurepip": "yes" if makes_environments else "", "perf_counter": str(seconds)}
    cases = "".join(f"*{word}*) echo '{answer}';;\n" for word, answer in answers.items())
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\ncase "$2" in\n{cases}esac\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, Path]:
    """The two folders that are on the path, in their order."""
    monkeypatch.delenv("INFORM_PYTHON", raising=False)
    folders = tmp_path / "first", tmp_path / "second"
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))
    return folders


def test_old_pythons_can_read_it() -> None:
    ast.parse(Path(bootstrap.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))


def test_an_unfit_python_says_why(place: Place, on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SetupError, match=r"^InForm needs Python 3\.11 or newer; this is 3\.9\.18\. Install"):
        bootstrap.find_interpreter(place)

    an_interpreter(on_path[0] / "python3.12", version="3.12", makes_environments=False)
    with pytest.raises(SetupError, match=r"install the package python3\.12-venv"):
        bootstrap.find_interpreter(place)

    monkeypatch.setenv("INFORM_PYTHON", an_interpreter(on_path[1] / "python3.9", version="3.9"))
    with pytest.raises(SetupError, match=r"python3\.9: name a Python 3\.11 or newer"):
        bootstrap.find_interpreter(place)


def test_first_fit_python_is_taken(place: Place, on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    fitting = an_interpreter(on_path[1] / "python3.12", version="3.12")
    an_interpreter(on_path[0] / "python3", version="3.9", seconds=0.001)
    assert bootstrap.find_interpreter(place) == fitting

    own = an_interpreter(on_path[1] / "own-python", version="3.13")
    monkeypatch.setenv("INFORM_PYTHON", own)
    assert bootstrap.find_interpreter(place) == own


@pytest.mark.parametrize(("other", "is_taken"), [
    ({"seconds": 0.007}, True), ({"seconds": 0.0095}, False), ({"seconds": 0.02}, False),
    ({"seconds": 0.001, "makes_environments": False}, False),
])  # fmt: skip
def test_the_quicker_is_taken(place: Place, on_path: tuple[Path, Path], other: dict[str, Any], is_taken: bool) -> None:
    first = an_interpreter(on_path[0] / "python3.11", seconds=0.01)
    second = an_interpreter(on_path[1] / "python3.11", **other)

    assert bootstrap.find_interpreter(place) == (second if is_taken else first)


def test_no_venv_is_made_with_itself(place: Place, on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    own = an_interpreter(Path(place.python).parent / "python3.11", seconds=0.001)
    other = an_interpreter(on_path[1] / "python3.11")
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(own).parent), str(on_path[1]))))

    assert bootstrap.find_interpreter(place) == other

    monkeypatch.setenv("INFORM_PYTHON", own)
    with pytest.raises(SetupError, match=r"that is there and not in \.venv"):
        bootstrap.find_interpreter(place)


def test_a_missing_interpreter_has_no_version() -> None:
    assert float(bootstrap.ask(sys.executable, bootstrap.WORK) or 0) > 0
    assert bootstrap.version_of("/nowhere/python3.11") == ()


def test_what_is_installed_is_left_alone_until_its_pins_change(place: Place, commands: list[list[str]]) -> None:
    bootstrap.install(place, ("base", "dev"))
    bootstrap.make_venv(place)
    assert commands == []

    Path(place.requirements("dev.lock")).write_text("other==2\n", encoding="utf-8")
    assert (place.has_installed("base"), place.has_installed("dev")) == (True, False)
    Path(place.requirements("torch.txt")).write_text("other==2\n", encoding="utf-8")
    assert not place.has_installed("base")
    Path(place.python).unlink()
    assert not place.has_installed("base")


def test_failed_install_is_made_anew(place: Place, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    Path(place.stamp).unlink()
    Path(place.notes).mkdir()
    monkeypatch.setattr(bootstrap, "find_interpreter", lambda place: "python3.11")
    with monkeypatch.context() as failing:
        failing.setattr(bootstrap, "run", lambda command, place, show=None: (1, "ERROR: of some kind"))
        with pytest.raises(SetupError):
            bootstrap.install(place, ("base",))
    assert Path(place.unfinished).exists()
    assert not Path(place.stamp).exists()

    bootstrap.make_venv(place)

    assert commands == [["python3.11", "-m", "venv", place.venv]]
    assert not Path(place.unfinished).exists()


@pytest.mark.parametrize(("output", "sentence"), [
    ("OSError: [Errno 28] No space left on device", "is full: free about 3 GB"),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "No build of torch"),
    ("ERROR: No matching distribution found for torch", "No build of torch"),
    ("Failed to establish a new connection: [Errno -3]\nERROR: No matching distribution", "cannot be reached"),
    ("some\nERROR: Something else.\nmore", "The installation stopped: Something else (all that was said is in"),
])  # fmt: skip
def test_failure_of_pip_is_one_sentence(place: Place, output: str, sentence: str) -> None:
    said = bootstrap.explain(output, place, missing="No build of torch")

    assert sentence in said
    assert "\n" not in said


def test_unknown_task_and_missing_python_are_one_sentence() -> None:
    done = subprocess.run([sys.executable, bootstrap.__file__, "dance"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "Say what to do: run, setup or test.\n")

    nowhere = ["/usr/bin/env", "-i", "PATH=/nonexistent", "/usr/bin/make", "run"]
    done = subprocess.run(nowhere, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.startswith("InForm needs Python 3.11 or newer, and there is no python3 here")
