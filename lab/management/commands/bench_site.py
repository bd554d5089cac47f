"""`python -m lab bench_site`: time a running site over HTTP and in a browser."""

from __future__ import annotations

import html
import re
import shutil
import statistics
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from django.core.management.base import BaseCommand, CommandError

ROUNDS = 8  # each round asks every question in every way, so that a busy machine slows down all of them
PATIENCE_SECONDS = 60.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = "not measured: it takes Playwright (requirements/dev.lock) and a Chromium"
OWN_SIDE = "stored page, Django's side"
NOT_TOLD = "not told: start that site with INFORM_SERVER_TIMING=1"
# From the press on the button to the first sentence in the page; null where the answer has none.
WATCH = """() => {
  window.firstSentence = new Promise((resolve) => {
    let pressed = 0;
    addEventListener("click", (event) => { if (event.target.closest(".send")) pressed = performance.now(); }, true);
    new MutationObserver(() => {
      if (!pressed) return;
      if (document.querySelector(".prose .sentence")) resolve(performance.now() - pressed);
      else if (location.pathname.startsWith("/answers/") && document.querySelector("#question-title")) resolve(null);
    }).observe(document, { childList: true, subtree: true });
  });
}"""
Times = dict[str, list[float]]


class Command(BaseCommand):
    help = (
        "Times a site that is running: first event of a stream, whole answers, "
        "stored pages, first sentence in a browser."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", help="of the site, e.g. http://127.0.0.1:8000")
        parser.add_argument("--rounds", type=int, default=ROUNDS)
        parser.add_argument("--questions", type=Path, help="a file, one a line; else the examples of the Ask page")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["rounds"] < 1:
            raise CommandError("One round at least.")
        try:
            with httpx2.Client(base_url=options["url"], timeout=PATIENCE_SECONDS) as client:
                questions = _questions(client, options["questions"])
                with _browser(options["url"]) as press:
                    times = measure(client, press, questions, rounds=options["rounds"])
        except (httpx2.HTTPError, OSError, ValueError) as error:
            raise CommandError(f"{options['url']} could not be measured: {error}") from error
        self.stdout.write(f"{len(questions)} questions, {options['rounds']} rounds; milliseconds")
        for name, spent in times.items():
            p95 = sorted(spent)[int(0.95 * (len(spent) - 1))]
            self.stdout.write(
                f"{name:36} p50 {statistics.median(spent):7.1f}   p95 {p95:7.1f}   best {min(spent):7.1f}"
            )
        if OWN_SIDE not in times:
            self.stdout.write(f"{OWN_SIDE:36} {NOT_TOLD}")
        if press is None:
            self.stdout.write(f"{'first sentence in the browser':36} {NO_BROWSER}")


def measure(
    client: httpx2.Client, press: Callable[[str], float | None] | None, questions: Sequence[str], *, rounds: int
) -> Times:
    """Return milliseconds by measurement. The first round warms up and is not counted."""
    times: Times = defaultdict(list)
    for round_number in range(rounds + 1):
        for question in questions:
            row = {**_stream(client, question), **_answer(client, question)}
            if press is not None:
                row["first sentence in the browser"] = press(question)
            for name, spent in row.items():
                if round_number and spent is not None:
                    times[name].append(spent)
    return times


def _stream(client: httpx2.Client, question: str) -> dict[str, float | None]:
    started = time.perf_counter()
    told: dict[str, float] = {}
    with client.stream("POST", "/api/v1/answers/stream", json={"question": question}) as response:
        _require_taken(response)
        for line in response.iter_lines():
            if line.startswith("event: "):
                told.setdefault("first", _since(started))
                told.setdefault(line.removeprefix("event: "), _since(started))
    return {
        "first event of a stream": told.get("first"),
        "first sentence of a stream": told.get("sentence"),
        "end of a stream": told.get("done"),
    }


def _answer(client: httpx2.Client, question: str) -> dict[str, float | None]:
    started = time.perf_counter()
    response = client.post("/api/v1/answers", json={"question": question})
    spent = _since(started)
    _require_taken(response)
    address = response.json()["url"]
    started = time.perf_counter()
    page = client.get(address).raise_for_status()
    return {
        "whole answer": spent,
        "stored page": _since(started),
        OWN_SIDE: _own_side(page),
    }


def _own_side(response: httpx2.Response) -> float | None:
    """Return the site's own processing time in milliseconds; None where INFORM_SERVER_TIMING is off."""
    told = re.fullmatch(r"app;dur=([\d.]+)", response.headers.get("Server-Timing", ""))
    return float(told[1]) if told else None


def _since(started: float) -> float:
    return 1_000 * (time.perf_counter() - started)


def _require_taken(response: httpx2.Response) -> None:
    if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
        raise CommandError("Start that site with more room for questions: INFORM_ANONYMOUS_ASKS=100000/minute.")
    response.raise_for_status()


def _questions(client: httpx2.Client, path: Path | None) -> list[str]:
    if path is not None:
        found = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        page = client.get("/").raise_for_status().text
        found = [html.unescape(value) for value in re.findall(r'name="example" value="([^"]*)"', page)]
    if not found:
        raise CommandError("There are no questions to ask: name a file of them (--questions).")
    return found


@contextmanager
def _browser(url: str) -> Iterator[Callable[[str], float | None] | None]:
    """Yield a function that asks a question in a browser; None where no browser is installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:  # for developers only
        yield None
        return
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()

        def press(question: str) -> float | None:
            page.goto(url)
            page.evaluate(WATCH)
            page.get_by_label("Your question").fill(question)
            page.locator("#ask-form .send").click()
            spent: float | None = page.evaluate("window.firstSentence")
            page.wait_for_url("**/answers/*/")
            return spent

        try:
            yield press
        finally:
            browser.close()
