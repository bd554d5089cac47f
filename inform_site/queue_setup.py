"""Install the message queue in the database; Redis and RabbitMQ need no installation."""

from __future__ import annotations

import psycopg
from django.conf import settings


def install() -> bool:
    """Create pgmq's tables and functions; False when they exist already or the broker is another."""
    if not settings.QUEUE_IN_DATABASE:
        return False
    with psycopg.connect(settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"]) as connection:
        # two starts at once must not both run a script that cannot be repeated; the lock ends with the transaction
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('inform queue'))")
        if _is_installed(connection):
            return False
        from pgmq.install import install_pgmq_from_sql

        install_pgmq_from_sql(conn=connection)
    return True


def _is_installed(connection: psycopg.Connection) -> bool:
    row = connection.execute("SELECT to_regnamespace('pgmq') IS NOT NULL").fetchone()
    return bool(row and row[0])
