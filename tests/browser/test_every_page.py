"""Every page of `pages.py`: legible to all in both schemes, no wider than the screen, valid HTML. (What a browser complains
of fails every browser test: `conftest.Watch`.)
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.accessible import STOCK, assert_accessible
from tests.browser.conftest import Watch
from tests.browser.html import find_faults
from tests.browser.pages import PAGES, Place, assert_no_wider, open_folds, visit
from tests.browser.site import Site

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 860}
ENLARGED = (  # what is read, twice as large: letters alone, and everything without a layout of its own for it
    "document.documentElement.style.fontSize = `${2 * parseFloat(getComputedStyle(document.documentElement).fontSize)}px`",
    "document.documentElement.style.fontSize = ''; document.documentElement.style.zoom = 2",
)
OVERFLOWS = """() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const cut = [...document.body.querySelectorAll("*")].filter((element) => {
    const { overflowX, overflowY, webkitLineClamp } = getComputedStyle(element);
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
    if (webkitLineClamp !== "none") return false; // an offered title ends in dots, and is whole once it is chosen
    return /hidden|clip/.test(overflowX + overflowY) && element.checkVisibility() && element.textContent.trim()
      && !element.closest(".unseen, .visually-hidden, svg") && (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1);
  });
  return cut.map(({ outerHTML }) => `cut: ${outerHTML.slice(0, 120)}`)
    .concat(scrollWidth > clientWidth ? [`wider: ${scrollWidth}`] : []);
}"""
FAINT_EDGES = """() => {
  const light = ([red, green, blue]) => [red, green, blue]
    .map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (element) => {
    const colour = numbers(getComputedStyle(element).backgroundColor);
    return (colour.length < 4 || colour[3] === 1) || !element.parentElement ? colour : ground(element.parentElement);
  };
  const fields = "input:not([type=hidden], [type=checkbox], [type=radio], [type=submit], [type=button], [type=file]), select, textarea";
  return [...document.querySelectorAll(fields)].filter((field) => field.checkVisibility()).flatMap((field) => {
    const edge = light(numbers(getComputedStyle(field).borderTopColor));
    const beside = light(ground(field.parentElement));
    const ratio = (Math.max(edge, beside) + 0.05) / (Math.min(edge, beside) + 0.05);
    return ratio < 3 ? [`${field.outerHTML.slice(0, 80)}: ${ratio.toFixed(2)}`] : [];
  });
}"""
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
    view.set_viewport_size(DESK)
    view.emulate_media(color_scheme="dark")
    assert find_faults(visit(view, name, site)) == FAULTS_OF_OTHERS.get(name, [])
    unfold(view, place)
    if not (place.is_desk or place.rules):
        for enlarge in ENLARGED:
            view.evaluate(f"() => {{ {enlarge} }}")
            assert view.evaluate(OVERFLOWS) == []
        view.evaluate("() => document.documentElement.removeAttribute('style')")
    assert_no_wider(view, 1000, 640, NARROW[place.is_desk])
    view.set_viewport_size(DESK)
    assert_legible(view, watch, place)

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
