"""The curator's desk: Django's admin with our name, and a front page that says what there is to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.module_loading import import_string

from corpus_app.records import Panel

Provider = Callable[[User], Iterable[Panel]]


class InformAdminSite(AdminSite):
    site_title = "InForm"
    site_header = "InForm curators"
    index_title = "The corpus"
    index_template = "admin/front_page.html"

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        providers: list[Provider] = [import_string(name) for name in settings.DASHBOARD_PROVIDERS]
        panels = [panel for provider in providers for panel in provider(cast(User, request.user))]
        panels.sort(
            key=lambda panel: (not any(figure.needs_care for figure in panel.figures), panel.as_bars)
        )  # work first
        shown = [(panel, max((figure.number for figure in panel.figures), default=0) or 1) for panel in panels]
        return super().index(request, {**(extra_context or {}), "panels": shown})
