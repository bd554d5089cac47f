"""The audit history of studies, passages and concepts: events with text differences, and their undo."""

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
from django.utils.translation import gettext

from corpus_app import actions
from corpus_app.curation import entries, lexica, rows, studies
from corpus_app.curation.acts import CurationError, act
from corpus_app.models import Collection, Concept, CorpusEvent, Finding, Passage, Study
from corpus_app.sources import ConceptDraft

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST_COMPARED = 20_000  # characters; longer texts are shown whole, before and after


@dataclass(frozen=True, slots=True)
class DiffPart:
    text: str
    mark: str
    """`same`, `gone` or `new`."""


@dataclass(frozen=True, slots=True)
class Difference:
    field: str
    pieces: tuple[DiffPart, ...]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    event: CorpusEvent
    differences: tuple[Difference, ...]
    can_restore: bool

    @property
    def headline(self) -> str:
        return gettext(actions.label(self.event.action))


def of_study(study: Study) -> QuerySet[CorpusEvent]:
    return CorpusEvent.objects.filter(study_key=study.study_id)


def of_passage(passage: Passage) -> QuerySet[CorpusEvent]:
    return CorpusEvent.objects.filter(study_key=passage.study.study_id, passage_key=passage.pk)


def of_entry(entry: Any) -> QuerySet[CorpusEvent]:
    """Return the events of a concept, collection or relation; imports name the row in `entry` alone."""
    named = Q(detail__model=entry._meta.model_name, detail__key=str(entry.pk))
    return CorpusEvent.objects.filter(named | Q(detail__entry=str(entry.pk), study_key=""))


def entries_of(events: Iterable[CorpusEvent]) -> Iterator[HistoryEntry]:
    """Yield each event with its word-level differences."""
    for event in events:
        yield HistoryEntry(event, tuple(_differences(event)), can_restore(event))


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
            yield Difference(f"passage {row['removed']}", (DiffPart(row["text"], "gone"),))
    if event.action == "waive_finding":
        yield Difference(str(detail.get("kind", "")), (DiffPart(str(detail.get("words", "")), "same"),))
    if event.action == "remove_passage":
        yield Difference("text", (DiffPart(detail.get("text", ""), "gone"),))
    for field, value in (detail.get("was") or {}).items():
        if value not in (None, "", []) and field not in {"id", "position"}:
            yield Difference(field, (DiffPart(as_text(value), "gone"),))


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


def compare(before: str, after: str) -> Iterator[DiffPart]:
    """Yield the word-level difference of two texts."""
    if len(before) + len(after) > LONGEST_COMPARED:
        yield from (piece for piece in (DiffPart(before, "gone"), DiffPart(after, "new")) if piece.text)
        return
    old, new = _WORD.findall(before), _WORD.findall(after)
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield DiffPart("".join(old[i:j]), "same")
            continue
        if i < j:
            yield DiffPart("".join(old[i:j]), "gone")
        if k < m:
            yield DiffPart("".join(new[k:m]), "new")


# --- Undo


BY_HAND = "This cannot be put back by itself: make the change by hand."


class CannotRestore(CurationError):
    """An event that cannot be undone automatically."""


def restore(event_id: int, *, by: User | None, by_name: str = "") -> None:
    """Undo an event in a new act; the history keeps both.

    Raises CannotRestore, and CurationError or ValidationError when the old values are no longer valid.
    """
    event = CorpusEvent.objects.filter(pk=event_id).first()
    if event is None:
        raise CannotRestore(BY_HAND)
    with act(by=by, by_name=by_name) as current:
        apply_undo(event, by=by, by_name=by_name)
        current.record("restore", study=event.study_key, passage=event.passage_key, of=event.pk, what=event.action)


def can_restore(event: CorpusEvent) -> bool:
    """Return whether an event can be undone automatically."""
    return _find_undo(event) is not None


def apply_undo(event: CorpusEvent, *, by: User | None, by_name: str = "") -> None:
    """Undo an event within the caller's act. Raises CannotRestore."""
    undo = _find_undo(event)
    if undo is None:
        raise CannotRestore(BY_HAND)
    with act(by=by, by_name=by_name):
        undo(event, by)


