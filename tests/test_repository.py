"""True things about the repository: what its files say of each other, and which settings stop the start."""

import os
import re
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from inform_site import __version__, postgres, variables

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("base", "dev")
OUR_SERVICES = {"migrate", "web", "beat", *(f"worker-{queue.name}" for queue in settings.QUEUES)}
READ_BY_IMAGES = {"database": {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}, "redis": set()}


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def names_read_by_settings() -> set[str]:
    return set(re.findall(r'\bread\(\s*"([A-Z_]+)"', text("inform_site/settings.py")))


SUBJECT = re.compile(
    r"(?<![a-z])(muscl|hypertroph|sarcopeni|creatine|protein|whey|casein|leucine|bcaa|collagen|keto\b|gym|lifter|lifting"
    r"|weightlift|powerlift|bodybuild|barbell|dumbbell|kettlebell|squat|deadlift|bench press|bicep|tricep|quadricep|hamstring"
    r"|glute|physique|workout|exercis|athlet|treadmill|sprint|hiit|crossfit|pilates|yoga|plyometric|anabolic|steroid"
    r"|testosterone|doping|alanine|tendon|osteopor|menopaus|frail|physiotherap|marathon|cardiovascular|aerobic|endurance"
    r"|nutrition|nutrient|kidney|fitness|sedentary|obes|jogg|insulin|diabet|swimmer|footballer|massage|sauna|isometric)",
    re.IGNORECASE,
)
"""Words of the starter corpus's subject, by their beginning."""
TRAINED = re.compile(r"\bathletes\b", re.IGNORECASE)
"""A value of a study's training status, which every corpus has."""
OF_SCIENCE = ("corpus_app/passages.py", "corpus_app/quality/marks.py")
"""Files that name what has a letter behind it in any science (protein C)."""
NOT_SEARCHED = re.compile(
    r"/migrations/|/fitted/|/vendor/|/__pycache__/|quality/words\.txt|common/orders|\.(png|ico|woff2?|npz)$"
    r"|verification/(lexicon\.py|support\.json)$"  # words that no sentence may lose: the more subjects, the safer
)


def pins(lock: str) -> dict[str, str]:
    """Name and version of each requirement in a lock."""
    return dict(re.findall(r"^([\w.-]+)==([\w.+]+)", text(f"requirements/{lock}.lock"), re.MULTILINE))


def hashes(requirements: str, name: str) -> set[str]:
    entry = re.search(rf"^{name}==.*?(?=^\S|\Z)", text(requirements), re.MULTILINE | re.DOTALL)
    return set(re.findall(r"sha256:[0-9a-f]{64}", entry[0])) if entry else set()


def test_settings_are_the_same_in_code_example_and_documentation() -> None:
    """`make settings` writes both files from the table that the code reads."""
    assert names_read_by_settings() == set(variables.VARIABLES)
    assert text(".env.example") == variables.example_file()
    assert text("docs/settings.md") == variables.reference_page()
    assert [line for line in text(".env.example").splitlines() if line and not line.startswith("#")] == []
    for variable in variables.VARIABLES.values():
        if variable.shown:
            variable.kind.parse(variable.shown)


def test_environment_is_read_in_settings_alone() -> None:
    """The exceptions run before Django does, or hand our environment to a process. Defaults for libraries may be set."""
    exempt = {
        "environment.py", "settings.py", "bootstrap.py", "postgres.py", "supervisor.py", "up.py", "web.py", "programs.py",
        "commandline.py",
    }  # fmt: skip
    readers = [
        str(path.relative_to(ROOT))
        for app in ("inform_site", "corpus_app", "qa_app")
        for path in (ROOT / app).rglob("*.py")
        if path.name not in exempt and re.search(r"os\.environ(?!\.setdefault\()|getenv", path.read_text("utf-8"))
    ]

    assert readers == []


def test_the_driver_is_used_in_common_alone() -> None:
    """There its errors become those of Django, which a lost database is recognised by."""
    paths = [path for app in ("inform_site", "corpus_app", "qa_app") for path in (ROOT / app).rglob("*.py")]

    assert [str(path) for path in paths if "connection.connection" in path.read_text("utf-8")] == []


def test_code_knows_no_subject() -> None:
    """Words of a subject belong to the files of its corpus."""
    folders = ("common", "corpus_app", "inform_site", "qa_app", "static", "templates")
    paths = sorted(path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).rglob("*.*"))
    found = {
        (path, word.lower())
        for path in paths
        if (ROOT / path).is_file() and not NOT_SEARCHED.search(path)
        for word in SUBJECT.findall(TRAINED.sub("", text(path)))
    }

    assert found == {(path, "protein") for path in OF_SCIENCE}


