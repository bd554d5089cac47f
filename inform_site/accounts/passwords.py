"""What a password may not be made of, beside Django's checks, and which ones were given by somebody else."""

from __future__ import annotations

import re

from allauth.account.authentication import get_authentication_records
from allauth.core import context
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from inform_site.models import InitialPassword
from qa_app.answers.site_words import site_name

SHORTEST_WORD = 4
LEAST_BESIDES = 8  # characters that must be left of a password without such words
INITIAL = "initial_password"  # in the session of who logged in with one
PRODUCT = ("inform", "curator", "password", "admin")


class SiteWordsValidator:
    """Refuse passwords that are little else than the names of the site, of its roles and of the person."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise ValidationError where too little is left without these words."""
        names = [site_name(), *([user.username, user.first_name, user.last_name] if user else ())]
        found = re.findall(r"\w+", " ".join(names).casefold())
        words = {*PRODUCT, *(word for word in found if len(word) >= SHORTEST_WORD)}
        left = password.casefold()
        for word in sorted(words, key=len, reverse=True):
            left = left.replace(word, "")
        if left != password.casefold() and len(left) < LEAST_BESIDES:
            raise ValidationError("This password is little else than names.", code="password_names")

    def get_help_text(self) -> str:
        return "Your password can’t be little else than names."

    def password_changed(self, password: str, user: User) -> None:
        """Note a password that an administrator gave, and forget it once the person has a new one.

        Django calls this after every change; at a shell there is no request, and nothing is noted.
        """
        request = context.request
        actor = getattr(request, "user", None)
        if isinstance(actor, User) and actor.pk != user.pk:
            InitialPassword.objects.update_or_create(user=user)
        elif request is not None:
            InitialPassword.objects.filter(user=user).delete()
            request.session.pop(INITIAL, None)


def note_login(request: HttpRequest, user: User) -> None:
    """Let the session know that its password was given by somebody else; a login by other means is free."""
    methods = {record["method"] for record in get_authentication_records(request, user)}
    if "password" in methods and InitialPassword.objects.filter(user=user).exists():
        request.session[INITIAL] = True
