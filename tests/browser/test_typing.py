"""The question box under all kinds of hands and browsers, and the questions that it offers."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Watch
from tests.browser.site import SETS, STREAM, TERM, Site

LONG_QUESTION = "How many sets? " * 150  # 2,250 characters


def count_streams(page: Page) -> list[Route]:
    """The questions that were sent; none of them is let through."""
    sent: list[Route] = []
    page.route(STREAM, lambda route: sent.append(route))
    return sent


def test_a_question_sent_twice_is_asked_once_and_said_to_be_searched_for(site: Site, page: Page) -> None:
    page.goto(site.url)
    sent = count_streams(page)
    box = page.get_by_label("Your question")
    box.fill(SETS)

    box.press("Enter")
    box.press("Enter")
    page.locator("#ask-form").evaluate("form => form.requestSubmit()")
    page.get_by_role("button", name="How many sets per week for muscle growth?").click(force=True)
    expect(page.locator("#status")).to_have_text("Searching the studies…")
    expect(page.locator(".working")).to_be_visible()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()

    assert len(sent) == 1
    sent[0].continue_()
    page.wait_for_url("**/answers/*/")
    expect(page.get_by_role("status")).to_have_text(re.compile("nswered|disagree"))  # the outcome is heard, too
    assert len(sent) == 1


@pytest.mark.parametrize("ended", [{"isComposing": True}, {"keyCode": 229}], ids=["composing", "as Safari tells it"])
def test_enter_within_an_input_method_sends_nothing(site: Site, page: Page, ended: dict[str, object]) -> None:
    page.goto(site.url)
    sent = count_streams(page)
    box = page.get_by_label("Your question")
    box.fill("きんにく")
    enter = """(box, ended) => {
        const key = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...ended });
        return box.dispatchEvent(key);
    }"""

    assert box.evaluate(enter, ended) is True
    assert sent == []
    assert box.evaluate(enter, {}) is False
    expect(page.locator("#status")).to_have_text("Searching the studies…")


def test_a_question_that_is_too_long_is_kept_whole_and_said_to_be(site: Site, reader: Page, watch: Watch) -> None:
    watch.expected = ("status of 400",)
    reader.goto(site.url)
    box = reader.get_by_label("Your question")

    box.focus()
    reader.keyboard.insert_text(LONG_QUESTION)  # as if pasted: cut where the box takes no more
    reader.get_by_role("button", name="Ask", exact=True).click()

    said = "The question is longer than 2,000 characters. Please shorten it."
    expect(reader.locator("#question-error")).to_have_text(said)
    expect(box).to_have_value(LONG_QUESTION)


def test_a_browser_that_keeps_nothing_shows_all_the_same(site: Site, page: Page) -> None:
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page.goto(site.stored())

    page.locator(".answer .cite").first.click()

    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_escape_closes_one_thing_at_a_time(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 860})
    page.goto(site.stored(definitions=[TERM]))
    page.locator(".answer .cite").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_role("button", name="Few sets").first.click()
    meaning = page.locator(".meaning").first
    expect(meaning).to_be_visible()

    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


SUGGEST = "**/suggest/**"
QUESTION = re.compile("What is known about ")


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

    expect(box).to_have_value(re.compile("training volume"))
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
