"""What is derived from passages: sentences, terms, vectors. Kept in step with every write, and embedded in the background.

What needs work is read from rows alone (content hash and encoder), so a lost or doubled message changes nothing.
Every writer locks the study's row first; a study's searchable flag and its vectors can therefore never pass each other.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import Error, connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from corpus_app import embedding, passages, records
from corpus_app.embedding import metric
from corpus_app.indexing import plain_sentences, study_texts
from corpus_app.models import (
    ANN_EF,
    Passage,
    PassageQuerySet,
    PassageSentence,
    PassageTerm,
    PassageVector,
    Study,
    StudyText,
    StudyTextTerm,
    StudyTextVector,
)

logger = logging.getLogger(__name__)

HEADING_WEIGHT = 2  # a word of the heading counts as two of the text; see docs/retrieval.md
BATCH = 16  # passages between two commits: about a second's work on two cores
MAX_ATTEMPTS = 3
ENCODER_SAMPLE = 200  # titles and texts that the compressed encoder is checked on
TURN = 7_301_001  # the advisory lock of whoever is indexing
WORTH_ANALYSING = 50  # passages indexed in one run
NONE_KEPT = ("", None)
PLAIN = records.PassageKind.PLAIN


@dataclass(frozen=True, slots=True)
class Indexed:
    """What one run did: how many passages it indexed, and which ones it could not."""

    count: int
    failed: tuple[int, ...] = ()
    is_cut_short: bool = False
    """The time was up before all was done."""


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int

    @property
    def missing(self) -> int:
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class _Work:
    """A passage as it was read, and the texts to encode: the whole passage, then its sentences."""

    passage_id: int
    study_pk: int
    is_plain: bool
    content_hash: str
    spans: tuple[passages.Span, ...]
    texts: tuple[str, ...]


# --- In the transaction of every write --------------------------------------------------------------------------------


def sync_study(study: Study) -> None:
    """Brings sentences, terms and vectors in step with a study's present rows. Call it inside the transaction of the write.

    What the study's passages said before is found no more, what they say now is found by its words at once,
    and by its meaning as soon as it is embedded.
    """
    with transaction.atomic():
        _lock(study.pk)
        plain_sentences.sync(study.pk)
        _cut_sentences(study.pk)
        _sync_vectors(study.pk)
        _sync_terms(study.pk)
        study_texts.sync([study.pk])
        # A curator's change gives passages that could not be indexed another chance.
        Passage.with_plain.filter(study=study, index_attempts__gt=0).update(index_attempts=0, index_error="")


def _lock(study_pk: int) -> Study | None:
    return Study.objects.select_for_update(no_key=True).filter(pk=study_pk).first()


def _cut_sentences(study_pk: int) -> None:
    """Sentences have vectors only beside a passage vector of the same text, so a stale one of those shows that they are stale."""
    stale = PassageVector.objects.filter(passage=OuterRef("pk")).exclude(content_hash=OuterRef("content_hash"))
    rows = (
        Passage.with_plain.filter(study=study_pk).annotate(is_stale=Exists(stale)).values_list("pk", "text", "is_stale")
    )
    present: dict[int, list[passages.Span]] = {}
    for passage_pk, start, end in (
        PassageSentence.objects.filter(passage__study=study_pk)
        .order_by("passage", "position")
        .values_list("passage", "start", "end")
    ):
        present.setdefault(passage_pk, []).append((start, end))
    cut = {pk: passages.split_sentences(text) for pk, text, _ in rows}
    changed = [pk for pk, _, is_stale in rows if is_stale or cut[pk] != tuple(present.get(pk, ()))]
    PassageSentence.objects.filter(passage__in=changed).delete()
    PassageSentence.objects.bulk_create(
        PassageSentence(passage_id=pk, position=position, start=start, end=end)
        for pk in changed
        for position, (start, end) in enumerate(cut[pk])
    )


def _sync_vectors(study_pk: int) -> None:
    vectors = PassageVector.objects.filter(passage__study=study_pk)
    vectors.exclude(content_hash=F("passage__content_hash")).delete()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE corpus_app_passagevector v
            SET searchable = present.searchable, collection_id = present.collection_id
            FROM (
                SELECT p.id, s.collection_id,
                       (s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain') AS searchable
                FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id WHERE s.id = %s
            ) present
            WHERE v.passage_id = present.id
              AND (v.searchable, v.collection_id) IS DISTINCT FROM (present.searchable, present.collection_id)
            """,
            [study_pk],
        )


