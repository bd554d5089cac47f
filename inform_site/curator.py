"""The first curator account of a development site."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

CURATORS = "Curators"
NAME = "curator"


@transaction.atomic
def ensure_development_curator() -> tuple[str, str] | None:
    """Create a curator and return the name and the password, which is stored nowhere else.

    None in production, and when a staff account exists already.
    """
    if settings.PRODUCTION or User.objects.filter(is_staff=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    curator = User.objects.create_user(NAME, password=password, is_staff=True)
    curator.groups.add(Group.objects.get_or_create(name=CURATORS)[0])
    return NAME, password
