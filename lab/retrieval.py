"""Compare several retrieval methods on public benchmarks, on the same questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import ir_measures
from ir_measures import RR, R, nDCG

from corpus_app import search
from lab import scratch_corpus
from lab.scratch_corpus import BadBenchmark as BadBenchmark
from qa_app.evaluation.measures import bootstrap_interval, mean, percentile, share
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.question.wording import find_ask, find_focus
from qa_app.pipeline.retrieval import fuse
from qa_app.pipeline.text import clean

DEPTH = 100  # documents of a ranking that are measured
MEASURES = {"ndcg@10": nDCG @ 10, "recall@5": R @ 5, "recall@10": R @ 10, "recall@100": R @ DEPTH, "mrr": RR}
SEED = 0  # of the sample of questions

Ranked = Sequence[tuple[int, float]]
"""Passages and scores, best first."""


class Leg(StrEnum):
    BM25 = "bm25"
    TFIDF = "tfidf"
    TS_RANK = "ts_rank"
    DENSE = "dense"
    HYBRID = "hybrid"
    RRF = "rrf"
    RRF_TS_RANK = "rrf_ts_rank"
    """The common tutorial setup: PostgreSQL's ranking and vectors, by reciprocal rank fusion."""


ALIASES = {"lexical": Leg.BM25}
DEFAULT_LEGS = tuple(Leg)
WITH_VECTOR = frozenset({Leg.DENSE, Leg.HYBRID, Leg.RRF, Leg.RRF_TS_RANK})
FOUND = 200  # hits that each half of the search hands over
RRF_K = 60  # of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)


class BadOption(ValueError):
    """An invalid option; the message lists the valid ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The rankings and the times of every method for every question."""

    benchmark: scratch_corpus.Benchmark
    questions: dict[str, str]
    policy: Policy
    encoder: str
    runs: dict[Leg, dict[str, tuple[str, ...]]]
    """Documents by leg and question, best first."""
    milliseconds: dict[Leg, list[float]]
    """With the encoding of the question where a leg needs it."""
    encoding: list[float]


# --- Choosing ---------------------------------------------------------------------------------------------------------


def legs(names: str) -> tuple[Leg, ...]:
    """Parse a list of methods. Raises BadOption."""
    try:
        chosen = [ALIASES.get(name) or Leg(name) for name in names.split(",")]
    except ValueError as error:
        raise BadOption(f"{error}; there are {', '.join(Leg)}.") from None
    return tuple(dict.fromkeys(chosen))


# --- Running ----------------------------------------------------------------------------------------------------------


def run(
    folder: Path, *, chosen: Sequence[Leg], policy: Policy, limit: int | None, cache: Path,
    report: scratch_corpus.Report,
) -> Trial:  # fmt: skip
    """Rank all questions with the chosen methods in a temporary database. Raises BadBenchmark."""
    benchmark = scratch_corpus.read(folder)
    questions = _sample(benchmark.questions, limit)
    with scratch_corpus.throwaway_database():
        documents = scratch_corpus.fill(benchmark, cache=cache, with_sentences=False, report=report)
        scratch_corpus.prepare_comparison()
        return _run(benchmark, questions, documents, chosen, policy, report)


def _sample(questions: Mapping[str, str], limit: int | None) -> dict[str, str]:
    if limit is None or limit >= len(questions):
        return dict(questions)
    kept = set(Random(SEED).sample(list(questions), limit))  # noqa: S311 (no secret)
    return {pk: text for pk, text in questions.items() if pk in kept}


