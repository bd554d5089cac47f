"""Writes to a study: create, revise, publish, withdraw, set a notice, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Max, Value
from django.db.models.functions import Lower

from common.dois import normal_doi
from corpus_app import search
from corpus_app.curation import gate, rows
from corpus_app.curation.acts import (
    Act,
    EditConflict,
    NotConfirmed,
    NotDeletable,
    NotPublishable,
    ReasonMissing,
    Scope,
    act,
)
from corpus_app.facets import find_fault
from corpus_app.models import Collection, CorpusEvent, Passage, Study, StudyComment
from corpus_app.records import Notice, Status
from corpus_app.sources import FindingDraft
from corpus_app.sources.retractions import Match, is_news
from corpus_app.sources.title_notices import is_unsure

_MANAGED = frozenset(
    "id study_id status notice notice_reason state_changed_at empty_keys import_hash version created_at "
    "updated_at assignee indexed_by".split()
)
"""Columns that only acts of their own change, such as `publish` and `set_notice`."""
EDITABLE = tuple(field.name for field in Study._meta.fields if field.name not in _MANAGED)
INTERNAL_FIELDS = frozenset({"curator_notes", "labels", "status_reason", "derived_numbers", "source_ref"})
"""Fields that readers never see."""
PASSAGE_FIELDS = ("section", "text", "page", "kind", "asked_as")
PASSAGE_ORIGIN = ("source_heading", "cited_works")
"""What an import knows of a passage's place in the source."""
_EMPTY_AS_NULL = ("journal", "doi", "pmid", "url")

REVIEW_ACTIONS = frozenset({"comment", "send_back", "publish", "label_study", "assign_study"})
"""Actions that do not make a reviewer an author."""

NEW = "New at the desk, not yet published."


def create_study(study_id: str, *, by: User | None, by_name: str = "", collection: Collection, **values: Any) -> Study:
    """Create a draft. Raises ValidationError by field."""
    with act(by=by, by_name=by_name) as current:
        values = _clean({"status_reason": NEW} | values | {"collection": collection})
        values["status_reason"] = values["status_reason"] or NEW
        check_new_study_id(study_id)
        study = Study(study_id=study_id, status=Status.DRAFT.value, **values)
        study.full_clean()
        study.save()
        current.touch(study, is_new=True)
        current.record("create_study", study=study_id, changes={"title": {"before": None, "after": study.title}})
        return study


def check_new_study_id(study_id: str) -> None:
    """Raise ValidationError when another study's id differs from this one only by case."""
    alike = Study.objects.alias(low_id=Lower("study_id")).filter(low_id=Lower(Value(study_id)))
    other = alike.exclude(study_id=study_id).first()
    if other:
        raise ValidationError(
            {"study_id": f"There is a study {other.study_id} already: two ids must differ by more than case."}
        )


def revise_study(
    study_id: str, *, by: User | None, by_name: str = "", expected_version: int | None = None, **values: Any
) -> Study:
    """Set these fields. Raises EditConflict when the version is not the expected one, ValidationError by field."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        _expect(study, expected_version)
        if changes := rows.change(study, _clean(values)):
            _check_changed(study, changes)
            is_seen = not INTERNAL_FIELDS.issuperset(changes)
            current.touch(study, noticeable=is_seen, scope=_scope_of(changes), unsaved=changes)
            if "title" in changes:
                rows.update_headings(study)
            action = "label_study" if changes.keys() == {"labels"} else "revise_study"
            current.record(action, study=study_id, changes=changes)
        return study


_TEXTS = frozenset({"title", "takeaway", "asked_as"})
"""Fields that search derives texts from."""
_CHECKED_TOGETHER = frozenset({"duration_weeks_min", "duration_weeks_max"})
_CONSTRAINED = _CHECKED_TOGETHER | {"title", "doi", "pmid", "url", "journal"}
"""Fields that are compared with another field, another study, or an empty text; choices are checked by themselves."""


def _scope_of(changes: Mapping[str, Any]) -> Scope:
    if _TEXTS & changes.keys():
        return Scope.TEXTS
    return Scope.STATE if "collection" in changes else Scope.NOTHING


def _check_changed(study: Study, changes: Mapping[str, Any]) -> None:
    """Raise ValidationError by field for what changed. Unchanged values are not judged once more."""
    checked = {*changes, *(_CHECKED_TOGETHER if _CHECKED_TOGETHER & changes.keys() else ())}
    exclude = {field.name for field in Study._meta.fields} - checked
    study.full_clean(exclude=exclude, validate_constraints=bool(_CONSTRAINED & checked))


def assign_study(study_id: str, assignee: User | None, *, by: User | None, by_name: str = "") -> Study:
    """Give a study to a curator, or to nobody."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if study.assignee != assignee:
            names = {
                "before": study.assignee.get_username() if study.assignee else None,
                "after": assignee.get_username() if assignee else None,
            }
            study.assignee = assignee
            current.touch(study, noticeable=False, scope=Scope.NOTHING, unsaved=["assignee"])
            current.record("assign_study", study=study_id, changes={"assignee": names})
        return study


