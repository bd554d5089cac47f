"""Passages of published studies, with their sentences and the record of their study."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import connection

from common import pipelining
from corpus_app import embedding, models, records
from corpus_app.facets import facets_from_json
from corpus_app.search.catalogue import site as stored_site
from corpus_app.search.question_vectors import encoder_name
from corpus_app.site import Site
from corpus_app.sources import is_paper_section

# Plain SQL: for forty passages the ORM would take longer to write these queries than PostgreSQL takes to answer them.
_PASSAGES = """
    SELECT p.id, p.version, p.position, p.section, p.page, p.heading, p.text, p.kind, p.finding_id, p.source_heading,
           s.study_id, s.title, s.authors, s.year, s.journal, s.doi, s.url, s.design, s.peer_reviewed, s.collection_id,
           s.population, s.training_status, s.age_group, s.sex, s.status, s.notice,
           ARRAY(SELECT c.concept_id FROM corpus_app_studyconcept c WHERE c.study_id = s.id ORDER BY c.position),
           s.takeaway, s.facets
    FROM corpus_app_passage p
    JOIN corpus_app_study s ON s.id = p.study_id
"""
_PUBLISHED = "WHERE s.status = 'published'"
_SEARCHABLE_AMONG = f"{_PUBLISHED} AND s.notice <> 'retracted' AND p.id = ANY(%s)"
_WITH_ID = f"{_PUBLISHED} AND p.id = %s"
_OF_STUDY = """
    WHERE s.status IN ('published', 'archived') AND p.kind <> 'plain' AND s.study_id = %s ORDER BY p.position
"""
_OF_STUDIES_AMONG = f"""
    {_PUBLISHED} AND s.notice <> 'retracted' AND s.study_id = ANY(%(studies)s) AND p.id = ANY(%(passages)s::bigint[])
    ORDER BY p.id
"""
_PLAIN_OF_STUDIES = (
    f"{_PUBLISHED} AND s.notice <> 'retracted' AND p.kind = 'plain' AND s.study_id = ANY(%s) "
    "ORDER BY s.study_id, p.position"
)
_PASSAGE_COLUMNS = 10
_STUDY_FIELDS = (
    "study_id title authors year journal doi url design peer_reviewed collection_id "
    "population training_status age_group sex status notice concepts takeaway facets"
).split()
# Vectors are sent as bytes: reading hundreds of them as text would take longer than the search itself.
_SENTENCES = """
    SELECT passage_id, start, "end",
           CASE %s WHEN encoder THEN vector_send(vector) WHEN kept_encoder THEN vector_send(kept_vector) END,
           role, self_containedness
    FROM corpus_app_passagesentence WHERE passage_id = ANY(%s) ORDER BY passage_id, position
"""


def load_passages(ids: Sequence[int]) -> tuple[records.Passage, ...]:
    """Return these passages in this order; those that are not searchable are left out."""
    found = {passage.passage_id: passage for passage in _read(_SEARCHABLE_AMONG, list(ids))}
    return tuple(found[pk] for pk in ids if pk in found)


def passage_ids(study_id: str) -> tuple[int, ...]:
    """Return the ids of a study's searchable passages, in their order."""
    rows = models.Passage.objects.searchable().filter(study__study_id=study_id)
    return tuple(rows.order_by("position").values_list("pk", flat=True))


def passages_among(study_ids: Sequence[str], passage_ids: Sequence[int]) -> tuple[records.Passage, ...]:
    """Return the searchable passages of these studies that are among these ids, in the order of their ids."""
    return _read(_OF_STUDIES_AMONG, {"studies": list(study_ids), "passages": list(passage_ids)})


def plain_passages(study_ids: Sequence[str]) -> tuple[records.Passage, ...]:
    """Return the plain sentences of these studies: for each, the takeaway, then its confirmed findings in order.

    Studies that are not searchable have none.
    """
    by_study: dict[str, list[records.Passage]] = defaultdict(list)
    for passage in _read(_PLAIN_OF_STUDIES, list(dict.fromkeys(study_ids))):
        by_study[passage.study.study_id].append(passage)
    return tuple(passage for study_id in dict.fromkeys(study_ids) for passage in by_study[study_id])


