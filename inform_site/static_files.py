"""Serve the site's style sheets, scripts and fonts."""

from __future__ import annotations

from io import BytesIO

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]
from whitenoise.responders import StaticFile  # type: ignore[import-untyped]


class WholeFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise with replies that hold the whole file.

    WhiteNoise streams files, which an asynchronous server must read whole first, with a warning each time. Our files
    are small.
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        with found.file or BytesIO() as file:
            whole = HttpResponse(file.read(), status=int(found.status))
        del whole["Content-Type"]  # where there is one, it is among those of the file
        for name, value in found.headers:
            whole[name] = value
        return whole
