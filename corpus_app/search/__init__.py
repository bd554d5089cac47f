"""The reading door: all that is asked of the corpus, and every retrieval query.

Readers see published studies only; questions draw on those that are not retracted either. Both are decided here,
inside each query, from the rows of one snapshot.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection, transaction
from django.db.models import Count, OuterRef, Q

from common import pipelining
from common.pipelining import CUT_OFF as CUT_OFF
from common.pipelining import sending as sending
from corpus_app import embedding, models, quality, records
from corpus_app.embedding import ORIGINAL as ORIGINAL
from corpus_app.embedding import EncoderUnavailable as EncoderUnavailable  # callers catch it by this door
from corpus_app.search import hybrid, study_scores
from corpus_app.search import vocabulary as _vocabulary
from corpus_app.sources import spreadsheet as spreadsheet  # files for other programs are written in one place
from corpus_app.sources import to_bibtex as to_bibtex
from corpus_app.sources import to_csl_json as to_csl_json
from corpus_app.sources import to_ris as to_ris

PATIENCE_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.25

logger = logging.getLogger(__name__)

T = TypeVar("T")
Version = tuple[int, datetime.datetime | None]


# --- Questions --------------------------------------------------------------------------------------------------------


def encoder_name() -> str:
    """The encoder that questions and passages are compared by, without loading it.

    It is the one that most searchable passages have a vector of: while a new one embeds them, that is still the old one,
    and the change comes with the last passage.
    """
    known = _snapshot_encoder.get()
    if known is None:
        return _encoder_in_use()
    if not known:
        known.append(_encoder_in_use())
    return known[0]


def _encoder_in_use() -> str:
    global _settled
    active = embedding.active_name()
    if embedding.is_chosen() or _settled == active:
        return active
    with connection.cursor() as cursor:
        cursor.execute(_ENCODERS, [active])
        found = [name for (name,) in cursor.fetchall()]
    if found[:1] == [active]:
        _settled = active
    return found[0] if found else active


_settled = ""  # the active encoder, once this process has seen that no other has more vectors: none will
_ENCODERS = """
    SELECT encoder FROM corpus_app_passagevector WHERE searchable
    GROUP BY encoder ORDER BY count(*) DESC, encoder = %s DESC, encoder
"""


def encode_question(text: str) -> hybrid.QuestionVector:
    """The question's vector, of unit length. Raises EncoderUnavailable."""
    return encode_questions([text])[0]


def mean_vector(vectors: Sequence[Sequence[float]]) -> hybrid.QuestionVector:
    """Return the unit vector of the mean of question vectors of one encoder."""
    total = np.sum(np.asarray(vectors, np.float64), axis=0)
    mean = hybrid.QuestionVector((total / (np.linalg.norm(total) or 1.0)).tolist())
    first = vectors[0]
    mean.encoder = first.encoder if isinstance(first, hybrid.QuestionVector) else encoder_name()
    return mean


def encode_questions(texts: Sequence[str]) -> list[hybrid.QuestionVector]:
    """The same for several at once."""
    return _encoded(embedding.get(encoder_name()), texts)


def _encoded(encoder: embedding.Encoder, texts: Sequence[str]) -> list[hybrid.QuestionVector]:
    return [_vector(encoder, row) for row in encoder.encode(texts, threads=embedding.THREADS)]


def _vector(encoder: embedding.Encoder, row: Any) -> hybrid.QuestionVector:
    vector = hybrid.QuestionVector(row.tolist())
    vector.encoder = encoder.name
    return vector


