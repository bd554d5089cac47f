"""An answer on other sites: the card in a frame, oEmbed, and what previews of a link show."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit
from xml.sax.xmlreader import AttributesImpl

from csp.constants import NONE, SELF
from csp.decorators import csp
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, to_locale
from django.utils.xmlutils import SimplerXMLGenerator
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import conditional_page, require_safe

from qa_app.answers import asking
from qa_app.answers.card import build_card, can_be_embedded
from qa_app.answers.site_words import in_site_words, site_name
from qa_app.pages.caching import current_for_all
from qa_app.pages.following import UNPRINTABLE

WIDTH, HEIGHT = 600, 500  # CSS pixels: a card with three sentences at this width
OEMBED_AGE = 86_400  # seconds; it holds no word of a study, so that nothing in it can be withdrawn
FORMATS = ("json", "xml")
TERRITORIES = {"de": "de_DE"}
"""Locales of Open Graph for languages without a territory."""
POLICY = {
    "default-src": [NONE],
    "style-src": [SELF],
    "form-action": [NONE],
    "base-uri": [NONE],
    "frame-ancestors": ["*"],
}


class BadRequest(ValueError):
    """A request for oEmbed that cannot be served, with its status."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


@xframe_options_exempt
@csp(POLICY)  # type: ignore[arg-type]  # typed for views without arguments
@conditional_page
@current_for_all
@require_safe
def embed(request: HttpRequest, answer_id: str) -> HttpResponse:
    """Render the card; caches revalidate it each time, since a source may be withdrawn."""
    with asking.snapshot():
        payload = asking.find_answer(answer_id)
        payload = payload and in_site_words(payload)
        card = build_card(payload) if payload else None
    if payload is None or card is None:
        raise Http404
    address = request.build_absolute_uri(reverse("answer", args=[answer_id]))
    return render(request, "qa/embed.html", {"answer": payload, "card": card, "address": address})


@require_safe
def oembed(request: HttpRequest) -> HttpResponse:
    """Describe the card of an answer's address (oembed.com, version 1.0)."""
    try:
        form = request.GET.get("format", "json")
        if form not in FORMATS:
            raise BadRequest(HTTPStatus.NOT_IMPLEMENTED, "Ask for the format json or xml.")
        found = _describe(request)
    except BadRequest as bad:
        return HttpResponse(f"{bad}\n", status=bad.status, content_type="text/plain; charset=utf-8")
    response = JsonResponse(found) if form == "json" else _as_xml(found)
    response["Cache-Control"] = f"public, max-age={OEMBED_AGE}"
    return response


def share(request: HttpRequest, payload: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the answer page offers for other sites; None where it cannot be embedded."""
    if not can_be_embedded(payload):
        return None
    address = request.build_absolute_uri(reverse("answer", args=[payload["id"]]))
    question = payload.get("understood_as") or payload["question"]
    language = get_language() or settings.LANGUAGE_CODE
    return {
        "card": reverse("embed", args=[payload["id"]]),
        "frame": _frame(request, payload["id"], question, WIDTH, HEIGHT),
        "oembed": [
            (media, request.build_absolute_uri(f"{reverse('oembed')}?{urlencode({'url': address, 'format': form})}"))
            for form, media in (("json", "application/json+oembed"), ("xml", "text/xml+oembed"))
        ],
        "locale": TERRITORIES.get(language, to_locale(language)),
    }


def _describe(request: HttpRequest) -> dict[str, Any]:
    url = request.GET.get("url", "")
    if not url:
        raise BadRequest(HTTPStatus.BAD_REQUEST, "Send the address of an answer as url.")
    width, height = _size(request, "maxwidth", WIDTH), _size(request, "maxheight", HEIGHT)
    answer_id = _answer_at(request, url)
    payload = asking.find_answer(answer_id) if answer_id else None
    if payload is None or not can_be_embedded(payload):
        raise BadRequest(HTTPStatus.NOT_FOUND, "There is no answer to embed at this address.")
    question = payload.get("understood_as") or payload["question"]
    return {
        "type": "rich",
        "version": "1.0",
        "title": question,
        "provider_name": site_name(),
        "provider_url": request.build_absolute_uri("/"),
        "cache_age": OEMBED_AGE,
        "html": _frame(request, payload["id"], question, width, height),
        "width": width,
        "height": height,
    }


def _size(request: HttpRequest, name: str, usual: int) -> int:
    """Return the usual size, or the greatest that the consumer allows."""
    sent = request.GET.get(name, "")
    if not sent:
        return usual
    if not (sent.isascii() and sent.isdecimal() and int(sent[:9])):
        raise BadRequest(HTTPStatus.BAD_REQUEST, f"Send {name} as a whole number of pixels.")
    return min(usual, int(sent[:9]))


def _answer_at(request: HttpRequest, url: str) -> str | None:
    """Return the id in the address of an answer on this site; None for any other address."""
    try:
        parts = urlsplit(url)
        found = resolve(parts.path)
    except (ValueError, Resolver404):
        return None
    is_here = parts.scheme in {"http", "https"} and parts.netloc.lower() == request.get_host().lower()
    return found.kwargs["answer_id"] if is_here and found.url_name == "answer" else None


def _frame(request: HttpRequest, answer_id: str, question: str, width: int, height: int) -> SafeString:
    """Return the HTML that shows the card: its links open in a tab, and it may do nothing else."""
    return format_html(
        '<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy"'
        ' sandbox="allow-popups allow-popups-to-escape-sandbox" style="border:0;max-width:100%"></iframe>',
        request.build_absolute_uri(reverse("embed", args=[answer_id])),
        width,
        height,
        question,
    )


def _as_xml(found: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(content_type="text/xml; charset=utf-8")
    xml = SimplerXMLGenerator(response, "utf-8")
    xml.startDocument()
    xml.startElement("oembed", AttributesImpl({}))
    for name, value in found.items():
        xml.addQuickElement(name, UNPRINTABLE.sub(" ", str(value)))
    xml.endElement("oembed")
    xml.endDocument()
    return response
