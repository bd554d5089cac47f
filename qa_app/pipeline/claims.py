"""Check a claim against the passages of a corpus: what supports it, what contradicts it, and in which people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

import numpy as np

from common.orders import gives_orders
from corpus_app.records import Passage, PassageKind, Section, Study
from qa_app.pipeline.attribution import differing_traits
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Corpus
from qa_app.pipeline.query import AskedFacets, Query
from qa_app.pipeline.question.wording import ENGLISH, split_sentences
from qa_app.pipeline.records import LeftOutReason, Span
from qa_app.pipeline.retrieval import Retrieved, fuse, load_pool
from qa_app.pipeline.text import content_stems, stem
from qa_app.pipeline.verification.lexicon import Kind
from qa_app.pipeline.verification.reading import read
from qa_app.pipeline.verification.statements import NEARNESS, ClaimComparison, ReadSentence, Stance, StatementReader

MOST_CLAIMS = 50
POOL = 24  # passages that the search finds
PLAIN_STUDIES = 6  # studies whose plain sentences are read too
MOST_SENTENCES = 48  # that are compared with a claim, the nearest by meaning
MOST_SPANS = 6  # shown for a claim, one a study
NEAREST = 3  # spans shown where nothing supports or contradicts
LIKELY = 0.5
"""Chance that a study answers from which a sentence of it may have fewer of the claim's words."""
LIKELY_NEARNESS = 0.3
NEAR_COSINE = 0.75
"""Cosine from which a sentence is on the claim's matter, whatever its words."""
TIE = 0.05
"""Nearness within which two sentences of one study count alike."""
_WITHOUT_RESULTS = frozenset({Section.INTRODUCTION, Section.BACKGROUND, Section.METHODS})
_STATES_NONE = frozenset({"background", "objective", "method"})
SHORTEST_CLAIM = 3  # content words and figures
_LABEL = re.compile(r"^(?:\[?\(?\d{1,2}:\d{2}(?::\d{2})?\)?\]?\s*[-–—]?\s*)?(?:[A-Z][\w.’' -]{0,30}:\s+)?")


