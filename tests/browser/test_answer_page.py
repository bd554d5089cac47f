"""An answer in a browser: terms, marks, table, feedback, copies, paper, follow-ups, comparing, own questions."""

import io
import re

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from qa_app.models import Feedback
from tests.browser.pages import open_folds
from tests.browser.site import COUNTED, SETS, SHOES, STAND, SUBJECT, TERM, WOMEN, Site, payload_of


@pytest.fixture
def answer(site: Site) -> str:
    return site.stored(definitions=[TERM], agreement=STAND)


def test_a_hard_term_explains_itself_by_pointer_and_by_keyboard(page: Page, answer: str) -> None:
    page.goto(answer)
    term, meaning = page.get_by_role("button", name="Few sets").first, page.locator(".meaning").first
    expect(meaning).to_be_hidden()

    term.click()
    expect(meaning).to_contain_text("Up to four sets a week for a muscle.")
    expect(meaning).to_be_visible()
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()

    term.focus()
    page.keyboard.press("Enter")
    expect(meaning).to_be_visible()


WITHOUT_SCRIPT = pytest.mark.parametrize("reader", [False], indirect=True)
"""What the page does with script is tried in test_streaming.py and test_keyboard.py."""


@WITHOUT_SCRIPT
def test_an_answer_works_without_script(reader: Page, answer: str) -> None:
    reader.goto(answer)
    reader.get_by_role("button", name="Few sets").first.click()
    expect(reader.locator(".meaning").first).to_be_visible()
    reader.keyboard.press("Escape")
    reader.get_by_text("All findings in a table").click()
    expect(reader.locator(".evidence-table")).to_be_visible()
    expect(reader.locator(".evidence-table button")).to_have_count(0)

    reader.get_by_label("Yes, it helped").check()
    reader.get_by_role("button", name="Send").click()
    expect(reader.get_by_role("heading", name="Thank you")).to_be_visible()

    reader.get_by_role("button", name="Ask again").first.click()
    expect(reader.get_by_role("heading", name="Asked again: what has changed")).to_be_visible()


def test_headings_sort_the_table_and_a_phones_cells_say_what_they_are(page: Page, answer: str) -> None:
    page.goto(answer)
    page.get_by_text("All findings in a table").click()
    findings = page.locator(".evidence-table td[data-label=Finding]")
    heading = page.get_by_role("columnheader", name="Finding")

    heading.get_by_role("button").click()
    expect(findings).to_have_text(["A dose made no difference.", "Ten sets beat five."])
    expect(heading).to_have_attribute("aria-sort", "ascending")

    heading.get_by_role("button").press("Enter")
    expect(findings).to_have_text(["Ten sets beat five.", "A dose made no difference."])
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("status")).to_have_text("Sorted by finding, descending.")

    page.set_viewport_size({"width": 390, "height": 844})
    row = page.locator(".evidence-table tbody tr").first
    boxes = [cell.bounding_box() for cell in row.locator("td").all()]
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    label = row.locator("td[data-label=Direction]").evaluate("cell => getComputedStyle(cell, '::before').content")
    assert "Direction" in label


def test_feedback_is_thanked_for_in_place_and_can_be_changed(page: Page, answer: str) -> None:
    page.goto(answer)
    page.evaluate("window.stillHere = true")
    page.get_by_label("Yes, it helped").check()
    page.get_by_text("Say why, if you like").click()
    page.get_by_label("Clear and to the point").check()
    page.get_by_label("In your own words").fill("<b>Good</b>")
    page.get_by_role("button", name="Send").click()

    expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
    page.get_by_text("Change your feedback").click()
    expect(page.get_by_label("In your own words")).to_have_value("<b>Good</b>")
    page.locator("#feedback").get_by_label("No", exact=True).check()
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_role("button", name="Change it")).to_be_hidden()

    answer_id = answer.rstrip("/").rpartition("/")[2]
    rows = Feedback.objects.filter(answer=answer_id)
    assert [(row.is_helpful, row.reasons, row.words) for row in rows] == [(False, ["clear"], "<b>Good</b>")]
    assert page.evaluate("window.stillHere") is True


