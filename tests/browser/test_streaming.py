"""An answer while it is made, on the page: stages and sentences as they come, then its own page in the same place."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from qa_app.answers import streaming
from tests.browser.conftest import Watch
from tests.browser.site import MEANT, SETS, STREAM, SUBJECT, WOMEN, Site, cut_short, payload_of, script
from tests.doubles.model_server import SlowModel, slow_model

LONG = 60.0
FOUND = ["Question read", "Studies searched"]  # the stages before the writer's


@pytest.fixture
def model(site: Site, settings: Any) -> Iterator[SlowModel]:
    with slow_model(settings) as slow:
        yield slow


def type_and_send(site: Site, page: Page) -> None:
    page.goto(site.url)
    page.get_by_label("Your question").fill(SETS)
    page.keyboard.press("Enter")


def test_stages_are_shown_and_then_the_answer(site: Site, page: Page, model: SlowModel) -> None:
    type_and_send(site, page)

    stages = page.get_by_role("list", name="Progress").get_by_role("listitem")
    expect(page.locator(".stages .done")).to_have_text(FOUND)
    expect(stages).to_have_count(4)
    expect(page.get_by_role("heading", level=1, name=SETS)).to_be_focused()
    expect(page.locator(".headline .sentence")).to_have_count(1)  # it waits for no writer
    expect(page.locator(".sentence")).to_have_count(1)
    assert page.url == f"{site.url}/"

    model.go_on.set()
    page.wait_for_url("**/answers/*/")
    shown = payload_of(page)
    texts = page.locator(".summary .sentence").all_inner_texts()
    said = [row["text"] for row in shown["summary"]["sentences"] if row["text"] != shown["headline"]["text"]]
    assert [t.startswith(sentence) for t, sentence in zip(texts, said, strict=True)] == [True] * len(texts)
    page.locator(".summary .cite").first.click()
    expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()


@pytest.fixture
def before(site: Site, page: Page, model: SlowModel) -> str:
    """The address of an answer that the page shows; what is asked next there waits for the model."""
    address = site.answer_to(writer="extractive")
    page.goto(address)
    page.evaluate("window.stillHere = true")
    return address


def id_of(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def follow(page: Page, question: str = WOMEN) -> None:
    page.locator("#follow-up").fill(question)
    page.locator("#follow-up").press("Enter")


def test_a_follow_up_is_shown_while_it_is_made(page: Page, model: SlowModel, before: str) -> None:
    follow(page)

    expect(page.get_by_role("heading", level=1, name=WOMEN)).to_be_focused()
    expect(page.locator(".stages .done")).to_have_text(FOUND)
    expect(page.locator(".understood")).to_have_text(re.compile(f"You asked about {SUBJECT}\\."))
    thread = page.get_by_role("region", name="The questions before").locator("li")
    expect(thread).to_have_text(re.compile(re.escape(SETS)))
    shown = thread.inner_text()
    expect(page.get_by_role("button", name="Ask it alone")).to_have_count(0)  # its room is kept
    assert page.url == before
    model.go_on.set()
    page.wait_for_url(lambda address: address != before)
    expect(page.get_by_role("button", name="Ask it alone")).to_be_visible()
    assert thread.inner_text() == shown
    assert payload_of(page)["understood_as"] == MEANT
    assert page.evaluate("window.stillHere") is True
    page.go_back()
    expect(page.get_by_role("heading", level=1, name=SETS)).to_be_visible()
    assert page.url == before


def test_what_is_stopped_stays_in_its_box(page: Page, before: str) -> None:
    for box, send, question in (("#follow-up", "Ask this", WOMEN), ("#question", "Ask", SETS)):
        page.locator(box).fill(question)
        page.locator(box).press("Enter")

        page.get_by_role("button", name="Stop").click()

        expect(page.locator("#trouble")).to_have_text("Stopped. Your question is still in the box.")
        expect(page.locator(box)).to_have_value(question)
        expect(page.locator(box)).to_be_focused()
        expect(page.get_by_role("heading", level=1, name=SETS)).to_be_visible()
        expect(page.get_by_role("button", name=send, exact=True)).to_be_enabled()
        assert_given_up(page)


def test_an_answer_asked_again_is_shown_with_changes(site: Site, page: Page, model: SlowModel, before: str) -> None:
    page.get_by_role("button", name="Ask again").first.click()

    expect(page.locator(".stages .done")).to_have_text(FOUND)
    expect(page.get_by_role("heading", name="Asked again", exact=True)).to_be_visible()
    assert page.url == before
    model.go_on.set()
    expect(page.get_by_role("heading", name="Asked again: what has changed")).to_be_visible()
    assert page.url.endswith(f"?since={id_of(before)}")
    assert page.evaluate("window.stillHere") is True
    expect(page.locator(".since a").first).to_have_attribute("href", before.removeprefix(site.url))
    page.get_by_role("link", name="Your questions").click()
    expect(page.locator(".kept li")).to_have_count(1)


def test_the_other_mode_is_shown_and_then_compared(page: Page, model: SlowModel, before: str) -> None:
    page.get_by_role("button", name="Compare with the answer").click()

    expect(page.locator(".stages .done")).to_have_text(FOUND)
    expect(page.locator(".making .eyebrow")).to_have_text("Intermediate")
    model.go_on.set()
    expect(page.get_by_role("heading", level=1, name="Two answers side by side")).to_be_focused()
    assert f"/compare/?a={id_of(before)}&b=" in page.url
    expect(page.locator(".sides .eyebrow").nth(1)).to_contain_text("Answer B · Intermediate")
    assert page.evaluate("window.stillHere") is True
    page.get_by_role("link", name="Your questions").click()
    expect(page.locator(".kept li")).to_have_count(1)
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name=SETS)).to_be_visible()
    assert page.url == before


@pytest.mark.parametrize("way", ["another page", "the window closed", "kept to come back to"])
def test_leaving_gives_up_the_work(site: Site, page: Page, model: SlowModel, way: str) -> None:
    type_and_send(site, page)
    expect(page.locator(".stages .done")).to_have_count(2)
    assert streaming._jobs

    if way == "another page":
        page.get_by_role("link", name="Topics").click()
    elif way == "the window closed":
        page.close()
    else:  # as a browser does that may show this very page again
        page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        expect(page.get_by_label("Your question")).to_have_value(SETS)
        expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
        expect(page.locator("#trouble")).to_be_empty()

    assert_given_up(page)


def assert_given_up(page: Page) -> None:
    """What the model was asked included: see the test of streams that are left."""
    end = time.monotonic() + LONG
    while streaming._jobs and time.monotonic() < end:
        time.sleep(0.02)
    assert streaming._jobs == {}


def test_a_broken_line_to_a_server_that_starts_again_is_taken_up(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("net::ERR", "status of 502")
    ways = iter((
        cut_short,
        lambda route: route.abort("connectionrefused"),
        lambda route: route.fulfill(status=502, body="away"),
    ))  # fmt: skip
    last_events: list[str | None] = []

    def fail(route: Route) -> None:
        last_events.append(route.request.headers.get("last-event-id"))
        next(ways, lambda route: route.continue_())(route)

    page.route(STREAM, fail)
    type_and_send(site, page)

    expect(page.locator("#status")).to_have_text("The connection was lost. Trying again…")
    page.wait_for_url("**/answers/*/")
    expect(page.locator("#trouble")).to_be_empty()
    assert [bool(last) for last in last_events] == [False, True, True, True]
    assert payload_of(page)["citations"]


def test_a_line_without_a_sign_of_life_is_taken_for_broken(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("net::ERR",)
    page.clock.install()
    page.route(STREAM, lambda route: None)
    type_and_send(site, page)
    expect(page.locator("#status")).to_have_text("Searching the studies…")

    page.clock.fast_forward(31_000)

    said = "The answer could not be fetched. It took too long. Your question is still in the box: please try again in a moment."
    expect(page.locator("#trouble")).to_have_text(said)


def test_when_the_finished_page_cannot_be_fetched_it_is_tried_again(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("net::ERR", "htmx:")
    tries: list[str] = []

    def fail_once(route: Route) -> None:
        tries.append(route.request.url)
        route.abort("connectionrefused") if len(tries) == 1 else route.continue_()

    page.route("**/answers/*/", fail_once)
    type_and_send(site, page)

    page.wait_for_url("**/answers/*/")
    expect(page.locator("#trouble")).to_be_empty()
    assert len(tries) == 2
    assert len(set(tries)) == 1


def test_when_settled_the_page_does_all_that_it_does_at_its_address(site: Site, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    type_and_send(site, page)
    page.wait_for_url("**/answers/*/")

    page.get_by_text("All findings in a table").click()
    heading = page.get_by_role("columnheader", name="Finding")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    page.locator("[data-copy-answer]").click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith(SETS)
    page.locator(".sentence .term").first.click()
    expect(page.locator(".meaning").first).to_be_visible()
    assert page.locator("#making, #question, #ask-form").count() == 3


SHIFTS = script("shifts")


def assert_nothing_moved(page: Page) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shifts = page.evaluate("window.shifts")
    assert sum(shift[0] for shift in shifts) < 0.01, shifts


@pytest.mark.parametrize(("width", "height"), [(1280, 860), (390, 844)], ids=["desk", "phone"])
def test_nothing_moves_as_an_answer_is_made(site: Site, page: Page, model: SlowModel, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.add_init_script(SHIFTS)
    page.goto(site.answer_to(writer="extractive"))
    page.locator("#follow-up").scroll_into_view_if_needed()
    for ask in (lambda: type_and_send(site, page), lambda: follow(page)):
        model.go_on.clear()
        ask()
        expect(page.locator(".stages .done")).to_have_count(2)
        assert_nothing_moved(page)
        model.go_on.set()
        page.locator(".feedback").wait_for()
        assert_nothing_moved(page)
        page.evaluate("window.shifts = []")
