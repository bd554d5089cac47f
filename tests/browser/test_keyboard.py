"""All by keyboard alone, and for those who hear the page: where the focus is, that it is seen, what is told aloud."""

from itertools import groupby
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.pages import check_claims, stop_half_way
from tests.browser.site import SETS, WOMEN, Site, script

MOST_STOPS = 200
STOP = script("stop")


def go_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """From stop to stop until the target has the focus; every stop on the way is seen, and nothing covers it."""
    wanted = target.element_handle()
    for _ in range(MOST_STOPS):
        page.keyboard.press(key)
        stop = page.evaluate(STOP, wanted)
        if stop["name"].startswith("BODY"):  # from the last stop to the browser's own, and on to the first
            continue
        assert stop["isRinged"], f"not seen: {stop['name']}"
        assert stop["isUncovered"], f"covered: {stop['name']}"
        if stop["isThere"]:
            return
    raise AssertionError(f"not reached by {key}: {target}")


def spoken(page: Page) -> list[tuple[str, str]]:
    """What a screen reader is given: every text and region that is told when it changes, with how urgently."""
    session = page.context.new_cdp_session(page)
    nodes = {node["nodeId"]: node for node in session.send("Accessibility.getFullAXTree")["nodes"]}
    session.detach()

    def live(node: dict[str, Any] | None) -> str:
        if node is None:
            return ""
        own = [row["value"]["value"] for row in node.get("properties", ()) if row["name"] == "live"]
        return str(own[0]) if own else live(nodes.get(node.get("parentId", "")))

    told = [(live(n), n.get("name", {}).get("value") or n["role"]["value"]) for n in nodes.values() if not n["ignored"]]
    return [(how, what) for how, what in told if how]