def test_compose_starts_every_part_in_order_with_volumes_and_known_settings() -> None:
    compose: dict[str, Any] = yaml.safe_load(text("docker-compose.yml"))
    services = compose["services"]

    assert set(services) == {"database", "redis"} | OUR_SERVICES
    for name, service in services.items():
        known = set(variables.VARIABLES) if name in OUR_SERVICES else READ_BY_IMAGES[name]
        assert set(service.get("environment", {})) <= known, name
        assert "healthcheck" in service or service.get("restart") == "no", name
    for name in OUR_SERVICES:
        assert services[name]["env_file"] == [{"path": ".env", "required": False}]  # every setting reaches it
        assert services[name]["image"] == f"inform:{__version__}"
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.keys() >= {"mem_limit", "pids_limit", "logging"}, name
    default = f":-pgvector/pgvector:pg{postgres.MAJOR_VERSION}}}"  # which the tests run
    assert services["database"]["image"].endswith(default)
    assert "backups:/var/backups/inform" in services["worker-upkeep"]["volumes"]  # whose worker makes them
    for name in OUR_SERVICES - {"migrate"}:
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert services["worker-index"]["mem_limit"] == "4g"
    assert variables.VARIABLES["INFORM_TASK_MEGABYTES"].default < 4_000
    used = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    assert used == set(compose["volumes"])


def test_compose_holds_no_secret_and_refuses_to_start_without_its_own() -> None:
    source = text("docker-compose.yml")
    for service in yaml.safe_load(source)["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("SECRET|PASSWORD|API_KEY", name):
                assert re.fullmatch(r"\$\{\w+:[?-][^}]*\}", value), name
            assert not re.search(r"://\w+:[^$]\w*@", str(value)), name
    assert {"SECRET_KEY", "POSTGRES_PASSWORD", "ALLOWED_HOSTS"} <= set(re.findall(r"\$\{(\w+):\?", source))


def test_images_are_pinned_by_digests_that_a_registry_named_or_not_at_all(tmp_path: Path) -> None:
    env, docker = tmp_path / ".env", tmp_path / "docker"
    env.write_text("SECRET_KEY=a b\nREDIS_IMAGE=redis:6@sha256:old\n", encoding="utf-8")
    names = re.findall(r"\$\{(\w+_IMAGE):-([^}]+)\}", text("docker-compose.yml"))
    digest = f"sha256:{'0f' * 32}"

    def pin(said: str) -> int:
        docker.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "buildx imagetools inspect" ] && {said}\n', encoding="utf-8")
        docker.chmod(0o755)
        path = {"PATH": f"{tmp_path}:{os.defpath}"}
        return subprocess.run(
            ["sh", "deploy/pin_images.sh", str(env)], cwd=ROOT, env=path, capture_output=True
        ).returncode

    before = env.read_text("utf-8")
    failures = (
        "exit 1",
        "echo nothing",
        "echo 'Digest: sha256:short'",
        f'[ "$4" != redis:7-alpine ] && echo "Digest: {digest}"',
    )
    assert [pin(said) == 0 for said in failures] == [False] * 4
    assert env.read_text("utf-8") == before, "all or none"
    for _ in range(2):
        assert pin(f'printf "Name: x\\nDigest:    {digest}\\n\\nManifests:\\n  Digest: other\\n"') == 0
        pinned = {f"{name}={image}@{digest}" for name, image in names}
        assert set(env.read_text("utf-8").splitlines()) == {"SECRET_KEY=a b"} | pinned
    assert len(pinned) == 3
    assert "sha256:" not in text("docker-compose.yml") + text("Dockerfile"), "none is made up"


def test_image_is_not_run_as_root_holds_nothing_private_and_believes_no_proxy() -> None:
    """The site itself believes proxies as far as `INFORM_PROXIES` goes; a server before it would believe all on loopback."""
    assert re.findall(r"^USER (\w+)$", text("Dockerfile"), re.MULTILINE)[-1:] == ["inform"]
    assert {".env", ".data", ".git", ".venv"} <= set(text(".dockerignore").split())
    assert "proxy_headers=False" in text("inform_site/web.py")


def test_a_release_has_one_number_and_lines_in_the_changelog() -> None:
    releases = re.findall(r"^## \[(\d+\.\d+\.\d+)\] – \d{4}-\d\d-\d\d$", text("CHANGELOG.md"), re.MULTILINE)

    assert releases[0] == __version__
    assert "## [Unreleased]" in text("CHANGELOG.md").partition(f"## [{__version__}]")[0]
    assert f'image.version="{__version__}"' in text("Dockerfile")
    archives = {path.stem for path in (ROOT / "tests/upgrade").glob("*.tar")}  # which every later release restores
    assert archives == set(releases)


