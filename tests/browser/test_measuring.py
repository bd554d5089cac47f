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


def test_a_running_site_is_measured_over_http_and_in_a_browser(site: Site, tmp_path: Path, settings: Any) -> None:
    settings.SERVER_TIMING = True
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{SETS}\n\n", encoding="utf-8")

    command = [sys.executable, "-m", "lab", "bench_site", site.url, "--rounds", "1", "--questions", str(questions)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    first, *rows = done.stdout.splitlines()
    assert first == "1 questions, 1 rounds; milliseconds"
    assert [row.partition("  ")[0] for row in rows] == MEASURED.split("\n")
