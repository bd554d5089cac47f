"""Index the short texts of a study: its title, findings, plain sentences and curated questions.

`sync` updates rows, terms and flags with every write; vectors follow in the background. The text of a row never
changes, so its vector is never stale.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from django.db import Error, connection, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet

from common.copying import copy_rows
from corpus_app import embedding, records
from corpus_app.embedding import metric
from corpus_app.indexing.pending import may_lack
from corpus_app.models import Finding, Passage, Study, StudyText, StudyTextVector
from corpus_app.records import TextKind

logger = logging.getLogger(__name__)

BATCH = 64  # texts between two commits; they are short
MAX_ATTEMPTS = 3
STUDIES_AT_ONCE = 200  # studies whose missing texts are written in one transaction

Row = TypeVar("Row", Finding, Passage, StudyText)


class Text(NamedTuple):
    """A text as it should be stored."""

    kind: str
    finding_pk: int | None
    passage_pk: int | None
    words: str


# --- Update with every write ------------------------------------------------------------------------------------------


def sync(study_pks: Collection[int]) -> None:
    """Update the texts of these studies, their terms and their vectors' flags from the present rows."""
    studies = Study.objects.in_bulk(study_pks)
    findings = _by_study(Finding.objects.filter(study__in=studies).order_by("study", "position"))
    passages = _by_study(Passage.with_plain.filter(study__in=studies).order_by("study", "position"))
    present = _by_study(StudyText.objects.filter(study__in=studies).order_by("study", "position"))
    new: list[StudyText] = []
    for pk, study in studies.items():
        new += _write_known(pk, list(wanted(study, findings[pk], passages[pk])), present[pk])
    StudyText.objects.bulk_create(new)
    StudyText.objects.filter(study__in=studies, index_attempts__gt=0).update(index_attempts=0, index_error="")
    sync_states(list(studies))


def sync_states(study_pks: Sequence[int]) -> None:
    """Update terms and vectors' flags of studies whose texts have not changed."""
    # Listed by id: without statistics, the planner would read all terms for a subquery.
    texts = list(StudyText.objects.filter(study__in=study_pks).values_list("pk", flat=True))
    parameters = {"studies": list(study_pks), "texts": texts}
    with connection.cursor() as cursor:
        cursor.execute(_MARK_VECTORS, parameters)
        cursor.execute(_DELETE_TERMS, parameters)
        cursor.execute(PRESENT_TERMS + _WRITE_TERMS, parameters)


def wanted(study: Study, findings: Sequence[Finding], passages: Sequence[Passage]) -> Iterator[Text]:
    """Yield the distinct texts of a study in their order.

    An unconfirmed finding contributes only its questions, as questions of the study.
    """
    seen: set[Text] = set()
    for text in _texts(study, findings, passages):
        if text not in seen:
            seen.add(text)
            yield text


def _texts(study: Study, findings: Sequence[Finding], passages: Sequence[Passage]) -> Iterator[Text]:
    yield Text(TextKind.TITLE, None, None, study.title)
    for passage in passages:
        if passage.kind == records.PassageKind.PLAIN:
            yield Text(TextKind.PLAIN, passage.finding_id, passage.pk, passage.text)
    for question in study.questions:
        yield Text(TextKind.QUESTION, None, None, question)
    for finding in findings:
        confirmed = None if finding.is_unconfirmed else finding.pk
        if confirmed:
            yield Text(TextKind.STATEMENT, confirmed, None, statement(finding))
        for question in finding.questions:
            yield Text(TextKind.QUESTION, confirmed, None, question)
    for passage in passages:
        for question in passage.questions:
            yield Text(TextKind.QUESTION, None, passage.pk, question)


def statement(finding: Finding) -> str:
    """Return a finding's comparison, outcome and statement as one text."""
    against = f" versus {finding.comparator}" if finding.comparator else ""
    return f"{finding.intervention}{against}: {finding.outcome}. {finding.statement}"


