"""The public pages: ask a question, read an answer, open the words behind a sentence."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from qa_app import asking, reading
from qa_app.forms import QuestionForm

# A stored answer can change from one moment to the next (a source withdrawn), so browsers may keep it but must ask.
current = cache_control(private=True, no_cache=True)
page_or_part = vary_on_headers("HX-Request")


@current
@page_or_part
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _ask_page(request, QuestionForm(initial=_prefilled(request)))
    form = QuestionForm(request.POST)
    payload = form.ask()
    if payload is None:
        return _ask_page(request, form, status=HTTPStatus.BAD_REQUEST)
    address = reverse("answer", args=[payload["id"]])
    if not request.headers.get("HX-Request"):
        return HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": address})
    response = _answer_page(request, payload)
    response["HX-Push-Url"] = address
    return response


@current
@page_or_part
@require_safe
def answer(request: HttpRequest, answer_id: str) -> HttpResponse:
    return _answer_page(request, _get_payload(answer_id))


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


@cache_control(public=True, no_cache=True)
@require_safe
def how_it_works(request: HttpRequest) -> HttpResponse:
    """How answers are made, with the figures that are in force now."""
    return render(request, "qa/how_it_works.html", {"how": asking.how_it_works()})


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
    return render(request, "404.html", status=HTTPStatus.NOT_FOUND)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _problem(HTTPStatus.BAD_REQUEST, "This request cannot be read: check its host, headers and form.")
    return render(request, "400.html", status=HTTPStatus.BAD_REQUEST)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Something failed here. Please try again in a while.")
    return render(request, "500.html", status=HTTPStatus.INTERNAL_SERVER_ERROR)


def _problem(status: HTTPStatus, detail: str) -> JsonResponse:
    """A problem as clients of the API expect one, for what never reaches the API's own handler."""
    problem = {"type": "about:blank", "title": status.phrase, "status": status, "detail": detail, "errors": []}
    return JsonResponse(problem, status=status, content_type="application/problem+json")


def _prefilled(request: HttpRequest) -> dict[str, str]:
    wanted = {"question": "q", "mode": "mode", "collection": "collection"}
    return {field: request.GET.get(name, "") for field, name in wanted.items()}


def _get_payload(answer_id: str) -> dict[str, Any]:
    payload = asking.find_answer(answer_id)
    if payload is None:
        raise Http404
    return payload


def _ask_page(request: HttpRequest, form: QuestionForm, status: int = HTTPStatus.OK) -> HttpResponse:
    context = {"form": form, "front": asking.front_page(), "examples": asking.examples()}
    if status == HTTPStatus.BAD_REQUEST and request.headers.get("HX-Request"):
        response = render(request, "qa/_form.html", context, status=status)
        response["HX-Retarget"], response["HX-Reswap"] = "#ask-form", "outerHTML"
        return response
    return render(request, "qa/ask.html", context, status=status)


def _answer_page(request: HttpRequest, payload: dict[str, Any]) -> HttpResponse:
    page = reading.read(payload)
    kept = {"mode": payload["mode"], "collection": payload["collection"] or ""}
    if page.is_refusal and payload["outcome"] != "guardrail":
        kept["question"] = payload["question"]  # to be put in other words
    context = {"answer": payload, "page": page, "form": QuestionForm(initial=kept), "front": asking.front_page()}
    return render(request, "qa/answer.html", context)
