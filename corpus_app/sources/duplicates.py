"""Find studies that may be the same: by DOI, PMID, or similar title, year and first author."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from rapidfuzz import fuzz

from common.dois import normal_doi
from corpus_app.sources.bibliography import plain_words
from corpus_app.sources.drafts import StudyDraft, with_passage_questions, with_questions

ALIKE = 92.0  # of 100: titles of one study in two databases differ by a subtitle's mark or a missing full stop


class Sameness(StrEnum):
    DOI = "doi"
    PMID = "pmid"
    ALIKE = "alike"


@dataclass(frozen=True, slots=True)
class KnownStudy:
    """The compared fields of a study, from the corpus or a file."""

    study_id: str
    title: str
    year: int | None = None
    first_author: str = ""
    doi: str = ""
    pmid: str = ""


@dataclass(frozen=True, slots=True)
class Duplicate:
    new: str
    """The study_id of the one that comes in."""
    known: str
    """The study_id of the one that is there."""
    by: Sameness
    score: float
    """100 for the same DOI or PMID; else how alike the titles are."""


def known_of(draft: StudyDraft) -> KnownStudy:
    return KnownStudy(
        draft.study_id,
        draft.title,
        draft.year,
        draft.authors[0] if draft.authors else "",
        draft.doi or "",
        draft.pmid or "",
    )


def duplicates(new: Iterable[KnownStudy], among: Sequence[KnownStudy]) -> tuple[Duplicate, ...]:
    """Return pairs of duplicates in the order of the new studies, the most certain first."""
    finder = DuplicateFinder(among)
    return tuple(pair for study in new for pair in finder.find(study))


class DuplicateFinder:
    """Studies arranged so that each new one is compared with few of them."""

    def __init__(self, among: Iterable[KnownStudy]) -> None:
        self._by_doi: dict[str, KnownStudy] = {}
        self._by_pmid: dict[str, KnownStudy] = {}
        self._by_year: dict[int | None, list[tuple[KnownStudy, str, str]]] = defaultdict(list)
        for known in among:
            if known.doi:
                self._by_doi[normal_doi(known.doi)] = known
            if known.pmid:
                self._by_pmid[known.pmid] = known
            self._by_year[known.year].append((known, plain_words(known.title), _family(known.first_author)))

    def find(self, study: KnownStudy) -> list[Duplicate]:
        """Return the study with the same DOI, else PMID, else the alike ones, the most alike first."""
        for twin, by in ((self._with_doi(study), Sameness.DOI), (self._with_pmid(study), Sameness.PMID)):
            if twin and twin.study_id != study.study_id:
                return [Duplicate(study.study_id, twin.study_id, by, 100.0)]
        return sorted(_alike(study, self._by_year), key=lambda pair: (-pair.score, pair.known))

    def find_doubts(self, study: KnownStudy) -> str:
        """Return why the study with the same DOI or PMID may be another one; empty where nothing says so."""
        by_doi, by_pmid = self._with_doi(study), self._with_pmid(study)
        if by_doi and by_pmid and by_doi.study_id != by_pmid.study_id:
            return f"Its DOI is that of {by_doi.study_id}, its PMID that of {by_pmid.study_id}."
        known = by_doi or by_pmid
        return find_conflict(study, known) if known else ""

    def _with_doi(self, study: KnownStudy) -> KnownStudy | None:
        return self._by_doi.get(normal_doi(study.doi)) if study.doi else None

    def _with_pmid(self, study: KnownStudy) -> KnownStudy | None:
        return self._by_pmid.get(study.pmid) if study.pmid else None


def find_conflict(study: KnownStudy, known: KnownStudy) -> str:
    """Return what two records of one DOI or PMID contradict each other in; empty where they agree."""
    if study.pmid and known.pmid and study.pmid != known.pmid:
        return f"The DOI is the same, but the PMID is {study.pmid} here and {known.pmid} there."
    if study.doi and known.doi and normal_doi(study.doi) != normal_doi(known.doi):
        return f"The PMID is the same, but the DOI is {study.doi} here and {known.doi} there."
    one, other = plain_words(study.title), plain_words(known.title)
    if max(fuzz.token_sort_ratio(one, other), fuzz.token_set_ratio(one, other)) < ALIKE:
        return f"The title there is another one: “{known.title}”."
    return ""


def are_twins(one: KnownStudy, other: KnownStudy) -> bool:
    """Return whether two studies are surely one: a DOI or PMID of both, or title, year and first author."""
    if find_identity(one, other):
        return not find_conflict(one, other)
    return bool(twin_key(one)) and twin_key(one) == twin_key(other) and not _have_two_ids(one, other)


def find_identity(one: KnownStudy, other: KnownStudy) -> str:
    """Return the DOI or PMID that two studies share; empty where they share none."""
    if one.doi and normal_doi(one.doi) == normal_doi(other.doi):
        return one.doi
    return one.pmid if one.pmid and one.pmid == other.pmid else ""


def twin_key(study: KnownStudy) -> str:
    """Return title, year and first author in plain words; empty where one of them is missing."""
    parts = plain_words(study.title), str(study.year or ""), _family(study.first_author)
    return "|".join(parts) if all(parts) else ""


def _have_two_ids(one: KnownStudy, other: KnownStudy) -> bool:
    """Return whether both have a DOI or both have a PMID: two publications, however alike."""
    return bool((one.doi and other.doi) or (one.pmid and other.pmid))


def _alike(study: KnownStudy, by_year: dict[int | None, list[tuple[KnownStudy, str, str]]]) -> Iterator[Duplicate]:
    title, family = plain_words(study.title), _family(study.first_author)
    years: Iterable[int | None] = (
        by_year.keys() if study.year is None else (study.year, study.year - 1, study.year + 1, None)
    )
    for year in years:
        for known, other, name in by_year.get(year, ()):
            if known.study_id == study.study_id or (family and name and fuzz.ratio(family, name) < 80):
                continue
            if _have_two_ids(study, known):
                continue
            if _numbers(title) != _numbers(other):
                continue  # part 1 and part 2, 6 weeks and 12 weeks
            score = fuzz.token_sort_ratio(title, other, score_cutoff=ALIKE)
            if score:
                yield Duplicate(study.study_id, known.study_id, Sameness.ALIKE, round(score, 1))


def _family(author: str) -> str:
    return plain_words(re.sub(r"\s[A-Z]{1,4}$", "", author))


def _numbers(title: str) -> list[str]:
    return sorted(re.findall(r"\d+|\b(?:ii|iii|iv)\b", title))


# --- Side by side -----------------------------------------------------------------------------------------------------

_OWN = frozenset({"study_id", "status", "status_reason", "origin", "line", "columns", "empty_keys", "source_ref"})


def differences(kept: StudyDraft, other: StudyDraft) -> tuple[tuple[str, Any, Any], ...]:
    """Return the fields in which two drafts differ: name, the one's value, the other's.

    A draft that says nothing of how readers ask takes nothing away.
    """
    other = _completed(other, kept)
    kept = _completed(kept, None)
    return tuple(
        (field.name, getattr(kept, field.name), getattr(other, field.name))
        for field in fields(StudyDraft)
        if field.name not in _OWN and getattr(kept, field.name) != getattr(other, field.name)
    )


def _completed(draft: StudyDraft, by: StudyDraft | None) -> StudyDraft:
    return replace(
        draft,
        asked_as=draft.asked_as if draft.asked_as is not None else (by.asked_as or "") if by else "",
        findings=with_questions(draft.findings, by.findings if by else ()),
        passages=with_passage_questions(draft.passages, by.passages if by else ()),
    )


def merge_drafts(kept: StudyDraft, other: StudyDraft, take: Iterable[str] = ()) -> StudyDraft:
    """Return `kept` with its empty fields, and those named in `take`, replaced by the other's; id and state stay."""
    wanted = frozenset(take)
    changes = {
        name: theirs
        for name, ours, theirs in differences(kept, other)
        if name in wanted or (_is_empty(ours) and not _is_empty(theirs))
    }
    return replace(kept, **changes)


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", (), "not_reported", "other", "none")
