"""Every page of the site and of the curators' desk, in one list: what axe, the HTML checker, the content policy and the
screenshots all go through. A new page gets an entry here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from django.views.csrf import csrf_failure
from playwright.sync_api import Page, Route, expect

from corpus_app import curation
from corpus_app.appraisal import CertaintyLevel
from corpus_app.curation import bulk, jobs
from corpus_app.models import Concept, CorpusEvent, Finding, ImportItem, ImportJob, Passage, Study
from corpus_app.sources import CertaintyDraft
from inform_site import errors
from inform_site.accounts import audit
from qa_app import pages
from qa_app.answers import asking
from qa_app.following import followers
from qa_app.models import (
    AnswerChange,
    Delivery,
    EvaluationRun,
    Feedback,
    Follower,
    Gap,
    GoldenQuestion,
    Proposal,
    SafetyReply,
)
from tests.browser.site import COUNTED, EMERGENCY, PIZZA, SETS, SHOES, STREAM, WOMEN, Site, cut_short
from tests.builders import make_study, make_superuser
from tests.corpus.test_sources_formats import sample
from tests.qa.payloads import make_citation, make_evidence, make_sentence

OF_SWAGGER = {name: {"enabled": False} for name in ("heading-order", "nested-interactive", "region")}  # its own
LONG = "x" * 180
OPEN_IN_WOMEN = "Nothing quoted here is about women; the answer is about the rest of the question."
IN_WOMEN = "How many sets per week for muscle growth in women?"
FOUR = "In 24 untrained men, four weekly sets per muscle built as much muscle as twelve."


@dataclass(frozen=True, slots=True)
class Words:
    """What curators and readers wrote, on the pages that hold something made up."""

    title: str = (
        "Weekly training volume, proximity to failure and rest between sets: effects on muscle thickness and strength in "
        "resistance-trained women, a 24-week randomised controlled trial"
    )
    passage: str = "Ten sets a week for a muscle led to more growth than five. Strength rose alike in both groups."
    population: str = "62 women aged 19 to 34 with at least two years of resistance training"
    comment: str = "The table of dropouts is on page 9 of the supplement: please check it against the abstract."
    feedback: str = "It says nothing about women over fifty."
    file_name: str = "Library of the strength group, exported 2026-11-20.bib"


REAL = Words()
STRESS = Words(f"A study of {LONG}", f"Ten sets {LONG}. Five sets.", f"Men {LONG}", f"See {LONG}", LONG, f"{LONG}.bib")
words = STRESS  # the pictures say `pages.words = pages.REAL`: long words without a space are for tests
CLAIMS = (
    "More weekly sets per muscle group give more muscle growth. More weekly sets per muscle group give less muscle "
    f"growth. Saunas at {LONG} degrees build muscle. Is that so?"
)
UNANSWERED = "How hot should a sauna be for muscle growth?"


@dataclass(frozen=True, slots=True)
class Place:
    """A page: where it is (made on first use), the status it answers with, and whether one has to be signed in.

    `then` is done there before it is looked at, `first` before it is visited; `part` selects what only that changes.
    `rules` are axe's, where some are not ours; `complaint` is what the browser says of it on purpose. `has_layer` where
    something lies over the page: a picture shows no more of it than the screen does.
    """

    address: Callable[[Site], str]
    status: int = 200
    is_desk: bool = False
    first: Callable[[Page, Site], None] | None = None
    then: Callable[[Page], None] | None = None
    rules: dict[str, Any] | None = None
    part: str = ""
    complaint: str = ""
    has_layer: bool = False

    @property
    def expected(self) -> tuple[str, ...]:
        """What a browser may complain of there."""
        return tuple(filter(None, (f"status of {self.status}", self.complaint)))


def visit(page: Page, name: str, site: Site) -> str:
    """Goes there, as a curator where it is the desk's; the page's HTML as it was sent."""
    place = PAGES[name]
    if place.is_desk:
        sign_in(page, site)
    if place.first:
        place.first(page, site)
    response = page.goto(address_of(name, site))
    assert response.status == place.status, name
    return response.text()


@cache
def address_of(name: str, site: Site) -> str:
    """Asked once, looked at in every dress."""
    return PAGES[name].address(site)


def sign_in(page: Page, site: Site) -> None:
    page.context.add_cookies([{"name": "sessionid", "value": _session(), "url": site.url}])


def _session() -> str:
    """A new one each time: pages of dangerous acts ask for a login a moment ago."""
    client = Client()
    client.force_login(User.objects.filter(username="desk").first() or make_superuser("desk"))
    return client.cookies["sessionid"].value


def _remember(page: Page, site: Site) -> None:
    """Makes this browser one in which two questions were asked."""
    client = Client()
    for question in (SETS, SHOES):
        client.post(reverse("history"), {"keep": _id_of(site.answer_to(question))})
    page.context.add_cookies([{"name": "asked", "value": client.cookies["asked"].value, "url": site.url}])


def _failing(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[[Page, Site], None]:
    """Whatever is visited gets what this view says of a failure."""

    def route(page: Page, site: Site) -> None:
        sent = answer(RequestFactory().get("/"))
        told = {"status": sent.status_code, "body": sent.content, "content_type": "text/html; charset=utf-8"}
        page.route(f"{site.url}/failing", lambda route: route.fulfill(**told))

    return route


def open_panel(page: Page) -> None:
    page.locator(".cite").first.click()
    page.get_by_role("dialog").wait_for()


def open_term(page: Page) -> None:
    page.locator(".prose button.term").first.click()
    page.locator(".meaning:popover-open").wait_for()


def open_suggestions(page: Page) -> None:
    page.get_by_label("Your question").press_sequentially("training vol")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("ArrowDown")


def send_nothing(page: Page) -> None:
    page.get_by_label("Your question").fill("\u200b")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("#question-error").wait_for()


def go_offline(page: Page) -> None:
    page.evaluate("dispatchEvent(new Event('offline'))")
    page.get_by_role("alert").filter(has_text="You are offline.").wait_for()


def stop_half_way(page: Page) -> None:
    """The sentences stand there, and the server is no longer heard of."""
    page.route(STREAM, lambda route: None if _is_second(route) else cut_short(route, after="event: sentence"))
    page.get_by_label("Your question").fill(SETS)
    page.keyboard.press("Enter")
    page.locator(".making .sentence").first.wait_for()


def _is_second(route: Route) -> bool:
    return "last-event-id" in route.request.headers


def give_feedback(page: Page) -> None:
    form = page.locator("#feedback form")
    open_folds(page)
    form.get_by_label("Yes, it helped").check()
    form.get_by_role("button").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    page.locator("#feedback").scroll_into_view_if_needed()


def follow_by_email(page: Page) -> None:
    page.get_by_label("Your e-mail address").fill("reader@example.org")
    page.get_by_role("button", name="Follow by e-mail").click()
    page.get_by_text("an e-mail is on its way").wait_for()
    expect(page.get_by_role("heading", name="Follow this question")).to_be_focused()
    page.locator("#follow-question").scroll_into_view_if_needed()


def follow_by_feed(page: Page) -> None:
    page.get_by_role("button", name="Follow by feed").click()
    page.locator("#follow-question .address").wait_for()
    page.locator("#follow-question").scroll_into_view_if_needed()


def check_claims(page: Page) -> None:
    page.get_by_label("Text to check").fill(CLAIMS)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("3 of 3 checked").wait_for()
    open_folds(page)


def point_at_the_button(page: Page) -> None:
    page.get_by_role("button", name="Ask", exact=True).hover()


def wait_for_swagger(page: Page) -> None:
    page.locator(".opblock-summary").first.wait_for()


def open_folds(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")


def assert_no_wider(page: Page, *widths: int) -> None:
    """Than the screen, at each of these widths."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


