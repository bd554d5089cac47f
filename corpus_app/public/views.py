"""Public pages of the corpus: browse and search, one study, topics, and recent changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as N_
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from corpus_app import search
from corpus_app.facets import key_of, parameter_of
from corpus_app.public import browsing, changes, selection
from corpus_app.public.pictures import Histogram, draw_histogram, draw_neighbours
from corpus_app.public.selection import Selection
from corpus_app.site_texts import facet_words
from corpus_app.templatetags import corpus_words

# Caches must revalidate, because a study can be withdrawn at any moment.
current = cache_control(public=True, no_cache=True)

View = Callable[..., HttpResponse]


def in_one_version(view: View) -> View:
    """Decorate a view so that all its reads see one version of the corpus."""

    @wraps(view)
    def shown(request: HttpRequest, **arguments: str) -> HttpResponse:
        with search.snapshot():
            return view(request, **arguments)

    return shown


Names = Mapping[str, Mapping[str, str]]

LABELS = {
    "q": N_("the words"),
    "collection": N_("the collection"),
    "design": N_("the kind of study"),
    "topic": N_("the topic"),
    "notice": N_("the notice"),
    "from": N_("the first year"),
    "to": N_("the last year"),
    "sort": N_("the order"),
    "page": N_("the page"),
}
FACETS = (
    ("collection", N_("Collection")),
    ("design", N_("Kind of study")),
    ("topic", N_("Outcome")),
    ("notice", N_("Notice")),
)
"""Filters of every corpus; those of declared facets stand before the last."""
SORTS = {"relevance": N_("Best match"), "newest": N_("Newest"), "title": N_("Title")}
CHOICES_SHOWN = 8
STUDIES_OF_TOPIC = 20
FINDINGS_OF_DIRECTION = 5  # visible at once; the others are folded
FINDINGS_SHOWN = 20


@current
@require_safe
@in_one_version
def browse(request: HttpRequest) -> HttpResponse:
    """Show published studies filtered by words, facets and years."""
    known = browsing.known_values()
    chosen, ignored = selection.read({name: request.GET.getlist(name) for name in request.GET}, known=known)
    found = browsing.browse(chosen)
    names = browsing.facet_names()
    context = {
        "chosen": chosen,
        "found": found,
        "ignored": [gettext(LABELS[name]) if name in LABELS else _facet_label(name) for name in ignored],
        "active": list(_active(chosen, names)),
        "facets": list(_facets(chosen, found, names)),
        "hidden": [pair for pair in chosen.parameters() if pair[0] not in {"q", "from", "to", "page"}],
        "hidden_years": [pair for pair in chosen.parameters() if pair[0] in {"from", "to"}],
        "sorts": [
            {"words": gettext(SORTS[sort]), "query": chosen.sorted_by(sort).query, "is_on": chosen.sort == sort}
            for sort in selection.SORTS
            if chosen.words or sort != "relevance"
        ],
        "histogram": _histogram(chosen, found),
        "pages": list(_pages(chosen, found)),
        "first": (found.page - 1) * browsing.PAGE_SIZE + 1,
        "last": (found.page - 1) * browsing.PAGE_SIZE + len(found.listed),
        "popular": _popular_topics(found),
    }
    return render(request, "corpus/browse.html", context)


@current
@require_safe
def study(request: HttpRequest, study_id: str) -> HttpResponse:
    """Show a published study, or an archived one; drafts, withdrawn and unknown studies give the same 404."""
    detail = browsing.find_study(study_id, with_archived=True)
    if detail is None:
        raise Http404
    context = {
        "detail": detail,
        "found": detail.page,
        "study": detail.page.study,
        "address": request.build_absolute_uri(reverse("study", args=[study_id])),
    }
    return render(request, "corpus/study.html", context)


@current
@require_safe
@in_one_version
def topics(request: HttpRequest) -> HttpResponse:
    """List all topics of published studies by kind."""
    kinds: dict[str, list[browsing.Topic]] = {}
    for topic in browsing.topics().values():
        kinds.setdefault(topic.concept.kind, []).append(topic)
    grouped = [
        (corpus_words.concept_kind_words(kind), sorted(found, key=lambda topic: topic.concept.name.casefold()))
        for kind, found in sorted(kinds.items(), key=lambda item: corpus_words.concept_kind_words(item[0]))
    ]
    return render(request, "corpus/topics.html", {"kinds": grouped})


@current
@require_safe
@in_one_version
def topic(request: HttpRequest, concept_id: str) -> HttpResponse:
    """Show a topic of published studies; any other concept, known or not, gives the same 404."""
    found = browsing.find_topic(concept_id)
    if found is None:
        raise Http404
    context = {
        "found": found,
        "concept": found.topic.concept,
        "picture": draw_neighbours(found),
        "studies": found.studies[:STUDIES_OF_TOPIC],
        "directions": [
            {"direction": direction, "count": len(rows), "first": rows[:FINDINGS_OF_DIRECTION],
             "more": rows[FINDINGS_OF_DIRECTION:FINDINGS_SHOWN], "left_out": max(0, len(rows) - FINDINGS_SHOWN)}
            for direction, rows in found.findings.items()
        ],
        "findings": sum(len(rows) for rows in found.findings.values()),
        "all_studies": reverse("corpus") + Selection().toggled("topic", concept_id).query,
    }  # fmt: skip
    return render(request, "corpus/topic.html", context)


@current
@require_safe
@in_one_version
def recent(request: HttpRequest) -> HttpResponse:
    """Show recent changes, newest first."""
    return render(request, "corpus/changes.html", {"changes": changes.latest()})


# --- Parts of the corpus page


def _words(facet: str, value: str, names: Names) -> str:
    """Return the label of a facet's value."""
    if facet in names:
        return names[facet].get(value, corpus_words.plain(value))
    by_facet = {
        "design": corpus_words.design_words,
        "notice": corpus_words.notice_words,
    }
    words = by_facet[facet](value) if facet in by_facet else corpus_words.facet_value_words(key_of(facet), value)
    return words or gettext("not reported")


