"""`manage.py check_corpus`: verify that the search index matches the corpus."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import indexing


class Command(BaseCommand):
    help = (
        "Check that every searchable passage has exactly its present vector, sentences and terms, and that no other "
        "passage can be found. Prints the problems and ends with status 1 where there are any."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        counts = indexing.counts()
        problems = indexing.audit()
        self.stdout.write(", ".join(f"{name} {number}" for name, number in counts.items()))
        for problem in problems:
            self.stderr.write(problem)
        if problems:
            raise CommandError(f"Problems: {len(problems)}. `manage.py index_corpus` mends what is only waiting.")
        self.stdout.write("clean")
