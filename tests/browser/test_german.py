"""The public pages in German, in a browser: longer words fit, axe finds nothing, and no page is wider than its screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, open_folds, visit
from tests.browser.site import SETS, Site

NAMES = ("ask", "answer asked again", "partial answer", "refusal", "guardrail", "citation", "search", "nothing found", "topic", "study", "how it works", "compare", "missing")  # fmt: skip


@pytest.fixture
def german(site: Site, page: Page) -> Page:
    page.context.add_cookies([{"name": "language", "value": "de", "url": site.url}])
    return page


@pytest.mark.parametrize("name", NAMES)
def test_a_german_page_is_valid_legible_and_no_wider_than_the_screen(
    site: Site, german: Page, watch: Watch, name: str
) -> None:
    watch.expected = (f"status of {PAGES[name].status}",)
    german.emulate_media(reduced_motion="reduce")
    sent = visit(german, name, site)
    open_folds(german)

    assert find_faults(sent) == []
    expect(german.locator("html")).to_have_attribute("lang", "de")
    for width, scheme in ((390, "light"), (1280, "dark")):
        german.set_viewport_size({"width": width, "height": 844})
        german.emulate_media(color_scheme=scheme)
        assert_accessible(german, watch)
    for width in (1000, 640, 320):
        german.set_viewport_size({"width": width, "height": 640})
        assert german.evaluate("document.documentElement.scrollWidth") <= width


def test_an_answer_is_made_in_german_and_the_switch_in_the_footer_leads_back(site: Site, german: Page) -> None:
    german.goto(site.url)

    german.get_by_label("Ihre Frage").fill(SETS)
    german.get_by_role("button", name="Fragen", exact=True).click()
    expect(german.get_by_role("heading", name="Kurz gesagt")).to_be_visible()
    expect(german.locator(".sentence").first).to_have_attribute("lang", "en")
    german.wait_for_url("**/answers/**")
    address = german.url
    german.get_by_role("button", name="English").click()

    expect(german.get_by_role("heading", name="In short")).to_be_visible()
    expect(german.locator("html")).to_have_attribute("lang", "en")
    assert german.url == address
