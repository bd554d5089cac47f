"""The public pages in German: longer words fit, axe finds nothing, and no word is left in English."""

from __future__ import annotations

import re

import pytest
from django.utils import translation
from playwright.sync_api import Page, expect

from corpus_app.models import Collection
from tests.browser.accessible import assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, PUBLIC, assert_no_wider, open_folds, open_panel, open_term, visit
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
IN_ANY_LANGUAGE = (open_panel, open_term)


def speak_german(page: Page, site: Site) -> None:
    page.context.add_cookies([{"name": "language", "value": "de", "url": site.url}])


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "documentation of the API"])
def test_german_page_is_german_valid_and_no_wider_than_the_screen(
    site: Site, view: Page, watch: Watch, name: str
) -> None:
    place = PAGES[name]
    watch.expected = place.expected
    speak_german(view, site)
    view.set_viewport_size({"width": 390, "height": 844})
    with translation.override("de"):  # for what is said of a failure, which no request brings here
        sent = visit(view, name, site)
    if place.then in IN_ANY_LANGUAGE:
        place.then(view)

    assert find_faults(sent) == []
    expect(view.locator("html")).to_have_attribute("lang", "de")
    collections = re.compile("|".join(Collection.objects.values_list("name", flat=True)), re.IGNORECASE)
    heard = [collections.sub("", NOT_OURS.sub("", words)) for words in view.evaluate(TOLD, OWN_WORDS)]
    assert len(heard) > 10
    assert [words for words in heard if ENGLISH & set(re.findall(r"[^\W\d_]+", words.lower()))] == []
    open_folds(view)
    assert_accessible(view, watch, rules={"color-contrast": {"enabled": False}})  # of the same colours as in English
    assert_no_wider(view, 1280, 1000, 640, 320)


def test_an_answer_is_made_in_german_and_the_switch_in_the_footer_leads_back(site: Site, view: Page) -> None:
    speak_german(view, site)
    view.goto(site.url)

    view.get_by_label("Ihre Frage").fill(SETS)
    view.get_by_role("button", name="Fragen", exact=True).click()
    expect(view.get_by_role("heading", name="Kurz gesagt")).to_be_visible()
    expect(view.locator(".sentence").first).to_have_attribute("lang", "en")
    view.wait_for_url("**/answers/**")
    address = view.url
    view.get_by_role("button", name="English").click()

    expect(view.get_by_role("heading", name="In short")).to_be_visible()
    expect(view.locator("html")).to_have_attribute("lang", "en")
    assert view.url == address
