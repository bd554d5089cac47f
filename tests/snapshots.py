"""Rows that many tests begin with: made once in a process, then copied in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection, transaction

from corpus_app.models import TermStatistics


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of each table that was empty before, as PostgreSQL copies them."""

    tables: dict[str, tuple[str, bytes]]

    @classmethod
    def made_by(cls, make: Callable[[], Any]) -> "Rows":
        """Call `make` and return the rows that it left behind, but those that triggers write."""
        models = [model for model in apps.get_models(include_auto_created=True) if model is not TermStatistics]
        empty = [model for model in models if not model._base_manager.exists()]
        make()
        connection.check_constraints()
        return cls({model._meta.db_table: copied(model) for model in empty if model._base_manager.exists()})

    def restore(self) -> None:
        """Copy the rows in, in one transaction. Sequences only rise, so that their ids are free."""
        with transaction.atomic(), connection.cursor() as cursor:
            for table, (columns, content) in self.tables.items():
                with cursor.copy(f'COPY "{table}" ({columns}) FROM STDIN (FORMAT binary)') as copy:
                    copy.write(content)


def copied(model: Any) -> tuple[str, bytes]:
    """Return the columns of a table and its rows."""
    columns = ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields if not field.generated)
    copying = f'COPY "{model._meta.db_table}" ({columns}) TO STDOUT (FORMAT binary)'
    with connection.cursor() as cursor, cursor.copy(copying) as copy:
        return columns, b"".join(map(bytes, copy))
