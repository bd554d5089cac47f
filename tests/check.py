"""Looks at the code without changing or running it: what `make check` ends in. Every step runs, whatever came before."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULE = [sys.executable, "-m"]
MANAGE = [sys.executable, "-W", "ignore:Got an error checking a consistent migration history", "manage.py"]

STEPS = {
    "format": [*MODULE, "ruff", "format", "--check", "."],
    "lint": [*MODULE, "ruff", "check", "--output-format", "concise", "."],
    "types": [*MODULE, "mypy"],
    "imports": ["lint-imports"],
    "style": [sys.executable, "tests/style.py"],
    "migrations": [*MANAGE, "makemigrations", "--check", "--dry-run"],
    # linted, not formatted: djlint's formatter puts line breaks where a reader would see them as spaces
    "templates": [*MODULE, "djlint", "--quiet", "--lint", "templates"],
    "deployment": [*MANAGE, "check", "--deploy", "--fail-level", "WARNING"],
}
PRODUCTION = {
    "INFORM_PRODUCTION": "true", "DEBUG": "false",
    "SECRET_KEY": "a-long-key-for-this-check-alone-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ALLOWED_HOSTS": "inform.example", "DATABASE_URL": "postgresql://inform@127.0.0.1/inform",
    "REDIS_URL": "redis://127.0.0.1:6379/0", "INFORM_PROXIES": "1",
}  # fmt: skip


def main() -> int:
    failed = [name for name in STEPS if not passes(name)]
    print(f"make check: {', '.join(failed)} failed" if failed else "make check: all is well", flush=True)
    return 1 if failed else 0


def passes(name: str) -> bool:
    """Runs one step; what it says is shown only when it fails."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as nowhere:
        done = subprocess.run(
            STEPS[name], cwd=ROOT, env=environment(name, nowhere), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        )  # fmt: skip
    print(f"{name:12} {'ok' if done.returncode == 0 else 'FAILED':6} {time.monotonic() - started:5.1f} s", flush=True)
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


def environment(name: str, data_dir: str) -> dict[str, str]:
    """Ours, with the tools of this environment first, and a data folder that is gone afterwards."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    site = PRODUCTION if name == "deployment" else {"DATABASE_URL": "postgresql://nowhere:1/none"}
    return os.environ | site | {"PATH": path, "INFORM_DATA_DIR": data_dir}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
