"""What a curator does with a study: make, revise, publish, withdraw, mark, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from corpus_app.curation import gate, rows
from corpus_app.curation.acts import Act, EditConflict, NotDeletable, NotPublishable, ReasonMissing, act
from corpus_app.models import Collection, CorpusEvent, Passage, Study, StudyComment
from corpus_app.records import Notice, Status
from corpus_app.sources import FindingDraft, normal_doi
from corpus_app.sources.retractions import Match, is_news

EDITABLE = (
    "title",
    "authors",
    "year",
    "journal",
    "doi",
    "pmid",
    "url",
    "design",
    "peer_reviewed",
    "collection",
    "population",
    "training_status",
    "age_group",
    "sex",
    "n_studies",
    "n_participants",
    "duration_weeks_min",
    "duration_weeks_max",
    "takeaway",
    "asked_as",
    "licence",
    "curator_notes",
    "status_reason",
    "derived_numbers",
    "source_ref",
)
UNSEEN = frozenset({"curator_notes", "status_reason", "derived_numbers", "source_ref"})  # readers are not shown these
PASSAGE_FIELDS = ("section", "text", "page", "kind", "asked_as")
_NULL_WHERE_EMPTY = ("journal", "doi", "pmid", "url")

REVIEWING = frozenset({"comment", "send_back", "publish"})  # what a reviewer does without becoming an author

NEW = "New at the desk, not yet published."


def create_study(study_id: str, *, by: User | None, by_name: str = "", collection: Collection, **values: Any) -> Study:
    """A new draft. Raises ValidationError by field."""
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
    """Raises ValidationError where another study's id differs from this one by case alone: readers would mix them up."""
    other = Study.objects.filter(study_id__iexact=study_id).exclude(study_id=study_id).first()
    if other:
        raise ValidationError(
            {"study_id": f"There is a study {other.study_id} already: two ids must differ by more than case."}
        )


def revise_study(
    study_id: str, *, by: User | None, by_name: str = "", expected_version: int | None = None, **values: Any
) -> Study:
    """Sets these fields. Raises EditConflict where the study's version is not the expected one, ValidationError by field."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        _expect(study, expected_version)
        if changes := rows.change(study, _clean(values)):
            study.full_clean()
            rows.save_study(study, changes)
            current.touch(study, noticeable=not UNSEEN.issuperset(changes))
            current.record("revise_study", study=study_id, changes=changes)
        return study


def expect_version(study_id: str, version: str | None, *, by: User | None) -> Study:
    """The study, locked until the act is over. Raises EditConflict where its version is another than what somebody has read."""
    with act(by=by) as current:
        study = current.study(study_id)
        if version is not None and str(study.version) != version:
            raise EditConflict(study_id)
        return study


def _expect(study: Study, version: int | None) -> None:
    if version is not None and study.version != version:
        raise EditConflict(study.study_id)


def _clean(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they are kept: no empty text where absent means null, the DOI in its normal form."""
    if unknown := set(values) - set(EDITABLE):
        raise TypeError(f"Not a field of a study that can be set: {', '.join(sorted(unknown))}")
    rows.check_texts(values)
    kept = dict(values)
    for name in _NULL_WHERE_EMPTY:
        if name in kept:
            kept[name] = (kept[name] or "").strip() or None
    if kept.get("doi"):
        kept["doi"] = normal_doi(kept["doi"]) or None
    return kept


def set_findings(study_id: str, findings: Sequence[FindingDraft], *, by: User | None, by_name: str = "") -> None:
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        for finding in findings:
            rows.check_texts({name: getattr(finding, name) for name in rows.FINDING_FIELDS})
        if changes := rows.replace_findings(study, findings):
            current.touch(study)
            current.record("set_findings", study=study_id, changes=changes)


def set_concepts(study_id: str, concept_ids: Sequence[str], *, by: User | None, by_name: str = "") -> None:
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if changes := rows.replace_concepts(study, list(dict.fromkeys(concept_ids))):
            current.touch(study)
            current.record("set_concepts", study=study_id, changes=changes)


