"""`python -m lab bench_site` times a site from outside, as its clients do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.browser.site import SETS, Site

ROOT = Path(__file__).resolve().parents[2]
MEASURED = """first event of a stream
first sentence of a stream
end of a stream
whole answer
stored page
stored page, Django's side
first sentence in the browser"""


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab", "bench_site", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_running_site_is_measured_over_http_and_in_a_browser(site: Site, tmp_path: Path, settings: Any) -> None:
    settings.SERVER_TIMING = True
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{SETS}\n\n", encoding="utf-8")

    done = bench(site.url, "--rounds", "1", "--questions", str(questions))

    assert done.returncode == 0, done.stderr
    first, *rows = done.stdout.splitlines()
    assert first == "1 questions, 1 rounds; milliseconds"
    assert [row.partition("  ")[0] for row in rows] == MEASURED.split("\n")


def test_a_site_that_is_not_there_is_said() -> None:
    done = bench("http://127.0.0.1:9", "--rounds", "1")

    assert done.returncode == 1
    assert "http://127.0.0.1:9 could not be measured" in done.stderr
