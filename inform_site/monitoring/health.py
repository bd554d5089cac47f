"""The health of the site in plain words, for the curators' front page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User

from inform_site.backups import records
from inform_site.backups.records import BackupState
from inform_site.monitoring import figures
from inform_site.monitoring.figures import DatabaseFigures, ModelUse, QueueFigures
from qa_app.answers import asking

WORK = {
    "index": "Indexing",
    "imports": "Imports and bulk edits",
    "mail": "Mail to followers",
    "upkeep": "Evaluation and upkeep",
}
MANY_CONNECTIONS = 0.8  # of those that PostgreSQL admits
NEARLY_SPENT = 0.9  # of the day's budget


@dataclass(frozen=True, slots=True)
class PartStatus:
    """A part of the site and how it is, in words."""

    name: str
    state: str
    needs_care: bool = False


def part_statuses(by: User) -> list[PartStatus]:
    """Return how each part of the site is; nothing for users who may not view studies. Raises DatabaseError."""
    if not by.has_perm("corpus_app.view_study"):
        return []
    found = [
        _database(figures.database()),
        *map(_queue, figures.queues()),
        _index(),
        _backup(records.state()),
        *_writer(figures.model_use()),
    ]
    return sorted(found, key=lambda part: not part.needs_care)


def _database(state: DatabaseFigures) -> PartStatus:
    words = f"answers; {state.used} of {state.max_connections} connections, {state.size_bytes // 1_000_000:,}\u00a0MB"
    return PartStatus("Database", words, state.used > MANY_CONNECTIONS * state.max_connections)


def _queue(queue: QueueFigures) -> PartStatus:
    part = WORK.get(queue.name, queue.name)
    if queue.idle_seconds is None:
        return PartStatus(part, "no worker has done anything yet", needs_care=True)
    words = f"last done {_ago(queue.idle_seconds)} ago"
    if queue.task:
        words = f"at work for {_ago(queue.task_seconds)}; {words}"
    if queue.is_late:
        words = f"nothing done for {_ago(queue.idle_seconds)}: is its worker running?"
    return PartStatus(part, words, queue.is_late)


def _index() -> PartStatus:
    waiting, late = figures.passages_waiting(), figures.passages_late()
    if not waiting:
        return PartStatus("Search by meaning", "knows every published passage")
    passages = "1 published passage is" if waiting == 1 else f"{waiting:,} published passages are"
    return PartStatus("Search by meaning", f"{passages} found by words alone so far", needs_care=bool(late))


def _backup(state: BackupState) -> PartStatus:
    words = "nobody has made one yet"
    if state.age_seconds is not None:
        words = f"the newest is {_ago(state.age_seconds)} old, {state.size_bytes / 1e6:,.1f}\u00a0MB"
    if state.failure:
        words += f"; the last attempt failed: {state.failure}"
    elif not state.is_scheduled:
        words += "; none are made by schedule (INFORM_BACKUP_FOLDER)"
    return PartStatus("Backups", words, state.is_late)


def _writer(use: ModelUse) -> Iterator[PartStatus]:
    if not settings.OPENAI_MODEL:
        return
    limit = settings.OPENAI_DAILY_LIMIT
    words = f"{settings.OPENAI_MODEL}; {use.spent_today:,.2f} spent today" + (f" of {limit:,.2f}" if limit else "")
    is_dear = bool(limit) and use.spent_today > NEARLY_SPENT * limit
    is_failing = asking.describe_writer()["circuit"] == "open"
    words += "; it fails, and answers are quoted from passages meanwhile" if is_failing else ""
    yield PartStatus("Language model", words, is_dear or is_failing)


def _ago(seconds: float) -> str:
    """Return a span of time in its largest unit, such as `2 minutes`."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = int(seconds // length)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return "less than a minute"
