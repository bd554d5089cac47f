"""Runs all tests and ends with one line of totals: what `make test` ends in. Arguments go to pytest.

The browser tests have a process of their own: Playwright's event loop and asyncio's do not get on in one.
The order is another one each time, but where TEST_SEED is set: then a run can be had again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTHING_COLLECTED = 5


def main(arguments: list[str]) -> int:
    total: Counter[str] = Counter()
    order = [f"--randomly-seed={seed}"] if (seed := os.environ.get("TEST_SEED")) else []
    with tempfile.TemporaryDirectory() as folder:
        for name, options in {
            "tests": ["--ignore=tests/browser", "-n", "2", *order],
            "browser": ["tests/browser", "-p", "no:randomly"],
        }.items():
            if not (ROOT / options[0]).exists() and name == "browser":
                continue
            report = Path(folder) / f"{name}.xml"
            command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *options, *arguments]
            status = subprocess.run(command, cwd=ROOT, check=False).returncode
            total += outcomes(report, status)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped", flush=True)
    return 1 if total["failed"] or not total["passed"] else 0


def outcomes(report: Path, status: int) -> Counter[str]:
    """Counts of passed, failed and skipped. A process that failed without a failing test counts as one failure."""
    counted: Counter[str] = Counter()
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            number = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
            failed = number["failures"] + number["errors"]
            counted += Counter(
                failed=failed, skipped=number["skipped"], passed=number["tests"] - failed - number["skipped"]
            )
    if status not in {0, NOTHING_COLLECTED} and not counted["failed"]:
        counted["failed"] = 1
    return counted


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