def test_from_the_question_to_its_being_forgotten_without_a_pointer(site: Site, page: Page) -> None:
    page.goto(site.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    go_to(page, page.get_by_label("Your question"))
    page.keyboard.type(SETS)
    page.keyboard.press("Escape")  # what is offered meanwhile
    go_to(page, page.get_by_label("Beginner"))
    page.keyboard.press("ArrowDown")
    go_to(page, page.get_by_role("button", name="Ask", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/*/")
    expect(page.locator("#question-title")).to_be_focused()
    expect(page.locator(".question .eyebrow")).to_contain_text("Intermediate")
    first = page.url

    marker, panel = page.locator(".cite").first, page.get_by_role("dialog")
    go_to(page, marker)
    page.keyboard.press("Enter")
    expect(panel.locator("#panel-title")).to_be_focused()
    close = panel.get_by_role("button", name="Close")
    go_to(page, close, "Shift+Tab")
    page.keyboard.press("Shift+Tab")  # round, and not out of the panel
    expect(panel.locator("a").last).to_be_focused()
    page.keyboard.press("Tab")
    expect(close).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel).to_be_hidden()
    expect(marker).to_be_focused()

    study = page.locator(".study-title a").first
    go_to(page, study)
    page.keyboard.press("Enter")
    page.wait_for_url("**/studies/*/**")
    page.go_back()
    expect(study).to_be_focused()
    go_to(page, marker, "Shift+Tab")
    page.keyboard.press("Enter")
    expect(panel.locator("#panel-title")).to_be_focused()
    go_to(page, panel.get_by_role("link", name="See the whole study"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/studies/*/**")
    page.go_back()
    expect(marker).to_be_focused()

    go_to(page, page.get_by_label("Yes, it helped"))
    page.keyboard.press("Space")
    go_to(page, page.get_by_text("Say why, if you like"))
    page.keyboard.press("Enter")
    go_to(page, page.get_by_label("Clear and to the point"))
    page.keyboard.press("Space")
    go_to(page, page.get_by_role("button", name="Send"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you")).to_be_focused()

    go_to(page, page.locator("#follow-up"), "Shift+Tab")
    page.keyboard.type(WOMEN)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: address != first)
    expect(page.locator("#question-title")).to_be_focused()
    go_to(page, page.get_by_role("button", name="Compare with the answer"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?a=*&b=*")
    expect(page.locator("#compared-title")).to_be_focused()

    go_to(page, page.get_by_role("link", name="Your questions"))
    page.keyboard.press("Enter")
    expect(page.locator(".kept li")).to_have_count(3)
    go_to(page, page.get_by_role("button", name=f"Forget “{SETS}”"))
    page.keyboard.press("Enter")
    expect(page.locator(".kept li")).to_have_count(2)


PARTS_OF_STOPS = """() => [...document.querySelectorAll("main :is(a[href], button, input, select, textarea, summary)")]
  .filter((stop) => stop.tabIndex === 0 && stop.checkVisibility())
  .map((stop) => [stop.closest(".next") ? "below" : stop.closest(".rail") ? "right" : "left", stop.getBoundingClientRect()])
  .map(([part, box]) => [part, box.left >= 800 ? "right" : "left", box.top])"""


def test_the_left_column_is_gone_through_before_the_right_one(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(site.answer_to())
    stops = page.evaluate(PARTS_OF_STOPS)
    assert [part for part, _ in groupby(stops, lambda stop: stop[0])] == ["left", "right", "below"]
    assert all(column == ("right" if part == "right" else "left") for part, column, _ in stops if part != "below")
    assert min(top for part, _, top in stops if part == "below") > max(top for part, _, top in stops if part != "below")

    page.set_viewport_size({"width": 390, "height": 844})
    tops = page.evaluate(
        "[...document.querySelectorAll('.reading > *')].map((part) => part.getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)


def test_the_results_of_a_check_have_the_focus_and_keep_it(site: Site, page: Page) -> None:
    page.goto(site.url + "/claims/")

    check_claims(page)

    expect(page.locator("#claims-title")).to_be_focused()


def test_the_corpus_is_gone_through_without_a_pointer(site: Site, page: Page) -> None:
    page.goto(site.url + "/corpus/")
    go_to(page, page.get_by_role("searchbox"))
    page.keyboard.type("muscle")
    page.keyboard.press("Enter")
    page.wait_for_url("**/corpus/?q=muscle")
    go_to(page, page.get_by_role("group", name="Filters").get_by_role("link").first)
    page.keyboard.press("Enter")
    page.wait_for_url("**/corpus/?q=muscle&*")
    go_to(page, page.get_by_role("link", name="Remove").first)
    go_to(page, page.locator(".found a[href^='/studies/']").first)
    page.keyboard.press("Enter")
    page.wait_for_url("**/studies/*/")
    go_to(page, page.locator(".topics a").first)
    page.keyboard.press("Enter")
    page.wait_for_url("**/topics/*/")
    go_to(page, page.locator("main a").first)


def test_the_outcome_is_told_aloud_and_troubles_at_once(site: Site, page: Page, watch: Watch) -> None:
    watch.expected = ("net::ERR",)
    page.goto(site.url)
    assert spoken(page) == [("polite", "status")]

    site.ask(page)
    expect(page.get_by_role("status")).to_have_text("Answered")
    assert ("polite", "Answered") in spoken(page)
    page.context.set_offline(True)
    alert = page.get_by_role("alert").filter(has_text="You are offline.")
    alert.wait_for()
    assert ("assertive", alert.inner_text()) in spoken(page)
    page.context.set_offline(False)
    expect(page.locator("#trouble")).to_be_empty()
    expect(page.locator("#status")).to_have_text("You are online again.")


def test_sentences_are_told_aloud_as_they_come(site: Site, page: Page) -> None:
    page.goto(site.url)
    stop_half_way(page)

    words = page.locator(".making .sentence").first.evaluate("sentence => sentence.firstChild.textContent")
    assert ("polite", words) in spoken(page)
