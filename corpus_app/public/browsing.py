"""What pages of the corpus read: published studies by words and facets, one study, topics.

Every count, facet and link here comes from published studies alone: of a draft or a withdrawn study nothing is told.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import formats
from django.utils.translation import gettext

from corpus_app import hooks, models, records, search
from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText
from corpus_app.public import changes
from corpus_app.public.changes import Change
from corpus_app.public.selection import FACETS, Selection
from corpus_app.public.shelf import Shelved, shelf
from corpus_app.records import Status

PAGE_SIZE = 20
MOST_WORDS = 12  # of a search; the others are not looked for
MOST_HITS = 1_000  # passages whose rank by words decides the order
EXCERPT = "StartSel=\x02, StopSel=\x03, MaxWords=34, MinWords=20, MaxFragments=1"

UNSAID = frozenset({"not_reported", "not_applicable", "none"})
OUTCOME = "outcome"  # the kind of concept that the facet of topics offers


def known_values() -> Mapping[str, frozenset[str]]:
    """The values of each facet that an address may name. A concept that no published study carries is none."""
    return {
        "collection": frozenset(collection.slug for collection in search.collections()),
        "design": frozenset(records.Design),
        "age": frozenset(records.AgeGroup),
        "sex": frozenset(records.Sex),
        "training": frozenset(records.TrainingStatus),
        "topic": frozenset(topics()),
        "notice": frozenset(records.Notice),
    }


def names() -> Mapping[str, Mapping[str, str]]:
    """What collections and topics are called: by facet, then by slug or id."""
    return {
        "collection": {collection.slug: collection.name for collection in search.collections()},
        "topic": {concept_id: topic.concept.name for concept_id, topic in topics().items()},
    }


def offered_values() -> Mapping[str, frozenset[str]]:
    """The values of each facet that a list offers: not what says nothing, and of topics the outcomes alone."""
    outcomes = frozenset(key for key, topic in topics().items() if topic.concept.kind == OUTCOME)
    return {facet: values - UNSAID for facet, values in known_values().items()} | {"topic": outcomes}


# --- Browse and search ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """A study on a page of results; with words, a stretch of its passage that has them."""

    study: records.Study
    excerpt: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Browsed:
    """One page of what a selection finds."""

    listed: tuple[Listed, ...]
    total: int
    published: int
    page: int
    pages: int
    counts: Mapping[str, Mapping[str, int]]
    """Of each facet's values, how many studies there are under the other filters."""
    years: Mapping[int, int]
    """Studies of each year under the other filters."""
    some_words_only: bool = False
    """No study has all the words; these have the most of them."""
    too_common: bool = False
    """The words say nothing by themselves ("the", "of"), so nothing was searched for."""


@dataclass(frozen=True, slots=True)
class _Matches:
    scores: Mapping[int, float]
    """BM25 of each matching study's best passage; 0.0 where its authors or journal matched."""
    best: Mapping[int, int]
    """The passage that is its best."""
    some_words_only: bool = False
    too_common: bool = False


