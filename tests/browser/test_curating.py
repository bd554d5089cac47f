"""The desk as a new curator meets it, from a file to a retraction. `SHOTS=docs/images/curating` keeps pictures."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from corpus_app import indexing
from corpus_app.models import BulkEdit, ImportJob, Study
from corpus_app.roles import CURATORS, REVIEWERS
from tests import builders
from tests.browser.accessible import assert_accessible
from tests.browser.conftest import Watch
from tests.browser.site import Site
from tests.builders import make_curator, make_study
from tests.corpus.test_sources_formats import sample

RIS, JATS = (sample(f"rowing.{kind}") for kind in ("ris", "xml"))
DOIS = ("10.1000/rowing.ris", "10.1000/rowing.jats")
QUESTION = "Does foam rolling improve rowing performance?"

Shoot = Callable[[Page, str], object]


@pytest.fixture
def people(site: Site, settings: Any) -> Iterator[None]:
    """A curator, ada, and a reviewer, ben, with passwords; afterwards nothing is left of what they did."""
    settings.REVIEW_REQUIRED = True
    people = [make_curator("ada", role=CURATORS), make_curator("ben", role=REVIEWERS)]
    for person in people:
        person.set_password("rowing-at-dawn")
        person.save()
    yield
    Study.objects.filter(doi__startswith="10.1000/rowing").delete()
    ImportJob.objects.all().delete()
    BulkEdit.objects.all().delete()
    User.objects.filter(pk__in=[person.pk for person in people]).delete()


@pytest.fixture
def shoot() -> Shoot:
    """Keeps a picture of a page where a folder for them was named."""
    folder = os.environ.get("SHOTS")
    return lambda page, name: folder and page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")


def log_in(page: Page, site: Site, name: str) -> None:
    page.set_viewport_size({"width": 1100, "height": 760})
    page.goto(f"{site.url}/admin/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("rowing-at-dawn")
    page.get_by_role("button", name="Log in", exact=True).click()
    page.locator("#user-tools").wait_for()


def work() -> None:
    builders.work()
    indexing.index_stale()


def bring_in(page: Page, site: Site, name: str, content: str, shoot: Shoot) -> None:
    page.goto(f"{site.url}/admin/corpus_app/study/")
    page.get_by_role("link", name="Bring studies in").click()
    page.get_by_label("A file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content.encode()})
    shoot(page, "bring-in")
    page.get_by_role("button", name="Read it").click()
    work()
    page.get_by_label("Collection").select_option(index=1)
    shoot(page, "preview")
    page.get_by_role("button", name="Bring them in").click()
    work()
    page.get_by_role("heading", name="What came of it").wait_for()
    shoot(page, "report")


def open_study(page: Page, site: Site, doi: str, link: str) -> None:
    """Goes to a study of the desk and follows one of its buttons."""
    page.goto(f"{site.url}/admin/corpus_app/study/{Study.objects.get(doi=doi).pk}/change/")
    page.locator(".object-tools").get_by_role("link", name=link).click()


def confirm(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).click()
    page.locator(".messagelist .success").wait_for()


def test_file_to_retraction(site: Site, people: None, page: Page, browser: Browser, watch: Watch, shoot: Shoot) -> None:
    log_in(page, site, "ada")
    shoot(page, "front")

    # An article and a reference list come in.
    bring_in(page, site, "article.xml", JATS, shoot)
    bring_in(page, site, "rowing.ris", RIS, shoot)
    assert set(Study.objects.filter(doi__in=DOIS).values_list("status", flat=True)) == {"draft"}

    # The gate has found a sign that is none; it is mended.
    open_study(page, site, DOIS[0], "Text to mend (1)")
    shoot(page, "mend")
    assert_accessible(page, watch)  # of no page in `pages.py`
    confirm(page, "Accept this correction")
    expect(page.locator(".messagelist .success")).to_contain_text("Corrected in passage 1.")
    expect(page.get_by_role("heading", name="Text that looks broken")).to_have_count(0)

    # Both are handed over; the curator alone cannot publish them.
    for doi in DOIS:
        open_study(page, site, doi, "Hand over for review")
        confirm(page, "Hand over")
    page.locator(".object-tools").get_by_role("link", name="Publish").click()
    expect(page.get_by_text("publishing takes a reviewer")).to_be_visible()
    shoot(page, "not-alone")
    assert_accessible(page, watch)  # of no page in `pages.py`

    # Another person reads and publishes.
    other = browser.new_context()
    theirs = other.new_page()
    watch.attach(theirs)
    log_in(theirs, site, "ben")
    for doi in DOIS:
        open_study(theirs, site, doi, "Publish")
        shoot(theirs, "publish")
        confirm(theirs, "Publish")
    other.close()
    work()

    # A reader asks.
    site.ask(page, QUESTION)
    expect(page.locator(".headline .sentence")).to_contain_text("1.8 percent")
    address = page.url
    shoot(page, "answer")

    # The article is retracted: the desk says first what rests on it.
    open_study(page, site, DOIS[1], "Set notice")
    page.get_by_label("Notice").select_option("retracted")
    page.get_by_label("Reason").fill("Retracted by the journal: the data were lost.")
    expect(page.get_by_text("stored answer")).to_be_visible()
    shoot(page, "retract")
    confirm(page, "Set the notice")

    # The desk leads to what rested on it, and asks it again.
    page.get_by_role("link", name="See which, and ask again").click()
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option(label="Ask again")
    shoot(page, "ask-again")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator(".messagelist .success").first).to_contain_text(QUESTION)

    # The reader who comes back sees it before the answer.
    page.goto(address)
    expect(page.get_by_text("retracted").first).to_be_visible()
    shoot(page, "banner")
    site.ask(page, QUESTION)
    expect(page.get_by_text("1.8 percent")).to_have_count(0)


def press(page: Page, keys: str, *, goes_on: bool = False) -> None:
    """Press keys one after the other; the last one leads to another page if `goes_on`."""
    page.locator("#keys summary").wait_for()
    page.keyboard.type(keys[:-1])
    if not goes_on:
        return page.keyboard.press(keys[-1])
    with page.expect_navigation():
        page.keyboard.press(keys[-1])


def test_drafts_are_handed_over_by_keys_alone(site: Site, people: None, page: Page, watch: Watch, shoot: Shoot) -> None:
    ada = User.objects.get(username="ada")
    text = "Rowers who used a foam roller on most evenings slept twelve minutes longer (P B 0.05) than the others."
    sizes, row = (1, 2, 13), {"status": "draft", "assignee": ada, "takeaway": "T."}
    studies = [make_study(doi=f"10.1000/rowing.{n}", texts=[f"{text} {i}" for i in range(n)], **row) for n in sizes]
    log_in(page, site, "ada")
    page.goto(f"{site.url}/admin/")
    page.get_by_role("link", name="My queue").click()
    press(page, "j")
    shoot(page, "queue")
    assert_accessible(page, watch)  # of no page in `pages.py`
    press(page, "o", goes_on=True)
    for study in studies:
        expect(page).to_have_url(re.compile(f"/{study.pk}/change/"))
        if len(study.passages.all()) == 13:
            shoot(page, "study")
            assert_accessible(page, watch)  # of no page in `pages.py`
            press(page, "f13 passage")
            expect(page.locator("#passages-group .has_original:visible")).to_have_count(1)
            page.keyboard.press("Escape")
        press(page, "ba", goes_on=True)
        expect(page.locator(".messagelist .success")).to_contain_text("Corrected in passage 1")
        press(page, "wDoes foam rolling help rowers sleep?rp")
        page.keyboard.press("Escape")
        press(page, "s", goes_on=True)
        expect(page.locator("#id_asked_as")).to_have_value("Does foam rolling help rowers sleep?rp")
        press(page, "r", goes_on=True)
        expect(page.locator("input[type=submit]:focus")).to_have_value("Hand over")  # focused once it is drawn
        page.keyboard.press("Enter")
        expect(page.locator(".messagelist .success")).to_contain_text("Handed over")
        press(page, "n", goes_on=True)
    expect(page.get_by_text("No study comes after")).to_be_visible()
    assert Study.objects.filter(pk__in=[study.pk for study in studies], status="in_review").count() == len(studies)


def go(page: Page, button: str, *, goes_on: str) -> None:
    """Press a button, let the worker do what it asked for, and wait for the words of the page that follows."""
    page.get_by_role("button", name=button).click()
    page.wait_for_load_state()
    work()
    expect(page.get_by_text(goes_on).first).to_be_visible()


def choose_all(page: Page, site: Site, action: str) -> None:
    page.goto(f"{site.url}/admin/corpus_app/study/?q=rowers")
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option(label=action)
    page.get_by_role("button", name="Go", exact=True).click()


def test_many_at_once(site: Site, people: None, page: Page, watch: Watch, shoot: Shoot) -> None:
    title = "Foam rolling and the sleep of rowers: a trial of six weeks"
    records = [
        f"TY  - JOUR\nTI  - {words}\nPY  - 2021\nAU  - Oar, A. B.\n{more}AB  - Rowers slept longer.\nER  - \n"
        for words, more in ((title, "DO  - 10.1000/rowing.7\n"), (f"{title}s", ""), (f"{title} more", ""))
    ]
    log_in(page, site, "ada")

    # Two records of a file are alike; the search leads to one of them, which is another study.
    page.goto(f"{site.url}/admin/corpus_app/importjob/add/")
    file = {"name": "rowing.ris", "mimeType": "text/plain", "buffer": "\n".join(records).encode()}
    page.get_by_label("A file").set_input_files(file)
    page.get_by_role("button", name="Read it").click()
    work()
    expect(page.get_by_text("It may be the same as rowing.ris, line 1").first).to_be_visible()
    page.locator("#id_q").fill("six weekss")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("Found: 1.")).to_be_visible()
    shoot(page, "searched")
    page.get_by_role("button", name="Not the same").click()
    expect(page.locator("#id_q")).to_have_value("six weekss")
    page.get_by_label("Collection").select_option(index=1)
    go(page, "Bring them in", goes_on="Created: 2")

    # All are labelled together, which is undone after a confirmation.
    choose_all(page, site, "Edit together")
    page.locator("#id_labels_way").select_option("add")
    page.locator("#id_labels").fill("sleep")
    page.get_by_role("button", name="Preview").click()
    go(page, "Change 2 studies", goes_on="Changed: 2")
    page.get_by_role("button", name="Undo all of it").click()
    expect(page.get_by_text("2 would change")).to_be_visible()
    go(page, "Change 2 studies", goes_on="Changed: 2")
    rowing = Study.objects.filter(title__startswith=title)
    assert list(rowing.values_list("labels", flat=True)) == [[], []]

    # They are handed over together.
    choose_all(page, site, "Hand over for review")
    page.get_by_role("button", name="Hand over").click()
    page.locator(".messagelist .success").wait_for()
    assert set(rowing.values_list("status", flat=True)) == {"in_review"}
    rowing.delete()
