"""Run the tests and end with one line of totals: what `make test` and `make quick` end in.

Arguments go to pytest; where one of them is a path, only that is run. The browser tests have processes of their own, each
with its own site and database, because Playwright's event loop and asyncio's do not get on in one. The order of the others
is another one each time, unless TEST_SEED is set: then a run can be repeated.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from inform_site.postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parent.parent
NOTHING_COLLECTED = 5
BROWSER = "tests/browser"
QUICK = ["--pure", "-m", "not slow", "-n", "2", "tests/pipeline"]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["quick"]:
        return run({"quick": [*QUICK, *arguments[1:]]})
    paths = [argument for argument in arguments if (ROOT / argument.partition("::")[0]).exists()]
    in_browser = [path for path in paths if path.startswith(BROWSER)]
    elsewhere = [path for path in paths if path not in in_browser]
    options = [argument for argument in arguments if argument not in paths]
    seed = os.environ.get("TEST_SEED")
    seeded = [f"--randomly-seed={seed}"] if seed else []
    shared = [] if paths else ["-n", "2", "--dist", "worksteal"]  # files stay whole: their fixtures are made once
    parts = {
        "tests": [*(elsewhere or ["tests", f"--ignore={BROWSER}"]), *shared, *seeded],
        "browser": [*(in_browser or [BROWSER, "-n", "2", "--dist", "loadfile"]), "-p", "no:randomly"],
    }
    if paths:
        parts = {name: part for name, part in parts.items() if (in_browser if name == "browser" else elsewhere)}
    return run({name: [*part, *options] for name, part in parts.items()})


def run(parts: dict[str, list[str]]) -> int:
    """Run pytest once for each part, and print the totals."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="inform-tests-", ignore_cleanup_errors=True) as folder:
        try:
            for name, arguments in parts.items():
                report = Path(folder) / f"{name}.xml"
                command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
                environment = os.environ | {"INFORM_TESTS_DIR": folder}
                status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
                total += outcomes(report, status)
        finally:
            EmbeddedPostgres(Path(folder) / "postgres").stop("immediate")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped", flush=True)
    return 1 if total["failed"] or not total["passed"] else 0


def outcomes(report: Path, status: int) -> Counter[str]:
    """Return how many passed, failed and were skipped. A process that failed without a failing test counts as one failure."""
    counted: Counter[str] = Counter()
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            number = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
            failed, skipped = number["failures"] + number["errors"], number["skipped"]
            counted += Counter(failed=failed, skipped=skipped, passed=number["tests"] - failed - skipped)
    if status not in {0, NOTHING_COLLECTED} and not counted["failed"]:
        counted["failed"] = 1
    return counted


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
