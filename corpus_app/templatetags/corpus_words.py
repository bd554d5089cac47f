"""Template filters for the corpus: labels of stored values, author lists, and safe links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape  # faster than Django's, which also handles lazy strings
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from django import template
from django.utils import formats
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator, capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as N_

from corpus_app import records, search
from corpus_app.appraisal import USUAL_LEVEL, Effect, EffectMeasure, RiskOfBias
from corpus_app.site_texts import facet_words, site_texts

register = template.Library()
register.filter(facet_words)

DOI = re.compile(r"10\.\d{4,9}/\S+")
AUTHORS_SHOWN = 6
TITLE_SHOWN = 60  # characters
AUTHORS_BEFORE_OTHERS = 3
FIGURE = re.compile(r"\d")
TOGETHER = re.compile(
    r"""\b[^\W\d_]{1,6}\ (?:[=≤≥]|&[lg]t;)\ [−–-]?\d+(?:[.,]\d+)*%?    # P = 0.074, n &lt; 20
    |\b\d\d\ ?%\ C(?:r)?I\b                             # 95% CI
    |\b(?:\d+(?:[.,]\d+){0,4}[–-])?\d+(?:[.,]\d+){0,4}\                 # 1.6 g/kg/day
     (?:k?g|mg|µg|ng|m?[lL]|[cmk]m|k?cal|[kM]J|min|h|s|RM|IU|mmHg|[mn]mol|%)(?:/\w+)*(?!\w)""",
    re.VERBOSE,
)

DESIGNS = {
    "meta_analysis": N_("meta-analysis"),
    "systematic_review": N_("systematic review"),
    "scoping_review": N_("scoping review"),
    "umbrella_review": N_("review of reviews"),
    "narrative_review": N_("narrative review"),
    "randomized_controlled_trial": N_("randomised controlled trial"),
    "nonrandomized_trial": N_("trial without randomisation"),
    "crossover_trial": N_("crossover trial"),
    "cohort_study": N_("cohort study"),
    "cross_sectional_study": N_("cross-sectional study"),
    "position_stand": N_("position stand"),
    "guideline": N_("guideline"),
    "thesis": N_("thesis"),
    "preprint": N_("preprint"),
    "other": N_("other publication"),
}
MEASURES = {
    "standardised_mean_difference": N_("standardised mean difference"),
    "mean_difference": N_("mean difference"),
    "percent_change": N_("change in percent"),
    "risk_ratio": N_("risk ratio"),
    "odds_ratio": N_("odds ratio"),
    "hazard_ratio": N_("hazard ratio"),
    "rate_ratio": N_("rate ratio"),
    "risk_difference": N_("risk difference"),
    "correlation": N_("correlation"),
}
BIAS_JUDGEMENTS = {
    "low": N_("low"),
    "some_concerns": N_("some concerns"),
    "moderate": N_("moderate"),
    "no_information": N_("not clear"),
    "high": N_("high"),
    "serious": N_("serious"),
    "critical": N_("critical"),
}
BIAS_TOOLS = {"rob_2": "RoB 2", "robins_i": "ROBINS-I"}
SECTIONS = {
    "abstract": N_("abstract"),
    "introduction": N_("introduction"),
    "background": N_("background"),
    "methods": N_("methods"),
    "results": N_("results"),
    "discussion": N_("discussion"),
    "conclusion": N_("conclusion"),
    "limitations": N_("limitations"),
    "practical_applications": N_("practical advice"),
}
KINDS = {"summary": N_("Curator’s summary"), "excerpt": N_("Source’s words"), "table": N_("Source’s table")}
NOTICES = {
    "retracted": N_("Retracted"),
    "corrected": N_("Corrected"),
    "expression_of_concern": N_("Expression of concern"),
}
DIRECTIONS = {
    "increase": N_("Increase"),
    "decrease": N_("Decrease"),
    "no_difference": N_("No difference"),
    "mixed": N_("Mixed"),
    "favours_intervention": N_("In favour"),
    "favours_comparator": N_("Against"),
    "unclear": N_("Unclear"),
}

CONCEPT_KINDS = {
    "condition": N_("Conditions"),
    "group": N_("Groups"),
    "guideline": N_("Guidelines"),
    "intervention": N_("Interventions"),
    "measure": N_("Measures"),
    "mechanism": N_("Mechanisms"),
    "method": N_("Methods of research"),
    "outcome": N_("Outcomes"),
    "parameter": N_("Parameters"),
    "population": N_("People"),
    "thing": N_("Things"),
}
"""Headings of the kinds that a site need not declare."""
RELATIONS = {  # from the topic to its neighbour, and from the neighbour to the topic
    "affects": (N_("affects"), N_("is affected by")),
    "related_to": (N_("is related to"), N_("is related to")),
    "is_a": (N_("is a kind of"), N_("includes")),
    "measured_by": (N_("is measured by"), N_("measures")),
    "part_of": (N_("is part of"), N_("has as a part")),
    "alternative_to": (N_("is an alternative to"), N_("is an alternative to")),
    "combined_with": (N_("is combined with"), N_("is combined with")),
    "risk_of": (N_("is a risk of"), N_("has as a risk")),
}
CHANGES = {
    "published": (N_("A study was published"), N_("%(n)s studies were published")),
    "withdrawn": (N_("A study was withdrawn"), N_("%(n)s studies were withdrawn")),
    "archived": (
        N_("A study was removed when the corpus was replaced"),
        N_("%(n)s studies were removed when the corpus was replaced"),
    ),
    "revised": (N_("A study was revised by curators"), N_("%(n)s studies were revised by curators")),
    "corrected": (N_("A study was marked as corrected"), N_("%(n)s studies were marked as corrected")),
    "expression_of_concern": (
        N_("A study was marked with an expression of concern"),
        N_("%(n)s studies were marked with an expression of concern"),
    ),
    "retracted": (N_("A study was marked as retracted"), N_("%(n)s studies were marked as retracted")),
    "cleared": (N_("The notice on a study was removed"), N_("Notices on %(n)s studies were removed")),
}
STUDY_CHANGES = {
    "published": N_("Published here"),
    "withdrawn": N_("Withdrawn"),
    "archived": N_("Archived, since another corpus took its place"),
    "revised": N_("Revised by curators"),
    "corrected": N_("Marked as corrected"),
    "expression_of_concern": N_("Marked with an expression of concern"),
    "retracted": N_("Marked as retracted"),
    "cleared": N_("Notice removed"),
}

FIELDS = {
    "doi": "DOI",
    "pmid": "PMID",
    "url": "URL",
    "n_studies": "number of studies",
    "n_participants": "number of participants",
    "duration_weeks_min": "shortest duration (weeks)",
    "duration_weeks_max": "longest duration (weeks)",
    "source_ref": "row in the source list",
}


class MarkedText(Protocol):
    """A part of a passage; `marked` if it is a word of the question."""

    @property
    def text(self) -> str: ...
    @property
    def marked(self) -> bool: ...


def plain(value: object) -> str:
    return str(value or "").replace("_", " ").replace("-", " ")


@register.filter
def unbroken(text: object) -> SafeString:
    """Escape a text and keep each figure on one line with its sign or unit."""
    escaped = escape(str(text))
    if not FIGURE.search(escaped):
        return mark_safe(escaped)  # noqa: S308 - escaped above
    return mark_safe(TOGETHER.sub(r'<span class="as-one">\g<0></span>', escaped))  # noqa: S308 - escaped above


@register.filter
def with_terms_marked(pieces: Iterable[MarkedText]) -> SafeString:
    """Join the parts of a passage and highlight the marked ones. One filter is faster than hundreds of tags."""
    written = (f'<mark class="term">{unbroken(p.text)}</mark>' if p.marked else unbroken(p.text) for p in pieces)
    return mark_safe("".join(written))  # noqa: S308 - `unbroken` escapes


@register.filter
def field_words(name: object) -> str:
    """Return the label of a study's field on the desk."""
    return FIELDS.get(str(name), plain(name))


