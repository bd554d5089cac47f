"""Frozen values for tests of the engine's stages, with words of the field."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from corpus_app import records
from corpus_app.passages import split_sentences
from corpus_app.records import StudyScores, TextScore
from corpus_app.site import Site
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.records import Candidate, Evidence, Mode, Question
from qa_app.pipeline.selection import SelectionContext
from qa_app.pipeline.text import clean, content_stems, content_words
from tests.fakes import WordHashEncoder

ASKED = "How many weekly sets build muscle?"
_numbers = itertools.count(1)
_encoder = WordHashEncoder()


def vector_of(text: str) -> tuple[float, ...]:
    return tuple(map(float, _encoder.encode([text])[0]))


def make_query(text: str = ASKED, **changes: Any) -> Query:
    terms, keywords = tuple(dict.fromkeys(content_stems(text))), " ".join(content_words(text))
    fields = {"language": "en", "keywords": keywords, "intent": Intent.HOW_MANY, "terms": terms}
    return Query(**(dict.fromkeys(("text", "ask", "focus"), text) | fields | changes))


def make_concept(concept_id: str, *, rarity: float = 1.0, **changes: Any) -> records.Concept:
    concept = records.Concept(concept_id, concept_id.replace("-", " "), "outcome", (), "", ("training",), rarity=rarity)
    role = Site().role_of(changes.get("kind", concept.kind))
    return replace(concept, **({"role": role} | changes))


def make_study(study_id: str = "A", **changes: Any) -> records.Study:
    study = records.Study(
        study_id=study_id, title=f"Sets and growth, trial {study_id}", authors=("Example AB",), year=2020, journal=None, doi=None,
        url=None, design=records.Design.RANDOMIZED_CONTROLLED_TRIAL, peer_reviewed=True, collection="training",
        population="young men", training_status=records.TrainingStatus.UNTRAINED, age_group=records.AgeGroup.ADULTS,
        sex=records.Sex.MALE, status=records.Status.PUBLISHED, notice=records.Notice.NONE,
    )  # fmt: skip
    return replace(study, **changes)


def make_passage(text: str, *, study: str | records.Study = "A", **changes: Any) -> records.Passage:
    """Return a passage of results, its sentences cut and encoded as indexing would."""
    spans = split_sentences(text)
    passage = records.Passage(
        passage_id=next(_numbers), version=1, study=make_study(study) if isinstance(study, str) else study, position=0,
        section=records.Section.RESULTS, page=None, heading="", text=text, kind=records.PassageKind.SUMMARY,
        sentences=tuple(records.Sentence(start, end, vector_of(text[start:end])) for start, end in spans),
    )  # fmt: skip
    return replace(passage, **changes)


def make_plain(text: str, *, study: str = "A", **changes: Any) -> records.Passage:
    """Return a plain sentence of a study."""
    return make_passage(text, study=study, kind=records.PassageKind.PLAIN, **changes)


def make_candidate(text: str = "Muscle grew.", *, score: float = 1.0, cosine: float = 0.6, **changes: Any) -> Candidate:
    """Return a ranked candidate; further changes go to its passage."""
    passage = make_passage(text, **changes)
    return Candidate(passage, records.Hit(passage.passage_id, 2.0, cosine), score, score)


def make_question(text: str = ASKED, **changes: Any) -> Question:
    return Question(text, clean(text), **changes)


def make_evidence(*candidates: Candidate, question: str = ASKED, mode: Mode = Mode.BEGINNER, **query: Any) -> Evidence:
    """Return evidence of these candidates; further changes go to the Query."""
    return Evidence(make_question(question, mode=mode), make_query(question, **query), candidates)


def make_scores(
    study_id: str = "A", *, matched: Sequence[str] = (), **kinds: tuple[float, float | None]
) -> StudyScores:
    """Return the scores of a study: BM25 and cosine by kind of text."""
    best = {kind: TextScore(bm25, cosine) for kind, (bm25, cosine) in kinds.items()}
    return StudyScores(study_id, best, frozenset(matched))


def make_scope(query: Query | None = None, *, chances: dict[str, float] | None = None, **more: Any) -> SelectionContext:
    """Return what selection knows of a question; every content word counts the same."""
    query, chances = query or make_query(), {"A": 0.9, "B": 0.7, "C": 0.5} if chances is None else chances
    fields = {"vector": vector_of(query.text), "idf": dict.fromkeys(query.terms, 1.0), "passage_cosines": {}}
    return SelectionContext(**({"query": query, "chances": chances} | fields | more))


# --- Generated ------------------------------------------------------------------------------------------

SENTENCES = (
    "Ten weekly sets per muscle increased growth more than five.", "This held only in trained men.",
    "However, most of the trials were short.", "Strength rose with heavy loads in every group.",
    "These results should be read with care.", "The effect disappeared after a year.",
    "Light loads built as much muscle when sets went to failure (SMD = 0.2, 95% CI 0.1 to 0.3).",
    "They slept as before.", "Although few took part, nobody was hurt.",
    "Older adults kept more lean mass with 1.2 g/kg of protein a day.", "Growth was similar in women – and in men. ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8).map(" ".join)


@st.composite
def passage_lists(draw: st.DrawFn) -> list[records.Passage]:
    """Draw passages and plain sentences of up to three studies."""
    kinds = st.sampled_from([records.PassageKind.SUMMARY, records.PassageKind.PLAIN])
    row = st.tuples(TEXTS, st.sampled_from("ABC"), kinds, st.sampled_from(list(records.Section)), st.integers(0, 5))
    return [
        make_passage(text, study=study, kind=kind, section=section, position=at, passage_id=place)
        for place, (text, study, kind, section, at) in enumerate(draw(st.lists(row, min_size=1, max_size=8)), start=1)
    ]
