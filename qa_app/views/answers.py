"""An answer at its address, and the words behind each of its sentences."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from qa_app import asked, asking, reading
from qa_app.forms import QuestionForm
from qa_app.views.caching import current, page_or_part


@current
@page_or_part
@require_safe
def answer(request: HttpRequest, answer_id: str) -> HttpResponse:
    return answer_page(request, _get_payload(answer_id))


@current
@page_or_part
@require_safe
def citation(request: HttpRequest, answer_id: str, part: str, sentence: int, index: int) -> HttpResponse:
    """The passage behind marker `index` of a sentence (counted from 1): a page, or the panel's content for a script."""
    payload = _get_payload(answer_id)
    quote = reading.find_quote(payload, part=part, number=sentence, index=index)
    if quote is None:
        raise Http404
    context = {"answer": payload, "quote": quote}
    if not request.headers.get("HX-Request"):
        return render(request, "qa/citation.html", context)
    response = render(request, "qa/_citation.html", context)
    response["HX-Push-Url"] = "false"  # htmx 2.0.10 overlooks the attribute of this name on boosted links
    return response


def answer_page(request: HttpRequest, payload: dict[str, Any]) -> HttpResponse:
    page = reading.read(payload)
    kept = {"mode": payload["mode"], "collection": payload["collection"] or ""}
    if page.is_refusal and payload["outcome"] != "guardrail":
        kept["question"] = payload.get("understood_as") or payload["question"]  # to be put in other words
    context = {"answer": payload, "page": page, "form": QuestionForm(initial=kept), "front": asking.front_page()}
    context["trail"] = asked.trail(payload["id"]) if payload.get("parent") else []
    return render(request, "qa/answer.html", context)


def _get_payload(answer_id: str) -> dict[str, Any]:
    payload = asking.find_answer(answer_id)
    if payload is None:
        raise Http404
    return payload
