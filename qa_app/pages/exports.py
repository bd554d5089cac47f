"""Downloads of answers."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_safe

from qa_app.answers import exporting
from qa_app.pages.caching import current


@current
@require_safe
def export(request: HttpRequest, answer_id: str, suffix: str) -> HttpResponse:
    """Send an answer as a file; `suffix` is ris, bib, csl.json, md or csv."""
    form = exporting.BY_SUFFIX.get(suffix)
    with translation.override(settings.LANGUAGE_CODE):  # files do not depend on the reader's language
        made = form and exporting.export(answer_id, form, site=request.build_absolute_uri("/"))
    if not made:
        raise Http404
    return HttpResponse(made.content, content_type=made.content_type, headers=made.headers)
