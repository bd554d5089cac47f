"""Run beside a site of a sweep: print the secret of a new key, then the faults of index and answers for each line."""

from __future__ import annotations

import json
import os
import sys
from operator import itemgetter

import django

_span = itemgetter("passage_id", "start", "end", "quote")


def audit_answers() -> list[str]:
    """Return the stored answers that lack a sentence, citation or passage of their payload, or have one more."""
    from qa_app.answers.storing import restore_payload
    from qa_app.models import Answer

    faults = []
    for answer in Answer.objects.iterator():
        stored = {
            (row.part, row.text): sorted(row.citations.values_list("passage_key", "start", "end", "quote"))
            for row in answer.sentences.all()
        }
        try:
            body = restore_payload(answer.payload)
        except KeyError as error:
            faults.append(f"answer {answer.pk}: its passage {error} is not stored")
            continue
        parts = {part: body[part]["sentences"] for part in ("summary", "answer")} | {"headline": [body["headline"]]}
        said = [(part, row) for part, rows in parts.items() for row in rows if row]
        promised = {(part, row["text"]): sorted(map(_span, row["support"])) for part, row in said}
        if stored != promised:
            faults.append(f"answer {answer.pk}: {len(stored)} of {len(said)} sentences are stored as they were sent")
    return faults


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
            faults = indexing.audit() + audit_answers()
        except DatabaseError as error:
            faults = [f"the database is away: {error}"]
        connection.close()
        print(json.dumps(faults), flush=True)


if __name__ == "__main__":
    main()