def expect_version(study_id: str, version: str | None, *, by: User | None) -> Study:
    """Return the study, locked until the act ends. Raises EditConflict when its version is another one."""
    with act(by=by) as current:
        study = current.study(study_id)
        if version is not None and str(study.version) != version:
            raise EditConflict(study_id)
        return study


def _expect(study: Study, version: int | None) -> None:
    if version is not None and study.version != version:
        raise EditConflict(study.study_id)


def clean_labels(labels: Iterable[str]) -> list[str]:
    """Return the labels without outer blanks, empty ones and repetitions, in their order."""
    found: dict[str, str] = {}
    for label in labels:
        if stripped := " ".join(label.split()):
            found.setdefault(stripped.casefold(), stripped)
    return list(found.values())


def merge_labels(present: Iterable[str], more: Iterable[str]) -> list[str]:
    return clean_labels([*present, *more])


def _clean(values: Mapping[str, Any]) -> dict[str, Any]:
    """Normalise values: null for an empty optional text, and the DOI in its normal form."""
    if unknown := set(values) - set(EDITABLE):
        raise TypeError(f"Not a field of a study that can be set: {', '.join(sorted(unknown))}")
    rows.check_texts(values)
    cleaned = dict(values)
    if "design" in cleaned and not search.site().is_design(str(cleaned["design"])):
        known = ", ".join(search.site().designs)
        raise ValidationError({"design": f"There is no kind of source {cleaned['design']}; known: {known}."})
    if fault := find_fault(cleaned.get("facets", {}), search.site().facets):
        raise ValidationError({"facets": f"This {fault}"})
    for name in _EMPTY_AS_NULL:
        if name in cleaned:
            cleaned[name] = (cleaned[name] or "").strip() or None
    if cleaned.get("doi"):
        cleaned["doi"] = normal_doi(cleaned["doi"]) or None
    if "labels" in cleaned:
        cleaned["labels"] = clean_labels(cleaned["labels"])
    return cleaned


def set_findings(study_id: str, findings: Sequence[FindingDraft], *, by: User | None, by_name: str = "") -> None:
    """Replace the findings of a study. Raises NotConfirmed when that would confirm one without its source."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        for finding in findings:
            rows.check_texts(rows.finding_values(finding))
        unconfirmed = {row.pk for row in study.findings.filter(is_unconfirmed=True)}
        if changes := rows.replace_findings(study, findings):
            if study.findings.filter(pk__in=unconfirmed, is_unconfirmed=False).exists():
                raise NotConfirmed
            current.touch(study)
            current.record("set_findings", study=study_id, changes=changes)


def set_concepts(study_id: str, concept_ids: Sequence[str], *, by: User | None, by_name: str = "") -> None:
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if changes := rows.replace_concepts(study, list(dict.fromkeys(concept_ids))):
            current.touch(study, scope=Scope.NOTHING)
            current.record("set_concepts", study=study_id, changes=changes)


# --- Passages


def add_passage(
    study_id: str,
    *,
    by: User | None,
    by_name: str = "",
    text: str,
    section: str,
    page: int | None = None,
    kind: str = "summary",
    asked_as: str = "",
    source_heading: str = "",
    cited_works: Sequence[Mapping[str, Any]] = (),
) -> Passage:
    """Append a passage to its study."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        rows.check_texts({"text": text, "asked_as": asked_as})
        current.remember_texts(study)
        values: dict[str, Any] = {
            "text": text,
            "section": str(section),
            "page": page,
            "kind": str(kind),
            "asked_as": asked_as,
            "source_heading": source_heading,
            "cited_works": list(cited_works),
        }
        last = study.passages.order_by("-position").first()
        passage = rows.create_passage(study, position=last.position + 1 if last else 0, **values)
        current.touch(study)
        current.record("add_passage", study=study_id, passage=passage.pk, section=passage.section)
        return passage


