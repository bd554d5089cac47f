"""Findings whose figures stand in no passage of their study."""

from __future__ import annotations

from collections.abc import Iterator

from corpus_app.figures import missing_figures
from corpus_app.models import Finding, Study


def missing_in(finding: Finding, text: str) -> tuple[str, ...]:
    """Return the figures of a finding's statement and effect that a text lacks, as written."""
    effect = finding.effect
    return missing_figures(finding.statement, text, effect=effect.figures if effect else ())


def mark_unsourced_effects(study: Study) -> Iterator[Finding]:
    """Mark the findings as unconfirmed whose effect stands in no single passage of the study; yield them."""
    rows = list(study.findings.filter(is_unconfirmed=False).exclude(effect_measure=""))
    texts = list(study.passages.values_list("text", flat=True)) if rows else []
    for finding in rows:
        figures = finding.effect.figures if finding.effect else ()
        if any(not missing_figures("", text, effect=figures) for text in texts):
            continue
        finding.is_unconfirmed = True
        finding.save(update_fields=["is_unconfirmed"])
        yield finding
