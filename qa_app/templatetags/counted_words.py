"""Translate counted sentences about the corpus and fixed texts about the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from django import template
from django.utils import formats
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_noop as N_

from corpus_app import search

register = template.Library()

KINDS = {
    "meta-analysis": N_("meta-analysis"),
    "meta-analyses": N_("meta-analyses"),
    "systematic review": N_("systematic review"),
    "systematic reviews": N_("systematic reviews"),
    "scoping review": N_("scoping review"),
    "scoping reviews": N_("scoping reviews"),
    "umbrella review": N_("umbrella review"),
    "umbrella reviews": N_("umbrella reviews"),
    "narrative review": N_("narrative review"),
    "narrative reviews": N_("narrative reviews"),
    "randomised controlled trial": N_("randomised controlled trial"),
    "randomised controlled trials": N_("randomised controlled trials"),
    "non-randomised trial": N_("non-randomised trial"),
    "non-randomised trials": N_("non-randomised trials"),
    "crossover trial": N_("crossover trial"),
    "crossover trials": N_("crossover trials"),
    "cohort study": N_("cohort study"),
    "cohort studies": N_("cohort studies"),
    "cross-sectional study": N_("cross-sectional study"),
    "cross-sectional studies": N_("cross-sectional studies"),
    "position stand": N_("position stand"),
    "position stands": N_("position stands"),
    "guideline": N_("guideline"),
    "guidelines": N_("guidelines"),
    "thesis": N_("thesis"),
    "theses": N_("theses"),
    "preprint": N_("preprint"),
    "preprints": N_("preprints"),
    "study of another kind": N_("study of another kind"),
    "studies of other kinds": N_("studies of other kinds"),
}
NAMES = {
    **KINDS,
    "retracted": N_("retracted"),
    "under an expression of concern": N_("under an expression of concern"),
    "corrected": N_("corrected"),
    "peer-reviewed": N_("peer-reviewed"),
    "no": N_("none"),
    "none": N_("none"),
    "an unknown year": N_("an unknown year"),
    "a day that is not recorded": N_("a day that is not recorded"),
}
PARTS = (
    N_("about %(names)s"),
    N_("only in %(names)s"),
    N_("of the %(names)s"),
    N_("by %(names)s"),
    N_("published in %(names)s"),
    N_("in the collection %(names)s"),
    N_("marked as %(names)s"),
    N_("of %(first)s"),
    N_("from %(first)s to %(last)s"),
    N_("from %(first)s on"),
    N_("up to %(last)s"),
)
"""Parts of a description of studies, separated by commas."""
SENTENCES = (
    N_("There are no published studies here."),
    N_("No published studies here are %(description)s."),
    N_("They were published from %(first)s to %(last)s, %(late)s of them since %(since)s."),  # of former releases
    N_("They were published from %(first)s to %(last)s."),
    N_("By kind: %(kinds)s."),
    N_("Preprints and theses: %(kinds)s."),
    N_("By year: %(years)s."),
    N_("By collection: %(titles)s."),
    N_("The topics of most studies: %(titles)s."),
    N_("They are from %(n)s journals; those of most studies: %(titles)s."),
    N_("They are from %(n)s authors; those of most studies: %(titles)s."),
    N_("The newest is %(study)s."),
    N_("The oldest is %(study)s."),
    N_("Of %(n)s published studies here that are %(whole)s, %(part)s (%(percent)s %%) are %(description)s."),
    N_("Of %(n)s published studies here, %(part)s (%(percent)s %%) are %(description)s."),
    N_("Of %(n)s published studies here that are %(whole)s, %(part)s are marked as %(names)s."),
    N_("Of %(n)s published studies %(part)s are marked as %(names)s."),
    N_(
        "Yes: under each answer its sources can be saved as RIS, BibTeX or CSL JSON, and the evidence table as "
        "CSV. The "
        "Studies page lists all studies; programs can read them over the API."
    ),
    N_(
        "The studies here last changed on %(changed)s. The newest study is of %(newest)s. The Changes page lists every "
        "change and has a feed to subscribe to."
    ),
    N_(
        "Curators choose the studies and enter or check their passages. A program puts each answer together from those "
        "passages and checks every sentence against its source; where a language model writes, its sentences pass the "
        "same check. The page “How it works” says which writer is in use."
    ),
    N_(
        "Curators decide which studies come in; the site records no written criteria. Drafts and withdrawn studies are "
        "never shown, and retracted studies are left out of answers."
    ),
    N_(
        "This site answers questions from the studies it holds and from nothing else. It searches their "
        "passages, quotes "
        "what answers the question, checks every sentence against its passage, and says so where the studies do not "
        "answer. The page “How it works” has the details."
    ),
)
JOINTS = (N_(" and "), N_(" or "))
COUNT = re.compile(r"([\d,]+) published stud(?:y|ies) here (?:is|are) (.+)\.")
TOTAL = re.compile(r"There (?:is|are) ([\d,]+) published stud(?:y|ies) here\.")


def facet_words(text: str) -> str:
    """Return a label or text of a facet in the language of the page, as far as the site translates it."""
    return search.site().facet_words(text, get_language() or "")


@register.filter
def counted_words(text: object) -> str:
    """Translate a counted sentence; empty for English pages and unknown sentences."""
    if (get_language() or "en").startswith("en"):
        return ""
    return translated_count(str(text)) or ""


def translated_count(text: str) -> str | None:
    """Translate a counted sentence, in English into the words of the site; None for an unknown one."""
    return _counted(text) or _of_template(text, _SENTENCES)


def _counted(text: str) -> str | None:
    if match := TOTAL.fullmatch(text):
        n = _integer(match[1])
        words = ngettext("There is %(n)s published study here.", "There are %(n)s published studies here.", n)
        return words % {"n": _number(match[1])}
    if match := COUNT.fullmatch(text):
        words = ngettext(
            "%(n)s published study here is %(description)s.",
            "%(n)s published studies here are %(description)s.",
            _integer(match[1]),
        )
        return words % {"n": _number(match[1]), "description": _described(match[2])}
    return None


def _compiled(message: str) -> re.Pattern[str]:
    """Return a pattern for a message template; a plural verb also matches the singular."""
    text = re.escape(message.replace("%%", "%")).replace(r"\ are\ ", r"\ (?:is|are)\ ")
    pattern = re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.{1,100}?)", text)
    before, bounded, after = pattern.rpartition(".{1,100}?")  # the last may be of any length: it is tried once
    return re.compile(f"{before}.+?{after}" if bounded else pattern)


Patterns = tuple[tuple[re.Pattern[str], str], ...]
_SENTENCES: Patterns = tuple((_compiled(message), message) for message in SENTENCES)
_PARTS: Patterns = tuple((_compiled(message), message) for message in PARTS)
_NEXT_PART = re.compile(
    r", (?=(?:about|only in|of the|by|published in|in the collection|marked as) |(?:of|from|up to) \d{4}\b)"
)


def _of_template(text: str, patterns: Patterns) -> str | None:
    """Return the translation of the first template that matches; None where none does."""
    for pattern, message in patterns:
        if match := pattern.fullmatch(text):
            places = {name: PLACES.get(name, str)(value) for name, value in match.groupdict().items()}
            return gettext(message) % places if "%" in message else gettext(message)
    return None


def _described(text: str) -> str:
    """Translate the parts of a description, as far as they are known."""
    return ", ".join(_of_template(part, _PARTS) or _joined(part) for part in _NEXT_PART.split(text))


def _name(text: str) -> str:
    return gettext(NAMES[text]) if text in NAMES else facet_words(text)


def _joined(text: str) -> str:
    if _name(text) != text:
        return _name(text)
    parts = re.split(f"({'|'.join(JOINTS)})", text)
    return "".join(gettext(part) if part in JOINTS else _name(part) for part in parts)


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


def _number(text: str) -> str:
    return str(formats.number_format(_integer(text), force_grouping=True)) if text[0].isdigit() else _name(text)


def _kinds(text: str) -> str:
    parts = [part.partition(" ") for part in text.split(", ")]
    return ", ".join(f"{_number(number)} {_name(kind)}" for number, _, kind in parts)


def _study(text: str) -> str:
    return re.sub("^“(.*)”", lambda match: gettext("“%(word)s”") % {"word": match[1]}, text)


def _day(text: str) -> str:
    try:
        return str(formats.date_format(datetime.strptime(text, "%d %B %Y"), gettext("j F Y")))
    except ValueError:
        return _name(text)


PLACES: Mapping[str, Callable[[str], str]] = {
    "n": _number,
    "part": _number,
    "late": _number,
    "names": _joined,
    "kinds": _kinds,
    "description": _described,
    "whole": _described,
    "study": _study,
    "changed": _day,
    "newest": _name,
}
"""Converters of placeholder values; other placeholders stay as they are."""
