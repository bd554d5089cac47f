"""Filters of the list of studies, each kept under a name, for one curator or for the whole desk."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from corpus_app.desk.base import CleanTextForm, DeskAdmin, curator
from corpus_app.models import SavedFilter


def visible_to(request: HttpRequest) -> QuerySet[SavedFilter]:
    """Return a curator's own filters and those that others share."""
    return SavedFilter.objects.filter(Q(owner=curator(request)) | Q(is_shared=True)).select_related("owner")


def _address(saved: SavedFilter) -> str:
    return f"{reverse('admin:corpus_app_study_changelist')}?{saved.query}"


@admin.register(SavedFilter)
class SavedFilterAdmin(DeskAdmin):
    """Whoever sees studies keeps filters of their own, and sees the shared ones."""

    form = CleanTextForm
    fields = ("name", "is_shared", "query")
    list_display = ("name", "studies", "owner", "is_shared")
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedFilter]:
        return visible_to(request)

    @admin.display(description=_("studies"))
    def studies(self, saved: SavedFilter) -> str:
        """Return a link to the list."""
        return format_html('<a href="{}">Show<span class="visually-hidden"> {}</span></a>', _address(saved), saved)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("corpus_app.view_study")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: SavedFilter | None = None) -> bool:
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: SavedFilter | None = None) -> bool:
        return self.has_module_permission(request) and (obj is None or obj.owner_id == request.user.pk)

    has_delete_permission = has_change_permission

    def save_model(self, request: HttpRequest, obj: SavedFilter, form: Any, change: bool) -> None:
        if not change:
            obj.owner = curator(request)
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: SavedFilter, post_url_continue: Any = None) -> HttpResponse:
        """Lead back to the list, which offers the filter now."""
        self.message_user(request, f"Saved: {obj}.", "success")
        return HttpResponseRedirect(_address(obj))
