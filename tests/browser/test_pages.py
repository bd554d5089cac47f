"""The pages of answers: no wider than the screen, still for readers who ask for it, each citation at its place."""

from __future__ import annotations

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


def test_a_collection_that_is_no_more_is_not_asked_again(site: Site, page: Page) -> None:
    page.goto(site.stored(collection="no-more"))
    page.get_by_role("button", name="Ask for more detail").click()
    expect(page.get_by_role("button", name="Ask in plain words")).to_be_visible()
    assert payload_of(page)["mode"] == "intermediate"


def test_a_citation_leads_to_its_passage_on_the_page_of_the_study(site: Site, page: Page) -> None:
    page.goto(site.answer_to())
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
    page.goto(
        site.stored(
            summary={"text": text, "sentences": [counted]},
            citations=[make_citation(1, study_id="S018")],
            agreement=STAND | {"favours": [side], "no_difference": []},
        )
    )
    page.locator(".summary .cite").first.click()
    expect(page.get_by_role("dialog").locator("mark")).to_have_text(finding.statement)

    page.get_by_role("link", name="See the whole study").click()

    row = page.locator(":target")
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text(finding.statement)
