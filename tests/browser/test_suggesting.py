"""Questions offered while one types: by pointer, by keyboard, in silence where there are none."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.site import Site

SUGGEST = "**/suggest/**"
QUESTION = re.compile("What do the studies say about ")


def type_some(site: Site, page: Page, words: str = "training vol") -> tuple[Locator, Locator]:
    """The box and the list below it."""
    page.goto(site.url)
    box = page.get_by_label("Your question")
    box.press_sequentially(words)
    return box, page.get_by_role("listbox", name="Questions to choose from")


def test_a_question_is_chosen_by_keyboard_and_then_sent(site: Site, page: Page) -> None:
    box, questions = type_some(site, page)
    options = questions.get_by_role("option")
    expect(options.first).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Down arrow to choose.")

    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    page.keyboard.press("ArrowUp")
    expect(questions.locator("[aria-selected=true]")).to_have_count(0)
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    chosen = str(options.last.get_attribute("data-question"))
    page.keyboard.press("Enter")

    expect(questions).to_have_count(0)
    expect(box).to_be_focused()
    expect(box).to_have_value(chosen)
    assert page.url == f"{site.url}/"
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/*/")


def test_a_click_chooses_and_leaving_the_box_closes_the_list(site: Site, page: Page) -> None:
    box, questions = type_some(site, page)
    page.keyboard.press("Tab")
    expect(questions).to_have_count(0)

    box.press_sequentially("ume")
    questions.get_by_role("option", name="training volume").first.click()

    expect(box).to_have_value(QUESTION)
    expect(box).to_be_focused()
    expect(questions).to_have_count(0)


def test_escape_closes_the_list_and_enter_still_sends_what_was_typed(site: Site, page: Page) -> None:
    box, questions = type_some(site, page)
    expect(questions).to_be_visible()

    page.keyboard.press("Escape")

    expect(questions).to_have_count(0)
    expect(page.get_by_role("status")).to_be_empty()
    assert box.get_attribute("aria-controls") is None
    box.press_sequentially("ume")
    expect(questions).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/*/")
    expect(page.locator("#question-title")).to_have_text("training volume")
    expect(questions).to_have_count(0)


def test_where_nothing_fits_or_nothing_can_be_had_there_is_silence(site: Site, page: Page) -> None:
    asked: list[str] = []
    page.route(SUGGEST, lambda route: (asked.append(route.request.url), route.continue_()))
    with page.expect_response(SUGGEST):
        box, questions = type_some(site, page, "xylophones")

    expect(questions).to_have_count(0)
    expect(page.get_by_role("status")).to_be_empty()
    page.unroute(SUGGEST)
    page.route(SUGGEST, lambda route: route.fulfill(status=200, body="no JSON"))
    with page.expect_response(SUGGEST):
        box.fill("training vol")
    expect(questions).to_have_count(0)
    expect(page.locator("#trouble")).to_be_empty()
    assert asked


def test_an_older_list_never_takes_the_place_of_a_newer_one(site: Site, page: Page) -> None:
    held: list[Route] = []
    page.route("**/suggest/?q=training", lambda route: held.append(route))
    box, questions = type_some(site, page, "training")
    while not held:
        page.wait_for_timeout(20)
    box.press_sequentially(" vol")
    expect(questions.get_by_role("option", name="training volume").first).to_be_visible()
    before = questions.inner_text()

    held[0].fulfill(json={"suggestions": [{"kind": "topic", "question": "An older one?", "also": ""}]})
    page.evaluate("new Promise((done) => setTimeout(done))")

    assert questions.inner_text() == before


def test_the_page_does_not_move_and_the_list_stays_on_a_phone(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    box, questions = type_some(site, page, "mu")
    send = page.locator("#ask-form .send")
    page.evaluate("document.fonts.ready.then(() => true)")
    before = send.bounding_box()
    box.press_sequentially("scle")
    expect(questions).to_be_visible()

    place = questions.bounding_box()
    assert send.bounding_box() == before
    assert place is not None
    assert 0 <= place["x"] <= 390 - place["width"]


def test_a_follow_up_is_offered_nothing(site: Site, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site.stored())

    page.get_by_label("A short question is enough").press_sequentially("creatine dose")
    page.get_by_label("Your question").press_sequentially("training vol")
    expect(page.get_by_role("listbox")).to_be_visible()

    suggested = [url for url in asked if "/suggest/" in url]
    assert suggested
    assert not any("creat" in url for url in suggested)
