"""Every page of `pages.py`, in every dress: legible to all, no wider than the screen, valid HTML. (What a browser complains
of fails every browser test: `conftest.Watch`.)
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.accessible import STOCK, assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, open_folds, visit
from tests.browser.site import Site

DRESSES = (("light", 390, 844), ("dark", 1280, 860))  # each scheme once, each size once
FAULTS_OF_OTHERS = {
    "desk: person": ["<div#id_password>: aria-describedby names 'id_password_helptext', which is not there"]
}  # Django's
NARROW = {True: 390, False: 320}  # the desk's lists need a phone's width, the site's pages less


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_valid_legible_and_no_wider_than_the_screen(
    site: Site, page: Page, watch: Watch, name: str
) -> None:
    place = PAGES[name]
    watch.expected = (f"status of {place.status}",)
    page.emulate_media(reduced_motion="reduce")
    sent = visit(page, name, site)
    assert find_faults(sent) == FAULTS_OF_OTHERS.get(name, [])

    for scheme, width, height in DRESSES:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        if place.then:
            page.goto(page.url)
            place.then(page)
        open_folds(page)
        assert_accessible(page, watch, rules=STOCK if place.is_desk else place.rules)
    for width in (1000, 640, NARROW[place.is_desk]):
        page.set_viewport_size({"width": width, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
