"""Run beside a site of a sweep: print the secret of a new key, then the faults of the index for each line read."""

from __future__ import annotations

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")
    django.setup()
    from django.contrib.auth.models import User
    from django.db import DatabaseError, connection
    from django.utils import timezone

    from corpus_app import indexing
    from inform_site.clients import keys
    from inform_site.clients.models import Scope

    owner, _ = User.objects.get_or_create(username="sweeper", defaults={"is_superuser": True, "is_staff": True})
    made = keys.make(name="sweep", scopes=list(Scope.values), owner=owner, by=None, now=timezone.now(), expires_at=None)
    print(json.dumps(made.secret), flush=True)
    for _ in sys.stdin:
        try:
            faults = indexing.audit()
        except DatabaseError as error:
            faults = [f"the database is away: {error}"]
        connection.close()
        print(json.dumps(faults), flush=True)


if __name__ == "__main__":
    main()
