"""Erase old questions, or all that is stored of one person; or export the latter."""

from __future__ import annotations

import ipaddress
import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from inform_site.clients import addresses
from inform_site.clients.models import ApiKey
from qa_app.pages.history import COOKIE, read_value
from qa_app.privacy import erasing, finding


class Command(BaseCommand):
    help = "Erases old questions with their answers, or all that is stored of one person, for good."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--older-than", type=int, metavar="DAYS", help="answers that nobody keeps, and old gaps")
        parser.add_argument("--address", help="what was asked and rated from an IP address")
        parser.add_argument("--key", metavar="PREFIX", help="what was asked and followed with an API key")
        parser.add_argument("--email", metavar="ADDRESS", help="what an e-mail address follows")
        parser.add_argument("--visitor", metavar="COOKIE", help=f"a browser's questions, by its cookie “{COOKIE}”")
        parser.add_argument("--answer", action="append", default=[], metavar="ID", help="an answer; once for each")
        parser.add_argument("--export", metavar="FILE", help="write the person's data as JSON (-: here), erase nothing")

    def handle(self, **options: Any) -> None:
        days = options["older_than"]
        person = {name: options[name] for name in ("address", "key", "email", "visitor", "answer") if options[name]}
        if (days is None) == (not person):
            raise CommandError("Say what to erase: --older-than DAYS, or whose data (--address, --key, --email, "
                               "--visitor, --answer).")  # fmt: skip
        if days is None:
            self._handle_person(person, options["export"])
        elif days < 0 or options["export"]:
            raise CommandError("--older-than takes a number of days, 0 or more, and no --export.")
        else:
            self._erase_old(days)

    def _erase_old(self, days: int) -> None:
        started = said = time.monotonic()

        def look(done: int) -> None:
            nonlocal said
            if time.monotonic() - said > 2:
                said = time.monotonic()
                self.stdout.write(f"  {done:,} answers erased")

        erased = erasing.erase_old(timezone.now() - timedelta(days=days), look=look)
        seconds = time.monotonic() - started
        self.stdout.write(f"Erased: {erased.answers:,} answers, {erased.gaps:,} gaps; {seconds:.1f} s.")

    def _handle_person(self, person: dict[str, Any], export: str | None) -> None:
        found = finding.find(now=timezone.now(), **self._read(person))
        if export is not None:
            text = json.dumps(finding.export(found), ensure_ascii=False, indent=1)
            if export == "-":
                self.stdout.write(text)
            else:
                Path(export).write_text(text + "\n", encoding="utf-8")
            return
        erased = erasing.erase(found)
        self.stdout.write(f"Erased: {erased.answers} answers, {erased.ratings} ratings, {erased.followers} followers, "
                          f"{erased.gaps} gaps.")  # fmt: skip
        for key in erased.kept:
            self.stdout.write(self.style.WARNING(f"{key} stays: other people follow it."))

    def _read(self, person: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `finding.find` for the person that the options name."""
        if "address" in person and "key" in person:
            raise CommandError("Name either --address or --key.")
        answers = list(person.get("answer", ()))
        if "visitor" in person:
            asked = read_value(person["visitor"])
            if not asked:
                raise CommandError("This cookie was not signed by this site, or is too old.")
            answers += asked
        try:
            client = addresses.hash_of(ipaddress.ip_address(person["address"])) if "address" in person else ""
        except ValueError as error:
            raise CommandError(f"{person['address']} is no IP address.") from error
        if "key" in person:
            key = ApiKey.objects.filter(prefix=person["key"].removeprefix("inform_")[:8]).first()
            if key is None:
                raise CommandError("There is no key that begins so. `manage.py apikey list` shows them.")
            client = key.client_id
        return {"client": client, "email": person.get("email", ""), "answer_ids": answers}
