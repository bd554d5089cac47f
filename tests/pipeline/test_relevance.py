"""Retrieval and relevance: one order of passages, fitted models, missing parts, the confidence shown."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Concept, Found, Hit, Hits, StudyScores
from qa_app.answers import engines
from qa_app.pipeline import learned, relevance
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.coverage import missing_parts
from qa_app.pipeline.grounding import signals
from qa_app.pipeline.learned import BadModel, Logistic
from qa_app.pipeline.policy import DEFAULT, PRESETS, Policy
from qa_app.pipeline.ports import Vector
from qa_app.pipeline.query import Query
from qa_app.pipeline.records import Scope
from qa_app.pipeline.relevance import Features, Vocabulary, read_features
from qa_app.pipeline.retrieval import Models, Retrieved, cited_studies, fuse, retrieve, retrieve_scoped
from tests.pipeline.fake_corpus import FakeCorpus
from tests.pipeline.values import make_concept, make_passage, make_query, make_scores, make_study

VOCABULARY = Vocabulary({"set": 1.0, "muscl": 3.0}, unknown_share=0.0)


def features_of(*scores: StudyScores) -> Features:
    return read_features(make_query(), scores, {}, VOCABULARY)


def test_the_most_likely_study_comes_first_and_equals_by_id() -> None:
    found = features_of(make_scores("B"), make_scores("A"), make_scores("C", matched=("muscl",)))

    ranked = relevance.rank(found, [Logistic(("coverage",), (0.0,), (1.0,), (1.0,), 0.0)] * len(found.study_ids))

    assert [study for study, _ in ranked] == ["C", "A", "B"]


MODEL = Logistic(("cosine", "coverage"), (0.5, 0.25), (0.1, 0.5), (2.0, -1.0), 0.5, threshold=0.4)


def row_of(**models: Logistic) -> dict[str, Any]:
    return {
        "kind": "lead", "encoder": "word-hash@test", "data": "dev", "figures": {"meaning": {"auroc": 0.8}},
        "models": {name: model.as_row() for name, model in models.items()},
    }  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "lead.json"
    learned.write(path, row_of(meaning=MODEL, words=MODEL))
    return path


def test_a_file_changed_by_hand_or_that_is_no_model_is_refused_with_what_to_do(path: Path) -> None:
    whole = path.read_text()
    for one, other in (('"intercept": 0.5', '"intercept": 0.6'), ('"auroc": 0.8', '"auroc": 0.9'), ('"dev"', '"test"')):
        path.write_text(whole.replace(one, other))
        with pytest.raises(BadModel, match="changed by hand"):
            learned.read(path)
    with pytest.raises(BadModel, match=r"none\.json"):
        learned.read(path.with_name("none.json"))
    for text in ("", "[]", "{}", "null", '{"models": {"meaning": {}}}'):
        path.write_text(text)
        with pytest.raises(BadModel, match="calibrate"):
            learned.read(path)


@pytest.mark.parametrize("folder", sorted(learned.FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_the_files_that_come_with_the_code_are_whole(folder: Path) -> None:
    files = [learned.read(folder / f"{kind}.json") for kind in engines.KINDS]

    assert [file.kind for file in files] == list(engines.KINDS)
    *files, grounding = files
    assert grounding.models["bare"].names == tuple(signals(0.5, None, 0.0))
    for file in files:
        assert set(file.models) == {"meaning", "words", "meaning_bare", "words_bare"}
        assert learned.folder_of(file.encoder) == folder
        assert set(file.figures) >= {"meaning", "words"}
        by_words = [name for kind, model in file.models.items() if kind.startswith("words") for name in model.names]
        assert not [name for name in by_words if "cosine" in name or "top3" in name]


POLICY = Policy()
CITED = "Ten weekly sets build muscle in men."


def missing(query: Query, *texts: str, idf: dict[str, float] | None = None, **study: object) -> tuple[str, ...]:
    shares = dict.fromkeys(query.terms, 1.0) if idf is None else idf
    return missing_parts(query, texts or (CITED,), [make_study(**study)], shares, lambda word: word != "muscel", POLICY)  # type: ignore[arg-type]


def test_a_word_that_nothing_cited_has_is_missing_as_it_was_written() -> None:
    for question, parts in {
        "Do weekly sets build muscle?": (), "Do saunas build muscle?": ("saunas",),
        "Does setting out to build Muscles work?": (), "muscel sets": (),  # a misspelt word is no part
    }.items():  # fmt: skip
        query = make_query(question)
        assert missing(query, idf={term: 1.0 for term in query.terms if term != "work"}) == parts


def test_an_unstudied_concept_is_missing_once() -> None:
    query = make_query("Does a sauna build muscle?", unstudied=(make_concept("sauna"),))

    assert missing(query) == ("sauna",)
    assert missing(query, CITED, "They sat in a sauna.") == ()


@given(st.lists(st.tuples(st.floats(0, 40), st.none() | st.floats(-1, 1)), max_size=40), st.floats(0, 1), st.randoms())
def test_fused_scores_lie_between_0_and_1(rows: list[Any], weight: float, random: Any) -> None:
    hits = [Hit(number, *row) for number, row in enumerate(rows)]

    found = fuse(Hits.of(hits), weight)

    assert sorted(found) == [hit.passage_id for hit in hits]
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert fuse(Hits.of(random.sample(hits, len(hits))), weight) == found


PASSAGES = [
    make_passage(text, study=make_study(study, collection=collection))
    for study, collection, text in (
        ("A", "training", "Weekly sets build muscle."),
        ("B", "nutrition", "Protein helps the old."),
        ("C", "nutrition", "A loading phase fills stores of phosphate."),
    )
]
HALF = Logistic(("leader_coverage",), (0.45,), (0.01,), (1.0,), 0.0, threshold=0.5)
"""Says that a question is answered where the leading study has half of its words."""
BY_COVERAGE = Logistic(("coverage",), (0.5,), (0.1,), (1.0,), 0.0)
KINDS = ("words", "words_bare")
MODELS = Models(dict.fromkeys(KINDS, BY_COVERAGE), dict.fromkeys(KINDS, HALF), dict.fromkeys(KINDS, HALF), "test")
LINKING = PRESETS["seed-001"]


class NotedCorpus(FakeCorpus):
    """Notes where it was searched."""

    def __init__(self, concepts: Sequence[Concept] = ()) -> None:
        super().__init__(PASSAGES, concepts)
        self.searched: list[str | None] = []

    def find(self, text: str, vector: Vector | None, *, collection: str | None, **options: Any) -> Found:
        self.searched.append(collection)
        return super().find(text, vector, collection=collection, **options)


def scoped(ask: str, chosen: str | None, policy: Policy = DEFAULT, **more: Any) -> tuple[Retrieved, Scope, NotedCorpus]:
    corpus, query = NotedCorpus(), make_query(ask, **more)
    return *retrieve_scoped(query, corpus, corpus.facts(), MODELS, policy, Clock(), chosen), corpus


@pytest.mark.parametrize(("text", "chosen", "scope", "leader", "searched"), [
    ("weekly sets", "training", Scope.COLLECTION, "A", ["training"]),
    ("weekly sets", None, Scope.GLOBAL, "A", [None]),
    ("protein for the old", "training", Scope.COLLECTION_THEN_GLOBAL, "B", ["training", None]),
    ("weekly saunas against jet lag", "training", Scope.COLLECTION_THEN_GLOBAL, "A", ["training", None]),
    ("weekly saunas against jet lag", "nutrition", Scope.COLLECTION_THEN_GLOBAL, None, ["nutrition", None]),
])  # fmt: skip
def test_a_chosen_collection_is_left_only_for_an_answer(
    text: str, chosen: str | None, scope: Scope, leader: str | None, searched: list[str | None]
) -> None:
    found, where, corpus = scoped(text, chosen)

    assert where is scope
    assert next((study for study, _ in found.ranked), None) == leader
    assert corpus.searched == searched
    assert (found.vector, found.found.lexical.ok, found.found.dense.ok) == (None, True, False)


CREATINE = make_concept("creatine", neighbours=("loading-phase", "strength", "creatine", "gone"))
LOADING = make_concept("loading-phase", neighbours=("creatine",))
HUB = make_concept("strength", neighbours=tuple(f"c{number}" for number in range(20)))
CONCEPTS = (CREATINE, LOADING, HUB)


def linked(text: str, policy: Policy, *concepts: Concept) -> tuple[Retrieved, Clock]:
    clock, corpus = Clock(), NotedCorpus(CONCEPTS)
    return retrieve(make_query(text, concepts=concepts), corpus, corpus.facts(), MODELS, policy, clock), clock


def test_where_little_was_found_neighbouring_concepts_are_searched_too() -> None:
    found, clock = linked("does creatine help swimmers?", LINKING, CREATINE)

    assert found.linked == (LOADING,)  # what has many neighbours leads everywhere, and what is gone nowhere
    assert [study for study, _ in found.ranked] == ["C"]
    assert found.linked_leg.candidates == 1
    assert clock.spent["linked"] is not None


def test_studies_far_behind_the_leader_are_not_cited() -> None:
    found, _, _ = scoped("weekly sets", None)
    policy = Policy(cited_from=0.05, cited_share=0.4, cited_studies=4)
    for chances, cited in (
        ([], ""), ([0.01], "A"), ([0.9, 0.5, 0.4, 0.3], "ABC"), ([0.9, 0.8, 0.7, 0.6, 0.5], "ABCD"),
        ([0.06, 0.05, 0.04], "AB"),
    ):  # fmt: skip
        ranked = tuple(zip("ABCDE", chances, strict=False))
        assert cited_studies(replace(found, ranked=ranked), policy) == tuple(cited)