@register.filter
def design_words(value: object) -> str:
    """Return the label of a design, or of a kind of source that the site declares."""
    name = str(value)
    if name in DESIGNS:
        return gettext(DESIGNS[name])
    declared = search.site().source_kinds.get(name)
    return site_texts().source_kinds.get(name) or (declared.label if declared else plain(name))


@register.filter
def shown_design(value: object) -> str:
    """Return the label of a study's design; empty where it is only known to be none of the others."""
    return "" if value == records.Design.OTHER else design_words(value)


@register.filter
def is_reviewed_kind(value: object) -> bool:
    """Tell whether sources of a kind are graded as evidence, so that readers ask for their peer review."""
    name = str(value)
    if name in DESIGNS:
        return name != records.Design.OTHER
    declared = search.site().source_kinds.get(name)
    return declared is not None and declared.strength is not None


def design_choices() -> list[tuple[str, str]]:
    """Return the kinds of source that a study may be of with their labels, the corpus' own first."""
    return [(name, str(capfirst(design_words(name)))) for name in search.site().designs]


@register.filter
def section_words(value: object) -> str:
    return gettext(SECTIONS.get(str(value), plain(value)))


@register.filter
def kind_words(value: object) -> str:
    """Return whose words a passage is; unknown kinds count as the curator's."""
    return gettext(KINDS.get(str(value), KINDS["summary"]))


@register.filter
def notice_words(value: object) -> str:
    """Return the label of a notice; empty for none."""
    return gettext(NOTICES.get(str(value), ""))


def facet_value_words(facet: str, value: str) -> str:
    """Return the label of a facet's value; empty for one that the site does not declare."""
    declared = search.site().facets[facet].values.get(value)
    return facet_words(declared.label) if declared else ""


