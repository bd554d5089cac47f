"""axe, in a page that is watched."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.conftest import Watch
from tests.browser.site import script

STOCK = {"empty-table-header": {"enabled": False}}  # Django's own tables of inline rows begin with one
FINISH = """document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  .forEach((running) => running.finish())"""  # half faded colours are none
RUN = script("run_axe")
MOST = 6  # rows of a list that axe looks at: the further ones are like these


def assert_accessible(page: Page, watch: Watch, *, rules: dict[str, Any] | None = None, part: str = "") -> None:
    """`rules` are axe's, where some are not ours to keep; `part` selects what is looked at, if not the whole page.

    Options that nobody chose are gone from the page afterwards.
    """
    options = {"resultTypes": ["violations"], "rules": rules or {}, "preload": False}
    page.evaluate(FINISH)
    complaints = list(watch.complaints)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN, [options, MOST, part])
    watch.complaints[:] = complaints  # axe itself tries inline styles, which the content policy refuses
    assert found == []