def warm_up() -> None:
    """Loads the encoder and reads the vocabulary, so that the first question waits for neither. Raises EncoderUnavailable.

    In a new installation it waits for the worker to settle which form of the encoder is used: loading the other one
    would cost time and memory for nothing.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not embedding.is_prepared() and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_SECONDS)
    try:
        # Two texts, which go another way than one.
        encode_questions(["How many sets a week?", "How much protein a day?"])
        encode_question("How many sets a week?")
        vocabulary()
    finally:
        if not connection.in_atomic_block:
            connection.close()  # at the start of the site this is a thread of its own, and nobody else would


@contextmanager
def snapshot(*, milliseconds: int | None = None) -> Iterator[None]:
    """Everything read inside belongs to one corpus version, and is compared by one encoder.

    Inside another transaction it is that one's view. No statement of the transaction takes longer than `milliseconds`, but for one
    inside another snapshot, which has its own.
    """
    if _snapshot_version.get() is not None and connection.in_atomic_block:
        yield  # of the snapshot that is open
        return
    is_inner = connection.in_atomic_block
    with transaction.atomic():
        if is_inner and milliseconds is not None:
            with connection.cursor() as cursor:
                cursor.execute(pipelining.CUT_OFF, [str(milliseconds)])
        version = _snapshot_version.set(_read_version() if is_inner else _open_view(milliseconds))
        encoder = _snapshot_encoder.set([])
        try:
            yield
        finally:
            _snapshot_version.reset(version)
            _snapshot_encoder.reset(encoder)


def _open_view(milliseconds: int | None) -> Version:
    """The version that the transaction, which begins with this, will keep to."""
    rows = pipelining.open_view(_NEWEST_VERSION, milliseconds=milliseconds)
    return (rows[0][0], rows[0][1]) if rows else (0, None)


_snapshot_version: ContextVar[Version | None] = ContextVar("snapshot_version", default=None)
_snapshot_encoder: ContextVar[list[str] | None] = ContextVar("snapshot_encoder", default=None)  # empty until asked for


def find(
    text: str,
    vector: Sequence[float] | None,
    *,
    collection: str | None = None,
    limit: int = 200,
    dense_error: str | None = None,
    k1: float = hybrid.K1,
    b: float = hybrid.B,
) -> records.Found:
    """The best `limit` passages of each leg, by BM25 over the question's words (any of them) and by cosine to its vector.

    Each hit has the raw scores of both legs. Without a vector the dense leg is missing, for the reason `dense_error`;
    a leg that fails is named in the result, and the other still answers. `k1` and `b` are those of BM25: the lower, the less it
    counts how often a word stands in a passage, and how long that is. Raises DatabaseError where both fail.
    """
    return hybrid.find(
        text,
        vector,
        encoder=encoder_name(),
        collection=collection,
        limit=limit,
        dense_error=dense_error,
        k1=k1,
        b=b,
    )


def score_studies(
    text: str, vectors: Sequence[Sequence[float]], *, collection: str | None = None, limit: int = 50
) -> tuple[records.StudyScores, ...]:
    """Return how well the texts of each candidate study match a question, in the order of the studies' ids.

    Candidates have one of the best `limit` texts of a kind (a `TextKind`, or `passage`) by BM25 or by cosine. Of each candidate
    and kind all maxima are given, exact. `vectors` are those of the question's formulations, the main one first; without
    any no cosine is given. Raises DatabaseError.
    """
    first = next(iter(vectors), None)
    encoder = first.encoder if isinstance(first, hybrid.QuestionVector) else encoder_name()
    return study_scores.score(text, vectors, encoder=encoder, collection=collection, limit=limit)


# --- Passages and studies ---------------------------------------------------------------------------------------------


def load_passages(ids: Sequence[int]) -> tuple[records.Passage, ...]:
    """Return these passages in this order; those that are not searchable are left out."""
    found = {passage.passage_id: passage for passage in _passages(_SEARCHABLE_AMONG, list(ids))}
    return tuple(found[pk] for pk in ids if pk in found)


def passage_ids(study_id: str) -> tuple[int, ...]:
    """Return the searchable passages of a study, in their order."""
    rows = models.Passage.objects.searchable().filter(study__study_id=study_id)
    return tuple(rows.order_by("position").values_list("pk", flat=True))


def passages_among(study_ids: Sequence[str], passage_ids: Sequence[int]) -> tuple[records.Passage, ...]:
    """Return the searchable passages of these studies that are among these ids, in the order of their ids."""
    return _passages(_OF_STUDIES_AMONG, {"studies": list(study_ids), "passages": list(passage_ids)})


def plain_passages(study_ids: Sequence[str]) -> tuple[records.Passage, ...]:
    """Return the plain sentences of these studies: of each the takeaway, then its confirmed findings in their order.

    Studies that are not searchable have none.
    """
    own: dict[str, list[records.Passage]] = defaultdict(list)
    for passage in _passages(_PLAIN_OF_STUDIES, list(dict.fromkeys(study_ids))):
        own[passage.study.study_id].append(passage)
    return tuple(passage for study_id in dict.fromkeys(study_ids) for passage in own[study_id])


def find_passage(passage_id: int) -> records.Passage | None:
    """A passage of a published study, retracted ones included."""
    found = _passages(_WITH_ID, passage_id)
    return found[0] if found else None


def find_study(study_id: str) -> records.StudyPage | None:
    """A published study, retracted ones included; a draft or a withdrawn one is None like one that never was."""
    study = models.Study.objects.published().select_related("collection").filter(study_id=study_id).first()
    if study is None:
        return None
    named = list(study.studyconcept_set.order_by("position").values_list("concept", flat=True))
    return records.StudyPage(
        study=as_record(study, named),
        passages=_passages(_OF_STUDY, study_id, with_sentences=False),
        findings=tuple(
            _finding(study_id, f.pk, *(getattr(f, name) for name in _FINDING_FIELDS))
            for f in study.findings.filter(is_unconfirmed=False).order_by("position")
        ),
        concepts=tuple(concept for concept in concepts() if concept.concept_id in named),
        included_studies=study.n_studies,
        participants=study.n_participants,
        weeks=(study.duration_weeks_min, study.duration_weeks_max),
        collection_name=study.collection.name,
    )


def as_record(study: models.Study, concepts: Sequence[str]) -> records.Study:
    """A row of the table as it is handed out, with the ids of its concepts in their order."""
    fields = {"concepts": concepts}
    return _study([fields[name] if name in fields else getattr(study, name) for name in _STUDY_FIELDS])


def references(study_ids: Sequence[str]) -> tuple[records.Reference, ...]:
    """These studies as a list of sources names them, in the order of the ids; published ones only, retracted ones included."""
    if not study_ids:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_REFERENCES, [list(set(study_ids))])
        found = {row[0]: _reference(*row) for row in cursor.fetchall()}
    return tuple(found[study_id] for study_id in study_ids if study_id in found)


_REFERENCES = """
    SELECT study_id, title, authors, year, journal, doi, pmid, url, design, notice, population, n_participants, n_studies
    FROM corpus_app_study WHERE status = 'published' AND study_id = ANY(%s)
