"""Frozen values for tests of the stages: the same shapes the doors hand out, with words of the field."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from qa_app.classic.policy import Policy
from qa_app.classic.query import understand

from corpus_app import records
from corpus_app.passages import split_sentences
from qa_app.pipeline.records import Candidate, Evidence, Mode, Question
from qa_app.pipeline.text import clean
from tests.classic.corpora import FakeCorpus
from tests.fakes import WordHashEncoder

_numbers = itertools.count(1)
_encoder = WordHashEncoder()

SENTENCES = (
    "Ten weekly sets per muscle increased growth more than five.",
    "Strength rose with heavy loads in every group.",
    "Light loads gave similar muscle growth when sets were taken close to failure.",
    "Older adults kept more lean mass with 1.2 g/kg of protein a day (P = 0.03).",
    "It did not change sleep.",
    "However, most of the trials were short.",
    "Creatine did not harm the kidneys in healthy people.",
    "The authors recommend two to three sessions a week for beginners.",
    "Trained men gained less than untrained men did.",
    "More research on women is needed.",
)


def encode(texts: Sequence[str]) -> list[list[float]]:
    return [list(_vector(text)) for text in texts]


@lru_cache(maxsize=10_000)
def _vector(text: str) -> tuple[float, ...]:
    return tuple(map(float, _encoder.encode([text])[0]))


def make_study(study_id: str = "T001", **changes: Any) -> records.Study:
    fields: dict[str, Any] = {
        "study_id": study_id,
        "title": f"Weekly sets and muscle growth, trial {study_id}",
        "authors": ("Example AB", "Sample CD"),
        "year": 2020,
        "journal": "Journal of Examples",
        "doi": f"10.1000/{study_id}",
        "url": f"https://doi.org/10.1000/{study_id}",
        "design": records.Design.RANDOMIZED_CONTROLLED_TRIAL,
        "peer_reviewed": True,
        "collection": "training",
        "population": "Young men",
        "training_status": records.TrainingStatus.UNTRAINED,
        "age_group": records.AgeGroup.ADULTS,
        "sex": records.Sex.BOTH,
        "status": records.Status.PUBLISHED,
        "notice": records.Notice.NONE,
    }
    return records.Study(**(fields | changes))


def make_passage(text: str = SENTENCES[0], **changes: Any) -> records.Passage:
    """A passage of results, its sentences cut and encoded as indexing would; `study` may be given by its id alone."""
    study = changes.pop("study", "T001")
    study = make_study(study) if isinstance(study, str) else study
    spans = split_sentences(text)
    vectors = encode([text[start:end] for start, end in spans])
    fields: dict[str, Any] = {
        "passage_id": next(_numbers),
        "version": 1,
        "study": study,
        "position": 0,
        "section": records.Section.RESULTS,
        "page": None,
        "heading": study.title,
        "text": text,
        "kind": records.PassageKind.SUMMARY,
        "sentences": tuple(records.Sentence(*span, tuple(v)) for span, v in zip(spans, vectors, strict=True)),
    }
    return records.Passage(**(fields | changes))


def make_candidate(text: str = SENTENCES[0], *, score: float = 1.0, bears: int = 80, **changes: Any) -> Candidate:
    """A ranked candidate; further changes go to its passage."""
    cosine = changes.pop("cosine", 0.6)
    passage = make_passage(text, **changes)
    hit = records.Hit(passage.passage_id, 2.0, cosine)
    return Candidate(passage, hit, score, score, sentence_cosines=(cosine,) * len(passage.sentences), bears=bears)


def make_question(text: str = "how many sets per week for muscle growth?", **changes: Any) -> Question:
    return Question(text, clean(text), **changes)


def make_evidence(
    *candidates: Candidate, question: str = "how many sets for muscle growth?", mode: str = "beginner"
) -> Evidence:
    asked = make_question(question, mode=Mode(mode))
    return Evidence(asked, understand(asked, concepts=(), collections=()), candidates)


def make_concept(concept_id: str, *aliases: str, **changes: Any) -> records.Concept:
    fields: dict[str, Any] = {
        "concept_id": concept_id,
        "name": concept_id.replace("-", " "),
        "kind": "outcome",
        "aliases": aliases,
        "definition": "",
        "collections": ("training",),
        "neighbours": (),
    }
    return records.Concept(**(fields | changes))


def make_corpus(*passages: records.Passage, **options: Any) -> FakeCorpus:
    return FakeCorpus(passages, **({"encode": encode} | options))


# --- Generated -----------------------------------------------------------------------------------------------------------

texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6).map(" ".join)
numbers_of_studies = st.integers(min_value=1, max_value=8).map("T{:03}".format)


@st.composite
def candidate_lists(draw: st.DrawFn, max_size: int = 30) -> tuple[Candidate, ...]:
    """Ranked candidates of a few studies, as reranking leaves them: best first."""
    rows = draw(
        st.lists(
            st.tuples(
                texts,
                numbers_of_studies,
                st.integers(0, 8),
                st.sampled_from(list(records.Section)),
                st.floats(0.0, 2.0),
                st.integers(30, 100),
                st.floats(-1.0, 1.0),
            ),
            min_size=1,
            max_size=max_size,
        )
    )
    made = [
        make_candidate(
            text,
            study=study,
            position=position,
            section=section,
            score=score,
            bears=bears,
            cosine=cosine,
            passage_id=place,
        )
        for place, (text, study, position, section, score, bears, cosine) in enumerate(rows, start=1)
    ]
    return tuple(sorted(made, key=lambda c: (-c.score, c.passage.passage_id)))


@st.composite
def founds(draw: st.DrawFn) -> records.Found:
    """What a search might hand over: raw scores on any scale, either leg missing."""
    rows = draw(st.lists(st.tuples(st.floats(0, 40), st.none() | st.floats(-1, 1)), max_size=60))
    lexical_ok, dense_ok = draw(st.booleans()), draw(st.booleans())
    hits = [
        records.Hit(n, bm25 if lexical_ok else 0.0, cosine if dense_ok else None)
        for n, (bm25, cosine) in enumerate(rows)
    ]
    return make_found(hits, lexical_ok=lexical_ok, dense_ok=dense_ok)


def make_found(
    hits: Sequence[records.Hit], *, lexical_ok: bool = True, dense_ok: bool = True, **changes: Any
) -> records.Found:
    cosines = [hit.cosine for hit in hits if hit.cosine is not None]
    fields: dict[str, Any] = {
        "hits": records.Hits.of(hits),
        "lexical": records.Leg(lexical_ok, len(hits), None, 0.0, max((h.bm25 for h in hits), default=0.0)),
        "dense": records.Leg(dense_ok, len(cosines), None, min(cosines, default=0.0), max(cosines, default=0.0)),
        "corpus_version": 1,
    }
    return records.Found(**(fields | changes))


POLICY = Policy()