# The terms that searchable ordinary passages have by their lexemes (plain sentences are found as texts of their study, not as
# passages), and for each passage one row of the empty lexeme: it gives the
# number of passages and their mean length from the index alone, exact in every snapshot.
_PRESENT_TERMS = """
    WITH searchable AS (
        SELECT p.id AS passage_id, s.collection_id, p.lexemes
        FROM corpus_app_passage p
        JOIN corpus_app_study s ON s.id = p.study_id
        WHERE s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain'
          AND (%(study)s::bigint IS NULL OR p.study_id = %(study)s)
    ),
    counted AS (
        SELECT passage_id, collection_id, term.lexeme, sum(CASE weight WHEN 'A' THEN %(heading_weight)s ELSE 1 END) AS frequency
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


def _sync_terms(study_pk: int) -> None:
    """Writes them all anew: finding out which ones changed is slow wherever the planner does not know the tables yet."""
    ids = list(Passage.objects.filter(study=study_pk).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM corpus_app_passageterm WHERE passage_id = ANY(%s)", [ids])
        cursor.execute(_PRESENT_TERMS + _WRITE_TERMS, {"study": study_pk, "heading_weight": HEADING_WEIGHT})


# --- In the background ------------------------------------------------------------------------------------------------


def index_stale(
    *,
    seconds: float | None = None,
    but: Sequence[int] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Indexed:
    """Embeds what waits, batch by batch, until nothing waits or the time is up. Raises EncoderUnavailable.

    Killed at any point it leaves whole passages behind, each indexed or still waiting.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    _prepare_encoder()
    study_texts.write_missing()
    is_cut_short = not _index_short(deadline)
    count = 0
    failed: list[int] = []
    while not is_cut_short and (works := _read(_waiting(embedding.active_name()).exclude(pk__in=[*but, *failed]))):
        done, refused = _index(embedding.get(), works)
        count += done
        failed += refused
        if on_progress:
            on_progress(progress())
        is_cut_short = deadline is not None and time.monotonic() >= deadline
    if count >= WORTH_ANALYSING:
        _analyse()
    return Indexed(count, tuple(failed), is_cut_short)


def _index_short(deadline: float | None) -> bool:
    """Embed the short texts that wait; return whether it came to the end in time.

    They come before the passages: when the last passage has its new vector and search changes over, they are there.
    """
    failed: list[int] = []
    is_first = True
    while study_texts.waiting(embedding.active_name()).exclude(pk__in=failed).exists():
        if not is_first and deadline is not None and time.monotonic() >= deadline:
            return False
        failed += study_texts.index_batch(embedding.get(), threads=embedding.THREADS, but=failed)
        is_first = False
    return True


def has_work(*, but: Sequence[int] = ()) -> bool:
    """Return whether anything waits to be indexed, other than these passages, or will once the encoder is compressed."""
    if not embedding.is_prepared():
        return _indexable().exists()
    encoder = embedding.active_name()
    return (
        _waiting(encoder).exclude(pk__in=but).exists()
        or study_texts.waiting(encoder).exists()
        or study_texts.without_texts().exists()
    )


def drop_superseded() -> int:
    """Drops the vectors of former encoders once nothing waits for the active one; says how many.

    Not at once when the last passage is embedded: a question that is under way then may still compare by the former one.
    """
    if has_work():
        return 0
    return _drop_others()


