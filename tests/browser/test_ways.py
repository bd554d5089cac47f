"""The other ways on, with script and without: a follow-up and its detaching, comparing, own questions."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.site import COUNTED, MEANT, SETS, SHOES, WOMEN, Site


def follow(page: Page, question: str = WOMEN) -> None:
    section = page.get_by_role("region", name="Ask a follow-up")
    section.get_by_role("textbox").fill(question)
    section.get_by_role("button", name="Ask this").click()
    page.get_by_text("Understood as:").wait_for()


def test_a_follow_up_keeps_the_subject_and_can_be_asked_alone(site: Site, reader: Page) -> None:
    site.ask(reader)

    follow(reader)

    expect(reader.locator(".understood strong")).to_have_text(MEANT)
    expect(reader.get_by_role("navigation", name="The questions before").get_by_role("link")).to_have_text([SETS])
    reader.get_by_role("button", name="Ask it alone").click()
    expect(reader.locator(".understood")).to_have_count(0)
    expect(reader.locator("#question-title")).to_have_text(WOMEN)


def test_one_question_in_both_modes_stands_side_by_side(site: Site, reader: Page) -> None:
    site.ask(reader)

    reader.get_by_role("button", name="Compare with the answer").click()
    reader.wait_for_url("**/compare/?a=*&b=*")

    expect(reader.locator(".sides .eyebrow").nth(0)).to_contain_text("Answer A · Beginner")
    expect(reader.locator(".sides .eyebrow").nth(1)).to_contain_text("Answer B · Intermediate")
    assert reader.locator(".differences li").count() >= 1
    sides, heading = reader.locator(".comparison .sides"), reader.locator(".comparison h3").first
    assert sides.evaluate("sides => parseFloat(getComputedStyle(sides).columnGap)") == 32
    assert heading.evaluate("heading => parseFloat(getComputedStyle(heading).marginTop)") == 24
    reader.set_viewport_size({"width": 390, "height": 844})
    reader.get_by_role("link", name="answer B", exact=True).click()
    expect(reader.locator("#B")).to_be_in_viewport()


def test_own_questions_are_listed_compared_and_forgotten(site: Site, reader: Page) -> None:
    for question in (SETS, SHOES, COUNTED):
        site.ask(reader, question)
    reader.get_by_role("link", name="Your questions").click()

    questions = reader.locator(".kept li p:first-child a")
    expect(questions).to_have_text([COUNTED, SHOES, SETS])
    for question in (SETS, SHOES):
        reader.get_by_role("checkbox", name=question).focus()
        reader.keyboard.press("Space")
    reader.get_by_role("button", name="Compare selected").press("Enter")
    expect(reader.locator(".sides h2")).to_have_text([SHOES, SETS])
    assert "/compare/?a=" in reader.url

    reader.get_by_role("link", name="Your questions").click()
    reader.get_by_role("button", name=f"Forget “{SHOES}”").click()
    expect(questions).to_have_text([COUNTED, SETS])
    reader.get_by_role("button", name="Clear the list").click()
    expect(reader.get_by_text("You have not asked anything in this browser yet")).to_be_visible()
