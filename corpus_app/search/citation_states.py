"""The present states of studies and passages that were cited before, whatever has happened to them since."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from django.db import connection

from corpus_app import records

STILL_THERE = """
    LEFT JOIN corpus_app_study AS study ON study.study_id = row.study_key
    LEFT JOIN corpus_app_passage AS passage ON passage.id = row.passage_key
"""
"""The join that tells a statement of another app which studies and passages of its `row` still exist."""
_STUDY_STATES = "SELECT study_id, status, notice, state_changed_at FROM corpus_app_study WHERE study_id = ANY(%s)"
_STATES = """
    SELECT study_id, status, notice, state_changed_at, NULL::bigint, NULL::int
    FROM corpus_app_study WHERE study_id = ANY(%s)
    UNION ALL
    SELECT NULL, NULL, NULL, text_changed_at, id, version FROM corpus_app_passage WHERE id = ANY(%s::bigint[])
"""


def study_states(ids: Iterable[str]) -> dict[str, records.StudyState]:
    """Return the present state of each of these studies; deleted ones are absent."""
    if not (wanted := list(set(ids))):
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_STUDY_STATES, [wanted])
        return {row[0]: _study_state(*row) for row in cursor.fetchall()}


def states(
    study_ids: Iterable[str], passage_ids: Iterable[int]
) -> tuple[dict[str, records.StudyState], dict[int, records.PassageState]]:
    """Return the states of these studies and passages at one moment; deleted ones are absent."""
    wanted_studies, wanted_passages = list(set(study_ids)), list(set(passage_ids))
    if not (wanted_studies or wanted_passages):
        return {}, {}
    studies: dict[str, records.StudyState] = {}
    passages: dict[int, records.PassageState] = {}
    with connection.cursor() as cursor:
        cursor.execute(_STATES, [wanted_studies, wanted_passages])
        for study_id, status, notice, changed_at, pk, version in cursor.fetchall():
            if pk is None:
                studies[study_id] = _study_state(study_id, status, notice, changed_at)
            else:
                passages[pk] = records.PassageState(pk, version, _iso(changed_at))
    return studies, passages


def _study_state(study_id: str, status: str, notice: str, changed_at: datetime.datetime | None) -> records.StudyState:
    return records.StudyState(study_id, records.Status(status), records.Notice(notice), _iso(changed_at))


def _iso(moment: datetime.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