# --- What some of them show -----------------------------------------------------------------------------


def _path(path: str, **place: Any) -> Place:
    return Place(lambda site: site.url + path, **place)


def _failure(status: int, view: Callable[[HttpRequest], HttpResponse]) -> Place:
    return Place(lambda site: f"{site.url}/failing", status=status, first=_failing(view))


Row = Callable[[], object]


def _desk(name: str, about: Row | None = None, *, query: str = "", holding: Row | None = None) -> Place:
    """The admin page of this name, about one row, or holding one."""

    def address(site: Site) -> str:
        if holding:
            holding()
        return site.url + reverse(f"admin:{name}", args=[about()] if about else []) + query

    return Place(address, is_desk=True)


def _state(verb: str, study: Row) -> Place:
    """The page that asks before a study's state is changed."""
    name = "admin:corpus_app_study_state"
    return Place(lambda site: f"{site.url}{reverse(name, args=[verb])}?ids={study()}", is_desk=True)


def _study_key() -> int:
    return Study.objects.get(study_id="S018").pk


def _unconfirmed() -> int:
    finding = Finding.objects.filter(study=_study_key())[0]
    Finding.objects.filter(pk=finding.pk).update(is_unconfirmed=True)
    return finding.pk


def _certainty() -> int:
    draft = CertaintyDraft("resistance-training", "hypertrophy", CertaintyLevel.MODERATE, (words.comment,))
    return curation.save_certainty(draft, by=None, by_name="test").pk


