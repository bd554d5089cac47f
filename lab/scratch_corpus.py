"""Temporary databases filled with benchmark documents, corpus folders or synthetic studies, for measurements.

Each document becomes a published study with one passage. The live database is never changed. The module also contains
rankings that only serve comparison.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
import psycopg
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone
from psycopg import sql

from corpus_app import embedding, indexing, passages, records
from corpus_app.models import (
    TEXT_SEARCH_CONFIG,
    Collection,
    Concept,
    ConceptAlias,
    ConceptRelation,
    ConceptRelationStudy,
    CorpusEvent,
    CorpusVersion,
    Finding,
    ImportItem,
    ImportJob,
    Passage,
    PassageVector,
    SearchText,
    Study,
    StudyConcept,
)
from corpus_app.sources import PassageDraft, StudyDraft, serialization
from lab.beir import BadBenchmark as BadBenchmark
from lab.beir import Benchmark as Benchmark
from lab.beir import Document
from lab.beir import read as read

T = TypeVar("T")

TEMPLATE = "template0"
PREFIX = "inform_trial_"
MAKING = 7_301_003  # the advisory lock of whoever makes or sweeps away throw-away databases
COLLECTION = "benchmark"
LIBRARY = "library"  # the folder of the cache for our own corpus
LONGEST_TITLE = 1000  # characters, as the tables have it
ROWS_AT_ONCE = 500
ENCODED_AT_ONCE = 64
VECTORS, DIGESTS = "vectors.f32", "digests.txt"  # of a cache, in its folder
DIGEST_ROW = 65  # bytes: a SHA-256 in hexadecimal and the end of the line
VECTORS_PER_WRITE = 256  # one or two seconds of encoding

Report = Callable[[str, int, int], None]
"""A callback with the name of the step, the number done, and the total."""


# --- The database -----------------------------------------------------------------------------------------------------


@contextmanager
def throwaway_database() -> Iterator[str]:
    """Connect Django to a new, migrated database on the same server, and drop it at the end.

    First drop databases that a killed process of the same live database left behind.
    """
    live = connection.settings_dict["NAME"]
    with _server() as server:
        prefix = database_prefix(server)
        name = f"{prefix}{secrets.token_hex(6)}"
        with _database_lock(server):
            _sweep(server, prefix)
            server.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(TEMPLATE))
            )
            try:
                _connect_to(name)
                connection.ensure_connection()
            except BaseException:
                _drop(server, name, live=live)
                raise
        try:
            call_command("migrate", verbosity=0, interactive=False)
            yield name
        finally:
            _drop(server, name, live=live)


def _connect_to(name: str) -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's has it
    connection.settings_dict["NAME"] = name


def _drop(server: psycopg.Connection, name: str, *, live: str) -> None:
    _connect_to(live)
    ContentType.objects.clear_cache()  # cached rows belong to the other database
    server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def _server() -> Iterator[psycopg.Connection]:
    """Open a separate connection to the server through the live database, in which nothing is written."""
    parameters = {k: v for k, v in connection.get_connection_params().items() if k not in {"cursor_factory", "context"}}
    with psycopg.connect(**parameters, autocommit=True) as server:
        yield server


def database_prefix(server: psycopg.Connection) -> str:
    """Return the prefix of temporary databases of this live database.

    Each live database has its own prefix, because an advisory lock is valid within one database only.
    """
    [(oid,)] = server.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchall()
    return f"{PREFIX}{oid}_"


@contextmanager
def _database_lock(server: psycopg.Connection) -> Iterator[None]:
    server.execute("SELECT pg_advisory_lock(%s)", [MAKING])
    try:
        yield
    finally:
        server.execute("SELECT pg_advisory_unlock(%s)", [MAKING])


def _sweep(server: psycopg.Connection, prefix: str) -> None:
    """Drop abandoned databases: a database is in use as soon as it is created, under the same lock."""
    left = server.execute(
        """SELECT datname FROM pg_database d WHERE starts_with(datname, %s)
           AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE datid = d.oid)""",
        [prefix],
    ).fetchall()
    for (name,) in left:
        with suppress(psycopg.Error):  # owned by somebody else, or in use
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


# --- What is in it ----------------------------------------------------------------------------------------------------


def fill(benchmark: Benchmark, *, cache: Path, with_sentences: bool, report: Report) -> dict[int, str]:
    """Write and index the documents, and return the document of each passage.

    Only a full ranking needs `with_sentences`. Known vectors come from `cache`. Documents without words are skipped.
    """
    present = [document for document in benchmark.documents if (document.text or document.title).strip()]
    rows = _write(present, report)
    with _cached(cache, benchmark.digest) as encoder, embedding.use(encoder):
        _embed(rows, encoder, report)
        if with_sentences:
            _embed_sentences(report)
    # Invalidates data that is cached for each corpus version.
    CorpusVersion.objects.create(number=1, at=timezone.now(), summary=benchmark.name)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")
    return {row.pk: document.id for row, document in zip(rows, present, strict=True)}


@contextmanager
def library(folder: Path, encoder: str, *, cache: Path, report: Report) -> Iterator[str]:
    """Import, publish and index a corpus folder in a temporary database with this encoder, which stays in use.

    The published studies depend on the files alone, never on the live rows. Yields what the import says of faults,
    empty where there are none. Raises EncoderUnavailable, and CommandError where nothing could be published.
    """
    with (
        throwaway_database(),
        _cached(cache, LIBRARY, encoder) as keeping,
        embedding.use(keeping),
    ):
        faults = ""
        try:
            call_command("import_corpus", folder, publish=True, stdout=io.StringIO(), stderr=io.StringIO())
        except CommandError as error:
            if not Study.objects.published().exists():
                raise
            faults = str(error)
        indexing.index_all(on_progress=lambda progress: report(encoder, progress.done, progress.total))
        yield faults


def _write(documents: Sequence[Document], report: Report) -> list[Passage]:
    collection = Collection.objects.create(slug=COLLECTION, name="Benchmark")
    rows: list[Passage] = []
    for batch in _batches(documents, ROWS_AT_ONCE):
        rows += _write_batch(batch, collection, written=len(rows))
        report("documents", len(rows), len(documents))
    return rows


@transaction.atomic
def _write_batch(documents: Sequence[Document], collection: Collection, *, written: int) -> list[Passage]:
    """Write a batch of studies. Their passages are inserted under the first study, in one query, and then moved."""
    studies = Study.objects.bulk_create(
        Study(
            study_id=f"D{number:07}", title=document.title[:LONGEST_TITLE].strip() or "Untitled", collection=collection,
            design=records.Design.NARRATIVE_REVIEW.value, status=records.Status.PUBLISHED.value,
        )
        for number, document in enumerate(documents, start=written + 1)
    )  # fmt: skip
    rows = Passage.objects.bulk_create(
        _passage(studies[0], document, position=position) for position, document in enumerate(documents)
    )
    indexing.sync_studies([studies[0].pk])
    for row, study in zip(rows, studies, strict=True):
        row.study, row.position = study, 0
    Passage.objects.bulk_update(rows, ["study", "position"])
    return rows


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _passage(study: Study, document: Document, *, position: int) -> Passage:
    """Build the passage of a document; the title replaces a missing text."""
    heading = document.title[:LONGEST_TITLE].strip() if document.text.strip() else ""
    text = document.text if document.text.strip() else document.title
    return Passage(
        study=study, position=position, section=records.Section.ABSTRACT.value, heading=heading, text=text,
        content_hash=passages.content_hash(heading=heading, text=text),
    )  # fmt: skip


def passage_vector(row: Passage, collection: str, encoder: str, vector: object) -> PassageVector:
    """Build the row of a passage's vector, which searches find."""
    return PassageVector(
        passage=row, collection_id=collection, encoder=encoder, content_hash=row.content_hash, searchable=True,
        vector=vector,
    )  # fmt: skip


