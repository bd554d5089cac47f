"""The texts that the corpus declares of its site, in the language of the page."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language

from corpus_app import search
from corpus_app.site import DEFAULT_TEXTS, SiteTexts


def site_texts() -> SiteTexts:
    """Return the site's texts in the language of the page."""
    return search.site().texts_in((get_language() or "").partition("-")[0])


def facet_words(text: str) -> str:
    """Return a label or text of a facet in the language of the page, as far as the site translates it."""
    return search.site().facet_words(text, get_language() or "")


def context(request: HttpRequest) -> dict[str, Any]:
    """Give `site` to every template; the plain defaults where the database does not answer."""
    return {"site": SimpleLazyObject(_texts_or_defaults)}


def _texts_or_defaults() -> SiteTexts:
    try:
        return site_texts()
    except DatabaseError:
        return DEFAULT_TEXTS
