"""Prepare what the site needs before it starts: tables, queue, static files and the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from corpus_app import curation, sources
from corpus_app.models import CorpusEvent, CorpusLexicon, Study
from corpus_app.records import Status
from inform_site import queue_setup
from inform_site.releases import require_known_database


class Command(BaseCommand):
    help = "Brings database, queue, static files and corpus up to date; quick when they are."

    def handle(self, *args: Any, **options: Any) -> None:
        require_known_database()
        self.stdout.write("Preparing the database")
        call_command("migrate", interactive=False, verbosity=0)
        queue_setup.install()
        call_command("collectstatic", interactive=False, verbosity=0)
        if settings.CORPUS_FOLDER is not None:
            self._import(settings.CORPUS_FOLDER)

    def _import(self, folder: Path) -> None:
        # Publishing is the import's last step: one that was broken off starts over, and finds its studies unchanged.
        if not CorpusEvent.objects.filter(action="publish").exists():
            self.stdout.write(f"Importing the corpus {folder.name}")
            call_command("import_corpus", folder, publish=True)
        elif _is_of_earlier_release() and _is_here(folder):
            lexica, problems = sources.read_lexica(folder)
            if problems:
                raise CommandError("\n".join(map(str, problems)))
            if lexica:
                self.stdout.write(f"Reading the site file and the word lists of the corpus {folder.name}")
                curation.set_lexica(lexica, by=None, by_name="prepare")


def _is_of_earlier_release() -> bool:
    """Return whether the site file is missing, or a list of words for people is stored, which it now declares."""
    names = set(CorpusLexicon.objects.values_list("name", flat=True))
    return "site" not in names or "people" in names


def _is_here(folder: Path) -> bool:
    """Return whether every study of a folder is in the database already."""
    ids = {path.stem for path in (folder / sources.STUDIES).glob("*.json")}
    present = Study.objects.filter(study_id__in=ids).exclude(status=Status.ARCHIVED)
    return ids <= set(present.values_list("study_id", flat=True))