def _embed(rows: Sequence[Passage], encoder: CachingEncoder, report: Report) -> None:
    """Write passage vectors directly, because the worker would also encode each sentence."""
    done = 0
    for batch in _batches(rows, ENCODED_AT_ONCE):
        vectors = encoder.encode(
            [indexing.embedded_text(row.heading, row.text) for row in batch], threads=embedding.THREADS
        )
        PassageVector.objects.bulk_create(
            passage_vector(row, COLLECTION, encoder.name, vector) for row, vector in zip(batch, vectors, strict=True)
        )
        done += len(batch)
        report("vectors", done, len(rows))


def _embed_sentences(report: Report) -> None:
    """Encode missing sentences as the worker does."""
    indexing.index_all(on_progress=lambda progress: report("sentences", progress.done, progress.total))


# --- A crowd of made-up studies ---------------------------------------------------------------------------------------

WORDS_OF_A_PASSAGE = 60
STUDIES_AT_ONCE = 50
DIMENSIONS = 384
SHARE_INDEXED = 0.95


@transaction.atomic
def crowd(*, studies: int, passages_each: int, seed: int = 1, report: Report) -> tuple[str, ...]:
    """Create published studies of random words with concepts, findings and history, and return their ids.

    A twentieth of the passages waits to be indexed. Vectors are random.
    """
    rng = random.Random(seed)  # noqa: S311  # no secret
    words = [
        "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))
        for _ in range(4_000)
    ]
    shelves = [Collection.objects.create(slug=f"crowd-{n}", name=f"Crowd {n}", position=n) for n in range(8)]
    concepts = [
        Concept(concept_id=f"crowd-{n}", name=f"{word} {n}", kind=f"kind {n % 7}") for n, word in enumerate(words[:300])
    ]
    Concept.objects.bulk_create(concepts)
    ConceptAlias.objects.bulk_create(
        ConceptAlias(concept=concept, name=f"{rng.choice(words)} {n}-{k}", position=k)
        for n, concept in enumerate(concepts)
        for k in range(4)
    )
    relations = ConceptRelation.objects.bulk_create(
        ConceptRelation(source=concept, relation="affects", target=concepts[n - k - 1], position=n)
        for n, concept in enumerate(concepts)
        for k in range(2)
    )
    written: list[Study] = []
    numbers = np.random.default_rng(seed)
    for start in range(0, studies, STUDIES_AT_ONCE):
        batch = range(start, min(start + STUDIES_AT_ONCE, studies))
        written += _write_crowd([rng.choice(shelves) for _ in batch], start, passages_each, words, rng, numbers)
        report("studies", len(written), studies)
    StudyConcept.objects.bulk_create(
        StudyConcept(study=study, concept=concept, position=k)
        for study in written
        for k, concept in enumerate(rng.sample(concepts, 3))
    )
    ConceptRelationStudy.objects.bulk_create(
        ConceptRelationStudy(relation=relation, study=study, position=k)
        for relation in relations
        for k, study in enumerate(rng.sample(written, min(3, len(written))))
    )
    version = CorpusVersion.objects.create(number=1, at=timezone.now(), summary="crowd")
    CorpusEvent.objects.bulk_create(
        (
            CorpusEvent(
                at=version.at, actor_name="crowd", action="revise_passage", study_key=study.study_id, reason="Made up.",
                detail={"changes": {"text": {"before": "one", "after": "two"}}}, corpus_version=version,
            )
            for study in written
            for _ in range(passages_each)
        ),
        batch_size=2_000,
    )  # fmt: skip
    return tuple(study.study_id for study in written)


