"""The corpus in a reader's words: names for its values, authors on one line, and links that are safe to follow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from django import template

register = template.Library()

DOI = re.compile(r"10\.\d{4,9}/\S+")
AUTHORS_SHOWN = 6
AUTHORS_BEFORE_OTHERS = 3

DESIGNS = {
    "meta_analysis": "meta-analysis",
    "systematic_review": "systematic review",
    "scoping_review": "scoping review",
    "umbrella_review": "review of reviews",
    "narrative_review": "narrative review",
    "randomized_controlled_trial": "randomised controlled trial",
    "nonrandomized_trial": "trial without randomisation",
    "crossover_trial": "crossover trial",
    "cohort_study": "cohort study",
    "cross_sectional_study": "cross-sectional study",
    "position_stand": "position stand",
    "guideline": "guideline",
    "thesis": "thesis",
    "preprint": "preprint",
    "other": "other publication",
}
SECTIONS = {"practical_applications": "practical advice"}
KINDS = {"summary": "Curator’s summary", "excerpt": "Source’s words"}
NOTICES = {
    "retracted": "Retracted",
    "corrected": "Corrected",
    "expression_of_concern": "Expression of concern",
}
TRAINING = {
    "untrained": "untrained",
    "recreationally_trained": "recreationally trained",
    "trained": "trained",
    "athletes": "athletes",
    "mixed": "mixed",
    "not_applicable": "",
    "not_reported": "",
}
AGE_GROUPS = {
    "youth": "young people",
    "adults": "adults",
    "older_adults": "older adults",
    "mixed": "mixed ages",
    "not_reported": "",
}
SEXES = {"female": "women", "male": "men", "both": "women and men", "not_reported": ""}
DIRECTIONS = {
    "increase": "Increase",
    "decrease": "Decrease",
    "no_difference": "No difference",
    "mixed": "Mixed",
    "favours_intervention": "In favour",
    "favours_comparator": "Against",
    "unclear": "Unclear",
}

CONCEPT_KINDS = {
    "condition": "Conditions",
    "guideline": "Guidelines",
    "intervention": "Kinds of training and treatment",
    "measure": "Measures",
    "mechanism": "Mechanisms",
    "method": "Methods of research",
    "nutrient": "Foods and supplements",
    "outcome": "Outcomes",
    "population": "People",
    "training_variable": "Parts of a training plan",
}
RELATIONS = {  # as the topic stands to its neighbour, and as the neighbour stands to it
    "affects": ("affects", "is affected by"),
    "related_to": ("is related to", "is related to"),
    "is_a": ("is a kind of", "includes"),
    "measured_by": ("is measured by", "measures"),
    "part_of": ("is part of", "has as a part"),
    "alternative_to": ("is an alternative to", "is an alternative to"),
    "combined_with": ("is combined with", "is combined with"),
    "risk_of": ("is a risk of", "has as a risk"),
}
CHANGES = {
    "published": ("was published", "were published"),
    "withdrawn": ("was withdrawn", "were withdrawn"),
    "revised": ("was revised by curators", "were revised by curators"),
    "corrected": ("was marked as corrected", "were marked as corrected"),
    "expression_of_concern": ("was marked with an expression of concern", "were marked with an expression of concern"),
    "retracted": ("was marked as retracted", "were marked as retracted"),
    "cleared": ("lost its notice", "lost their notices"),
}
STUDY_CHANGES = {
    "published": "Published here",
    "withdrawn": "Withdrawn",
    "revised": "Revised by curators",
    "corrected": "Marked as corrected",
    "expression_of_concern": "Marked with an expression of concern",
    "retracted": "Marked as retracted",
    "cleared": "Notice taken away",
}


def plain(value: object) -> str:
    return str(value or "").replace("_", " ").replace("-", " ")


@register.filter
def design_words(value: object) -> str:
    return DESIGNS.get(str(value), plain(value))


@register.filter
def section_words(value: object) -> str:
    return SECTIONS.get(str(value), plain(value))


@register.filter
def kind_words(value: object) -> str:
    """Whose words a passage is. What is not known to be the source's counts as the curator's."""
    return KINDS.get(str(value), KINDS["summary"])


@register.filter
def notice_words(value: object) -> str:
    """Empty where there is nothing to say."""
    return NOTICES.get(str(value), "")


@register.filter
def training_words(value: object) -> str:
    return TRAINING.get(str(value), plain(value))


@register.filter
def age_words(value: object) -> str:
    return AGE_GROUPS.get(str(value), plain(value))


@register.filter
def sex_words(value: object) -> str:
    return SEXES.get(str(value), plain(value))


@register.filter
def direction_words(value: object) -> str:
    return DIRECTIONS.get(str(value), plain(value))


@register.filter
def concept_kind_words(value: object) -> str:
    return CONCEPT_KINDS.get(str(value), plain(value).capitalize())


@register.filter
def relation_words(link: Any) -> str:
    """How a topic stands to its neighbour."""
    out, back = RELATIONS.get(str(link.relation), (plain(link.relation), plain(link.relation)))
    return out if link.outward else back


@register.filter
def change_words(change: Any) -> str:
    """`A study was withdrawn`, `12 studies were published`."""
    one, many = CHANGES[change.kind]
    return f"A study {one}" if change.count == 1 else f"{change.count:,} studies {many}"


@register.filter
def study_change_words(change: Any) -> str:
    return STUDY_CHANGES[change.kind]


@register.filter
def collection_words(slug: object) -> str:
    """A collection's slug as a reader would say it."""
    return plain(slug)


@register.filter
def authors_line(authors: Sequence[str] | None) -> str:
    """`Smith A, Jones B`; a long list keeps its first three and counts the others."""
    names = [str(name) for name in authors or ()]
    if len(names) <= AUTHORS_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:AUTHORS_BEFORE_OTHERS])} and {len(names) - AUTHORS_BEFORE_OTHERS} others"


@register.filter
def first_author(authors: Sequence[str] | None) -> str:
    """`Smith A`, `Smith A and Jones B`, or `Smith A and others`."""
    names = [str(name) for name in authors or ()]
    if not names:
        return "Authors not named"
    return names[0] if len(names) == 1 else f"{names[0]} and {names[1] if len(names) == 2 else 'others'}"


@register.filter
def source_link(study: Any) -> str:
    """Where the source itself can be read: its DOI, else its web address; empty unless that is plain http or https."""
    doi, url = (
        study.get(name) if isinstance(study, Mapping) else getattr(study, name, None) for name in ("doi", "url")
    )
    if doi and DOI.fullmatch(str(doi)):
        return "https://doi.org/" + quote(str(doi), safe="/;()._-:")
    return web_address(url)


@register.filter
def web_address(url: object) -> str:
    """The address, or nothing when a browser could take it for anything but a web page."""
    text = str(url or "").strip()
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in {"http", "https"} and parts.netloc else ""
