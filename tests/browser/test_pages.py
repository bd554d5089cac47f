"""Pages in a browser: widths, motion, citations, the corpus, the page of the API."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from corpus_app.models import Finding
from tests.browser.pages import assert_no_wider, open_panel, stop_half_way
from tests.browser.site import STAND, Site
from tests.qa.payloads import make_citation, make_evidence, make_refusal, make_sentence


def test_a_long_word_makes_no_page_wider(site: Site, page: Page) -> None:
    for word in ("y" * 200, "https://example.org/" + "a-long/path_" * 6):
        evidence = [make_evidence(1, title=word, text=word)]
        for address in (
            f"{site.url}/?q={word}",
            site.stored(question=word, evidence=evidence, citations=[make_citation(1, title=word, population=word)]),
            site.stored(**make_refusal(question=word, evidence=evidence, message=word)),
            site.answer_to(word),
        ):
            page.goto(address)
            assert_no_wider(page, 1300, 700, 320)
            page.get_by_label("Your question").fill(word)
            assert_no_wider(page, 1300, 700, 320)


MOVING = """() => [...document.querySelectorAll("*")].filter((element) => {
  const { transitionDuration, animationName, animationDuration } = getComputedStyle(element);
  const longest = (durations) => Math.max(...durations.split(",").map(parseFloat));
  return longest(transitionDuration) > 0.001 || (animationName !== "none" && longest(animationDuration) > 0.001);
}).length"""


@pytest.mark.parametrize(("wish", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_readers_who_want_no_motion(site: Site, page: Page, wish: Any, moves: bool) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(reduced_motion=wish)
    page.goto(site.url)
    stop_half_way(page)
    assert (page.evaluate(MOVING) > 0) is moves

    page.goto(site.stored())
    open_panel(page)

    assert (page.evaluate(MOVING) > 0) is moves


def test_a_citation_leads_to_its_passage_on_the_page_of_the_study(site: Site, page: Page) -> None:
    page.goto(site.answer_to("how many sets should I do for muscle growth?"))
    quoting = page.locator(".sentence", has_text="Schoenfeld and colleagues concluded")
    quoting.locator(".cite").first.click()

    page.get_by_role("link", name="See the whole study").click()

    passage = page.locator(":target")
    expect(passage).to_be_in_viewport()
    expect(passage).to_have_class("passage")


def test_the_citation_of_a_count_leads_to_the_finding_that_was_counted(site: Site, page: Page) -> None:
    finding = Finding.objects.filter(study__study_id="S018").order_by("-position")[0]
    side = {"study_id": "S018", "finding_id": finding.pk, "statement": finding.statement}
    text = "The one review here found that it matters."
    counted = make_sentence(make_evidence(text=text), text, support=[{"finding_ids": [finding.pk]}])
    page.goto(site.stored(
        summary={"text": text, "sentences": [counted]},
        citations=[make_citation(1, study_id="S018")],
        agreement=STAND | {"favours": [side], "no_difference": []},
    ))  # fmt: skip
    page.locator(".summary .cite").first.click()
    expect(page.get_by_role("dialog").locator("mark")).to_have_text(finding.statement)

    page.get_by_role("link", name="See the whole study").click()

    row = page.locator(":target")
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text(finding.statement)


@pytest.mark.parametrize("reader", [False], indirect=True)
def test_search_choose_and_take_away(site: Site, reader: Page) -> None:
    reader.goto(site.url)
    reader.get_by_role("navigation", name="Site").get_by_role("link", name="Corpus").click()

    reader.get_by_role("searchbox").fill("muscle")
    reader.get_by_role("searchbox").press("Enter")
    expect(reader).to_have_url(re.compile(r"\?q=muscle$"))
    reader.get_by_role("group", name="Filters").get_by_role("link", name=re.compile("^Meta-analysis")).click()
    expect(reader).to_have_url(re.compile(r"q=muscle&design=meta_analysis"))
    everything = reader.locator("#results-title").inner_text()
    reader.get_by_label("From").fill("2020")
    reader.get_by_role("button", name="Set years").click()
    expect(reader).to_have_url(re.compile(r"design=meta_analysis.*from=2020"))

    reader.get_by_role("link", name="Remove Years: from 2020").click()
    expect(reader.locator("#results-title")).to_have_text(everything)
    reader.get_by_role("link", name="Remove all").click()
    expect(reader).to_have_url(site.url + "/corpus/")


def test_filters_are_folded_on_a_phone_and_open_on_a_desk(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url + "/corpus/")
    expect(page.get_by_role("group", name="Filters")).to_be_hidden()
    page.get_by_text("Filters", exact=True).press("Enter")
    expect(page.get_by_role("group", name="Filters")).to_be_visible()

    page.set_viewport_size({"width": 1280, "height": 900})
    page.reload()
    expect(page.get_by_role("group", name="Filters")).to_be_visible()


def test_a_topic_leads_to_its_neighbours_and_studies(site: Site, view: Page) -> None:
    topic = site.url + "/topics/hypertrophy/"
    view.goto(topic)
    first = view.locator(".fan a").first
    address = first.get_attribute("href")
    first.locator("text").click()
    expect(view).to_have_url(f"{site.url}{address}")
    expect(view.locator("h1")).to_be_visible()

    view.goto(topic)
    assert view.locator(".fan a:not([tabindex='-1'])").count() == 0  # the keyboard finds them in the list
    view.locator(".neighbours a").first.focus()
    view.keyboard.press("Enter")
    expect(view).not_to_have_url(topic)

    view.goto(site.url + "/studies/S018/")
    view.locator(".topics a", has_text="muscle hypertrophy").click()
    expect(view.locator("h1")).to_have_text("Muscle hypertrophy")
    view.locator(".found a[href='/studies/S018/']").click()
    expect(view).to_have_url(f"{site.url}/studies/S018/")


def test_the_page_of_the_api_shows_every_operation_and_tries_one(site: Site, view: Page) -> None:
    view.goto(site.url + "/api/v1/docs/")
    operations = view.locator(".opblock")
    operations.first.wait_for()
    described = view.request.get(f"{site.url}/api/v1/schema").json()["paths"]
    assert operations.count() == sum(len(found) for found in described.values())

    view.get_by_text("Ask a question", exact=True).click()
    view.get_by_text("A refusal is an answer too").wait_for()
    view.get_by_text("Ask a question", exact=True).click()
    view.get_by_text("Whether the site can answer", exact=True).click()
    view.get_by_role("button", name="Try it out").click()
    view.get_by_role("button", name="Execute").click()

    view.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