def _run(
    benchmark: scratch_corpus.Benchmark, questions: dict[str, str], documents: Mapping[int, str],
    chosen: Sequence[Leg], policy: Policy, report: scratch_corpus.Report,
) -> Trial:  # fmt: skip
    """Run all methods on each question in turn, so that other load on the machine affects all of them alike."""
    done = Trial(benchmark, questions, policy, search.encoder_name(), {leg: {} for leg in chosen}, {}, [])
    done.milliseconds.update({leg: [] for leg in chosen})
    needs_vector = bool(WITH_VECTOR & set(chosen))
    for text in list(questions.values())[:3]:  # warm-up: the first questions of a connection fill its caches
        for leg in chosen:
            _search(leg, _read(text, needs_vector=needs_vector), policy)
    for number, (pk, text) in enumerate(questions.items(), start=1):
        start = perf_counter()
        asked = _read(text, needs_vector=needs_vector)
        encoding = 1000 * (perf_counter() - start)
        done.encoding.append(encoding)
        for leg in chosen:
            start = perf_counter()
            ranked = _search(leg, asked, policy)
            spent = 1000 * (perf_counter() - start)
            done.milliseconds[leg].append(spent + (encoding if leg in WITH_VECTOR else 0.0))
            done.runs[leg][pk] = tuple(dict.fromkeys(documents[passage] for passage, _ in ranked))[:DEPTH]
        report("questions", number, len(questions))
    return done


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as search needs it: its cleaned text and its embedding."""

    text: str
    vector: Sequence[float]


def _read(text: str, *, needs_vector: bool) -> _Asked:
    cleaned = clean(text)
    ask = find_ask(cleaned)
    focus = find_focus(ask)
    if not needs_vector:
        return _Asked(cleaned, ())
    return _Asked(cleaned, search.mean_vector(search.encode_questions([ask, focus])))


def _search(leg: Leg, asked: _Asked, policy: Policy) -> Ranked:
    match leg:
        case Leg.BM25:
            found = search.find(asked.text, None, limit=FOUND)
            return _best((hit.passage_id, hit.bm25) for hit in found.hits if hit.bm25 > 0)
        case Leg.DENSE:
            return _dense(asked.vector, FOUND)
        case Leg.TFIDF:
            return scratch_corpus.tfidf(asked.text, limit=FOUND)
        case Leg.TS_RANK:
            return scratch_corpus.ts_rank(asked.text, limit=FOUND)
        case Leg.HYBRID:
            found = search.find(asked.text, asked.vector, limit=FOUND)
            return list(fuse(found.hits, policy.lexical_weight).items())[:FOUND]
        case Leg.RRF:
            found = search.find(asked.text, asked.vector, limit=FOUND)
            by_words = _best((hit.passage_id, hit.bm25) for hit in found.hits if hit.bm25 > 0)
            by_meaning = _best((hit.passage_id, hit.cosine) for hit in found.hits if hit.cosine is not None)
            return _by_ranks(by_words, by_meaning)
        case Leg.RRF_TS_RANK:
            return _by_ranks(scratch_corpus.ts_rank(asked.text, limit=FOUND), _dense(asked.vector, FOUND))


def _dense(vector: Sequence[float], limit: int) -> Ranked:
    found = search.find("", vector, limit=limit)  # no words: skips the lexical half
    return _best((hit.passage_id, hit.cosine) for hit in found.hits if hit.cosine is not None)


def _best(scored: Iterable[tuple[int, float]]) -> Ranked:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def _by_ranks(*rankings: Ranked) -> Ranked:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, (passage, _) in enumerate(ranking, start=1):
            scores[passage] = scores.get(passage, 0.0) + 1 / (RRF_K + rank)
    return _best(scores.items())


# --- Measuring --------------------------------------------------------------------------------------------------------


def figures(done: Trial) -> dict[str, Any]:
    """Return each measure with its 95 % interval, and the lead of the reference over each other method."""
    scores = {leg: _scores(done, leg) for leg in done.runs}
    first = reference(done)
    return {
        "corpus": done.benchmark.name,
        "documents": len(done.benchmark.documents),
        "questions": len(done.questions),
        "judgments of unknown documents": done.benchmark.unknown,
        "encoder": done.encoder,
        "policy": done.policy.label,
        "legs": {
            leg.value: {
                **{name: _with_interval(values) for name, values in measured.items()},
                "no candidates": round(share([not found for found in done.runs[leg].values()]), 4),
                "milliseconds": _percentiles(done.milliseconds[leg]),
            }
            for leg, measured in scores.items()
        },
        "encoding milliseconds": _percentiles(done.encoding),
        "differences": {
            f"{first} - {leg}": {
                name: _with_interval([a - b for a, b in zip(scores[first][name], measured[name], strict=True)])
                for name in MEASURES
            }
            for leg, measured in scores.items()
            if leg is not first
        },
    }


def reference(done: Trial) -> Leg:
    """Return the method that the others are compared with: the site's own fusion, or else the last one named."""
    return Leg.HYBRID if Leg.HYBRID in done.runs else list(done.runs)[-1]


def _scores(done: Trial, leg: Leg) -> dict[str, list[float]]:
    return _measured(done.benchmark, done.questions, done.runs[leg])


def _measured(
    benchmark: scratch_corpus.Benchmark, questions: Mapping[str, str], run: Mapping[str, Sequence[str]]
) -> dict[str, list[float]]:
    """Return the values of each measure in the order of the questions; a question without candidates counts 0."""
    qrels = [
        ir_measures.Qrel(pk, document, grade) for pk in questions for document, grade in benchmark.judgments[pk].items()
    ]
    # Score by rank: ties in the scores would be ordered by document name.
    scored = [
        ir_measures.ScoredDoc(pk, document, float(DEPTH - place))
        for pk, ranking in run.items()
        for place, document in enumerate(ranking)
    ]
    found = {(m.query_id, m.measure): m.value for m in ir_measures.iter_calc(list(MEASURES.values()), qrels, scored)}
    return {name: [float(found.get((pk, measure), 0.0)) for pk in questions] for name, measure in MEASURES.items()}


def _with_interval(values: Sequence[float]) -> dict[str, Any]:
    low, high = bootstrap_interval(values)
    return {"mean": round(mean(values), 4), "interval": [round(low, 4), round(high, 4)]}


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    return {"p50": round(percentile(times, 50), 2), "p95": round(percentile(times, 95), 2)}


def write_runs(done: Trial, path: Path) -> tuple[Path, ...]:
    """Write TREC runs: the reference's to this file, the others' to files beside it that carry their names."""
    written = []
    for leg, rankings in done.runs.items():
        target = path if leg is reference(done) else path.with_name(f"{path.stem}.{leg}{path.suffix}")
        lines = [
            f"{pk} Q0 {document} {place} {DEPTH + 1 - place} {leg}\n"
            for pk, ranking in rankings.items()
            for place, document in enumerate(ranking, start=1)
        ]
        target.write_text("".join(lines), encoding="utf-8")
        written.append(target)
    return tuple(written)
