"""Public history of the corpus, derived from audit events, without drafts, actors and curators' reasons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from corpus_app import records, search
from corpus_app.records import Notice, Status

KINDS = ("published", "withdrawn", "archived", "revised", "corrected", "expression_of_concern", "retracted", "cleared")
_GOING = frozenset({"withdrawn", "archived"})
_COMING = _GOING | {"published"}
VERSIONS_SHOWN = 60  # of the corpus, on the page of changes
EVENTS_SHOWN = 200  # of each of these versions, the first ones; an import may publish thousands of studies at once


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the same kind to some studies in one corpus version."""

    kind: str
    """One of KINDS; `cleared` means that a notice was removed."""
    at: datetime
    version: int
    studies: tuple[records.Study, ...]
    """Studies that are still published, some hundred at most; empty for those that left, which are only counted."""
    count: int

    @property
    def key(self) -> str:
        return f"{self.version}-{self.kind}"


def latest() -> tuple[Change, ...]:
    """Return recent changes to published studies, newest first; of a withdrawn study only its withdrawal."""
    return search.once_per_version(_latest)


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """The changes between two corpus versions, oldest first."""

    changes: tuple[Change, ...]
    upto: int
    """The last version covered."""
    has_more: bool


def since(version: int, *, versions: int) -> ChangesSince:
    """Return the changes after `version`, from at most `versions` versions that have any."""
    numbers = _read_versions(version, versions + 1)
    covered = numbers[:versions]
    if not covered:
        return ChangesSince((), max(version, search.corpus_version()), has_more=False)
    events = _read_events(_BETWEEN, actions=_actions(), first=covered[0], last=covered[-1])
    keys = sorted({event.study_id for event in events})
    states = _read_events(_OF_STUDIES, actions=list(_STATES), studies=keys)
    present = search.studies(keys)
    grouped = _group_events(events, states=states, present=present)
    has_more = len(numbers) > versions
    return ChangesSince(grouped[::-1], covered[-1] if has_more else search.corpus_version(), has_more)


