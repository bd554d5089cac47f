"""Changes of a bulk edit: what may change, what each study would change to, and the change itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Prefetch, prefetch_related_objects

from corpus_app import models, search
from corpus_app.curation import gate, rows, studies
from corpus_app.curation.acts import CurationError, ReasonMissing, needs_reviewer, not_allowed
from corpus_app.facets import COLUMNS, NOT_REPORTED, from_pairs, pairs_fault, to_fields
from corpus_app.models import CorpusEvent, Passage, Study
from corpus_app.records import LABEL_LETTERS, Notice, Status

LISTS = ("concepts", "labels", "facets")
FIELDS = ("collection", "design", "peer_reviewed", "assignee", "notice", *LISTS)
WAYS = ("add", "remove", "set")
"""How the entries of a list change."""
_PUBLIC = frozenset({"collection", "design", "peer_reviewed", "concepts", "facets"})
"""Fields that readers see and that take a reviewer where two people are required."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A change of status: its permission, where it leads from and to, and whether it takes a reason."""

    permission: str
    movable: frozenset[Status]
    to: Status
    takes_reason: bool
    apply: Callable[..., Collection[str]]


VERBS: Mapping[str, Verb] = {
    "submit": Verb(
        "change_study", frozenset({Status.DRAFT, Status.WITHDRAWN}), Status.IN_REVIEW, False, studies.submit
    ),
    "send_back": Verb("publish_study", frozenset({Status.IN_REVIEW}), Status.DRAFT, True, studies.send_back),
    "publish": Verb(
        "publish_study",
        frozenset(Status) - {Status.PUBLISHED},
        Status.PUBLISHED,
        False,
        studies.publish,
    ),
    "withdraw": Verb("publish_study", frozenset({Status.PUBLISHED}), Status.WITHDRAWN, True, studies.withdraw),
}


@dataclass(frozen=True, slots=True)
class Planned:
    """The effect of a bulk edit on one study: each field's value before and after, or why it is refused."""

    study_id: str
    study: Study | None
    changes: Mapping[str, tuple[Any, Any]]
    refusal: str = ""
    events: Sequence[CorpusEvent] = ()
    """Of an undo: what it takes back, newest first."""


# --- What may change


def check(changes: Mapping[str, Any], *, reason: str, by: User | None) -> None:
    """Raise ValidationError by field, CurationError or ReasonMissing when these changes cannot be carried out."""
    if not changes:
        raise CurationError("Nothing is to change: choose at least one field.")
    if unknown := sorted(set(changes) - {*FIELDS, "status"}):
        raise ValidationError({unknown[0]: f"This cannot be changed for many studies; {', '.join(FIELDS)} can."})
    if "status" in changes and len(changes) > 1:
        raise ValidationError({"status": "Change the status alone: it is an act of its own."})
    rows.check_texts({"reason": reason})
    faults = {field: fault for field, value in changes.items() if (fault := _CHECKS[field](value))}
    if faults:
        raise ValidationError(faults)
    verb = VERBS.get(changes.get("status", ""))
    if ("notice" in changes or (verb and verb.takes_reason)) and not reason.strip():
        raise ReasonMissing
    for field in changes:
        permission = {"status": verb and verb.permission, "notice": "set_notice_study"}.get(field) or "change_study"
        if by is not None and not by.has_perm(f"corpus_app.{permission}"):
            raise CurationError(f"This takes the permission {permission}, which you do not have.")


def _check_collection(value: Any) -> str:
    present = list(models.Collection.objects.values_list("pk", flat=True))
    return "" if value in present else f"There is no such collection. There are: {', '.join(present) or 'none yet'}."


def _check_choice(values: Collection[str]) -> Callable[[Any], str]:
    return lambda value: "" if value in values else f"It should be one of {', '.join(values)}."


def _check_truth(value: Any) -> str:
    return "" if isinstance(value, bool) else "It should be true or false."


def _check_assignee(value: Any) -> str:
    return "" if value == "" or _person(value) else "There is nobody of this name at the desk."


def _person(name: Any) -> User | None:
    return User.objects.filter(username=name, is_active=True, is_staff=True).first()


def _check_list(value: Any) -> str:
    """Return what is wrong with the entries to add, remove or set; empty if nothing is."""
    if not isinstance(value, Mapping) or not value or set(value) - set(WAYS) or ("set" in value and len(value) > 1):
        return "Give add, remove, or both; or set alone."
    for entry in (entry for entries in value.values() for entry in entries):
        if len(entry) > LABEL_LETTERS:
            return f"“{entry[:40]}…” has {len(entry)} characters; at most {LABEL_LETTERS} are kept."
        if fault := rows.find_text_fault("name", entry):
            return fault
    return ""