"""


def _reference(
    study_id: str, title: str, authors: list[str], year: int | None, journal: str | None, doi: str | None,
    pmid: str | None, url: str | None, design: str, notice: str, population: str, participants: int | None, included: int | None,
) -> records.Reference:  # fmt: skip
    return records.Reference(
        study_id, title, tuple(authors), year, journal, doi, pmid, url, records.Design(design), records.Notice(notice),
        population=population, participants=participants, included_studies=included,
    )  # fmt: skip


def findings(study_ids: Sequence[str]) -> tuple[records.Finding, ...]:
    """Return the confirmed findings of these studies, in the order of the ids and of the curator.

    Studies that are not published or are retracted have none.
    """
    if not study_ids:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_FINDINGS, [list(study_ids)])
        return tuple(_finding(*row) for row in cursor.fetchall())


_FINDINGS = """
    SELECT s.study_id, f.id, f.intervention, f.comparator, f.outcome, f.direction, f.statement, f.plain, f.lean
    FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (study_id, place)
    JOIN corpus_app_study s USING (study_id)
    JOIN corpus_app_finding f ON f.study_id = s.id
    WHERE s.status = 'published' AND s.notice <> 'retracted' AND NOT f.is_unconfirmed
    ORDER BY wanted.place, f.position
"""


_FINDING_FIELDS = ("intervention", "comparator", "outcome", "direction", "statement", "plain", "lean")


def _finding(
    study_id: str, pk: int, intervention: str, comparator: str, outcome: str, direction: str, statement: str,
    plain: str, lean: str,
) -> records.Finding:  # fmt: skip
    return records.Finding(
        intervention, comparator, outcome, records.Direction(direction), statement, finding_id=pk, study_id=study_id,
        plain=plain, lean=records.Lean(lean) if lean else None,
    )  # fmt: skip


def study_states(ids: Iterable[str]) -> dict[str, records.StudyState]:
    """What has become of these studies; deleted ones are absent."""
    if not (wanted := list(set(ids))):
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_STUDY_STATES, [wanted])
        return {
            study_id: records.StudyState(study_id, records.Status(status), records.Notice(notice), _iso(changed_at))
            for study_id, status, notice, changed_at in cursor.fetchall()
        }


_STUDY_STATES = "SELECT study_id, status, notice, state_changed_at FROM corpus_app_study WHERE study_id = ANY(%s)"


def states(
    study_ids: Iterable[str], passage_ids: Iterable[int]
) -> tuple[dict[str, records.StudyState], dict[int, records.PassageState]]:
    """What has become of these studies and of these passages, all of one moment; deleted ones are absent."""
    wanted_studies, wanted_passages = list(set(study_ids)), list(set(passage_ids))
    if not (wanted_studies or wanted_passages):
        return {}, {}
    studies: dict[str, records.StudyState] = {}
    passages: dict[int, records.PassageState] = {}
    with connection.cursor() as cursor:
        cursor.execute(_STATES, [wanted_studies, wanted_passages])
        for study_id, status, notice, changed_at, pk, version in cursor.fetchall():
            if pk is None:
                studies[study_id] = records.StudyState(
                    study_id, records.Status(status), records.Notice(notice), _iso(changed_at)
                )
            else:
                passages[pk] = records.PassageState(pk, version, _iso(changed_at))
    return studies, passages


STILL_THERE = """
    LEFT JOIN corpus_app_study AS study ON study.study_id = row.study_key
    LEFT JOIN corpus_app_passage AS passage ON passage.id = row.passage_key
