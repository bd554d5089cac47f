"""Pages of the corpus: browse and search, one study, topics, and what has changed lately."""

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
from corpus_app.public import browsing, changes, selection
from corpus_app.public.pictures import Histogram, draw_histogram, draw_neighbours
from corpus_app.public.selection import Selection
from corpus_app.templatetags import corpus_words

# What is shown can change from one moment to the next (a study withdrawn), so it may be kept but must be asked for.
current = cache_control(public=True, no_cache=True)

View = Callable[..., HttpResponse]


def of_one_version(view: View) -> View:
    """Everything on the page is of one version of the corpus."""

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
    "age": N_("the age"),
    "sex": N_("the sex"),
    "training": N_("the training status"),
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
    ("age", N_("Age")),
    ("sex", N_("Sex")),
    ("training", N_("Training")),
    ("notice", N_("Notice")),
)
SORTS = {"relevance": N_("Best match"), "newest": N_("Newest"), "title": N_("Title")}
CHOICES_SHOWN = 8
STUDIES_OF_TOPIC = 20
FINDINGS_OF_DIRECTION = 5  # open to view; the next are folded
FINDINGS_SHOWN = 20


@current
@require_safe
@of_one_version
def browse(request: HttpRequest) -> HttpResponse:
    """Published studies by words, facets and years; the address says it all."""
    known = browsing.known_values()
    chosen, ignored = selection.read({name: request.GET.getlist(name) for name in request.GET}, known=known)
    found = browsing.browse(chosen)
    names = browsing.names()
    context = {
        "chosen": chosen,
        "found": found,
        "ignored": [gettext(LABELS[name]) for name in ignored],
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
    """A published study. A draft, a withdrawn and an absent one look the same from outside."""
    detail = browsing.find_study(study_id)
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
@of_one_version
def topics(request: HttpRequest) -> HttpResponse:
    """Every topic that published studies are about, by kind."""
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
@of_one_version
def topic(request: HttpRequest, concept_id: str) -> HttpResponse:
    """A topic that a published study is about. Any other, known or not, looks like one that there is not."""
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
@of_one_version
def recent(request: HttpRequest) -> HttpResponse:
    """What readers could notice of the curators' work, newest first."""
    return render(request, "corpus/changes.html", {"changes": changes.latest()})


# --- The corpus page, put together --------------------------------------------------------------------------------------


def _words(facet: str, value: str, names: Names) -> str:
    """A facet's value in a reader's words."""
    if facet in names:
        return names[facet].get(value, corpus_words.plain(value))
    by_facet = {
        "design": corpus_words.design_words,
        "age": corpus_words.age_words,
        "sex": corpus_words.sex_words,
        "training": corpus_words.training_words,
        "notice": corpus_words.notice_words,
    }
    return by_facet[facet](value) or gettext("not reported")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _active(chosen: Selection, names: Names) -> Any:
    """Each filter in force, with the address that is without it."""
    if chosen.words:
        yield {"label": gettext("Words"), "words": chosen.words, "query": chosen.without_words().query}
    for facet, label in FACETS:
        for value in sorted(chosen.values(facet)):
            words = _capital(_words(facet, value, names))
            yield {"label": gettext(label), "words": words, "query": chosen.toggled(facet, value).query}
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


def _facets(chosen: Selection, found: browsing.Browsed, names: Names) -> Any:
    """The values of each facet that there are, the commonest first; what was not reported is not offered."""
    offered = browsing.offered_values()
    for facet, label in FACETS:
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
            yield {"label": gettext(label), "name": facet, "first": rows[:CHOICES_SHOWN], "more": rows[CHOICES_SHOWN:]}


def _histogram(chosen: Selection, found: browsing.Browsed) -> Histogram | None:
    rows = {year: (count, chosen.in_years(year, year).query) for year, count in sorted(found.years.items())}
    return draw_histogram(rows, is_on=lambda year: _in_years(chosen, year)) if rows else None


def _in_years(chosen: Selection, year: int) -> bool:
    return (chosen.first_year or year) <= year <= (chosen.last_year or year)


def _pages(chosen: Selection, found: browsing.Browsed) -> Any:
    """Numbers of the first, the last and the neighbouring pages; None where some are passed over."""
    shown = sorted(
        {1, found.pages, *range(max(1, found.page - 1), min(found.pages, found.page + 1) + 1)}
        if found.pages > 1
        else ()
    )
    for before, number in zip([0, *shown], shown, strict=False):
        if number > before + 1:
            yield None
        yield {"number": number, "query": chosen.on_page(number).query, "is_on": number == found.page}


def _popular_topics(found: browsing.Browsed) -> list[dict[str, str]]:
    """A way on from a page without results: what most studies are about."""
    if found.total:
        return []
    return [
        {"words": topic.concept.name, "address": reverse("topic", args=[topic.concept.concept_id])}
        for topic in sorted(browsing.topics().values(), key=lambda t: (-t.studies, t.concept.concept_id))[:6]
    ]
