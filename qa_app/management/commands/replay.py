"""Make a stored answer again and compare both."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from qa_app.answers.replaying import CannotReplay, replay


class Command(BaseCommand):
    help = "Makes a kept answer again, and shows that it is the same or what is different now."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("answer_id")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = replay(options["answer_id"])
        except CannotReplay as error:
            raise CommandError(str(error)) from error
        if found is None:
            raise CommandError("There is no answer with this id. It is the last part of the answer's address.")
        if found.is_same:
            self.stdout.write(self.style.SUCCESS("The same, byte for byte."))
            return
        if not found.changed:
            self.show(found.differences)
            raise CommandError("Engine, policy and corpus are the same, and the answer is not: this is a fault.")
        self.stdout.write(f"Not the same: {'; '.join(found.changed)}.")
        self.show(found.differences)

    def show(self, differences: tuple[str, ...]) -> None:
        for line in differences:
            safe = "".join(char if char.isprintable() else " " for char in line)
            self.stdout.write(self.style.SUCCESS(safe) if safe.startswith("+") else self.style.ERROR(safe))
