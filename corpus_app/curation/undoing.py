"""Undo of what a bulk edit or an import did to a study, unless the study was changed since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from corpus_app import hooks
from corpus_app.curation import history, rows, studies
from corpus_app.curation.acts import act
from corpus_app.models import CorpusEvent, Passage, Study
from corpus_app.records import Status

SINCE = "was changed since, and stays as it is"
CREATED = "import_study"
_HARMLESS = frozenset(
    {"submit", "send_back", "publish", "withdraw", "set_notice", "assign_study", "label_study", "waive_finding"}
)
"""Later actions that do not make an imported study somebody's work."""
_STATES = frozenset({"submit", "send_back", "publish", "withdraw", "set_notice"})
_PASSAGE_ACTIONS = frozenset(
    {"add_passage", "revise_passage", "remove_passage", "arrange_passages", "import_changes", "undo_import"}
)


def find_refusal(study: Study | None, events: Sequence[CorpusEvent], later: Collection[str], by: User | None) -> str:
    """Return why these events of a study, newest first, cannot be undone; empty if they can.

    `later` are the actions on the study after them.
    """
    if study is None:
        return "is no longer here"
    if any(event.action == CREATED for event in events):
        if set(later) - _HARMLESS:
            return SINCE
        return "" if study.status != Status.PUBLISHED or _may(by, "publish_study") else "is published: you may not"
    has_passages = any(event.detail.get("passages") or event.action == "add_passage" for event in events)
    if has_passages and _PASSAGE_ACTIONS & set(later):
        return SINCE
    return _find_changed_field(study, events) or _find_unknown(events, by)


def _find_changed_field(study: Study, events: Iterable[CorpusEvent]) -> str:
    """Return that a field has another value than the newest of the events gave it; empty if none has."""
    seen: set[str] = set()
    for event in events:
        for field, change in event.detail.get("changes", {}).items():
            after = change.get("after")
            if field not in seen and _comparable(_present(study, field, after)) != _comparable(after):
                return SINCE
            seen.add(field)
    return ""


def _comparable(value: Any) -> Any:
    """Return a value without the mark that an act may have set on its findings when it closed."""
    if isinstance(value, list):
        return [_comparable(entry) for entry in value]
    return {**value, "is_unconfirmed": None} if isinstance(value, dict) else value


def _present(study: Study, field: str, after: Any) -> Any:
    """Return the present value of a field as the history stores it."""
    if field == "concepts":
        return [link.concept_id for link in sorted(study.studyconcept_set.all(), key=lambda link: link.position)]
    if field == "findings" or (field == "asked_as" and isinstance(after, list)):
        present = sorted(study.findings.all(), key=lambda row: row.position)
        return [{name: getattr(row, name) for name in rows.FINDING_FIELDS} for row in present]
    if field == "collection":
        return study.collection_id
    if field == "assignee":
        return study.assignee.get_username() if study.assignee else None
    return rows.to_json(getattr(study, field))


def _find_unknown(events: Iterable[CorpusEvent], by: User | None) -> str:
    for event in events:
        if event.action in _STATES:
            needed = "set_notice_study" if event.action == "set_notice" else "publish_study"
            if not _may(by, needed):
                return "takes a permission that you do not have"
        elif event.action not in _UNDO and not history.can_restore(event):
            return "cannot be put back by itself"
        removed = [row for row in event.detail.get("passages") or () if isinstance(row, dict) and "removed" in row]
        if any("position" not in row for row in removed):
            return "cannot be put back by itself"
    return ""


def _may(by: User | None, permission: str) -> bool:
    return by is None or by.has_perm(f"corpus_app.{permission}")


def describe(study: Study, events: Sequence[CorpusEvent]) -> Mapping[str, tuple[Any, Any]]:
    """Return what undoing these events, newest first, changes: before and after by field."""
    if any(event.action == CREATED for event in events):
        return {"study": (study.title, "withdrawn" if study.status == Status.PUBLISHED else "deleted")}
    found: dict[str, tuple[Any, Any]] = {}
    for event in events:
        for field, change in event.detail.get("changes", {}).items():
            found[field] = found.get(field, (change.get("after"), None))[0], change.get("before")
        if number := len(event.detail.get("passages") or ()):
            found["passages"] = f"{number} changed", "as before"
    if added := sum(event.action == "add_passage" for event in events):
        found["passages"] = f"{added} added", "as before"
    return found


