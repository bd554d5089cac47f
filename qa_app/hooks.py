"""Functions that the site registers with the app of questions and answers."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest

count_request: Callable[[HttpRequest, str], int] | None = None
"""Count a request on a quota (`ask`, `model`, `suggest`); return the seconds to wait, 0 where it is allowed."""
