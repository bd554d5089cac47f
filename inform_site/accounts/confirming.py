"""Dangerous acts at the desk, before which people confirm that it is them."""

from __future__ import annotations

import time

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from corpus_app.models import BulkEdit

CONFIRMED_SECONDS = 900
NAMES = frozenset(
    "corpus_app_study_retractions auth_user_add auth_user_change auth_user_password_change auth_group_add "
    "auth_group_change clients_apikey_add clients_apikey_change clients_apikey_rotate clients_apikey_revoke "
    "password_change account_end_session account_end_other_sessions".split()
)
"""Pages of dangerous acts, by the name of their address; the deletion of anything is one, too."""
ACTIONS = frozenset({"delete_selected", "end_sessions", "remove_second_factors"})
"""Actions of lists that are dangerous."""
CANNOT_CONFIRM = "This needs a password or a second factor of yours, so that you can confirm that it is you."


def is_dangerous(request: HttpRequest) -> bool:
    match = request.resolver_match
    name = (match.url_name or "") if match else ""
    if name in NAMES or name.endswith("_delete"):
        return True
    if request.method != "POST" or match is None:
        return False
    if request.POST.get("action") in ACTIONS:
        return True
    if name == "corpus_app_bulkedit_change" and request.POST.get("verb") in {"confirm", "undo"}:
        edit = BulkEdit.objects.filter(pk=match.kwargs.get("object_id", "")).only("changes").first()
        return edit is not None and ("notice" in edit.changes or edit.changes.get("status") == "withdraw")
    return False


def is_confirmed(request: HttpRequest) -> bool:
    """Return whether this person signed in or confirmed a moment ago; a moment in the future is none."""
    user = request.user if isinstance(request.user, User) else None
    records = get_authentication_records(request, user)
    return any(0 <= time.time() - record["at"] < CONFIRMED_SECONDS for record in records)


def ask(request: HttpRequest, user: User) -> HttpResponse:
    """Return the way to the page that asks for a password, a second factor, or the login elsewhere."""
    following = urlencode({"next": request.get_full_path()})
    methods = get_adapter().get_reauthentication_methods(user)
    if methods:
        return HttpResponseRedirect(f"{methods[0]['url']}?{following}")
    if account := SocialAccount.objects.filter(user=user).first():
        address = reverse("openid_connect_login", args=[account.provider])
        return HttpResponseRedirect(f"{address}?{following}")
    messages.error(request, CANNOT_CONFIRM)
    return HttpResponseRedirect(reverse("mfa_index"))
