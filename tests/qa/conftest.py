"""A small corpus, published and indexed as a curator and the worker would leave it."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from corpus_app import curation, embedding, indexing
from corpus_app.models import Concept, CorpusLexicon, CorpusVersion, Study
from corpus_app.records import Design, Direction, Lean
from tests.builders import make_collection, make_concept, make_finding, make_study
from tests.doubles.model_server import ModelDouble, serving
from tests.fakes import WordHashEncoder
from tests.pipeline.corpora import CORPUS, FITTED, StemHashEncoder
from tests.pipeline.fake_corpus import FakeCorpus, starter_corpus
from tests.snapshots import Rows

ASKED = "How many weekly sets per muscle for growth?"
SETS = "Ten weekly sets per muscle increased growth more than five. Few sets still build muscle."
PROTEIN = "Older adults kept more lean mass with 1.2 g/kg of protein a day. Trials lasted 💪 twelve weeks."
CANARY = "Canary: how many weekly sets per muscle for growth? Canary weekly sets per muscle for growth."
PLAIN_CANARY = "Canary sets for each muscle every week made for the most growth."
PLAIN_SETS = "Ten weekly sets for each muscle built more muscle than five."
PLAIN_PROTEIN = "Older adults who ate 1.2 g/kg of protein a day kept more muscle."
UNANSWERED = "How hot should a sauna be?"
"""No study of the library is about saunas."""
LIBRARY = ("T-SETS", "T-PROTEIN")
DRAFT = "T-DRAFT"


@pytest.fixture
def encoder() -> Iterator[WordHashEncoder]:
    """A quick encoder in the place of the model, under a name that models were fitted for."""
    fake = StemHashEncoder(FITTED.name, FITTED.dimensions)
    with embedding.use(fake):
        yield fake


@pytest.fixture(scope="session")
def model_double() -> Iterator[ModelDouble]:
    """A language model's server, started once."""
    with serving(otherwise=lambda asked: '{"yes": true}') as server:
        server.drip_seconds = 0.05
        yield server


@pytest.fixture
def double(model_double: ModelDouble) -> ModelDouble:
    """A language model's server that has been asked nothing yet."""
    model_double.reset()
    return model_double


@pytest.fixture(scope="session")
def corpus() -> FakeCorpus:
    """The starter corpus in memory."""
    return starter_corpus(CORPUS)


_saved: list[Rows] = []


@pytest.fixture
def library(db: None, encoder: WordHashEncoder) -> tuple[str, ...]:
    """Two published studies in two collections, a draft that matches `ASKED` best, and a concept no study is about.

    The words for people and for safety are those of the starter corpus.
    """
    if _saved:
        _saved[0].restore()
        CorpusVersion.objects.update(at=timezone.now())  # what was read for the version of another test is of no use
    else:
        _saved.append(Rows.made_by(_make_library))
    return LIBRARY


def _make_library() -> None:
    for path in (CORPUS / "site.toml", *(CORPUS / "lexicon").glob("*.toml")):
        CorpusLexicon.objects.create(name=path.stem, content=path.read_text(encoding="utf-8"))
    make_collection("training", keywords=["sets"])
    make_collection("nutrition", keywords=["protein"])
    concept = make_concept("training-volume", aliases=("weekly sets",), kind="intervention")
    make_concept("sauna")
    sets = make_study(study_id="T-SETS", texts=(SETS,), concepts=(concept,), status="draft")
    protein = make_study(
        study_id="T-PROTEIN", texts=(PROTEIN,), collection=make_collection("nutrition"), status="draft",
        design=Design.META_ANALYSIS.value,
    )  # fmt: skip
    draft = make_study(study_id=DRAFT, texts=(CANARY,), title=CANARY, status="draft")
    _tell_findings(sets, protein, draft)
    curation.publish(LIBRARY, by=None, by_name="tests")
    indexing.index_stale()


def _tell_findings(sets: Study, protein: Study, draft: Study) -> None:
    """Write what each study found: in plain words, with its lean and the questions that readers ask for it."""
    favours = {"direction": Direction.FAVOURS_INTERVENTION.value, "lean": Lean.YES.value}
    make_finding(
        sets, **favours, intervention="ten weekly sets", comparator="five weekly sets", outcome="muscle growth",
        statement="Ten weekly sets per muscle increased growth more than five.", plain=PLAIN_SETS,
        asked_as="How many weekly sets for each muscle to grow?\nHow many sets a week per muscle are best for growth?\n"
        "Do more weekly sets build more muscle?",
    )  # fmt: skip
    make_finding(
        protein, **favours, intervention="1.2 g/kg of protein a day", comparator="", outcome="lean mass",
        statement="Older adults kept more lean mass with 1.2 g/kg of protein a day.", plain=PLAIN_PROTEIN,
        asked_as="How much protein do older adults need to keep muscle?\nDoes protein keep lean mass in older adults?\n"
        "How many grams of protein a day should older adults eat?",
    )  # fmt: skip
    make_finding(draft, **favours, statement=CANARY, plain=PLAIN_CANARY, asked_as=ASKED)


def make_sauna_study() -> Study:
    """A draft that answers `UNANSWERED`, with the concept that no study of the library is about."""
    text = "Healthy adults sat in a sauna of 80 degrees. A sauna of 80 degrees was hot enough for sweat."
    study = make_study(texts=(text,), concepts=(Concept.objects.get(concept_id="sauna"),), status="draft")
    asked = "How hot should a sauna be for sweat?\nHow hot is a good sauna?\nHow many degrees should a sauna have?"
    make_finding(
        study, intervention="sauna of 80 degrees", comparator="", outcome="sweat", lean=Lean.YES.value, asked_as=asked,
        statement="A sauna of 80 degrees was hot enough.", plain="A sauna should be 80 degrees hot.",
    )  # fmt: skip
    return study