def find_passage(passage_id: int) -> records.Passage | None:
    """Return a passage of a published study, retracted or not; None when there is none."""
    found = _read(_WITH_ID, passage_id)
    return found[0] if found else None


def text_passages(study_id: str) -> tuple[records.Passage, ...]:
    """Return the passages of a published or archived study's own text, without their sentences."""
    return _read(_OF_STUDY, study_id, with_sentences=False)


def as_record(study: models.Study, concepts: Sequence[str]) -> records.Study:
    """Return the record of a study row and the ids of its concepts, in their order."""
    fields = {"concepts": concepts}
    return _study([fields[name] if name in fields else getattr(study, name) for name in _STUDY_FIELDS], stored_site())


def _read(condition: str, value: Any, *, with_sentences: bool = True) -> tuple[records.Passage, ...]:
    if value == []:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_PASSAGES + condition, value if isinstance(value, dict) else [value])
        rows = cursor.fetchall()
    sentences = _read_sentences([row[0] for row in rows]) if with_sentences else defaultdict(list)
    studies: dict[str, records.Study] = {}
    site = stored_site()
    passages = []
    for row in rows:
        pk, version, position, section, page, heading, text, kind, finding_id, source_heading = row[:_PASSAGE_COLUMNS]
        study_id = row[_PASSAGE_COLUMNS]
        if study_id not in studies:
            studies[study_id] = _study(row[_PASSAGE_COLUMNS:], site)
        passages.append(
            records.Passage(
                passage_id=pk,
                version=version,
                study=studies[study_id],
                position=position,
                section=site.section_of(source_heading) or records.Section(section),
                page=page,
                heading=heading,
                text=text,
                kind=records.PassageKind(kind),
                sentences=tuple(sentences[pk]),
                finding_id=finding_id,
                source_heading=source_heading,
                own_section="" if is_paper_section(source_heading) else source_heading,
            )
        )
    return tuple(passages)


def _study(row: Sequence[Any], site: Site) -> records.Study:
    fields = dict(zip(_STUDY_FIELDS, row, strict=True))
    return records.Study(
        study_id=fields["study_id"],
        title=fields["title"],
        authors=tuple(fields["authors"]),
        year=fields["year"],
        journal=fields["journal"],
        doi=fields["doi"],
        url=fields["url"],
        design=fields["design"],
        peer_reviewed=fields["peer_reviewed"],
        collection=fields["collection_id"],
        population=fields["population"],
        training_status=records.TrainingStatus(fields["training_status"]),
        age_group=records.AgeGroup(fields["age_group"]),
        sex=records.Sex(fields["sex"]),
        status=records.Status(fields["status"]),
        notice=records.Notice(fields["notice"]),
        concepts=tuple(fields["concepts"]),
        takeaway=fields["takeaway"],
        kind=site.source_kinds.get(fields["design"]),
        facets=_facets(fields["facets"]),
    )


def _facets(stored: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the facets of a row; plain SQL gives JSON as text."""
    return facets_from_json(json.loads(stored) if isinstance(stored, str) else stored)


def _read_sentences(passage_ids: list[int]) -> dict[int, list[records.Sentence]]:
    rows = pipelining.binary_rows(_SENTENCES, [encoder_name(), passage_ids])
    found: dict[int, list[records.Sentence]] = defaultdict(list)
    for passage_pk, start, end, packed, role, self_containedness in rows:
        vector = None if packed is None else _unpack(packed)
        found[passage_pk].append(records.Sentence(start, end, vector, role, self_containedness))
    return found


def _unpack(packed: bytes) -> embedding.Matrix:
    vector = pipelining.unpack_vector(packed)
    vector.flags.writeable = False
    return vector
