"""The language of a page: the one chosen in the footer, or else the browser's. The API and the admin use English."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import trans_real
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from corpus_app import search
from corpus_app.site import Nouns
from inform_site.api.middleware import is_of_api
from inform_site.nouns import WithNouns


def put_english_first() -> None:
    """Put the English catalogue first, because Django would look for each text in several empty catalogues.

    Its entries for British English still apply.
    """
    vars(trans_real.translation(settings.LANGUAGE_CODE))["_fallback"] = None


def use_nouns() -> None:
    """Name studies by the nouns of the site, if it has any, in the texts of the language in use."""
    vars(trans_real)["_active"].value = WithNouns(trans_real.translation(translation.get_language()), read_nouns)


def read_nouns() -> Nouns | None:
    """Return the site's own nouns; `None` where it says "study", or before there is a database."""
    try:
        return search.site().nouns
    except DatabaseError:
        return None


class PageLanguage(LocaleMiddleware):
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        put_english_first()

    def process_request(self, request: HttpRequest) -> None:
        if is_of_api(request) or is_admin_request(request):
            _use_english(request)
            return
        super().process_request(request)
        use_nouns()

    def process_view(self, request: HttpRequest, view: object, arguments: object, options: object) -> None:
        """Recognise an API view outside the API's prefix, which is known only after URL resolution."""
        if is_of_api(request):
            _use_english(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Vary pages by language and cookie, so that caches keep the languages apart."""
        if is_of_api(request) or response.get("Content-Type", "").partition(";")[0] not in _TRANSLATED_TYPES:
            return response
        patch_vary_headers(response, ("Cookie",))
        return super().process_response(request, response)


def _use_english(request: HttpRequest) -> None:
    translation.activate(settings.LANGUAGE_CODE)
    use_nouns()


_TRANSLATED_TYPES = {"text/html", "application/atom+xml"}


def is_admin_request(request: HttpRequest) -> bool:
    """Return whether the request is for the admin, which is in English only."""
    return request.path_info.startswith(reverse("admin:index"))


@csrf_exempt  # it changes nothing but the words of pages, and a token would put a cookie on every public page
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Store `language` in a cookie and return to the previous page; ignore an unknown language."""
    return set_language(request)
