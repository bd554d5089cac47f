"""axe, in a page that is watched."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Watch

STOCK = {"empty-table-header": {"enabled": False}}  # Django's own tables of inline rows begin with one
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # what another scheme can change


def assert_accessible(page: Page, watch: Watch, *, is_desk: bool = False, only_colours: bool = False) -> None:
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if only_colours:
        options["runOnly"] = OF_COLOURS
    elif is_desk:
        options["rules"] = STOCK
    page.evaluate("document.getAnimations().forEach((running) => running.finish())")  # half faded colours are none
    complaints = list(watch.complaints)
    results = Axe().run(page, options=options)
    watch.complaints[:] = complaints  # axe itself tries inline styles, which the content policy refuses
    assert results.violations_count == 0, results.generate_report()
