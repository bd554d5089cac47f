"""A small corpus, published and indexed as a curator and the worker would leave it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from corpus_app import curation, embedding, indexing
from corpus_app.records import Design
from tests.builders import make_collection, make_concept, make_study
from tests.fakes import WordHashEncoder

ASKED = "How many weekly sets per muscle for growth?"
SETS = "Ten weekly sets per muscle increased growth more than five. Few sets still build muscle."
PROTEIN = "Older adults kept more lean mass with 1.2 g/kg of protein a day. Trials lasted 💪 twelve weeks."
CANARY = "Canary: how many weekly sets per muscle for growth? Canary weekly sets per muscle for growth."
LIBRARY = ("T-SETS", "T-PROTEIN")
DRAFT = "T-DRAFT"


@pytest.fixture
def encoder() -> Iterator[WordHashEncoder]:
    """A quick encoder in the place of the model."""
    with embedding.use(WordHashEncoder()) as fake:
        yield fake


@pytest.fixture
def library(db: None, encoder: WordHashEncoder) -> tuple[str, ...]:
    """Two published studies in two collections, a draft that matches `ASKED` best, and a concept no study is about."""
    make_collection("training", keywords=["sets"])
    make_collection("nutrition", keywords=["protein"])
    concept = make_concept("training-volume", aliases=("weekly sets",))
    make_concept("sauna")
    make_study(study_id="T-SETS", texts=(SETS,), concepts=(concept,), status="draft")
    make_study(
        study_id="T-PROTEIN", texts=(PROTEIN,), collection=make_collection("nutrition"), status="draft", design=Design.META_ANALYSIS.value,
    )  # fmt: skip
    make_study(study_id=DRAFT, texts=(CANARY,), title=CANARY, status="draft")
    curation.publish(LIBRARY, by=None, by_name="tests")
    indexing.index_stale()
    return LIBRARY