def _worked_on() -> int:
    """A draft that curators changed and spoke about."""
    found = Study.objects.filter(study_id="T-DESK").first()
    if found is None:
        texts = (words.passage, "Strength rose by a tenth (P B 0.05) in the 40 men who trained.")
        found = make_study(study_id="T-DESK", title=words.title, status="draft", texts=texts)
        curation.revise_study("T-DESK", by=None, by_name="test", population=words.population)
        curation.comment("T-DESK", words.comment, by=None, by_name="test")
    return found.pk


@cache
def _ready() -> str:
    """A draft that can be published, and one that cannot."""
    title = "Rest between sets and strength in rowers"
    found = make_study(study_id="T-READY", title=title, status="draft", texts=("Long rests helped.",))
    return f"{found.pk},{_worked_on()}"


@cache
def _twins() -> None:
    title = "Foam rolling after squats: a randomised trial"
    for study_id in ("T-TWIN-1", "T-TWIN-2"):
        make_study(study_id=study_id, title=title, status="draft", doi=None, texts=("It eased.",))


def _event() -> int:
    """What became of the population of a study."""
    _worked_on()
    return CorpusEvent.objects.filter(action="revise_study", study_key="T-DESK")[0].pk


def _gap() -> int:
    asking.ask(question=UNANSWERED)
    now = timezone.now()
    made = {"key": "g", "question": UNANSWERED, "asked": 1, "first_asked_at": now, "last_asked_at": now}
    return (Gap.objects.filter(leader=None).first() or Gap.objects.create(**made)).pk


def _audit_entry() -> int:
    return audit.record(audit.Kind.ACT, actor="desk", what="corpus_app_study_change", detail="/admin/ and more").pk


def _golden() -> int:
    row = {"question": SETS, "mode": "beginner", "kind": "answerable_lay", "relevant": {"S018": 2, "S028": 1}}
    return GoldenQuestion.objects.get_or_create(key="desk-1", defaults=row)[0].pk


def _proposal() -> int:
    _golden()
    counts = {"leads": {"n": 60, "before": 51, "after": 52}, "rightly_refused": {"n": 9, "before": 8, "after": 8}}
    change = {
        "id": "desk-1", "question": SETS, "half": "kept_apart", "effect": "better",
        "before": {"outcome": "insufficient_evidence", "lead": None}, "after": {"outcome": "answered", "lead": "S018"},
    }  # fmt: skip
    proposal, _ = Proposal.objects.get_or_create(
        kind="question", target="S018", text=UNANSWERED,
        defaults={
            "status": "open", "weight": 2, "proposed_at": timezone.now(), "changes": [change],
            "figures": {"proposing": counts, "kept_apart": counts},
            "evidence": [
                {"source": "gap", "key": str(_gap()), "witnesses": 1, "times": 7},
                {"source": "golden", "key": "desk-1", "witnesses": 1, "times": 1},
            ],
        },
    )  # fmt: skip
    return proposal.pk