def _check_concepts(value: Any) -> str:
    if fault := _check_list(value):
        return fault
    wanted = [entry for entries in value.values() for entry in entries]
    known = set(models.Concept.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    unknown = [entry for entry in wanted if entry not in known]
    return f"There is no concept {unknown[0][:80]}." if unknown else ""


def _check_facets(value: Any) -> str:
    if fault := _check_list(value):
        return fault
    declared = search.site().facets
    wrong = (fault for pairs in value.values() if (fault := pairs_fault(pairs, declared)))
    return f"The corpus {fault}" if (fault := next(wrong, "")).startswith("has") else fault


def _check_design(value: Any) -> str:
    return "" if search.site().is_design(str(value)) else f"There is no kind of source {str(value)[:80]}."


_CHECKS: Mapping[str, Callable[[Any], str]] = {
    "collection": _check_collection,
    "design": _check_design,
    "peer_reviewed": _check_truth,
    "assignee": _check_assignee,
    "notice": _check_choice(tuple(Notice)),
    "concepts": _check_concepts,
    "labels": _check_list,
    "facets": _check_facets,
    "status": _check_choice(tuple(VERBS)),
}


# --- What would change


class Planner:
    """The plan of one bulk edit for some studies; what takes queries is looked up once for all of them."""

    def __init__(self, changes: Mapping[str, Any], found: Collection[Study], *, by: User | None) -> None:
        self._changes = changes
        self._needs_reviewer = needs_reviewer(by) and bool(_PUBLIC & changes.keys())
        self._obstacles: dict[str, str] = {}
        if changes.get("status") in {"publish", "submit"}:
            self._obstacles = _find_obstacles(list(found), by, is_publication=changes["status"] == "publish")

    def plan(self, study_id: str, study: Study) -> Planned:
        if "status" in self._changes:
            return self._plan_status(study_id, study)
        changes = {
            field: (before, after)
            for field, wanted in self._changes.items()
            for before in [_present(study, field)]
            for after in [_combine(field, before, wanted)]
            if before != after
        }
        is_refused = self._needs_reviewer and study.status == Status.PUBLISHED and bool(_PUBLIC & changes.keys())
        return Planned(study_id, study, changes, str(not_allowed(study_id)) if is_refused else "")

    def _plan_status(self, study_id: str, study: Study) -> Planned:
        verb = VERBS[self._changes["status"]]
        if study.status not in verb.movable:
            return Planned(study_id, study, {})
        changes = {"status": (study.status, verb.to.value)}
        return Planned(study_id, study, changes, self._obstacles.get(study_id, ""))


def _present(study: Study, field: str) -> Any:
    if field == "concepts":
        return [link.concept_id for link in sorted(study.studyconcept_set.all(), key=lambda link: link.position)]
    if field == "facets":
        return sorted(f"{key}:{value}" for key in search.site().facets for value in _facet_values(study, key))
    if field == "assignee":
        return study.assignee.get_username() if study.assignee else ""
    return study.collection_id if field == "collection" else getattr(study, field)


def _facet_values(study: Study, key: str) -> list[str]:
    if key not in COLUMNS:
        return list(study.facets.get(key, ()))
    value = getattr(study, key)
    return [] if value == NOT_REPORTED else [value]


def _combine(field: str, present: Any, wanted: Any) -> Any:
    """Return the value after the change; the entries of a list that stay keep their order."""
    if field not in LISTS:
        return wanted
    if field == "facets":
        return sorted(_combine_facets(present, wanted))
    if "set" in wanted:
        return studies.clean_labels(wanted["set"])
    removed = {entry.casefold() for entry in wanted.get("remove", ())}
    return studies.merge_labels([entry for entry in present if entry.casefold() not in removed], wanted.get("add", ()))


def _combine_facets(present: Sequence[str], wanted: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the pairs of facet and value after the change; `set` replaces the values of the facets that it names."""
    given = {*wanted.get("set", ()), *wanted.get("add", ())}
    replaced = {key for key, _ in from_pairs(given) if "set" in wanted or key in COLUMNS}
    kept = {pair for pair in present if pair.partition(":")[0] not in replaced}
    return (kept - {*wanted.get("remove", ())}) | given


def _find_obstacles(found: Sequence[Study], by: User | None, *, is_publication: bool) -> dict[str, str]:
    """Return why studies cannot be submitted or published, by id.

    Texts that were never checked are left to the worker.
    """
    prefetch_related_objects(found, Prefetch("passages", Passage.objects.only("study")))
    obstacles = {study.study_id: reason for study in found if (reason := studies.find_obstacle(study))}
    if is_publication:
        broken = set(gate.known_blocked().filter(study__in=found).values_list("study_id", flat=True))
        obstacles |= {study.study_id: "its text looks broken." for study in found if study.pk in broken}
        obstacles |= studies.find_review_obstacles(found, by) if settings.REVIEW_REQUIRED else {}
    return obstacles


# --- The change


def apply(planned: Planned, *, by: User | None, by_name: str = "", reason: str) -> None:
    """Change one study as planned, within the caller's act. Raises CurationError and ValidationError."""
    one, after = [planned.study_id], {field: value for field, (_, value) in planned.changes.items()}
    values: dict[str, Any] = {field: after[field] for field in ("design", "peer_reviewed", "labels") if field in after}
    if "facets" in after:
        values |= to_fields(from_pairs(after["facets"]), search.site().facets)
    if "collection" in after:
        values["collection"] = models.Collection.objects.get(pk=after["collection"])
    if values:
        studies.revise_study(planned.study_id, by=by, by_name=by_name, **values)
    if "concepts" in after:
        studies.set_concepts(planned.study_id, after["concepts"], by=by, by_name=by_name)
    if "assignee" in after:
        studies.assign_study(planned.study_id, _person(after["assignee"]), by=by, by_name=by_name)
    if "notice" in after:
        studies.set_notice(one, after["notice"], by=by, by_name=by_name, reason=reason)
    if "status" in after:
        verb = next(verb for verb in VERBS.values() if verb.to == after["status"])
        verb.apply(one, by=by, by_name=by_name, reason=reason)