def crowd_imports(study_ids: Sequence[str], *, imports: int, items: int) -> int:
    """Create finished imports, and one that waits for decisions on changes to these studies; return its key."""
    now = timezone.now()
    kept = {"asked_by_name": "crowd", "asked_at": now, "content": b"x" * 10_000, "content_hash": "0" * 64}
    ImportJob.objects.bulk_create(
        ImportJob(file_name=f"{n}.ris", status="done", finished_at=now, **kept) for n in range(imports)
    )
    waiting = ImportJob.objects.create(file_name="crowd.ris", status="previewed", total=items, **kept)
    text = PassageDraft(records.Section.RESULTS, "Another text than the study has.")
    ImportItem.objects.bulk_create(
        (
            ImportItem(
                job=waiting, position=n, kind="study", study_key=study_ids[n % len(study_ids)], title=f"Title {n}",
                effect="changes", n_passages=1, chosen=True, draft=serialization.values_of(_draft(study_ids, n, text)),
            )
            for n in range(items)
        ),
        batch_size=1_000,
    )  # fmt: skip
    return waiting.pk


def _draft(study_ids: Sequence[str], number: int, text: PassageDraft) -> StudyDraft:
    return StudyDraft(
        study_id=study_ids[number % len(study_ids)], title=f"Title {number}", authors=("Crowd A",),
        design=records.Design.OTHER, peer_reviewed=True, collection="crowd-0", status=records.Status.PUBLISHED,
        passages=(text,),
    )  # fmt: skip


