"""Merging of duplicate studies: chosen fields and passages move to one study, and the other is withdrawn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db.models import Count

from corpus_app.curation import gate, rows, studies
from corpus_app.curation.acts import CurationError, ReasonMissing, act
from corpus_app.curation.changing import Planned
from corpus_app.curation.distinctions import distinct_pairs, pair_of
from corpus_app.curation.exporting import draft_of
from corpus_app.models import Passage, Study
from corpus_app.records import Notice, Status, question_lines
from corpus_app.sources import FindingDraft, differences, known_of
from corpus_app.sources.duplicates import DuplicateFinder, KnownStudy, are_twins
from corpus_app.sources.joining import join_passages

NEEDED = ("corpus_app.change_study", "corpus_app.publish_study")  # a merge withdraws the other study
_LISTS = frozenset({"concepts", "findings"})
TAKEABLE = frozenset(studies.EDITABLE) - {"status_reason", "source_ref", "derived_numbers"} | _LISTS


@dataclass(frozen=True, slots=True)
class StudyPair:
    """Two stored studies that look alike."""

    keep: KnownStudy
    other: KnownStudy
    is_sure: bool
    is_published: bool
    """Whether readers see one of them."""


class CannotMerge(CurationError):
    """A refused merge; the message says what to do first."""


def merge(
    keep: str,
    other: str,
    *,
    take: Collection[str],
    passages: Collection[int],
    reason: str,
    by: User | None,
    by_name: str = "",
) -> Study:
    """Copy the fields `take` and the passages (by key) of the study `other` into `keep`, and withdraw `other`.

    Concepts and findings are added to the present ones. Raises CannotMerge and other CurationErrors, ReasonMissing
    only where one of them is published.
    """
    if keep == other:
        raise CannotMerge("A study is not merged with itself.")
    if unknown := set(take) - TAKEABLE:
        raise TypeError(f"Not a field that can be taken: {', '.join(sorted(unknown))}")
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        # Rows are locked in the order of their ids, like everywhere, so that two writers cannot deadlock.
        both = {study_id: current.study(study_id) for study_id in sorted((keep, other))}
        target, source = both[keep], both[other]
        if not reason.strip() and Status.PUBLISHED in {target.status, source.status}:
            raise ReasonMissing
        if source.notice != Notice.NONE and source.notice != target.notice:
            raise CannotMerge(
                f"{other} carries a notice ({source.notice.replace('_', ' ')}): set that of {keep} first."
            )
        if source.status == Status.PUBLISHED and target.status != Status.PUBLISHED:
            raise CannotMerge(
                f"{other} is published and {keep} is not, so readers would lose both: "
                f"merge {keep} into {other}, or publish {keep} first."
            )
        chosen = list(Passage.objects.filter(study=source, pk__in=list(passages)).order_by("position"))
        present = set(target.passages.values_list("text", flat=True))
        new = [passage for passage in chosen if passage.text not in present]
        if target.status == Status.PUBLISHED and gate.count_blocking(passage.text for passage in new):
            raise CannotMerge(f"{keep} is published, and a passage of {other} looks broken: mend it first.")
        values = {name: getattr(source, name) for name in take if name not in _LISTS}
        if "asked_as" in values:
            values["asked_as"] = _merge_questions(target.asked_as, source.asked_as)
        if "labels" in values:
            values["labels"] = studies.merge_labels(target.labels, source.labels)
        moved = {name: None for name in ("doi", "pmid") if values.get(name)}
        if moved:  # both columns are unique
            studies.revise_study(other, by=by, by_name=by_name, **moved)
        if values:
            studies.revise_study(keep, by=by, by_name=by_name, **values)
        target_draft, source_draft = draft_of(target), draft_of(source)
        if "concepts" in take:
            studies.set_concepts(keep, [*target_draft.concepts, *source_draft.concepts], by=by, by_name=by_name)
        if "findings" in take:
            studies.set_findings(
                keep, _merge_findings(target_draft.findings, source_draft.findings), by=by, by_name=by_name
            )
        for passage in new:
            fields = {name: getattr(passage, name) for name in (*studies.PASSAGE_FIELDS, *studies.PASSAGE_ORIGIN)}
            studies.add_passage(keep, by=by, by_name=by_name, **fields)
        why = f"Merged into {keep}. {reason}".strip()
        studies.retire(other, by=by, by_name=by_name, reason=why)
        current.record("merge_study", study=keep, reason=reason.strip(), other=other, took=sorted(take), added=len(new))
        return Study.objects.get(study_id=keep)


def _merge_findings(ours: Sequence[FindingDraft], theirs: Sequence[FindingDraft]) -> list[FindingDraft]:
    """Merge equal findings, with the questions of both."""
    merged = {finding.said: finding for finding in ours}
    for finding in theirs:
        known = merged.get(finding.said, finding)
        merged[finding.said] = replace(
            known,
            plain=known.plain or finding.plain,
            lean=known.lean or finding.lean,
            effect=known.effect or finding.effect,
            asked_as=_merge_questions(known.asked_as or "", finding.asked_as or ""),
        )
    return list(merged.values())


def _merge_questions(ours: str, theirs: str) -> str:
    return "\n".join(dict.fromkeys(question_lines(f"{ours}\n{theirs}")))


# --- Pairs


def pairs() -> Iterator[StudyPair]:
    """Yield each pair of alike studies once, except those told apart. Withdrawn and archived studies are left out."""
    columns = ("study_id", "title", "year", "authors", "doi", "pmid")
    stored = Study.objects.exclude(status__in=[Status.WITHDRAWN, Status.ARCHIVED]).values_list(*columns)
    known = {
        key: KnownStudy(key, title, year, names[0] if names else "", doi or "", pmid or "")
        for key, title, year, names, doi, pmid in stored
    }
    finder, distinct = DuplicateFinder(known.values()), distinct_pairs()
    found = {pair_of(pair.new, pair.known): None for study in known.values() for pair in finder.find(study)}
    weights = _weights({key for pair in found for key in pair})
    for pair in found:
        if pair not in distinct:
            keep, other = order_by_loss(*pair, weights=weights)
            is_published = any(not weights[key][0] for key in pair)
            yield StudyPair(known[keep], known[other], are_twins(known[keep], known[other]), is_published)


def order_by_loss(one: str, two: str, *, weights: Mapping[str, tuple[int, ...]] | None = None) -> tuple[str, str]:
    """Return the study to keep, then the other: published before unpublished, then by passages, then by age."""
    found = _weights({one, two}) if weights is None else weights
    keep, other = sorted((one, two), key=lambda key: (found[key], key))
    return keep, other


def _weights(keys: set[str]) -> dict[str, tuple[int, ...]]:
    counted = Study.objects.filter(study_id__in=keys).annotate(n=Count("passages"))
    return {
        study_id: (status != Status.PUBLISHED, -n, pk)
        for study_id, status, n, pk in counted.values_list("study_id", "status", "n", "pk")
    }


def merge_pair(keep: str, other: str, *, reason: str, by: User | None, by_name: str = "") -> Study:
    """Merge two studies, taking what the first lacks: empty fields, passages, concepts, findings and labels."""
    with act(by=by, by_name=by_name) as current:
        both = {study_id: current.study(study_id) for study_id in sorted((keep, other))}
        ours, theirs = draft_of(both[keep]), draft_of(both[other])
        empty = ("", (), None, "not_reported", "other")
        take = {
            name
            for name, here, there in differences(ours, theirs)
            if name in TAKEABLE and there not in empty and (here in empty or name in _LISTS | {"labels"})
        }
        added = {passage.text for passage in join_passages(ours.passages, theirs.passages)[len(ours.passages) :]}
        passages = Passage.objects.filter(study=both[other], text__in=added).values_list("pk", flat=True)
        return merge(keep, other, take=take, passages=list(passages), reason=reason, by=by, by_name=by_name)


# --- Many at once


def check_may_merge(by: User | None) -> None:
    """Raise CurationError where somebody may not merge studies; commands may."""
    if by is not None and not by.has_perms(NEEDED):
        raise CurationError("This takes the permissions to change and to publish studies, which you do not have.")


def find_sure_merges() -> dict[str, str]:
    """Return which studies are surely the same as another, which is to be kept: its id by theirs.

    Of three equal ones, two are merged into the best. None is both merged and kept.
    """
    sure = [pair for pair in pairs() if pair.is_sure]
    others = {pair.other.study_id for pair in sure}
    merges: dict[str, str] = {}
    kept: set[str] = set()
    for pair in sorted(sure, key=lambda pair: pair.keep.study_id in others):
        keep, other = pair.keep.study_id, pair.other.study_id
        if other not in kept and keep not in merges:
            merges.setdefault(other, keep)
            kept.add(merges[other])
    return merges


def plan_merge(other: Study, keep: Study | None, *, reason: str) -> Planned:
    """Return what merging one study into another changes, or why it is refused."""
    study_id, refusal = other.study_id, ""
    if other.status == Status.WITHDRAWN:
        return Planned(study_id, other, {})
    if keep is None or keep.status == Status.WITHDRAWN:
        refusal = "the study to keep is no longer here"
    elif not are_twins(known_of(draft_of(keep)), known_of(draft_of(other))):
        refusal = "is no longer surely the same"
    elif not reason and Status.PUBLISHED in {keep.status, other.status}:
        refusal = "readers see one of the two: give a reason"
    return Planned(study_id, other, {"merged_into": ("", keep.study_id)} if keep else {}, refusal)
