"""The context of an answer: agreement of its studies, a timeline, topics and similar questions.

Findings come from the stored answer, study details from the present corpus. Withdrawn studies appear in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_app import search
from corpus_app.records import Design, Notice, Reference
from qa_app.answers import listed
from qa_app.answers.listed import ListedQuestion

Payload = Mapping[str, Any]

STANCES = ("favours", "no_difference", "against", "unclear")
REVIEWS = frozenset(
    {
        Design.META_ANALYSIS,
        Design.SYSTEMATIC_REVIEW,
        Design.UMBRELLA_REVIEW,
        Design.SCOPING_REVIEW,
        Design.NARRATIVE_REVIEW,
    }
)
TRIALS = frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL, Design.CROSSOVER_TRIAL, Design.NONRANDOMIZED_TRIAL})
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
    """The finding's direction; if the finding was deleted, the stance stored in the answer (one of STANCES)."""
    is_stance: bool
    """Whether `direction` is the stored stance."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A study in the agreement chart."""

    study: Reference
    index: int | None
    shape: str
    """`review`, `trial` or `other`."""
    finding_id: int
    sentence: tuple[str, int] | None
    """Part and number of the first sentence that cites the study."""


@dataclass(frozen=True, slots=True)
class StanceGroup:
    """The studies of one stance."""

    stance: str
    marks: tuple[Mark, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A population whose studies disagree with those of another."""

    population: str
    sides: tuple[StanceGroup, ...]


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """The agreement of the studies on the outcome asked about; each study counts once."""

    outcome: str
    subject: str
    """The intervention whose benefit or harm is meant; empty where the answer names none."""
    sides: tuple[StanceGroup, ...]
    splits: tuple[Split, ...]
    retracted: int
    """Number of studies that were counted and have been retracted since."""


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
class Overview:
    """The context of an answer."""

    rows: tuple[FindingRow, ...]
    agreement: StudyAgreement | None
    timeline: Timeline | None
    topics: tuple[Topic, ...]
    names: Mapping[str, tuple[str, ...]]
    """All names of each concept that the answer defines."""
    titles: Mapping[str, str]
    """Titles of the public studies whose passages were left out."""
    questions: tuple[ListedQuestion, ...] = ()
    """Similar questions on the public list."""


def build_overview(payload: Payload) -> Overview:
    """Return the overview of a redacted answer."""
    with search.snapshot():
        cited = {row["study_id"]: row["index"] for row in payload["citations"] if row["status"] != "withdrawn"}
        shown = list(dict.fromkeys((*cited, *(row["study_id"] for row in payload["evidence"]))))
        left_out = [row.get("study_id") for row in payload["left_out"]]
        known = {study.study_id: study for study in search.references([*shown, *filter(None, left_out)])}
        studies = [known[study_id] for study_id in shown if study_id in known]
        return Overview(
            rows=tuple(_rows(payload, cited, known)),
            agreement=_build_agreement(payload, cited, known),
            timeline=draw_timeline([(study, cited.get(study.study_id)) for study in studies]),
            topics=tuple(_topics(payload)),
            names=_names_of_terms(payload),
            titles={study_id: known[study_id].title for study_id in left_out if study_id in known},
            questions=listed.similar_to(payload),
        )


# --- What the studies found ---


def _rows(payload: Payload, cited: Mapping[str, int], known: Mapping[str, Reference]) -> Iterator[FindingRow]:
    """Yield the findings on the outcome asked about; without any, all findings of the cited studies."""
    agreement = payload.get("agreement")
    stored = [(row, stance) for stance in STANCES for row in agreement.get(stance) or ()] if agreement else []
    found = search.findings(sorted({row["study_id"] for row, _ in stored} & known.keys()) if stored else list(cited))
    own = {finding.finding_id: finding.direction.value for finding in found}
    for row, stance in stored:
        if study := known.get(row["study_id"]):
            number = row["finding_id"]
            direction = own.get(number, stance)
            yield FindingRow(
                study, cited.get(study.study_id), number, row["statement"], "", direction, number not in own
            )
    if stored:
        return
    for finding in found:
        if study := known.get(finding.study_id):
            yield FindingRow(
                study,
                cited[study.study_id],
                finding.finding_id,
                finding.statement,
                finding.outcome,
                finding.direction.value,
                False,
            )


def _build_agreement(
    payload: Payload, cited: Mapping[str, int], known: Mapping[str, Reference]
) -> StudyAgreement | None:
    agreement = payload.get("agreement")
    if not agreement:
        return None
    counted = {study_id: study for study_id, study in known.items() if study.notice is not Notice.RETRACTED}
    sentences = _sentences(payload)
    sides = tuple(_stance_groups(agreement, cited, counted, sentences))
    if not sides:
        return None
    gone = {
        row["study_id"] for stance in STANCES for row in agreement.get(stance) or ()
    } & known.keys() - counted.keys()
    splits = (
        Split(split["population"], tuple(_stance_groups(split, cited, counted, sentences)))
        for split in agreement.get("by_population") or ()
    )
    return StudyAgreement(
        outcome=agreement.get("outcome_name") or "",
        subject=_subject(agreement) if {"favours", "against"} & {side.stance for side in sides} else "",
        sides=sides,
        splits=tuple(split for split in splits if split.sides),
        retracted=len(gone),
    )


def _subject(agreement: Payload) -> str:
    concept_id = agreement.get("subject_concept")
    return next((concept.name for concept in search.concepts() if concept.concept_id == concept_id), "")


def _stance_groups(
    stances: Payload,
    cited: Mapping[str, int],
    counted: Mapping[str, Reference],
    sentences: Mapping[int, tuple[str, int]],
) -> Iterator[StanceGroup]:
    for stance in STANCES:
        rows = [row for row in stances.get(stance) or () if row["study_id"] in counted]
        first = {row["study_id"]: row["finding_id"] for row in reversed(rows)}
        marks = [
            Mark(
                study=(study := counted[study_id]),
                index=(index := cited.get(study_id)),
                shape="review" if study.design in REVIEWS else "trial" if study.design in TRIALS else "other",
                finding_id=finding_id,
                sentence=None if index is None else sentences.get(index),
            )
            for study_id, finding_id in first.items()
        ]
        if marks:
            ordered = sorted(marks, key=lambda mark: (mark.index is None, mark.index or 0, mark.study.study_id))
            yield StanceGroup(stance, tuple(ordered), tuple(row["statement"] for row in rows))


def _sentences(payload: Payload) -> dict[int, tuple[str, int]]:
    """Map citation numbers to the first sentence that cites them and was not withdrawn."""
    found: dict[int, tuple[str, int]] = {}
    for part in ("summary", "answer"):
        for number, row in enumerate(payload[part]["sentences"], start=1):
            for index in row["citations"] if row["support"] else ():
                found.setdefault(index, (part, number))
    return found


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
