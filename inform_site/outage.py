"""Whether the database answers, as one small state that every request reads before it waits for anything."""

from __future__ import annotations

import logging
import threading
import time

from django.db import connections
from django.db.utils import InterfaceError, OperationalError

from common.postgresql.base import PatientConnection
from common.postgresql.patience import patience

FAILURES = (OperationalError, InterfaceError)
DOUBT_SECONDS = 0.5  # a database that has not answered the probe by then counts as away
PROBE_EVERY_SECONDS = 0.3
RETRY_AFTER_SECONDS = 2
logger = logging.getLogger(__name__)


class Outage:
    """A circuit breaker: a failure starts a probe; while the probe fails, requests are refused without waiting."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: float | None = None
        self._is_certain = False

    @property
    def is_on(self) -> bool:
        since = self._since
        return since is not None and (self._is_certain or time.monotonic() - since > DOUBT_SECONDS)

    def report(self) -> None:
        """Record that a request could not use the database. Never blocks."""
        with self._lock:
            if self._since is not None:
                return
            self._since = time.monotonic()
        threading.Thread(target=self._probe_until_back, name="database-probe", daemon=True).start()

    def _probe_until_back(self) -> None:
        while not answers():
            if not self._is_certain:
                self._is_certain = True
                logger.warning("The database does not answer; requests are refused until it does.")
                connections["default"].close_pool()  # type: ignore[attr-defined]
            time.sleep(PROBE_EVERY_SECONDS)
        with self._lock:
            seconds = time.monotonic() - (self._since or time.monotonic())
            was_certain, self._is_certain, self._since = self._is_certain, False, None
        if was_certain:
            logger.warning("The database answers again, after %.1f seconds.", seconds)


def answers() -> bool:
    """Return whether a new connection can be made and used within two seconds, which is libpq's shortest wait."""
    parameters = connections["default"].get_connection_params()
    try:
        with patience(2), PatientConnection.connect(**parameters | {"autocommit": True}) as probe:
            probe.execute("SELECT 1")
    except Exception:  # whatever it is, the database cannot be used
        return False
    return True


outage = Outage()
