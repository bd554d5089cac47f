"""Which study and passages each finding belongs to, held in this process.

PostgreSQL compares a question with all findings in less time than it takes to look up those of the sixty studies that the
question may be about; and it does so while the search runs, when nobody knows yet which studies these will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from corpus_app import records

FINDINGS_MOST = 2_000  # where there are more, each question asks for those of its studies
PASSAGES_MOST = 10_000

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Findings:
    """Those of all searchable studies, at one corpus version."""

    ids: Ids
    """In their order; for each of them: """
    places: Ids
    """the place of its study,"""
    numbers: Ids
    """and its own place there, from 1."""
    studies: tuple[str, ...]
    passages: Ids
    """Of these studies, in their order; for each of them: """
    study_of: Ids
    """the place of its study."""

    def near(self, marked: Ids, cosines: Scores, passage_ids: Sequence[int]) -> tuple[records.NearFinding, ...]:
        """As `search.near_findings` says, where these findings have these cosines: twice the id, and one more for a question."""
        wanted = self._by_study(passage_ids)
        ids, is_question = marked >> 1, (marked & 1).astype(bool)
        known = np.isin(ids, self.ids)
        rows, cosines, is_question = np.searchsorted(self.ids, ids[known]), cosines[known], is_question[known]
        of_study = self.places[rows]
        best = np.lexsort((self.numbers[rows], -cosines, of_study))
        places, firsts = np.unique(of_study[best], return_index=True)
        best = best[firsts]
        said, is_asked = np.full(len(self.studies), -1.0), np.zeros(len(self.studies), bool)
        np.maximum.at(said, of_study[~is_question], cosines[~is_question])
        is_asked[of_study[is_question]] = True
        return tuple(
            records.NearFinding(
                self.studies[place],
                number,
                cosine,
                wanted[place],
                float(said[place]) if is_asked[place] else None,
            )
            for place, number, cosine in zip(
                places.tolist(), self.numbers[rows[best]].tolist(), cosines[best].tolist(), strict=True
            )
            if place in wanted
        )

    def _by_study(self, passage_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Of these passages those of each study, in their order, by the place of the study."""
        found = np.flatnonzero(np.isin(self.passages, np.asarray(passage_ids, np.int64)))
        in_order = found[np.argsort(self.study_of[found], kind="stable")]
        places, starts = np.unique(self.study_of[in_order], return_index=True)
        ids = self.passages[in_order].tolist()
        return {
            place: tuple(ids[start:end])
            for place, (start, end) in zip(places.tolist(), pairwise([*starts.tolist(), len(ids)]), strict=True)
        }


def read() -> Findings | None:
    """As the snapshot has them; None where there are too many to be held."""
    with connection.cursor() as cursor:
        cursor.execute(_FINDINGS, [FINDINGS_MOST + 1])
        rows = cursor.fetchall()
        if len(rows) > FINDINGS_MOST:
            return None
        if rows:
            cursor.execute(_PASSAGES, [PASSAGES_MOST + 1])
        passages = cursor.fetchall() if rows else []
    return _held(rows, passages) if len(passages) <= PASSAGES_MOST else None


def _held(rows: list[Any], passages: list[tuple[int, str]]) -> Findings:
    studies = tuple(dict.fromkeys(study for study, _, _ in rows))
    place_of = {study: place for place, study in enumerate(studies)}
    in_order = sorted((pk, place_of[study], number) for study, number, pk in rows)
    ids, places, numbers = np.array(in_order, np.int64).reshape(-1, 3).T
    of_passages = sorted((pk, place_of[study]) for pk, study in passages)
    passage_ids, study_of = np.array(of_passages, np.int64).reshape(-1, 2).T
    return Findings(ids, places, numbers, studies, passage_ids, study_of)


_SEARCHABLE = "s.status = 'published' AND s.notice <> 'retracted'"
_FINDINGS = """
    SELECT s.study_id, f.position + 1, f.id
    FROM corpus_app_study s JOIN corpus_app_finding f ON f.study_id = s.id
    WHERE {searchable}
    ORDER BY s.study_id LIMIT %s
""".replace("{searchable}", _SEARCHABLE)
_PASSAGES = """
    SELECT p.id, s.study_id
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE {searchable} AND EXISTS (SELECT FROM corpus_app_finding f WHERE f.study_id = s.id)
    LIMIT %s
""".replace("{searchable}", _SEARCHABLE)
