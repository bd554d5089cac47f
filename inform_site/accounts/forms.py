"""Forms of the second factor, counted like passwords."""

from __future__ import annotations

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm

from inform_site.accounts import audit, throttle
from inform_site.accounts.audit import Kind

KNOWN_AS = "second factor"


class _CountedCode:
    """A check of a code that is counted by account and address before it is made."""

    def clean_code(self) -> str:
        user = vars(self)["user"]
        address = audit.address_of(context.request)
        try:
            attempt = throttle.begin(account=user.get_username(), address=str(address), known_as=KNOWN_AS)
        except throttle.TooManyAttempts:
            audit.record(Kind.LOGIN_REFUSED, request=context.request, actor=user.get_username(), what=KNOWN_AS)
            raise
        code: str = super().clean_code()  # type: ignore[misc]
        throttle.succeed(attempt)
        return code


class CountedAuthenticateForm(_CountedCode, AuthenticateForm):
    pass


class CountedReauthenticateForm(_CountedCode, ReauthenticateForm):
    pass