def _labelled_facets() -> list[tuple[str, str]]:
    """Return the facets of the page with their labels, those that the corpus declares before the notices."""
    labels = dict(FACETS) | ({} if browsing.has_outcomes() else {"topic": "Topic"})
    *first, last = ((name, gettext(label)) for name, label in labels.items())
    declared = ((parameter_of(key), facet_words(facet.label)) for key, facet in search.site().facets.items())
    return [*first, *declared, last]


def _facet_label(name: str) -> str:
    return facet_words(search.site().facets[key_of(name)].label)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _active(chosen: Selection, names: Names) -> Any:
    """Yield each active filter, with the query that removes it."""
    if chosen.words:
        yield {"label": gettext("Words"), "words": chosen.words, "query": chosen.without_words().query}
    for facet, label in _labelled_facets():
        for value in sorted(chosen.values(facet)):
            words = _capital(_words(facet, value, names))
            yield {"label": label, "words": words, "query": chosen.toggled(facet, value).query}
    if chosen.has_years:
        yield {"label": gettext("Years"), "words": _years(chosen), "query": chosen.in_years(None, None).query}


def _years(chosen: Selection) -> str:
    if chosen.first_year is None:
        return gettext("up to %(year)s") % {"year": chosen.last_year}
    if chosen.last_year is None:
        return gettext("from %(year)s") % {"year": chosen.first_year}
    if chosen.first_year == chosen.last_year:
        return str(chosen.first_year)
    return gettext("%(first)s to %(last)s") % {"first": chosen.first_year, "last": chosen.last_year}


def _facets(chosen: Selection, found: browsing.ResultPage, names: Names) -> Any:
    """Yield each facet with its offered values, the most frequent first."""
    offered = browsing.offered_values()
    for facet, label in _labelled_facets():
        counts = {v: n for v, n in found.counts[facet].items() if v in offered[facet]}
        counts |= {value: found.counts[facet].get(value, 0) for value in chosen.values(facet)}
        rows = [
            {
                "words": _capital(_words(facet, value, names)),
                "is_of_corpus": facet in names,
                "count": count,
                "is_on": value in chosen.values(facet),
                "query": chosen.toggled(facet, value).query,
            }
            for value, count in counts.items()
        ]
        rows.sort(key=lambda row: (not row["is_on"], -int(str(row["count"])), str(row["words"])))
        if rows:
            yield {"label": label, "name": facet, "first": rows[:CHOICES_SHOWN], "more": rows[CHOICES_SHOWN:]}


def _histogram(chosen: Selection, found: browsing.ResultPage) -> Histogram | None:
    rows = {year: (count, chosen.in_years(year, year).query) for year, count in sorted(found.years.items())}
    return draw_histogram(rows, is_on=lambda year: _in_years(chosen, year)) if rows else None


def _in_years(chosen: Selection, year: int) -> bool:
    return (chosen.first_year or year) <= year <= (chosen.last_year or year)


def _pages(chosen: Selection, found: browsing.ResultPage) -> Any:
    """Yield links to the first, last and adjacent pages; None marks a gap."""
    shown = sorted(
        {1, found.pages, *range(max(1, found.page - 1), min(found.pages, found.page + 1) + 1)}
        if found.pages > 1
        else ()
    )
    for before, number in zip([0, *shown], shown, strict=False):
        if number > before + 1:
            yield None
        yield {"number": number, "query": chosen.on_page(number).query, "is_on": number == found.page}


def _popular_topics(found: browsing.ResultPage) -> list[dict[str, str]]:
    """Return the most frequent topics for a page without results; empty if there are results."""
    if found.total:
        return []
    return [
        {"words": topic.concept.name, "address": reverse("topic", args=[topic.concept.concept_id])}
        for topic in sorted(browsing.topics().values(), key=lambda t: (-t.studies, t.concept.concept_id))[:6]
    ]
