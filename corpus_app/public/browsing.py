"""Queries behind the public pages: studies by words and facets, one study, topics.

They read published studies alone, so that no count, facet or link reveals a draft or a withdrawn study.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import DatabaseError, connection
from django.db.models import Count, Q, QuerySet
from django.utils import formats
from django.utils.translation import gettext

from corpus_app import hooks, models, records, search
from corpus_app.facets import COLUMNS, key_of, parameter_of
from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText
from corpus_app.public import changes
from corpus_app.public.changes import Change
from corpus_app.public.selection import FIRST, LAST, Selection
from corpus_app.public.sorting import RankedStudy, SortedStudies
from corpus_app.records import ConceptRole, Status

PAGE_SIZE = 20
MOST_WORDS = 12  # of a search; further words are ignored
MOST_HITS = 1_000  # passages that are ranked
MOST_MATCHES = 5_000  # studies that a search for words finds, those with the most of its words first
MOST_OF_TOPIC = 500  # studies whose findings the page of a topic sorts, the newest
EXCERPT = "StartSel=\x02, StopSel=\x03, MaxWords=34, MinWords=20, MaxFragments=1"

NOT_STATED = frozenset({"not_reported", "not_applicable", "none"})


def known_values() -> Mapping[str, frozenset[str]]:
    """Return the values of each facet that a URL may name; only concepts of published studies are topics."""
    return {
        "collection": frozenset(collection.slug for collection in search.collections()),
        "design": frozenset(search.site().designs),
        **{parameter_of(key): frozenset(COLUMNS.get(key, facet.values)) for key, facet in search.site().facets.items()},
        "topic": frozenset(topics()),
        "notice": frozenset(records.Notice),
    }


def facets() -> tuple[str, ...]:
    """Return the names of the facets by which studies are filtered, as addresses have them."""
    return (*FIRST, *map(parameter_of, search.site().facets), *LAST)


def facet_names() -> Mapping[str, Mapping[str, str]]:
    """Return the names of collections and topics by facet, then by slug or id."""
    return {
        "collection": {collection.slug: collection.name for collection in search.collections()},
        "topic": {concept_id: topic.concept.name for concept_id, topic in topics().items()},
    }


def has_outcomes() -> bool:
    """Return whether one of the topics is an outcome."""
    return any(topic.concept.role is ConceptRole.OUTCOME for topic in topics().values())


def offered_values() -> Mapping[str, frozenset[str]]:
    """Return the values of each facet that the page offers: no "not reported", and as topics the outcomes, if any."""
    found = topics()
    outcomes = frozenset(key for key, topic in found.items() if topic.concept.role is ConceptRole.OUTCOME)
    offered = {"topic": outcomes or frozenset(found)}
    offered |= {parameter_of(key): frozenset(facet.values) for key, facet in search.site().facets.items()}
    return {facet: values - NOT_STATED for facet, values in known_values().items()} | offered


# --- Browse and search ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class StudyResult:
    """A study on a results page; with search words, also an excerpt that contains them."""

    study: records.Study
    excerpt: tuple[ExcerptPart, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultPage:
    """One page of the studies that match a selection."""

    listed: tuple[StudyResult, ...]
    total: int
    published: int
    page: int
    pages: int
    counts: Mapping[str, Mapping[str, int]]
    """Number of studies for each value of each facet, under the other filters."""
    years: Mapping[int, int]
    """Number of studies of each year, under the other filters."""
    some_words_only: bool = False
    """True if no study has all the words; these have the most of them."""
    too_common: bool = False
    """True if all words are stop words ("the", "of"), so that they filter nothing."""


@dataclass(frozen=True, slots=True)
class _Matches:
    scores: Mapping[int, float]
    """BM25 of each matching study's best passage; 0.0 where its authors or journal matched."""
    best: Mapping[int, int]
    """The best passage of each study."""
    some_words_only: bool = False
    too_common: bool = False


