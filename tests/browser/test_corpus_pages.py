"""Browse, search and follow the corpus in a browser: by keyboard and without script, for every eye, width and scheme."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.site import Site


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
