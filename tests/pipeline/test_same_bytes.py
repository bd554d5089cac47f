"""The same question gives the same figures to the last bit, whatever order a process keeps its sets of words in."""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpus_app.records import Hit, Hits, PassageKind, Section, StudyScores, TextScore
from qa_app.pipeline import answerability, relevance
from qa_app.pipeline.composition import compose
from qa_app.pipeline.passage_ranking import rank_passages
from qa_app.pipeline.policy import PRESETS, Order
from qa_app.pipeline.quotations import cut
from qa_app.pipeline.records import Mode
from qa_app.pipeline.relevance import Vocabulary
from qa_app.pipeline.retrieval import fuse
from qa_app.pipeline.text import content_stems, stem_set
from qa_app.pipeline.verification.support import FITTED, read_signals
from tests.pipeline.corpora import CORPUS, SLICE
from tests.pipeline.values import make_passage, make_query, make_scope, make_study, vector_of

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    "how many weekly sets per muscle and which frequency are best for muscle growth and strength in older adults?",
    "does creatine change how well the kidneys filter, or depression, compared with protein?",
)


@pytest.mark.slow
def test_hash_seeds_do_not_move_the_last_bit() -> None:
    with ThreadPoolExecutor() as pool:
        one, other = pool.map(_figures, ("1", "2"))

    assert one.count("\n") > 2 * len(QUESTIONS) * len(SLICE)
    assert one == other


def _figures(seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", f"from {__name__} import show; show()"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def show() -> None:
    """Print what the stages make of a few studies, each float in full."""
    rows = [json.loads((CORPUS / "studies" / f"{study}.json").read_text("utf-8")) for study in SLICE]
    studies = {row["study_id"]: make_study(row["study_id"], concepts=tuple(row["concepts"])) for row in rows}
    passages = []
    for study, row in zip(studies.values(), rows, strict=True):
        for n, p in enumerate(row["passages"]):
            passages.append(make_passage(p["text"], study=study, section=Section(p["section"]), position=n))
        passages += [make_passage(f["plain"], study=study, kind=PassageKind.PLAIN) for f in row["findings"]]
    frequency = Counter(stem for p in passages for stem in stem_set(p.text))
    for text in QUESTIONS:
        query, vector = make_query(text), vector_of(text)
        vocabulary = Vocabulary.of([(stem, frequency.get(stem, 0)) for stem in query.terms], len(passages))
        shared = {p.passage_id: stem_set(p.text) & set(content_stems(text)) for p in passages}
        scores = [
            StudyScores(study, {"passage": TextScore(1.0, 0.5)}, frozenset().union(*own))
            for study in SLICE
            if (own := [shared[p.passage_id] for p in passages if p.study.study_id == study])
        ]
        features = relevance.read_features(
            query, scores, {pk: study.concepts for pk, study in studies.items()}, vocabulary
        )
        print(features.study_ids, features.names, features.values.tolist())
        print(answerability.signals([(study, 0.3) for study in SLICE], features, query))
        hits = {}
        for p in passages:
            bm25 = sum(vocabulary.idf[stem] for stem in sorted(shared[p.passage_id]))
            hits[p.passage_id] = Hit(p.passage_id, bm25, max((q.cosine(vector) for q in cut(p)), default=0.0))
        print({pk: score.hex() for pk, score in fuse(Hits.of(hits.values()), 0.35).items()})
        chances = {study: 0.9 - 0.1 * place for place, study in enumerate(SLICE)}
        scope = make_scope(query, idf=vocabulary.idf, chances=chances)
        for mode in Mode:
            for preset in PRESETS.values():
                if preset.order is not Order.RELEVANCE:
                    found = rank_passages(query, passages, hits, frequency, len(passages), preset, mode)
                    print([(c.passage.passage_id, c.score.hex(), c.because) for c in found.passages])
            composed = compose(passages, SLICE, scope, PRESETS["default"], mode)
            print([(q.passage.passage_id, q.first, q.last) for q in composed.quotations] if composed else None)
        for passage in passages:
            print(read_signals(text, [" ".join(q.sentences) for q in cut(passage)], FITTED))