def revise_passage(
    passage_id: int, *, by: User | None, by_name: str = "", expected_version: int | None = None, **values: Any
) -> Passage:
    """Set text, section, page, kind or questions. Raises EditConflict when the version is not the expected one."""
    if unknown := set(values) - set(PASSAGE_FIELDS):
        raise TypeError(f"Not a field of a passage that can be set: {', '.join(sorted(unknown))}")
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        if expected_version is not None and passage.version != expected_version:
            raise EditConflict(str(passage))
        rows.check_texts(values)
        if "text" in values:
            current.remember_texts(passage.study)
        changes = rows.change_passage(passage, values, at=current.at)
        if changes:
            current.touch(passage.study)
            current.record("revise_passage", study=passage.study.study_id, passage=passage_id, changes=changes)
        return passage


def remove_passage(passage_id: int, *, by: User | None, by_name: str = "") -> None:
    """Remove a passage; the event keeps its text, so that the removal can be undone."""
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        current.remember_texts(passage.study)  # text that moves to another passage is not new
        passage.delete()
        rows.arrange(passage.study, [])
        current.touch(passage.study)
        current.record(
            "remove_passage",
            study=passage.study.study_id,
            passage=passage_id,
            text=passage.text,
            section=passage.section,
            page=passage.page,
            kind=passage.kind,
            asked_as=passage.asked_as,
            source_heading=passage.source_heading,
            cited_works=passage.cited_works,
        )


def arrange_passages(study_id: str, passage_ids: Sequence[int], *, by: User | None, by_name: str = "") -> None:
    """Put the study's passages into this order."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if rows.arrange(study, passage_ids):
            current.touch(study)
            current.record("arrange_passages", study=study_id, order=list(passage_ids))


# --- Status and notice


def find_obstacle(study: Study) -> str | None:
    """Return why this study cannot be published; None if it can."""
    if not study.title.strip():
        return "it has no title."
    if is_unsure(study.title):
        return (
            "its title says “expression of concern”. If this is the study, take these words out of the title and leave "
            "the notice; if it is the notice about a study, delete it and set the notice there."
        )
    if not study.passages.exists():
        return "it has no passage. Add at least one."
    return None


def find_quality_obstacle(study: Study) -> str | None:
    """Return why the study's text blocks its publication; None if it does not.

    Such a study can still be submitted: a reviewer may correct it.
    """
    passages = gate.filter_blocked(Passage.objects.filter(study=study)).order_by("position")
    numbers = [str(position + 1) for position in passages.values_list("position", flat=True)]
    if not numbers:
        return None
    named = f"passage {numbers[0]}" if len(numbers) == 1 else f"passages {', '.join(numbers[:10])}"
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return f"the text of {named}{more} looks broken. Correct it, or say on its page why it can stay as it is."


def submit(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str = "") -> tuple[str, ...]:
    """Submit studies for review and return the changed ones. Raises NotPublishable when one could not be published."""
    rows.check_texts({"reason": reason})
    movable = frozenset({Status.DRAFT, Status.WITHDRAWN})
    with act(by=by, by_name=by_name) as current:
        return _change_status(current, studies, "submit", movable, Status.IN_REVIEW, reason, obstacle=find_obstacle)


def send_back(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str) -> tuple[str, ...]:
    """Return studies from review to draft, with the reason; return the changed ones. Raises ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        return _change_status(current, studies, "send_back", frozenset({Status.IN_REVIEW}), Status.DRAFT, reason)