def test_an_answer_is_copied_with_its_markers_and_sources_or_as_its_link(page: Page, answer: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(answer)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == answer

    page.evaluate("document.querySelector('.sources .study-title').innerHTML += '<span class=like-me>Like you</span>'")
    page.get_by_role("button", name="Copy with citations").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert "Few sets still build muscle. [1]" in copied
    assert "Up to four sets" not in copied
    assert "[2] Weekly sets and muscle growth, review 2" in copied
    assert copied.count("10.1000/test.2") == copied.count("https://doi.org/10.1000/test.2") == 1
    assert "Like you" not in copied
    for part in (".question .outcome .badge", ".strength h2", ".headline .chip", ".whose", ".sources .facts span"):
        assert all(" ".join(text.split()) in copied for text in page.locator(part).all_text_contents()), part
    assert "The passages are curators’ summaries, not the studies’ own words." in copied
    assert answer in copied

    page.get_by_text("Cite this answer").click()
    expect(page.locator("#cite-line")).to_contain_text("from corpus version 12")
    expect(page.locator("#cite-line")).to_contain_text(answer)


RUN_OVER = """() => [...document.querySelectorAll("main details :is(dl, ul, ol, p, table, section)")]
  .filter((part) => part.scrollHeight > part.clientHeight + 4 && getComputedStyle(part).display !== "inline")
  .map((part) => `${part.localName}.${part.className}`)"""


def test_what_is_unfolded_does_not_run_over_what_follows(site: Site, page: Page) -> None:
    for question in (SETS, COUNTED):
        page.goto(site.answer_to(question))
        open_folds(page)
        assert page.locator("main details[open]").count() > 2
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate(RUN_OVER) == [], width


def printed(page: Page) -> str:
    pdf = PdfReader(io.BytesIO(page.pdf(format="A4")))
    return "".join("".join(sheet.extract_text() for sheet in pdf.pages).split())


def test_paper_has_what_is_read_and_the_open_folds_and_nothing_that_is_done(site: Site, page: Page) -> None:
    page.goto(site.answer_to())
    shown = payload_of(page)
    sentences = [row["text"] for part in ("summary", "answer") for row in shown[part]["sentences"]]
    references = [words for one in shown["citations"] for words in (one["title"], one["doi"] and f"doi:{one['doi']}")]
    strength = [reason["text"] for reason in shown["evidence_strength"]["reasons"]]
    facts = (page.url, "from corpus version", "Strength of the evidence")
    passages = [passage["text"][:60] for passage in shown["evidence"] if passage["text"][:60] not in "".join(sentences)]

    text = printed(page)

    for words in (*sentences, *references, *strength, *facts):
        assert not words or words.replace(" ", "") in text, words
    for words in (
        "Skip to the content", "Ask another question", "Ask a follow-up", "Did this help", "Copy link", "How it works",
        "with the words of your", "Narrow this answer", "people like you", "Related topics", "The studies also answer",
        "Follow this question", "<iframe", "The passages behind it", *passages,
    ):  # fmt: skip
        assert words.replace(" ", "") not in text, words
    open_folds(page)
    text = printed(page)
    assert passages
    for words in passages:
        assert words.replace(" ", "") in text


def follow(page: Page, question: str = WOMEN) -> None:
    section = page.get_by_role("region", name="Ask a follow-up")
    section.get_by_role("textbox").fill(question)
    section.get_by_role("button", name="Ask this").click()
    page.get_by_text("You asked about").wait_for()


@WITHOUT_SCRIPT
def test_a_follow_up_keeps_the_subject_and_can_be_asked_alone(site: Site, reader: Page) -> None:
    site.ask(reader)

    follow(reader)

    assert reader.url.endswith("#question-title")  # below what was asked before
    expect(reader.locator(".understood")).to_contain_text(f"You asked about {SUBJECT}.")
    thread = reader.get_by_role("region", name="The questions before")
    expect(thread.locator(".asked")).to_have_text([SETS])
    expect(thread.locator("li")).to_contain_text("[1]")
    reader.get_by_role("button", name="Ask it alone").click()
    expect(reader.locator(".understood")).to_have_count(0)
    expect(reader.locator("#question-title")).to_have_text(WOMEN)


@WITHOUT_SCRIPT
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


@WITHOUT_SCRIPT
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


def test_studies_about_people_like_the_reader_are_marked_and_nothing_is_sent(page: Page, site: Site) -> None:
    sent: list[str] = []
    page.goto(site.answer_to(SETS))
    page.on("request", lambda request: None if "/static/" in request.url else sent.append(request.url))
    panel, marks = page.locator("[data-for-me]"), page.locator("li .badge.like-me")
    expect(marks).to_have_count(0)

    panel.locator("summary").press("Enter")
    panel.get_by_label("Sex").select_option("Women")
    marked = page.locator('li[data-about~="sex:female"]').count()
    mixed = page.locator('li[data-about~="sex:female"][data-about~="sex:both"]').count()
    assert marked >= mixed > 0
    expect(marks).to_have_count(marked)
    expect(page.locator("li .badge.like-me.mixed")).to_have_text(["People like you among others"] * mixed)
    expect(panel.get_by_role("status")).to_contain_text(f"About people like you: {marked - mixed} of the")
    expect(panel.get_by_role("status")).to_contain_text(f"With people like you among others: {mixed}.")
    assert sent == []

    page.reload()
    expect(marks).to_have_count(marked)
    assert not any("female" in url for url in sent)

    panel.locator("summary").press("Enter")
    panel.get_by_role("button", name="Clear").press("Enter")
    expect(marks).to_have_count(0)
    expect(panel.locator("[data-like-me-count]")).to_be_empty()
    assert page.evaluate("localStorage.length") == 0


@WITHOUT_SCRIPT
def test_an_answer_is_narrowed_without_script_and_each_filter_is_dropped_by_a_link(reader: Page, site: Site) -> None:
    reader.goto(site.answer_to(SETS))
    expect(reader.locator("[data-for-me]")).to_be_hidden()
    reader.get_by_text("Narrow this answer").click()
    reader.locator(".narrowing").get_by_label("From").fill("2500")
    reader.get_by_role("button", name="Ask these studies").click()

    expect(reader).to_have_url(re.compile(r"/answers/[^/]+/\?from=2500$"))
    expect(reader.locator(".outcome")).to_contain_text("No study that fits these filters")
    reader.get_by_role("link", name="Remove from 2500").click()
    expect(reader).to_have_url(re.compile(r"/answers/[^/]+/$"))
    expect(reader.locator(".prose .headline")).to_be_visible()
