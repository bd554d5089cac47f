"""`manage.py check_corpus`: verify that the search index matches the corpus."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from common.dois import is_cut
from corpus_app import indexing
from corpus_app.models import Study


class Command(BaseCommand):
    help = (
        "Check that every searchable passage has exactly its present vector, sentences and terms, and that no other "
        "passage can be found. Prints the problems and ends with status 1 where there are any. Names "
        "DOIs that look cut, too."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        counts = indexing.counts()
        problems = indexing.audit()
        self.stdout.write(", ".join(f"{name} {number}" for name, number in counts.items()))
        for problem in problems:
            self.stderr.write(problem)
        for study_id, doi in Study.objects.exclude(doi=None).values_list("study_id", "doi"):
            if doi and is_cut(doi):
                self.stderr.write(f"{study_id}: the DOI {doi} looks cut or coded; an earlier import may have done so.")
        if problems:
            raise CommandError(f"Problems: {len(problems)}. `manage.py index_corpus` mends what is only waiting.")
        self.stdout.write("clean")
