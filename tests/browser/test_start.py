"""An empty desk becomes a site that answers: the six steps once, without script. `SHOTS=folder` keeps pictures."""

import io
import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from playwright.sync_api import Browser, Page, expect

from corpus_app import roles, search
from corpus_app.models import CorpusEvent, Study
from corpus_app.search import versions
from qa_app.models import CorpusCalibration, GoldenQuestion
from qa_app.tasks import calibrate_corpus
from tests.browser.accessible import STOCK, assert_accessible
from tests.browser.conftest import Watch, prepared
from tests.browser.html import find_faults
from tests.browser.pages import assert_no_wider
from tests.browser.site import Site
from tests.browser.test_curating import log_in, work
from tests.builders import make_curator
from tests.snapshots import Rows, copied

GARDEN = Path(__file__).parents[2] / "examples/garden/studies"
SECTIONS = ("When to sow", "Tips", "Our history", "About us")
SIZES = {"phone": (390, 844), "desk": (1280, 860)}
KEPT = {"django_content_type", "auth_permission", "auth_group", "auth_group_permissions"}


@pytest.fixture
def empty_desk(site: Site) -> Iterator[Site]:
    """The site without a row, and a curator, ada; afterwards everything is as it was."""
    models = [m for m in apps.get_models(include_auto_created=True) if m._meta.managed and m._meta.db_table not in KEPT]
    before = Rows({model._meta.db_table: copied(model) for model in models})
    _empty(before)
    ada = make_curator("ada", role=roles.CURATORS)
    ada.set_password("rowing-at-dawn")
    ada.save()
    yield site
    _empty(before)
    before.restore()
    versions.cache.clear()


def _empty(rows: Rows) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(rows.tables)} CASCADE")
    versions.cache.clear()