def _drop_others() -> int:
    """Those of the encoder that the desk wants to be able to go back to stay."""
    active, kept = embedding.active_name(), embedding.kept_name()
    study_texts.drop_others(active, kept)
    others = PassageVector.objects.exclude(encoder__in=[active, kept])
    if not others.exists():
        return 0
    # Of two vectors of a sentence the first place is that of the encoder in use: a return has left it in the second.
    PassageSentence.objects.filter(kept_encoder=active).exclude(encoder=active).update(
        encoder=F("kept_encoder"), vector=F("kept_vector"), kept_encoder=F("encoder"), kept_vector=F("vector")
    )
    PassageSentence.objects.exclude(kept_encoder__in=["", kept]).update(kept_encoder="", kept_vector=None)
    return others.delete()[0]


def embed_again(passages: PassageQuerySet) -> int:
    """Has these passages and the short texts of their studies embedded anew; says how many passages.

    They stay found by their vectors until each is replaced: without those of its sentences a passage waits.
    """
    ids = list(passages.values_list("pk", flat=True))
    theirs = Passage.with_plain.filter(Q(pk__in=ids) | Q(kind=PLAIN, study__in=passages.order_by().values("study")))
    PassageSentence.objects.filter(passage__in=theirs).update(
        encoder="", vector=None, kept_encoder="", kept_vector=None
    )
    theirs.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    studies = Study.objects.filter(passages__in=ids)
    study_texts.forget(studies, embedding.active_name())
    return len(ids)


def forgive() -> None:
    """Gives what could not be indexed another chance: another encoder may bear it."""
    Passage.with_plain.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    StudyText.objects.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")


@dataclass(frozen=True, slots=True)
class EncoderState:
    """How many passages and short texts have vectors of an encoder, of those that are to have one."""

    name: str
    passages: int
    texts: int
    is_used: bool
    """Questions are compared by its vectors."""
    is_active: bool
    """Passages are embedded with it."""
    is_kept: bool


@dataclass(frozen=True, slots=True)
class State:
    encoders: tuple[EncoderState, ...]
    passages: int
    texts: int
    waiting: int
    failed: int


def state(*, used: str) -> State:
    """How the index stands; `used` is the encoder that search compares by."""
    active, kept = embedding.active_name(), embedding.kept_name()
    of_passages = dict(
        PassageVector.objects.filter(passage__in=_indexable()).order_by().values_list("encoder").annotate(n=Count("pk"))
    )
    of_texts = study_texts.counts()
    others = sorted({*of_passages, *of_texts})
    names = dict.fromkeys((used, active, *([kept] if kept else []), *others))
    lacking = _lacking(active)
    failed = lacking.filter(index_attempts__gte=MAX_ATTEMPTS).count()
    return State(
        tuple(
            EncoderState(
                name=name,
                passages=of_passages.get(name, 0),
                texts=of_texts.get(name, 0),
                is_used=name == used,
                is_active=name == active,
                is_kept=name == kept,
            )
            for name in names
        ),
        passages=_indexable().count(),
        texts=study_texts.indexable().count(),
        waiting=lacking.count() - failed,
        failed=failed,
    )


def progress() -> Progress:
    """How many of the passages that are to be indexed are; those given up are not."""
    total = _indexable().count()
    return Progress(done=total - _lacking(embedding.active_name()).count(), total=total)


def index_all(*, on_progress: Callable[[Progress], None] | None = None) -> Indexed:
    """Embeds every short text and passage anew, those given up included; search keeps the old vectors until each is replaced.

    Vectors of other encoders are dropped at the end.
    """
    _prepare_encoder()
    study_texts.index_all(embedding.get(), threads=embedding.THREADS)  # first, as in `index_stale`
    Passage.with_plain.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    waiting = list(_indexable().order_by("study", "position").values_list("pk", flat=True))
    count = 0
    failed: list[int] = []
    for start in range(0, len(waiting), BATCH):
        done, refused = _index(embedding.get(), _read(Passage.with_plain.filter(pk__in=waiting[start : start + BATCH])))
        count += done
        failed += refused
        if on_progress:
            on_progress(Progress(done=min(start + BATCH, len(waiting)), total=len(waiting)))
    meanwhile = index_stale(but=failed)  # what was edited while we encoded
    _drop_others()
    return Indexed(count + meanwhile.count, (*failed, *meanwhile.failed))


