"""A curator's queue of studies, the filters of the list that serve it, and the way from one study to the next."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from corpus_app import curation
from corpus_app.curation import gate
from corpus_app.desk.base import EXPECTED_ERRORS, curator, error_messages
from corpus_app.models import Study
from corpus_app.records import Status

PARAMETER = "queue"
MINE, ME, NOBODY, OTHERS = "mine", "me", "nobody", "others"
MY_QUEUE = urlencode({PARAMETER: MINE})
NO_FILTER = ("p", "e", "_facets", "_popup", "all")  # parameters of a list that narrow nothing
SESSION_KEY = "filter_of_studies"


def own_queue(by: User) -> QuerySet[Study]:
    """Return the drafts that a curator works on, and the studies that wait for their review."""
    to_review = []
    if by.has_perm("corpus_app.publish_study"):
        waiting = list(Study.objects.in_use().filter(status=Status.IN_REVIEW))
        stopped = curation.find_review_obstacles(waiting, by)
        to_review = [study.pk for study in waiting if study.study_id not in stopped]
    return Study.objects.in_use().filter(Q(assignee=by, status=Status.DRAFT) | Q(pk__in=to_review))


class QueueFilter(admin.SimpleListFilter):
    title, parameter_name = "who works on it", PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(MINE, "My queue"), (ME, "Me"), (NOBODY, "Nobody"), (OTHERS, "Others")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        by = curator(request)
        if self.value() == MINE:
            return queryset.filter(pk__in=own_queue(by).values("pk"))
        if self.value() == ME:
            return queryset.filter(assignee=by)
        if self.value() == NOBODY:
            return queryset.filter(assignee=None)
        return queryset.exclude(assignee=None).exclude(assignee=by) if self.value() == OTHERS else queryset


class LabelFilter(admin.SimpleListFilter):
    title, parameter_name = "label", "label"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        lists = Study.objects.exclude(labels=[]).order_by().values_list("labels", flat=True).distinct()
        return [(label, label) for label in sorted({label for labels in lists for label in labels})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(labels__contains=[self.value()]) if self.value() else queryset


class TextFilter(admin.SimpleListFilter):
    title, parameter_name = "text", "text"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Blocks publishing"), ("none", "No passages")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "none":
            return queryset.filter(passages=None)
        if self.value() != "open":
            return queryset
        return queryset.filter(pk__in=gate.known_blocked().order_by().values("study"))


class AssigneeForm(forms.Form):
    """The curator who works on a study."""

    assignee = forms.ModelChoiceField(
        User.objects.filter(is_active=True, is_staff=True).order_by("username"),
        label="Works on it",
        required=False,
        empty_label="Nobody",
        to_field_name="username",
    )


def assign(model_admin: admin.ModelAdmin[Study], request: HttpRequest, object_id: str) -> HttpResponse:
    """Give a study to the posted curator, or to nobody."""
    study, form = model_admin.get_object(request, object_id), AssigneeForm(request.POST)
    if study is None or request.method != "POST":
        raise Http404
    if not model_admin.has_change_permission(request, study):
        raise PermissionDenied
    if form.is_valid():
        assignee = form.cleaned_data["assignee"]
        try:
            curation.assign_study(study.study_id, assignee, by=curator(request))
            name = assignee.get_username() if assignee else "nobody"
            messages.success(request, f"Works on {study.study_id}: {name}.")
        except EXPECTED_ERRORS as error:
            for reason in error_messages(error):
                messages.error(request, reason)
    else:
        messages.error(request, "Nothing was changed: choose somebody of the list, or nobody.")
    return HttpResponseRedirect(reverse("admin:corpus_app_study_change", args=[study.pk]))


def remember_filter(request: HttpRequest) -> str:
    """Return the filter of the list that is asked for, and keep it for the way to the next study."""
    query = request.GET.copy()
    for name in NO_FILTER:
        query.pop(name, None)
    shown = query.urlencode()
    if shown != request.session.get(SESSION_KEY, ""):
        request.session[SESSION_KEY] = shown
    return shown


def list_address(request: HttpRequest, *, unfiltered: str = MY_QUEUE) -> str:
    """Return the address of the list as the curator filtered it last, else with the filter `unfiltered`."""
    query = request.session.get(SESSION_KEY) or unfiltered
    return reverse("admin:corpus_app_study_changelist") + (f"?{query}" if query else "")


def next_study(model_admin: admin.ModelAdmin[Study], request: HttpRequest, object_id: str) -> HttpResponse:
    """Lead to the study after this one in the list that was filtered last, else to that list."""
    study, listed = model_admin.get_object(request, object_id), list_address(request)
    if study is None:
        raise Http404
    request.GET = QueryDict(listed.partition("?")[2])  # the list reads its filter there
    try:
        studies = model_admin.get_changelist_instance(request).get_queryset(request)
    except (IncorrectLookupParameters, DisallowedModelAdminLookup):
        return HttpResponseRedirect(listed)
    keys = list(studies.values_list("pk", flat=True))
    if study.pk in keys:
        following = keys[keys.index(study.pk) + 1 :]
    else:  # it has left the list, as a study leaves a queue when it is handed over
        following = list(studies.filter(study_id__gt=study.study_id).values_list("pk", flat=True)[:1])
    if following:
        return HttpResponseRedirect(reverse("admin:corpus_app_study_change", args=following[:1]))
    messages.info(request, _("No study comes after %(id)s in this list.") % {"id": study.study_id})
    return HttpResponseRedirect(listed)