"""
"""What a statement of another room joins its `row` to, to learn which study and which passage are there when it runs."""
_STATES = """
    SELECT study_id, status, notice, state_changed_at, NULL::bigint, NULL::int FROM corpus_app_study WHERE study_id = ANY(%s)
    UNION ALL
    SELECT NULL, NULL, NULL, text_changed_at, id, version FROM corpus_app_passage WHERE id = ANY(%s::bigint[])
"""
# Plain SQL: for forty passages the ORM would take longer to write these queries than PostgreSQL takes to answer them.
_PASSAGES = """
    SELECT p.id, p.version, p.position, p.section, p.page, p.heading, p.text, p.kind, p.finding_id,
           s.study_id, s.title, s.authors, s.year, s.journal, s.doi, s.url, s.design, s.peer_reviewed, s.collection_id,
           s.population, s.training_status, s.age_group, s.sex, s.status, s.notice,
           ARRAY(SELECT c.concept_id FROM corpus_app_studyconcept c WHERE c.study_id = s.id ORDER BY c.position), s.takeaway
    FROM corpus_app_passage p
    JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published'
"""
_SEARCHABLE_AMONG = "AND s.notice <> 'retracted' AND p.id = ANY(%s)"
_WITH_ID = "AND p.id = %s"
_OF_STUDY = "AND p.kind <> 'plain' AND s.study_id = %s ORDER BY p.position"
_OF_STUDIES_AMONG = """
    AND s.notice <> 'retracted' AND s.study_id = ANY(%(studies)s) AND p.id = ANY(%(passages)s::bigint[]) ORDER BY p.id
"""
_PLAIN_OF_STUDIES = (
    "AND s.notice <> 'retracted' AND p.kind = 'plain' AND s.study_id = ANY(%s) ORDER BY s.study_id, p.position"
)
_PASSAGE_COLUMNS = 9
_STUDY_FIELDS = (
    "study_id title authors year journal doi url design peer_reviewed collection_id "
    "population training_status age_group sex status notice concepts takeaway"
).split()
# Vectors are sent as bytes: reading hundreds of them as text would take longer than the search itself.
_SENTENCES = """
    SELECT passage_id, start, "end", CASE %s WHEN encoder THEN vector_send(vector) WHEN kept_encoder THEN vector_send(kept_vector) END, role, self_containedness
    FROM corpus_app_passagesentence WHERE passage_id = ANY(%s) ORDER BY passage_id, position
