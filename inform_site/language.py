"""Which language a page speaks: the one chosen in the footer (a cookie), else the browser's. Programs and the desk are told in English."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
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

from inform_site.api.middleware import is_of_api


def own_words_first() -> None:
    """English texts are their own translation; Django would look for each in half a dozen empty catalogues first.

    What its catalogue of British English says differently still counts: it is the first of them.
    """
    vars(trans_real.translation(settings.LANGUAGE_CODE))["_fallback"] = None


class PageLanguage(LocaleMiddleware):
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        own_words_first()

    def process_request(self, request: HttpRequest) -> None:
        if is_of_api(request) or is_of_desk(request):
            translation.activate(settings.LANGUAGE_CODE)
            return
        super().process_request(request)

    def process_view(self, request: HttpRequest, view: object, arguments: object, options: object) -> None:
        """A view of the API at an address of its own is known as one only now."""
        if is_of_api(request):
            translation.activate(settings.LANGUAGE_CODE)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """A page differs by the browser's languages and by the cookie; no cache may forget either."""
        if is_of_api(request) or response.get("Content-Type", "").partition(";")[0] not in _SPOKEN:
            return response
        patch_vary_headers(response, ("Cookie",))
        return super().process_response(request, response)


_SPOKEN = {"text/html", "application/atom+xml"}


def is_of_desk(request: HttpRequest) -> bool:
    """Whose own words are English: with the translations of Django's admin a page would speak two languages."""
    return request.path_info.startswith(reverse("admin:index"))


@csrf_exempt  # it changes nothing but the words of pages, and a token would put a cookie on every public page
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Keeps `language` in a cookie and goes back to the page that it was chosen on; an unknown one changes nothing."""
    return set_language(request)