def _change_status(
    current: Act,
    studies: Iterable[str],
    action: str,
    movable: frozenset[Status],
    to: Status,
    reason: str,
    *,
    obstacle: Callable[[Study], str | None] = lambda study: None,
) -> tuple[str, ...]:
    """Change the status of the studies whose status is movable, and return their ids.

    Raises NotPublishable, before any is changed for good, when an obstacle is found.
    """
    done = []
    for study_id in sorted(set(studies)):
        study = current.study(study_id)
        if study.status not in movable:
            continue
        if reason_against := obstacle(study):
            raise NotPublishable(study_id, reason_against)
        _change_state(current, study, action, reason, status=to.value, status_reason=reason)
        done.append(study_id)
    return tuple(done)


def find_review_obstacle(study: Study, by: User | None) -> str | None:
    """Return why this person cannot publish the study under the review rule; None if they can."""
    return find_review_obstacles([study], by).get(study.study_id)


def find_review_obstacles(found: Sequence[Study], by: User | None) -> dict[str, str]:
    """Return why this person cannot publish studies under the review rule, by id; those they can are left out.

    Whoever submitted a study, or changed it since its last publication, is an author and cannot review it.
    Commands, which have no user, are exempt.
    """
    if not settings.REVIEW_REQUIRED or by is None:
        return {}
    events = CorpusEvent.objects.filter(study_key__in=[study.study_id for study in found]).order_by()
    published = dict(events.filter(action="publish").values_list("study_key").annotate(last=Max("pk")))
    written = events.filter(actor=by).exclude(action__in=REVIEW_ACTIONS)
    own = {
        key for key, last in written.values_list("study_key").annotate(last=Max("pk")) if last > published.get(key, 0)
    }
    obstacles = {}
    for study in found:
        if study.status != Status.IN_REVIEW:
            reason = "it has not been handed over for review. Submit it; another person can then publish it."
        elif not by.has_perm("corpus_app.review_study"):
            reason = "publishing takes a reviewer."
        elif study.study_id in own:
            reason = "you handed it over or wrote in it: another reviewer has to read and publish it."
        else:
            continue
        obstacles[study.study_id] = reason
    return obstacles


def comment(study_id: str, text: str, *, by: User | None, by_name: str = "") -> StudyComment:
    """Add a curators' comment, which readers never see. Raises ValidationError."""
    if not text.strip():
        raise ValidationError({"text": "Write something first."})
    rows.check_texts({"text": text})
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        current.record("comment", study=study_id, text=text.strip())
        return StudyComment.objects.create(
            study=study, author=by, author_name=current.by_name, at=current.at, text=text.strip()
        )


def publish(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str = "") -> tuple[str, ...]:
    """Publish all of these studies, or none; return the ids of the newly published ones. Raises NotPublishable."""
    with act(by=by, by_name=by_name) as current:
        done = []
        locked = [current.study(study_id) for study_id in sorted(set(studies))]
        waiting = [study for study in locked if study.status != Status.PUBLISHED]
        blocked = {
            passage.study_id for passage in gate.filter_blocked(Passage.objects.filter(study__in=waiting)).only("study")
        }
        for study in waiting:
            study_id = study.study_id
            broken = find_quality_obstacle(study) if study.pk in blocked else None
            if obstacle := find_obstacle(study) or broken or find_review_obstacle(study, by):
                raise NotPublishable(study_id, obstacle)
            _change_state(current, study, "publish", reason, status=Status.PUBLISHED.value, status_reason="")
            done.append(study_id)
        return tuple(done)


def withdraw(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str) -> tuple[str, ...]:
    """Withdraw published studies; return their ids. Raises ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        return _change_status(current, studies, "withdraw", frozenset({Status.PUBLISHED}), Status.WITHDRAWN, reason)


def retire(study_id: str, *, by: User | None, by_name: str = "", reason: str) -> None:
    """Withdraw a study, whatever its status, because another one replaces it. Raises ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if study.status != Status.WITHDRAWN:
            _change_state(current, study, "withdraw", reason, status=Status.WITHDRAWN.value, status_reason=reason)