@contextmanager
def turn() -> Iterator[bool]:
    """Whether it is our turn to index: one process at a time does, others would only encode the same texts again.

    The lock ends with the connection, so a killed process holds up nobody.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [TURN])
        ours = bool(cursor.fetchone()[0])
    try:
        yield ours
    finally:
        if ours:
            with suppress(Error), connection.cursor() as cursor:  # a lost connection has given the lock back
                cursor.execute("SELECT pg_advisory_unlock(%s)", [TURN])


def is_under_way() -> bool:
    """Whether a process has its turn to index; it may be loading the encoder still, which shows in no row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND classid = 0 AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
            [TURN],
        )
        return bool(cursor.fetchone()[0])


def _prepare_encoder() -> None:
    """Settles which form of the encoder is used before anything is embedded, so that nothing is embedded twice."""
    if embedding.is_prepared() or not _indexable().exists():
        return
    titles = Study.objects.order_by("pk").values_list("title", flat=True)[:ENCODER_SAMPLE]
    texts = _indexable().order_by("pk").values_list("text", flat=True)[:ENCODER_SAMPLE]
    embedding.prepare(titles=list(titles), texts=list(texts))


def _indexable() -> PassageQuerySet:
    """Drafts too: what is published is then found at once."""
    return Passage.with_plain.exclude(study__status=records.Status.WITHDRAWN)


def _lacking(encoder: str) -> PassageQuerySet:
    """Passages without a vector of their present text, or with a sentence that has none."""
    vector = PassageVector.objects.filter(
        passage=OuterRef("pk"), encoder=encoder, content_hash=OuterRef("content_hash")
    )
    sentences = PassageSentence.objects.filter(passage=OuterRef("pk"))
    other = sentences.exclude(Q(encoder=encoder) | Q(kept_encoder=encoder))
    return _indexable().filter(~Exists(vector) | ~Exists(sentences) | Exists(other))


def _waiting(encoder: str) -> PassageQuerySet:
    return _lacking(encoder).filter(index_attempts__lt=MAX_ATTEMPTS)


def _read(waiting: PassageQuerySet) -> list[_Work]:
    found = waiting.order_by("study", "position").only("study", "kind", "content_hash", "heading", "text")[:BATCH]
    return [_work(passage) for passage in found]


def _work(passage: Passage) -> _Work:
    spans = passages.split_sentences(passage.text)
    sentences = (passage.text[start:end] for start, end in spans)
    texts = (embedded_text(passage.heading, passage.text), *sentences)
    return _Work(passage.pk, passage.study_id, passage.kind == PLAIN, passage.content_hash, spans, texts)


def embedded_text(heading: str, text: str) -> str:
    """What a passage's vector is made of."""
    return f"{heading}\n{text}" if heading else text


def _index(encoder: embedding.Encoder, works: Sequence[_Work]) -> tuple[int, list[int]]:
    """How many of these are indexed now, and which could not be encoded."""
    try:
        return _encode_and_store(encoder, works), []
    except (embedding.EncoderUnavailable, Error):
        raise
    except Exception as error:  # whatever the model stack raises
        if len(works) == 1:
            _note_failure(works[0], error)
            return 0, [works[0].passage_id]
    outcomes = [_index(encoder, [work]) for work in works]  # one by one, to find the text that it cannot bear
    return sum(done for done, _ in outcomes), [pk for _, refused in outcomes for pk in refused]


