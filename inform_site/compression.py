"""Compression of pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressedPages(GZipMiddleware):
    """Compress HTML pages: that of an answer is a fifth of its size then.

    Random bytes in each keep its length from telling what stands in it (the attack called BREACH). Replies of the API
    stay as they are, since their entity tags are strong; WhiteNoise compresses files.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not (isinstance(response, HttpResponse) and response.get("Content-Type", "").startswith("text/html")):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