def browse(selection: Selection) -> Browsed:
    """What the selection finds, on its page or on the last one that there is."""
    studies = shelf()
    selected = select(selection)
    found, matches = selected.found, selected.matches
    pages = max(1, -(-len(found) // PAGE_SIZE))
    page = min(selection.page, pages)
    return Browsed(
        listed=selected.listed(found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]),
        total=len(found),
        published=len(studies),
        page=page,
        pages=pages,
        counts=selected.counts,
        years=selected.years,
        some_words_only=matches is not None and matches.some_words_only,
        too_common=matches is not None and matches.too_common,
    )


@dataclass(frozen=True, slots=True)
class Placed:
    """A study that a selection finds, and its place in the order: no two have the same."""

    key: tuple[Any, ...]
    shelved: Shelved


@dataclass(frozen=True, slots=True)
class Selected:
    """All that a selection finds, in its order."""

    found: Sequence[Placed]
    words: str
    matches: _Matches | None
    counts: Mapping[str, Mapping[str, int]]
    years: Mapping[int, int]

    def listed(self, shown: Sequence[Placed]) -> tuple[Listed, ...]:
        """Some of them as a list shows them: with words, each with an excerpt that has them."""
        studies = [placed.shelved for placed in shown]
        excerpts = _excerpts(self.words, self.matches, studies) if self.matches else {}
        return tuple(Listed(shelved.study, excerpts.get(shelved.pk, ())) for shelved in studies)


def select(selection: Selection) -> Selected:
    """Everything that fits, whatever its page."""
    matches = _match(selection.words) if selection.words else None
    is_searched = matches is not None and not matches.too_common
    found: list[Shelved] = []
    counts: dict[str, Counter[str]] = {facet: Counter() for facet in FACETS}
    years: Counter[int] = Counter()
    wanted = [(facet, selection.values(facet)) for facet in FACETS]
    for shelved in shelf():
        if is_searched and matches is not None and shelved.pk not in matches.scores:
            continue
        missed = [facet for facet, values in wanted if not shelved.fits(facet, values)]
        missed += [] if shelved.fits_years(selection) else ["years"]
        if not missed:
            found.append(shelved)
        for facet in FACETS:
            if not missed or missed == [facet]:
                counts[facet].update(shelved.values(facet))
        if shelved.study.year is not None and (not missed or missed == ["years"]):
            years[shelved.study.year] += 1
    placed = _placed(found, selection.sort, matches.scores if matches else {})
    return Selected(placed, selection.words, matches, counts, years)


def _placed(found: Sequence[Shelved], sort: str, scores: Mapping[int, float]) -> list[Placed]:
    def title(shelved: Shelved) -> tuple[Any, ...]:
        return shelved.study.title.casefold(), shelved.study.study_id

    def newest(shelved: Shelved) -> tuple[Any, ...]:
        return -(shelved.study.year or 0), *title(shelved)

    def relevance(shelved: Shelved) -> tuple[Any, ...]:
        return -scores.get(shelved.pk, 0.0), *newest(shelved)

    key = {"title": title, "newest": newest}.get(sort, relevance)
    return sorted((Placed(key(shelved), shelved) for shelved in found), key=lambda placed: placed.key)


_NAMES = SearchText.template % {
    "expressions": "concat_ws(' ', array_to_string(authors, ' '), journal, study_id, doi, pmid)"
}
# A word is found in a passage or its title as the search finds it, and in authors, journal, id and DOI where it begins a
# word. Retracted studies have no term statistics, but they have lexemes: readers may look for them.
_MATCHES = """
    WITH asked AS MATERIALIZED (
        SELECT n, word, plainto_tsquery(%s::regconfig, word) AS lexemes
        FROM unnest(%s::text[]) WITH ORDINALITY AS given (word, n)
    ),
    telling AS MATERIALIZED (SELECT * FROM asked WHERE numnode(lexemes) > 0),
    named AS MATERIALIZED (
        SELECT id, ' ' || regexp_replace(lower({names}), '[^[:alnum:]]+', ' ', 'g') AS names
        FROM corpus_app_study WHERE status = 'published'
    ),
    hit AS (
        SELECT telling.n, p.study_id AS id FROM telling
        JOIN corpus_app_passage p ON p.lexemes @@ telling.lexemes
        JOIN named ON named.id = p.study_id
        UNION
        SELECT telling.n, named.id FROM telling JOIN named ON strpos(named.names, ' ' || telling.word) > 0
    )
    SELECT (SELECT count(*) FROM telling), array_agg(id), array_agg(words)
    FROM (SELECT id, count(*) AS words FROM hit GROUP BY id) AS counted
""".replace("{names}", _NAMES)


def _match(text: str) -> _Matches:
    words = _words(text)
    with connection.cursor() as cursor:
        cursor.execute(_MATCHES, [TEXT_SEARCH_CONFIG, words])
        telling, pks, counts = cursor.fetchone()
    if not telling:
        return _Matches({}, {}, too_common=True)
    found = dict(zip(pks or (), counts or (), strict=True))
    most = max(found.values(), default=0)
    kept = {pk for pk, count in found.items() if count == most}
    scores, best = _ranked(" ".join(words))
    return _Matches({pk: scores.get(pk, 0.0) for pk in kept}, best, some_words_only=0 < most < telling)


def _words(text: str) -> list[str]:
    """The first words, lower case and without accents, as the search's own shadow of a text has them."""
    shadow = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return list(dict.fromkeys(re.findall(r"[^\W_]+", shadow.lower())))[:MOST_WORDS]


def _ranked(text: str) -> tuple[dict[int, float], dict[int, int]]:
    """The best score and passage of each study that the search by words finds; none where the search fails."""
    try:
        hits = search.find(text, None, limit=MOST_HITS).hits
    except DatabaseError:
        return {}, {}
    of_study = dict(
        models.Passage.objects.searchable()
        .filter(pk__in=[hit.passage_id for hit in hits])
        .values_list("pk", "study_id")
    )
    scores: dict[int, float] = {}
    best: dict[int, int] = {}
    for hit in hits:
        study_pk = of_study.get(hit.passage_id)
        if study_pk is not None and hit.bm25 > scores.get(study_pk, 0.0):
            scores[study_pk], best[study_pk] = hit.bm25, hit.passage_id
    return scores, best


def _excerpts(text: str, matches: _Matches, shown: Sequence[Shelved]) -> dict[int, tuple[Piece, ...]]:
    passages = [matches.best[shelved.pk] for shelved in shown if shelved.pk in matches.best]
    if not passages:
        return {}
    with connection.cursor() as cursor:
        words = " or ".join(_words(text))
        cursor.execute(_EXCERPTS, [TEXT_SEARCH_CONFIG, TEXT_SEARCH_CONFIG, words, EXCERPT, passages])
        return {study_pk: _pieces(excerpt, text) for study_pk, excerpt, text in cursor.fetchall() if "\x02" in excerpt}


_EXCERPTS = """
    SELECT p.study_id, ts_headline(%s::regconfig, p.text, websearch_to_tsquery(%s::regconfig, %s), %s), p.text
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND p.id = ANY(%s)
"""


def _pieces(excerpt: str, text: str) -> tuple[Piece, ...]:
    """The excerpt cut at its marks, with dots where the passage goes on."""
    plain = re.sub("[\x02\x03]", "", excerpt)
    before = "" if text.startswith(plain) else "… "
    after = "" if text.endswith(plain) else " …"
    parts = re.split("\x02([^\x03]*)\x03", f"{before}{excerpt}{after}")
    return tuple(Piece(part, marked=bool(index % 2)) for index, part in enumerate(parts) if part)


# --- One study --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyDetail:
    """A published study with what its page adds to the passages."""

    page: records.StudyPage
    duration: str
    """In words; empty where it was not reported."""
    history: tuple[Change, ...]
    cited_by: int | None
    """Answers that quote it; None where nobody counts them."""
    answered: Sequence[records.AnsweredQuestion]
    """Questions approved for other readers whose answers cite it."""


def find_study(study_id: str) -> StudyDetail | None:
    """A published study; None for a draft, a withdrawn and an absent one alike."""
    page = search.find_study(study_id)
    if page is None:
        return None
    return StudyDetail(
        page=page,
        duration=_duration(*page.weeks),
        history=changes.of_study(page.study),
        cited_by=_cited_by(study_id),
        answered=[row for source in hooks.answered_questions_citing for row in source(study_id)],
    )


def _duration(shortest: float | None, longest: float | None) -> str:
    if shortest is None and longest is None:
        return ""
    if shortest is None or longest is None:
        if shortest is None:
            return gettext("up to %(longest)s weeks") % {"longest": _number(longest)}
        return gettext("%(shortest)s weeks or more") % {"shortest": _number(shortest)}
    if shortest == longest:
        return gettext("%(n)s weeks") % {"n": _number(shortest)}
    return gettext("%(shortest)s to %(longest)s weeks") % {"shortest": _number(shortest), "longest": _number(longest)}


def _number(value: float | None) -> str:
    """`6` or `6.5`, as the page's language writes it."""
    return f"{value or 0:g}".replace(".", str(formats.get_format("DECIMAL_SEPARATOR")))


def _cited_by(study_id: str) -> int | None:
    counts = [count([study_id]).get(study_id, 0) for count in hooks.citation_counters]
    return sum(counts) if counts else None


# --- Topics -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    concept: records.Concept
    studies: int


@dataclass(frozen=True, slots=True)
class Link:
    """One relation between a topic and its neighbour."""

    relation: str
    outward: bool
    """Whether it goes from the topic to the neighbour."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    topic: Topic
    links: tuple[Link, ...]
    behind: int
    """Published studies behind these relations, each relation's counted."""


@dataclass(frozen=True, slots=True)
class TopicFinding:
    study: records.Study
    finding: records.Finding


@dataclass(frozen=True, slots=True)
class TopicPage:
    topic: Topic
    neighbours: tuple[Neighbour, ...]
    """Strongest first."""
    studies: tuple[records.Study, ...]
    """Newest first."""
    findings: Mapping[records.Direction, tuple[TopicFinding, ...]]
    """What these studies found about the topic by name; of studies that are not retracted."""
    answered: Sequence[records.AnsweredQuestion]
    """Questions approved for other readers that name the topic."""


def topics() -> Mapping[str, Topic]:
    """Concepts that a published study carries, or that one relates to another, by id, in the curators' order."""
    return search.once_per_version(_read_topics)


def _read_topics() -> Mapping[str, Topic]:
    carried = Counter(concept_id for shelved in shelf() for concept_id in shelved.study.concepts)
    return {
        concept.concept_id: Topic(concept, carried[concept.concept_id])
        for concept in search.concepts()
        if carried[concept.concept_id] or concept.neighbours
    }


def find_topic(concept_id: str) -> TopicPage | None:
    """None for a concept that no published study has to do with, and for one that there is not."""
    known = topics()
    topic = known.get(concept_id)
    if topic is None:
        return None
    on_it = [shelved for shelved in shelf() if concept_id in shelved.study.concepts]
    studies = tuple(placed.shelved.study for placed in _placed(on_it, "newest", {}))
    return TopicPage(
        topic=topic,
        neighbours=tuple(_neighbours(concept_id, known)),
        studies=studies,
        findings=_findings(topic.concept, studies),
        answered=[row for source in hooks.answered_questions_about for row in source(concept_id)],
    )


def _neighbours(concept_id: str, known: Mapping[str, Topic]) -> Iterator[Neighbour]:
    relations = (
        models.ConceptRelation.objects.filter(Q(source=concept_id) | Q(target=concept_id))
        .filter(studies__status=Status.PUBLISHED)
        .order_by("position", "id")
        .values_list("id", "source_id", "relation", "target_id")
    )
    links: dict[str, list[Link]] = defaultdict(list)
    behind: Counter[str] = Counter()
    seen: set[int] = set()
    for pk, source, relation, target in relations:  # a row for each study behind a relation
        outward = source == concept_id
        other = target if outward else source
        behind[other] += 1
        if pk not in seen:
            seen.add(pk)
            links[other].append(Link(relation, outward))
    for other in sorted(links, key=lambda other: (-behind[other], other)):
        if other in known:
            yield Neighbour(known[other], tuple(links[other]), behind[other])


def _findings(
    concept: records.Concept, studies: Sequence[records.Study]
) -> Mapping[records.Direction, tuple[TopicFinding, ...]]:
    names = "|".join(re.escape(name) for name in (concept.name, *concept.aliases))
    named = re.compile(rf"(?<!\w)(?:{names})(?:s|es)?(?!\w)", re.IGNORECASE)
    of_id = {study.study_id: study for study in studies}
    found: dict[records.Direction, list[TopicFinding]] = {direction: [] for direction in records.Direction}
    for finding in search.findings([study.study_id for study in studies]):
        if any(named.search(text) for text in (finding.intervention, finding.outcome, finding.statement)):
            found[finding.direction].append(TopicFinding(of_id[finding.study_id], finding))
    return {direction: tuple(rows) for direction, rows in found.items() if rows}
