"""What a password may not be made of, beside Django's checks."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from qa_app.answers.site_words import site_name

SHORTEST_WORD = 4
LEAST_BESIDES = 8  # characters that must be left of a password without such words
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