"""


def _passages(which: str, value: Any, *, with_sentences: bool = True) -> tuple[records.Passage, ...]:
    """Two queries, however many passages there are; one where nobody asks for their sentences."""
    if value == []:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_PASSAGES + which, value if isinstance(value, dict) else [value])
        rows = cursor.fetchall()
    sentences = _sentences([row[0] for row in rows]) if with_sentences else defaultdict(list)
    studies: dict[str, records.Study] = {}
    passages = []
    for row in rows:
        pk, version, position, section, page, heading, text, kind, finding_id = row[:_PASSAGE_COLUMNS]
        study_id = row[_PASSAGE_COLUMNS]
        if study_id not in studies:
            studies[study_id] = _study(row[_PASSAGE_COLUMNS:])
        passages.append(
            records.Passage(
                passage_id=pk,
                version=version,
                study=studies[study_id],
                position=position,
                section=records.Section(section),
                page=page,
                heading=heading,
                text=text,
                kind=records.PassageKind(kind),
                sentences=tuple(sentences[pk]),
                finding_id=finding_id,
            )
        )
    return tuple(passages)


def _study(row: Sequence[Any]) -> records.Study:
    fields = dict(zip(_STUDY_FIELDS, row, strict=True))
    return records.Study(
        study_id=fields["study_id"],
        title=fields["title"],
        authors=tuple(fields["authors"]),
        year=fields["year"],
        journal=fields["journal"],
        doi=fields["doi"],
        url=fields["url"],
        design=records.Design(fields["design"]),
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
    )


def _sentences(passage_ids: list[int]) -> dict[int, list[records.Sentence]]:
    with connection.cursor() as cursor:
        cursor.execute(_SENTENCES, [encoder_name(), passage_ids])
        rows = cursor.fetchall()
    found: dict[int, list[records.Sentence]] = defaultdict(list)
    for passage_pk, start, end, sent, role, self_containedness in rows:
        vector = None if sent is None else _unpack(sent)
        found[passage_pk].append(records.Sentence(start, end, vector, role, self_containedness))
    return found


def _unpack(sent: bytes) -> embedding.Matrix:
    vector = pipelining.unpacked(sent)
    vector.flags.writeable = False
    return vector


def _iso(moment: datetime.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


# --- The corpus as a whole --------------------------------------------------------------------------------------------


def corpus_version() -> int:
    """0 before anything was published."""
    return _version()[0]


def published_studies() -> tuple[tuple[int, records.Study], ...]:
    """All published studies with their keys, retracted ones included, in the order of their ids."""
    return once_per_version(_read_published_studies)


def corpus_changed_at() -> datetime.datetime | None:
    """When readers could last notice a change; None before anything was published."""
    return _version()[1]


def collections() -> tuple[records.Collection, ...]:
    return once_per_version(_read_collections)


def concepts() -> tuple[records.Concept, ...]:
    return once_per_version(_read_concepts)


def topic_ids() -> frozenset[str]:
    """The concepts that have a page: those that a published study carries, or that one relates to another."""
    return once_per_version(_read_topic_ids)


def vocabulary() -> Mapping[str, int]:
    """Words of the searchable passages as they are written, lower case, and in how many passages each stands."""
    return once_per_version(_vocabulary.read)


def is_word(word: str) -> bool:
    """Whether scientific English has this word, whatever the corpus says. Lower case."""
    return word in quality.standard()


def lexicons() -> Mapping[str, Mapping[str, Any]]:
    """Return the word lists of the corpus's subject by name, as their TOML reads, of the present corpus version."""
    return once_per_version(_read_lexicons)


def corpus_figures() -> dict[str, Any]:
    """How many published studies and searchable passages there are, and the studies of each collection."""
    studies = Counter(models.Study.objects.published().order_by().values_list("collection", flat=True))
    return {
        "studies": studies.total(),
        "passages": models.Passage.objects.searchable().count(),
        "collections": [
            {"slug": c.slug, "name": c.name, "description": c.description, "studies": studies[c.slug]}
            for c in collections()
        ],
        "corpus_version": corpus_version(),
    }


def corpus_digest() -> dict[str, Any]:
    """`passages`, and `sha256` over what the searchable ones say, study by study: two corpora with one digest read alike."""
    rows = models.Passage.objects.searchable().order_by("study__study_id", "position")
    read = list(rows.values_list("study__study_id", "content_hash"))
    return {"passages": len(read), "sha256": hashlib.sha256(repr(read).encode()).hexdigest()}


def _version() -> Version:
    return _snapshot_version.get() or _read_version()


def _read_version() -> Version:
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_VERSION)
        number, at = cursor.fetchone() or (0, None)
        return number, at


_NEWEST_VERSION = "SELECT number, at FROM corpus_app_corpusversion ORDER BY number DESC LIMIT 1"
_kept: dict[Callable[[], Any], tuple[Any, Any]] = {}
_kept_apart: ContextVar[dict[Callable[[], Any], tuple[Any, Any]] | None] = ContextVar("kept_apart", default=None)


@contextmanager
def without_version() -> Iterator[None]:
    """Keep what is read per corpus version apart: the caller's transaction holds changes that have no version yet."""
    before = _kept_apart.set({})
    try:
        yield
    finally:
        _kept_apart.reset(before)


