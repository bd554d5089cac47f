"""The graph of a concept's neighbours, and the page of frequent terms that belong to no concept."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import slugify

from corpus_app import curation, hooks
from corpus_app.desk import terms
from corpus_app.desk.base import EXPECTED_ERRORS, curator, error_messages
from corpus_app.models import Concept, ConceptAlias, ConceptRelation, Passage, Study

WIDTH, HEIGHT = 720, 420
MOST_DRAWN = 14
LONGEST_LABEL = 24
PASSAGES_READ = 3_000  # sample of a larger corpus; reading it takes about a second


@dataclass(frozen=True, slots=True)
class DrawnNeighbour:
    concept: Concept
    relation: str
    key: int
    """Primary key of the relation."""
    studies: int
    is_outward: bool
    x: float
    y: float

    @property
    def label(self) -> str:
        return shorten(self.concept.name)

    @property
    def address(self) -> str:
        return reverse("admin:corpus_app_concept_change", args=[self.concept.pk])

    @property
    def label_position(self) -> tuple[float, float]:
        """Return x and y of the relation's label, nearer to the neighbour than to the crowded centre."""
        x, y = WIDTH / 2 + 0.6 * (self.x - WIDTH / 2), HEIGHT / 2 + 0.6 * (self.y - HEIGHT / 2)
        return round(x, 1), round(y, 1)


def find_neighbours(concept: Concept) -> list[DrawnNeighbour]:
    """Return the concept's neighbours placed on an ellipse around it, those with the most studies first."""
    found: list[tuple[Concept, ConceptRelation, bool, int]] = []
    for side, is_outward in (("source", True), ("target", False)):
        rows = ConceptRelation.objects.filter(**{side: concept}).select_related("source", "target")
        for counted in rows.annotate(n_studies=Count("conceptrelationstudy")):
            other = counted.target if is_outward else counted.source
            found.append((other, counted, is_outward, counted.n_studies))
    found.sort(key=lambda entry: (-entry[3], entry[0].name, entry[1].pk))
    drawn = min(len(found), MOST_DRAWN)
    drawn_neighbours = []
    for place, (other, row, is_outward, n) in enumerate(found):
        angle = 2 * math.pi * place / max(1, drawn) - math.pi / 2
        x, y = WIDTH / 2 + 0.37 * WIDTH * math.cos(angle), HEIGHT / 2 + 0.42 * HEIGHT * math.sin(angle)
        drawn_neighbours.append(
            DrawnNeighbour(other, row.relation.replace("_", " "), row.pk, n, is_outward, round(x, 1), round(y, 1))
        )
    return drawn_neighbours


def picture(concept: Concept) -> dict[str, Any]:
    found = find_neighbours(concept)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "label": shorten(concept.name),
        "drawn": found[:MOST_DRAWN],
        "listed": found,
    }


def shorten(words: str) -> str:
    return words if len(words) <= LONGEST_LABEL else f"{words[: LONGEST_LABEL - 1].rstrip()}…"


# --- Unmapped terms


def unmapped_terms(model_admin: admin.ModelAdmin[Concept], request: HttpRequest) -> HttpResponse:
    """List the terms on GET; on POST make the chosen ones (`term`) aliases of `concept`."""
    may_change = model_admin.has_change_permission(request)
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    if request.method == "POST":
        if not may_change:
            raise PermissionDenied
        return _make_aliases(request)
    found = find_unmapped_terms()
    add, listed = reverse("admin:corpus_app_concept_add"), reverse("admin:corpus_app_passage_changelist")
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Words that belong to no concept",
        "opts": model_admin.opts,
        "terms": [(term, slugify(term.words)[:80]) for term in found],
        "add": add,
        "passages": listed,
        "concepts": Concept.objects.order_by("name").values_list("pk", "name") if may_change else (),
        "may_add": model_admin.has_add_permission(request),
    }
    return TemplateResponse(request, "admin/corpus_app/concept/terms.html", context)


def find_unmapped_terms() -> tuple[terms.Term, ...]:
    """Return the frequent terms of passages and questions that belong to no concept."""
    names = [*Concept.objects.values_list("name", flat=True), *ConceptAlias.objects.values_list("name", flat=True)]
    authors = Study.objects.values_list("authors", flat=True)
    people = {part for listed in authors for author in listed for part in author.split()[:-1]}  # written as Family AB
    return terms.find_unmapped(_passages(), asked_questions(), names, people=people)


def _passages() -> Iterable[str]:
    rows = Passage.objects.searchable()
    return rows.order_by("content_hash", "pk").values_list("text", flat=True)[:PASSAGES_READ]


def asked_questions() -> Iterable[tuple[str, int]]:
    """Yield questions and how often each was asked."""
    for source in hooks.question_sources:
        yield from source()


def _make_aliases(request: HttpRequest) -> HttpResponse:
    concept = Concept.objects.filter(pk=request.POST.get("concept", "").replace("\0", "")).first()
    chosen = [words.strip() for words in request.POST.getlist("term") if words.strip()]
    if concept is None or not chosen:
        messages.error(request, "Choose words and the concept that they mean.")
        return HttpResponseRedirect(request.path)
    try:
        with curation.act(by=curator(request)):
            for words in chosen:
                curation.add_alias(concept.pk, words, by=curator(request))
    except EXPECTED_ERRORS as error:
        for reason in error_messages(error):
            messages.error(request, reason)
    else:
        messages.success(request, f"{concept.name} is now also known as {', '.join(chosen)}.")
    return HttpResponseRedirect(request.path)