def browse(selection: Selection) -> ResultPage:
    """Return the selection's page of results, or the last page if there are fewer."""
    selected = select(selection)
    found, matches = selected.found, selected.matches
    pages = max(1, -(-len(found) // PAGE_SIZE))
    page = min(selection.page, pages)
    return ResultPage(
        listed=selected.listed(found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]),
        total=len(found),
        published=models.Study.objects.published().count(),
        page=page,
        pages=pages,
        counts=count_values(selection, matches),
        years=count_years(selection, matches),
        some_words_only=matches is not None and matches.some_words_only,
        too_common=matches is not None and matches.too_common,
    )


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """All studies that match a selection, sorted."""

    found: SortedStudies
    words: str
    matches: _Matches | None

    def listed(self, shown: Sequence[RankedStudy]) -> tuple[StudyResult, ...]:
        """Return results for some of the studies; with search words, each with an excerpt."""
        excerpts = _excerpts(self.words, self.matches, [row.pk for row in shown]) if self.matches else {}
        return tuple(StudyResult(row.study, excerpts.get(row.pk, ())) for row in shown)


def select(selection: Selection) -> SelectionResult:
    """Return all studies that match the selection; those of a page are read when it is taken."""
    matches = _match(selection.words) if selection.words else None
    scores = matches.scores if matches else {}
    return SelectionResult(
        SortedStudies(_selected(selection, matches), selection.sort, scores), selection.words, matches
    )


def _selected(selection: Selection, matches: _Matches | None, *, but: str = "") -> QuerySet[models.Study]:
    """Return the studies that match, by every filter except this one: a facet, or `years`."""
    rows = models.Study.objects.published()
    if matches is not None and not matches.too_common:
        rows = rows.filter(pk__in=list(matches.scores))
    for facet in facets():
        values = selection.values(facet)
        if not values or facet == but:
            continue
        if facet == "topic":
            rows = rows.filter(pk__in=models.StudyConcept.objects.filter(concept__in=values).values("study"))
        else:
            rows = rows.filter(search.fits([(key_of(facet), values)]))
    return rows if but == "years" else rows.filter(search.fits((), selection.first_year, selection.last_year))


def count_values(selection: Selection, matches: _Matches | None) -> Mapping[str, Mapping[str, int]]:
    """Return the number of studies for each value of each facet, under the other filters."""
    return {facet: _count_values(facet, _selected(selection, matches, but=facet).order_by()) for facet in facets()}


def _count_values(facet: str, rows: QuerySet[models.Study]) -> Mapping[str, int]:
    key = key_of(facet)
    if facet == "topic":
        links = models.StudyConcept.objects.filter(study__in=rows).order_by()
        return dict(links.values_list("concept").annotate(Count("pk")))
    if facet in (*FIRST, *LAST) or key in COLUMNS:
        return dict(rows.values_list(key).annotate(Count("pk")))
    values = list(search.site().facets[key].values)
    counts = rows.aggregate(
        **{f"n{n}": Count("pk", filter=Q(facets__contains={key: [value]})) for n, value in enumerate(values)}
    )
    return {value: counts[f"n{n}"] for n, value in enumerate(values) if counts[f"n{n}"]}


def count_years(selection: Selection, matches: _Matches | None) -> Mapping[int, int]:
    """Return the number of studies of each year, under the other filters."""
    rows = _selected(selection, matches, but="years").filter(year__isnull=False)
    return dict(rows.order_by().values_list("year").annotate(Count("pk")))


_NAMES = SearchText.template % {
    "expressions": "concat_ws(' ', array_to_string(authors, ' '), journal, study_id, doi, pmid)"
}
# A word matches a passage or title by its lexeme, and authors, journal, id and DOI as a prefix of a word.
# Retracted studies have no term statistics but have lexemes, so that readers can find them.
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
    FROM (SELECT id, count(*) AS words FROM hit GROUP BY id ORDER BY words DESC, id LIMIT %s) AS counted
""".replace("{names}", _NAMES)


def _match(text: str) -> _Matches:
    words = _words(text)
    with connection.cursor() as cursor:
        cursor.execute(_MATCHES, [TEXT_SEARCH_CONFIG, words, MOST_MATCHES])
        n_words, pks, counts = cursor.fetchone()
    if not n_words:
        return _Matches({}, {}, too_common=True)
    found = dict(zip(pks or (), counts or (), strict=True))
    most = max(found.values(), default=0)
    matching = {pk for pk, count in found.items() if count == most}
    scores, best = _score_studies(" ".join(words))
    return _Matches({pk: scores.get(pk, 0.0) for pk in matching}, best, some_words_only=0 < most < n_words)


def _words(text: str) -> list[str]:
    """Return the first words in lower case and without accents, normalised like the search index."""
    unaccented = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return list(dict.fromkeys(re.findall(r"[^\W_]+", unaccented.lower())))[:MOST_WORDS]


def _score_studies(text: str) -> tuple[dict[int, float], dict[int, int]]:
    """Return the best score and the best passage of each study by BM25; both are empty if the search fails."""
    try:
        hits = search.find(text, None, limit=MOST_HITS).hits
    except DatabaseError:
        return {}, {}
    studies = dict(
        models.Passage.objects.searchable()
        .filter(pk__in=[hit.passage_id for hit in hits])
        .values_list("pk", "study_id")
    )
    scores: dict[int, float] = {}
    best: dict[int, int] = {}
    for hit in hits:
        study_pk = studies.get(hit.passage_id)
        if study_pk is not None and hit.bm25 > scores.get(study_pk, 0.0):
            scores[study_pk], best[study_pk] = hit.bm25, hit.passage_id
    return scores, best


def _excerpts(text: str, matches: _Matches, studies: Sequence[int]) -> dict[int, tuple[ExcerptPart, ...]]:
    passages = [matches.best[pk] for pk in studies if pk in matches.best]
    if not passages:
        return {}
    with connection.cursor() as cursor:
        words = " or ".join(_words(text))
        cursor.execute(_EXCERPTS, [TEXT_SEARCH_CONFIG, TEXT_SEARCH_CONFIG, words, EXCERPT, passages])
        return {
            study_pk: _split_excerpt(excerpt, text)
            for study_pk, excerpt, text in cursor.fetchall()
            if "\x02" in excerpt
        }


_EXCERPTS = """
    SELECT p.study_id, ts_headline(%s::regconfig, p.text, websearch_to_tsquery(%s::regconfig, %s), %s), p.text
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND p.id = ANY(%s)
"""


def _split_excerpt(excerpt: str, text: str) -> tuple[ExcerptPart, ...]:
    """Split an excerpt at its marks, with an ellipsis where the passage continues."""
    plain = re.sub("[\x02\x03]", "", excerpt)
    before = "" if text.startswith(plain) else "… "
    after = "" if text.endswith(plain) else " …"
    parts = re.split("\x02([^\x02\x03]*)\x03", f"{before}{excerpt}{after}")
    return tuple(ExcerptPart(part, marked=bool(index % 2)) for index, part in enumerate(parts) if part)


# --- One study --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyDetail:
    """A published study with everything that its page shows."""

    page: records.StudyPage
    duration: str
    """In words; empty if not reported."""
    history: tuple[Change, ...]
    cited_by: int | None
    """Number of answers that quote it; None if no counter is registered."""
    answered: Sequence[records.AnsweredQuestion]
    """Publicly listed questions whose answers cite it."""
    offered: Sequence[str]
    """Curated questions that it answers."""


def find_study(study_id: str, *, with_archived: bool = False) -> StudyDetail | None:
    """Return a published study; None for drafts, withdrawn and unknown studies."""
    page = search.find_study(study_id, with_archived=with_archived)
    if page is None:
        return None
    return StudyDetail(
        page=page,
        duration=_duration(*page.weeks),
        history=changes.of_study(page.study),
        cited_by=_cited_by(study_id),
        answered=[row for source in hooks.answered_questions_citing for row in source(study_id)],
        offered=[row for source in hooks.offered_questions_of for row in source(study_id)],
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
    """Format `6` or `6.5` in the page's language."""
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
    """A relation between a topic and its neighbour."""

    relation: str
    outward: bool
    """True if it points from the topic to the neighbour."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    topic: Topic
    links: tuple[Link, ...]
    behind: int
    """Number of published studies that support these relations, summed over the relations."""


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
    """The newest of them, at most MOST_OF_TOPIC."""
    findings: Mapping[records.Direction, tuple[TopicFinding, ...]]
    """Findings of unretracted studies that name the topic."""
    answered: Sequence[records.AnsweredQuestion]
    """Publicly listed questions that name the topic."""
    offered: Sequence[str]
    """Curated questions that name the topic."""


def topics() -> Mapping[str, Topic]:
    """Return the concepts of published studies and of their relations by id, in the curators' order."""
    return search.once_per_version(_read_topics)


def _read_topics() -> Mapping[str, Topic]:
    public = models.StudyConcept.objects.filter(study__status=Status.PUBLISHED)
    carried = Counter(dict(public.order_by().values_list("concept").annotate(Count("pk"))))
    return {
        concept.concept_id: Topic(concept, carried[concept.concept_id])
        for concept in search.concepts()
        if carried[concept.concept_id] or concept.neighbours
    }


def find_topic(concept_id: str) -> TopicPage | None:
    """Return the page of a topic; None for unknown concepts and for those without a published study."""
    known = topics()
    topic = known.get(concept_id)
    if topic is None:
        return None
    on_it = models.Study.objects.published().filter(studyconcept__concept=concept_id)
    studies = tuple(row.study for row in SortedStudies(on_it, "newest")[:MOST_OF_TOPIC])
    return TopicPage(
        topic=topic,
        neighbours=tuple(_neighbours(concept_id, known)),
        studies=studies,
        findings=_findings(topic.concept, studies),
        answered=[row for source in hooks.answered_questions_about for row in source(concept_id)],
        offered=[row for source in hooks.offered_questions_about for row in source(concept_id)],
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
    for pk, source, relation, target in relations:  # one row per relation and study
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
    by_id = {study.study_id: study for study in studies}
    found: dict[records.Direction, list[TopicFinding]] = {direction: [] for direction in records.Direction}
    for finding in search.findings([study.study_id for study in studies]):
        if any(named.search(text) for text in (finding.intervention, finding.outcome, finding.statement)):
            found[finding.direction].append(TopicFinding(by_id[finding.study_id], finding))
    return {direction: tuple(rows) for direction, rows in found.items() if rows}