@cache
def _run() -> int:
    _golden()
    for days_ago, passes in ((21, False), (14, True), (7, True), (0, False)):
        at = timezone.now() - timedelta(days=days_ago)
        one = {"id": "desk-1", "question": SETS, "outcome": "answered", "cited": ["S018"], "passes": passes}
        other = one | {"id": "desk-2", "question": UNANSWERED, "passes": days_ago < 20}
        run = EvaluationRun.objects.create(
            asked_at=at, status="done", done=2, total=2, corpus_version=1, results=[one, other], finished_at=at,
            figures={"answered": {"n": 2, "share": 1.0}, "milliseconds": {"p50": 41, "p95": 90}},
        )  # fmt: skip
    return run.pk


@cache
def _read_import() -> int:
    job = jobs.create_job(sample("rowing_page.ris").encode(), file_name="rowing.ris", by=None, by_name="a test")
    jobs.run_job(job)
    return job.pk


@cache
def _ended_import() -> int:
    job = ImportJob.objects.create(
        file_name=words.file_name, content=b"", content_hash="0" * 64, asked_at=timezone.now(), status="done",
        report={"outcomes": {"created": 1, "refused": 1}, "published": 0}, finished_at=timezone.now(), done=2, total=2,
    )  # fmt: skip
    for position, outcome in enumerate(("created", "refused")):
        ImportItem.objects.create(
            job=job, position=position, kind="study", study_key=f"T-{position}", title=words.title, effect="new",
            chosen=True, outcome=outcome, outcome_reason="" if outcome == "created" else "It says nothing.", draft={},
        )  # fmt: skip
    return job.pk


@cache
def _bulk_edit(state: str) -> int:
    """A bulk edit that waits for what to change, is previewed, or has ended."""
    studies = [make_study(title=words.title, status="draft", labels=["old"]).study_id for _ in range(3)]
    edit = bulk.choose([*studies, "T-GONE"], by=None, by_name="a test")
    if state != "chosen":
        changes = {"labels": {"add": [words.file_name[:90]]}, "design": "cohort_study"}
        bulk.preview(edit, changes, reason=words.comment, by=None)
    if state == "done":
        bulk.confirm(edit, by=None)
        bulk.run_job(edit)
    return edit.pk


@cache
def _answer() -> str:
    return str(asking.ask(question=SETS)["id"])


@cache
def _feedback() -> int:
    said = {"is_helpful": False, "reasons": ["hard", "incomplete"], "words": words.feedback}
    return Feedback.objects.create(answer_id=_answer(), given_at=timezone.now(), **said).pk


def _link(name: str, address: str, *, confirmed: bool = False) -> Place:
    """What a link in a mail leads to; nobody has followed where there is no address."""

    def place(site: Site) -> str:
        if not address:
            return f"{site.url}{reverse(name, args=[followers.sign(Follower(pk=9_999_999))])}"
        followers.follow_by_email(_answer(), address, language="en-gb")
        follower = Follower.objects.get(address_key=followers.hash_address(address))
        if confirmed:
            followers.confirm(follower.pk)
        return f"{site.url}{reverse(name, args=[followers.sign(follower)])}"

    return Place(place, status=200 if address or name == "unfollow" else 410)


@cache
def _followed() -> str:
    """A question whose answer has changed, with a follower who could not be told."""
    question = followers.follow_by_feed(_answer())
    earlier, now = str(asking.ask(question=SETS, mode="intermediate")["id"]), timezone.now()
    change = AnswerChange.objects.create(question=question, before_id=earlier, after_id=_answer(), at=now)
    followers.follow_by_email(_answer(), "desk@example.org", language="en-gb")
    follower = followers.confirm(Follower.objects.get(address_key=followers.hash_address("desk@example.org")).pk)
    told = {"due_at": now, "status": "failed", "error": "The mail server refused it (SMTPDataError)."}
    Delivery.objects.update_or_create(follower=follower, change=change, defaults=told)
    return question.pk


