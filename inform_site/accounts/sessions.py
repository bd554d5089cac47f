"""Sessions at the desk: how long they last, and how their owners end them."""

from __future__ import annotations

import time

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest

from inform_site.accounts import audit

BEGAN, SEEN = "began_at", "seen_at"  # seconds since 1970, in the session
SEEN_EVERY = 60  # seconds: a request notes the use of a session if the last note is older
SKEW = 120  # seconds that another process's clock may be ahead


def end_if_over(request: HttpRequest, user: User) -> bool:
    """Sign out whose session has lasted too long, or who left the desk; return whether that was so.

    A session without use ends by itself: Django forgets it after SESSION_COOKIE_AGE.
    """
    now = time.time()
    began = request.session.setdefault(BEGAN, now)
    if began > now + SKEW:  # a clock was wrong
        request.session[BEGAN] = began = now
    if now - began < settings.SESSION_HOURS * 3_600 and user.is_staff:
        _note_use(request, now)
        return False
    audit.record(
        audit.Kind.SESSION_ENDED, request=request, actor=user.get_username(), what="too long, or no longer staff"
    )
    logout(request)
    return True


def _note_use(request: HttpRequest, now: float) -> None:
    if not 0 <= now - request.session.get(SEEN, 0) < SEEN_EVERY:
        request.session[SEEN] = now
        UserSession.objects.create_from_request(request)


def renew(request: HttpRequest) -> None:
    """Give the session a new key, as after a login; the former one ends."""
    former = request.session.session_key
    request.session.cycle_key()
    UserSession.objects.filter(session_key=former).update(session_key=request.session.session_key)


def own_sessions(user: User) -> list[UserSession]:
    """Return the sessions that have not ended, the latest first."""
    sessions: list[UserSession] = UserSession.objects.purge_and_list(user)
    return sorted(sessions, key=lambda session: session.last_seen_at, reverse=True)


def end(user: User, *, pk: int | None = None, besides: str | None = None) -> int:
    """End one session of a person, or all besides the one with this key; return their number."""
    found = UserSession.objects.filter(user=user).exclude(session_key=besides)
    sessions = list(found.filter(pk=pk) if pk is not None else found)
    for session in sessions:
        session.end()
    return len(sessions)


def prune() -> None:
    """Delete what is left of sessions that have ended."""
    SessionStore.clear_expired()
