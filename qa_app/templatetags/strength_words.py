"""Translate stored reasons for a strength of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as N_

from qa_app.templatetags.counted_words import facet_words

register = template.Library()

AND = N_(" and ")
DESIGNS = (N_("The best evidence cited here is %(designs)s."), N_("The best evidence here on this is %(designs)s."))
WAYS = (
    N_("The people studied differ from those asked about in %(ways)s."),
    N_("The sources differ from what is asked about in %(ways)s."),
)
"""Sentences that name the facets in which the evidence differs from the question."""
N_("a meta-analysis"), N_("a systematic review"), N_("a review of reviews"), N_("a randomised trial")
N_("a crossover trial"), N_("a trial without randomisation"), N_("a cohort study"), N_("a scoping review")
N_("a narrative review"), N_("a position statement"), N_("a guideline"), N_("a survey at one point in time")
N_("a thesis"), N_("a preprint"), N_("a source without a recorded study design")
FIXED = frozenset(
    {
        N_("Every study here was retracted."),
        N_("It rests on one study."),
        N_("Most of it is at very high risk of bias."),
        N_("Most of it is at high risk of bias."),
        N_("Some of it is at high risk of bias."),
        N_("There are some concerns about bias in it."),
        N_("Its risk of bias was judged to be low."),
        N_("Judged by the curators."),
        N_("The studies do not agree with each other."),
        N_("A part of what was asked was not studied."),
        N_("The results were mixed."),
        N_("The results were too uncertain to settle it."),
        N_("It was not reviewed by other researchers before publication."),
        N_("The journal has published a concern about it."),
        N_("The journal has published a concern about one of the studies."),
        N_("A correction to one of the studies was published."),
        N_("The source quoted first calls the certainty very low."),
        N_("The source quoted first calls the certainty low."),
        N_("The source quoted first calls the certainty moderate."),
        N_("The curators judged the certainty very low."),
        N_("The curators judged the certainty low."),
        N_("The curators judged the certainty moderate."),
    }
)


@register.filter
def strength_reason_words(reason: Mapping[str, Any]) -> str:
    """Translate a stored reason; one of another release stays as it is."""
    text = str(reason["text"])
    if text in FIXED:
        return gettext(text)
    for name, messages in (("designs", DESIGNS), ("ways", WAYS)):
        for message in messages:
            begin = message.partition("%")[0]
            if text.startswith(begin):
                return gettext(message) % {name: _listed(text, begin)}
    figures = [word for word in text.split() if word.isdecimal()]
    for message in (N_("It rests on %(n)s studies."), N_("Only %(n)s people took part.")):
        if len(figures) == 1 and text == message % {"n": figures[0]}:
            return gettext(message) % {"n": figures[0]}
    return text


def _listed(text: str, beginning: str) -> str:
    """Translate the list after a sentence's beginning."""
    named = text.removeprefix(beginning).removesuffix(".").split(AND)
    return gettext(AND).join(facet_words(gettext(name)) for name in named)
