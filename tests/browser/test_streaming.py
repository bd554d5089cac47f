"""An answer while it is made, on the page: stages and sentences as they come, then its own page in the same place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import Page, expect

from qa_app import answering, streaming
from tests.browser.conftest import Watch
from tests.browser.site import SETS, STREAM, Site, payload_of
from tests.doubles.model_server import WRITES, Asked, draft, serving

LONG = 60.0


class SlowModel:
    """A language model that keeps its replies back until it is let go on."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def behave(self, asked: Asked) -> str:
        self.go_on.wait(LONG)
        return draft(WRITES["good"](asked))


@pytest.fixture
def model(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowModel]:
    slow = SlowModel()
    with serving(otherwise=slow.behave) as server:
        monkeypatch.setattr(django_settings, "OPENAI_MODEL", "slow")
        monkeypatch.setattr(django_settings, "OPENAI_BASE_URL", server.base_url)
        try:
            yield slow
        finally:
            slow.go_on.set()
            answering._model_server.cache_clear()


def type_and_send(site: Site, page: Page) -> None:
    page.goto(site.url)
    page.get_by_label("Your question").fill(SETS)
    page.keyboard.press("Enter")


def test_stages_are_shown_as_they_finish_and_then_the_answer_at_its_address(
    site: Site, page: Page, model: SlowModel
) -> None:
    type_and_send(site, page)

    stages = page.get_by_role("list", name="How far the answer is").get_by_role("listitem")
    expect(page.locator(".stages .done")).to_have_text(["Question read", "Studies searched"])
    expect(stages).to_have_count(4)
    expect(page.get_by_role("heading", level=1, name=SETS)).to_be_focused()
    expect(page.locator(".sentence")).to_have_count(0)
    assert page.url == f"{site.url}/"

    model.go_on.set()
    page.wait_for_url("**/answers/*/")
    shown = payload_of(page)
    texts = page.locator(".summary .sentence").all_inner_texts()
    assert [t.startswith(row["text"]) for t, row in zip(texts, shown["summary"]["sentences"], strict=True)] == [
        True
    ] * len(texts)
    page.locator(".summary .cite").first.click()
    expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()


def test_the_sentences_stay_where_they_were_when_the_page_settles(site: Site, page: Page) -> None:
    page.add_init_script(
        """
        const seen = (window.seen = []);
        new MutationObserver(() => {
          const first = document.querySelector(".summary .sentence");
          if (first) seen.push([Boolean(first.closest(".making")), first.getBoundingClientRect().top]);
        }).observe(document, { childList: true, subtree: true });
        """
    )
    type_and_send(site, page)
    page.wait_for_url("**/answers/*/")
    page.locator("#question-title").wait_for()

    seen: list[Any] = page.evaluate("window.seen")
    made, settled = ([row for row in seen if row[0] is is_made] for is_made in (True, False))
    assert made
    assert settled
    assert abs(made[-1][1] - settled[-1][1]) < 1  # pixels


def test_stopping_gives_up_the_work_and_keeps_the_question(site: Site, page: Page, model: SlowModel) -> None:
    type_and_send(site, page)
    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_role("alert").filter(has_text="Stopped. Your question is still in the box.")).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_value(SETS)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    for _ in range(600):
        if not streaming._makings:
            break
        page.wait_for_timeout(50)
    assert streaming._makings == {}


def test_too_many_answers_at_once_are_said_with_when_to_come_back(
    site: Site, page: Page, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.expected = ("status of 503",)
    monkeypatch.setattr(streaming, "MOST_STREAMS", 0)

    type_and_send(site, page)

    expect(page.get_by_role("alert").filter(has_text="still in the box")).to_contain_text("Many answers are being made")
    expect(page.get_by_label("Your question")).to_have_value(SETS)


def test_a_broken_line_is_taken_up_again(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("net::ERR",)
    bodies: list[str | None] = []

    def cut(route: Any) -> None:
        bodies.append(route.request.headers.get("last-event-id"))
        if len(bodies) > 1:
            route.continue_()
            return
        whole = route.fetch()
        pieces = whole.text().split("\n\n")
        route.fulfill(response=whole, body="\n\n".join(pieces[:3]) + "\n\n")

    page.route(STREAM, cut)
    type_and_send(site, page)

    page.wait_for_url("**/answers/*/")
    assert [bool(last) for last in bodies] == [False, True]
    assert payload_of(page)["outcome"] == "answered"


def test_the_question_stands_in_this_browsers_history(site: Site, page: Page) -> None:
    type_and_send(site, page)
    page.wait_for_url("**/answers/*/")
    asked = page.url

    page.goto(f"{site.url}/history/")

    expect(page.locator(f"a[href='{asked.removeprefix(site.url)}']").first).to_be_visible()


def test_when_settled_the_page_does_all_that_it_does_at_its_address(site: Site, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    type_and_send(site, page)
    page.wait_for_url("**/answers/*/")

    heading = page.get_by_role("columnheader", name="Finding")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    page.locator("[data-copy-answer]").click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith(SETS)
    page.get_by_label("Yes, it helped").check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
    term = page.locator(".sentence .term").first
    term.click()
    expect(page.locator(".meaning").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('#making, #question, #ask-form').length") == 3


def test_nothing_moves_from_the_question_to_the_settled_page(site: Site, page: Page) -> None:
    page.add_init_script(
        """
        window.shifts = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            window.shifts.push([entry.value, entry.sources.map((s) => s.node && (s.node.id || s.node.className))]);
        }).observe({ type: "layout-shift", buffered: true });
        """
    )
    type_and_send(site, page)
    page.wait_for_url("**/answers/*/")
    page.locator(".feedback").wait_for()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    assert [shift for shift in page.evaluate("window.shifts") if shift[0] > 0.01] == []
