"""True things about the repository: what its files say of each other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("base", "dev")
OUR_SERVICES = {"migrate", "web", "worker", "beat"}
READ_BY_IMAGES = {"database": {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}, "redis": set()}


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def names_read_by_settings() -> set[str]:
    return set(re.findall(r'\bread\(\s*[\w.]+,\s*"([A-Z_]+)"', text("inform_site/settings.py")))


def pins(lock: str) -> dict[str, str]:
    """Name and version of each requirement in a lock."""
    return dict(re.findall(r"^([\w.-]+)==([\w.+]+)", text(f"requirements/{lock}.lock"), re.MULTILINE))


def hashes(requirements: str, name: str) -> set[str]:
    entry = re.search(rf"^{name}==.*?(?=^\S|\Z)", text(requirements), re.MULTILINE | re.DOTALL)
    return set(re.findall(r"sha256:[0-9a-f]{64}", entry[0])) if entry else set()


# --- Settings and their example ----------------------------------------------------------------------------------------


def test_example_names_exactly_what_settings_read() -> None:
    example = re.findall(r"^#?([A-Z_]+)=", text(".env.example"), re.MULTILINE)

    assert len(example) == len(set(example))
    assert set(example) == names_read_by_settings()


def test_example_changes_nothing_until_it_is_edited() -> None:
    assert [line for line in text(".env.example").splitlines() if line and not line.startswith("#")] == []


def test_environment_is_read_in_settings_alone() -> None:
    """The exceptions run before Django does, or hand our environment to a process. Defaults for libraries may be set."""
    exempt = {"settings.py", "bootstrap.py", "postgres.py", "supervisor.py", "up.py"}
    readers = [
        str(path.relative_to(ROOT))
        for app in ("inform_site", "corpus_app", "qa_app")
        for path in (ROOT / app).rglob("*.py")
        if path.name not in exempt and re.search(r"os\.environ(?!\.setdefault\()|getenv", path.read_text("utf-8"))
    ]

    assert readers == []


# --- Containers --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(text("docker-compose.yml"))
    return loaded


def test_compose_has_every_part_of_the_site(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"database", "redis"} | OUR_SERVICES


def test_compose_sets_only_names_that_somebody_reads(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        known = names_read_by_settings() if name in OUR_SERVICES else READ_BY_IMAGES[name]
        assert set(service.get("environment", {})) <= known, name


def test_compose_holds_no_secret(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("SECRET|PASSWORD|API_KEY", name):
                assert re.fullmatch(r"\$\{\w+:[?-][^}]*\}", value), name
            assert not re.search(r"://\w+:[^$]\w*@", str(value)), name


def test_compose_refuses_to_start_without_its_secrets() -> None:
    assert {"SECRET_KEY", "POSTGRES_PASSWORD", "ALLOWED_HOSTS"} <= set(
        re.findall(r"\$\{(\w+):\?", text("docker-compose.yml"))
    )


def test_compose_parts_say_whether_they_are_well(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert "healthcheck" in service or service.get("restart") == "no", name


def test_compose_waits_for_the_tables(compose: dict[str, Any]) -> None:
    for name in OUR_SERVICES - {"migrate"}:
        waits_for = compose["services"][name]["depends_on"]
        assert waits_for["migrate"] == {"condition": "service_completed_successfully"}


def test_compose_keeps_its_data_in_volumes(compose: dict[str, Any]) -> None:
    used = {volume.split(":")[0] for service in compose["services"].values() for volume in service.get("volumes", [])}

    assert used == set(compose["volumes"])


def test_image_does_not_run_as_root() -> None:
    assert re.findall(r"^USER (\w+)$", text("Dockerfile"), re.MULTILINE)[-1:] == ["inform"]


def test_image_leaves_out_what_is_private() -> None:
    assert {".env", ".data", ".git", ".venv"} <= set(text(".dockerignore").split())


# --- Requirements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    for name in pins(lock):
        assert hashes(f"requirements/{lock}.lock", name), name


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_hold_pins_and_hashes_alone(lock: str) -> None:
    """No address, no path of a machine, no option that changes where packages come from."""
    pin = r"[\w.-]+(\[[\w,-]+\])?==[\w.+]+( ; [^\\]+)? \\"
    hash_ = r"    --hash=sha256:[0-9a-f]{64}( \\)?"
    strange = [
        line for line in text(f"requirements/{lock}.lock").splitlines() if not re.fullmatch(f"{pin}|{hash_}", line)
    ]

    assert strange == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_cuda_comes_along(lock: str) -> None:
    assert [name for name in pins(lock) if name.startswith(("nvidia", "triton", "cuda"))] == []


def test_development_has_the_very_packages_of_the_site() -> None:
    assert pins("base").items() <= pins("dev").items()


def test_torch_alone_is_the_torch_of_the_locks() -> None:
    assert f"torch=={pins('base')['torch']} " in text("requirements/torch.txt")
    assert hashes("requirements/base.lock", "torch") <= hashes("requirements/torch.txt", "torch")


@pytest.mark.parametrize("source", LOCKS)
def test_every_requirement_says_why_it_is_here(source: str) -> None:
    lines = text(f"requirements/{source}.in").splitlines()

    for before, line in pairwise(lines):
        if re.match(r"[a-z]", line):
            assert before.startswith("#") or re.match(r"[a-z]", before), line


@pytest.mark.parametrize("source", LOCKS)
def test_requirements_are_in_their_lock(source: str) -> None:
    wanted = re.findall(r"^([a-z][\w.-]*)(?:\[[\w,-]+\])?==([\w.]+)", text(f"requirements/{source}.in"), re.MULTILINE)

    assert {name.lower(): version for name, version in wanted}.items() <= pins(source).items()


# --- Documents and chores ----------------------------------------------------------------------------------------------


def test_licence_is_mit() -> None:
    assert text("LICENSE").startswith("MIT License")


@pytest.mark.parametrize("command", ["make run", "make test"])
def test_readme_shows_the_two_commands(command: str) -> None:
    assert command in text("README.md")


def test_make_lists_every_chore() -> None:
    listed = subprocess.run(["make", "--silent"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    chores = set(re.findall(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)[0].split()) - {"python"}

    assert set(re.findall(r"^make (\w+)", listed, re.MULTILINE)) == chores


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_starter_corpus_is_whole() -> None:
    studies = [json.loads(path.read_text("utf-8")) for path in (ROOT / "corpus" / "studies").glob("*.json")]

    assert len(studies) == 115


def test_tools_agree_on_the_oldest_python() -> None:
    tools = tomllib.loads(text("pyproject.toml"))["tool"]

    assert tools["ruff"]["target-version"] == "py311"
    assert tools["mypy"]["python_version"] == "3.11"
    assert "OLDEST = (3, 11)" in text("inform_site/bootstrap.py")
