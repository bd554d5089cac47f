"""Admin pages of bulk edits: say what to change in the chosen studies, preview it, confirm it, and undo it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from corpus_app import hooks
from corpus_app.curation import bulk, changing
from corpus_app.curation.changing import Planned
from corpus_app.curation.history import as_text
from corpus_app.desk.base import EXPECTED_ERRORS, DeskAdmin, LinesField, curator, error_messages
from corpus_app.desk.facets import FacetsField, facet_choices
from corpus_app.facets import facets_from_json, to_pairs
from corpus_app.models import BulkEdit, BulkEditItem, Collection, Concept, ImportItem, ImportJob, Study
from corpus_app.records import LABEL_LETTERS, Notice
from corpus_app.templatetags.corpus_words import design_choices

SHOWN = 50  # studies in a preview
PER_PAGE = 50
REFRESH_SECONDS = 2
LEAVE = ("", "Leave as it is")
NOBODY = "-"
WAYS = (LEAVE, ("add", "Add these"), ("remove", "Take these away"), ("set", "Replace all by these"))


class WhatForm(forms.Form):
    """The fields that can change for many studies, each left as it is unless something is chosen."""

    collection = forms.ChoiceField(required=False)
    design = forms.ChoiceField(required=False)
    peer_reviewed = forms.ChoiceField(
        label="Peer reviewed", required=False, choices=[LEAVE, ("true", "Yes"), ("false", "No")]
    )
    assignee = forms.ChoiceField(required=False, help_text="The curator who works on them.")
    concepts_way = forms.ChoiceField(label="Concepts", required=False, choices=WAYS)
    concepts = forms.ModelMultipleChoiceField(
        Concept.objects.order_by("name"),
        label="Which concepts",
        required=False,
        widget=forms.SelectMultiple({"size": 8}),
    )
    labels_way = forms.ChoiceField(label="Labels", required=False, choices=WAYS)
    labels = LinesField(label="Which labels", max_length=LABEL_LETTERS, rows=3)
    facets_way = forms.ChoiceField(
        label="Facets", required=False, choices=WAYS, help_text="Replacing keeps the facets of which nothing is ticked."
    )
    facets = FacetsField(label="Which values")
    notice = forms.ChoiceField(
        required=False,
        choices=[
            LEAVE,
            *((value.value, value.value.replace("_", " ").capitalize()) for value in Notice if value != Notice.NONE),
            (Notice.NONE.value, "None: take the notice away"),
        ],
    )
    reason = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 70}),
        help_text="Kept in the history. A notice needs one.",
    )

    def __init__(self, *args: Any, may_set_notice: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        self._choose("collection", Collection.objects.values_list("slug", "name"))
        names = User.objects.filter(is_active=True, is_staff=True).order_by("username")
        people = [(name, name) for name in names.values_list("username", flat=True)]
        self._choose("design", design_choices())
        self._choose("assignee", [(NOBODY, "Nobody"), *people])
        if facets := facet_choices(has_columns=True):
            self._fill("facets", facets)
        else:
            del self.fields["facets"], self.fields["facets_way"]
        if not may_set_notice:
            del self.fields["notice"]

    def _choose(self, name: str, values: Iterable[tuple[Any, Any]]) -> None:
        self._fill(name, [LEAVE, *values])

    def _fill(self, name: str, choices: Sequence[tuple[Any, Any]]) -> None:
        field: Any = self.fields[name]
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for field in changing.LISTS:
            has_way, has_entries = bool(cleaned.get(f"{field}_way")), bool(cleaned.get(field))
            if has_entries and not has_way:
                self.add_error(f"{field}_way", "Say what to do with these.")
            elif has_way and not has_entries and (cleaned[f"{field}_way"] != "set" or field == "facets"):
                self.add_error(field, "Say which.")
        return cleaned

    def changes(self) -> dict[str, Any]:
        """Return what is to change, as a bulk edit stores it."""
        asked = self.cleaned_data
        found = {name: asked[name] for name in ("collection", "design", "notice") if asked.get(name)}
        if asked["peer_reviewed"]:
            found["peer_reviewed"] = asked["peer_reviewed"] == "true"
        if asked["assignee"]:
            found["assignee"] = "" if asked["assignee"] == NOBODY else asked["assignee"]
        entries = {"concepts": [concept.pk for concept in asked["concepts"]], "labels": asked["labels"]}
        entries["facets"] = list(to_pairs(facets_from_json(asked.get("facets"))))
        for field, values in entries.items():
            if way := asked.get(f"{field}_way"):
                found[field] = {way: values}
        return found


class StatusForm(forms.Form):
    """The reason of a change of status, which is chosen already."""

    reason = WhatForm.base_fields["reason"]

    def __init__(self, *args: Any, status: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._status = status

    def changes(self) -> dict[str, Any]:
        return {"status": self._status}


def start(request: HttpRequest, studies: QuerySet[Study], **values: Any) -> HttpResponse:
    """Store the chosen studies as a bulk edit and lead to its page."""
    ids = studies.order_by("study_id").values_list("study_id", flat=True)
    edit = bulk.choose(ids, by=curator(request), **values)
    return HttpResponseRedirect(reverse("admin:corpus_app_bulkedit_change", args=[edit.pk]))


@admin.register(BulkEdit)
class BulkEditAdmin(DeskAdmin):
    list_display = ("what", "asked_by_name", "asked_at", "status", "progress")
    list_filter = ("status",)
    list_per_page = 50
    show_full_result_count = False
    ordering = ("-id",)

    @admin.display(description="what")
    def what(self, edit: BulkEdit) -> str:
        return str(edit)

    @admin.display(description="how far")
    def progress(self, edit: BulkEdit) -> str:
        return f"{edit.done:,} of {edit.total:,}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it begins with a choice in the list of studies

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # `change_view` shows a page of its own

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # the history names it

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        edit = self.get_object(request, object_id)
        if edit is None:
            raise Http404
        if not self.has_view_permission(request, edit):
            raise PermissionDenied
        may_act = request.user.has_perm("corpus_app.change_bulkedit")
        form = _form(request, edit)
        if request.method == "POST":
            if not may_act:
                raise PermissionDenied
            if response := self._apply_verb(request, edit, form):
                return response
        is_working = edit.status in bulk.TO_DO
        is_previewed = edit.status == BulkEdit.Status.PREVIEWED
        summary = bulk.summarize(bulk.plan(edit, by=curator(request)), shown=SHOWN) if is_previewed else None
        outcome = request.GET.get("outcome", "")
        found = edit.items.filter(outcome=outcome) if outcome in BulkEditItem.Outcome.values else edit.items.all()
        page = Paginator(found, PER_PAGE).get_page(request.GET.get("p"))
        context = {
            **self.admin_site.each_context(request),
            "title": str(edit),
            "opts": self.opts,
            "edit": edit,
            "form": form if may_act and bulk.is_open(edit) else None,
            "summary": summary,
            "is_merge": bulk.is_merge(edit),  # each study changes in its own way
            "first": [(one, _differences(one)) for one in summary.first] if summary else (),
            "impacts": _impacts(edit) if is_previewed else None,
            "refresh_seconds": REFRESH_SECONDS if is_working else None,
            "is_over": not is_working and edit.status not in bulk.OPEN,
            "outcomes": list(_outcomes(edit)),
            "outcome": outcome,
            "page": page,
            "rows": _with_studies(list(page)),
            "may_act": may_act,
            "can_undo": may_act and bulk.can_undo(edit),
            "undone_by": edit.undone_by.exclude(status=BulkEdit.Status.CANCELLED).first(),
        }
        return TemplateResponse(request, "admin/corpus_app/bulkedit/edit.html", context)

    def _apply_verb(self, request: HttpRequest, edit: BulkEdit, form: Any) -> HttpResponse | None:
        """Apply the pressed button; None means that the form has errors."""
        verb, by = request.POST.get("verb", ""), curator(request)
        try:
            if verb == "preview":
                if not form.is_valid():
                    return None
                bulk.preview(edit, form.changes(), reason=form.cleaned_data["reason"], by=by)
            elif verb == "confirm":
                bulk.confirm(edit, by=by)
                bulk.wake_worker()
            elif verb == "cancel":
                bulk.cancel(edit)
            elif verb == "again":
                bulk.try_again(edit)
                bulk.wake_worker()
            elif verb == "undo":
                edit = bulk.undo(edit, by=by)
        except EXPECTED_ERRORS as error:
            if verb == "preview":
                form.add_error(None, list(error_messages(error)))
                return None
            for reason in error_messages(error):
                messages.error(request, reason)
        return HttpResponseRedirect(reverse("admin:corpus_app_bulkedit_change", args=[edit.pk]))


def _form(request: HttpRequest, edit: BulkEdit) -> Any:
    data = request.POST if request.method == "POST" and request.POST.get("verb") == "preview" else None
    if status := edit.changes.get("status"):
        return StatusForm(data, status=status)
    return WhatForm(data, may_set_notice=request.user.has_perm("corpus_app.set_notice_study"))


def _differences(planned: Planned) -> list[tuple[str, str, str]]:
    return [(field, as_text(before), as_text(after)) for field, (before, after) in planned.changes.items()]


def _with_studies(items: Sequence[BulkEditItem]) -> list[tuple[BulkEditItem, int | None]]:
    """Return items with the keys of their studies; None for a study that is no longer here."""
    found = Study.objects.filter(study_id__in=[item.study_key for item in items])
    keys = dict(found.values_list("study_id", "pk"))
    return [(item, keys.get(item.study_key)) for item in items]


def _impacts(edit: BulkEdit) -> Any:
    """Return what rests on the studies, where the change can hide their text; else None."""
    hides = (
        edit.changes.get("status") == "withdraw"
        or bulk.is_merge(edit)
        or edit.changes.get("notice") == Notice.RETRACTED
    )
    return hooks.impacts(list(edit.items.values_list("study_key", flat=True))) if hides else None


def _outcomes(edit: BulkEdit) -> Iterator[tuple[str, str, int]]:
    counted = edit.report.get("outcomes", {})
    for outcome in BulkEditItem.Outcome:
        if number := counted.get(outcome.value):
            yield outcome.value, str(outcome.label), number


# --- The studies of an act, as a list


class ActFilter(admin.SimpleListFilter):
    """A filter that is there only while it is used: a link from the page of an act leads to it."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        given = request.GET.get(str(self.parameter_name), "")
        return [(given, self.words(int(given)))] if given.isdecimal() and len(given) < 10 else []

    def words(self, key: int) -> str:
        raise NotImplementedError

    def study_ids(self, key: int) -> Any:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Study]) -> QuerySet[Study]:
        return queryset.filter(study_id__in=self.study_ids(int(self.value() or 0)))


class ImportFilter(ActFilter):
    title, parameter_name = "import", "import"

    def words(self, key: int) -> str:
        job = ImportJob.objects.filter(pk=key).first()
        return f"Came in with {job}" if job else "An import that is not here"

    def study_ids(self, key: int) -> Any:
        came = ImportItem.objects.filter(job=key, outcome__in=["created", "updated"])
        return came.values("study_key")


class BulkEditFilter(ActFilter):
    title, parameter_name = "bulk edit", "bulk"

    def words(self, key: int) -> str:
        edit = BulkEdit.objects.filter(pk=key).first()
        return str(edit) if edit else "A bulk edit that is not here"

    def study_ids(self, key: int) -> Any:
        return BulkEditItem.objects.filter(bulk_edit=key).exclude(outcome="refused").values("study_key")
