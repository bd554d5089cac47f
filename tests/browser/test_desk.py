"""The desk's pages in every dress: legible to all, no wider than the screen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from corpus_app import curation
from corpus_app.models import Concept, Passage, Study
from qa_app import asking
from qa_app.models import EvaluationRun, Gap, GoldenQuestion, SafetyReply
from tests.browser.conftest import Watch
from tests.browser.site import SETS, Site
from tests.builders import make_study, make_superuser

LONG = "x" * 180
STOCK = {"rules": {"empty-table-header": {"enabled": False}}}  # Django's own tables of inline rows begin with one
UNANSWERED = "How hot should a sauna be for muscle growth?"


def page_of(name: str, *args: object) -> str:
    return reverse(f"admin:{name}", args=args)


def make_gap() -> str:
    asking.ask(question=UNANSWERED)
    gap = Gap.objects.filter(leader=None).first()
    if gap is None:
        now = timezone.now()
        gap = Gap.objects.create(key="g", question=UNANSWERED, asked=1, first_asked_at=now, last_asked_at=now)
    return page_of("qa_app_gap_change", gap.pk)


def make_run(n: int = 2) -> str:
    question, _ = GoldenQuestion.objects.get_or_create(
        key="desk-1", defaults={"question": SETS, "mode": "beginner", "kind": "answerable_lay", "relevant": {"S018": 2}}
    )
    for passes in (True, False)[:n]:
        row = {"id": question.key, "question": LONG, "outcome": "answered", "cited": [], "passes": passes}
        run = EvaluationRun.objects.create(
            asked_at=timezone.now(), status="done", done=1, total=1, corpus_version=1, results=[row],
            figures={"answered": {"n": 1, "share": 0.5}}, finished_at=timezone.now(),
        )  # fmt: skip
    return page_of("qa_app_evaluationrun_change", run.pk)


def make_history() -> str:
    if not Study.objects.filter(study_id="T-DESK").exists():
        make_study(
            study_id="T-DESK", title=f"A study of {LONG}", texts=(f"Ten sets {LONG}. Five sets.",), status="draft"
        )
        curation.revise_study("T-DESK", by=None, by_name="test", population=f"Men {LONG}")
        curation.comment("T-DESK", f"Look at {LONG}", by=None, by_name="test")
    return page_of("corpus_app_study_history", Study.objects.get(study_id="T-DESK").pk)


def study(study_id: str = "S018") -> int:
    return Study.objects.get(study_id=study_id).pk


PAGES: dict[str, Callable[[], str]] = {
    "front page": lambda: page_of("index"),
    "studies": lambda: page_of("corpus_app_study_changelist"),
    "study": lambda: page_of("corpus_app_study_change", study()),
    "history": make_history,
    "comments": lambda: make_history() and page_of("corpus_app_study_comments", study("T-DESK")),
    "withdraw": lambda: page_of("corpus_app_study_state", "withdraw") + f"?ids={study()}",
    "retraction list": lambda: page_of("corpus_app_study_retractions"),
    "encoder": lambda: page_of("corpus_app_encoder"),
    "passages": lambda: page_of("corpus_app_passage_changelist"),
    "passage": lambda: page_of("corpus_app_passage_change", Passage.objects.filter(study=study()).first().pk),  # type: ignore[union-attr]
    "concepts": lambda: page_of("corpus_app_concept_changelist"),
    "concept": lambda: page_of("corpus_app_concept_change", Concept.objects.get(concept_id="hypertrophy").pk),
    "words of no concept": lambda: page_of("corpus_app_concept_terms"),
    "collection": lambda: page_of("corpus_app_collection_change", Study.objects.get(study_id="S018").collection_id),
    "events": lambda: page_of("corpus_app_corpusevent_changelist"),
    "gaps": lambda: make_gap() and page_of("qa_app_gap_changelist"),
    "gap": make_gap,
    "golden questions": lambda: make_run() and page_of("qa_app_goldenquestion_changelist"),
    "golden question": lambda: (
        make_run() and page_of("qa_app_goldenquestion_change", GoldenQuestion.objects.get(key="desk-1").pk)
    ),
    "runs": lambda: make_run() and page_of("qa_app_evaluationrun_changelist"),
    "run": make_run,
    "reply": lambda: page_of("qa_app_safetyreply_change", SafetyReply.objects.order_by("pk").first().pk),  # type: ignore[union-attr]
    "answers": lambda: page_of("qa_app_answer_changelist"),
    "people": lambda: page_of("auth_user_changelist"),
}


@cache
def address(name: str) -> str:
    return PAGES[name]()


@pytest.fixture
def desk(site: Site, page: Page) -> Page:
    """A browser whose person is signed in."""
    owner = User.objects.filter(username="desk").first() or make_superuser("desk")
    client = Client()
    client.force_login(owner)
    page.context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
    return page


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_the_desk(site: Site, desk: Page, watch: Watch, name: str, scheme: str) -> None:
    desk.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    desk.set_viewport_size({"width": 390, "height": 844} if scheme == "dark" else {"width": 1280, "height": 860})
    desk.goto(site.url + address(name))
    for summary in desk.locator("#content summary:visible").all():
        summary.click()

    complaints = list(watch.complaints)
    results = Axe().run(desk, options=STOCK)
    watch.complaints[:] = complaints  # axe itself tries inline styles, which the content policy refuses
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_no_page_of_the_desk_is_wider_than_a_phone(site: Site, desk: Page, name: str) -> None:
    desk.set_viewport_size({"width": 390, "height": 844})

    desk.goto(site.url + address(name))

    assert desk.evaluate("document.documentElement.scrollWidth") <= 390
