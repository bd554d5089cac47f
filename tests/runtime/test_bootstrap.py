"""The bootstrap, without installing anything: what it decides, and what it says."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

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


def test_old_pythons_can_read_it() -> None:
    ast.parse(Path(bootstrap.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))


def test_too_old_python_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INFORM_PYTHON", raising=False)
    monkeypatch.setattr(bootstrap, "version_of", lambda interpreter: (3, 9))
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))

    with pytest.raises(SetupError, match=r"^InForm needs Python 3\.11 or newer; this is 3\.9\.18\. Install"):
        bootstrap.find_interpreter(place)


def an_interpreter(path: Path, *, version: str = "3.11", makes_environments: bool = True, seconds: float = 0.01) -> str:
    """A program that answers as a Python would: its version, whether it can make environments, how long its work takes."""
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


def test_missing_venv_module_names_the_package(place: Place, on_path: tuple[Path, Path]) -> None:
    an_interpreter(on_path[0] / "python3.12", version="3.12", makes_environments=False)

    with pytest.raises(SetupError, match=r"install the package python3\.12-venv"):
        bootstrap.find_interpreter(place)


def test_first_interpreter_that_works_is_taken(place: Place, on_path: tuple[Path, Path]) -> None:
    fitting = an_interpreter(on_path[1] / "python3.12", version="3.12")
    an_interpreter(on_path[0] / "python3", version="3.9", seconds=0.001)

    assert bootstrap.find_interpreter(place) == fitting


@pytest.mark.parametrize(("seconds", "is_taken"), [(0.007, True), (0.0095, False), (0.02, False)])
def test_of_one_name_the_clearly_quicker_is_taken(
    place: Place, on_path: tuple[Path, Path], seconds: float, is_taken: bool
) -> None:
    first = an_interpreter(on_path[0] / "python3.11", seconds=0.01)
    second = an_interpreter(on_path[1] / "python3.11", seconds=seconds)

    assert bootstrap.find_interpreter(place) == (second if is_taken else first)


def test_quicker_one_without_the_venv_module_is_passed_over(place: Place, on_path: tuple[Path, Path]) -> None:
    slower = an_interpreter(on_path[0] / "python3.11", seconds=0.01)
    an_interpreter(on_path[1] / "python3.11", seconds=0.001, makes_environments=False)

    assert bootstrap.find_interpreter(place) == slower


def test_environment_that_is_made_anew_is_not_made_with_itself(
    place: Place, on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = an_interpreter(Path(place.python).parent / "python3.11", seconds=0.001)
    other = an_interpreter(on_path[1] / "python3.11")
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(own).parent), str(on_path[1]))))

    assert bootstrap.find_interpreter(place) == other

    monkeypatch.setenv("INFORM_PYTHON", own)
    with pytest.raises(SetupError, match=r"that is there and not in \.venv"):
        bootstrap.find_interpreter(place)


def test_relative_paths_are_of_here_wherever_it_then_runs(
    on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = an_interpreter(on_path[0] / "python3.11")
    monkeypatch.chdir(on_path[0].parent)

    monkeypatch.setenv("PATH", "first")
    assert bootstrap.on_path("python3.11") == [program]
    assert bootstrap.on_path("first/python3.11") == [program]


def test_interpreter_of_ones_own_is_taken(
    place: Place, on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    an_interpreter(on_path[0] / "python3.11", seconds=0.001)
    own = an_interpreter(on_path[1] / "own-python", version="3.13")
    monkeypatch.setenv("INFORM_PYTHON", own)

    assert bootstrap.find_interpreter(place) == own


def test_interpreter_of_ones_own_that_is_too_old_says_so(
    place: Place, on_path: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    an_interpreter(on_path[0] / "python3.11")
    monkeypatch.setenv("INFORM_PYTHON", an_interpreter(on_path[1] / "python3.9", version="3.9"))

    with pytest.raises(SetupError, match=r"python3\.9: name a Python 3\.11 or newer"):
        bootstrap.find_interpreter(place)


def test_work_that_interpreters_are_compared_by_can_be_done() -> None:
    taken = bootstrap.ask(sys.executable, bootstrap.WORK)

    assert taken is not None
    assert float(taken) > 0


def test_interpreter_that_is_not_there_has_no_version() -> None:
    assert bootstrap.version_of("/nowhere/python3.11") == ()


def test_installed_environment_is_left_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "run", lambda *arguments: pytest.fail("something was run"))

    bootstrap.install(place, ("base", "dev"))


@pytest.mark.parametrize("changed", ["torch.txt", "dev.lock"])
def test_changed_pins_are_not_installed(place: Place, changed: str) -> None:
    Path(place.requirements(changed)).write_text("other==2\n", encoding="utf-8")

    assert not place.has_installed("dev")


def test_development_pins_do_not_concern_the_site(place: Place) -> None:
    Path(place.requirements("dev.lock")).write_text("other==2\n", encoding="utf-8")

    assert place.has_installed("base")


def test_environment_without_its_interpreter_is_not_installed(place: Place) -> None:
    Path(place.python).unlink()

    assert not place.has_installed("base")


def test_unfinished_environment_is_made_anew(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(bootstrap, "find_interpreter", lambda place: "python3.11")
    monkeypatch.setattr(bootstrap, "run", lambda command, place, show=None: (commands.append(command), (0, ""))[1])
    Path(place.unfinished).touch()

    bootstrap.make_venv(place)

    assert commands == [["python3.11", "-m", "venv", place.venv]]
    assert not Path(place.unfinished).exists()


def test_working_environment_is_kept_when_pins_change(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "run", lambda *arguments: pytest.fail("something was run"))

    bootstrap.make_venv(place)


def test_failed_installation_is_remembered_as_unfinished(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(place.stamp).unlink()
    monkeypatch.setattr(bootstrap, "make_venv", lambda place: None)
    monkeypatch.setattr(bootstrap, "run", lambda command, place, show=None: (1, "ERROR: of some kind"))
    Path(place.notes).mkdir()

    with pytest.raises(SetupError):
        bootstrap.install(place, ("base",))

    assert Path(place.unfinished).exists()
    assert not Path(place.stamp).exists()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "is full: free about 3 GB"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "is not the one that was pinned"),
        ("Failed to establish a new connection: [Errno -3]\nERROR: No matching distribution", "cannot be reached"),
        ("some\nERROR: Something else.\nmore", "The installation stopped: Something else (all that was said is in"),
    ],
)
def test_failure_of_pip_is_one_sentence(place: Place, output: str, sentence: str) -> None:
    said = bootstrap.explain(output, place)

    assert sentence in said
    assert "\n" not in said


def test_machine_without_a_pinned_torch_is_told_what_to_do(place: Place) -> None:
    said = bootstrap.explain("ERROR: No matching distribution found for torch", place, missing="No build of torch")

    assert said == "No build of torch"


def test_unknown_task_is_one_sentence() -> None:
    done = subprocess.run([sys.executable, bootstrap.__file__, "dance"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (1, "Say what to do: run, setup or test.\n")


def test_python_3_is_asked_for_in_one_sentence() -> None:
    done = subprocess.run(
        ["/usr/bin/env", "-i", "PATH=/nonexistent", "/usr/bin/make", "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert done.stderr.startswith("InForm needs Python 3.11 or newer, and there is no python3 here")