def pages_of_garden() -> bytes:
    """The chapters of the garden handbook as Markdown in a zip, with sections under names of their own."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(GARDEN.glob("*.json")):
            study = json.loads(path.read_text("utf-8"))
            parts = [f"# {study['title']}"]
            parts += [
                f"## {SECTIONS[place % len(SECTIONS)]}\n\n{passage['text']}"
                for place, passage in enumerate(study["passages"])
            ]
            archive.writestr(f"{path.stem}.md", "\n\n".join(parts))
    return packed.getvalue()


def look(page: Page, watch: Watch, name: str) -> None:
    """Looks at a page as every page is looked at: valid, legible, as wide as the screen, on a phone and in the dark."""
    assert find_faults(page.content()) == []
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if folder := os.environ.get("SHOTS"):
                Path(folder).mkdir(parents=True, exist_ok=True)
                page.screenshot(path=Path(folder) / f"start-{name}.{size}.{scheme}.png", full_page=True)
    assert_accessible(page, watch, rules=STOCK)
    assert_no_wider(page, 1000, 640, 390)
    page.set_viewport_size({"width": 1280, "height": 860})


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=f"Next: {name}").click()


def test_empty_desk_to_answers(empty_desk: Site, browser: Browser, view: Page, watch: Watch) -> None:
    site = empty_desk
    with browser.new_context(java_script_enabled=False, reduced_motion="reduce") as context:
        page = prepared(context).new_page()
        watch.attach(page)
        log_in(page, site, "ada")
        log_in(view, site, "ada")
        look(view, watch, "index")
        steps = page.locator(".steps li")
        expect(steps).to_have_count(6)
        expect(steps.locator("strong", has_text="Done")).to_have_count(0)

        # 1: the name, by keyboard alone.
        page.get_by_role("link", name="Name the site").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Name:").fill("Garden notes")
        page.get_by_label("Tagline:").fill("Ask the handbook")
        page.get_by_label("What it holds: one").fill("chapter")
        page.get_by_label("Tagline in German").fill("Fragen Sie das Handbuch")
        page.keyboard.press("Enter")
        page.get_by_label("What it holds: many").fill("chapters")
        page.get_by_role("button", name="Save").press("Enter")
        expect(page.locator(".messagelist .success")).to_be_visible()
        assert (search.site().texts.name, search.site().texts_in("de").tagline) == (
            "Garden notes",
            "Fragen Sie das Handbuch",
        )

        # 2: the sources come in by the import that is there, and are published together.
        follow(page, "bring the sources in")
        page.get_by_role("link", name="Bring files in").click()
        file = {"name": "handbook.zip", "mimeType": "application/zip", "buffer": pages_of_garden()}
        page.get_by_label("A file").set_input_files(file)
        page.get_by_role("button", name="Read it").click()
        work()
        page.reload()
        page.get_by_role("button", name="Bring them in").click()
        work()
        page.goto(f"{site.url}/admin/start/sources/")
        expect(page.get_by_text("Drafts: 12")).to_be_visible()
        page.get_by_role("button", name="Publish the 12 drafts together").click()
        page.get_by_role("button", name=re.compile("Change 12 ")).click()
        work()
        assert Study.objects.published().count() == 12
        page.goto(f"{site.url}/admin/start/sources/")

        # 3: the sections as guessed.
        follow(page, "say what the sections are for")
        expect(page.get_by_label("Our history")).to_have_value("event")
        page.get_by_label("When to sow").select_option("advice")
        page.get_by_role("button", name="Confirm these").click()
        assert {name: role.value for name, role in search.site().section_roles.items()} == {
            "When to sow": "advice",
            "Tips": "advice",
            "Our history": "event",
            "About us": "context",
        }

        # 4: the concepts as proposed.
        follow(page, "choose the concepts")
        page.locator("input[name=term]").first.check()
        page.locator("input[name=term]").nth(1).check()
        page.get_by_role("button", name="Make the ticked ones concepts").click()
        assert [concept.is_studied for concept in search.concepts()] == [True, True]

        # 5: the safety replies, and one of the site's own.
        follow(page, "read the safety replies")
        page.get_by_label("Name:").fill("plant-poison")
        page.get_by_label("Reply:").fill("Please call a poison centre. This site cannot help with it.")
        page.get_by_label("Phrases:").fill("ate yew\nate foxglove")
        page.get_by_label("A question that must get it").fill("My dog ate yew, what now?")
        page.get_by_label("A question that must not").fill("Who ate foxglove leaves?")
        page.get_by_role("button", name="Add this reply").click()
        expect(page.get_by_text("should be answered, and is caught")).to_be_visible()
        page.get_by_label("A question that must not").fill("How do I prune a yew?")
        page.get_by_role("button", name="Add this reply").click()
        page.get_by_role("button", name="Confirm these").click()
        page.get_by_label("Question", exact=True).fill("My child ate yew!")
        page.get_by_role("button", name="Try it").click()
        expect(page.get_by_text("gets the reply of plant-poison")).to_be_visible()

        # 6: twenty questions with verdicts; then the site is calibrated.
        site.ask(page, "What do I have to sow in March?")
        expect(page.get_by_text("Refusals are not yet calibrated")).to_be_visible()
        page.goto(f"{site.url}/admin/start/questions/")
        page.get_by_role("button", name="Make 20 questions").click()
        view.goto(page.url)
        look(view, watch, "verdicts")
        verdicts = page.locator(".judged")
        for left in range(20, 0, -1):
            expect(verdicts).to_have_count(min(left, 5))
            name = ("Should have refused", "Wrong", "Right")[left % 3]
            button = verdicts.first.get_by_role("button", name=name)
            (button if button.count() else verdicts.first.get_by_role("button").first).click()
        assert GoldenQuestion.objects.filter(is_active=True).count() == 20
        page.get_by_role("button", name="Calibrate").click()
        expect(page.get_by_text("Waiting for a worker")).to_be_visible()
        calibrate_corpus()
        expect(page.get_by_text("The site is calibrated.")).to_be_visible(timeout=30_000)  # it looks again by itself
        assert CorpusCalibration.newest() is not None
        site.ask(page, "What do I have to sow in March?")
        expect(page.get_by_text("Refusals are not yet calibrated")).to_have_count(0)

        page.goto(f"{site.url}/admin/")
        page.get_by_role("link", name="Start", exact=True).click()
        expect(steps.locator("strong", has_text="Done")).to_have_count(6)
        assert CorpusEvent.objects.filter(actor=User.objects.get(username="ada")).exists()

    for name in ("sections", "concepts", "questions"):
        view.goto(f"{site.url}/admin/start/{name}/")
        look(view, watch, name)
