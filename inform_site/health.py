"""Liveness and readiness checks for proxies and orchestrators."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from common.postgresql.patience import patience
from inform_site import __version__, heartbeats
from inform_site.backups import records
from inform_site.outage import outage
from qa_app.answers import asking, engines
from qa_app.answers.corpus import describe_calibration

NOT_STORED = {"Cache-Control": "no-store"}


@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"ok": True}, headers=NOT_STORED)


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    body, status = state()
    return JsonResponse(body, status=status, headers=NOT_STORED)


DATABASE_SECONDS = 0.7  # the check ends within a second


def state() -> tuple[dict[str, Any], HTTPStatus]:
    """Return the health of the site and 200, or 503 when the database or its vector extension fails.

    A failing language model does not count: answers are then quoted from passages. Nor do delays of the workers, which
    are named.
    """
    if outage.is_on:
        return away(), HTTPStatus.SERVICE_UNAVAILABLE
    try:
        with patience(DATABASE_SECONDS):
            has_vectors, trouble, late, corpus_calibration = _look()
    except (DatabaseError, InterfaceError):
        outage.report()
        return away(), HTTPStatus.SERVICE_UNAVAILABLE
    finally:
        if not connection.in_atomic_block:
            connection.close()  # this thread may belong to no request
    body = {
        "ok": has_vectors,
        "version": __version__,
        "database": True,
        "vectors": has_vectors,
        "writer": asking.describe_writer(),
        "calibration": trouble,
        "corpus_calibration": corpus_calibration,
        "delays": late,
    }
    return body, HTTPStatus.OK if has_vectors else HTTPStatus.SERVICE_UNAVAILABLE


def away() -> dict[str, Any]:
    """Return the health of a site whose database does not answer."""
    return {
        "ok": False,
        "version": __version__,
        "database": False,
        "vectors": False,
        "writer": asking.describe_writer(),
        "calibration": None,
        "corpus_calibration": None,
        "delays": [],
    }


def _look() -> tuple[bool, str | None, list[str], dict[str, Any] | None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_extension WHERE extname = 'vector'")
        has_vectors = bool(cursor.fetchone()[0])
    return has_vectors, engines.model_trouble(), [*heartbeats.delays(), *records.delays()], describe_calibration()
