"""The context of an answer: agreement of its studies, a timeline, topics and similar questions.

Findings come from the stored answer, study details from the present corpus. Withdrawn studies appear in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_app import search
from corpus_app.records import Direction, Finding, Reference
from qa_app.answers import listed
from qa_app.answers.forest import Forest, draw_forest
from qa_app.answers.listed import ListedQuestion
from qa_app.answers.meter import STANCES, Meter, draw_meter

Payload = Mapping[str, Any]

LINE_WIDTH, LINE_MARGIN, LINE_FOOT = 340, 18, 24  # of the timeline, in pixels
DOT, DOT_PITCH = 7, 18
MIN_YEARS = 2  # studies of one year make no line


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A row of the findings table."""

    study: Reference
    index: int | None
    """The study's citation number; None for a study that is evidence only."""
    finding_id: int
    statement: str
    outcome: str
    """The measured outcome; empty where the table covers one outcome."""
    direction: str
    """One of STANCES on the matter of the meter, as seen from its intervention; elsewhere the finding's direction."""
    favoured: str = ""
    """The side that a finding off the meter's matter favours, in words."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A study on the timeline."""

    study: Reference
    index: int | None
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The studies by year, one dot each, stacked where years are close."""

    dots: tuple[Dot, ...]
    ticks: tuple[tuple[int, float], ...]
    """Years along the axis with their x positions."""
    years: tuple[tuple[int, tuple[Dot, ...]], ...]
    """Dots by year, newest first."""
    width: int
    height: int
    floor: int


@dataclass(frozen=True, slots=True)
class Topic:
    """A related concept."""

    concept_id: str
    name: str
    has_page: bool


@dataclass(frozen=True, slots=True)
class AnswerOverview:
    """The context of an answer."""

    rows: tuple[FindingRow, ...]
    meter: Meter | None
    forest: Forest | None
    timeline: Timeline | None
    topics: tuple[Topic, ...]
    names: Mapping[str, tuple[str, ...]]
    """All names of each concept that the answer defines."""
    titles: Mapping[str, str]
    """Titles of the public studies whose passages were left out."""
    questions: tuple[ListedQuestion, ...] = ()
    """Similar questions on the public list."""


def build_overview(payload: Payload) -> AnswerOverview:
    """Return the overview of a redacted answer."""
    with search.snapshot():
        cited = {row["study_id"]: row["index"] for row in payload["citations"] if row["status"] != "withdrawn"}
        shown = list(dict.fromkeys((*cited, *(row["study_id"] for row in payload["evidence"]))))
        counted = [row["study_id"] for row, _ in _stored_findings(payload)]
        left_out = [row.get("study_id") for row in payload["left_out"]]
        known = {
            study.study_id: study
            for study in search.references(list(dict.fromkeys([*shown, *counted, *filter(None, left_out)])))
        }
        studies = [known[study_id] for study_id in shown if study_id in known]
        meter = draw_meter(payload, cited, known)
        stored = _stored_findings(payload) if meter else []
        found = search.findings(
            sorted({row["study_id"] for row, _ in stored} & known.keys()) if stored else list(cited)
        )
        return AnswerOverview(
            rows=tuple(_rows(stored, found, cited, known)),
            meter=meter,
            forest=draw_forest(payload, cited, known, found) if meter else None,
            timeline=draw_timeline([(study, cited.get(study.study_id)) for study in studies]),
            topics=tuple(_topics(payload)),
            names=_names_of_terms(payload),
            titles={study_id: known[study_id].title for study_id in left_out if study_id in known},
            questions=listed.similar_to(payload),
        )


# --- What the studies found ---


def _rows(
    stored: Sequence[tuple[Payload, str]],
    found: Sequence[Finding],
    cited: Mapping[str, int],
    known: Mapping[str, Reference],
) -> Iterator[FindingRow]:
    """Yield the stored findings, on the matter of the meter; without any, the findings found of the cited studies."""
    for row, stance in stored:
        if study := known.get(row["study_id"]):
            stance_of_it = row.get("stance", stance)
            yield FindingRow(study, cited.get(study.study_id), row["finding_id"], row["statement"], "", stance_of_it)
    for finding in found if not stored else ():
        if study := known.get(finding.study_id):
            sides = {
                Direction.FAVOURS_INTERVENTION: finding.intervention, Direction.FAVOURS_COMPARATOR: finding.comparator
            }  # fmt: skip
            yield FindingRow(
                study,
                cited[study.study_id],
                finding.finding_id,
                finding.statement,
                finding.outcome,
                finding.direction.value,
                sides.get(finding.direction, ""),
            )


def _stored_findings(payload: Payload) -> list[tuple[Payload, str]]:
    """Return the findings of the answer's agreement with the stances of their studies, the cited ones first."""
    agreement = payload.get("agreement") or {}
    rows = [(row, stance) for stance in STANCES for row in agreement.get(stance) or ()]
    cited = {row["study_id"] for row in payload["citations"]}
    return sorted(rows, key=lambda row: row[0]["study_id"] not in cited)


