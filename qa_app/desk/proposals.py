"""Admin page for proposals: evidence, before and after on the golden questions, and the curator's decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from common.waking import wake
from qa_app.desk.base import ReadOnlyAdmin, person
from qa_app.feedback import proposals
from qa_app.models import Proposal

DECIDE = "qa_app.decide_proposal"
HALVES = {"proposing": "The half that proposes", "kept_apart": "The half kept apart"}
FIGURES = {
    "leads": "Open with a study that answers",
    "wrongly_refused": "Refused, though a study answers",
    "rightly_refused": "Refused, and no study answers",
    "sections": "Show the part of a study that is asked for",
}
SOURCES = {"rating": "Rated of no use", "gap": "Refused", "golden": "Golden question that failed"}
PAGES = {"rating": "admin:qa_app_answer_change", "gap": "admin:qa_app_gap_change"}
TARGETS = {
    Proposal.Kind.QUESTION: "admin:corpus_app_study_changelist",
    Proposal.Kind.ALIAS: "admin:corpus_app_concept_changelist",
}
ADDED = {
    Proposal.Kind.QUESTION: "Accepted: the question stands at {} now.",
    Proposal.Kind.ALIAS: "Accepted: it is a name of {} now.",
    Proposal.Kind.POLICY: "Accepted. {} changes once the site runs with the setting that this page names.",
}


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure of one half of the golden questions."""

    half: str
    label: str
    n: int
    before: int
    after: int


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "kind", "status", "weight", "better", "worse", "proposed_at")
    list_filter = ("status", "kind")
    search_fields = ("target", "text")
    search_help_text = _("A study, a concept, or words of what is proposed.")
    change_list_template = "admin/qa_app/proposal/change_list.html"
    change_form_template = "admin/qa_app/proposal/change_form.html"
    decision = ("accepted_as", "decided_by", "decided_at", "reason")
    fields = ("kind", "where", "text", "status", "weight", "proposed_at", *decision)
    readonly_fields = fields
    list_select_related = ("run",)

    def has_view_permission(self, request: HttpRequest, obj: Proposal | None = None) -> bool:
        """Allow those who may see readers' questions."""
        return super().has_view_permission(request, obj) and request.user.has_perm("qa_app.view_answer")

    def get_fields(self, request: HttpRequest, obj: Proposal | None = None) -> tuple[str, ...]:
        """Show the decision once there is one; a proposal that came back shows the one before."""
        return tuple(name for name in self.fields if name not in self.decision or (obj and getattr(obj, name)))

    @admin.display(description="better")
    def better(self, proposal: Proposal) -> str:
        return _counted(proposal, "better")

    @admin.display(description="worse")
    def worse(self, proposal: Proposal) -> str:
        return _counted(proposal, "worse")

    @admin.display(description="of")
    def where(self, proposal: Proposal) -> SafeString | str:
        page = TARGETS.get(Proposal.Kind(proposal.kind))
        if page is None:
            return proposal.target
        name = f"{proposal.target}, finding {proposal.finding_id}" if proposal.finding_id else proposal.target
        return format_html('<a href="{}?q={}">{}</a>', reverse(page), proposal.target, name)

    # --- Looking for proposals, and deciding

    def get_urls(self) -> list[URLPattern]:
        views = (("look/", self.look, "look"), ("<int:pk>/decide/", self.decide, "decide"))
        own = [
            path(route, self.admin_site.admin_view(require_POST(view)), name=f"qa_app_proposal_{name}")
            for route, view, name in views
        ]
        return [*own, *super().get_urls()]

    def look(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm(DECIDE):
            raise PermissionDenied
        wake("qa_app.tasks.propose_changes")
        messages.success(request, "A worker looks for proposals and measures them; load this page again in a while.")
        return HttpResponseRedirect(reverse("admin:qa_app_proposal_changelist"))

    def decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not (request.user.has_perm(DECIDE) and self.has_view_permission(request)):
            raise PermissionDenied
        by, seen = person(request), request.POST.get("seen", "")
        try:
            if "accept" in request.POST:
                done = proposals.accept(pk, by=by, seen=seen, text=request.POST.get("text", ""))
                words = ADDED[Proposal.Kind(done.kind)].format(done.target)
            else:
                done = proposals.decline(pk, by=by, seen=seen, reason=request.POST.get("reason", ""))
                words = "Declined. It comes back if twice as many questions or readers suggest it."
        except Proposal.DoesNotExist:
            raise Http404 from None
        except proposals.ProposalRefused as refused:
            messages.error(request, str(refused))
        else:
            self.log_change(request, done, words)
            messages.success(request, words)
        return HttpResponseRedirect(reverse("admin:qa_app_proposal_change", args=[pk]))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "may_decide": request.user.has_perm(DECIDE)})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        proposal: Proposal = options["obj"]
        is_open = proposal.status == Proposal.Status.OPEN
        may_decide = request.user.has_perm(DECIDE) and proposal.status in Proposal.UNDECIDED
        context |= {
            "evidence": [(SOURCES[one.source], one, _page_of(one)) for one in proposals.list_evidence(proposal)],
            "figures": list(_figure_rows(proposal)),
            "may_accept": may_decide and is_open,
            "may_decline": may_decide,
            "is_waiting": proposal.status == Proposal.Status.WAITING,
            "is_text": proposal.kind != Proposal.Kind.POLICY,
            "setting": _setting(proposal),
            "proposal_version": proposals.version_of(proposal),
        }
        return super().render_change_form(request, context, *args, **options)


def _counted(proposal: Proposal, effect: str) -> str:
    """Return the number of golden questions with this effect; a dash where nothing was measured."""
    return str(sum(row["effect"] == effect for row in proposal.changes)) if proposal.figures else "–"


def _page_of(evidence: proposals.ProposalEvidence) -> str:
    if page := PAGES.get(evidence.source):
        return reverse(page, args=[evidence.key])
    return f"{reverse('admin:qa_app_goldenquestion_changelist')}?q={evidence.key}"


def _figure_rows(proposal: Proposal) -> Iterator[FigureRow]:
    for half, figures in proposal.figures.items():
        for name, counts in figures.items():
            if counts["n"]:
                yield FigureRow(HALVES[half], str(_(FIGURES[name])), **counts)


def _setting(proposal: Proposal) -> str:
    """Return the setting that puts a figure of the policy into force; empty for other proposals."""
    is_policy = proposal.kind == Proposal.Kind.POLICY
    return f"INFORM_POLICY={proposals.policy_setting(proposal)}" if is_policy else ""
