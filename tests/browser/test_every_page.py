"""Every page of `pages.py`, in every dress: legible to all, no wider than the screen, valid HTML. (What a browser complains
of fails every browser test: `conftest.Watch`.)
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.accessible import assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, open_folds, visit
from tests.browser.site import Site

SIZES = {"phone": (390, 844), "desk": (1280, 860)}
STOCK = {
    "desk: person": ["<div#id_password>: aria-describedby names 'id_password_helptext', which is not there"]
}  # Django's
NARROW = {True: 390, False: 320}  # the desk's lists need a phone's width, the site's pages less


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_valid_legible_and_no_wider_than_the_screen(
    site: Site, page: Page, watch: Watch, name: str
) -> None:
    watch.expected = (f"status of {PAGES[name].status}",)
    page.emulate_media(reduced_motion="reduce")
    sent = visit(page, name, site)
    open_folds(page)

    assert find_faults(sent) == STOCK.get(name, [])
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert_accessible(page, watch, is_desk=PAGES[name].is_desk, only_colours=scheme == "dark")
    for width in (1000, 640, NARROW[PAGES[name].is_desk]):
        page.set_viewport_size({"width": width, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
