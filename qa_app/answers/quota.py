"""Request quotas, as the site counts them (`hooks.count_request`)."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from qa_app import hooks
from qa_app.answers import asking


class QuotaUsedUp(Exception):
    """The client has no quota for another answer."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            f"The questions that you may ask for now are used up. Try again in {retry_after_seconds} seconds."
        )
        self.retry_after_seconds = retry_after_seconds


def seconds_to_wait(request: HttpRequest, quota: str, amount: int = 1) -> int:
    """Count a request as `amount` on a quota (`ask`, `model`); return the seconds to wait, 0 where it is allowed."""
    return hooks.count_request(request, quota, amount) if hooks.count_request and amount else 0


def allowance(request: HttpRequest) -> asking.Allowance:
    """Return an allowance that counts this request on the model quota once a model begins to write."""
    return asking.Allowance(lambda: seconds_to_wait(request, "model"))


def in_words(seconds: int) -> str:
    """Return a rounded duration: `40 seconds`, `12 minutes`, `3 hours`."""
    if seconds >= 7_200:
        return gettext("%(n)s hours") % {"n": -(-seconds // 3_600)}
    if seconds >= 120:
        return gettext("%(n)s minutes") % {"n": -(-seconds // 60)}
    return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
