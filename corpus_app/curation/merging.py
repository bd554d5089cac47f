"""Merging of duplicate studies: chosen fields and passages move to one study, and the other is withdrawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from django.contrib.auth.models import User

from corpus_app.curation import gate, rows, studies
from corpus_app.curation.acts import CurationError, ReasonMissing, act
from corpus_app.curation.exporting import draft_of
from corpus_app.models import Passage, Study
from corpus_app.records import Notice, Status, question_lines
from corpus_app.sources import FindingDraft

_LISTS = frozenset({"concepts", "findings"})
TAKEABLE = frozenset(studies.EDITABLE) - {"status_reason", "source_ref", "derived_numbers"} | _LISTS


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

    Concepts and findings are added to the present ones. Raises CannotMerge and other CurationErrors.
    """
    if not reason.strip():
        raise ReasonMissing
    if keep == other:
        raise CannotMerge("A study is not merged with itself.")
    if unknown := set(take) - TAKEABLE:
        raise TypeError(f"Not a field that can be taken: {', '.join(sorted(unknown))}")
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        # Rows are locked in the order of their ids, like everywhere, so that two writers cannot deadlock.
        both = {study_id: current.study(study_id) for study_id in sorted((keep, other))}
        target, source = both[keep], both[other]
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
        why = f"Merged into {keep}. {reason.strip()}"
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
