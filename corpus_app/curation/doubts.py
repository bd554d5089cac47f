"""Findings whose figures stand in no passage of their study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from corpus_app.figures import missing_figures
from corpus_app.models import Finding, Passage, Study


def missing_in(finding: Finding, text: str) -> tuple[str, ...]:
    """Return the figures of a finding's statement and effect that a text lacks, as written."""
    effect = finding.effect
    return missing_figures(finding.statement, text, effect=effect.figures if effect else ())


def mark_unsourced_effects(studies: Mapping[int, Study]) -> Iterator[Finding]:
    """Mark the findings as unconfirmed whose effect stands in no single passage of their study, by key; yield them."""
    rows = Finding.objects.filter(study__in=studies, is_unconfirmed=False).exclude(effect_measure="")
    found = list(rows.order_by("study", "position"))
    texts: dict[int, list[str]] = {finding.study_id: [] for finding in found}
    for passage in Passage.objects.filter(study__in=texts).only("study", "text"):
        texts[passage.study_id].append(passage.text)
    for finding in found:
        figures = finding.effect.figures if finding.effect else ()
        if any(not missing_figures("", text, effect=figures) for text in texts[finding.study_id]):
            continue
        finding.study = studies[finding.study_id]
        finding.is_unconfirmed = True
        finding.save(update_fields=["is_unconfirmed"])
        yield finding
