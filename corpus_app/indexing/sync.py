"""Update what is derived from a study, in the transaction of every write to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef

from common.copying import copy_rows
from corpus_app import passages
from corpus_app.indexing import plain_sentences, study_texts, study_words
from corpus_app.models import Passage, PassageSentence, PassageVector, Study

HEADING_WEIGHT = 2  # a word of the heading counts as two of the text; see docs/retrieval.md

# The terms of searchable passages, plain sentences excepted: those are searched as short texts of their study. Each
# passage also has one row of the empty lexeme: from these rows an index alone gives the number of passages and their
# mean length, exact in every snapshot.
PRESENT_TERMS = """
    WITH searchable AS (
        SELECT p.id AS passage_id, s.collection_id, p.lexemes
        FROM corpus_app_passage p
        JOIN corpus_app_study s ON s.id = p.study_id
        WHERE s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain'
          AND (%(studies)s::bigint[] IS NULL OR p.study_id = ANY(%(studies)s::bigint[]))
    ),
    counted AS (
        SELECT passage_id, collection_id, term.lexeme,
               sum(CASE weight WHEN 'A' THEN %(heading_weight)s ELSE 1 END) AS frequency
        FROM searchable
        CROSS JOIN LATERAL unnest(lexemes) AS term
        CROSS JOIN LATERAL unnest(term.weights) AS weight
        GROUP BY passage_id, collection_id, term.lexeme
        UNION ALL
        SELECT passage_id, collection_id, '', 0 FROM searchable
    ),
    present AS MATERIALIZED (
        SELECT counted.*, sum(frequency) OVER (PARTITION BY passage_id) AS length FROM counted
    )
"""
_WRITE_TERMS = """
    INSERT INTO corpus_app_passageterm (passage_id, collection_id, lexeme, frequency, length)
    SELECT passage_id, collection_id, lexeme, frequency, length FROM present
"""


def sync_studies(study_pks: Collection[int]) -> None:
    """Update sentences, terms and vectors of studies from their present rows, inside the transaction of the write.

    Search finds the new words at once, their meaning once they are embedded, and the old text no more.
    """
    pks = sorted(study_pks)
    if not pks:
        return
    with transaction.atomic():
        _lock_studies(pks)
        plain_sentences.sync(pks)
        _cut_sentences(pks)
        rows = PassageVector.objects.filter(passage__study__in=pks)
        rows.exclude(content_hash=F("passage__content_hash")).delete()
        _mark_vectors(pks)
        _sync_terms(pks)
        study_words.sync(pks)
        study_texts.sync(pks)
        Study.objects.filter(pk__in=pks).exclude(indexed_by="").update(indexed_by="")
        # Retry passages that could not be indexed: the curator may have corrected them.
        Passage.with_plain.filter(study__in=pks, index_attempts__gt=0).update(index_attempts=0, index_error="")


def sync_states(study_pks: Collection[int]) -> None:
    """Update what depends on the status, notice and collection of studies whose texts have not changed."""
    pks = sorted(study_pks)
    if not pks:
        return
    with transaction.atomic():
        _lock_studies(pks)
        _mark_vectors(pks)
        _sync_terms(pks)
        study_words.sync(pks)
        study_texts.sync_states(pks)


def lock_study(study_pk: int) -> Study | None:
    """Lock and return a study's row; None when it is gone.

    Every writer locks it first, so that a study's searchable flag and its vectors cannot disagree.
    """
    return Study.objects.select_for_update(no_key=True).filter(pk=study_pk).first()


def _lock_studies(study_pks: Sequence[int]) -> None:
    list(Study.objects.select_for_update(no_key=True).filter(pk__in=study_pks).order_by("study_id").values_list("pk"))


def _cut_sentences(study_pks: Sequence[int]) -> None:
    """Replace the sentences of passages whose text or sentence boundaries changed.

    Sentence vectors exist only with a passage vector of the same text, so a stale passage vector marks them as stale.
    """
    stale = PassageVector.objects.filter(passage=OuterRef("pk")).exclude(content_hash=OuterRef("content_hash"))
    found = Passage.with_plain.filter(study__in=study_pks).annotate(is_stale=Exists(stale))
    rows = found.values_list("pk", "text", "kind", "is_stale")
    present: dict[int, list[passages.Span]] = {}
    for passage_pk, start, end in (
        PassageSentence.objects.filter(passage__study__in=study_pks)
        .order_by("passage", "position")
        .values_list("passage", "start", "end")
    ):
        present.setdefault(passage_pk, []).append((start, end))
    cut = {pk: passages.sentences_of(text, kind) for pk, text, kind, _ in rows}
    changed = [pk for pk, _, _, is_stale in rows if is_stale or cut[pk] != tuple(present.get(pk, ()))]
    PassageSentence.objects.filter(passage__in=changed).delete()
    copy_rows(
        PassageSentence(passage_id=pk, position=position, start=start, end=end)
        for pk in changed
        for position, (start, end) in enumerate(cut[pk])
    )


def _mark_vectors(study_pks: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE corpus_app_passagevector v
            SET searchable = present.searchable, collection_id = present.collection_id
            FROM (
                SELECT p.id, s.collection_id,
                       (s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain') AS searchable
                FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id WHERE s.id = ANY(%s)
            ) present
            WHERE v.passage_id = present.id
              AND (v.searchable, v.collection_id) IS DISTINCT FROM (present.searchable, present.collection_id)
            """,
            [list(study_pks)],
        )


def _sync_terms(study_pks: Sequence[int]) -> None:
    """Rewrite all terms of studies: a search for the changed ones is slow until the planner has statistics."""
    ids = list(Passage.objects.filter(study__in=study_pks).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM corpus_app_passageterm WHERE passage_id = ANY(%s)", [ids])
        parameters: dict[str, Any] = {"studies": list(study_pks), "heading_weight": HEADING_WEIGHT}
        cursor.execute(PRESENT_TERMS + _WRITE_TERMS, parameters)