def _by_study(rows: QuerySet[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.study_id].append(row)
    return found


def _write_known(study_pk: int, texts: Sequence[Text], present: Sequence[StudyText]) -> list[StudyText]:
    """Keep the rows of unchanged texts, perhaps at another position; delete the others; return the rows to create."""
    rows = {Text(row.kind, row.finding_id, row.passage_id, row.text): row for row in present}
    new: list[StudyText] = []
    moved: list[StudyText] = []
    for position, text in enumerate(texts):
        row = rows.pop(text, None)
        if row is None:
            new.append(
                StudyText(
                    study_id=study_pk,
                    kind=str(text.kind),
                    finding_id=text.finding_pk,
                    passage_id=text.passage_pk,
                    position=position,
                    text=text.words,
                )
            )
        elif row.position != position:
            row.position = position
            moved.append(row)
    if rows:
        StudyText.objects.filter(pk__in=[row.pk for row in rows.values()]).delete()
    StudyText.objects.bulk_update(moved, ["position"])
    return new


_MARK_VECTORS = """
    UPDATE corpus_app_studytextvector v
    SET searchable = present.searchable, collection_id = present.collection_id
    FROM (
        SELECT id, collection_id, (status = 'published' AND notice <> 'retracted') AS searchable
        FROM corpus_app_study WHERE id = ANY(%(studies)s)
    ) present
    WHERE v.study_id = present.id
      AND (v.searchable, v.collection_id) IS DISTINCT FROM (present.searchable, present.collection_id)
"""
_DELETE_TERMS = """
    DELETE FROM corpus_app_studytextterm WHERE text_id = ANY(%(texts)s::bigint[])
"""
# The terms that the texts of searchable studies have by their lexemes: of all, or of some studies.
PRESENT_TERMS = """
    WITH searchable AS (
        SELECT t.id AS text_id, t.study_id, s.collection_id, t.kind, t.lexemes
        FROM corpus_app_studytext t
        JOIN corpus_app_study s ON s.id = t.study_id
        WHERE s.status = 'published' AND s.notice <> 'retracted'
          AND (%(studies)s::bigint[] IS NULL OR t.study_id = ANY(%(studies)s::bigint[]))
    ),
    counted AS (
        SELECT text_id, study_id, collection_id, kind, term.lexeme, cardinality(term.positions)::float8 AS frequency
        FROM searchable CROSS JOIN LATERAL unnest(lexemes) AS term
        UNION ALL
        SELECT text_id, study_id, collection_id, kind, '', 0 FROM searchable
    ),
    present AS MATERIALIZED (
        SELECT counted.*, sum(frequency) OVER (PARTITION BY text_id) AS length FROM counted
    )
"""
_WRITE_TERMS = """
    INSERT INTO corpus_app_studytextterm (text_id, study_id, collection_id, kind, lexeme, frequency, length)
    SELECT text_id, study_id, collection_id, kind, lexeme, frequency, length FROM present
"""
TRIAL_POSITION = 1_000_000_000  # far from the texts that a write at the same time may add


def add_question(encoder: embedding.Encoder, study: Study, finding_pk: int | None, question: str) -> None:
    """Add a question to the index alone, with its terms and its vector, in a transaction that will be undone."""
    text = StudyText.objects.create(
        study=study, kind=TextKind.QUESTION, finding_id=finding_pk, position=TRIAL_POSITION, text=question
    )
    with connection.cursor() as cursor:
        own = "WHERE text_id = %(text)s"
        cursor.execute(PRESENT_TERMS + _WRITE_TERMS + own, {"studies": [study.pk], "text": text.pk})
    vectors = metric.project(encoder.name, encoder.encode([question], threads=embedding.THREADS))
    StudyTextVector.objects.create(
        text=text,
        study=study,
        collection_id=study.collection_id,
        kind=text.kind,
        encoder=metric.space(encoder.name),
        searchable=study.is_searchable,
        vector=vectors[0],
    )


# --- Embed in the background ------------------------------------------------------------------------------------------


def without_texts() -> QuerySet[Study]:
    """Return the studies whose texts were never written, recognised by the missing title."""
    titles = StudyText.objects.filter(study=OuterRef("pk"), kind=TextKind.TITLE)
    return Study.objects.filter(~Exists(titles), indexed_by="").order_by("pk")


def write_missing() -> None:
    """Write the texts of studies that have none, because they are older than this table."""
    while pks := list(without_texts().values_list("pk", flat=True)[:STUDIES_AT_ONCE]):
        with transaction.atomic():
            locked = Study.objects.select_for_update(no_key=True).filter(pk__in=pks).order_by("study_id")
            sync([study.pk for study in locked.only("pk")])


def indexable() -> QuerySet[StudyText]:
    """Return all texts but those of withdrawn studies; drafts are indexed so that search finds them once published."""
    return StudyText.objects.exclude(study__status=records.Status.WITHDRAWN)


def lacking(encoder: str) -> QuerySet[StudyText]:
    """Return the texts without a vector of this encoder in its present metric."""
    vectors = StudyTextVector.objects.filter(text=OuterRef("pk"), encoder=metric.space(encoder))
    below, above = may_lack(encoder)
    return indexable().filter(below | above, ~Exists(vectors))


def waiting(encoder: str) -> QuerySet[StudyText]:
    """Return the texts that lack a vector, except those given up."""
    return lacking(encoder).filter(index_attempts__lt=MAX_ATTEMPTS)


def index_batch(encoder: embedding.Encoder, texts: Sequence[StudyText], *, threads: int) -> list[int]:
    """Embed these texts; note those that cannot be encoded, and return their ids."""
    return _index(encoder, texts, threads=threads)


def index_all(encoder: embedding.Encoder, *, threads: int) -> None:
    """Embed every text again, those given up included; each old vector stays until it is replaced."""
    write_missing()
    StudyText.objects.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    ids = list(indexable().order_by("study", "position").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        rows = indexable().filter(pk__in=ids[start : start + BATCH]).order_by("study", "position")
        _index(encoder, list(rows), threads=threads)


def delete_vectors(studies: QuerySet[Study], encoder: str) -> None:
    """Delete this encoder's vectors of the texts of these studies, so that they are embedded again."""
    StudyText.objects.filter(study__in=studies, index_attempts__gt=0).update(index_attempts=0, index_error="")
    StudyTextVector.objects.filter(study__in=studies, encoder=metric.space(encoder)).delete()


def drop_others(*encoders: str) -> int:
    """Delete the vectors of all other encoders and of former metrics; return their number."""
    return StudyTextVector.objects.exclude(encoder__in=[metric.space(name) for name in encoders]).delete()[0]


def counts() -> dict[str, int]:
    """Return the number of texts with a vector, by encoder."""
    vectors = StudyTextVector.objects.filter(text__in=indexable()).order_by()
    spaces = dict(vectors.values_list("encoder").annotate(n=Count("pk")))
    names = {space: space.partition(metric.SEPARATOR)[0] for space in spaces}
    return {name: spaces[space] for space, name in names.items() if space == metric.space(name)}


def _index(encoder: embedding.Encoder, texts: Sequence[StudyText], *, threads: int) -> list[int]:
    """Embed these texts; return the ids of those that could not be encoded."""
    if not texts:
        return []
    try:
        rows = encoder.encode([text.text for text in texts], threads=threads)
        if not (abs((rows**2).sum(axis=1) - 1) < 0.01).all():  # NaN included
            raise ValueError("the encoder gave a vector that is not of unit length")
    except (embedding.EncoderUnavailable, Error):
        raise
    except Exception as error:  # whatever the model stack raises
        if len(texts) == 1:
            _note_failure(texts[0], error)
            return [texts[0].pk]
        # One by one, to find the text that it cannot encode.
        return [pk for text in texts for pk in _index(encoder, [text], threads=threads)]
    projected = metric.project(encoder.name, rows)
    vectors = {text.pk: row for text, row in zip(texts, projected, strict=True)}
    _store(metric.space(encoder.name), texts, vectors)
    return []


@transaction.atomic
def _store(encoder: str, texts: Sequence[StudyText], vectors: dict[int, embedding.Matrix]) -> None:
    """Write the vectors of the texts that still exist."""
    locked = Study.objects.select_for_update(no_key=True).filter(pk__in={text.study_id for text in texts})
    studies = {study.pk: study for study in locked.order_by("study_id")}
    present = set(StudyText.objects.filter(pk__in=[text.pk for text in texts]).values_list("pk", flat=True))
    StudyTextVector.objects.filter(text__in=present, encoder=encoder).delete()
    copy_rows(
        StudyTextVector(
            text_id=text.pk,
            study_id=text.study_id,
            collection_id=studies[text.study_id].collection_id,
            kind=text.kind,
            encoder=encoder,
            searchable=studies[text.study_id].is_searchable,
            vector=vectors[text.pk],
        )
        for text in texts
        if text.pk in present
    )


def _note_failure(text: StudyText, error: Exception) -> None:
    reason = f"{type(error).__name__}: {error}"[:500]
    logger.warning("Text %s could not be indexed: %s", text.pk, reason)
    StudyText.objects.filter(pk=text.pk).update(index_attempts=text.index_attempts + 1, index_error=reason)


# --- Check ------------------------------------------------------------------------------------------------------------


def audit() -> list[str]:
    """Return a line for each study whose texts do not match its present rows."""
    studies = list(Study.objects.order_by("study_id"))
    findings = _by_study(Finding.objects.order_by("study", "position"))
    passages = _by_study(Passage.with_plain.order_by("study", "position"))
    present = _by_study(StudyText.objects.order_by("study", "position"))
    return [
        f"{study.study_id}: its short texts are not those of its findings, plain sentences and questions"
        for study in studies
        if list(wanted(study, findings[study.pk], passages[study.pk]))
        != [Text(row.kind, row.finding_id, row.passage_id, row.text) for row in present[study.pk]]
    ]


# --- The metric -------------------------------------------------------------------------------------------------------


def fit_metric(encoder: embedding.Encoder) -> metric.Metric:
    """Fit the metric of an encoder to the corpus, where texts of the same finding or passage have the same meaning.

    Raises ValueError when there are too few texts for the encoder's dimensions.
    """
    rows = list(
        StudyText.objects.exclude(kind=TextKind.TITLE)
        .order_by("study", "position")
        .values_list("text", "study", "finding", "passage")
    )
    vectors = encoder.encode([text for text, *_ in rows], threads=embedding.THREADS)
    if len(rows) < 2 * vectors.shape[1]:
        raise ValueError(f"{len(rows)} texts are too few to fit a metric of {vectors.shape[1]} dimensions.")
    return metric.fit(vectors, [(study, finding, None if finding else passage) for _, study, finding, passage in rows])
