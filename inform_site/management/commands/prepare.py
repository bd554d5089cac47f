"""What has to be there before anything can be asked: tables, queue, static files, the starter corpus."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from corpus_app.models import CorpusEvent
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
