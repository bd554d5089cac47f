"""A reader asks, reads, and opens the words behind a sentence."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Watch
from tests.browser.site import PIZZA, SETS, STAND, Site, payload_of

PHONE = {"width": 390, "height": 844}
START = "Answers you can check"


def wait_until_no_panel_is_in_the_history(page: Page) -> None:
    """Asked from here: to wait in the page, a string would have to be made into code, which the site forbids."""
    for _ in range(200):
        if not page.evaluate("() => Boolean(history.state && history.state.panel)"):
            return
        page.wait_for_timeout(25)
    raise AssertionError("The panel is still in the history.")


def test_a_question_is_answered_from_the_corpus_without_a_reload(site: Site, page: Page) -> None:
    page.goto(site.url)
    page.evaluate("window.stillHere = true")

    page.get_by_label("Your question").fill(SETS)
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/*/")

    heading = page.get_by_role("heading", level=1, name=SETS)
    expect(heading).to_be_focused()
    assert page.evaluate("window.stillHere") is True
    assert page.title().startswith(SETS)
    expect(page.locator(".site-header [aria-current]")).to_have_count(0)
    shown = payload_of(page)
    assert shown["outcome"] in {"answered", "partial", "conflicting"}
    opening = shown["headline"]["text"]
    rest = [row["text"] for row in shown["summary"]["sentences"] if row["text"] != opening]  # it is not said again
    said = {"headline": [opening], "summary": rest, "answer": [row["text"] for row in shown["answer"]["sentences"]]}
    for part, sentences in said.items():
        texts = page.locator(f".{part} .sentence").all_inner_texts()
        assert len(texts) == len(sentences) > 0
        for text, sentence in zip(texts, sentences, strict=True):
            assert text.startswith(sentence)
    score = page.get_by_text(f"{shown['confidence']['score']} out of 100")
    expect(score.locator("visible=true").first).to_be_visible()


def test_a_marker_opens_the_passage_with_exactly_the_quoted_words_marked(site: Site, page: Page) -> None:
    site.ask(page)
    shown = payload_of(page)
    span = shown["answer"]["sentences"][0]["support"][0]
    passage = next(row for row in shown["evidence"] if row["passage_id"] == span["passage_id"])

    marker = page.locator(".answer .cite").first
    marker.click()

    panel = page.get_by_role("dialog")
    expect(panel.get_by_role("heading", level=2)).to_be_focused()
    expect(panel.locator("mark")).to_have_text(span["quote"])
    expect(panel.locator("blockquote")).to_have_text(passage["text"])
    assert passage["text"][span["start"] : span["end"]] == span["quote"]
    expect(panel.get_by_text("Curator’s summary")).to_be_visible()
    assert page.url.endswith(shown["url"])

    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(marker).to_be_focused()


def test_markers_and_marks_open_the_panel_in_turn(site: Site, page: Page) -> None:
    page.goto(site.stored(agreement=STAND))
    markers, marks, panel = page.locator(".answer .cite"), page.locator(".mark"), page.get_by_role("dialog")
    quotes = ("Few sets still build muscle.", "than those who ate 0.8 g/kg.")
    for number, quote in enumerate(quotes):
        markers.nth(number).click()
        expect(panel.locator("mark")).to_have_text(quote)
    expect(page.locator(".cite[aria-current]")).to_have_count(1)
    panel.get_by_role("button", name="Close").click()
    expect(markers.nth(1)).to_be_focused()

    expect(marks).to_have_count(2)
    marks.nth(1).focus()
    page.keyboard.press("Enter")
    expect(panel.locator("mark")).to_have_text(quotes[1])
    page.keyboard.press("Escape")
    expect(marks.nth(1)).to_be_focused()
    expect(page.locator(".mark[aria-current]")).to_have_count(0)


def test_when_the_words_cannot_be_made_the_link_leads_to_their_page(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("status of 500", "Response Status Error")
    page.goto(site.stored())

    def fail(route: Route) -> None:
        route.fulfill(status=500) if "hx-request" in route.request.headers else route.continue_()

    page.route("**/citations/**", fail)
    page.locator(".answer .cite").first.click()

    page.wait_for_url("**/citations/answer/1/1/")
    expect(page.locator("mark")).to_have_text("Few sets still build muscle.")


def test_offline_the_answer_stays_and_says_what_cannot_be_fetched(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("net::ERR_INTERNET_DISCONNECTED", "htmx:")
    address = site.stored()
    page.goto(address)
    page.context.set_offline(True)

    page.locator(".answer .cite").first.click()

    alert, why = page.get_by_role("alert"), "You are offline. Please try again in a moment."
    expect(alert).to_have_text(f"Source [1] could not be opened. {why}")
    page.get_by_role("button", name="Ask for more detail").click()
    expect(alert).to_have_text(f"The answer could not be fetched. {why}")
    assert page.url == address
    page.context.set_offline(False)
    page.locator(".answer .cite").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("#trouble")).to_be_empty()


@pytest.mark.parametrize("is_asked", [True, False], ids=["asked", "opened"])
def test_on_a_phone_back_closes_the_panel_and_stays_with_the_answer(site: Site, page: Page, is_asked: bool) -> None:
    page.set_viewport_size(PHONE)
    if is_asked:
        site.ask(page)
    else:
        page.goto(site.url)
        page.goto(site.stored())
    address, panel, marker = page.url, page.get_by_role("dialog"), page.locator(".answer .cite").first
    page.evaluate("window.stillHere = true")

    for close in (page.go_back, lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(195, 20)):
        marker.click()
        expect(panel).to_be_visible()
        assert panel.evaluate("dialog => dialog.matches(':modal')")
        close()
        expect(panel).to_be_hidden()
        expect(marker).to_be_focused()
        wait_until_no_panel_is_in_the_history(page)
    page.go_forward()
    expect(panel).to_be_visible()
    page.go_back()
    expect(panel).to_be_hidden()
    assert page.evaluate("window.stillHere") is True
    if is_asked:  # and so from a study
        marker.click()
        panel.get_by_role("link", name="See the whole study").click()
        page.wait_for_url("**/studies/**")
        page.go_back()
        expect(page.locator("#question-title")).to_be_visible()
        wait_until_no_panel_is_in_the_history(page)
    assert page.url == address

    page.go_back()
    expect(page.get_by_role("heading", name=START)).to_be_visible()
    page.go_forward()
    expect(marker).to_be_visible()


def test_an_example_is_asked_by_one_click_in_the_chosen_mode(site: Site, page: Page) -> None:
    page.goto(site.url)
    page.get_by_label("Intermediate").check()

    page.get_by_role("button", name="How many sets per week for muscle growth?").click()
    page.wait_for_url("**/answers/*/")

    assert payload_of(page)["mode"] == "intermediate"


@pytest.mark.parametrize("start", ["ask", "answer"])
def test_an_unfit_question_stays_in_the_form(site: Site, page: Page, watch: Watch, start: str) -> None:
    watch.expected = ("status of 400", "htmx:")
    page.goto(site.url if start == "ask" else site.stored())
    address = page.url
    box = page.get_by_label("Your question")
    box.fill("\u200b \u200b")

    page.get_by_role("button", name="Ask", exact=True).click()

    expect(page.locator("#question-error")).to_have_text("Please type a question.")
    expect(box).to_be_focused()
    expect(box).to_have_value("\u200b \u200b")
    assert page.url == address
    expect(page.locator(".answer")).to_have_count(1 if start == "answer" else 0)


def test_a_page_out_of_date_says_so_and_its_reload_keeps_the_question(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("status of 403", "Response Status Error")
    page.add_init_script("delete window.ReadableStream")  # an older browser, whose script sends the form
    page.goto(site.stored())
    page.context.clear_cookies()
    page.get_by_label("Intermediate").check()  # before the question is typed: what is suggested then lies over it
    page.get_by_label("Your question").fill(SETS)

    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("out of date. Reload it: your question stays in the box.")
    page.get_by_label("Your question").press_sequentially("!")
    page.get_by_role("button", name="Reload").click()

    expect(page.locator("#trouble")).to_be_empty()
    expect(page.get_by_label("Your question")).to_have_value(SETS + "!")
    expect(page.get_by_label("Intermediate")).to_be_checked()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url("**/answers/*/")
    expect(page.locator("#question-title")).to_have_text(SETS + "!")


@pytest.mark.parametrize("reader", [False], indirect=True)
def test_without_script_one_asks_reads_and_opens_the_words(site: Site, reader: Page) -> None:
    site.ask(reader)
    span = payload_of(reader)["answer"]["sentences"][0]["support"][0]

    reader.locator(".answer .cite").first.click()

    expect(reader.locator("mark")).to_have_text(span["quote"])
    reader.get_by_role("link", name="Back to the answer").click()
    expect(reader.get_by_role("heading", level=1, name=SETS)).to_be_visible()
    reader.get_by_text("What was searched").click()
    expect(reader.get_by_text("How it was made")).to_be_visible()
    reader.get_by_label("Your question").fill(PIZZA)
    reader.get_by_role("button", name="Ask", exact=True).click()
    expect(reader.get_by_role("heading", level=1, name=PIZZA)).to_be_visible()