def once_per_version(read: Callable[[], T]) -> T:
    """What `read` gave at this corpus version; before the first version it is read each time."""
    version = _version()
    apart = _kept_apart.get()
    kept = _kept if apart is None else apart
    kept_at, value = kept.get(read, (None, None))
    if kept_at != version or version[0] == 0:
        value = read()
        kept[read] = (version, value)
    found: T = value
    return found


def _read_published_studies() -> tuple[tuple[int, records.Study], ...]:
    concepts: dict[int, list[str]] = defaultdict(list)
    links = models.StudyConcept.objects.filter(study__status=records.Status.PUBLISHED).order_by("study", "position")
    for study_pk, concept_id in links.values_list("study_id", "concept_id"):
        concepts[study_pk].append(concept_id)
    rows = models.Study.objects.published().order_by("study_id")
    return tuple((row.pk, as_record(row, concepts[row.pk])) for row in rows.defer("curator_notes"))


def _read_collections() -> tuple[records.Collection, ...]:
    return tuple(
        records.Collection(c.slug, c.name, c.description, tuple(c.keywords)) for c in models.Collection.objects.all()
    )


def _read_lexicons() -> Mapping[str, Mapping[str, Any]]:
    rows = models.CorpusLexicon.objects.values_list("name", "content")
    return MappingProxyType({name: tomllib.loads(content) for name, content in rows})


def _read_topic_ids() -> frozenset[str]:
    with connection.cursor() as cursor:
        cursor.execute(_TOPIC_IDS)
        return frozenset(concept_id for (concept_id,) in cursor.fetchall())


_TOPIC_IDS = """
    WITH published AS (SELECT id FROM corpus_app_study WHERE status = 'published'),
    related AS (
        SELECT r.source_id, r.target_id FROM corpus_app_conceptrelation r
        WHERE EXISTS (
            SELECT FROM corpus_app_conceptrelationstudy behind JOIN published p ON p.id = behind.study_id WHERE behind.relation_id = r.id
        )
    )
    SELECT c.concept_id FROM corpus_app_studyconcept c JOIN published p ON p.id = c.study_id
    UNION SELECT source_id FROM related UNION SELECT target_id FROM related
"""


def _read_concepts() -> tuple[records.Concept, ...]:
    neighbours = _neighbours()
    published = models.Study.objects.published().count()
    public = Q(studies__status=records.Status.PUBLISHED)
    rows = models.Concept.objects.annotate(
        carried=Count("studies", filter=public),
        searched=Count("studies", filter=public & ~Q(studies__notice=records.Notice.RETRACTED)),
        names=_in_order(models.ConceptAlias, "name"),
        slugs=_in_order(models.ConceptCollection, "collection"),
    ).order_by("position", "concept_id")  # said again: a query that counts leaves the model's own order away
    return tuple(
        records.Concept(
            concept_id=concept_id,
            name=name,
            kind=kind,
            aliases=tuple(names),
            definition=definition,
            collections=tuple(slugs),
            neighbours=neighbours.get(concept_id, ()),
            rarity=records.rarity(carried, published),
            wanted=records.Wanted(wanted),
            is_studied=searched > 0 or concept_id in neighbours,
        )
        for concept_id, name, kind, definition, wanted, carried, searched, names, slugs in rows.values_list(
            "concept_id", "name", "kind", "definition", "wanted", "carried", "searched", "names", "slugs"
        )
    )


def _in_order(model: type[models.ConceptAlias | models.ConceptCollection], field: str) -> ArraySubquery:
    """What the rows of a concept say in this field."""
    rows = model._default_manager.filter(concept=OuterRef("pk")).order_by("position")
    return ArraySubquery(rows.values(field))


def _neighbours() -> dict[str, tuple[str, ...]]:
    """One hop in both directions, those with the most published studies behind them first."""
    published = Count("studies", filter=Q(studies__status=records.Status.PUBLISHED))
    relations = models.ConceptRelation.objects.annotate(behind=published).filter(behind__gt=0)
    strength: dict[str, Counter[str]] = defaultdict(Counter)
    for source, target, behind in relations.values_list("source", "target", "behind"):
        strength[source][target] += behind
        strength[target][source] += behind
    return {
        concept: tuple(sorted(others, key=lambda other: (-others[other], other)))
        for concept, others in strength.items()
    }
