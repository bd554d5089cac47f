"""What has become of a study, a passage or a concept: each event with its differences, and the way back."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from corpus_app import actions
from corpus_app.curation import entries, rows, studies
from corpus_app.curation.acts import CurationError, act
from corpus_app.models import Collection, Concept, CorpusEvent, Finding, Passage, Study
from corpus_app.sources import ConceptDraft

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST_COMPARED = 20_000  # characters; longer texts are shown whole, before and after


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    mark: str
    """`same`, `gone` or `new`."""


@dataclass(frozen=True, slots=True)
class Difference:
    field: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    event: CorpusEvent
    differences: tuple[Difference, ...]
    can_restore: bool

    @property
    def headline(self) -> str:
        return actions.in_words(self.event.action)


def of_study(study: Study) -> QuerySet[CorpusEvent]:
    return CorpusEvent.objects.filter(study_key=study.study_id)


def of_passage(passage: Passage) -> QuerySet[CorpusEvent]:
    return CorpusEvent.objects.filter(study_key=passage.study.study_id, passage_key=passage.pk)


def of_entry(entry: Any) -> QuerySet[CorpusEvent]:
    """A concept, collection or relation; an import names them by `entry` alone."""
    named = Q(detail__model=entry._meta.model_name, detail__key=str(entry.pk))
    return CorpusEvent.objects.filter(named | Q(detail__entry=str(entry.pk), study_key=""))


def entries_of(events: Iterable[CorpusEvent]) -> Iterator[HistoryEntry]:
    """Newest first, each with what it changed word by word."""
    for event in events:
        yield HistoryEntry(event, tuple(_differences(event)), _way_back(event) is not None)


def _differences(event: CorpusEvent) -> Iterator[Difference]:
    detail = event.detail
    for field, change in _changes(detail):
        yield Difference(field, tuple(compare(as_text(change.get("before")), as_text(change.get("after")))))
    for row in detail.get("passages") or () if isinstance(detail.get("passages"), list) else ():
        if "changes" in row:
            for field, change in row["changes"].items():
                pieces = compare(as_text(change.get("before")), as_text(change.get("after")))
                yield Difference(f"passage {row['revised']}: {field}", tuple(pieces))
        elif "removed" in row:
            yield Difference(f"passage {row['removed']}", (Piece(row["text"], "gone"),))
    if event.action == "waive_finding":
        yield Difference(str(detail.get("kind", "")), (Piece(str(detail.get("words", "")), "same"),))
    if event.action == "remove_passage":
        yield Difference("text", (Piece(detail.get("text", ""), "gone"),))
    for field, value in (detail.get("was") or {}).items():
        if value not in (None, "", []) and field not in {"id", "position"}:
            yield Difference(field, (Piece(as_text(value), "gone"),))


def _changes(detail: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    changes = detail.get("changes")
    for field, change in changes.items() if isinstance(changes, dict) else ():
        if isinstance(change, dict):
            yield field, change


def as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(as_text(part) for part in value)
    if isinstance(value, dict):
        return "; ".join(f"{name}: {as_text(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value)


def compare(before: str, after: str) -> Iterator[Piece]:
    """The two texts in one, word by word: what stayed, what went, what came."""
    if len(before) + len(after) > LONGEST_COMPARED:
        yield from (piece for piece in (Piece(before, "gone"), Piece(after, "new")) if piece.text)
        return
    old, new = _WORD.findall(before), _WORD.findall(after)
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield Piece("".join(old[i:j]), "same")
            continue
        if i < j:
            yield Piece("".join(old[i:j]), "gone")
        if k < m:
            yield Piece("".join(new[k:m]), "new")


# --- The way back -------------------------------------------------------------------------------------------------------


class CannotRestore(CurationError):
    """This event cannot be taken back by itself."""


def restore(event_id: int, *, by: User | None, by_name: str = "") -> None:
    """Puts what an event changed back to what it was before, as an act of its own; nothing of the history is lost.

    Raises CannotRestore, and what the door raises for values that cannot stand any more.
    """
    event = CorpusEvent.objects.filter(pk=event_id).first()
    way = _way_back(event) if event else None
    if event is None or way is None:
        raise CannotRestore("This cannot be put back by itself: make the change by hand.")
    with act(by=by, by_name=by_name) as current:
        way(event, by)
        current.record("restore", study=event.study_key, passage=event.passage_key, of=event.pk, what=event.action)


def _way_back(event: CorpusEvent) -> Callable[[CorpusEvent, User | None], None] | None:
    detail = event.detail
    if event.action in {"remove_passage"} and "text" in detail:
        return _add_passage_again
    if event.action.startswith("delete_") and "was" in detail and detail.get("model") == Finding._meta.model_name:
        return _add_finding_again
    if event.action in _WAYS and any(True for _ in _changes(detail)):
        return _WAYS[event.action]
    return None


def _before(event: CorpusEvent) -> dict[str, Any]:
    return {field: change.get("before") for field, change in _changes(event.detail)}


def _revise_study(event: CorpusEvent, by: User | None) -> None:
    values = {name: value for name, value in _before(event).items() if name in studies.EDITABLE}
    if "collection" in values:
        values["collection"] = Collection.objects.filter(pk=values["collection"]).first()
        if values["collection"] is None:
            raise CannotRestore("The collection that it was in has been deleted since.")
    studies.revise_study(event.study_key, by=by, **values)


def _revise_passage(event: CorpusEvent, by: User | None) -> None:
    values = {name: value for name, value in _before(event).items() if name in studies.PASSAGE_FIELDS}
    studies.revise_passage(event.passage_key or 0, by=by, **values)


def _set_findings(event: CorpusEvent, by: User | None) -> None:
    before = _before(event)
    drafts = [rows.finding_draft(row) for row in before.get("findings") or before["asked_as"]]
    studies.set_findings(event.study_key, drafts, by=by)


def _set_concepts(event: CorpusEvent, by: User | None) -> None:
    studies.set_concepts(event.study_key, _known(_before(event)["concepts"]), by=by)


def _known(concept_ids: Sequence[str]) -> list[str]:
    known = set(Concept.objects.filter(pk__in=concept_ids).values_list("pk", flat=True))
    return [concept_id for concept_id in concept_ids if concept_id in known]


def _revise_concept(event: CorpusEvent, by: User | None) -> None:
    """At the desk a concept is saved row by row; an import names it by `entry`, and changes its aliases and collections too."""
    if "model" in event.detail:
        _revise_entry(event, by)
        return
    concept = Concept.objects.filter(pk=event.detail["entry"]).first()
    if concept is None:
        raise CannotRestore("It has been deleted since: make it anew by hand.")
    now: dict[str, Any] = {
        "name": concept.name,
        "kind": concept.kind,
        "definition": concept.definition,
        "wanted": concept.wanted,
        "aliases": concept.aliases.order_by("position").values_list("name", flat=True),
        "collections": concept.conceptcollection_set.order_by("position").values_list("collection_id", flat=True),
    }
    before = now | _before(event)
    there = set(Collection.objects.values_list("pk", flat=True))
    before |= {
        "aliases": tuple(before["aliases"]),
        "collections": tuple(slug for slug in before["collections"] if slug in there),
    }
    entries.save_concept(ConceptDraft(concept_id=concept.pk, **before), by=by)


def _revise_entry(event: CorpusEvent, by: User | None) -> None:
    model = apps.get_model("corpus_app", event.detail["model"])
    entry = model._default_manager.filter(pk=event.detail["key"]).first()
    if entry is None:
        raise CannotRestore("It has been deleted since: make it anew by hand.")
    for name, value in _before(event).items():
        setattr(entry, name, value)
    entries.save_entry(entry, by=by)


def _add_passage_again(event: CorpusEvent, by: User | None) -> None:
    was = event.detail
    if Passage.objects.filter(study__study_id=event.study_key, text=was["text"]).exists():
        raise CannotRestore("A passage with these words is there again already.")
    kept = {name: was[name] for name in ("page", "kind", "asked_as") if name in was}
    studies.add_passage(event.study_key, by=by, text=was["text"], section=was["section"], **kept)


def _add_finding_again(event: CorpusEvent, by: User | None) -> None:
    study = Study.objects.filter(study_id=event.study_key).first()
    if study is None:
        raise CannotRestore("Its study has been deleted since.")
    was = {name: event.detail["was"][name] for name in rows.FINDING_FIELDS if name in event.detail["was"]}
    entries.save_entry(Finding(study=study, **was), by=by)


_WAYS: Mapping[str, Callable[[CorpusEvent, User | None], None]] = {
    "revise_study": _revise_study,
    "revise_passage": _revise_passage,
    "set_findings": _set_findings,
    "set_concepts": _set_concepts,
    "revise_finding": _revise_entry,
    "revise_concept": _revise_concept,
    "revise_concept_alias": _revise_entry,
    "revise_collection": _revise_entry,
}
