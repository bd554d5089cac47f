"""The admin site for curators, with a front page that lists open work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.response import TemplateResponse

from corpus_app import hooks
from corpus_app.records import Panel


def _merge_work_panels(panels: Iterable[Panel]) -> Iterator[Panel]:
    """Merge the panels of open work by title and drop figures that are 0."""
    work: dict[str, Panel] = {}
    for panel in panels:
        if not panel.is_work:
            yield panel
            continue
        before = work[panel.title].figures if panel.title in work else ()
        waiting = tuple(figure for figure in panel.figures if figure.number)
        work[panel.title] = replace(panel, figures=before + waiting)
    yield from work.values()


class InformAdminSite(AdminSite):
    site_title = "InForm"
    site_header = "InForm curators"
    index_title = "Overview"
    empty_value_display = "–"
    index_template = "admin/front_page.html"

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        panels = list(
            _merge_work_panels(
                panel for provider in hooks.dashboard_panels for panel in provider(cast(User, request.user))
            )
        )
        panels.sort(
            key=lambda panel: (not panel.is_work, not any(figure.needs_care for figure in panel.figures), panel.as_bars)
        )  # work first
        shown = [(panel, max((figure.number for figure in panel.figures), default=0) or 1) for panel in panels]
        from inform_site.monitoring import health  # it needs models, which are loaded later
        from inform_site.start import steps, views  # it uses admin classes, which register at this site

        may_start = views.may_start(request)
        start = {"may_start": may_start, "steps": steps.steps() if may_start and steps.is_empty() else []}
        told = {"panels": shown, "health": health.part_statuses(cast(User, request.user))}
        return super().index(request, {**(extra_context or {}), **told, **start})

    def get_urls(self) -> list[Any]:
        from inform_site.start import views  # as above

        return [*views.StartPages(self).urls(), *super().get_urls()]
