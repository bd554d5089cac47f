"""The evidence table of an answer: the findings of its studies, one a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from corpus_app import search
from corpus_app.records import Finding, Reference

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A cited study with one of its findings; None where none is recorded, or the study is retracted."""

    index: int
    """The study's citation number."""
    study: Reference
    finding: Finding | None


def rows(payload: Payload) -> tuple[EvidenceRow, ...]:
    """Return a redacted answer's public studies with their present findings, in the order of citation."""
    index_of = {c["study_id"]: c["index"] for c in payload["citations"] if c["status"] != "withdrawn"}
    found: dict[str, list[Finding]] = {}
    for finding in search.findings(list(index_of)):
        found.setdefault(finding.study_id, []).append(finding)
    studies = search.references(list(index_of))
    return tuple(
        EvidenceRow(index_of[study.study_id], study, finding)
        for study in studies
        for finding in found.get(study.study_id) or (None,)
    )


COLUMNS = (
    "number", "study_id", "title", "authors", "year", "journal", "design", "population", "participants",
    "included_studies",
    "intervention", "comparator", "outcome", "finding", "direction", "notice", "doi", "url",
)  # fmt: skip


OF_PEOPLE = frozenset({"population", "participants"})


def to_csv(table: Iterable[EvidenceRow]) -> bytes:
    """Return the table as CSV, without columns on people where the corpus declares no facet of theirs."""
    left_out = frozenset() if search.site().is_about_people else OF_PEOPLE
    kept = [place for place, name in enumerate(COLUMNS) if name not in left_out]
    rows = ([cells[place] for place in kept] for cells in map(_cells, table))
    return search.spreadsheet([COLUMNS[place] for place in kept], rows)


def _cells(row: EvidenceRow) -> list[Any]:
    study, finding = row.study, row.finding
    found = (
        ("", "", "", "", "")
        if finding is None
        else (finding.intervention, finding.comparator, finding.outcome, finding.statement, finding.direction)
    )
    return [
        row.index, study.study_id, study.title, study.authors, study.year, study.journal, study.design,
        study.population, study.participants, study.included_studies,
        *found, study.notice, study.doi, study.url,
    ]  # fmt: skip
