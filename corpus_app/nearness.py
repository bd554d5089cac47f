"""What all studies found, held in this process to be compared with questions.

PostgreSQL takes longer to look up the findings of the sixty studies that a question may be about than numpy takes to compare it
with all of them. They are read once for a corpus version, and only where none of them waits for its vector: a vector comes
without a new version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from corpus_app import records

FINDINGS_MOST = 2_000  # about 6 MB; where there are more, each question asks the database for those of its studies
PASSAGES_MOST = 10_000
VECTOR_HEADER_BYTES = 4  # vector_send: dimensions and an unused field, then big-endian floats


@dataclass(frozen=True, slots=True)
class Findings:
    """Those of all searchable studies, study by study in the order of their ids."""

    studies: tuple[str, ...]
    starts: tuple[int, ...]
    """Where each study's begin, and where the last one's end."""
    numbers: tuple[int, ...]
    vectors: NDArray[np.float64]
    study_of: dict[int, int]
    """For each searchable passage of these studies, the place of its study."""

    def fits(self, vector: Sequence[float]) -> bool:
        return not self.studies or self.vectors.shape[1] == len(vector)

    def near(self, vector: Sequence[float], passage_ids: Sequence[int]) -> tuple[records.NearFinding, ...]:
        """As `search.near_findings` says."""
        asked: dict[int, list[int]] = {}
        for pk in sorted(set(passage_ids)):
            if (study := self.study_of.get(pk)) is not None:
                asked.setdefault(study, []).append(pk)
        if not asked:
            return ()
        # Rounded as PostgreSQL hands it over, so that two that say the same come equally close.
        cosines = (self.vectors @ np.asarray(vector, np.float32).astype(np.float64)).astype(np.float32)
        return tuple(self._nearest(study, cosines, asked[study]) for study in sorted(asked))

    def _nearest(self, study: int, cosines: NDArray[np.float32], passage_ids: list[int]) -> records.NearFinding:
        start, end = self.starts[study : study + 2]
        best = start + int(cosines[start:end].argmax())  # of equals the first
        return records.NearFinding(self.studies[study], self.numbers[best], float(cosines[best]), tuple(passage_ids))


def read(encoder: str) -> Findings | None:
    """All findings as the snapshot has them; None where they cannot be held.

    That is where one waits for its vector, where vectors are of several lengths, and where there are too many.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STATE, [encoder])
        findings, waiting = cursor.fetchone()
        if waiting or findings > FINDINGS_MOST:
            return None
        if not findings:
            return Findings((), (0,), (), np.empty((0, 0)), {})
        cursor.execute(_PASSAGES, [PASSAGES_MOST + 1])
        passages: list[tuple[int, str]] = cursor.fetchall()
        if len(passages) > PASSAGES_MOST:
            return None
        cursor.execute(_FINDINGS, [encoder])
        rows = cursor.fetchall()
    return _held(rows, passages) if len({len(sent) for *_, sent in rows}) == 1 else None


def _held(rows: list[Any], passages: list[tuple[int, str]]) -> Findings:
    by_study = {study: list(own) for study, own in groupby(rows, key=itemgetter(0))}
    places = {study: place for place, study in enumerate(by_study)}
    return Findings(
        studies=tuple(by_study),
        starts=(0, *np.cumsum([len(own) for own in by_study.values()]).tolist()),
        numbers=tuple(number for _, number, _ in rows),
        vectors=np.stack([np.frombuffer(sent, ">f4", offset=VECTOR_HEADER_BYTES) for *_, sent in rows]).astype(np.float64),
        study_of={pk: places[study] for pk, study in passages},
    )  # fmt: skip


_SEARCHABLE = "s.status = 'published' AND s.notice <> 'retracted'"
_STATE = """
    SELECT count(*), count(*) FILTER (WHERE v.id IS NULL)
    FROM corpus_app_study s
    JOIN corpus_app_finding f ON f.study_id = s.id
    LEFT JOIN corpus_app_findingvector v ON v.finding_id = f.id AND v.encoder = %s AND v.content_hash = f.content_hash
    WHERE {searchable}
""".replace("{searchable}", _SEARCHABLE)
_FINDINGS = """
    SELECT s.study_id, f.position + 1, vector_send(v.vector)
    FROM corpus_app_study s
    JOIN corpus_app_finding f ON f.study_id = s.id
    JOIN corpus_app_findingvector v ON v.finding_id = f.id AND v.encoder = %s AND v.content_hash = f.content_hash
    WHERE {searchable}
    ORDER BY s.study_id, f.position
""".replace("{searchable}", _SEARCHABLE)
_PASSAGES = """
    SELECT p.id, s.study_id
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE {searchable} AND EXISTS (SELECT FROM corpus_app_finding f WHERE f.study_id = s.id)
    LIMIT %s
""".replace("{searchable}", _SEARCHABLE)