# --- By year ---


def draw_timeline(studies: Iterable[tuple[Reference, int | None]]) -> Timeline | None:
    """Return the timeline; None where fewer than two years are known."""
    dated = sorted(
        ((study, index) for study, index in studies if study.year is not None),
        key=lambda row: (row[0].year, row[1] is None, row[1] or 0, row[0].study_id),
    )
    years = [study.year for study, _ in dated if study.year is not None]
    if len(set(years)) < MIN_YEARS:
        return None
    first, last = years[0], years[-1]
    places = [LINE_MARGIN + (LINE_WIDTH - 2 * LINE_MARGIN) * (year - first) / (last - first) for year in years]
    levels = _levels(places)
    floor = (max(levels) + 1) * DOT_PITCH + 4
    dots = tuple(
        Dot(study, index, round(x, 1), floor - DOT - 3 - level * DOT_PITCH)
        for (study, index), x, level in zip(dated, places, levels, strict=True)
    )
    by_year: dict[int, list[Dot]] = {}
    for year, dot in zip(years, dots, strict=True):
        by_year.setdefault(year, []).append(dot)
    return Timeline(
        dots=dots,
        ticks=_ticks(first, last),
        years=tuple((year, tuple(by_year[year])) for year in sorted(by_year, reverse=True)),
        width=LINE_WIDTH,
        height=floor + LINE_FOOT,
        floor=floor,
    )


def _levels(places: Sequence[float]) -> list[int]:
    """Return for each x position, in ascending order, the lowest level on which its dot fits."""
    ends: list[float] = []
    levels = []
    for x in places:
        level = next((n for n, end in enumerate(ends) if x - end >= DOT_PITCH), len(ends))
        ends[level : level + 1] = [x]
        levels.append(level)
    return levels


def _ticks(first: int, last: int) -> tuple[tuple[int, float], ...]:
    """Return the first and the last year, and round years between them, with their x positions."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10_000) if (last - first) / step <= 5)
    inner = [
        year for year in range(first - first % step + step, last, step) if min(year - first, last - year) * 2 >= step
    ]
    scale = (LINE_WIDTH - 2 * LINE_MARGIN) / (last - first)
    return tuple((year, round(LINE_MARGIN + (year - first) * scale, 1)) for year in (first, *inner, last))


# --- Topics and terms ---


def _topics(payload: Payload) -> Iterator[Topic]:
    known = search.topic_ids() if payload["related_topics"] else frozenset()
    for row in payload["related_topics"]:
        yield Topic(row["id"], row["name"], row["id"] in known)


def _names_of_terms(payload: Payload) -> dict[str, tuple[str, ...]]:
    explained = {row["id"] for row in payload.get("definitions") or ()}
    if not explained:
        return {}
    return {c.concept_id: (c.name, *c.aliases) for c in search.concepts() if c.concept_id in explained}
