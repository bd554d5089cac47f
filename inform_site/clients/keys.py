"""Create, find, rotate and revoke API keys. A secret is returned once and never stored or logged."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from inform_site.clients.models import ApiKey, Scope

PREFIX_BYTES = 5  # 40 bits name a key
SECRET_BYTES = 32
_FORM = re.compile(r"inform_([a-z2-7]{8})_[A-Za-z0-9_-]{43}")
USE_NOTED_EVERY = timedelta(minutes=1)
OVERLAP = timedelta(days=1)
"""How long the earlier secret stays valid after a rotation, where nobody says otherwise."""


class BadKey(ValueError):
    """A key that is not accepted; the message tells its holder why."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new key with its secret, which is stored nowhere."""

    key: ApiKey
    secret: str


def make(
    *,
    name: str,
    scopes: Iterable[str],
    owner: User | None,
    by: User | None,
    now: datetime,
    expires_at: datetime | None = None,
) -> Made:
    """Create a key. Raises ValidationError."""
    prefix, secret = _draw()
    key = ApiKey(
        name=name.strip(), scopes=_known(scopes), owner=owner, created_by=by, created_at=now, expires_at=expires_at,
        prefix=prefix, digest=_digest(secret),
    )  # fmt: skip
    if expires_at is not None and expires_at <= now:
        raise ValidationError({"expires_at": "Choose a moment that is still to come, or leave it out."})
    key.full_clean()
    key.save()
    return Made(key, secret)


def _known(scopes: Iterable[str]) -> list[str]:
    wanted = list(scopes)
    if unknown := [scope for scope in wanted if scope not in Scope.values]:
        raise ValidationError({"scopes": f"There is no scope {unknown[0]}. Choose among {', '.join(Scope.values)}."})
    return [scope for scope in Scope.values if scope in wanted]


def rotate(key: ApiKey, *, now: datetime, overlap: timedelta = OVERLAP) -> Made:
    """Create a new secret for a key. The previous secret stays valid for `overlap`; older ones end at once."""
    prefix, secret = _draw()
    with transaction.atomic():
        row = ApiKey.objects.select_for_update().get(pk=key.pk)
        if row.state(now) != "active":
            raise BadKey("Only an active key can be rotated. Make a new one.")
        row.earlier_prefix, row.earlier_digest, row.earlier_until = row.prefix, row.digest, now + overlap
        row.prefix, row.digest = prefix, _digest(secret)
        row.save()
    return Made(row, secret)


def revoke(key: ApiKey, *, now: datetime) -> None:
    """Revoke the key permanently, its previous secret included."""
    ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
    key.refresh_from_db()


def find(secret: str, *, now: datetime) -> ApiKey:
    """Return the key of a secret and record its use. Raises BadKey."""
    form = _FORM.fullmatch(secret)
    if form is None:
        raise BadKey("This is not a key of this site. Keys begin with inform_.")
    prefix = form[1]
    rows = ApiKey.objects.select_related("owner").filter(Q(prefix=prefix) | Q(earlier_prefix=prefix))
    for key in rows:
        if _opens(key, prefix, secret, now):
            _note_use(key, now)
            return key
    raise BadKey("This key is not known here. Check it, or ask for a new one.")


def is_active(client_id: str) -> bool:
    """Return whether the key with this client id is neither revoked nor expired."""
    pk = client_id.removeprefix("key-")
    key = ApiKey.objects.filter(pk=pk).first() if pk.isdecimal() else None
    return key is not None and key.state(timezone.now()) == "active"


def _opens(key: ApiKey, prefix: str, secret: str, now: datetime) -> bool:
    is_earlier = key.prefix != prefix
    kept = key.earlier_digest if is_earlier else key.digest
    if not hmac.compare_digest(kept, _digest(secret)):
        return False
    if is_earlier and (key.earlier_until is None or key.earlier_until <= now):
        raise BadKey("This key was replaced by a new one. Use the new one.")
    if (state := key.state(now)) != "active":
        raise BadKey(f"This key is {state}. Ask for a new one.")
    if key.owner is not None and not key.owner.is_active:
        raise BadKey("The owner of this key is no longer active here. Ask for a new one.")
    return True


def _note_use(key: ApiKey, now: datetime) -> None:
    if key.last_used_at is None or key.last_used_at <= now - USE_NOTED_EVERY:
        long_ago = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
        ApiKey.objects.filter(long_ago, pk=key.pk).update(last_used_at=now)


def _draw() -> tuple[str, str]:
    """Generate a prefix and a secret that begins with it."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    prefix = "".join(secrets.choice(alphabet) for _ in range(PREFIX_BYTES * 8 // 5))
    return prefix, f"inform_{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}"


def _digest(secret: str) -> str:
    """Hash a secret. SHA-256 without a salt is enough for 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()
