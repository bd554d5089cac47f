"""What the text-quality gate found, put right or let stand with a reason."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User

from corpus_app import quality
from corpus_app.curation import gate, rows, studies
from corpus_app.curation.acts import CurationError, ReasonMissing, act
from corpus_app.curation.gate import Held
from corpus_app.models import Passage, QualityWaiver


class FindingGone(CurationError):
    """The words have changed since the finding was shown, or it was never there."""

    def __init__(self) -> None:
        super().__init__("The passage has changed since: look at what the gate finds in it now.")


def mend(passage_id: int, keys: Iterable[str], *, by: User | None, by_name: str = "") -> Passage:
    """Puts the proposed mends of these findings into the text, as one edit. Raises FindingGone."""
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        chosen = [_find(passage, key).finding for key in dict.fromkeys(keys)]
        text = quality.mended(passage.text, chosen)
        return studies.revise_passage(passage_id, by=by, by_name=by_name, text=text)


def mend_study(study_id: str, *, by: User | None, by_name: str = "") -> int:
    """Puts every proposed mend of a study's passages in, but for findings that are waived. How many passages that changed."""
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        changed = 0
        for pk, found in gate.findings_of(Passage.objects.filter(study=study)).items():
            keys = [held.key for held in found if held.finding.mend is not None and not held.waived]
            if keys:
                mend(pk, keys, by=by, by_name=by_name)
                changed += 1
        return changed


def waive(passage_id: int, key: str, *, reason: str, by: User | None, by_name: str = "") -> QualityWaiver:
    """Lets a finding stand, with the reason, until the passage's words change. Raises FindingGone, ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    rows.check_texts({"reason": reason})
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        finding = _find(passage, key).finding
        return current.waive(passage.study, passage.pk, finding, key, reason=reason.strip())


def _find(passage: Passage, key: str) -> Held:
    found = gate.findings_of(Passage.objects.filter(pk=passage.pk)).get(passage.pk, ())
    for held in found:
        if held.key == key:
            return held
    raise FindingGone