class ClaimVerdict(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    MIXED = "mixed"
    NOT_COVERED = "not_covered"


class ClaimNote(StrEnum):
    """A warning that goes with a verdict."""

    OTHER_PEOPLE = "other_people"
    """Passages say so, but of other people than the claim."""
    UNDECIDED = "undecided"
    """Passages are on the matter, and their words neither say nor deny it."""
    NO_ADVICE = "no_advice"
    """The claim says what ought to be done, and no passage advises for or against it."""
    OTHER_LANGUAGE = "other_language"
    """The claim is not in English, so nothing is said about the studies."""


class Skipped(StrEnum):
    """Why a sentence of a text is no claim."""

    QUESTION = "question"
    TOO_SHORT = "too_short"
    BEYOND_LIMIT = "beyond_limit"


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A sentence of a pasted text: code points `start` to `end` (exclusive)."""

    text: str
    start: int
    end: int
    skipped: Skipped | None = None
    """Why it is not checked; None for a claim."""


@dataclass(frozen=True, slots=True)
class ClaimSpan:
    """The words of a passage that speak on a claim."""

    stance: Stance | None
    """None for words that are near and say neither."""
    span: Span
    passage: Passage
    reason: LeftOutReason | None = None
    """Why it contradicts."""
    people: str = ""
    """The people of the study where the claim names others; empty where they fit."""


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    verdict: ClaimVerdict
    spans: tuple[ClaimSpan, ...] = ()
    """Those that decide, the nearest first; where none does, the nearest passages."""
    note: ClaimNote | None = None


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: Passage
    place: int
    """Of the sentence in its passage."""
    cosine: float

    @property
    def text(self) -> str:
        at = self.passage.sentences[self.place]
        return self.passage.text[at.start : at.end]

    @property
    def gives_orders(self) -> bool:
        """Tell whether it addresses a machine; such a sentence is never quoted."""
        return gives_orders(self.text)

    @property
    def span(self) -> Span:
        at, passage = self.passage.sentences[self.place], self.passage
        return Span(passage.passage_id, passage.version, passage.study.study_id, at.start, at.end, self.text)


@dataclass(frozen=True, slots=True)
class _Compared:
    comparison: ClaimComparison
    near: _Sentence
    people: str = ""

    @property
    def nearness(self) -> float:
        """Return the mean of the nearness by words and by meaning."""
        return (self.comparison.nearness + self.near.cosine) / 2

    @property
    def rank(self) -> tuple[float, bool, int]:
        passage = self.near.passage
        return (-self.nearness, passage.kind is PassageKind.PLAIN, passage.passage_id)


def split_claims(text: str) -> tuple[ClaimText, ...]:
    """Split a pasted text into sentences; speakers and times of a transcript are left out of them.

    Questions, fragments and whatever comes after the first fifty claims are marked as skipped.
    """
    found: list[ClaimText] = []
    claims = 0
    for start, end in _sentences(text):
        words = text[start:end]
        skipped = _skipped(words)
        if skipped is None and claims == MOST_CLAIMS:
            skipped = Skipped.BEYOND_LIMIT
        claims += skipped is None
        found.append(ClaimText(words, start, end, skipped))
    return tuple(found)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for line in re.finditer(r"[^\r\n]+", text):
        at = line.start() + len((_LABEL.match(line[0]) or [""])[0])
        for sentence in split_sentences(text[at : line.end()]):
            start = text.index(sentence, at) if sentence else at
            at = start + len(sentence)
            stripped = sentence.strip(' \t-–—•*"“”')
            if stripped:
                first = text.index(stripped, start)
                yield first, first + len(stripped)


def _skipped(sentence: str) -> Skipped | None:
    if sentence.rstrip("\"”') ").endswith("?"):
        return Skipped.QUESTION
    figures = sum(token.kind is Kind.NUMBER for token in read(sentence))
    return Skipped.TOO_SHORT if len(content_stems(sentence)) + figures < SHORTEST_CLAIM else None


def check_claim(
    query: Query, retrieved: Retrieved, corpus: Corpus, policy: Policy, reader: StatementReader
) -> CheckedClaim:
    """Return the verdict on the claim that a query holds, by the passages found for it. Raises DatabaseError."""
    passages = _passages(retrieved, corpus, policy)
    claim = reader.read(query.text)
    nearest = _nearest_sentences(retrieved, passages)
    judged = list(_judge(claim, query, retrieved, reader, nearest))
    studies: dict[str, list[_Compared]] = {}
    for row in judged:
        studies.setdefault(row.near.passage.study.study_id, []).append(row)
    by_study = sorted((row for rows in studies.values() for row in _decide(rows)), key=lambda row: row.rank)
    fitting = [row for row in by_study if not row.people]
    stances = {row.comparison.stance for row in fitting}
    if stances:
        verdict = ClaimVerdict.MIXED if len(stances) > 1 else _VERDICTS[stances.pop()]
        return CheckedClaim(verdict, tuple(map(_decisive, by_study[:MOST_SPANS])))
    if by_study:
        return CheckedClaim(
            ClaimVerdict.NOT_COVERED, tuple(map(_decisive, by_study[:MOST_SPANS])), ClaimNote.OTHER_PEOPLE
        )
    if query.language != ENGLISH:
        return CheckedClaim(ClaimVerdict.NOT_COVERED, (), ClaimNote.OTHER_LANGUAGE)
    note = ClaimNote.NO_ADVICE if claim.obliges else ClaimNote.UNDECIDED if retrieved.is_answerable else None
    return CheckedClaim(ClaimVerdict.NOT_COVERED, tuple(_shown(nearest)), note)


_VERDICTS = {Stance.SUPPORTS: ClaimVerdict.SUPPORTED, Stance.CONTRADICTS: ClaimVerdict.CONTRADICTED}


def _passages(retrieved: Retrieved, corpus: Corpus, policy: Policy) -> tuple[Passage, ...]:
    ids = list(fuse(retrieved.found.hits, policy.lexical_weight))[:POOL]
    studies = [study_id for study_id, _ in retrieved.ranked[:PLAIN_STUDIES]]
    return load_pool(ids, corpus) + corpus.plain_passages(studies)


def _nearest_sentences(retrieved: Retrieved, passages: Sequence[Passage]) -> list[_Sentence]:
    """Return the sentences that may state a result, the nearest by meaning first; by words where there is no vector."""
    rows = []
    for rank, passage in enumerate(passages):
        if passage.section in _WITHOUT_RESULTS:
            continue
        for place, sentence in enumerate(passage.sentences):
            if sentence.role in _STATES_NONE:
                continue
            has_vector = retrieved.vector is not None and sentence.vector is not None
            cosine = float(np.dot(np.asarray(retrieved.vector), np.asarray(sentence.vector))) if has_vector else 0.0
            rows.append((-cosine, rank, place))
    return [_Sentence(passages[rank], place, -negative) for negative, rank, place in sorted(rows)[:MOST_SENTENCES]]


def _judge(
    claim: ReadSentence, query: Query, retrieved: Retrieved, reader: StatementReader, nearest: Sequence[_Sentence]
) -> Iterator[_Compared]:
    """Yield the sentences that support or contradict a claim."""
    contexts: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
    for near in nearest:
        passage, study = near.passage, near.passage.study
        if passage.passage_id not in contexts:
            own = reader.words(f"{passage.heading}. {passage.text}")
            contexts[passage.passage_id] = own, own | reader.words(f"{study.title}. {study.population}")
        own, around = contexts[passage.passage_id]
        least = LIKELY_NEARNESS if retrieved.chances.get(study.study_id, 0.0) >= LIKELY else NEARNESS
        is_near = near.cosine >= NEAR_COSINE
        comparison = reader.compare(claim, reader.read(near.text), around, least=least, is_near=is_near)
        if comparison is not None and not near.gives_orders:
            people = _other_people(claim, comparison, query.facets, study, near.text, own, around)
            yield _Compared(comparison, near, people)


def _other_people(
    claim: ReadSentence,
    comparison: ClaimComparison,
    facets: AskedFacets,
    study: Study,
    text: str,
    passage_words: frozenset[str],
    around: frozenset[str],
) -> str:
    """Return whom a sentence is about where the claim names others; empty where it fits."""
    if claim.people and comparison.is_on_same_people:
        return ""
    if comparison.other_people:
        return ", ".join(sorted(comparison.other_people))
    groups = {stem(word) for word in claim.people}
    if comparison.stance is Stance.CONTRADICTS and groups and groups <= passage_words:
        return ""  # a wrong support misleads more than a wrong contradiction
    named = AskedFacets({key: facet for key, facet in facets.declared.items() if facets.of(key)}, facets.values)
    traits = differing_traits(study, named, text)
    if traits or groups <= around:
        return traits
    return study.population or study.title


def _decide(judged: Sequence[_Compared]) -> tuple[_Compared, ...]:
    """Return the nearest sentence of a study; the nearest of each stance where two are nearly as near."""
    rows = sorted(judged, key=lambda row: (bool(row.people), *row.rank))
    rows = [row for row in rows if bool(row.people) is bool(rows[0].people)]
    least = max(row.nearness for row in rows) - TIE
    found: dict[Stance, _Compared] = {}
    for row in rows:
        if row.nearness >= least:
            found.setdefault(row.comparison.stance, row)
    return tuple(found.values())


def _shown(nearest: Sequence[_Sentence]) -> Iterator[ClaimSpan]:
    quotable = (near for near in nearest if not near.gives_orders)
    for near in islice(quotable, NEAREST):
        yield ClaimSpan(None, near.span, near.passage)


def _decisive(row: _Compared) -> ClaimSpan:
    comparison = row.comparison
    return ClaimSpan(comparison.stance, row.near.span, row.near.passage, comparison.reason, row.people)
