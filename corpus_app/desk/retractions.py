"""The admin page that checks a retraction list: upload it, see the matches, set the notices."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from corpus_app import curation, hooks
from corpus_app.desk import state
from corpus_app.desk.base import curator
from corpus_app.models import Study
from corpus_app.records import Notice
from corpus_app.sources import retractions
from corpus_app.sources.retractions import Match, RetractionEntry

LARGEST_FILE = 200_000_000  # bytes; the complete Retraction Watch data take a third of it
SALT = "retractions"


class ListForm(forms.Form):
    file = forms.FileField(help_text="CSV with a column of DOIs or PMIDs, such as the Retraction Watch data.")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise ValidationError("The file is larger than 200 MB.")
        return file


def retraction_list(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponse:
    """Ask for the file on GET; show its matches on POST of a file; set the notices on POST of the matches."""
    if not request.user.has_perm(state.NOTICE.permission):
        raise PermissionDenied
    if "found" in request.POST:
        return _apply(request)
    form = ListForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            context = _found(form.cleaned_data["file"].read())
        except retractions.BadList as error:
            form.add_error("file", gettext(str(error)))
    context |= {
        **model_admin.admin_site.each_context(request),
        "title": "Check a retraction list",
        "opts": model_admin.opts,
        "form": form,
    }
    return TemplateResponse(request, "admin/corpus_app/study/retractions.html", context)


def _found(data: bytes) -> dict[str, Any]:
    reading = retractions.read(data)
    matches = tuple(retractions.match(reading.entries, Study.objects.values_list("study_id", "doi", "pmid")))
    studies = Study.objects.in_bulk([match.study_id for match in matches], field_name="study_id")
    rows = [(studies[match.study_id], match.entry) for match in matches]
    new = [(study, entry) for study, entry in rows if retractions.is_news(study.notice, entry)]
    signed = [[study.study_id, entry.notice.value, entry.reason] for study, entry in new]
    return {
        "read": len(reading.entries),
        "problems": reading.problems,
        "new": new,
        "known": len(rows) - len(new),
        "impacts": hooks.impacts([study.study_id for study, _ in new]) if new else (),
        "found": signing.dumps(signed, salt=SALT, compress=True),
        "was_read": True,
    }


def _apply(request: HttpRequest) -> HttpResponse:
    try:
        rows = signing.loads(request.POST["found"], salt=SALT, max_age=3_600)
    except signing.BadSignature:
        messages.error(request, "This page has grown too old. Choose the file again.")
        return HttpResponseRedirect(request.path)
    matches = [Match(study, RetractionEntry(0, None, None, Notice(notice), reason)) for study, notice, reason in rows]
    done = curation.apply_retractions(matches, by=curator(request))
    messages.success(request, f"Marked: {', '.join(done) or 'nothing, it was so already'}.")
    if done:
        state.show_impacts(request, done)
    return HttpResponseRedirect(reverse("admin:corpus_app_study_changelist"))
