"""Signals of Django and allauth that end up in the audit log."""

from __future__ import annotations

from typing import Any

from allauth.account import signals as account
from allauth.account.authentication import get_authentication_records
from allauth.mfa import signals as mfa
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from inform_site.accounts import audit, passwords, sessions
from inform_site.accounts.audit import Kind


@receiver(account.user_logged_in)
def _logged_in(request: HttpRequest, user: User, **options: Any) -> None:
    methods = [f"{one['method']} {one.get('type', '')}".strip() for one in get_authentication_records(request, user)]
    audit.record(Kind.LOGIN, request=request, actor=user.get_username(), what=", ".join(methods))
    passwords.note_login(request, user)


@receiver(user_logged_out)
def _logged_out(request: HttpRequest | None, user: User | None, **options: Any) -> None:
    if user is not None:
        audit.record(Kind.LOGOUT, request=request, actor=user.get_username())


@receiver(account.authentication_step_completed)
def _step_completed(request: HttpRequest, user: User, method: str, **options: Any) -> None:
    if options.get("reauthenticated"):
        sessions.renew(request)
        audit.record(Kind.CONFIRMED, request=request, actor=user.get_username(), what=method)


@receiver(mfa.authenticator_added)
@receiver(mfa.authenticator_reset)
def _factor_added(request: HttpRequest, user: User, authenticator: Any, **options: Any) -> None:
    audit.record(Kind.FACTOR_ADDED, request=request, actor=user.get_username(), what=authenticator.type)


@receiver(mfa.authenticator_removed)
def _factor_removed(request: HttpRequest, user: User, authenticator: Any, **options: Any) -> None:
    audit.record(Kind.FACTOR_REMOVED, request=request, actor=user.get_username(), what=authenticator.type)


@receiver(mfa.authentication_failed)
def _factor_failed(request: HttpRequest, user: User, authenticator: Any, **options: Any) -> None:
    audit.record(Kind.FACTOR_FAILED, request=request, actor=user.get_username(), what=authenticator.type)
