"""Admin page for safety replies: draft a version, and let another curator approve it."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html_join

from qa_app.answers import answering
from qa_app.desk.base import SeenAdmin, SeenForm
from qa_app.models import SafetyReply

APPROVE = "qa_app.approve_safetyreply"
NOBODY = "Came with InForm, or a former curator"
CLASH = "Nothing was saved: somebody else saved a version at the same moment. Look again, then repeat."


def _route_choices() -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ").capitalize()) for name in answering.safety_routes()]


def _usual_instead() -> str:
    """Return the most frequent `instead` of the built-in replies."""
    found = Counter(route.instead for route in answering.safety_routes().values() if route.instead)
    return max(found, key=lambda text: found[text], default="")


class SafetyReplyForm(SeenForm):
    seen_fields = ("text", "instead", "status")
    route = forms.ChoiceField(choices=_route_choices)

    class Meta:
        model = SafetyReply
        fields = ("route", "text", "instead")
        widgets = {
            "text": forms.Textarea(attrs={"rows": 8, "cols": 90}),
            "instead": forms.Textarea(attrs={"rows": 4, "cols": 90}),
        }


@admin.register(SafetyReply)
class SafetyReplyAdmin(SeenAdmin):
    form = SafetyReplyForm
    change_form_template = "admin/qa_app/safetyreply/change_form.html"
    list_display = ("__str__", "status", "writer", "reviewer", "reviewed_at")
    list_filter = ("status", "route")
    list_select_related = ("written_by", "reviewed_by")
    list_per_page = 50
    search_fields = ("text", "instead")
    search_help_text = "Words of a reply."
    ordering = ("route", "-version")
    actions = None
    provenance = ("version", "status", "writer", "written_at", "reviewer", "reviewed_at", "versions")

    # Plain text, since curators have no access to the users' pages.
    @admin.display(description="written by")
    def writer(self, reply: SafetyReply) -> str:
        return str(reply.written_by or NOBODY)

    @admin.display(description="approved by")
    def reviewer(self, reply: SafetyReply) -> str:
        if reply.reviewed_by:
            return str(reply.reviewed_by)
        return "–" if reply.is_draft else NOBODY

    @admin.display(description="all versions")
    def versions(self, reply: SafetyReply) -> str:
        rows = [
            (
                reverse("admin:qa_app_safetyreply_change", args=[other.pk]),
                other.version,
                other.get_status_display().lower(),
            )
            for other in SafetyReply.objects.filter(route=reply.route)
        ]
        return format_html_join(" · ", '<a href="{}">version {}</a> ({})', rows)

    # --- Who may do what

    def get_fieldsets(self, request: HttpRequest, obj: SafetyReply | None = None) -> Any:
        seen = ("seen",) if obj and self.has_change_permission(request, obj) else ()
        words = (None, {"fields": ("route", "text", "instead", *seen)})
        return [words, ("Where it comes from", {"fields": self.provenance})] if obj else [words]

    def get_readonly_fields(self, request: HttpRequest, obj: SafetyReply | None = None) -> tuple[str, ...]:
        return ("route", *self.provenance) if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: SafetyReply | None = None) -> bool:
        """Allow editing of drafts only."""
        return super().has_change_permission(request, obj) and (obj is None or obj.is_draft)

    def has_delete_permission(self, request: HttpRequest, obj: SafetyReply | None = None) -> bool:
        return False

    # --- Writing

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Start a new version with the text of the one that it replaces."""
        origin = _find_reply(request.GET.get("from", ""))
        if origin is None:
            return {"instead": _usual_instead()}
        return {"route": origin.route, "text": origin.text, "instead": origin.instead}

    def save_model(self, request: HttpRequest, obj: SafetyReply, form: Any, change: bool) -> None:
        by, now = cast(User, request.user), timezone.now()
        if change:
            obj.written_by, obj.written_at = by, now
            obj.save()
            return
        draft = SafetyReply.objects.draft(route=obj.route, text=obj.text, instead=obj.instead, by=by, now=now)
        obj.__dict__.update(draft.__dict__)

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        try:
            return super().changeform_view(request, *args, **options)
        except (IntegrityError, TypeError) as error:
            if isinstance(error, TypeError) and "approved reply" not in str(error):
                raise
            self.message_user(request, CLASH, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    # --- Approving

    def get_urls(self) -> list[URLPattern]:
        approve = self.admin_site.admin_view(self.approve_view)
        return [path("<path:object_id>/approve/", approve, name="qa_app_safetyreply_approve"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        obj = options.get("obj")
        context["may_approve"] = bool(obj and obj.is_draft and request.user.has_perm(APPROVE))
        context["may_add"] = bool(obj and self.has_add_permission(request))
        return super().render_change_form(request, context, *args, **options)

    def approve_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the draft beside the approved reply (GET), or approve it (POST)."""
        if not request.user.has_perm(APPROVE):
            raise PermissionDenied
        reply = _find_reply(object_id)
        if reply is None:
            raise Http404
        by = cast(User, request.user)
        page = reverse("admin:qa_app_safetyreply_change", args=[reply.pk])
        if request.method == "POST":
            return self._approve(request, reply, by, page)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Approve {reply}",
            "opts": self.opts,
            "reply": reply,
            "current": SafetyReply.objects.find_approved(reply.route),
            "obstacle": reply.obstacle_to_approval(by),
            "page": page,
        }
        return TemplateResponse(request, "admin/qa_app/safetyreply/approve.html", context)

    def _approve(self, request: HttpRequest, reply: SafetyReply, by: User, page: str) -> HttpResponse:
        try:
            reply.approve(by=by, now=timezone.now(), seen=_find_time(request.POST.get("seen", "")))
        except ValidationError as error:
            for reason in error.messages:
                self.message_user(request, reason, messages.ERROR)
            return HttpResponseRedirect(page)
        self.log_change(request, reply, "Approved.")
        self.message_user(request, f"Approved: readers now see {reply}.", messages.SUCCESS)
        return HttpResponseRedirect(page)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SafetyReply]:
        return super().get_queryset(request).select_related("written_by", "reviewed_by")


def _find_reply(key: str) -> SafetyReply | None:
    if not (key.isascii() and key.isdecimal() and len(key) < 19):
        return None
    return SafetyReply.objects.select_related("written_by").filter(pk=key).first()


def _find_time(text: str) -> Any:
    try:
        return parse_datetime(text)
    except ValueError:
        return None
