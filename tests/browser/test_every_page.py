"""Every page of `pages.py`: legible in both schemes, no wider than the screen, valid HTML; in German as in English."""

import re

import pytest
from django.utils import translation
from playwright.sync_api import Page, expect

from corpus_app.models import Collection
from tests.browser.accessible import STOCK, assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, PUBLIC, Place, assert_no_wider, open_folds, open_panel, open_term, visit
from tests.browser.site import SETS, Site, script

PHONE = {"width": 390, "height": 844}
ENLARGED = (  # what is read, twice as large: letters alone, and everything without a layout of its own for it
    "document.documentElement.style.fontSize = `${2 * parseFloat(getComputedStyle(document.documentElement).fontSize)}px`",
    "document.documentElement.style.fontSize = ''; document.documentElement.style.zoom = 2",
)
OVERFLOWS, FAINT_EDGES = script("overflows"), script("faint_edges")
CUT_LISTS = """() => [...document.querySelectorAll("#changelist-form .results")]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).map(({ scrollWidth }) => `list: ${scrollWidth}`)"""
SMALL_LETTERS = """() => [...document.querySelectorAll("svg text")].filter((text) => text.checkVisibility())
  .map((text) => [text.textContent, parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a])
  .filter(([, size]) => size < 11.9)"""
FAULTS_OF_OTHERS = {
    "desk: person": ["<div#id_password>: aria-describedby names 'id_password_helptext', which is not there"]
}  # Django's
NARROW = {True: 390, False: 320}  # the desk's lists need a phone's width, the site's pages less


@pytest.mark.parametrize("name", PAGES)
def test_page_is_valid_legible_and_no_wider_than_the_screen(site: Site, view: Page, watch: Watch, name: str) -> None:
    place = PAGES[name]
    watch.expected = place.expected
    view.emulate_media(color_scheme="dark")
    assert find_faults(visit(view, name, site)) == FAULTS_OF_OTHERS.get(name, [])
    unfold(view, place)
    if not (place.is_desk or place.rules):
        for enlarge in ENLARGED:
            view.evaluate(f"() => {{ {enlarge} }}")
            assert view.evaluate(OVERFLOWS) == []
        view.evaluate("() => document.documentElement.removeAttribute('style')")
    assert_legible(view, watch, place)

    assert_no_wider(view, 1000, 640, NARROW[place.is_desk])
    view.set_viewport_size(PHONE)
    view.emulate_media(color_scheme="light")
    if place.then:
        view.goto(view.url)
        unfold(view, place)
    assert_legible(view, watch, place)


def unfold(page: Page, place: Place) -> None:
    if place.then:
        place.then(page)
    open_folds(page)


def assert_legible(page: Page, watch: Watch, place: Place) -> None:
    if place.is_desk:
        for faults in (FAINT_EDGES, CUT_LISTS, SMALL_LETTERS):
            assert page.evaluate(faults) == []
    assert_accessible(page, watch, rules=STOCK if place.is_desk else place.rules, part=place.part)


# Words that no German sentence of the site has, and hardly an English one is without.
ENGLISH = frozenset(
    "the of and is are were with from this that these for by you your its they have has had which how when study studies "
    "answer answers question questions source sources finding findings other others only about been "
    "more than each every there here no yes show shown found nothing".split()
)
NOT_OURS = re.compile(r"„[^“]*“|https?://\S+")  # a question to try or the reader's own, an address
OWN_WORDS = "#question-title, [dir=auto], .thread .asked, .kept p:first-child a, .near a, .understood strong, .comparison h2 a, #cite-line, code, script, style, textarea, input"
GERMAN_TOLD = script("german_told")
IN_ANY_LANGUAGE = (open_panel, open_term)


def speak_german(page: Page, site: Site) -> None:
    page.context.add_cookies([{"name": "language", "value": "de", "url": site.url}])


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "documentation of the API"])
def test_german_page_is_german_valid_and_no_wider(site: Site, view: Page, watch: Watch, name: str) -> None:
    place = PAGES[name]
    watch.expected = place.expected
    speak_german(view, site)
    view.set_viewport_size(PHONE)
    with translation.override("de"):  # for what is said of a failure, which no request brings here
        sent = visit(view, name, site)
    if place.then in IN_ANY_LANGUAGE:
        place.then(view)

    assert find_faults(sent) == []
    expect(view.locator("html")).to_have_attribute("lang", "de")
    collections = re.compile("|".join(Collection.objects.values_list("name", flat=True)), re.IGNORECASE)
    heard = [collections.sub("", NOT_OURS.sub("", words)) for words in view.evaluate(GERMAN_TOLD, OWN_WORDS)]
    assert len(heard) > 10
    assert [words for words in heard if ENGLISH & set(re.findall(r"[^\W\d_]+", words.lower()))] == []
    open_folds(view)
    assert_no_wider(view, 1280, 1000, 640, 320)


def test_an_answer_is_made_in_german_and_switched_back(site: Site, view: Page) -> None:
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
