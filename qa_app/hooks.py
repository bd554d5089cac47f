"""Functions that the site registers with the app of questions and answers."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.http import HttpRequest

count_request: Callable[[HttpRequest, str, int], int] | None = None
"""Count a request as so many on a quota (`ask`, `model`, `suggest`, `follow`); return the seconds to wait, or 0."""

count_mail: Callable[[str], bool] | None = None
"""Count a mail that a stranger asks for, by the hash of its address; return whether it may be sent."""

is_client_active: Callable[[str], bool] | None = None
"""Return whether the API key with this id is valid."""

identify_client: Callable[[HttpRequest], str] | None = None
"""Return a keyed hash of the client that a request comes from."""

add_question: Callable[[str, int | None, str, User], str | None] | None = None
"""Add a curated question to a study, or to this finding of it; return why it was refused, None where it was not."""

add_alias: Callable[[str, str, User], str | None] | None = None
"""Add an alias to a concept; return why it was refused, None where it was not."""
