"""The page that checks the claims of a pasted text."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from qa_app.answers import asking, claim_checking, quota
from qa_app.pages.caching import page_or_part
from qa_app.pages.errors import too_many
from qa_app.pages.forms import ClaimsForm

SALT = "claim"
TOKEN_SECONDS = 3_600  # a claim of a counted text may be checked for as long
RETRY_SECONDS = 5  # Retry-After of a timeout
MOST_LINKED = 1_500  # characters of a text that an address can carry


@never_cache
@page_or_part
@require_http_methods(["GET", "HEAD", "POST"])
def check_claims(request: HttpRequest) -> HttpResponse:
    """Check a text: all claims at once, or with htmx one after the other, so that the reader sees them arrive."""
    if request.method != "POST":
        return _page(request, ClaimsForm(initial={"text": request.GET.get("text", "")}))
    form = ClaimsForm(request.POST)
    pasted = form.read()
    if pasted is None:
        return _page(request, form, status=HTTPStatus.BAD_REQUEST)
    if pasted.declined:
        return render(request, "qa/claims.html", {"urgent": pasted.declined})
    if wait := quota.seconds_to_wait(request, "ask", pasted.asks):
        words = gettext("Too many questions from your address. Please ask again in %(wait)s.")
        form.refuse(words % {"wait": quota.in_words(wait)})
        response = _page(request, form, status=HTTPStatus.TOO_MANY_REQUESTS)
        response["Retry-After"] = str(wait)
        return response
    if request.headers.get("HX-Request"):
        claims = [claim for claim in pasted.sentences if claim.skipped is None]
        tokens = [
            signing.dumps({"text": claim.text, "place": place, "total": len(claims)}, salt=SALT, compress=True)
            for place, claim in enumerate(claims, start=1)
        ]
        waiting = [{"text": claim.text, "token": token} for claim, token in zip(claims, tokens, strict=True)]
        skipped = [{"text": c.text, "reason": c.skipped.value} for c in pasted.sentences if c.skipped]
        return _page(request, form, waiting=waiting, total=len(claims), skipped=skipped)
    try:
        checked = claim_checking.check(pasted)
    except asking.OutOfTime:
        form.refuse(gettext("This took too long and was stopped. Please check fewer claims at once."))
        response = _page(request, form, status=HTTPStatus.SERVICE_UNAVAILABLE)
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    rows = checked["claims"]
    return _page(request, form, rows=rows, done=len(rows), total=len(rows), skipped=checked["skipped"])


@require_POST
def check_claim(request: HttpRequest) -> HttpResponse:
    """Check one claim of a text that was counted: the fragment that takes its place in the list."""
    if wait := quota.seconds_to_wait(request, "read"):
        return too_many(request, seconds=wait)
    try:
        claim = signing.loads(request.POST.get("claim", ""), salt=SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        return HttpResponse(status=HTTPStatus.BAD_REQUEST)
    context = {"done": claim["place"], "total": claim["total"]}
    try:
        context["row"] = claim_checking.check_one(claim["text"])
    except asking.OutOfTime:
        context["late"] = claim["text"]
    return render(request, "qa/_claim_checked.html", context)


def _page(request: HttpRequest, form: ClaimsForm, *, status: int = HTTPStatus.OK, **results: Any) -> HttpResponse:
    context = {"form": form, "most_claims": claim_checking.MOST_CLAIMS, "most_length": claim_checking.MAX_LENGTH}
    if results and len(form.typed) <= MOST_LINKED:
        context["link"] = f"{reverse('check_claims')}?{urlencode({'text': form.typed})}"
    return render(request, "qa/claims.html", context | results, status=status)
