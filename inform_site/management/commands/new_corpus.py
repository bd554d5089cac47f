"""`manage.py new_corpus NAME`: make a corpus folder from the commented example; `make new` ends here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from inform_site.corpora import NO_CORPUS, PLACES, STARTER

TEMPLATE = Path(__file__).parents[2] / "corpus_template"


class Command(BaseCommand):
    help = "Makes a folder for a corpus of your own, with a commented example of each file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="letters, digits and dashes: the name of the folder")
        parser.add_argument("--title", default="", help="the name of the site; default: the folder's")

    def handle(self, *, name: str, title: str, **options: Any) -> None:
        folder = settings.BASE_DIR / PLACES[0] / name
        if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name) or name in (STARTER, NO_CORPUS):
            raise CommandError(f"{name!r} cannot be the name of a corpus: use letters, digits and dashes, like garden.")
        if folder.exists():
            raise CommandError(f"{folder} is there already: choose another name, or go on in it.")
        words = title or name.replace("-", " ").capitalize()
        if set(words) & set('"\\\n'):
            raise CommandError("The title cannot have quotation marks or backslashes.")
        for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
            target = folder / source.relative_to(TEMPLATE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(source.read_text("utf-8").replace("{name}", words), "utf-8")
        self.stdout.write(f"Made {folder}. Put your sources in, then: make run CORPUS={name}")
