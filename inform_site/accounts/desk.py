"""The audit log at the desk, which is read and exported there; and allauth's own admin pages, which are not shown."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path

from corpus_app.desk.exports import IN_MEMORY_BYTES, PiecewiseResponse
from inform_site.accounts import audit
from inform_site.models import AuditEntry

if TYPE_CHECKING:  # generic for the type checker alone
    ModelAdmin = admin.ModelAdmin[AuditEntry]
else:
    ModelAdmin = admin.ModelAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ModelAdmin):
    list_display = ("at", "actor", "kind", "what", "address")
    list_display_links = ("at",)
    list_filter = ("kind", "at")
    search_fields = ("actor", "what", "detail", "address")
    list_per_page = 100
    show_full_result_count = False
    change_list_template = "admin/account/audit.html"
    fields = readonly_fields = ("at", "kind", "actor", "address", "agent", "what", "detail", "request_id")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        out = path("export/", self.admin_site.admin_view(self.export), name="inform_site_auditentry_export")
        return [out, *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Return all entries as CSV, or those that the list's filters and search leave."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        entries = self.get_changelist_instance(request).get_queryset(request)
        out = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - the response closes it
        for line in audit.csv_lines(entries.iterator(2_000)):
            out.write(line.encode())
        out.seek(0)
        response = PiecewiseResponse(out, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="audit.csv"'
        audit.record(
            audit.Kind.ACT, request=request, actor=request.user.get_username(), what="inform_site_auditentry_export"
        )
        return response


def hide_library_pages() -> None:
    """Take the admin pages of allauth away: they would show and change secrets, and write no history."""
    for model in (Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken, UserSession):
        if admin.site.is_registered(model):
            admin.site.unregister(model)
