"""Encrypt what must be stored and used again, such as a key of another service, under the site's SECRET_KEY."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.encoding import force_bytes


class CannotDecrypt(Exception):
    """A text that was encrypted under another SECRET_KEY."""


def encrypt(text: str, *, purpose: str) -> str:
    return _fernet(purpose).encrypt(text.encode()).decode()


def decrypt(encrypted: str, *, purpose: str) -> str:
    """Return the text that was encrypted for this purpose. Raises CannotDecrypt."""
    try:
        return _fernet(purpose).decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise CannotDecrypt from None


def _fernet(purpose: str) -> MultiFernet:
    """Return the cipher of a purpose; the first key encrypts, former ones decrypt."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    derived = (hashlib.sha256(b"\0".join((purpose.encode(), force_bytes(secret)))).digest() for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