def test_examples_for_proxies_and_systemd_are_valid_and_admit_what_the_site_does() -> None:
    nginx = text("deploy/nginx/inform.conf")
    limits = [int(size) * 2**20 for size in re.findall(r"client_max_body_size (\d+)m;", nginx)]
    assert (
        limits == [int(size) * 2**20 for size in re.findall(r"max_size (\d+)MiB", text("deploy/caddy/Caddyfile"))][::-1]
    )
    assert limits[0] >= settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    assert limits[1] > settings.IMPORT_MEGABYTES * 1_000_000
    assert int(re.findall(r"proxy_read_timeout (\d+)s", nginx)[0]) > settings.ANSWER_SECONDS

    units = ROOT / "deploy/systemd"
    wanted = " ".join(re.findall(r"^Wants=(.*)$", text("deploy/systemd/inform.target"), re.MULTILINE)).split()
    assert {f"inform-worker@{queue.name}.service" for queue in settings.QUEUES} < set(wanted)
    for name in {re.sub("@.*", "@.service", unit) for unit in wanted}:
        assert (units / name).exists(), name


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_hold_what_is_required_pinned_with_hashes_and_nothing_else(lock: str) -> None:
    """No address, no path of a machine, no option that changes where packages come from, no CUDA."""
    pin, hash_ = r"[\w.-]+(\[[\w,-]+\])?==[\w.+]+( ; [^\\]+)? \\", r"    --hash=sha256:[0-9a-f]{64}( \\)?"
    source = text(f"requirements/{lock}.in")
    wanted = re.findall(r"^([a-z][\w.-]*)(?:\[[\w,-]+\])?==([\w.]+)", source, re.MULTILINE)

    lines = text(f"requirements/{lock}.lock").splitlines()
    assert [line for line in lines if not re.fullmatch(f"{pin}|{hash_}", line)] == []
    assert [name for name in pins(lock) if not hashes(f"requirements/{lock}.lock", name)] == []
    assert [name for name in pins(lock) if name.startswith(("nvidia", "triton", "cuda"))] == []
    assert {name.lower(): version for name, version in wanted}.items() <= pins(lock).items()
    for before, line in pairwise(source.splitlines()):  # each says why it is here
        assert not re.match(r"[a-z]", line) or re.match(r"[a-z#]", before), line


def test_development_and_torch_alone_have_the_very_packages_of_the_site() -> None:
    assert pins("base").items() <= pins("dev").items()
    assert f"torch=={pins('base')['torch']} " in text("requirements/torch.txt")
    assert hashes("requirements/base.lock", "torch") <= hashes("requirements/torch.txt", "torch")


def test_make_lists_every_chore_and_tools_agree_on_the_oldest_python() -> None:
    listed = subprocess.run(["make", "--silent"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    chores = set(re.findall(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)[0].split()) - {"python"}

    assert set(re.findall(r"^make ([\w-]+)", listed, re.MULTILINE)) == chores
    assert {"make run", "make test"} <= set(re.findall(r"make \w+", text("README.md")))
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert text("LICENSE").startswith("MIT License")
    tools = tomllib.loads(text("pyproject.toml"))["tool"]
    assert tools["ruff"]["target-version"] == "py311"
    assert tools["mypy"]["python_version"] == "3.11"
    assert "OLDEST = (3, 11)" in text("inform_site/bootstrap.py")


def test_a_bad_value_names_itself_and_a_good_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value, said in (
        ("INFORM_POLICY", "seed-003", "There is no preset 'seed-003'; there are default, seed-000"),
        ("INFORM_POLICY", "default, evidence_passages=none", "evidence_passages=none cannot be read"),
        ("INFORM_LOGS", "yaml", "'yaml' is neither text nor json"),
        ("INFORM_RERANKER", "bm25", "'bm25' is neither llm nor cross-encoder: with a name or a folder behind it"),
        ("INFORM_RERANKER", "cross-encoder:", "is neither llm nor cross-encoder:"),
        ("INFORM_GOLDEN_GUARD", "enabled", "'enabled' is not one of true, false"),
        ("DATABASE_SECONDS", "0", "0.0 is not between 0.1 and 3,600"),
    ):
        monkeypatch.setenv(name, value)
        with pytest.raises(ImproperlyConfigured, match=f"^{name} cannot be read: .*{re.escape(said)}"):
            variables.read(name)
    for name, value in (
        ("INFORM_POLICY", "seed-002, evidence_passages=8"), ("INFORM_RERANKER", "llm"),
        ("INFORM_RERANKER", "cross-encoder:/models/reranker"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
        assert variables.read(name) == value
