"""Template tags of the page "How it works"."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context
from django.utils import formats
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as N_

register = template.Library()

FITS = {
    "relevance": N_("Relevance of a study"),
    "answerability": N_("Answerability"),
    "lead": N_("Chance that the first study answers"),
    "grounding": N_("The same, from texts without questions of curators"),
}


@register.simple_tag(takes_context=True)
def figure(context: Context, name: str) -> SafeString:
    """Render a figure of the site's policy, with its exact value in the element."""
    value = context["how"]["figures"][name]
    return format_html('<data value="{}" data-figure="{}">{}</data>', value, name, figure_words(value))


@register.filter
def figure_words(value: Any) -> str:
    """Format a number with at most two decimals, a flag as yes or no, and a choice as it is written in settings."""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.005 or value == 0 else f"{value:.1g}"
        return text.replace(".", str(formats.get_format("DECIMAL_SEPARATOR")))
    return format_html("<code>{}</code>", value) if isinstance(value, str) else str(value)


@register.filter
def percent(share: Any) -> str:
    return f"{100 * float(share):.0f}\N{NO-BREAK SPACE}%"


@register.filter
def fit_words(kind: object) -> str:
    """Return the label of a fitted model."""
    return gettext(FITS.get(str(kind), str(kind).capitalize()))


@register.filter
def route_words(route: object) -> str:
    """Return the name of a safety route, which the corpus gives in English."""
    return str(route).replace("_", " ").capitalize()


SIGNALS = {"names_people": "names a group"}
"""Signals of the models whose own names say too much for every corpus."""


@register.filter
def signal_words(name: object) -> str:
    return SIGNALS.get(str(name), str(name).replace("_", " "))
