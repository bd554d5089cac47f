"""The page of the API: everything on it comes from here, and nothing on it breaks the content policy (`conftest.Watch`)."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.site import Site


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