# --- Passages -----------------------------------------------------------------------------------------------------------


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
) -> Passage:
    """A passage at the end of its study."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        rows.check_texts({"text": text, "asked_as": asked_as})
        current.before_new_words(study)
        values = {"text": text, "section": str(section), "page": page, "kind": str(kind), "asked_as": asked_as}
        last = study.passages.order_by("-position").first()
        passage = rows.create_passage(study, position=last.position + 1 if last else 0, **values)
        current.touch(study)
        current.record("add_passage", study=study_id, passage=passage.pk, section=passage.section)
        return passage


def revise_passage(
    passage_id: int, *, by: User | None, by_name: str = "", expected_version: int | None = None, **values: Any
) -> Passage:
    """Sets text, section, page, kind or questions. Raises EditConflict where the passage's words are not the expected version."""
    if unknown := set(values) - set(PASSAGE_FIELDS):
        raise TypeError(f"Not a field of a passage that can be set: {', '.join(sorted(unknown))}")
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        if expected_version is not None and passage.version != expected_version:
            raise EditConflict(str(passage))
        rows.check_texts(values)
        if "text" in values:
            current.before_new_words(passage.study)
        changes = rows.change_passage(passage, values, at=current.at)
        if changes:
            current.touch(passage.study)
            current.record("revise_passage", study=passage.study.study_id, passage=passage_id, changes=changes)
        return passage


def remove_passage(passage_id: int, *, by: User | None, by_name: str = "") -> None:
    """Its words stay in the event, so that nothing is lost by a slip."""
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        current.before_new_words(passage.study)  # words that move to another passage are not new
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
        )


def arrange_passages(study_id: str, passage_ids: Sequence[int], *, by: User | None, by_name: str = "") -> None:
    """Puts the study's passages into this order."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if rows.arrange(study, passage_ids):
            current.touch(study)
            current.record("arrange_passages", study=study_id, order=list(passage_ids))


# --- Status and notice --------------------------------------------------------------------------------------------------


def find_obstacle(study: Study) -> str | None:
    """Why this study cannot be published, or None."""
    if not study.title.strip():
        return "it has no title."
    if not study.passages.exists():
        return "it has no passage. Add at least one."
    return None


def find_quality_obstacle(study: Study) -> str | None:
    """Why its text cannot be shown to readers as it is, or None. It can be handed over nevertheless: a reviewer may mend it."""
    passages = gate.open_in(Passage.objects.filter(study=study)).order_by("position")
    numbers = [str(position + 1) for position in passages.values_list("position", flat=True)]
    if not numbers:
        return None
    named = f"passage {numbers[0]}" if len(numbers) == 1 else f"passages {', '.join(numbers[:10])}"
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return f"the text of {named}{more} looks broken. Correct it, or say on its page why it can stay as it is."


def submit(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str = "") -> tuple[str, ...]:
    """Hands studies over for review; raises NotPublishable where one could not be published. Those it changed."""
    rows.check_texts({"reason": reason})
    movable = frozenset({Status.DRAFT, Status.WITHDRAWN})
    with act(by=by, by_name=by_name) as current:
        return _move(current, studies, "submit", movable, Status.IN_REVIEW, reason, obstacle=find_obstacle)


def send_back(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str) -> tuple[str, ...]:
    """Returns studies from review to draft; the reason says what is to be mended. Those it changed."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        return _move(current, studies, "send_back", frozenset({Status.IN_REVIEW}), Status.DRAFT, reason)


def _move(
    current: Act,
    studies: Iterable[str],
    action: str,
    movable: frozenset[Status],
    to: Status,
    reason: str,
    *,
    obstacle: Callable[[Study], str | None] = lambda study: None,
) -> tuple[str, ...]:
    """Takes those studies whose status is movable to another one, all or, raising NotPublishable, none. Their ids."""
    done = []
    for study_id in sorted(set(studies)):
        study = current.study(study_id)
        if study.status not in movable:
            continue
        if stands_in_the_way := obstacle(study):
            raise NotPublishable(study_id, stands_in_the_way)
        _change_state(current, study, action, reason, status=to.value, status_reason=reason)
        done.append(study_id)
    return tuple(done)


