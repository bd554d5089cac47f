"""Admin pages of duplicate studies: the list of pairs, and the page that compares and merges two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from corpus_app import curation, hooks, sources
from corpus_app.appraisal import RiskOfBias
from corpus_app.curation.history import as_text
from corpus_app.desk.base import EXPECTED_ERRORS, curator, error_messages
from corpus_app.models import Concept, Passage, Study
from corpus_app.records import Status
from corpus_app.sources.duplicates import Duplicate, KnownStudy

NEEDED = ("corpus_app.change_study", "corpus_app.publish_study")  # a merge withdraws the other study


def may_merge(request: HttpRequest) -> bool:
    return request.user.has_perms(NEEDED)


def pairs() -> Iterator[Duplicate]:
    """Yield each pair of similar studies once; `known` is the one to keep. Withdrawn studies are left out."""
    columns = ("study_id", "title", "year", "authors", "doi", "pmid")
    rows = Study.objects.exclude(status=Status.WITHDRAWN).values_list(*columns)
    known = [
        KnownStudy(key, title, year, names[0] if names else "", doi or "", pmid or "")
        for key, title, year, names, doi, pmid in rows
    ]
    found = [pair for pair in sources.duplicates(known, known) if pair.new < pair.known]
    weights = _weights({key for pair in found for key in (pair.new, pair.known)})
    for pair in found:
        keep, other = order_by_loss(pair.known, pair.new, weights=weights)
        yield replace(pair, new=other, known=keep)


def order_by_loss(one: str, two: str, *, weights: Mapping[str, tuple[int, ...]] | None = None) -> tuple[str, str]:
    """Return the study to keep, then the other: published before unpublished, then by passages, then by age."""
    found = _weights({one, two}) if weights is None else weights
    keep, other = sorted((one, two), key=lambda key: (found[key], key))
    return keep, other


def _weights(keys: set[str]) -> dict[str, tuple[int, ...]]:
    rows = Study.objects.filter(study_id__in=keys).annotate(n=Count("passages"))
    return {
        study_id: (status != Status.PUBLISHED, -n, pk)
        for study_id, status, n, pk in rows.values_list("study_id", "status", "n", "pk")
    }


def duplicates(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponse:
    if not may_merge(request):
        raise PermissionDenied
    found = list(pairs())
    keys = {key for pair in found for key in (pair.new, pair.known)}
    titles = dict(Study.objects.filter(study_id__in=keys).values_list("study_id", "title"))
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Studies that may be one",
        "opts": model_admin.opts,
        "pairs": [(pair, titles[pair.new], titles[pair.known]) for pair in found],
    }
    return TemplateResponse(request, "admin/corpus_app/study/duplicates.html", context)


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
