"""The page of the API: everything on it comes from here, and nothing on it breaks the content policy (`conftest.Watch`)."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.site import Site

ADDRESS = "/api/v1/docs/"


def test_the_page_of_the_api_shows_every_operation_and_opens_one(site: Site, page: Page) -> None:
    page.goto(site.url + ADDRESS)

    operations = page.locator(".opblock")
    operations.first.wait_for()
    described = page.request.get(f"{site.url}/api/v1/schema").json()["paths"]
    assert operations.count() == sum(len(found) for found in described.values())

    page.get_by_text("Ask a question", exact=True).click()
    page.get_by_text("A refusal is an answer too").wait_for()


def test_a_request_can_be_tried_on_the_page(site: Site, page: Page) -> None:
    page.goto(site.url + ADDRESS)
    page.get_by_text("Whether the site can answer", exact=True).click()

    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()

    page.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
