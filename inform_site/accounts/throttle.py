"""How often a login may fail: by account and by address, in the last ten minutes, counted in the database.

An attempt is counted before the password is looked at, and forgotten when it is right. Attempts of one account are
counted apart for each browser and each address that signed in to it before: strangers use up the attempts of strangers.
"""

from __future__ import annotations

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from inform_site.models import LoginAttempt

WINDOW = timedelta(minutes=10)
SKEW = timedelta(minutes=2)
"""How far ahead the clock of another process may be; what lies further ahead was counted by a wrong clock."""
ACCOUNT_FAILURES = 10
ADDRESS_FAILURES = 30
STRANGER = ""
_LOCK = 7_402_511  # any number; PostgreSQL's advisory lock of this count


class TooManyAttempts(ValidationError):
    """A login that is refused before its password is looked at."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        minutes = -(-seconds // 60)
        super().__init__(
            f"Too many attempts. Try again in {minutes} minute{'s' if minutes > 1 else ''}.", code="too_many_attempts"
        )


def key_of(kind: str, text: str) -> str:
    """Return the keyed hash under which an account or an address is counted."""
    return salted_hmac(f"inform.login.{kind}", text.casefold(), algorithm="sha256").hexdigest()[:40]


def begin(*, account: str, address: str, known_as: str = STRANGER) -> LoginAttempt:
    """Count one attempt, `known_as` a browser or network that the account knows. Raises TooManyAttempts."""
    account_key, address_key = key_of("account", account), key_of("address", address)
    with transaction.atomic():
        with connection.cursor() as cursor:  # thirty at once are counted one after the other
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        now = timezone.now()
        recent = LoginAttempt.objects.filter(at__gt=now - WINDOW, at__lte=now + SKEW)
        of_account = recent.filter(account=account_key, known_as=known_as)
        waits = [
            (rows[limit - 1] + WINDOW - now).total_seconds()
            for rows, limit in (
                (of_account.order_by("-at").values_list("at", flat=True)[:ACCOUNT_FAILURES], ACCOUNT_FAILURES),
                (
                    recent.filter(address=address_key).order_by("-at").values_list("at", flat=True)[:ADDRESS_FAILURES],
                    ADDRESS_FAILURES,
                ),
            )
            if len(rows) == limit
        ]
        if waits:
            raise TooManyAttempts(max(1, min(-int(-max(waits) // 1), int(WINDOW.total_seconds()))))
        return LoginAttempt.objects.create(account=account_key, address=address_key, known_as=known_as, at=now)


def succeed(attempt: LoginAttempt) -> None:
    """Forget an attempt whose password was right; earlier failures still count."""
    attempt.delete()


def prune() -> int:
    """Delete the attempts that no longer count, and those of a clock that was wrong."""
    now = timezone.now()
    deleted, _ = LoginAttempt.objects.exclude(at__gt=now - WINDOW, at__lte=now + SKEW).delete()
    return deleted
