"""The pages of the start at the curators' desk: an overview and one page for each step."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from corpus_app import curation, search, sources
from corpus_app.curation import bulk
from corpus_app.desk import graph
from corpus_app.desk.base import EXPECTED_ERRORS, curator, error_messages
from corpus_app.models import ImportJob, Study
from corpus_app.records import ConceptRole, SectionRole, Status
from inform_site.start import concepts, forms, routes, sections
from inform_site.start.steps import QUESTIONS, Step, steps
from qa_app.evaluation import corpus_calibration, verdicts
from qa_app.evaluation.verdicts import CuratorVerdict
from qa_app.models import CorpusCalibration

PERMISSION = "corpus_app.publish_study"
TERMS_SHOWN = 40
JUDGED_AT_ONCE = 5  # questions of a page; each is answered while it is made
REFRESH_SECONDS = 2
LONGEST_QUESTION = 300  # characters

View = Callable[..., HttpResponse]


def may_start(request: HttpRequest) -> bool:
    """Return whether this person may carry the start out: a curator who may publish."""
    return request.user.has_perm(PERMISSION)


class StartPages:
    """The pages, mounted in an admin site."""

    def __init__(self, site: AdminSite) -> None:
        self._site = site

    def urls(self) -> list[URLPattern]:
        views: dict[str, View] = {
            "name": self.name,
            "sources": self.sources,
            "sections": self.sections,
            "concepts": self.concepts,
            "safety": self.safety,
            "questions": self.questions,
        }
        wrapped = [path("start/", self._page(self.overview), name="start")]
        return wrapped + [
            path(f"start/{name}/", self._page(view), name=f"start_{name}") for name, view in views.items()
        ]

    def _page(self, view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest) -> HttpResponse:
            if not may_start(request):
                raise PermissionDenied
            return view(request)

        return self._site.admin_view(checked)

    def _render(self, request: HttpRequest, name: str, **context: Any) -> HttpResponse:
        known = steps()
        place = next((place for place, step in enumerate(known) if step.name == name), None)
        shown: dict[str, Any] = self._site.each_context(request)
        shown |= {"title": "Start", "steps": known, "is_nav_sidebar_enabled": False}
        if place is not None:
            following = known[place + 1] if place + 1 < len(known) else None
            shown |= {"step": known[place], "number": place + 1, "following": following, "title": known[place].title}
        return TemplateResponse(request, f"admin/start/{name}.html", shown | context)

    def overview(self, request: HttpRequest) -> HttpResponse:
        return self._render(request, "overview")

    # --- 1: the name

    def name(self, request: HttpRequest) -> HttpResponse:
        shown = forms.NameForm.values_of(search.site(), search.site_hash())
        form = forms.NameForm(request.POST) if request.method == "POST" else forms.NameForm(initial=shown)
        if request.method == "POST" and form.is_valid():
            change = form.changes()

            def save() -> None:
                curation.revise_site(change, seen=form.cleaned_data["seen"], by=curator(request))

            if self._done(request, save, "Saved: readers see it from now on."):
                return _to("name")
        return self._render(request, "name", form=form)

    # --- 2: the sources

    def sources(self, request: HttpRequest) -> HttpResponse:
        drafts = Study.objects.filter(status__in=[Status.DRAFT, Status.IN_REVIEW])
        if request.method == "POST":
            try:
                edit = bulk.preview_new(
                    drafts.values_list("study_id", flat=True), {"status": "publish"}, by=curator(request)
                )
            except EXPECTED_ERRORS as error:
                _show_error(request, error)
                return _to("sources")
            return HttpResponseRedirect(reverse("admin:corpus_app_bulkedit_change", args=[edit.pk]))
        context = {
            "drafts": drafts.count(),
            "formats": sources.FORMAT_NAMES,
            "jobs": ImportJob.objects.defer("content", "problems")[:5],
        }
        return self._render(request, "sources", **context)

    # --- 3: the sections

    def sections(self, request: HttpRequest) -> HttpResponse:
        own = sections.own_sections()
        if request.method == "POST":
            sent = {section.name: request.POST.get(f"role-{place}", "") for place, section in enumerate(own)}
            chosen = {name: role for name, role in sent.items() if role in frozenset(SectionRole)}

            def save() -> None:
                with curation.act(by=curator(request)):
                    if chosen:
                        curation.revise_site({"section_roles": chosen}, by=curator(request))
                    curation.confirm_step("sections", by=curator(request))

            self._done(request, save, "Saved: answers choose what they quote by it.")
            return _to("sections")
        return self._render(request, "sections", own=own, roles=[(role.value, ROLES[role]) for role in SectionRole])

    # --- 4: the concepts

    def concepts(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            chosen = {}
            for words in request.POST.getlist("term"):
                role = request.POST.get(f"role-{words}", "")
                chosen[words] = ConceptRole(role) if role in frozenset(ConceptRole) else ConceptRole.THING

            def save() -> None:
                concepts.accept(chosen, by=curator(request))
                if not chosen:
                    curation.confirm_step("concepts", by=curator(request))

            self._done(request, save, f"Concepts made: {len(chosen)}." if chosen else "Confirmed.")
            return _to("concepts")
        terms = graph.find_unmapped_terms()[:TERMS_SHOWN]
        roles = [(role.value, CONCEPT_ROLES[role]) for role in CONCEPT_ROLES]
        return self._render(request, "concepts", terms=terms, roles=roles)

    # --- 5: the safety replies

    def safety(self, request: HttpRequest) -> HttpResponse:
        is_own = request.method == "POST" and "add" in request.POST
        form = forms.RouteForm(request.POST if is_own else None)
        if request.method == "POST" and not is_own:

            def save() -> None:
                with curation.act(by=curator(request)):
                    routes.set_applying(request.POST.getlist("route"), by=curator(request))
                    curation.confirm_step("safety", by=curator(request))

            self._done(request, save, "Saved and confirmed.")
            return _to("safety")
        if is_own and form.is_valid():
            try:
                routes.add_route(**form.cleaned_data, by=curator(request))
            except routes.BadRoute as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, "Added: it is in force from now on.")
                return _to("safety")
        asked = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_QUESTION]
        tried = {"asked": asked, "taken": routes.route_of(asked) if asked else None}
        shown = routes.shown_routes()
        has_choice = not all(route.is_fixed for route in shown)
        return self._render(request, "safety", routes=shown, has_choice=has_choice, form=form, **tried)

    # --- 6: the questions

    def questions(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            self._act_on_questions(request)
            return _to("questions")
        waiting = verdicts.waiting()
        under_way = CorpusCalibration.objects.filter(is_under_way=True).first()
        last = CorpusCalibration.objects.filter(is_under_way=False).order_by("-pk").first()
        context = {
            "judged": verdicts.count_verdicts(),
            "left": len(waiting),
            "shown": [] if under_way else [verdicts.answer(golden) for golden in waiting[:JUDGED_AT_ONCE]],
            "wanted": QUESTIONS,
            "under_way": under_way,
            "last": last,
            "corpus_version": search.corpus_version(),
            "can_make": search.corpus_figures()["studies"] > 0,
            "refresh_seconds": REFRESH_SECONDS if under_way else None,
        }
        return self._render(request, "questions", **context)

    def _act_on_questions(self, request: HttpRequest) -> None:
        if "make" in request.POST:
            made = verdicts.propose(corpus_calibration.make_questions(), most=QUESTIONS)
            words = f"Questions made: {made}." if made else "No further question could be made of these sources."
            messages.success(request, words)
        elif "calibrate" in request.POST:
            corpus_calibration.request()
        else:
            verdict, _, key = request.POST.get("verdict", "").partition(":")
            golden = next((row for row in verdicts.waiting() if row.key == key), None)
            if golden is None or verdict not in frozenset(CuratorVerdict):
                messages.error(request, "This question is judged already, or its source is gone.")
                return
            verdicts.judge(golden, CuratorVerdict(verdict))

    def _done(self, request: HttpRequest, save: Callable[[], None], words: str) -> bool:
        """Carry something out and tell what came of it; return whether it was done."""
        try:
            save()
        except EXPECTED_ERRORS as error:
            _show_error(request, error)
            return False
        messages.success(request, words)
        return True


ROLES = {
    SectionRole.FINDING: "Facts: what the source says",
    SectionRole.HOW: "How something is done",
    SectionRole.CONTEXT: "Background",
    SectionRole.CAVEAT: "Limits and warnings",
    SectionRole.ADVICE: "Advice",
    SectionRole.DEFINITION: "What something is",
    SectionRole.EVENT: "Events and dates",
}
CONCEPT_ROLES = {
    ConceptRole.THING: "A thing: done, used or given",
    ConceptRole.PARAMETER: "An amount or setting of it",
    ConceptRole.OUTCOME: "An outcome",
    ConceptRole.MEASURE: "A measure of an outcome",
    ConceptRole.CONDITION: "A condition or problem",
    ConceptRole.GROUP: "A group or a place",
    ConceptRole.NONE: "None of these",
}


def _show_error(request: HttpRequest, error: Exception) -> None:
    for reason in error_messages(error):
        messages.error(request, reason)


def _to(step: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse(f"admin:start_{step}"))


__all__ = ["StartPages", "Step", "may_start"]