@register.filter
def facet_rows(study: records.Study) -> list[tuple[str, str]]:
    """Return the declared facets of which the study has a value: pairs of label and values."""
    facets = search.site().facets
    values = (
        (facet, [facet_value_words(key, value) for value in study.values_of(key)]) for key, facet in facets.items()
    )
    return [(facet_words(facet.label), ", ".join(filter(None, own))) for facet, own in values if any(own)]


@register.filter
def direction_words(value: object) -> str:
    return gettext(DIRECTIONS.get(str(value), plain(value)))


@register.filter
def concept_kind_words(value: object) -> str:
    """Return the heading of a kind of concepts, as the site declares it."""
    kind = str(value)
    declared = search.site().concept_kinds.get(kind)
    label = site_texts().concept_kinds.get(kind) or (declared.label if declared else "")
    return label or gettext(CONCEPT_KINDS.get(kind, plain(value).capitalize()))


@register.filter
def relation_words(link: Any) -> str:
    """Return the label of a relation, read from the topic to its neighbour."""
    out, back = RELATIONS.get(str(link.relation), (plain(link.relation), plain(link.relation)))
    return gettext(out if link.outward else back)


@register.filter
def change_words(change: Any) -> str:
    """Describe a change, such as `A study was withdrawn` or `12 studies were published`."""
    one, many = CHANGES[change.kind]
    if change.count == 1:
        return gettext(one)
    return gettext(many) % {"n": formats.number_format(change.count, force_grouping=True)}


@register.filter
def study_change_words(change: Any) -> str:
    return gettext(STUDY_CHANGES[change.kind])


@register.filter
def collection_words(slug: object, collections: Iterable[Mapping[str, Any]]) -> str:
    """Return the collection's name; for a deleted collection, its slug as words."""
    names = {collection["slug"]: str(collection["name"]) for collection in collections}
    return names.get(str(slug), plain(slug).capitalize())


@register.filter
def authors_line(authors: Sequence[str] | None) -> str:
    """Join authors as `Smith A, Jones B`; shorten a long list to three and the number of others."""
    names = [str(name) for name in authors or ()]
    if len(names) <= AUTHORS_SHOWN:
        return ", ".join(names)
    first = ", ".join(names[:AUTHORS_BEFORE_OTHERS])
    return gettext("%(authors)s and %(n)s others") % {"authors": first, "n": len(names) - AUTHORS_BEFORE_OTHERS}


@register.filter
def source_name(source: Any) -> str:
    """Return `Smith A`, `Smith A and Jones B`, `Smith A and others`, or the title of a source without authors."""
    names = [str(name) for name in _field(source, "authors") or ()]
    if not names:
        return Truncator(str(_field(source, "title") or "")).chars(TITLE_SHOWN)
    if len(names) == 1:
        return names[0]
    if len(names) == 2:
        return gettext("%(first)s and %(second)s") % {"first": names[0], "second": names[1]}
    return gettext("%(first)s and others") % {"first": names[0]}


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)


@register.filter
def source_link(study: Any) -> str:
    """Return the link of the study's DOI, else its URL; empty if that is not http or https."""
    doi, url = _field(study, "doi"), _field(study, "url")
    if doi and DOI.fullmatch(str(doi)):
        return "https://doi.org/" + quote(str(doi), safe="/;()._-:")
    return web_address(url)


@register.filter
def web_address(url: object) -> str:
    """Return the URL if it is http or https, else an empty text."""
    text = str(url or "").strip()
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in {"http", "https"} and parts.netloc else ""


@register.filter
def effect_words(effect: Effect) -> str:
    """Return the measure, value and interval of an effect in a line."""
    return f"{measure_words(effect.measure)} {figures_words(effect)}"


@register.filter
def measure_words(measure: str) -> str:
    return gettext(MEASURES[EffectMeasure(measure)])


@register.filter
def figures_words(effect: Effect) -> str:
    """Return the value and interval of an effect."""
    unit = effect.unit if effect.unit == "%" else f" {effect.unit}".rstrip()
    size = f"{_figure(effect.value)}{unit}"
    if effect.lower is None or effect.upper is None:
        return size
    bounds = {"level": _figure(effect.level), "lower": _figure(effect.lower), "upper": _figure(effect.upper)}
    return f"{size} ({gettext('%(level)s%% interval from %(lower)s to %(upper)s') % bounds})"


@register.filter
def interval_words(effect: Effect) -> str:
    """Return the value and bounds of an effect in short; the level only where it is not the usual one."""
    lower, upper = _figure(effect.figures[0]), _figure(effect.figures[-1])
    bounds = gettext("%(lower)s to %(upper)s") % {"lower": lower, "upper": upper}
    level = "" if effect.level == USUAL_LEVEL else f"{_figure(effect.level)}%: "
    return f"{_figure(effect.value)} ({level}{bounds})"


def _figure(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


@register.filter
def bias_words(bias: RiskOfBias) -> str:
    """Return the overall judgement of a study's risk of bias, with the tool."""
    judgement = gettext(BIAS_JUDGEMENTS[bias.judgement])
    return f"{judgement} ({BIAS_TOOLS[bias.tool]})" if bias.tool in BIAS_TOOLS else judgement
