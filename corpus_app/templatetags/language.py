"""Template tags for languages: pages are in the reader's language, and corpus text is marked as English."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

from django import template
from django.conf import settings
from django.template.base import Parser, Token
from django.template.context import Context
from django.utils import formats, timezone
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as N_

register = template.Library()

ENGLISH = "en"
DIRECTED = mark_safe(' dir="auto"')
"""Text of people and files runs in its own direction, whatever the page's."""
SCRIPT_WORDS = (
    N_("(loosely supported)"),
    N_("1 question below. Down arrow to choose."),
    N_("About people like you"),
    N_("About people like you: {n} of the {all} studies cited here."),
    N_("People like you among others"),
    N_("With people like you among others: {n}."),
    N_("Also searched for:"),
    N_("Answered before"),
    N_("Answered by the studies"),
    N_("Beginner"),
    N_("Copied"),
    N_("Intermediate"),
    N_("It could not be copied. Select the words and copy them."),
    N_("It took too long."),
    N_("Link copied"),
    N_("Many answers are being made at this moment."),
    N_("Many questions have come from here in a short time."),
    N_("Of {n} studies:"),
    N_("Please try again in a moment."),
    N_("Please try again in a while."),
    N_("Please try again in {seconds} seconds."),
    N_("Questions to choose from"),
    N_("Reload"),
    N_("Reload it and try again."),
    N_("Reload it: your question stays in the box."),
    N_("Searching the studies…"),
    N_("Sending…"),
    N_("Something went wrong on our side."),
    N_("Sorted by {column}, descending."),
    N_("Sorted by {column}, ascending."),
    N_("Source {number} could not be opened. {reason} Please try again in a moment."),
    N_("Sources"),
    N_("Stopped."),
    N_("The connection was lost. Trying again…"),
    N_("Study"),
    N_("The answer could not be fetched."),
    N_("The answer could not be shown."),
    N_("The link could not be copied. It is in the address bar."),
    N_("The site cannot be reached."),
    N_("This page is out of date. {promise} If that does not help, allow cookies from this site."),
    N_("Topic"),
    N_("Your feedback could not be sent."),
    N_("You are offline."),
    N_(
        "You are offline. What is on this page can still be read; "
        "questions and sources can be opened when you are back."
    ),
    N_("You are online again."),
    N_("Your question is still in the box."),
    N_("Your question is still in the box: please try again in a moment."),
    N_("Your question is still in the box: please try again in a while."),
    N_("Your question is still in the box: please try again in {seconds} seconds."),
    N_("{n} found a benefit"),
    N_("{n} found a disadvantage"),
    N_("{n} found no clear difference"),
    N_("{n} passages found."),
    N_("{n} questions below. Down arrow to choose."),
)
"""Texts that scripts translate by `told("…")`."""


def _page_language() -> str:
    """Return the page's language code as HTML expects it, such as `en` or `de`."""
    return (get_language() or settings.LANGUAGE_CODE).partition("-")[0]


@register.simple_tag
def page_language() -> str:
    return _page_language()


@register.simple_tag
def languages() -> list[tuple[str, str]]:
    """Return code and own name of each language; Django's tag would translate the names."""
    return list(settings.LANGUAGES)


@register.simple_tag
def is_english() -> bool:
    return _page_language() == ENGLISH


class _Attribute(template.Node):
    """A tag without arguments; ten times as fast as a simple tag, as pages use it dozens of times."""

    child_nodelists = ()

    def __init__(self, written: Callable[[], str], token: Token) -> None:
        if len(token.split_contents()) > 1:
            raise template.TemplateSyntaxError(f"{token.contents}: this tag takes nothing.")
        self._written = written

    def render(self, context: Context) -> str:
        return self._written()


@register.tag
def in_english(parser: Parser, token: Token) -> template.Node:
    """Write the `lang` and `dir` attributes of an element with corpus text; an English page needs no `lang`."""
    return _Attribute(lambda: DIRECTED if _page_language() == ENGLISH else f' lang="en"{DIRECTED}', token)


@register.tag
def in_page_language(parser: Parser, token: Token) -> template.Node:
    """Write the `lang` attribute of an element in the page's language within corpus text."""
    return _Attribute(lambda: "" if (spoken := _page_language()) == ENGLISH else f' lang="{spoken}"', token)


@register.simple_tag
def in_language(code: str | None) -> SafeString:
    """Write the `dir` attribute of an element in this language, and `lang` if it is known and not the page's."""
    return format_html(' lang="{}" dir="auto"', code) if code and code != _page_language() else DIRECTED


@register.filter
def marked_as(text: str, code: str | None) -> SafeString:
    """Return a text in a language for use within a sentence of the page."""
    return format_html("<span{}>{}</span>", in_language(code), text)


@register.simple_tag
def script_words() -> SafeString:
    """Write the translations of script texts as JSON by their English text; nothing on an English page."""
    if _page_language() == ENGLISH:
        return mark_safe("")
    return json_script({words: gettext(words) for words in SCRIPT_WORDS}, "words")


@register.filter
def day(value: datetime | date | None) -> str:
    """Format a date like `20 November 2026`; empty for None."""
    return _format_date(value, gettext("j F Y"))


@register.filter
def day_and_time(value: datetime | date | None) -> str:
    """Format a time like `20 November 2026, 17:06`; empty for None."""
    return _format_date(value, gettext("j F Y, H:i"))


def _format_date(value: datetime | date | None, form: str) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and timezone.is_aware(value):
        value = timezone.localtime(value)
    return formats.date_format(value, form)
