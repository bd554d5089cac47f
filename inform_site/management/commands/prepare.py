"""Prepare what the site needs before it starts: tables, queue, static files and the starter corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from corpus_app import curation, sources
from corpus_app.models import CorpusEvent, CorpusLexicon, Study
from inform_site import queue


class Command(BaseCommand):
    help = "Brings database, queue, static files and starter corpus up to date; quick when they are."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write("Preparing the database")
        call_command("migrate", interactive=False, verbosity=0)
        queue.install()
        call_command("collectstatic", interactive=False, verbosity=0)
        # Publishing is the import's last step: one that was broken off starts over, and finds its studies unchanged.
        if not CorpusEvent.objects.filter(action="publish").exists():
            self.stdout.write("Importing the starter corpus")
            call_command("import_corpus", settings.BASE_DIR / "corpus", publish=True)
        elif not CorpusLexicon.objects.exists() and _is_starter_corpus(settings.BASE_DIR / "corpus"):
            lexica, problems = sources.read_lexica(settings.BASE_DIR / "corpus")
            if problems:
                raise CommandError("\n".join(map(str, problems)))
            if lexica:
                self.stdout.write("Reading the word lists of the starter corpus")
                curation.set_lexica(lexica, by=None, by_name="prepare")


def _is_starter_corpus(folder: Path) -> bool:
    """Return whether every study of the folder is in the database already."""
    ids = {path.stem for path in (folder / sources.STUDIES).glob("*.json")}
    return ids <= set(Study.objects.filter(study_id__in=ids).values_list("study_id", flat=True))
