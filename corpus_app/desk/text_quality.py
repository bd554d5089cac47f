"""The section of text faults on the pages of studies and passages, and its buttons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from corpus_app import curation
from corpus_app.curation import gate
from corpus_app.curation.gate import CheckedFault
from corpus_app.desk.base import EXPECTED_ERRORS, curator, error_messages
from corpus_app.models import Passage, Study

AROUND = 60  # characters shown before and after a fault
MEND, WAIVE = "corpus_app.change_passage", "corpus_app.add_qualitywaiver"


@dataclass(frozen=True, slots=True)
class ShownFault:
    passage: int
    number: int
    checked: CheckedFault
    before: str
    after: str

    @property
    def kind(self) -> str:
        return self.checked.fault.kind.replace("_", " ")


def context(request: HttpRequest, passages: Sequence[Passage], *, back: str) -> dict[str, Any]:
    """Return the template context of the section; `back` names the page that its buttons return to."""
    shown = list(_shown(passages))
    return {
        "quality_shown": shown,
        "quality_open": sum(row.checked.is_open for row in shown),
        "quality_mendable": sum(row.checked.fault.mend is not None and not row.checked.waived for row in shown),
        "quality_back": back,
        "may_mend": request.user.has_perm(MEND),
        "may_waive": request.user.has_perm(WAIVE),
    }


def _shown(passages: Sequence[Passage]) -> Iterator[ShownFault]:
    found = gate.faults_of_loaded(passages)
    for passage in sorted(passages, key=lambda passage: passage.position):
        for checked in found.get(passage.pk, ()):
            start, end = checked.fault.start, checked.fault.end
            before, after = passage.text[max(0, start - AROUND) : start], passage.text[end : end + AROUND]
            yield ShownFault(passage.pk, passage.position + 1, checked, before, after)


def apply_verb(model_admin: admin.ModelAdmin[Study], request: HttpRequest, object_id: str) -> HttpResponse:
    """Apply a button of the section: correct one fault or all of the study, or waive one."""
    study = model_admin.get_object(request, object_id)
    if study is None or request.method != "POST":
        raise Http404
    verb = request.POST.get("verb", "")
    if not request.user.has_perm(WAIVE if verb == "waive" else MEND):
        raise PermissionDenied
    try:
        messages.success(request, _apply(request, study, verb))
    except EXPECTED_ERRORS as error:
        for reason in error_messages(error):
            messages.error(request, reason)
    key, place = request.POST.get("passage", ""), request.POST.get("place", "")
    address = reverse("admin:corpus_app_study_change", args=[study.pk])
    if request.POST.get("back") == "passage" and key.isdecimal():
        address = reverse("admin:corpus_app_passage_change", args=[key])
    next_fault = f"#text-{place}" if place.isdecimal() else ""  # the one after it has moved up
    return HttpResponseRedirect(address + next_fault)


def _apply(request: HttpRequest, study: Study, verb: str) -> str:
    by = curator(request)
    if verb == "mend_all":
        changed = curation.correct_study(study.study_id, by=by)
        return f"Corrected {changed} passage{'' if changed == 1 else 's'}. Read them once more."
    key = request.POST.get("passage", "")
    passage = study.passages.filter(pk=key).first() if key.isdecimal() and len(key) < 19 else None
    if passage is None or verb not in {"mend", "waive"}:
        raise Http404
    if verb == "mend":
        curation.apply_corrections(passage.pk, [request.POST.get("finding", "")], by=by)
        return f"Corrected in passage {passage.position + 1}."
    curation.waive(passage.pk, request.POST.get("finding", ""), reason=request.POST.get("reason", ""), by=by)
    return f"It stays as it is in passage {passage.position + 1}, as long as its words stay as they are."
