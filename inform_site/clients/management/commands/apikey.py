"""Create, list, rotate and revoke API keys on the command line."""

from __future__ import annotations

import argparse
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from inform_site.clients import keys
from inform_site.clients.models import ApiKey, Scope


class Command(BaseCommand):
    help = "Makes, lists, rotates and revokes keys of the API. A key is shown once, when it is made or rotated."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        make = acts.add_parser("make", help="make a key and show it")
        make.add_argument("name", help="what will use it")
        make.add_argument(
            "--scope",
            action="append",
            dest="scopes",
            choices=Scope.values,
            help="once for each (default: ask and read)",
        )
        make.add_argument("--owner", help="the user whose permissions it has; needed for curate and evaluate")
        make.add_argument("--days", type=_days, help="how long it is valid (default: for ever)")
        acts.add_parser("list", help="all keys, the newest first")
        rotate = acts.add_parser("rotate", help="give a client a new secret")
        rotate.add_argument("prefix", help="as `list` shows it")
        rotate.add_argument(
            "--overlap-hours", type=_hours, default=24, help="how long the present secret stays valid (24)"
        )
        revoke = acts.add_parser("revoke", help="close a key at once and for good")
        revoke.add_argument("prefix", help="as `list` shows it")

    def handle(self, *arguments: Any, **options: Any) -> None:
        getattr(self, options["act"])(options)

    def make(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        owner = User.objects.filter(username=options["owner"]).first() if options["owner"] else None
        if options["owner"] and owner is None:
            raise CommandError(f"There is no user {options['owner']}.")
        try:
            made = keys.make(
                name=options["name"],
                scopes=options["scopes"] or [Scope.ASK.value, Scope.READ.value],
                owner=owner,
                by=None,
                now=now,
                expires_at=None if options["days"] is None else now + timedelta(days=options["days"]),
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self._show(made)

    def list(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        rows = [
            (key.prefix, key.state(now), ",".join(key.scopes), _moment(key.expires_at), _moment(key.last_used_at),
             str(key.owner or "-"), key.name)
            for key in ApiKey.objects.select_related("owner")
        ]  # fmt: skip
        if not rows:
            self.stdout.write("There are no keys.")
            return
        heads = ("prefix", "state", "scopes", "expires", "last used", "owner", "name")
        widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
        for row in (heads, *rows):
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def rotate(self, options: dict[str, Any]) -> None:
        overlap = timedelta(hours=options["overlap_hours"])
        try:
            made = keys.rotate(self._find(options["prefix"]), now=timezone.now(), overlap=overlap)
        except keys.BadKey as bad:
            raise CommandError(str(bad)) from bad
        self._show(made)
        self.stdout.write(f"The one before opens until {_moment(made.key.earlier_until)}.")

    def revoke(self, options: dict[str, Any]) -> None:
        key = self._find(options["prefix"])
        keys.revoke(key, now=timezone.now())
        self.stdout.write(f"{key} opens nothing any more.")

    def _find(self, prefix: str) -> ApiKey:
        key = ApiKey.objects.filter(prefix=prefix.removeprefix("inform_")[:8]).first()
        if key is None:
            raise CommandError("There is no key that begins so. `manage.py apikey list` shows them.")
        return key

    def _show(self, made: keys.Made) -> None:
        self.stdout.write(made.secret)
        self.stderr.write("Copy it now: it is kept nowhere and cannot be shown again.")


def _days(text: str) -> float:
    return _between(text, 36_500)


def _hours(text: str) -> float:
    return _between(text, 24 * 365)


def _between(text: str, most: int) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from error
    if not 0 <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and {most}")
    return number


def _moment(moment: Any) -> str:
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
