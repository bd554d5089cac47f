"""The question box and its page under all kinds of hands and browsers: twice, in a hurry, through an input method, too long."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Watch
from tests.browser.site import SETS, STREAM, TERM, WOMEN, Site

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


def test_two_follow_ups_at_once_are_one(site: Site, page: Page) -> None:
    page.goto(site.answer_to())
    sent = count_streams(page)
    page.locator("#follow-up").fill(WOMEN)

    page.locator("#follow-up").press("Enter")
    page.get_by_label("Your question").fill(SETS)
    page.get_by_label("Your question").press("Enter")

    expect(page.locator("#status")).to_have_text("Searching the studies…")
    assert [route.request.post_data_json["question"] for route in sent] == [WOMEN]


@pytest.mark.parametrize("ended", [{"isComposing": True}, {"keyCode": 229}], ids=["composing", "as Safari tells it"])
def test_enter_that_chooses_a_word_of_an_input_method_sends_nothing(
    site: Site, page: Page, ended: dict[str, object]
) -> None:
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


def test_an_enter_held_down_sends_nothing_again(site: Site, page: Page) -> None:
    page.goto(site.url)
    sent = count_streams(page)
    box = page.get_by_label("Your question")
    box.fill(SETS)

    page.keyboard.down("Shift")
    page.keyboard.down("Enter")
    page.keyboard.up("Shift")
    page.keyboard.down("Enter")  # the same key, still down

    expect(box).to_have_value(f"{SETS}\n")
    assert sent == []
    page.keyboard.up("Enter")


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


def test_a_button_that_copied_says_its_name_again_when_it_is_left(site: Site, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(site.stored())
    named = page.get_by_role("button", name="Copy with citations")
    copied = page.get_by_role("button", name="Copied")
    named.click()
    expect(copied).to_be_focused()
    copied.press("Enter")
    expect(copied).to_be_focused()
    page.keyboard.press("Tab")
    expect(named).to_be_visible()

    page.evaluate(
        "() => { navigator.clipboard.writeText = () => new Promise((copied) => addEventListener('copied', () => copied())); }"
    )
    named.click()
    page.keyboard.press("Tab")
    page.evaluate("dispatchEvent(new Event('copied'))")  # after it was left
    expect(copied).to_be_visible()
    expect(named).to_be_visible()