def undo(study_id: str, events: Sequence[CorpusEvent], *, by: User | None, by_name: str = "", reason: str) -> str:
    """Undo these events of a study, newest first, in an act; return a remark, often empty.

    Call it only where `find_refusal` finds none. Raises CurationError.
    """
    with act(by=by, by_name=by_name):
        if any(event.action == CREATED for event in events):
            return _take_out(study_id, by=by, by_name=by_name, reason=reason)
        for event in events:
            if undo := _UNDO.get(event.action):
                undo(event, by, by_name, reason)
            else:
                history.apply_undo(event, by=by, by_name=by_name)
        return ""


def _take_out(study_id: str, *, by: User | None, by_name: str, reason: str) -> str:
    """Delete a draft that came in; withdraw it where readers know it, and return that."""
    study = Study.objects.get(study_id=study_id)
    if study.status == Status.PUBLISHED:
        studies.withdraw([study_id], by=by, by_name=by_name, reason=reason)
        return "It was published: withdrawn, not deleted."
    if any(impact.keeps for impact in hooks.impacts([study_id])):
        studies.retire(study_id, by=by, by_name=by_name, reason=reason)
        return "Answers quote it: withdrawn, not deleted."
    studies.delete_study(study_id, by=by, by_name=by_name)
    return "Deleted."


def _undo_import(event: CorpusEvent, by: User | None, by_name: str, reason: str) -> None:
    with act(by=by, by_name=by_name) as current:
        study = current.study(event.study_key)
        before = {field: change.get("before") for field, change in event.detail.get("changes", {}).items()}
        rows_before = before.pop("findings", None)
        if isinstance(before.get("asked_as"), list):
            rows_before = before.pop("asked_as")
        concepts = before.pop("concepts", None)
        before = {name: value for name, value in before.items() if hasattr(study, name)}
        changes = rows.change(study, before)
        study.import_hash = ""  # the same file may come in again
        rows.save_study(study, changes)
        if concepts is not None:
            changes |= rows.replace_concepts(study, history.existing_concepts(concepts))
        if rows_before is not None:
            changes |= rows.replace_findings(study, [rows.finding_draft(row) for row in rows_before])
        current.remember_texts(study)
        done = rows.restore_passages(study, event.detail.get("passages") or [], at=current.at)
        current.touch(study)
        current.record("undo_import", study=study.study_id, changes=changes, passages=done)


def _undo_notice(event: CorpusEvent, by: User | None, by_name: str, reason: str) -> None:
    before = event.detail["changes"]
    notice = before.get("notice", {}).get("before") or Study.objects.get(study_id=event.study_key).notice
    old = before.get("notice_reason", {}).get("before") or reason
    studies.set_notice([event.study_key], notice, reason=old, by=by, by_name=by_name)


def _undo_status(event: CorpusEvent, by: User | None, by_name: str, reason: str) -> None:
    """Set the status back by the act that leads there, with all that it checks."""
    before = event.detail["changes"].get("status", {}).get("before")
    one = [event.study_key]
    if before == Status.PUBLISHED:
        studies.publish(one, by=by, by_name=by_name, reason=reason)
    elif event.action == "withdraw":
        studies.reinstate(event.study_key, Status(before), by=by, by_name=by_name, reason=reason)
    elif before == Status.IN_REVIEW and event.action == "send_back":
        studies.submit(one, by=by, by_name=by_name, reason=reason)
    elif event.action == "publish":
        studies.withdraw(one, by=by, by_name=by_name, reason=reason)
    else:
        studies.send_back(one, by=by, by_name=by_name, reason=reason)


def _undo_passage(event: CorpusEvent, by: User | None, by_name: str, reason: str) -> None:
    key = event.passage_key or 0
    if Passage.objects.filter(pk=key, study__study_id=event.study_key).exists():
        studies.remove_passage(key, by=by, by_name=by_name)


def _undo_nothing(event: CorpusEvent, by: User | None, by_name: str, reason: str) -> None:
    """Do nothing: the other events of a merge say what it did."""


_UNDO: Mapping[str, Callable[[CorpusEvent, User | None, str, str], None]] = {
    "import_changes": _undo_import,
    "undo_import": _undo_import,
    "add_passage": _undo_passage,
    "merge_study": _undo_nothing,
    "set_notice": _undo_notice,
    "submit": _undo_status,
    "send_back": _undo_status,
    "publish": _undo_status,
    "withdraw": _undo_status,
}