def _find_undo(event: CorpusEvent) -> Callable[[CorpusEvent, User | None], None] | None:
    detail = event.detail
    if event.action in {"remove_passage"} and "text" in detail:
        return _restore_passage
    if event.action.startswith("delete_") and "was" in detail and detail.get("model") == Finding._meta.model_name:
        return _restore_finding
    if event.action in _UNDO and any(True for _ in _changes(detail)):
        return _UNDO[event.action]
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


def _assign_study(event: CorpusEvent, by: User | None) -> None:
    name = _before(event)["assignee"]
    assignee = User.objects.filter(username=name).first() if name else None
    if name and assignee is None:
        raise CannotRestore(f"There is no {name} any more: give the study to somebody else.")
    studies.assign_study(event.study_key, assignee, by=by)


def _revise_passage(event: CorpusEvent, by: User | None) -> None:
    values = {name: value for name, value in _before(event).items() if name in studies.PASSAGE_FIELDS}
    studies.revise_passage(event.passage_key or 0, by=by, **values)


def _set_findings(event: CorpusEvent, by: User | None) -> None:
    before = _before(event)
    drafts = [rows.finding_draft(row) for row in before.get("findings") or before["asked_as"]]
    studies.set_findings(event.study_key, drafts, by=by)


def _set_concepts(event: CorpusEvent, by: User | None) -> None:
    studies.set_concepts(event.study_key, existing_concepts(_before(event)["concepts"]), by=by)


def existing_concepts(concept_ids: Sequence[str]) -> list[str]:
    """Return those of the concepts that the corpus has, in their order."""
    known = set(Concept.objects.filter(pk__in=concept_ids).values_list("pk", flat=True))
    return [concept_id for concept_id in concept_ids if concept_id in known]


def _revise_concept(event: CorpusEvent, by: User | None) -> None:
    """Undo a concept's revision; one by an import also covers its aliases and collections."""
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
    present = set(Collection.objects.values_list("pk", flat=True))
    before |= {
        "aliases": tuple(before["aliases"]),
        "collections": tuple(slug for slug in before["collections"] if slug in present),
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


def _withdraw_confirmation(event: CorpusEvent, by: User | None) -> None:
    finding = Finding.objects.filter(pk=event.detail["key"]).first()
    if finding is None:
        raise CannotRestore("It has been deleted or reworded since: mark it by hand.")
    finding.is_unconfirmed = True
    entries.save_entry(finding, by=by)


def _restore_passage(event: CorpusEvent, by: User | None) -> None:
    was = event.detail
    if Passage.objects.filter(study__study_id=event.study_key, text=was["text"]).exists():
        raise CannotRestore("A passage with these words is there again already.")
    optional = {name: was[name] for name in ("page", "kind", "asked_as", *studies.PASSAGE_ORIGIN) if name in was}
    studies.add_passage(event.study_key, by=by, text=was["text"], section=was["section"], **optional)


def _restore_finding(event: CorpusEvent, by: User | None) -> None:
    study = Study.objects.filter(study_id=event.study_key).first()
    if study is None:
        raise CannotRestore("Its study has been deleted since.")
    was = {name: event.detail["was"][name] for name in rows.FINDING_FIELDS if name in event.detail["was"]}
    entries.save_entry(Finding(study=study, **was), by=by)


def _set_lexica(event: CorpusEvent, by: User | None) -> None:
    before = _before(event)
    kept = {name: content for name, content in lexica.current_lexica().items() if name not in before}
    restored = kept | {name: content for name, content in before.items() if content}
    lexica.set_lexica(restored, by=by, action=lexica.REVISED)


_UNDO: Mapping[str, Callable[[CorpusEvent, User | None], None]] = {
    lexica.IMPORTED: _set_lexica,
    lexica.REVISED: _set_lexica,
    "revise_study": _revise_study,
    "label_study": _revise_study,
    "assign_study": _assign_study,
    "revise_passage": _revise_passage,
    "set_findings": _set_findings,
    "set_concepts": _set_concepts,
    "revise_finding": _revise_entry,
    "confirm_finding": _withdraw_confirmation,
    "revise_certainty": _revise_entry,
    "revise_concept": _revise_concept,
    "revise_concept_alias": _revise_entry,
    "revise_collection": _revise_entry,
}