def _told(site: Site) -> dict[str, Any]:
    """The pipeline's answer."""
    return asking.find_answer(_id_of(site.answer_to()))


def _as_if(site: Site, **changes: Any) -> str:
    """The pipeline's answer, but for these changes."""
    return site.stored(**_told(site) | changes)


def _citing(told: dict[str, Any], passage: Passage, said: str, part: str, **place: Any) -> dict[str, Any]:
    """This answer with a sentence of another study in this part: first in the summary, last in the answer."""
    study, number = passage.study, len(told["citations"]) + 1
    row = make_evidence(
        len(told["evidence"]) + 1, passage_id=passage.pk, study_id=study.study_id, title=study.title,
        text=passage.text, highlights=[],
    )  # fmt: skip
    fields = ("study_id", "title", "authors", "year", "journal", "doi", "url", "design", "population")
    sentences = [*told[part]["sentences"], make_sentence(row, said, (number,), **place)]
    if part == "summary":
        sentences = sentences[-1:] + sentences[:-1]
    return told | {
        part: told[part] | {"sentences": sentences},
        "citations": [*told["citations"], make_citation(number, **{name: getattr(study, name) for name in fields})],
        "evidence": [*told["evidence"], row],
    }


def _with_another(site: Site, **changes: Any) -> str:
    """The pipeline's answer with a sentence more, of another study."""
    told = _told(site)
    cited = {row["study_id"] for row in told["citations"]}
    passage = Passage.objects.filter(kind="summary", study__status="published").exclude(study__study_id__in=cited)[0]
    said = passage.text.partition(". ")[0] + "."
    return site.stored(**_citing(told, passage, said, "answer", paragraph=99) | changes)


def _retracted(site: Site) -> str:
    """The pipeline's answer, begun by the words of a study that was retracted since."""
    told = _told(site)  # first: what is made here without curation is no version of the corpus
    study = make_study(study_id="T-GONE", title="Four weekly sets against twelve in untrained men", texts=(FOUR,))
    address = site.stored(**_citing(told, study.passages.get(), FOUR, "summary"))
    curation.set_notice([study.study_id], notice="retracted", by=None, by_name="test", reason="for this test")
    return address


def _earlier_answer(site: Site) -> str:
    """The id of an answer to the question of all that is shorter."""
    return _id_of(_as_if(site, outcome="partial", answer={"text": "", "sentences": []}))


def _thread(site: Site, *follow_ups: str) -> str:
    """Ask one question after another, and return the address of the last answer."""
    address = site.answer_to()
    for question in follow_ups:
        address = site.answer_to(question, parent=_id_of(address))
    return address


def _card(site: Site, address: str = "") -> str:
    return f"{site.url}{reverse('embed', args=[_id_of(address or site.answer_to())])}"


