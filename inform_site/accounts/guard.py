"""Middleware of the desk: session limits, required second factors, confirmation, and the log of acts."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from inform_site import errors
from inform_site.accounts import audit, confirming, passwords, sessions
from inform_site.accounts.audit import Kind
from inform_site.accounts.hashing import HasherBusy
from inform_site.language import is_admin_request

READS = frozenset({"GET", "HEAD", "OPTIONS"})
API_OF_DESK = "/api/v1/desk/"
ALWAYS = ("/admin/login/", "/admin/logout/", "/admin/password_change/", "/admin/jsi18n/")
WITHOUT_FACTOR = ("/admin/account/", *ALWAYS)
WITH_INITIAL_PASSWORD = ("/admin/account/confirm/", *ALWAYS)
OWN_ENTRIES = ("mfa_", "account_reauthenticate", "logout")
"""Addresses whose acts are recorded by signals (listening.py)."""
BUTTONS = ("action", "verb")
CHOOSE_YOUR_OWN = "Choose a password that only you know, then go on."
FACTOR_NEEDED = "This desk asks for a second factor. Add an app or a passkey, then go on."


class DeskGuard:
    """End sessions that are over, ask for what is missing before a page of the desk, and record what was done there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method not in READS or response.status_code == HTTPStatus.FORBIDDEN:
            _record(request, response)
        return response

    def process_view(self, request: HttpRequest, view: object, arguments: object, options: object) -> Any:
        """Return another page instead of the one asked for, where something is to be done first."""
        if not is_admin_request(request) or not isinstance(request.user, User):
            return None
        user = request.user
        if sessions.end_if_over(request, user):
            return redirect_to_login(request.get_full_path(), reverse("account_login"))
        if request.session.get(passwords.INITIAL) and not request.path.startswith(WITH_INITIAL_PASSWORD):
            messages.warning(request, CHOOSE_YOUR_OWN)
            return HttpResponseRedirect(reverse("admin:password_change"))
        if settings.SECOND_FACTOR_REQUIRED and not _has_second_factor(request, user):
            if not request.path.startswith(WITHOUT_FACTOR):
                messages.warning(request, FACTOR_NEEDED)
                return HttpResponseRedirect(reverse("mfa_index"))
        elif confirming.is_dangerous(request) and not confirming.is_confirmed(request):
            return confirming.ask(request, user)
        request.desk_user = user.get_username()  # type: ignore[attr-defined]  # whoever it was, should they sign out
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return errors.unavailable(request, is_busy=True) if isinstance(exception, HasherBusy) else None


def _has_second_factor(request: HttpRequest, user: User) -> bool:
    """Return whether the person has one here, or came by OpenID Connect, whose provider asks for its own."""
    records = get_authentication_records(request, user)
    return any(record["method"] == "socialaccount" for record in records) or is_mfa_enabled(user)


def _record(request: HttpRequest, response: HttpResponse) -> None:
    """Add what was done at the desk, or by a key in its API, to the audit log; a form shown again did nothing."""
    match = request.resolver_match
    what = (match.url_name or match.route) if match else ""
    key = getattr(request, "api_key", None)
    if request.path.startswith(API_OF_DESK) and key is not None and response.status_code < HTTPStatus.BAD_REQUEST:
        owner = key.owner.get_username() if key.owner else ""
        audit.record(
            Kind.API, request=request, actor=owner, what=what, detail=f"{request.method} {request.path} {key.prefix}"
        )
    elif (actor := getattr(request, "desk_user", "")) and not what.startswith(OWN_ENTRIES):
        if response.status_code == HTTPStatus.FORBIDDEN:
            audit.record(
                Kind.DENIED, request=request, actor=actor, what=what, detail=f"{request.method} {request.path}"
            )
        elif HTTPStatus.MULTIPLE_CHOICES <= response.status_code < HTTPStatus.BAD_REQUEST:
            kind = Kind.PASSWORD if what in {"password_change", "auth_user_password_change"} else Kind.ACT
            pressed = " ".join(f"{name}={request.POST[name]}" for name in BUTTONS if request.POST.get(name))
            chosen = " ".join(request.POST.getlist("_selected_action")[:50])
            audit.record(
                kind,
                request=request,
                actor=actor,
                what=what,
                detail=" ".join(filter(None, [request.path, pressed, chosen])),
            )