def _encode_and_store(encoder: embedding.Encoder, works: Sequence[_Work]) -> int:
    rows = encoder.encode([text for work in works for text in work.texts], threads=embedding.THREADS)
    if not (abs((rows**2).sum(axis=1) - 1) < 0.01).all():  # NaN included
        raise ValueError("the encoder gave a vector that is not of unit length")
    vectors: dict[int, embedding.Matrix] = {}
    start = 0
    for work in works:
        vectors[work.passage_id] = rows[start : start + len(work.texts)]
        start += len(work.texts)
    return sum(
        _store(encoder.name, study_pk, list(group), vectors)
        for study_pk, group in groupby(works, key=lambda work: work.study_pk)
    )


@transaction.atomic
def _store(encoder: str, study_pk: int, works: Sequence[_Work], vectors: dict[int, embedding.Matrix]) -> int:
    """Writes the vectors of those passages that still say what was encoded; the others are found again as waiting."""
    study = _lock(study_pk)
    present = dict(
        Passage.with_plain.filter(pk__in=[work.passage_id for work in works]).values_list("pk", "content_hash")
    )
    current = [work for work in works if present.get(work.passage_id) == work.content_hash]
    if study is None or not current:
        return 0
    ids = [work.passage_id for work in current]
    PassageVector.objects.bulk_create(
        [
            PassageVector(
                passage_id=work.passage_id,
                collection_id=study.collection_id,
                encoder=encoder,
                content_hash=work.content_hash,
                searchable=study.is_searchable and not work.is_plain,
                vector=vectors[work.passage_id][0],
            )
            for work in current
        ],
        update_conflicts=True,
        unique_fields=["passage", "encoder"],
        update_fields=["collection", "content_hash", "searchable", "vector"],
    )
    rows = {(row.passage_id, row.start, row.end): row for row in PassageSentence.objects.filter(passage__in=ids)}
    kept = {span: _kept(row, encoder) for span, row in rows.items()}
    PassageSentence.objects.filter(passage__in=ids).delete()
    PassageSentence.objects.bulk_create(
        PassageSentence(
            passage_id=work.passage_id,
            position=position,
            start=start,
            end=end,
            encoder=encoder,
            vector=vector,
            **_facts(rows.get((work.passage_id, start, end))),
            kept_encoder=kept.get((work.passage_id, start, end), NONE_KEPT)[0],
            kept_vector=kept.get((work.passage_id, start, end), NONE_KEPT)[1],
        )
        for work in current
        for position, ((start, end), vector) in enumerate(zip(work.spans, vectors[work.passage_id][1:], strict=True))
    )
    Passage.with_plain.filter(pk__in=ids, index_attempts__gt=0).update(index_attempts=0, index_error="")
    return len(current)


def _facts(row: PassageSentence | None) -> dict[str, Any]:
    """Return what is known of a sentence beside its vectors, which stays while these are replaced."""
    return {} if row is None else {"role": row.role, "self_containedness": row.self_containedness}


def _kept(row: PassageSentence, encoder: str) -> tuple[str, Any]:
    """What a sentence has of another encoder, by which it may still be compared until that of all is there."""
    if row.encoder not in ("", encoder):
        return row.encoder, row.vector
    return (row.kept_encoder, row.kept_vector) if row.kept_encoder != encoder else NONE_KEPT


def _note_failure(work: _Work, error: Exception) -> None:
    reason = f"{type(error).__name__}: {error}"[:500]
    logger.warning("Passage %s could not be indexed: %s", work.passage_id, reason)
    Passage.with_plain.filter(pk=work.passage_id, content_hash=work.content_hash).update(
        index_attempts=F("index_attempts") + 1, index_error=reason
    )


_ANALYSED = (
    PassageVector, PassageTerm, PassageSentence, StudyText, StudyTextVector, StudyTextTerm, Passage, Study,
)  # fmt: skip


