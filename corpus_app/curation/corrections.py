"""Correction and waiver of text faults."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User

from corpus_app import quality
from corpus_app.curation import gate, rows, studies
from corpus_app.curation.acts import CurationError, ReasonMissing, act
from corpus_app.curation.gate import CheckedFault
from corpus_app.models import Passage, QualityWaiver


class FaultGone(CurationError):
    """A fault that the passage's current text does not have."""

    def __init__(self) -> None:
        super().__init__("The passage has changed since: look at what the gate finds in it now.")


def apply_corrections(passage_id: int, keys: Iterable[str], *, by: User | None, by_name: str = "") -> Passage:
    """Apply the proposed corrections of these faults in one edit. Raises FaultGone."""
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        chosen = [_find(passage, key).fault for key in dict.fromkeys(keys)]
        text = quality.apply_mends(passage.text, chosen)
        return studies.revise_passage(passage_id, by=by, by_name=by_name, text=text)


def correct_study(study_id: str, *, by: User | None, by_name: str = "") -> int:
    """Apply every proposed correction in a study, except to waived faults; return how many passages changed."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        changed = 0
        for pk, found in gate.faults_of(Passage.objects.filter(study=study)).items():
            keys = [checked.key for checked in found if checked.fault.mend is not None and not checked.waived]
            if keys:
                apply_corrections(pk, keys, by=by, by_name=by_name)
                changed += 1
        return changed


def waive(passage_id: int, key: str, *, reason: str, by: User | None, by_name: str = "") -> QualityWaiver:
    """Waive a fault until the passage's text changes. Raises FaultGone, ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        fault = _find(passage, key).fault
        return current.waive(passage.study, passage.pk, fault, key, reason=reason.strip())


def _find(passage: Passage, key: str) -> CheckedFault:
    found = gate.faults_of(Passage.objects.filter(pk=passage.pk)).get(passage.pk, ())
    for checked in found:
        if checked.key == key:
            return checked
    raise FaultGone