def _read_versions(after: int, most: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(_VERSIONS, {"actions": _actions(), "after": after, "most": most})
        return [number for (number,) in cursor.fetchall()]


def of_study(study: records.Study) -> tuple[Change, ...]:
    """Return the changes to a published study while it was public, newest first."""
    events = _read_events(_OF_STUDY, actions=_actions(), study=study.study_id)
    return _group_events(events, states=events, present={study.study_id: study})


REVISIONS = (
    "revise_study", "revise_passage", "add_passage", "remove_passage", "set_findings", "add_finding", "revise_finding",
    "delete_finding", "import_changes", "undo_import",
)  # fmt: skip
HIDDEN_FIELDS = frozenset(
    {
        "curator_notes",
        "labels",
        "asked_as",
        "status_reason",
        "derived_numbers",
        "source_ref",
        "status",
        "notice",
        "notice_reason",
        "import_hash",
    }
)
_STATES = ("publish", "withdraw", "archive", "set_notice", "import_changes", "delete_study")
_EVENTS = """
    SELECT id, at, action, study_key, corpus_version_id,
           detail -> 'changes' -> 'status' ->> 'after', detail -> 'changes' -> 'notice' ->> 'after',
           CASE WHEN jsonb_typeof(detail -> 'changes') = 'object'
                THEN ARRAY(SELECT jsonb_object_keys(detail -> 'changes')) ELSE '{}' END,
           CASE WHEN jsonb_typeof(detail -> 'passages') = 'array'
                THEN jsonb_array_length(detail -> 'passages') ELSE 0 END
    FROM corpus_app_corpusevent
    WHERE action = ANY(%(actions)s) AND study_key <> '' AND {which}
    ORDER BY id
"""
_LATEST = """
    id IN (
        SELECT id FROM (
            SELECT id, row_number() OVER (PARTITION BY corpus_version_id ORDER BY id) AS place
            FROM corpus_app_corpusevent WHERE action = ANY(%(actions)s) AND study_key <> '' AND {shown}
        ) AS placed WHERE place <= %(events)s
    )
"""
_LARGE = """
    SELECT corpus_version_id, count(DISTINCT study_key) FROM corpus_app_corpusevent
    WHERE action = ANY(%(actions)s) AND study_key <> '' AND {shown}
    GROUP BY corpus_version_id HAVING count(*) > %(events)s
"""
_SHOWN = """
    corpus_version_id IN (
        SELECT DISTINCT corpus_version_id FROM corpus_app_corpusevent
        WHERE action = ANY(%(actions)s) AND corpus_version_id IS NOT NULL
        ORDER BY corpus_version_id DESC LIMIT %(versions)s
    )
"""
_LATEST, _LARGE = (statement.replace("{shown}", _SHOWN) for statement in (_LATEST, _LARGE))
_BETWEEN = "corpus_version_id BETWEEN %(first)s AND %(last)s"
_VERSIONS = """
    SELECT DISTINCT corpus_version_id FROM corpus_app_corpusevent
    WHERE action = ANY(%(actions)s) AND corpus_version_id > %(after)s ORDER BY corpus_version_id LIMIT %(most)s
"""
_OF_STUDY = "study_key = %(study)s"
_OF_STUDIES = "study_key = ANY(%(studies)s)"


@dataclass(frozen=True, slots=True)
class _Event:
    id: int
    at: datetime
    action: str
    study_id: str
    version: int | None
    status: str | None
    notice: str | None
    changed: Sequence[str]
    passages: int

    @property
    def kinds(self) -> Iterator[str]:
        """Yield the kinds of change that a reader of the study would notice."""
        if self.action == "publish" or (self.status == Status.PUBLISHED):
            yield "published"
        if self.action == "withdraw" or (self.action == "import_changes" and self.status == Status.WITHDRAWN):
            yield "withdrawn"
        if self.action == "archive":
            yield "archived"
        if self.notice is not None:
            yield "cleared" if self.notice == Notice.NONE else self.notice
        if self.action in REVISIONS and (self.passages or not self.changed or set(self.changed) - HIDDEN_FIELDS):
            yield "revised"


def _latest() -> tuple[Change, ...]:
    shown: dict[str, Any] = {"actions": _actions(), "versions": VERSIONS_SHOWN, "events": EVENTS_SHOWN}
    events = _read_events(_LATEST, **shown)
    keys = sorted({event.study_id for event in events})
    states = _read_events(_OF_STUDIES, actions=list(_STATES), studies=keys)
    found = _group_events(events, states=states, present=search.studies(keys))
    with connection.cursor() as cursor:
        cursor.execute(_LARGE, shown)
        return tuple(_with_unread(found, dict(cursor.fetchall())))


def _with_unread(changes: Sequence[Change], studies: Mapping[int, int]) -> Iterator[Change]:
    """Count the studies whose events were not read, by version, to the largest change of their version."""
    read = Counter[int]()
    largest: dict[int, Change] = {}
    for change in changes:
        read[change.version] += change.count
        largest[change.version] = max(largest.get(change.version, change), change, key=lambda one: one.count)
    for change in changes:
        unread = studies.get(change.version, 0) - read[change.version]
        yield (
            replace(change, count=change.count + unread) if change is largest[change.version] and unread > 0 else change
        )


def _actions() -> list[str]:
    return sorted({*REVISIONS, *_STATES})


def _group_events(
    events: Iterable[_Event], *, states: Sequence[_Event], present: Mapping[str, records.Study]
) -> tuple[Change, ...]:
    """Group events of one version and kind into changes.

    `states` are the events that show when each study was public; `present` are the studies that are public now.
    """
    public = _public_spans(states)
    deleted = {event.study_id: event.id for event in states if event.action == "delete_study"}
    grouped: dict[tuple[int, str], dict[str, _Event]] = defaultdict(dict)
    for event in events:
        if event.version is None or not _was_public(public.get(event.study_id, ()), event.id):
            continue
        kinds = list(event.kinds)
        if coming := [kind for kind in kinds if kind in _COMING]:
            kinds = coming
        for kind in kinds:
            # a new study may have the id of a deleted one
            is_named = event.study_id in present and event.id > deleted.get(event.study_id, 0)
            if kind in _GOING or is_named:
                grouped[event.version, kind][event.study_id] = event
    return tuple(
        Change(
            kind=kind,
            at=max(event.at for event in group.values()),
            version=version,
            studies=() if kind in _GOING else tuple(present[study_id] for study_id in sorted(group)),
            count=len(group),
        )
        for (version, kind), group in sorted(
            grouped.items(), key=lambda item: (item[0][0], max(event.id for event in item[1].values())), reverse=True
        )
    )


def _read_events(which: str, **parameters: Any) -> list[_Event]:
    with connection.cursor() as cursor:
        cursor.execute(_EVENTS.replace("{which}", which), parameters)
        return [_Event(*row) for row in cursor.fetchall()]


_Span = tuple[int, int | None]


def _public_spans(states: Iterable[_Event]) -> Mapping[str, tuple[_Span, ...]]:
    """Return the first and last event id of each period in which a study was public; a last id of None means now."""
    spans: dict[str, list[_Span]] = defaultdict(list)
    for event in states:
        kinds = set(event.kinds)
        own = spans[event.study_id]
        is_open = bool(own) and own[-1][1] is None
        if "published" in kinds and not is_open:
            own.append((event.id, None))
        elif kinds & _GOING and is_open:
            own[-1] = (own[-1][0], event.id)
    return {study_id: tuple(own) for study_id, own in spans.items()}


def _was_public(spans: Sequence[_Span], event_id: int) -> bool:
    return any(first <= event_id and (last is None or event_id <= last) for first, last in spans)
