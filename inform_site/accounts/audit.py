"""The audit log: who signed in and who did what, when and from where. Entries are only ever added."""

from __future__ import annotations

import csv
import ipaddress
import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest
from django.utils import timezone

from inform_site import logs
from inform_site.clients.addresses import Address, believed
from inform_site.models import AuditEntry

Kind = AuditEntry.Kind
COLUMNS = ("at", "kind", "actor", "address", "agent", "what", "detail", "request_id")
LOGGED = frozenset({Kind.LOGIN_FAILED, Kind.LOGIN_REFUSED, Kind.FACTOR_FAILED, Kind.DENIED})
logger = logging.getLogger("inform_site.audit")


def address_of(request: HttpRequest) -> Address | None:
    """Return the client's address, as far as our own proxies report it; None for a Unix socket."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    return believed(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES)


def record(
    kind: Kind, *, request: HttpRequest | None = None, actor: str = "", what: str = "", detail: str = ""
) -> AuditEntry:
    """Add an entry; failures are also logged, without the name that was typed."""
    address = address_of(request) if request else None
    if kind in LOGGED:
        logger.warning("%s: %s %s", kind.label, address or "local", what)
    return AuditEntry.objects.create(
        kind=kind,
        actor=_clean(actor, 150),
        address=str(address) if address else None,
        agent=_clean(request.META.get("HTTP_USER_AGENT", "") if request else "", 200),
        what=_clean(what, 200),
        detail=_clean(detail, 500),
        request_id=logs.request_id.get() if request else "",
    )


def _clean(text: str, most: int) -> str:
    """Return the text in one line, without signs that a terminal or a database would obey."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)[:most]


def knows_address(actor: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    """Return whether this account signed in from the same address before."""
    if address is None:
        return False
    return AuditEntry.objects.filter(kind=Kind.LOGIN, actor__iexact=actor, address=str(address)).exists()


def csv_lines(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """Yield the entries as lines of CSV that no spreadsheet takes for formulas."""
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    for entry in entries:
        yield writer.writerow([_cell(getattr(entry, name)) for name in COLUMNS])


def _cell(value: Any) -> str:
    text = "" if value is None else value.isoformat() if hasattr(value, "isoformat") else str(value)
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text


class _Echo:
    """A file that returns what is written to it."""

    def write(self, text: str) -> str:
        return text


def prune() -> int:
    """Delete the entries that are older than INFORM_AUDIT_DAYS; the one way to delete any."""
    if not settings.AUDIT_DAYS:
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('inform.prune_audit', 'on', true)")
        deleted, _ = AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=settings.AUDIT_DAYS)).delete()
        cursor.execute("SELECT set_config('inform.prune_audit', '', true)")
    return deleted
