"""How much may be asked, as the site counts it (`hooks.count_request`)."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from qa_app import hooks
from qa_app.answers import asking


def seconds_to_wait(request: HttpRequest, quota: str) -> int:
    """Counts one request of this sender on a quota (`ask`, `model`); 0 where there was room for it."""
    return hooks.count_request(request, quota) if hooks.count_request else 0


def allowance(request: HttpRequest) -> asking.Allowance:
    """Whether a model may write the answer to this request, counted where one begins to."""
    return asking.Allowance(lambda: seconds_to_wait(request, "model"))


def in_words(seconds: int) -> str:
    """About how long, for a reader: `40 seconds`, `12 minutes`, `3 hours`."""
    if seconds >= 7_200:
        return gettext("%(n)s hours") % {"n": -(-seconds // 3_600)}
    if seconds >= 120:
        return gettext("%(n)s minutes") % {"n": -(-seconds // 60)}
    return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
