"""What the question box offers while one types."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from qa_app import suggesting
from qa_app.views.caching import current


@current
@require_safe
def suggest(request: HttpRequest) -> HttpResponse:
    """`{"suggestions": [{"kind", "question", "also"}]}`; none where nothing fits."""
    found = suggesting.suggest(request.GET.get("q", ""))
    rows = [{"kind": one.kind, "question": one.question, "also": one.also} for one in found]
    return JsonResponse({"suggestions": rows})
