"""The public pages in German, in a browser: longer words fit, axe finds nothing, and no page is wider than its screen."""

from __future__ import annotations

import re

import pytest
from django.utils import translation
from playwright.sync_api import Page, expect

from corpus_app.models import Collection
from tests.browser.accessible import assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, PUBLIC, open_folds, open_panel, visit
from tests.browser.site import SETS, Site

# Words that no German sentence of the site has, and hardly an English one is without.
ENGLISH = frozenset(
    "the of and is are were with from this that these for by you your its they have has had which how when study studies "
    "answer answers question questions source sources finding findings other others only about been "
    "more than each every there here no yes show shown found nothing".split()
)
NOT_OURS = re.compile(r"„[^“]*“|https?://\S+")  # a question to try or the reader's own, an address
OWN_WORDS = "#question-title, [dir=auto], .trail a, .kept p:first-child a, .near a, .understood strong, .comparison h2 a, #cite-line, code, script, style, textarea, input"
TOLD = """(ownWords) => {
  const told = [];
  const spoken = document.documentElement.lang;
  const isOurs = (element) => !element.closest(ownWords) && (element.closest("[lang]") || document.documentElement).lang === spoken;
  const hear = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!node.parentElement || isOurs(node.parentElement)) told.push(node.textContent);
      } else {
        if (node.localName === "template") hear(node.content);
        if (isOurs(node)) ["aria-label", "title", "alt"].forEach((name) => told.push(node.getAttribute(name) || ""));
      }
    }
  };
  hear(document.body);
  return told.map((words) => words.trim()).filter(Boolean);
}"""
NAMES = (
    "ask",
    "answer asked again",
    "partial answer",
    "refusal",
    "guardrail",
    "citation",
    "search",
    "nothing found",
    "topic",
    "study",
    "how it works",
    "compare",
    "missing",
)


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


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "documentation of the API"])
def test_no_word_of_the_interface_is_left_in_english(site: Site, german: Page, watch: Watch, name: str) -> None:
    watch.expected = PAGES[name].expected
    with translation.override("de"):  # for what is said of a failure, which no request brings here
        visit(german, name, site)
    if PAGES[name].then is open_panel:
        open_panel(german)

    collections = re.compile("|".join(Collection.objects.values_list("name", flat=True)), re.IGNORECASE)
    heard = [collections.sub("", NOT_OURS.sub("", words)) for words in german.evaluate(TOLD, OWN_WORDS)]

    assert len(heard) > 10
    assert [words for words in heard if ENGLISH & set(re.findall(r"[^\W\d_]+", words.lower()))] == []


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
