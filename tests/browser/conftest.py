"""The site in a real Chromium: one live server over the real pipeline, a quick encoder and a slice of the starter corpus.

Every page is watched: what a browser complains of (a broken content policy, a script error, a request to another host) fails
the test that caused it.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.management import call_command
from django.test.utils import override_settings, setup_databases
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from corpus_app import embedding
from inform_site.clients.quotas import Limits
from inform_site.serving import make_site
from tests.browser.site import Site
from tests.builders import make_study
from tests.live import serving
from tests.pipeline.corpora import FITTED, copy_slice

# Playwright's event loop runs in this thread; Django would refuse its own database calls beside it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

TELL_OF_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`content policy: ${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`);
});"""
MUCH = dict.fromkeys(settings.ANONYMOUS_QUOTAS, Limits(100_000, 100_000))  # all readers here have one address
PATIENCE = 30_000  # milliseconds: a machine with much to do takes its time, and only a failure waits for so long
DESK = {"width": 1280, "height": 860}
SLICE = ("S007", "S014", "S018", "S028", "S034", "S110")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()


expect.set_options(timeout=PATIENCE)


def find_browser() -> str | None:
    """A Chromium of the system, else Playwright's own; None where there is neither."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found:
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


BROWSER = find_browser()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if BROWSER is None:
        missing = pytest.mark.skip(reason="no Chromium here: install it, e.g. apt-get install chromium")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(missing)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return browser_type_launch_args | {"executable_path": BROWSER, "args": FLAGS}


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of the site."""
    return copy_slice(tmp_path_factory.mktemp("corpus"), SLICE, with_lexicon=False)


@pytest.fixture(scope="session")
def site(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: Any, starter: Path
) -> Iterator[Site]:
    """Set up here and not by `django_db`, whose tests each begin with an empty database. Each process has its own."""
    encoder = None if "SHOTS" in os.environ else FITTED  # pictures show what the site's own finds
    with django_db_blocker.unblock(), override_settings(ANONYMOUS_QUOTAS=MUCH), embedding.use(encoder):
        setup_databases(verbosity=0, interactive=False, aliases={"default"}, serialized_aliases=set())
        call_command("import_corpus", str(starter), publish=True)
        call_command("index_corpus")
        for study_id in ("T001", "T002"):  # what made-up answers cite; without a passage no search finds them
            make_study(study_id=study_id, texts=())
        with serving(ASGIStaticFilesHandler(make_site())) as address:
            yield Site(address)  # the database goes with its server, see tests/cluster.py


class Watch:
    """What the browser complained of; `expected` are the statuses that a test provokes on purpose."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.complaints: list[str] = []
        self.expected: tuple[str, ...] = ()
        self._listeners: dict[str, Callable[[Any], object]] = {
            "console": self._on_console,
            "pageerror": lambda error: self._on_message("error", str(error)),
            "dialog": lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
            "request": lambda request: self._on_request(request.url),
        }

    def attach(self, page: Page) -> None:
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def detach(self, page: Page) -> None:
        for event, listener in self._listeners.items():
            page.remove_listener(event, listener)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._on_message(message.type, message.text)

    def _on_message(self, kind: str, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.complaints.append(f"{kind}: {text}")

    def _on_request(self, url: str) -> None:
        if urlsplit(url).netloc != self.host:
            self.complaints.append(f"request to {url}")


@pytest.fixture
def watch(site: Site) -> Iterator[Watch]:
    watch = Watch(urlsplit(site.url).netloc)
    yield watch
    assert watch.complaints == []


def prepared(context: BrowserContext) -> BrowserContext:
    context.add_init_script(TELL_OF_VIOLATIONS)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture
def context(context: BrowserContext, watch: Watch) -> BrowserContext:
    context.on("page", watch.attach)
    return prepared(context)


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="session")
def shared_page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(reduced_motion="reduce") as context:
        yield prepared(context).new_page()


@pytest.fixture
def view(shared_page: Page, watch: Watch) -> Iterator[Page]:
    """A page for tests that only look: its process, styles, fonts and scripts are made ready once for all of them."""
    shared_page.context.clear_cookies()
    shared_page.emulate_media(color_scheme="light")
    shared_page.set_viewport_size(DESK)
    watch.attach(shared_page)
    yield shared_page
    shared_page.unroute_all()
    shared_page.goto("about:blank")
    watch.detach(shared_page)


@pytest.fixture(params=[True, False], ids=["script", "no script"])
def reader(request: pytest.FixtureRequest, browser: Browser, watch: Watch) -> Iterator[Page]:
    """A page of a browser with or without script."""
    with browser.new_context(java_script_enabled=request.param, viewport={"width": 1280, "height": 900}) as context:
        context.on("page", watch.attach)
        yield prepared(context).new_page()
