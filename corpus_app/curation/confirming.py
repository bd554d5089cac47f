"""Confirm findings by the words of a passage in which their figures stand."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User

from corpus_app.curation import doubts
from corpus_app.curation.acts import CurationError, act
from corpus_app.models import Finding


def confirm_finding(finding_id: int, *, passage_id: int, words: str, by: User | None, by_name: str = "") -> Finding:
    """Take the mark `unconfirmed` from a finding whose figures stand in these words of a passage.

    Raises CurationError when the words are not in the passage, or lack a figure of the finding.
    """
    with act(by=by, by_name=by_name) as current:
        passage = current.passage(passage_id)
        finding = Finding.objects.filter(pk=finding_id, study=passage.study).first()
        if finding is None:
            raise CurationError("The passage belongs to another study, or the finding is gone: look again.")
        quoted = " ".join(words.split())
        if not quoted or quoted not in " ".join(passage.text.split()):
            raise CurationError("Choose words that stand in the passage, as they stand there.")
        if missing := doubts.missing_in(finding, quoted):
            raise CurationError(
                f"These words do not hold {_listed(missing)}. Choose words in which every figure of the finding "
                "stands, add a passage that has them, or correct the finding."
            )
        if finding.is_unconfirmed:
            finding.is_unconfirmed = False
            finding.save(update_fields=["is_unconfirmed"])
            current.touch(passage.study)
            changes = {"is_unconfirmed": {"before": True, "after": False}, "source": {"before": "", "after": quoted}}
            current.record(
                "confirm_finding", study=passage.study.study_id, passage=passage.pk, entry=str(finding),
                model="finding", key=str(finding.pk), changes=changes,
            )  # fmt: skip
        return finding


def _listed(figures: Iterable[str]) -> str:
    return ", ".join(figures)
