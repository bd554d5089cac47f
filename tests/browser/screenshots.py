"""Pictures of every page of `pages.py`, for `make screenshots`: not a test of the suite, but made in the same way.

The folder docs/screenshots holds a small WebP for each page, size and scheme: `answer.phone.dark.webp`.
"""

import base64
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import pages
from tests.browser.accessible import FINISH
from tests.browser.conftest import Watch
from tests.browser.pages import PAGES, visit
from tests.browser.site import Site
from tests.pipeline.corpora import CORPUS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
SIZES = {"phone": (390, 844), "desk": (1280, 860)}
LONGEST = {"phone": 1_400, "desk": 1_200}  # CSS pixels: what comes below is left out
SCALE = {"phone": 0.55, "desk": 0.45}
QUALITY = 25
LAST_TOP = "Math.max(0, Math.min(scrollY, document.documentElement.scrollHeight - innerHeight))"
"""No void stands below the page."""


@pytest.fixture(scope="session")
def starter() -> Path:
    """The whole starter corpus, so that the pictures show what a visitor sees."""
    return CORPUS


@pytest.fixture(scope="session", autouse=True)
def real_words() -> None:
    pages.words = pages.REAL


@pytest.mark.parametrize("name", PAGES)
def test_screenshots(site: Site, page: Page, watch: Watch, name: str) -> None:
    watch.expected = PAGES[name].expected
    folder = Path(os.environ.get("SHOTS", FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    page.emulate_media(reduced_motion="reduce")
    visit(page, name, site)
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if PAGES[name].then:
                page.goto(page.url)
                PAGES[name].then(page)
            page.evaluate(FINISH)
            shown = re.sub(r"\W+", "-", name)
            (folder / f"{shown}.{size}.{scheme}.webp").write_bytes(picture(page, size, PAGES[name].has_layer))


def picture(page: Page, size: str, has_layer: bool) -> bytes:
    """The top of the page as WebP, by the browser itself; where a layer lies over it, what the screen shows."""
    width, height = SIZES[size]
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    top = page.evaluate(LAST_TOP) if has_layer else 0
    if not has_layer:
        height = min(page.evaluate("document.documentElement.scrollHeight"), LONGEST[size])
    clip = {"x": 0, "y": top, "width": width, "height": height, "scale": SCALE[size]}
    asked = {"format": "webp", "quality": QUALITY, "clip": clip, "captureBeyondViewport": not has_layer}
    session = page.context.new_cdp_session(page)
    data: str = session.send("Page.captureScreenshot", asked)["data"]
    session.detach()
    return base64.b64decode(data)
