"""Find studies that may be the same: by DOI, PMID, or similar title, year and first author."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from rapidfuzz import fuzz, process

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


@dataclass(frozen=True, slots=True)
class _Group:
    """A group of studies that are compared by title with those of the same groups."""

    year: int | None
    has_doi: bool
    has_pmid: bool

    def may_be_alike(self, other: _Group) -> bool:
        """Tell whether the years are near, and not both have a DOI or a PMID: those are two publications."""
        if (self.has_doi and other.has_doi) or (self.has_pmid and other.has_pmid):
            return False
        return self.year is None or other.year is None or abs(self.year - other.year) <= 1


def _group_of(study: KnownStudy) -> _Group:
    return _Group(study.year, bool(study.doi), bool(study.pmid))


class DuplicateFinder:
    """Studies arranged so that each new one is compared with few of them."""

    def __init__(self, among: Iterable[KnownStudy] = ()) -> None:
        self._by_doi: dict[str, KnownStudy] = {}
        self._by_pmid: dict[str, KnownStudy] = {}
        self._groups: dict[_Group, tuple[list[str], list[KnownStudy]]] = {}
        """Titles in sorted words, and their studies."""
        for known in among:
            self.add(known)

    def add(self, known: KnownStudy) -> None:
        if known.doi:
            self._by_doi[normal_doi(known.doi)] = known
        if known.pmid:
            self._by_pmid[known.pmid] = known
        titles, studies = self._groups.setdefault(_group_of(known), ([], []))
        titles.append(_sorted_words(known.title))
        studies.append(known)

    def find(self, study: KnownStudy) -> list[Duplicate]:
        """Return the study with the same DOI, else PMID, else the alike ones, the most alike first."""
        for twin, by in ((self._with_doi(study), Sameness.DOI), (self._with_pmid(study), Sameness.PMID)):
            if twin and twin.study_id != study.study_id:
                return [Duplicate(study.study_id, twin.study_id, by, 100.0)]
        return sorted(self._alike(study), key=lambda pair: (-pair.score, pair.known))

    def _alike(self, study: KnownStudy) -> Iterator[Duplicate]:
        title, numbers, family = _sorted_words(study.title), _numbers(study.title), _family(study.first_author)
        own = _group_of(study)
        for group, (titles, studies) in self._groups.items():
            if not own.may_be_alike(group):
                continue
            for _, score, at in process.extract_iter(title, titles, scorer=fuzz.ratio, score_cutoff=ALIKE):
                known = studies[at]
                name = _family(known.first_author)
                is_other = known.study_id == study.study_id or (family and name and fuzz.ratio(family, name) < 80)
                if not is_other and numbers == _numbers(known.title):  # part 1 and part 2, 6 weeks and 12 weeks
                    yield Duplicate(study.study_id, known.study_id, Sameness.ALIKE, round(score, 1))

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


def _family(author: str) -> str:
    return plain_words(re.sub(r"\s[A-Z]{1,4}$", "", author))


def _sorted_words(title: str) -> str:
    return " ".join(sorted(plain_words(title).split()))


def _numbers(title: str) -> list[str]:
    return sorted(re.findall(r"\d+|\b(?:ii|iii|iv)\b", plain_words(title)))


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