def _write_crowd(
    shelves: Sequence[Collection], start: int, passages_each: int, words: Sequence[str], rng: random.Random,
    numbers: np.random.Generator,
) -> list[Study]:  # fmt: skip
    """Create a batch of studies. Their passages are inserted under the first study, in one query, and then moved."""
    designs, sections = tuple(records.Design), tuple(records.Section)
    studies = Study.objects.bulk_create(
        Study(
            study_id=f"X{start + n:06}", title=" ".join(rng.choices(words, k=12)).capitalize(), collection=shelf,
            authors=[f"{rng.choice(words).capitalize()} A" for _ in range(4)], year=rng.randint(1990, 2025),
            design=rng.choice(designs).value, status=records.Status.PUBLISHED.value,
        )
        for n, shelf in enumerate(shelves)
    )  # fmt: skip
    rows = []
    for position in range(len(studies) * passages_each):
        text = f"{' '.join(rng.choices(words, k=WORDS_OF_A_PASSAGE)).capitalize()}."
        row = _passage(studies[0], Document("", studies[position // passages_each].title, text), position=position)
        row.section = rng.choice(sections).value
        rows.append(row)
    Passage.objects.bulk_create(rows)
    indexing.sync_studies([studies[0].pk])
    for position, row in enumerate(rows):
        row.study, row.position = studies[position // passages_each], position % passages_each
    Passage.objects.bulk_update(rows, ["study", "position"])
    vectors = numbers.standard_normal((len(rows), DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    PassageVector.objects.bulk_create(
        passage_vector(row, row.study.collection_id, embedding.active_name(), vector)
        for row, vector in zip(rows, vectors, strict=True)
        if rng.random() < SHARE_INDEXED
    )
    Finding.objects.bulk_create(
        Finding(
            study=study, position=position, intervention=rng.choice(words), outcome=rng.choice(words),
            direction=records.Direction.NO_DIFFERENCE.value, statement=" ".join(rng.choices(words, k=15)),
        )
        for study in studies
        for position in range(3)
    )  # fmt: skip
    return studies


# --- Vectors made before ----------------------------------------------------------------------------------------------


class CachingEncoder:
    """An encoder with a cache on disk of every vector it has made for this corpus.

    Vectors are written as they are made, so that interrupted work continues where it stopped.
    """

    def __init__(self, encoder: embedding.Encoder, folder: Path) -> None:
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self._encoder = encoder
        self._folder = folder
        self._vectors: dict[str, embedding.Matrix] = {}
        self._unwritten: list[str] = []
        self._read()

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> embedding.Matrix:
        keys = [_digest(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if new:
            made = self._encoder.encode(list(new.values()), threads=threads)
            self._vectors |= dict(zip(new, made, strict=True))
            self._unwritten += new
            if len(self._unwritten) >= VECTORS_PER_WRITE:
                self.write()
        return np.array([self._vectors[key] for key in keys], dtype=np.float32).reshape(len(keys), self.dimensions)

    def write(self) -> None:
        """Append new vectors to one file and the digests of their texts to the other, in the same order."""
        if not self._unwritten:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / VECTORS).open("ab") as vectors:
            vectors.write(np.array([self._vectors[key] for key in self._unwritten], dtype=np.float32).tobytes())
        with (self._folder / DIGESTS).open("a", encoding="ascii") as digests:
            digests.writelines(f"{key}\n" for key in self._unwritten)
        self._unwritten.clear()

    def _read(self) -> None:
        """Load the cache, and truncate rows that a killed process left incomplete."""
        vectors, digests = self._folder / VECTORS, self._folder / DIGESTS
        row = self.dimensions * np.dtype(np.float32).itemsize
        with suppress(FileNotFoundError):
            keys = digests.read_bytes()[: digests.stat().st_size // DIGEST_ROW * DIGEST_ROW].decode("ascii").split()
            n = min(len(keys), vectors.stat().st_size // row)
            os.truncate(vectors, n * row)
            os.truncate(digests, n * DIGEST_ROW)
            rows = np.fromfile(vectors, dtype=np.float32).reshape(n, self.dimensions)
            self._vectors = dict(zip(keys[:n], rows, strict=True))


@contextmanager
def _cached(cache: Path, digest: str, name: str = "") -> Iterator[CachingEncoder]:
    encoder = embedding.get(name)
    keeping = CachingEncoder(encoder, cache / re.sub(r"[^\w.@+-]+", "_", encoder.name) / digest[:16])
    try:
        yield keeping
    finally:
        keeping.write()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- Rankings for comparison only -------------------------------------------------------------------------------------

_QUESTION = f"to_tsvector('{TEXT_SEARCH_CONFIG}', {SearchText.template % {'expressions': '%(text)s::text'}})"
# PostgreSQL's ranking of any of the question's words. Equal weights and normalisation 1 work best.
_TS_RANK = """
    WITH question AS MATERIALIZED (
        SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS query
        FROM unnest(tsvector_to_array({question})) AS lexeme
    )
    SELECT p.id, ts_rank('{1,1,1,1}', p.lexemes, query, 1) AS score
    FROM question JOIN corpus_app_passage p ON p.lexemes @@ query
    ORDER BY score DESC, p.id LIMIT %(limit)s
""".replace("{question}", _QUESTION)
# (1 + ln tf) x ln(N / df), cosine. `prepare_comparison` computes the lengths of the passages once.
_LENGTHS = """
    CREATE TABLE trial_rarity AS
        SELECT lexeme, ln((SELECT count(*) FROM corpus_app_passageterm WHERE lexeme = '')::float8 / count(*)) AS idf
        FROM corpus_app_passageterm WHERE lexeme <> '' GROUP BY lexeme;
    CREATE TABLE trial_length AS
        SELECT passage_id, sqrt(sum(((1 + ln(frequency)) * idf) ^ 2)) AS length
        FROM corpus_app_passageterm JOIN trial_rarity USING (lexeme) GROUP BY passage_id;
    ALTER TABLE trial_rarity ADD PRIMARY KEY (lexeme);
    ALTER TABLE trial_length ADD PRIMARY KEY (passage_id);
    ANALYZE trial_rarity, trial_length;
"""
_TFIDF = """
    SELECT passage_id, sum((1 + ln(frequency)) * idf * idf) / nullif(max(trial_length.length), 0) AS score
    FROM unnest(tsvector_to_array({question})) AS lexeme
    JOIN trial_rarity USING (lexeme) JOIN corpus_app_passageterm USING (lexeme) JOIN trial_length USING (passage_id)
    GROUP BY passage_id ORDER BY score DESC NULLS LAST, passage_id LIMIT %(limit)s
""".replace("{question}", _QUESTION)


def prepare_comparison() -> None:
    """Create the tables that `tfidf` needs, in a temporary database only."""
    with connection.cursor() as cursor:
        cursor.execute(_LENGTHS)


def ts_rank(text: str, *, limit: int) -> tuple[tuple[int, float], ...]:
    """Rank passages by PostgreSQL's `ts_rank`; return ids and scores, best first."""
    return _ranked(_TS_RANK, text, limit)


def tfidf(text: str, *, limit: int) -> tuple[tuple[int, float], ...]:
    return _ranked(_TFIDF, text, limit)


def _ranked(query: str, text: str, limit: int) -> tuple[tuple[int, float], ...]:
    with connection.cursor() as cursor:
        cursor.execute(query, {"text": text, "limit": limit})
        return tuple((pk, float(score or 0.0)) for pk, score in cursor.fetchall())
