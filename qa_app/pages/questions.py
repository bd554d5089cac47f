"""The Ask page."""

from __future__ import annotations

from http import HTTPStatus

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from qa_app.answers import asking, examples, narrowing, quota
from qa_app.pages.answers import answer_page
from qa_app.pages.caching import current, page_or_part
from qa_app.pages.forms import QuestionForm
from qa_app.pages.history import remember

RETRY_SECONDS = 5  # Retry-After of a timeout
SAME_SITE = ("same-origin", "none")  # Sec-Fetch-Site of a form of ours


@current
@page_or_part
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _ask_page(request, QuestionForm(initial=_prefilled(request)))
    form = QuestionForm(request.POST)
    if not form.can_be_asked():  # before the quota is counted: a failed stream may have counted it
        return _ask_page(request, form, status=HTTPStatus.BAD_REQUEST)
    if wait := quota.seconds_to_wait(request, "ask"):
        return too_many_page(request, form, wait)
    try:
        payload = form.ask(quota.allowance(request))
    except asking.OutOfTime as late:
        return timeout_page(request, form, late)
    if payload is None:
        return _ask_page(request, form, status=HTTPStatus.BAD_REQUEST)
    address = narrowing.address_of(payload)
    if request.headers.get("HX-Request"):
        response = answer_page(request, payload)
        response["HX-Push-Url"] = address
    else:
        place = f"{address}#question-title" if payload.get("parent") else address  # below the answers before it
        response = HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": place})
    remember(request, response, payload["id"])
    return response


@csrf_exempt  # a token would put a cookie on every public page; other sites are refused all the same
@require_POST
def ask_offered(request: HttpRequest) -> HttpResponse:
    """Ask a question that a page of the corpus offers."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in SAME_SITE:
        raise PermissionDenied
    return ask(request)


@require_POST
def again(request: HttpRequest, answer_id: str) -> HttpResponse:
    """Ask an answer's question again; the new page shows what has changed."""
    if wait := quota.seconds_to_wait(request, "ask"):
        before = asking.find_answer(answer_id)
        return too_many_page(request, QuestionForm({"question": before["question"] if before else ""}), wait)
    try:
        payload = asking.ask_again(answer_id, allowance=quota.allowance(request))
    except asking.OutOfTime as late:
        before = asking.find_answer(answer_id)
        return timeout_page(request, QuestionForm({"question": before["question"] if before else ""}), late)
    if payload is None:
        raise Http404
    address = f"{reverse('answer', args=[payload['id']])}?{urlencode({'since': answer_id})}"
    if request.headers.get("HX-Request"):
        response = answer_page(request, payload, since=answer_id)
        response["HX-Push-Url"] = address
    else:
        response = HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": address})
    remember(request, response, payload["id"])
    return response


def timeout_page(request: HttpRequest, form: QuestionForm, late: asking.OutOfTime) -> HttpResponse:
    """Render the Ask page after a timeout; what was typed stays."""
    words = gettext("This took longer than %(seconds)s seconds and was stopped. Please ask again later.")
    form.refuse(words % {"seconds": late.seconds})
    response = _ask_page(request, form, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def too_many_page(request: HttpRequest, form: QuestionForm, wait: int) -> HttpResponse:
    words = gettext("Too many questions from your address. Please ask again in %(wait)s.")
    form.refuse(words % {"wait": quota.in_words(wait)})
    response = _ask_page(request, form, status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(wait)
    return response


def _prefilled(request: HttpRequest) -> dict[str, str]:
    wanted = {"question": "q", "mode": "mode", "collection": "collection"}
    return {field: request.GET.get(name, "") for field, name in wanted.items()}


def _ask_page(request: HttpRequest, form: QuestionForm, status: int = HTTPStatus.OK) -> HttpResponse:
    context = {"form": form, "front": asking.corpus_figures(), "examples": list(examples.shown())}
    if status != HTTPStatus.OK and request.headers.get("HX-Request"):
        response = render(request, "qa/_form.html", context, status=status)
        response["HX-Retarget"], response["HX-Reswap"] = "#ask-form", "outerHTML"
        return response
    return render(request, "qa/ask.html", context, status=status)
