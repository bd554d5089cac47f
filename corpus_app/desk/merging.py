"""Admin pages of duplicate studies: the list of pairs, and the page that compares and merges two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from corpus_app import curation, hooks, sources
from corpus_app.appraisal import RiskOfBias
from corpus_app.curation import bulk, distinctions
from corpus_app.curation.history import as_text
from corpus_app.curation.merging import NEEDED, merge_pair, pairs
from corpus_app.desk.base import EXPECTED_ERRORS, curator, error_messages
from corpus_app.models import Concept, DistinctStudies, Passage, Study
from corpus_app.records import Status

MOST_DISTINCT = 100  # pairs told apart that the page shows


def may_merge(request: HttpRequest) -> bool:
    return request.user.has_perms(NEEDED)


def duplicates(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponse:
    if not may_merge(request):
        raise PermissionDenied
    if request.method == "POST":
        try:
            return HttpResponseRedirect(_apply_verb(request))
        except EXPECTED_ERRORS as error:
            for reason in error_messages(error):
                messages.error(request, reason)
        return HttpResponseRedirect(request.path)
    found = sorted(pairs(), key=lambda pair: not pair.is_sure)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Studies that may be one"),
        "opts": model_admin.opts,
        "pairs": found,
        "sure": sum(pair.is_sure for pair in found),
        "has_published": any(pair.is_sure and pair.is_published for pair in found),
        "distinct": DistinctStudies.objects.all()[:MOST_DISTINCT],
    }
    return TemplateResponse(request, "admin/corpus_app/study/duplicates.html", context)


def _apply_verb(request: HttpRequest) -> str:
    """Apply the pressed button of the list of pairs; return the address of the page that follows."""
    by = curator(request)
    verb, _, named = request.POST.get("verb", "").partition(":")
    one, _, other = named.partition(" ")
    match verb:
        case "accept":
            edit = bulk.preview_merges(reason=request.POST.get("reason", ""), by=by)
            return reverse("admin:corpus_app_bulkedit_change", args=[edit.pk])
        case "merge":
            merge_pair(one, other, reason="", by=by)
            messages.success(request, f"{other} was merged into {one} and withdrawn.")
        case "apart":
            distinctions.mark_distinct(one, other, by=by)
            messages.success(request, f"{one} and {other} are not the same: they are not shown together again.")
        case "together":
            distinctions.undo_distinction(one, other, by=by)
    return request.path


@dataclass(frozen=True, slots=True)
class FieldRow:
    name: str
    ours: str
    theirs: str
    is_ours_empty: bool


def merge(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponse:
    """Show `keep` and `other` side by side on GET; merge them on POST."""
    if not may_merge(request):
        raise PermissionDenied
    asked = request.POST if request.method == "POST" else request.GET
    keep, other = (_find(asked.get(name, "")) for name in ("keep", "other"))
    errors: tuple[str, ...] = ()
    if request.method == "POST":
        take = [name for name in request.POST.getlist("take") if name in curation.TAKEABLE]
        passages = [int(key) for key in request.POST.getlist("passages") if key.isdecimal() and len(key) < 19]
        reason = request.POST.get("reason", "")
        try:
            curation.merge(
                keep.study_id, other.study_id, take=take, passages=passages, reason=reason, by=curator(request)
            )
        except EXPECTED_ERRORS as error:
            errors = error_messages(error)
        else:
            messages.success(request, f"{other.study_id} was merged into {keep.study_id} and withdrawn.")
            return HttpResponseRedirect(reverse("admin:corpus_app_study_change", args=[keep.pk]))
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": f"Merge {other.study_id} into {keep.study_id}",
        "opts": model_admin.opts,
        "keep": keep,
        "other": other,
        "rows": list(_rows(keep, other)),
        "passages": _passages(keep, other),
        "errors": errors,
        "reason": request.POST.get("reason", ""),
        "needs_reason": Status.PUBLISHED in {keep.status, other.status},
        "impacts": hooks.impacts([other.study_id]),
    }
    return TemplateResponse(request, "admin/corpus_app/study/merge.html", context)


def _find(study_id: str) -> Study:
    study = None if "\0" in study_id else Study.objects.filter(study_id=study_id).first()
    if study is None:
        raise Http404
    return study


def _rows(keep: Study, other: Study) -> Iterator[FieldRow]:
    for name, ours, theirs in sources.differences(curation.draft_of(keep), curation.draft_of(other)):
        if name in curation.TAKEABLE and (shown := _shown(theirs)):
            is_empty = not ours or ours in {"not_reported", "other"}
            if name == "concepts":
                ours, shown = _names(ours), _shown(_names(theirs))
            yield FieldRow(name, _shown(ours), shown, is_empty)


def _names(concept_ids: Iterable[str]) -> tuple[str, ...]:
    names = dict(Concept.objects.filter(pk__in=concept_ids).values_list("pk", "name"))
    return tuple(names.get(concept_id, concept_id) for concept_id in concept_ids)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "\n".join(getattr(part, "words", "") or str(part) for part in value)
    if isinstance(value, RiskOfBias):
        return value.words
    return as_text(value) if value != "not_reported" else ""


def _passages(keep: Study, other: Study) -> list[tuple[Passage, bool]]:
    """Return the other study's passages, and whether the study to keep has each already."""
    present = set(keep.passages.values_list("text", flat=True))
    return [(passage, passage.text in present) for passage in other.passages.order_by("position")]