def _analyse() -> None:
    """Tells the planner about the new rows, and which pages an index alone can answer for, now and not when autovacuum
    comes round: till then every posting that a question reads costs a look at its row.
    """
    vacuum = "" if connection.in_atomic_block else "VACUUM "
    with connection.cursor() as cursor:
        for model in _ANALYSED:
            cursor.execute(f"{vacuum}ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


# --- Approximate indexes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the nearest passages an approximate index finds, against comparing with every one."""

    questions: int
    share: float


def build_ann() -> tuple[str, ...]:
    """Build HNSW indexes over the searchable vectors of the active encoder; return their names.

    Of passages there is one of all and one of each collection, of short texts one of each kind. Those of other encoders go.
    Search uses them where more than ANN_FROM are to be compared. The site may run meanwhile.
    """
    encoder = embedding.active_name()
    vectors = PassageVector.objects.filter(encoder=encoder, searchable=True)
    collections = vectors.order_by("collection").values_list("collection", flat=True).distinct()
    wanted = {PassageVector.ann_index(encoder, which): which for which in (None, *collections)}
    with connection.cursor() as cursor:
        cursor.execute(_DIMENSIONS, [encoder])
        row = cursor.fetchone()
        if row is None:
            return ()
        concurrently = "" if connection.in_atomic_block else "CONCURRENTLY"
        cursor.execute(_ANN_INDEXES)
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {concurrently} IF EXISTS {connection.ops.quote_name(name)}")
        for name, collection in wanted.items():
            cursor.execute(
                f"CREATE INDEX {concurrently} {connection.ops.quote_name(name)} ON corpus_app_passagevector "
                + _HNSW.format(dimensions=int(row[0]))
                + (" AND collection_id = %(collection)s" if collection else ""),
                {"encoder": encoder, "collection": collection},
            )
        space = metric.space(encoder)
        kinds = {StudyTextVector.ann_index(space, kind): kind for kind in records.TextKind}
        for name, kind in kinds.items():
            cursor.execute(
                f"CREATE INDEX {concurrently} {connection.ops.quote_name(name)} ON corpus_app_studytextvector "
                + _HNSW.format(dimensions=int(row[0]))
                + " AND kind = %(kind)s",
                {"encoder": space, "kind": kind.value},
            )
    _analyse()
    return (*wanted, *kinds)


_DIMENSIONS = "SELECT vector_dims(vector) FROM corpus_app_passagevector WHERE encoder = %s AND searchable LIMIT 1"
_HNSW = """
    USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) WITH (m = 16, ef_construction = 128)
    WHERE encoder = %(encoder)s AND searchable
"""
_ANN_INDEXES = r"""
    SELECT indexname FROM pg_indexes
    WHERE schemaname = current_schema() AND (
        tablename = 'corpus_app_passagevector' AND indexname LIKE 'vector\_ann\_%'
        OR tablename = 'corpus_app_studytextvector' AND indexname LIKE 'text\_ann\_%'
    )
"""


def measure_ann(*, questions: int = 100, top: int = 20) -> Recall:
    """The recall of the index of all collections. The questions are first sentences of passages, evenly picked."""
    encoder = embedding.active_name()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_DIMENSIONS, [encoder])
        row = cursor.fetchone()
        cursor.execute(_ANN_QUESTIONS, {"encoder": encoder, "questions": questions})
        asked = [vector for (vector,) in cursor.fetchall()]
        if row is None or not asked:
            return Recall(0, 1.0)
        cursor.execute(f"SET LOCAL hnsw.ef_search = {ANN_EF}; SET LOCAL hnsw.iterative_scan = strict_order")
        found: dict[str, list[set[int]]] = {}
        for way, setting in (("exact", "enable_indexscan"), ("approximate", "enable_seqscan")):
            cursor.execute(f"SET LOCAL {setting} = off")
            found[way] = [_nearest(cursor, encoder, vector, dimensions=int(row[0]), top=top) for vector in asked]
            cursor.execute(f"SET LOCAL {setting} = on")
    shares = [len(a & b) / len(b) for a, b in zip(found["approximate"], found["exact"], strict=True)]
    return Recall(len(asked), sum(shares) / len(shares))


