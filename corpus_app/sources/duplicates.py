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
    by_doi = {normal_doi(known.doi): known for known in among if known.doi}
    by_pmid = {known.pmid: known for known in among if known.pmid}
    by_year: dict[int | None, list[tuple[KnownStudy, str, str]]] = defaultdict(list)
    for known in among:
        by_year[known.year].append((known, plain_words(known.title), _family(known.first_author)))
    found: list[Duplicate] = []
    for study in new:
        if (twin := by_doi.get(normal_doi(study.doi))) and twin.study_id != study.study_id:
            found.append(Duplicate(study.study_id, twin.study_id, Sameness.DOI, 100.0))
        elif (twin := by_pmid.get(study.pmid)) and twin.study_id != study.study_id:
            found.append(Duplicate(study.study_id, twin.study_id, Sameness.PMID, 100.0))
        else:
            found += sorted(_alike(study, by_year), key=lambda pair: (-pair.score, pair.known))
    return tuple(found)


def _alike(study: KnownStudy, by_year: dict[int | None, list[tuple[KnownStudy, str, str]]]) -> Iterator[Duplicate]:
    title, family = plain_words(study.title), _family(study.first_author)
    years: Iterable[int | None] = (
        by_year.keys() if study.year is None else (study.year, study.year - 1, study.year + 1, None)
    )
    for year in years:
        for known, other, name in by_year.get(year, ()):
            if known.study_id == study.study_id or (family and name and fuzz.ratio(family, name) < 80):
                continue
            if (study.doi and known.doi) or (study.pmid and known.pmid):
                continue  # two DOIs, two PMIDs: two publications, however alike
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
