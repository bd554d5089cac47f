"""Browse, search and follow the corpus in a browser: by keyboard and without script, for every eye, width and scheme."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from corpus_app import curation
from corpus_app.models import Passage
from tests.browser.conftest import Watch
from tests.browser.pages import open_folds
from tests.browser.site import Site
from tests.browser.test_pages import HOSTILE
from tests.builders import make_finding, make_study


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_search_choose_and_take_away(site: Site, browser: Browser, watch: Watch, has_script: bool) -> None:
    context = browser.new_context(java_script_enabled=has_script, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    watch.attach(page)
    page.goto(site.url)
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Corpus").click()

    page.get_by_role("searchbox").fill("muscle")
    page.get_by_role("searchbox").press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=muscle$"))
    page.get_by_role("group", name="Filters").get_by_role("link", name=re.compile("^Meta-analysis")).click()
    expect(page).to_have_url(re.compile(r"q=muscle&design=meta_analysis"))
    everything = page.locator("#results-title").inner_text()
    page.get_by_label("From").fill("2020")
    page.get_by_role("button", name="Set years").click()
    expect(page).to_have_url(re.compile(r"design=meta_analysis.*from=2020"))

    page.get_by_role("link", name="Remove Years: from 2020").click()
    expect(page.locator("#results-title")).to_have_text(everything)
    page.get_by_role("link", name="Remove all").click()
    expect(page).to_have_url(site.url + "/corpus/")
    context.close()


def test_filters_are_folded_on_a_phone_and_open_on_a_desk(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url + "/corpus/")
    expect(page.get_by_role("group", name="Filters")).to_be_hidden()
    page.get_by_text("Filters", exact=True).press("Enter")
    expect(page.get_by_role("group", name="Filters")).to_be_visible()

    page.set_viewport_size({"width": 1280, "height": 900})
    page.reload()
    expect(page.get_by_role("group", name="Filters")).to_be_visible()


def test_the_picture_of_a_topic_leads_to_its_neighbours(site: Site, page: Page) -> None:
    page.goto(site.url + "/topics/hypertrophy/")
    first = page.locator(".fan a").first
    address = first.get_attribute("href")

    first.locator("text").click()

    expect(page).to_have_url(f"{site.url}{address}")
    expect(page.locator("h1")).to_be_visible()


def test_keyboard_reaches_the_list_and_not_the_picture_twice(site: Site, page: Page) -> None:
    page.goto(site.url + "/topics/hypertrophy/")

    assert page.locator(".fan a:not([tabindex='-1'])").count() == 0
    page.locator(".neighbours a").first.focus()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(f"{site.url}/topics/hypertrophy/")


def test_a_study_leads_to_its_topic_and_back(site: Site, page: Page) -> None:
    page.goto(site.url + "/studies/S018/")

    page.locator(".topics a", has_text="muscle hypertrophy").click()
    expect(page.locator("h1")).to_have_text("Muscle hypertrophy")
    page.locator(".found a[href='/studies/S018/']").click()

    expect(page).to_have_url(f"{site.url}/studies/S018/")


def test_hostile_text_is_only_text(site: Site, page: Page) -> None:
    titles = {f"HOSTILE{number}": " ".join(text[:900].split()) for number, text in enumerate(HOSTILE)}
    for (study_id, title), text in zip(titles.items(), HOSTILE, strict=True):
        study = make_study(
            study_id=study_id, title=title, authors=[text[:200]], journal=text[:400], population=text,
            texts=("The men used a spokeshave every day for a year.",), status="draft",
        )  # fmt: skip
        make_finding(study, statement=text, intervention=text, comparator=text, outcome=text)
    curation.publish(titles, by=None, by_name="a test")
    for study_id, text in zip(titles, HOSTILE, strict=True):  # past the gate that keeps broken texts from readers
        Passage.objects.filter(study__study_id=study_id).update(text=f"{text} spokeshave.")
    page.set_viewport_size({"width": 320, "height": 640})
    try:
        for address in ("/corpus/?q=spokeshave", "/changes/", *(f"/studies/{study_id}/" for study_id in titles)):
            page.goto(site.url + address)
            open_folds(page)
            shown = page.locator("main").inner_text()
            for study_id in titles if "/studies/" not in address else [address.split("/")[2]]:
                assert titles[study_id] in shown, address
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, address
    finally:
        curation.withdraw(titles, by=None, by_name="a test", reason="It was a test.")


def test_hostile_words_in_the_address_are_only_words(site: Site, page: Page) -> None:
    page.goto(site.url + "/corpus/")

    for text in HOSTILE:
        page.get_by_role("searchbox").fill(text)
        page.get_by_role("searchbox").press("Enter")
        expect(page.get_by_role("searchbox")).to_have_value(text[:200].strip())