_ANN_QUESTIONS = """
    SELECT s.vector::text FROM corpus_app_passagesentence s
    WHERE s.encoder = %(encoder)s AND s.position = 0
    ORDER BY md5(s.passage_id::text), s.passage_id LIMIT %(questions)s
"""


def _nearest(cursor: Any, encoder: str, vector: str, *, dimensions: int, top: int) -> set[int]:
    cursor.execute(_NEAREST.format(dimensions=dimensions), [encoder, vector, top])
    return {pk for (pk,) in cursor.fetchall()}


_NEAREST = """
    SELECT passage_id FROM corpus_app_passagevector WHERE encoder = %s AND searchable
    ORDER BY vector::halfvec({dimensions}) <#> %s::halfvec LIMIT %s
"""


# --- Proof ------------------------------------------------------------------------------------------------------------

_ROWS = """
    WITH passage AS (
        SELECT p.*, s.collection_id, s.study_id || ' passage ' || (p.position + 1) AS label,
               s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain' AS searchable,
               s.status <> 'withdrawn' AS indexable
        FROM corpus_app_passage p
        JOIN corpus_app_study s ON s.id = p.study_id
    ),
    vector AS (SELECT * FROM corpus_app_passagevector),
    sentence AS (SELECT * FROM corpus_app_passagesentence),
    term AS (SELECT * FROM corpus_app_passageterm),
    short AS (
        SELECT t.*, s.collection_id, s.study_id || ' text ' || (t.position + 1) AS label,
               s.status = 'published' AND s.notice <> 'retracted' AS searchable, s.status <> 'withdrawn' AS indexable
        FROM corpus_app_studytext t
        JOIN corpus_app_study s ON s.id = t.study_id
    ),
    short_vector AS (SELECT * FROM corpus_app_studytextvector),
    short_term AS (SELECT * FROM corpus_app_studytextterm)
"""
# What must not be, each as a question that gives the passages where it is.
_FAULTS = {
    "the content hash is not that of its heading and text": """
        SELECT label FROM passage WHERE content_hash <>
            encode(sha256(convert_to(heading, 'UTF8') || '\\x00'::bytea || convert_to(text, 'UTF8')), 'hex')""",
    "could not be indexed": """
        SELECT label || ' (' || index_error || ')' FROM passage WHERE index_attempts > 0 AND indexable""",
    "searchable, but without a vector of its present text": """
        SELECT label FROM passage WHERE searchable AND NOT EXISTS (
            SELECT FROM vector
            WHERE passage_id = passage.id AND encoder = %(encoder)s AND vector.content_hash = passage.content_hash)""",
    "has a vector of a former text": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE vector.content_hash <> passage.content_hash""",
    "not searchable, but its vector is": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE vector.searchable AND NOT passage.searchable""",
    "searchable, but its vector is not": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE passage.searchable AND NOT vector.searchable""",
    "its vector stands in another collection": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE vector.collection_id <> passage.collection_id""",
    "its vector is not of unit length": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE NOT abs(l2_norm(vector.vector) - 1) < 0.01""",
    "searchable, but a sentence has no vector of the encoder in use": """
        SELECT DISTINCT label FROM passage JOIN sentence ON passage_id = passage.id
        WHERE searchable AND encoder <> %(encoder)s AND kept_encoder <> %(encoder)s""",
    "not searchable, but has terms": """
        SELECT DISTINCT label FROM passage JOIN term ON passage_id = passage.id
        WHERE NOT searchable
        UNION SELECT DISTINCT label FROM short JOIN short_term ON text_id = short.id WHERE NOT searchable""",
    "this text could not be indexed": """
        SELECT label || ' (' || index_error || ')' FROM short WHERE index_attempts > 0 AND indexable""",
    "it is a searchable text without a vector": """
        SELECT label FROM short WHERE searchable AND NOT EXISTS (
            SELECT FROM short_vector WHERE text_id = short.id AND encoder = %(space)s)""",
    "its vector's study, collection, kind or flag are not its own": """
        SELECT label FROM short JOIN short_vector v ON v.text_id = short.id
        WHERE (v.searchable, v.collection_id, v.kind, v.study_id)
              IS DISTINCT FROM (short.searchable, short.collection_id, short.kind, short.study_id)""",
    "this text's vector is not of unit length": """
        SELECT label FROM short JOIN short_vector v ON v.text_id = short.id WHERE NOT abs(l2_norm(v.vector) - 1) < 0.01""",
}
_FALSE_TERMS = """
    SELECT DISTINCT s.study_id || ' passage ' || (p.position + 1)
    FROM present
    FULL JOIN corpus_app_passageterm t USING (passage_id, lexeme)
    JOIN corpus_app_passage p ON p.id = passage_id
    JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted'
      AND p.kind <> 'plain'
      AND (present.collection_id, present.frequency, present.length) IS DISTINCT FROM (t.collection_id, t.frequency, t.length)
"""


_FALSE_SHORT_TERMS = """
    SELECT DISTINCT s.study_id || ' text ' || (t.position + 1)
    FROM present
    FULL JOIN corpus_app_studytextterm term USING (text_id, lexeme)
    JOIN corpus_app_studytext t ON t.id = text_id
    JOIN corpus_app_study s ON s.id = t.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted'
      AND (present.study_id, present.collection_id, present.kind, present.frequency, present.length)
          IS DISTINCT FROM (term.study_id, term.collection_id, term.kind, term.frequency, term.length)
"""


def audit() -> list[str]:
    """What is wrong with the index, passage by passage; empty where every promise of this module holds."""
    encoder = embedding.active_name()
    parameters = {
        "encoder": encoder,
        "space": metric.space(encoder),
        "study": None,
        "studies": None,
        "heading_weight": HEADING_WEIGHT,
    }
    questions = {fault: _ROWS + question for fault, question in _FAULTS.items()}
    questions["its terms are not those of its words"] = _PRESENT_TERMS + _FALSE_TERMS
    questions["this text's terms are not those of its words"] = study_texts.PRESENT_TERMS + _FALSE_SHORT_TERMS
    problems = []
    with connection.cursor() as cursor:
        for fault, question in questions.items():
            cursor.execute(question, parameters)
            problems += [f"{label}: {fault}" for (label,) in cursor.fetchall()]
    return sorted(problems + _misplaced_sentences() + study_texts.audit())


def counts() -> dict[str, int]:
    """How many rows of each kind there are."""
    return {
        "studies": Study.objects.count(),
        "published": Study.objects.published().count(),
        "passages": Passage.objects.count(),
        "searchable": Passage.objects.searchable().count(),
        "vectors": PassageVector.objects.count(),
        "short texts": StudyText.objects.count(),
        "short text vectors": StudyTextVector.objects.count(),
        "sentences": PassageSentence.objects.count(),
        "terms": PassageTerm.objects.exclude(lexeme="").count(),
    }


def _misplaced_sentences() -> list[str]:
    """Passages that are not cut as the splitter cuts them."""
    rows = (
        Passage.with_plain.order_by("pk")
        .annotate(
            starts=ArrayAgg("sentences__start", order_by="sentences__position"),
            ends=ArrayAgg("sentences__end", order_by="sentences__position"),
        )
        .values_list("study__study_id", "position", "text", "starts", "ends")
    )
    return [
        f"{study_id} passage {position + 1}: its sentences are not those of its text"
        for study_id, position, text, starts, ends in rows.iterator()
        if passages.split_sentences(text) != tuple(zip(starts, ends, strict=True))
    ]