def archive(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str) -> tuple[str, ...]:
    """Take studies out of the corpus and from its concepts, while answers keep their words; return their ids.

    One whose words a curator took back once is withdrawn instead. Raises ReasonMissing.
    """
    if not reason.strip():
        raise ReasonMissing
    with act(by=by, by_name=by_name) as current:
        ids = sorted(set(studies))
        current.lock(ids)
        events = CorpusEvent.objects.filter(action="withdraw", study_key__in=ids)
        taken_back = frozenset(events.values_list("study_key", flat=True))
        for study_id in ids:
            study = current.study(study_id)
            is_hidden = study_id in taken_back and study.status != Status.PUBLISHED
            action, status = ("withdraw", Status.WITHDRAWN) if is_hidden else ("archive", Status.ARCHIVED)
            columns = rows.change(study, {"status": status.value, "status_reason": reason})
            changes = columns | rows.replace_concepts(study, [])
            study.import_hash, study.state_changed_at = "", current.at  # its file may come in again
            unsaved = ["import_hash", "state_changed_at", *columns]
            current.touch(study, is_content=False, scope=Scope.STATE, unsaved=unsaved)
            current.record(action, study=study_id, reason=reason, changes=changes)
        return tuple(ids)


def reinstate(study_id: str, status: Status, *, by: User | None, by_name: str = "", reason: str) -> None:
    """Make a study that was withdrawn a draft again, or one in review."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if study.status == Status.WITHDRAWN and status in {Status.DRAFT, Status.IN_REVIEW}:
            action = "submit" if status is Status.IN_REVIEW else "send_back"
            _change_state(current, study, action, reason, status=status.value, status_reason=reason)


def set_notice(
    studies: Iterable[str], notice: Notice | str, *, reason: str, by: User | None, by_name: str = ""
) -> tuple[str, ...]:
    """Set or clear the notice of studies; return the ids of the changed ones. Raises ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    notice = Notice(notice)
    with act(by=by, by_name=by_name) as current:
        done = []
        for study_id in sorted(set(studies)):
            study = current.study(study_id)
            notice_reason = "" if notice is Notice.NONE else reason
            if (study.notice, study.notice_reason) == (notice, notice_reason):
                continue
            _change_state(current, study, "set_notice", reason, notice=notice.value, notice_reason=notice_reason)
            done.append(study_id)
        return tuple(done)


def apply_retractions(matches: Iterable[Match], *, by: User | None, by_name: str = "") -> tuple[str, ...]:
    """Set the notices of a retraction list in one act; return the ids of the changed studies."""
    with act(by=by, by_name=by_name) as current:
        done: list[str] = []
        for match in matches:
            reason = match.entry.reason or "Named in a retraction list."
            if not is_news(current.study(match.study_id).notice, match.entry):
                continue  # it has this notice, perhaps with a better reason, or a graver one
            done += set_notice([match.study_id], match.entry.notice, reason=reason, by=by, by_name=by_name)
        return tuple(done)


def _change_state(current: Act, study: Study, action: str, reason: str, **values: str) -> None:
    changes = rows.change(study, values)
    study.state_changed_at = current.at
    current.touch(study, is_content=False, scope=Scope.STATE, unsaved=["state_changed_at", *changes])
    current.record(action, study=study.study_id, reason=reason, changes=changes)


def delete_study(study_id: str, *, by: User | None, by_name: str = "") -> None:
    """Delete an unpublished study with its passages, and its text from the history. Raises NotDeletable."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if study.status == Status.PUBLISHED:
            raise NotDeletable(study_id, "it is published. Withdraw it first.")
        detail: dict[str, Any] = {
            "title": study.title,
            "doi": study.doi,
            "status": study.status,
            "passages": study.passages.count(),
        }
        current.forget(study)
        study.delete()
        CorpusEvent.objects.filter(study_key=study_id).update(detail={"words": "deleted with the study"})
        current.record("delete_study", study=study_id, **detail)
