"""Suggestions while a question is typed."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from qa_app.answers import quota
from qa_app.feedback import suggestions
from qa_app.pages.caching import current


@current
@require_safe
def suggest(request: HttpRequest) -> HttpResponse:
    """Return `{"suggestions": [{"kind", "question", "also"}]}`, possibly empty."""
    if wait := quota.seconds_to_wait(request, "suggest"):
        return JsonResponse(
            {"suggestions": []}, status=HTTPStatus.TOO_MANY_REQUESTS, headers={"Retry-After": str(wait)}
        )
    found = suggestions.suggest(request.GET.get("q", ""))
    rows = [{"kind": one.kind, "question": one.question, "also": one.also} for one in found]
    return JsonResponse({"suggestions": rows})