def _id_of(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def _in_both_modes(site: Site) -> str:
    sides = [_id_of(site.answer_to(mode=mode)) for mode in ("beginner", "intermediate")]
    return f"{site.url}/compare/?a={sides[0]}&b={sides[1]}"


PUBLIC: dict[str, Place] = {
    "ask": _path("/"), "ask, with suggestions": _path("/", then=open_suggestions),
    "ask, nothing typed": _path("/", then=send_nothing, part="#ask-form", complaint="status of 400"),
    "ask, offline": _path("/", then=go_offline, part="#trouble", has_layer=True),
    "answer being made": _path("/", then=stop_half_way, has_layer=True), "answer": Place(Site.answer_to),
    "feedback given": Place(lambda site: site.answer_to(SHOES), then=give_feedback, part="#feedback", has_layer=True),
    "follow": Place(lambda site: f"{site.answer_to()}follow/"),
    "followed by e-mail": Place(lambda site: site.answer_to(SHOES), then=follow_by_email, part="#follow-question", has_layer=True),
    "followed by feed": Place(lambda site: f"{site.answer_to()}follow/", then=follow_by_feed),
    "address to confirm": _link("confirm_follow", "new@example.org"),
    "address confirmed": _link("confirm_follow", "known@example.org", confirmed=True),
    "address erased": _link("confirm_follow", ""), "stop following": _link("unfollow", "known@example.org"),
    "following stopped": _link("unfollow", ""),
    "followed question": Place(lambda site: f"{site.url}/followed/{_followed()}/"),
    "panel": Place(Site.answer_to, then=open_panel, part="dialog", has_layer=True),
    "term": Place(Site.answer_to, then=open_term, part=".prose:has(.meaning:popover-open)", has_layer=True),
    "overview": Place(lambda site: site.answer_to(COUNTED)),
    "follow-up": Place(lambda site: _thread(site, WOMEN, "how long does it take?")),
    "card": Place(_card), "card of a retracted study": Place(lambda site: _card(site, address_of("answer with a retracted source", site))),
    "conflicting answer": Place(lambda site: _with_another(site, outcome="conflicting")),
    "answer with a retracted source": Place(_retracted),
    "answer asked again": Place(lambda site: f"{_with_another(site)}?since={_earlier_answer(site)}"),
    "partial answer": Place(lambda site: _as_if(site, question=IN_WOMEN, outcome="partial", message=OPEN_IN_WOMEN)),
    "refusal": Place(lambda site: site.answer_to(SHOES)), "out of scope": Place(lambda site: site.answer_to(PIZZA)),
    "guardrail": Place(lambda site: site.answer_to(EMERGENCY)),
    "citation": Place(lambda site: site.answer_to() + "citations/summary/1/1/"), "corpus": _path("/corpus/"),
    "search": _path("/corpus/?q=muscle&design=meta_analysis&from=2000&to=x"),
    "nothing found": _path("/corpus/?q=velodrome&sex=male"), "topics": _path("/topics/"),
    "topic": _path("/topics/hypertrophy/"), "changes": _path("/changes/"), "study": _path("/studies/S018/"),
    "how it works": _path("/how-it-works/"), "history": _path("/history/"),
    "own questions": Place(lambda site: f"{site.url}/history/", first=_remember), "compare": _path("/compare/"),
    "compared": Place(_in_both_modes), "compared with nothing": _path("/compare/?a=x&b=y", status=404),
    "button pointed at": _path("/", then=point_at_the_button, part="#ask-form"),
    "claims": _path("/claims/"), "claims checked": _path("/claims/", then=check_claims),
    "missing": _path("/nothing", status=404), "bad request": _failure(400, errors.bad_request),
    "page out of date": _failure(403, csrf_failure),
    "too many questions": _failure(429, lambda request: pages.too_many(request, seconds=3_000)),
    "failure": _failure(500, errors.server_error),
    "documentation of the API": _path("/api/v1/docs/", rules=OF_SWAGGER, then=wait_for_swagger),
}  # fmt: skip
DESK: dict[str, Place] = {
    "start": _desk("start"),
    **{f"start {name}": _desk(f"start_{name}") for name in ("name", "sources", "sections", "concepts", "safety")},

    "front page": _desk("index"), "studies": _desk("corpus_app_study_changelist"),
    "study": _desk("corpus_app_study_change", _study_key), "draft": _desk("corpus_app_study_change", _worked_on),
    "new study": _desk("corpus_app_study_add"), "history": _desk("corpus_app_study_history", _worked_on),
    "comments": _desk("corpus_app_study_comments", _worked_on), "delete": _desk("corpus_app_study_delete", _worked_on),
    "publish": _state("publish", _ready), "withdraw": _state("withdraw", _study_key),
    "notice": _state("notice", _study_key), "retraction list": _desk("corpus_app_study_retractions"),
    "export": _desk("corpus_app_study_export", query="?all=1"), "export of nothing": _desk("corpus_app_study_export"),
    "duplicates": _desk("corpus_app_study_duplicates", holding=_twins),
    "merge": _desk("corpus_app_study_merge", query="?keep=S018&other=S007"), "encoder": _desk("corpus_app_encoder"),
    "saved filters": _desk("corpus_app_savedfilter_changelist"),
    "filter to save": _desk("corpus_app_savedfilter_add", query="?query=queue%3Dmine"),
    "imports": _desk("corpus_app_importjob_changelist", holding=_read_import),
    "bring in": _desk("corpus_app_importjob_add"),
    "bulk edits": _desk("corpus_app_bulkedit_changelist", holding=lambda: _bulk_edit("done")),
    "bulk edit to fill in": _desk("corpus_app_bulkedit_change", lambda: _bulk_edit("chosen")),
    "bulk edit previewed": _desk("corpus_app_bulkedit_change", lambda: _bulk_edit("previewed")),
    "bulk edit that ended": _desk("corpus_app_bulkedit_change", lambda: _bulk_edit("done")),
    "import to choose from": _desk("corpus_app_importjob_change", _read_import),
    "import that ended": _desk("corpus_app_importjob_change", _ended_import),
    "passages": _desk("corpus_app_passage_changelist", holding=_worked_on),
    "passage": _desk("corpus_app_passage_change", lambda: Passage.objects.filter(study=_study_key())[0].pk),
    "broken passage": _desk("corpus_app_passage_change", lambda: Passage.objects.filter(study=_worked_on())[1].pk),
    "findings": _desk("corpus_app_finding_changelist"),
    "finding to confirm": _desk("corpus_app_finding_change", _unconfirmed),
    "certainties": _desk("corpus_app_outcomecertainty_changelist", holding=_certainty),
    "certainty": _desk("corpus_app_outcomecertainty_change", _certainty),
    "concepts": _desk("corpus_app_concept_changelist"),
    "concept": _desk("corpus_app_concept_change", lambda: Concept.objects.get(concept_id="hypertrophy").pk),
    "words of no concept": _desk("corpus_app_concept_terms"), "collections": _desk("corpus_app_collection_changelist"),
    "collection": _desk("corpus_app_collection_change", lambda: Study.objects.get(study_id="S018").collection_id),
    "events": _desk("corpus_app_corpusevent_changelist"), "event": _desk("corpus_app_corpusevent_change", _event),
    "gaps": _desk("qa_app_gap_changelist", holding=_gap), "gap": _desk("qa_app_gap_change", _gap),
    "followed questions": _desk("qa_app_followedquestion_changelist", holding=_followed),
    "followed question": _desk("qa_app_followedquestion_change", _followed),
    "golden questions": _desk("qa_app_goldenquestion_changelist", holding=_golden),
    "golden question": _desk("qa_app_goldenquestion_change", _golden),
    "bring golden questions in": _desk("qa_app_goldenquestion_import"),
    "proposals": _desk("qa_app_proposal_changelist", holding=_proposal),
    "proposal": _desk("qa_app_proposal_change", _proposal),
    "runs": _desk("qa_app_evaluationrun_changelist", holding=_run), "run": _desk("qa_app_evaluationrun_change", _run),
    "replies": _desk("qa_app_safetyreply_changelist"),
    "reply": _desk("qa_app_safetyreply_change", lambda: SafetyReply.objects.order_by("pk")[0].pk),
    "answers": _desk("qa_app_answer_changelist"), "answer row": _desk("qa_app_answer_change", _answer),
    "feedback": _desk("qa_app_feedback_changelist", holding=_feedback), "people": _desk("auth_user_changelist"),
    "person": _desk("auth_user_change", lambda: User.objects.get(username="desk").pk),
    "roles": _desk("auth_group_changelist"),
    "role": _desk("auth_group_change", lambda: Group.objects.order_by("pk")[0].pk),
    "own password": _desk("password_change"),
    "own account": Place(lambda site: site.url + reverse("mfa_index"), is_desk=True),
    "audit log": _desk("inform_site_auditentry_changelist", holding=_audit_entry),
    "audit entry": _desk("inform_site_auditentry_change", _audit_entry),
}  # fmt: skip
SIGN_IN = Place(lambda site: site.url + reverse("admin:login"))
PAGES: dict[str, Place] = PUBLIC | {f"desk: {name}": place for name, place in (DESK | {"sign in": SIGN_IN}).items()}
