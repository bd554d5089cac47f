"""`manage.py import_corpus PATH`: import a corpus folder, or a file of any supported format."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from corpus_app import curation, sources
from corpus_app.curation import effects, items, jobs
from corpus_app.models import ImportItem, ImportJob

WAIT_SECONDS = 0.5
MOST_SHOWN = 50  # problems printed for a file


class Command(BaseCommand):
    help = (
        "Imports a corpus folder (studies/*.json, concepts.json, studies_master.csv), a studies_master.csv alone, "
        f"or a file of any format that the desk reads ({sources.FORMAT_NAMES}). "
        "Sound sources are imported, broken ones are named with file, line, field and reason. "
        "Safe to repeat."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the folder or the file")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")
        parser.add_argument(
            "--publish", action="store_true", help="publish the sources whose file says so, or that come in"
        )
        parser.add_argument(
            "--replace-settings",
            action="store_true",
            help="let site.toml and the word lists of the folder replace what was changed at the desk",
        )
        parser.add_argument("--submit", action="store_true", help="hand what comes in from a file over for review")
        parser.add_argument("--collection", default="", metavar="SLUG", help="for sources whose file names none")
        parser.add_argument("--by", metavar="USER", help="whose act this is in the history (a user name)")

    def handle(self, *, path: Path | str, dry_run: bool, publish: bool, by: str | None, **options: Any) -> None:
        path, actor = Path(path), find_user(by) if by else None
        if not _is_corpus_folder(path):
            asked = jobs.Options(collection=options["collection"], submit=options["submit"], publish=publish)
            self._import_file(path, asked, by=actor, dry_run=dry_run)
            return
        try:
            corpus = sources.read(path, known=curation.known_ids())
        except sources.Unreadable as error:
            raise CommandError(str(error)) from None
        report = curation.import_corpus(
            corpus,
            by=actor,
            by_name="import_corpus",
            publish=publish,
            dry_run=dry_run,
            replace_settings=options["replace_settings"],
            on_progress=self._progress,
        )
        self._print(report, dry_run=dry_run)
        if report.problems:
            was = "would be" if dry_run else "was"
            raise CommandError(
                f"Problems: {len(report.problems)}. What is sound {was} imported; correct the rest and repeat."
            )

    def _progress(self, done: int, total: int) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\rReading sources: {done} of {total}", ending="\n" if done == total else "")
            self.stdout.flush()
        elif done == total or done % 50 == 0:
            self.stdout.write(f"Reading sources: {done} of {total}")

    def _print(self, report: curation.ImportReport, *, dry_run: bool) -> None:
        for problem in report.problems:
            self.stderr.write(str(problem))
        for note in report.notes:
            self.stdout.write(note)
        self.stdout.write(
            f"{'Dry run, nothing was changed. ' if dry_run else ''}"
            f"Sources: {report.created} new, {report.updated} changed, {report.unchanged} unchanged, "
            f"{report.broken} broken; {report.published} published. "
            f"Passages: {report.passages}. Concepts and relations: {report.concepts}."
        )
        if report.publishable:
            self.stdout.write(f"{report.publishable} sources are ready to be published: repeat with --publish.")

    # --- Other formats, through an import job like at the desk

    def _import_file(self, path: Path, options: jobs.Options, *, by: User | None, dry_run: bool) -> None:
        try:
            jobs.check_collection(options.collection)  # fail before reading a large file
            source = sources.source_of(path)
            with source.open() as stream:
                content = stream.read()
        except curation.CurationError as error:
            raise CommandError(str(error)) from None
        except (sources.Unreadable, sources.Refused) as error:
            raise CommandError(f"{path}: {error}" if isinstance(error, sources.Refused) else str(error)) from None
        job = jobs.create_job(content, file_name=source.name, by=by, by_name="import_corpus")
        try:
            self._run_job(job)
            self._print_preview(job)
            if not dry_run and job.items.filter(chosen=True).exists():
                jobs.confirm(job, options, by=by)
                self._run_job(job)
                self._print_outcome(job)
        except curation.CurationError as error:
            job.delete()
            raise CommandError(str(error)) from None
        if dry_run:
            job.delete()
            self.stdout.write("Dry run, nothing was changed.")
        if job.status == ImportJob.Status.FAILED:
            raise CommandError(job.error)
        refused = 0 if dry_run else job.items.filter(outcome=ImportItem.Outcome.REFUSED).count()
        if wrong := job.report.get("broken", 0) + refused:
            did = "would not come in" if dry_run else "did not come in"
            raise CommandError(
                f"What {did}: {wrong}, named above. All that is sound {'would' if dry_run else 'did'}. "
                "Correct the rest and repeat: what is here already comes in only once."
            )

    def _run_job(self, job: ImportJob) -> None:
        has_announced = False
        while True:
            with jobs.import_lock(job) as is_acquired:
                if is_acquired:
                    self._shown = -1
                    jobs.run_job(job, on_progress=self._show)
                    return
            if not has_announced:
                self.stdout.write("A worker is at this import; waiting for it.")
                has_announced = True
            time.sleep(WAIT_SECONDS)

    def _show(self, job: ImportJob) -> None:
        """Print progress: one updated line on a terminal, else a line per tenth."""
        what = "Reading" if job.status in jobs.TO_READ else "Bringing in"
        if not job.done:  # while a file is being read, `total` counts the items found so far
            text = f"{what}: {job.total:,} so far" if job.status in jobs.TO_READ else f"{what}: 0 of {job.total:,}"
        else:
            text = f"{what}: {job.done:,} of {job.total:,}"
        if self.stdout.isatty():
            self.stdout.write(f"\r{text}", ending="\n" if job.done == job.total else "")
            self.stdout.flush()
            return
        share = job.done * 10 // max(1, job.total)
        if job.done and share > self._shown:
            self._shown = share
            self.stdout.write(text)

    def _print_preview(self, job: ImportJob) -> None:
        for stored in job.problems[:MOST_SHOWN]:
            self.stderr.write(str(sources.serialization.problem_of(stored)))
        if len(job.problems) > MOST_SHOWN:
            self.stderr.write(f"and {job.report['problems'] - MOST_SHOWN} more.")
        left = job.items.filter(effect__in=["duplicate", "alike", "unmatched", "not_found", "failed"])
        self._list_items(
            self.stdout,
            left,
            lambda item: (
                f"Left out: {item}: {f'{item.get_effect_display()} {item.other_key} {item.note}'.strip(' .')}."
            ),
        )
        counts = ", ".join(f"{number} {effect.label}" for effect, number in effects.count_effects(job).items())
        self.stdout.write(f"{job.format or job.file_name}: {counts or 'nothing that could be imported'}.")

    def _print_outcome(self, job: ImportJob) -> None:
        refused = job.items.filter(outcome=ImportItem.Outcome.REFUSED)
        self._list_items(self.stderr, refused, lambda item: f"{item}: {item.outcome_reason}")
        counts = ", ".join(f"{number} {outcome}" for outcome, number in job.report.get("outcomes", {}).items())
        self.stdout.write(f"Brought in: {counts}. Published: {len(job.report.get('published', []))}.")
        if why := job.report.get("not_published"):
            self.stdout.write(why)
        if not job.options["publish"]:
            return
        unpublished = job.items.exclude(kind=ImportItem.Kind.NOTICE).filter(
            outcome_reason__startswith=items.NOT_PUBLISHED
        )
        if number := unpublished.count():
            self.stdout.write(
                f"{number} came in as drafts and were not published. Mend them at the desk, then publish them there:"
            )
            self._list_items(self.stdout, unpublished, lambda item: f"{item.study_key}: {item.outcome_reason}")

    @staticmethod
    def _list_items(out: Any, items: QuerySet[ImportItem], words: Callable[[ImportItem], str]) -> None:
        """Print a line for each of the first MOST_SHOWN items, and the number of the others."""
        for item in items[:MOST_SHOWN]:
            out.write(words(item))
        if (number := items.count()) > MOST_SHOWN:
            out.write(f"and {number - MOST_SHOWN} more.")


def _is_corpus_folder(path: Path) -> bool:
    """Return whether the path is a corpus folder or its master CSV, which are imported without a job."""
    if path.is_dir():
        return not any((path / name).is_file() for name in ("corpus.jsonl", "corpus.jsonl.gz"))
    if not path.is_file():
        return True
    if path.suffix.lower() != ".csv":
        return False
    with path.open("rb") as stream:
        first = stream.readline(10_000)
    cells = {cell.strip(b' "\r\n\xef\xbb\xbf') for cell in first.split(b",")}
    return path.name == sources.MASTER or ({b"study_id", b"collection"} <= cells and b"version" not in cells)


def find_user(name: str) -> User:
    """Return the user of this name. Raises CommandError."""
    try:
        return User.objects.get(username=name)
    except User.DoesNotExist:
        raise CommandError(
            f"There is no user {name!r}. Make one with manage.py createsuperuser, or leave --by out."
        ) from None
