"""The address of an answer under filters."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from qa_app.answers import asking, narrowing, quota, study_filters
from qa_app.answers.payload import is_from_studies
from qa_app.pages.caching import current
from qa_app.pages.forms import QuestionForm
from qa_app.pages.history import remember
from qa_app.pages.questions import timeout_page, too_many_page


@current
@require_safe
def narrow(request: HttpRequest, answer_id: str) -> HttpResponse:
    """Lead to the answer to the same question under the filters of the address; ask it where there is none yet."""
    answer = asking.find_answer(answer_id)
    if answer is None:
        raise Http404
    if not is_from_studies(answer):
        return redirect(answer["url"])
    filters = study_filters.read_query(dict(request.GET.lists()))
    found = narrowing.find_narrowed(answer, filters)
    if found is not None:
        return redirect(narrowing.address_of(found))
    form = QuestionForm({"question": answer["question"]})
    if wait := quota.seconds_to_wait(request, "ask"):
        return too_many_page(request, form, wait)
    try:
        payload = narrowing.narrow(answer_id, filters, allowance=quota.allowance(request))
    except asking.OutOfTime as late:
        return timeout_page(request, form, late)
    if payload is None:
        raise Http404
    response = redirect(narrowing.address_of(payload))
    remember(request, response, payload["id"])
    return response
