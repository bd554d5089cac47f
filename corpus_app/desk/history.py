"""The history page of a row: its events, their differences, and a button that undoes each."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from corpus_app import curation
from corpus_app.curation import history
from corpus_app.desk.base import EXPECTED_ERRORS, CurationAdmin, curator, error_messages
from corpus_app.models import CorpusEvent

PER_PAGE = 30


class HistoryMixin(CurationAdmin):
    """An admin class whose history page shows the corpus's audit events."""

    def events_of(self, obj: Any) -> QuerySet[CorpusEvent]:
        return history.of_entry(obj)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        obj = self.get_object(request, object_id)
        if obj is None:
            messages.warning(request, f"This {self.opts.verbose_name} doesn’t exist, or no longer.")
            return HttpResponseRedirect(reverse("admin:index"))
        if not self.has_view_or_change_permission(request, obj):
            raise PermissionDenied
        if request.method == "POST":
            return self._restore(request, obj)
        page = Paginator(
            self.events_of(obj).select_related("corpus_version", "bulk_edit", "import_job"), PER_PAGE
        ).get_page(request.GET.get("p"))
        context = {
            **self.admin_site.each_context(request),
            "title": f"History of {obj}",
            "opts": self.opts,
            "object": obj,
            "page": page,
            "entries": list(history.entries_of(page.object_list)),
            "may_restore": self.has_change_permission(request, obj),
        }
        return TemplateResponse(request, "admin/corpus_app/history.html", context)

    def _restore(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if not self.has_change_permission(request, obj):
            raise PermissionDenied
        key = request.POST.get("event", "")
        event = self.events_of(obj).filter(pk=key).first() if key.isdecimal() and len(key) < 19 else None
        if event is None:
            raise Http404
        try:
            curation.restore(event.pk, by=curator(request))
        except EXPECTED_ERRORS as error:
            for reason in error_messages(error):
                messages.error(request, reason)
        else:
            messages.success(request, "Put back as it was before.")
        return HttpResponseRedirect(request.path)