def find_review_obstacle(study: Study, by: User | None) -> str | None:
    """Why this person cannot publish it where a second person's review is required, or None.

    Whoever handed it over, or changed its words since it was last published, is its author and not its reviewer. A command
    acts for the site.
    """
    if not settings.REVIEW_REQUIRED or by is None:
        return None
    if study.status != Status.IN_REVIEW:
        return "it has not been handed over for review. Submit it; another person can then publish it."
    if not by.has_perm("corpus_app.review_study"):
        return "publishing takes a reviewer."
    events = CorpusEvent.objects.filter(study_key=study.study_id)
    published = events.filter(action="publish").order_by("-id").first()
    authors = events.filter(id__gt=published.id if published else 0).exclude(action__in=REVIEWING)
    if authors.filter(actor=by).exists():
        return "you handed it over or wrote in it: another reviewer has to read and publish it."
    return None


def comment(study_id: str, text: str, *, by: User | None, by_name: str = "") -> StudyComment:
    """Says something about a study to the other curators; readers never see it. Raises ValidationError."""
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
    """Publishes all of these or, raising NotPublishable, none. The ids of those that were not published already."""
    with act(by=by, by_name=by_name) as current:
        done = []
        locked = [current.study(study_id) for study_id in sorted(set(studies))]
        waiting = [study for study in locked if study.status != Status.PUBLISHED]
        held_back = {
            passage.study_id for passage in gate.open_in(Passage.objects.filter(study__in=waiting)).only("study")
        }
        for study in waiting:
            study_id = study.study_id
            broken = find_quality_obstacle(study) if study.pk in held_back else None
            if obstacle := find_obstacle(study) or broken or find_review_obstacle(study, by):
                raise NotPublishable(study_id, obstacle)
            _change_state(current, study, "publish", reason, status=Status.PUBLISHED.value, status_reason="")
            done.append(study_id)
        return tuple(done)


def withdraw(studies: Iterable[str], *, by: User | None, by_name: str = "", reason: str) -> tuple[str, ...]:
    """Takes published studies from the public at once. The ids of those that were published."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        return _move(current, studies, "withdraw", frozenset({Status.PUBLISHED}), Status.WITHDRAWN, reason)


def retire(study_id: str, *, by: User | None, by_name: str = "", reason: str) -> None:
    """Withdraws a study whatever its status: another one has taken its place."""
    if not reason.strip():
        raise ReasonMissing
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if study.status != Status.WITHDRAWN:
            _change_state(current, study, "withdraw", reason, status=Status.WITHDRAWN.value, status_reason=reason)


def set_notice(
    studies: Iterable[str], notice: Notice | str, *, reason: str, by: User | None, by_name: str = ""
) -> tuple[str, ...]:
    """Marks studies as corrected, of concern or retracted, or takes the mark away. The ids of those that it changed."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    notice = Notice(notice)
    with act(by=by, by_name=by_name) as current:
        done = []
        for study_id in sorted(set(studies)):
            study = current.study(study_id)
            kept = "" if notice is Notice.NONE else reason
            if (study.notice, study.notice_reason) == (notice, kept):
                continue
            _change_state(current, study, "set_notice", reason, notice=notice.value, notice_reason=kept)
            done.append(study_id)
        return tuple(done)


def apply_retractions(matches: Iterable[Match], *, by: User | None, by_name: str = "") -> tuple[str, ...]:
    """Sets the notices of a retraction list, in one act. The ids of the studies that it changed."""
    with act(by=by, by_name=by_name) as current:
        done: list[str] = []
        for match in matches:
            reason = match.entry.reason or "Named in a retraction list."
            if not is_news(current.study(match.study_id).notice, match.entry):
                continue  # marked already, perhaps with a better reason, or by a graver notice
            done += set_notice([match.study_id], match.entry.notice, reason=reason, by=by, by_name=by_name)
        return tuple(done)


def _change_state(current: Act, study: Study, action: str, reason: str, **values: str) -> None:
    changes = rows.change(study, values)
    study.state_changed_at = current.at
    study.save()
    current.touch(study, is_content=False)
    current.record(action, study=study.study_id, reason=reason, changes=changes)


def delete_study(study_id: str, *, by: User | None, by_name: str = "") -> None:
    """Deletes a study that the public does not see, with its passages, and its words from the history."""
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
