"""The corpus as a whole: collections, concepts, lexicons and figures, each cached by corpus version."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.search import SearchQuery
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, Value

from corpus_app import indexing, models, records
from corpus_app.search.versions import corpus_version, once_per_version
from corpus_app.search.words import is_word
from corpus_app.site import Site
from corpus_app.sources import site_hash as file_hash
from corpus_app.sources import site_of

DIGESTED_AT_ONCE = 2_000  # passages
MEASURED_BY = "measured_by"  # a relation of the concept graph
_Relation = tuple[str, str, str, int]


def collections() -> tuple[records.Collection, ...]:
    """Return the collections, without those of which nothing is left."""
    return once_per_version(_read_collections)


def concepts() -> tuple[records.Concept, ...]:
    """Return all concepts, in the curator's order."""
    return once_per_version(_read_concepts)


def topic_ids() -> frozenset[str]:
    """Return the concepts that have a page: named by a published study, or related to another concept by one."""
    return once_per_version(_read_topic_ids)


def owner_name() -> str:
    """Return the name of whom the sources tell as the owner of the site; empty where they tell of none.

    It is the name of the site, or the author of more than half of the sources. Passages have it, or its first words; a
    single word of the dictionary is no name.
    """
    return once_per_version(_read_owner_name)


def _read_owner_name() -> str:
    published = models.Study.objects.published().order_by()
    alone = published.filter(authors__len=1).values_list("authors__0").annotate(own=Count("pk"))
    names = [site().texts.name, *(name for name, _ in alone.filter(own__gt=published.count() // 2))]
    return next((name for name in names if _occurs(name.split())), "")


def _occurs(words: Sequence[str]) -> bool:
    """Tell whether passages have a name, or its first words."""
    for last in range(len(words), 0, -1):
        name = " ".join(words[:last]).rstrip(",;:–—-| ")
        is_name = words[last - 1][:1].isupper() and (last > 1 or not is_word(name.lower()))
        if is_name and _passages_with(name).filter(text__contains=name).exists():
            return True
    return False


def _passages_with(words: str) -> models.PassageQuerySet:
    """Return the searchable passages that have all words, found by the index: a large corpus is not read for them."""
    query = SearchQuery(models.SearchText(Value(words)), config=models.TEXT_SEARCH_CONFIG)
    return models.Passage.objects.searchable().filter(lexemes=query)


def most_studied(limit: int) -> list[str]:
    """Return the ids of the concepts of most searchable studies, the most frequent first."""
    public = Q(studies__status=records.Status.PUBLISHED) & ~Q(studies__notice=records.Notice.RETRACTED)
    rows = models.Concept.objects.annotate(carried=Count("studies", filter=public)).filter(carried__gt=0)
    return list(rows.order_by("-carried", "concept_id").values_list("concept_id", flat=True)[:limit])


def lexicons() -> Mapping[str, Mapping[str, Any]]:
    """Return the corpus's lexicons by name, each as its parsed TOML."""
    return once_per_version(_read_lexicons)


def is_indexed() -> bool:
    """Return whether all published texts can be found by their meaning."""
    return not indexing.has_work(only_published=True)


def corpus_figures() -> dict[str, Any]:
    """Return the numbers of published studies and searchable passages, and the studies of each collection."""
    rows = models.Study.objects.published().order_by().values_list("collection").annotate(Count("pk"))
    studies = Counter(dict(rows))
    return {
        "studies": studies.total(),
        "passages": models.Passage.objects.searchable().count(),
        "collections": [
            {"slug": c.slug, "name": c.name, "description": c.description, "studies": studies[c.slug]}
            for c in collections()
        ],
        "corpus_version": corpus_version(),
    }


def curated_share() -> float:
    """Return the share of published studies with questions or plain words of curators; 0 where none is published."""
    return once_per_version(_read_curated_share)


def _read_curated_share() -> float:
    published = models.Study.objects.published()
    written = models.StudyText.objects.filter(study=OuterRef("pk"), kind__in=["question", "plain"])
    return published.filter(Exists(written)).count() / (published.count() or 1)


def corpus_digest() -> dict[str, Any]:
    """Return the number of searchable passages and a `sha256` over their content: equal for corpora of equal text."""
    rows = models.Passage.objects.searchable().order_by("study__study_id", "position")
    passages, digest = 0, hashlib.sha256(b"[")
    for row in rows.values_list("study__study_id", "content_hash").iterator(chunk_size=DIGESTED_AT_ONCE):
        digest.update(f"{', ' if passages else ''}{row!r}".encode())
        passages += 1
    digest.update(b"]")
    return {"passages": passages, "sha256": digest.hexdigest()}


def _read_collections() -> tuple[records.Collection, ...]:
    rows = models.Collection.objects.current()
    return tuple(records.Collection(c.slug, c.name, c.description, tuple(c.keywords)) for c in rows)


def site() -> Site:
    """Return the settings that the corpus declares of its site."""
    return once_per_version(_read_site)


def site_hash() -> str:
    """Return the first 16 hex digits of the SHA-256 of the site file; empty where the corpus has none."""
    return once_per_version(_read_site_hash)


def _read_site_hash() -> str:
    content = models.CorpusLexicon.objects.filter(name="site").values_list("content", flat=True).first()
    return file_hash(content or "")


def _read_site() -> Site:
    return site_of(lexicons().get("site", {}))


def _read_lexicons() -> Mapping[str, Mapping[str, Any]]:
    rows = models.CorpusLexicon.objects.values_list("name", "content")
    return MappingProxyType({name: tomllib.loads(content) for name, content in rows})


_TOPIC_IDS = """
    WITH published AS (SELECT id FROM corpus_app_study WHERE status = 'published'),
    related AS (
        SELECT r.source_id, r.target_id FROM corpus_app_conceptrelation r
        WHERE EXISTS (
            SELECT FROM corpus_app_conceptrelationstudy behind
            JOIN published p ON p.id = behind.study_id WHERE behind.relation_id = r.id
        )
    )
    SELECT c.concept_id FROM corpus_app_studyconcept c JOIN published p ON p.id = c.study_id
    UNION SELECT source_id FROM related UNION SELECT target_id FROM related
"""


def _read_topic_ids() -> frozenset[str]:
    with connection.cursor() as cursor:
        cursor.execute(_TOPIC_IDS)
        return frozenset(concept_id for (concept_id,) in cursor.fetchall())


def _read_concepts() -> tuple[records.Concept, ...]:
    relations, kinds = _read_relations(), site()
    neighbours, measures = _read_neighbours(relations), defaultdict(list)
    for source, relation, target, _ in relations:
        if relation == MEASURED_BY:
            measures[source].append(target)
    published = models.Study.objects.published().count()
    public = Q(studies__status=records.Status.PUBLISHED)
    rows = models.Concept.objects.annotate(
        carried=Count("studies", filter=public),
        searched=Count("studies", filter=public & ~Q(studies__notice=records.Notice.RETRACTED)),
        names=_array_of(models.ConceptAlias, "name"),
        slugs=_array_of(models.ConceptCollection, "collection"),
    ).order_by("position", "concept_id")  # an aggregating query ignores the model's default order
    return tuple(
        records.Concept(
            concept_id=concept_id,
            name=name,
            kind=kind,
            role=kinds.role_of(kind),
            aliases=tuple(names),
            definition=definition,
            collections=tuple(slugs),
            neighbours=neighbours.get(concept_id, ()),
            measured_by=tuple(measures[concept_id]),
            rarity=records.rarity(carried, published),
            wanted=records.Wanted(wanted),
            is_studied=searched > 0 or concept_id in neighbours,
        )
        for concept_id, name, kind, definition, wanted, carried, searched, names, slugs in rows.values_list(
            "concept_id", "name", "kind", "definition", "wanted", "carried", "searched", "names", "slugs"
        )
    )


def _array_of(model: type[models.ConceptAlias | models.ConceptCollection], field: str) -> ArraySubquery:
    rows = model._default_manager.filter(concept=OuterRef("pk")).order_by("position")
    return ArraySubquery(rows.values(field))


def _read_neighbours(relations: Sequence[_Relation]) -> dict[str, tuple[str, ...]]:
    """Return the related concepts of each concept, those backed by the most published studies first."""
    strength: dict[str, Counter[str]] = defaultdict(Counter)
    for source, _, target, behind in relations:
        strength[source][target] += behind
        strength[target][source] += behind
    return {
        concept: tuple(sorted(others, key=lambda other: (-others[other], other)))
        for concept, others in strength.items()
    }


def _read_relations() -> list[_Relation]:
    """Return source, kind and target of each relation that published studies support, with their number."""
    published = Count("studies", filter=Q(studies__status=records.Status.PUBLISHED))
    rows = models.ConceptRelation.objects.annotate(behind=published).filter(behind__gt=0)
    return list(rows.values_list("source_id", "relation", "target_id", "behind"))
