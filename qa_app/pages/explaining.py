"""The page that explains how answers are made."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from qa_app.evaluation import workings
from qa_app.pages.caching import current_for_all


@current_for_all
@require_safe
def how_it_works(request: HttpRequest) -> HttpResponse:
    """Explain how answers are made, with present figures."""
    return render(request, "qa/how_it_works.html", {"how": workings.how_it_works()})
