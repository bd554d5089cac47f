"""The page of an answer, its quotations and the feedback form."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from qa_app.answers import asking, history, narrowing, overview, presentation, reader_facets, study_filters
from qa_app.answers.payload import is_from_studies
from qa_app.answers.site_words import in_site_words
from qa_app.feedback import ratings
from qa_app.pages.caching import current, page_or_part
from qa_app.pages.embedding import share
from qa_app.pages.following import offer
from qa_app.pages.forms import FeedbackForm, QuestionForm
from qa_app.pages.history import remember
from qa_app.pages.overviews import overview_page

EXPORTS = (("ris", "RIS"), ("bib", "BibTeX"), ("csl.json", "CSL-JSON"), ("md", "Markdown"))
MAX_FEEDBACK_KEYS = 50  # answers whose feedback a browser can change


@current
@page_or_part
@require_safe
def answer(request: HttpRequest, answer_id: str) -> HttpResponse:
    with asking.snapshot():
        payload = _get_payload(answer_id)
        if narrowed := _narrowed_otherwise(request, payload):
            return redirect(narrowed)
        response = answer_page(request, payload, since=request.GET.get("since", ""))
    if request.headers.get("X-Asked-Here"):  # sent by our script after a streamed answer
        remember(request, response, answer_id)
    return response


@current
@page_or_part
@require_safe
def citation(request: HttpRequest, answer_id: str, part: str, sentence: int, index: int) -> HttpResponse:
    """Show the passage behind marker `index` of a sentence (from 1): a page, or a fragment for htmx."""
    payload = in_site_words(_get_payload(answer_id))
    quote = presentation.find_quote(payload, part=part, number=sentence, index=index)
    if quote is None:
        raise Http404
    context = {"answer": payload, "quote": quote}
    if not request.headers.get("HX-Request"):
        return render(request, "qa/citation.html", context)
    response = render(request, "qa/_citation.html", context)
    response["HX-Push-Url"] = "false"  # htmx 2.0.10 ignores hx-push-url on boosted links
    return response


@require_POST
def feedback(request: HttpRequest, answer_id: str) -> HttpResponse:
    """Store the reader's feedback; a browser that sends it again replaces its own."""
    form = FeedbackForm(request.POST)
    key = form.give(answer_id, amends=_feedback_key(request, answer_id), client=ratings.identify(request))
    if key is None and not form.errors:
        raise Http404
    if key is not None:
        keys = {name: value for name, value in _feedback_keys(request).items() if name != answer_id}
        request.session["feedback"] = dict([*keys.items(), (answer_id, key)][-MAX_FEEDBACK_KEYS:])
    status = HTTPStatus.BAD_REQUEST if form.errors else HTTPStatus.OK
    if request.headers.get("HX-Request"):
        context = {"answer": {"id": answer_id}} | _feedback(request, answer_id, form if form.errors else None)
        return render(request, "qa/_feedback.html", context, status=status)
    if form.errors:
        return answer_page(request, _get_payload(answer_id), typed=form, status=status)
    return _see(reverse("answer", args=[answer_id]) + "#feedback")


def answer_page(
    request: HttpRequest,
    payload: dict[str, Any],
    *,
    since: str = "",
    typed: FeedbackForm | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Render an answer; `since` is the id of an earlier answer to compare with."""
    with asking.snapshot():
        payload = in_site_words(payload)
        around = overview.build_overview(payload)
        changes = asking.find_changes(payload, since) if since else None
        thread = history.list_thread(payload.get("parent"))
        narrowed = narrowing.read_narrowing(payload)
        reader = reader_facets.read_reader_facets(row["study_id"] for row in payload["citations"])
        shows_corpus = payload["outcome"] == "out_of_scope"
        front = asking.corpus_figures() if shows_corpus else asking.collection_choices()
    page = presentation.read(payload, around.names)
    initial = {"mode": payload["mode"], "collection": payload["collection"] or ""}
    if page.is_refusal and payload["outcome"] != "guardrail":
        initial["question"] = payload.get("understood_as") or payload["question"]  # so that the reader can rephrase it
    context = {
        "answer": payload,
        "page": page,
        "around": around,
        "changes": changes,
        "counts": overview_page(payload),
        "address": request.build_absolute_uri(reverse("answer", args=[payload["id"]])),
        "exports": EXPORTS,
        "follow": offer(payload),
        "form": QuestionForm(initial=initial),
        "narrowing": narrowed,
        "reader": reader,
        "filters": json.dumps(payload["filters"]),
        "front": front,
        "share": share(request, payload),
        "thread": thread,
    } | _feedback(request, payload["id"], typed)
    return render(request, "qa/answer.html", context, status=status)


def _narrowed_otherwise(request: HttpRequest, payload: dict[str, Any]) -> str | None:
    """Return where the answer under the filters of this address is; None where this is it."""
    if not study_filters.is_named(request.GET) or not is_from_studies(payload):
        return None
    wanted = study_filters.read_query(dict(request.GET.lists()))
    if wanted.to_json() == payload["filters"]:
        return None
    return f"{reverse('narrow', args=[payload['id']])}?{urlencode(study_filters.to_parameters(wanted))}"


def _feedback(request: HttpRequest, answer_id: str, typed: FeedbackForm | None) -> dict[str, Any]:
    """Return the context of the feedback form, filled with rejected input or with what this browser sent before."""
    key = _feedback_key(request, answer_id)
    given = ratings.find_feedback(answer_id, key) if key is not None else None
    feedback_values: dict[str, Any] = {}
    if typed is not None:
        feedback_values = {
            "helpful": typed["helpful"].value(),
            "reasons": typed["reasons"].value(),
            "words": typed["words"].value(),
        }
    elif given is not None:
        feedback_values = {
            "helpful": "yes" if given.is_helpful else "no",
            "reasons": given.reasons,
            "words": given.words,
        }
    return {
        "said": feedback_values,
        "is_thanked": given is not None and typed is None,
        "feedback_errors": [error for errors in typed.errors.values() for error in errors] if typed else [],
        "reasons": ratings.feedback_reasons(),
    }


def _feedback_keys(request: HttpRequest) -> dict[str, int]:
    keys = request.session.get("feedback")
    return keys if isinstance(keys, dict) else {}


def _feedback_key(request: HttpRequest, answer_id: str) -> int | None:
    return _feedback_keys(request).get(answer_id)


def _see(address: str) -> HttpResponse:
    return HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": address})


def _get_payload(answer_id: str) -> dict[str, Any]:
    payload = asking.find_answer(answer_id)
    if payload is None:
        raise Http404
    return payload
