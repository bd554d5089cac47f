"""Parse a study file into a draft."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from common.dois import normal_doi
from corpus_app.records import (
    LABEL_LETTERS,
    ORDINARY_KINDS,
    QUESTION_LETTERS,
    AgeGroup,
    CitedWork,
    Design,
    Direction,
    Lean,
    Notice,
    PassageKind,
    Section,
    Sex,
    Status,
    TrainingStatus,
)
from corpus_app.sources.appraisals import read_bias, read_effect
from corpus_app.sources.drafts import FindingDraft, PassageDraft, Problem, StudyDraft
from corpus_app.sources.fields import Fields, read_facets
from corpus_app.sources.files import Refused, line_numbers, line_of, read_object
from corpus_app.sources.headings import section_of
from corpus_app.sources.layout import (
    CITED_KEYS,
    CITED_REQUIRED,
    DURATION_KEYS,
    FINDING_KEYS,
    FINDING_REQUIRED,
    PASSAGE_KEYS,
    PASSAGE_REQUIRED,
    POPULATION_KEYS,
    REQUIRED_KEYS,
    STUDY_KEYS,
)
from corpus_app.sources.values import (
    SLUG,
    STUDY_ID,
    doi_fault,
    kind_of,
    pmid_fault,
    shown,
    text_fault,
    url_fault,
)

YEARS = (1800, 2100)


def read_study(path: Path, name: str) -> tuple[StudyDraft | None, list[Problem]]:
    try:
        text, values = read_object(path)
    except Refused as refused:
        return None, [Problem(name, refused.line, "", refused.reason)]
    draft, notes = study_from(values)
    if draft is not None and draft.status is Status.PUBLISHED and not draft.passages:
        draft, notes = None, [("passages", "is empty; a published source has at least one passage.")]
    if draft is None:
        lines = line_numbers(text)
        return None, [Problem(name, line_of(place, lines), place, reason) for place, reason in notes]
    return replace(draft, origin=name), []


def study_from(values: Mapping[str, Any]) -> tuple[StudyDraft | None, list[tuple[str, str]]]:
    """Return the draft from the keys of a study file, or None, and the problems by key."""
    notes: list[tuple[str, str]] = []
    study = Fields(values, "", notes)
    study.check_keys(STUDY_KEYS, REQUIRED_KEYS)
    population = study.inner("population", POPULATION_KEYS)
    weeks = study.inner("duration_weeks", DURATION_KEYS)
    draft = StudyDraft(
        study_id=_study_id(study),
        title=study.line("title", limit=1000, required=True),
        authors=_authors(study),
        year=study.integer("year", low=YEARS[0], high=YEARS[1]),
        journal=study.line("journal", limit=500).strip() or None,
        doi=_doi(study),
        pmid=_pmid(study),
        url=_url(study),
        design=slug(study, "design", limit=40) or Design.OTHER.value,
        peer_reviewed=study.flag("peer_reviewed"),
        collection=slug(study, "collection", limit=60),
        population=population.text("description"),
        training_status=population.choice("training_status", TrainingStatus, TrainingStatus.NOT_REPORTED),
        age_group=population.choice("age_group", AgeGroup, AgeGroup.NOT_REPORTED),
        sex=population.choice("sex", Sex, Sex.NOT_REPORTED),
        facets=read_facets(study),
        n_studies=study.integer("n_studies"),
        n_participants=study.integer("n_participants"),
        duration_weeks_min=weeks.number("min"),
        duration_weeks_max=weeks.number("max"),
        concepts=study.lines("concepts", limit=80, pattern=SLUG),
        takeaway=study.text("takeaway"),
        asked_as=_questions(study),
        findings=tuple(_finding(found) for found in study.objects("findings", FINDING_KEYS, FINDING_REQUIRED)),
        risk_of_bias=read_bias(study),
        licence=study.line("licence", limit=200),
        curator_notes=study.text("curator_notes"),
        labels=study.lines("labels", limit=LABEL_LETTERS),
        status=study.choice("status", Status, Status.DRAFT),
        status_reason=study.text("status_reason"),
        notice=study.choice("notice", Notice, Notice.NONE),
        notice_reason=study.text("notice_reason"),
        derived_numbers=_derived_numbers(study),
        passages=tuple(_passage(found) for found in study.objects("passages", PASSAGE_KEYS, PASSAGE_REQUIRED)),
        source_ref=study.integer("source_ref"),
        empty_keys=tuple(_empty_keys(values)),
    )
    _check_together(study, draft)
    return (None, notes) if notes else (draft, [])


def _section(found: Fields) -> tuple[Section, str]:
    """Return the section of a passage, and its own name where that is no section of a paper."""
    name = found.line("section", limit=200, required=True)
    if name in frozenset(Section):
        return Section(name), ""
    return section_of(name) or Section.RESULTS, name


def _finding(found: Fields) -> FindingDraft:
    return FindingDraft(
        intervention=found.text("intervention", required=True),
        comparator=found.text("comparator"),
        outcome=found.text("outcome", required=True),
        direction=found.choice("direction", Direction, Direction.UNCLEAR),
        statement=found.text("statement", required=True),
        asked_as=_questions(found),
        plain=found.text("plain") if "plain" in found.values else None,
        lean=found.choice("lean", Lean, Lean.UNCLEAR) if found.values.get("lean") is not None else None,
        is_unconfirmed=found.flag("unconfirmed") if "unconfirmed" in found.values else None,
        effect=read_effect(found),
        is_without_effect="effect" in found.values and found.values["effect"] is None,
    )


def _questions(found: Fields) -> str | None:
    return "\n".join(found.lines("asked_as", limit=QUESTION_LETTERS)) if "asked_as" in found.values else None


def _passage(found: Fields) -> PassageDraft:
    section, own_name = _section(found)
    return PassageDraft(
        section=section,
        text=found.text("text", required=True),
        page=found.integer("page"),
        kind=_kind(found),
        heading=found.line("heading", limit=1000) or own_name,
        asked_as=_questions(found),
        cited=tuple(map(_cited_work, found.objects("cites", CITED_KEYS, CITED_REQUIRED))),
    )


def _cited_work(found: Fields) -> CitedWork:
    return CitedWork(
        at=found.integer("at") or 0,
        reference=found.line("reference", limit=200, required=True),
        label=found.line("label", limit=200),
        doi=found.line("doi", limit=255),
        pmid=found.line("pmid", limit=20),
    )


def _kind(found: Fields) -> PassageKind:
    kind = found.choice("kind", PassageKind, PassageKind.SUMMARY)
    if kind not in ORDINARY_KINDS:
        found.note("kind", f"is {kind}; write the sentence as its finding’s plain, or as the source’s takeaway.")
    return kind


def _study_id(study: Fields) -> str:
    value = study.line("study_id", limit=40, required=True)
    if value.strip() and not STUDY_ID.fullmatch(value):
        study.note("study_id", f"is {shown(value)}; use letters, digits, dot, dash and underscore only.")
    return value


def slug(found: Fields, key: str, *, limit: int) -> str:
    value = found.line(key, limit=limit, required=True)
    if value.strip() and not SLUG.fullmatch(value):
        found.note(key, f"is {shown(value)}; an id has letters, digits and dashes only.")
    return value


def _authors(study: Fields) -> tuple[str, ...]:
    authors = study.lines("authors", limit=200)
    for author in authors:
        if ";" in author:
            study.note("authors", f"{shown(author)} holds a semicolon; give each author an entry.")
    return authors


def _doi(study: Fields) -> str | None:
    doi = normal_doi(study.line("doi", limit=300))
    if doi and (fault := doi_fault(doi)):
        study.note("doi", fault)
    return doi or None


def _pmid(study: Fields) -> str | None:
    pmid = study.line("pmid", limit=20).strip()
    if pmid and (fault := pmid_fault(pmid)):
        study.note("pmid", fault)
    return pmid or None


def _url(study: Fields) -> str | None:
    url = study.line("url", limit=1000).strip()
    if url and (fault := url_fault(url)):
        study.note("url", fault)
    return url or None


def _derived_numbers(study: Fields) -> tuple[int | float | str, ...]:
    numbers: list[int | float | str] = []
    for index, value in enumerate(study.array("derived_numbers")):
        place = f"derived_numbers[{index}]"
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            study.note(place, f"is {kind_of(value)}; it should be a number, or a number as text.")
        elif isinstance(value, str) and (fault := text_fault(value, limit=100, one_line=True)):
            study.note(place, fault)
        else:
            numbers.append(value)
    return tuple(numbers)


def _empty_keys(values: Mapping[str, Any]) -> Iterator[str]:
    weeks = values.get("duration_weeks")
    inner = {f"duration_weeks.{key}": value for key, value in weeks.items()} if isinstance(weeks, dict) else {}
    for key, value in [*values.items(), *inner.items()]:
        if value is None or value in ("", [], {}):
            yield f"{key}={json.dumps(value)}"


def _check_together(study: Fields, draft: StudyDraft) -> None:
    low, high = draft.duration_weeks_min, draft.duration_weeks_max
    if low is not None and high is not None and low > high:
        study.note("duration_weeks", f"the shortest, {low}, is longer than the longest, {high}.")
    if study.values.get("status") in (Status.DRAFT, Status.WITHDRAWN) and not draft.status_reason.strip():
        study.note("status_reason", f"is missing; a {draft.status} source says why it is not published.")
    if draft.notice is not Notice.NONE and not draft.notice_reason.strip():
        study.note("notice_reason", f"is missing; the notice {draft.notice!s} needs its reason.")
