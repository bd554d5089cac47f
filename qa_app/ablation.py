"""What each feature of retrieval is worth: every one changed alone, the same questions asked again, the differences paired."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpus_app import trial
from qa_app import evaluation, trials
from qa_app.backends.corpus import SearchedCorpus
from qa_app.evaluation import Golden
from qa_app.measures import bootstrap_interval, mean, ndcg, recall, share
from qa_app.pipeline import confidence
from qa_app.pipeline.policy import DEFAULT, PRESETS, Fusion, Order, Policy
from qa_app.pipeline.ports import Encoded
from qa_app.pipeline.records import Mode, Question
from qa_app.pipeline.retrieval import Clock, Search, find_evidence
from qa_app.pipeline.text import clean


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    off: Mapping[str, Any]
    """Figures with which the policy does without it."""
    on: Mapping[str, Any]
    """Figures with which it is tried where the policy does without it."""


FEATURES = (
    Feature("words", {"lexical_weight": 0.0, "dense_weight": 1.0}, {}),
    Feature("meaning", {"lexical_weight": 1.0, "dense_weight": 0.0}, {}),
    Feature("min-max fusion (else reciprocal ranks)", {"fusion": Fusion.RECIPROCAL_RANK}, {}),
    Feature(
        "weights by how far scores lie apart",
        {"lexical_spread": 0.0, "dense_spread": 0.0},
        {"lexical_spread": 0.25, "dense_spread": 1.0},
    ),
    Feature("presence before repetition (else k1 1.2, b .75)", {"bm25_k1": 1.2, "bm25_b": 0.75}, {"bm25_k1": 0.7, "bm25_b": 0.6}),
    Feature(
        "core of the question",
        {"core_weight": 0.0, "core_repeats": 0},
        {"core_weight": 0.5, "core_repeats": 1},
    ),
    Feature("best sentence", {"sentence_weight": 0.0}, {"sentence_weight": 0.2}),
    Feature("sections", {"section_boost_exact": 1.0, "section_boost_related": 1.0}, {"section_boost_exact": 1.1}),
    Feature("sections at 2.0 / 1.3", {}, {"section_boost_exact": 2.0, "section_boost_related": 1.3}),
    Feature("concepts shared", {"concept_weight": 0.0}, {"concept_weight": 0.3}),
    Feature("the question's words in names of concepts", {"concept_words_weight": 0.0}, {"concept_words_weight": 0.4}),
    Feature("part of the training asked about", {"variable_weight": 0.0}, {"variable_weight": 0.8}),
    Feature("closest finding", {"finding_weight": 0.0}, {"finding_weight": 1.0}),
    Feature("questions by which readers ask for findings", {"question_weight": 0.0}, {"question_weight": 3.0}),
    Feature("likeness to the leading studies", {"leading_weight": 0.0}, {"leading_weight": 0.6}),
    Feature("year asked for", {"year_weight": 0.0}, {"year_weight": 0.5}),
    Feature("neighbouring concepts", {"neighbour_weight": 0.0}, {"neighbour_weight": 0.1}),
    Feature("keyword hits", {"keyword_weight": 0.0}, {"keyword_weight": 0.2}),
    Feature("keyword hits first", {"order": Order.SCORE}, {"order": Order.KEYWORD_HITS}),
    Feature("study design", {"design_weight": 0.0}, {"design_weight": 0.02}),
    Feature("reader's mode", {"mode_weight": 0.0}, {"mode_weight": 0.05}),
    Feature("people asked about", {"population_weight": 0.0}, {"population_weight": 0.1}),
    Feature("numbers asked about", {"number_weight": 0.0}, {"number_weight": 0.1}),
    Feature("recency", {"recency_band": 0.0}, {"recency_band": 0.02}),
    Feature("lay words expanded", {"expand_lay_words": False}, {"expand_lay_words": True}),
    Feature("the question said in field terms", {"field_terms_weight": 0.0}, {"field_terms_weight": 0.4}),
    Feature("collection detected", {"scope_detected": False}, {"scope_detected": True}),
    Feature("leaving a chosen collection", {"leave_chosen_from": 2.0}, {"leave_chosen_from": 0.92}),
    Feature("second pass, where it would be refused", {"linked_below": 0.0}, {"linked_below": DEFAULT.answerable_from}),
    Feature("second pass, always", {"linked_below": 0.0}, {"linked_below": 1.1}),
    Feature("pool of 50 (else 10)", {"reranker_top_k": 5}, {}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    what: str
    """`off`: without a feature that the policy has; `on`: with one that it has not; `preset`."""
    policy: Policy


def variants(policy: Policy = DEFAULT) -> tuple[Variant, ...]:
    """Each feature turned the other way, alone, and the other presets."""
    turned = []
    for feature in FEATURES:
        figures, what = (feature.off, "off") if _changes(policy, feature.off) else (feature.on, "on")
        if _changes(policy, figures):
            turned.append(Variant(feature.name, what, replace(policy, **figures)))
    presets = [Variant(p.name, "preset", p) for p in PRESETS.values() if p.name != policy.name]
    return (*turned, *presets)


def _changes(policy: Policy, figures: Mapping[str, Any]) -> bool:
    return any(getattr(policy, name) != figure for name, figure in figures.items())


# --- The curators' questions ------------------------------------------------------------------------------------------


class _Remembering(SearchedCorpus):
    """Encodes each text once, however many policies ask it."""

    def __init__(self) -> None:
        super().__init__()
        self._vectors: dict[str, Sequence[float]] = {}

    def encode_ahead(self, texts: Sequence[str]) -> Encoded:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        begun = super().encode_ahead(new) if new else None

        def finish() -> Sequence[Sequence[float]]:
            self._vectors |= zip(new, begun(), strict=True) if begun else ()
            return [self._vectors[text] for text in texts]

        return finish


def on_golden(
    questions: Sequence[Golden], policy: Policy, *, on_progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """nDCG@10 over studies (by their best passage) of the answerable questions, and what is refused of all that are searched."""
    asked = [g for g in questions if g.is_answerable or g.kind in evaluation.REFUSED_KINDS]
    rows, corpus = variants(policy), _Remembering()
    chosen = [Variant(policy.name, "as it is", policy), *rows]
    measured = []
    for number, variant in enumerate(chosen, start=1):
        measured.append([_measure(golden, variant.policy, corpus) for golden in asked])
        on_progress("policies", number, len(chosen))
    base = measured[0]
    return {
        "questions": len(asked),
        "answerable": sum(g.is_answerable for g in asked),
        "policy": policy.label,
        "rows": [
            _row(v, values, base, asked) | _lay(values, base, asked) for v, values in zip(chosen, measured, strict=True)
        ],
    }


@dataclass(frozen=True, slots=True)
class _Measured:
    ndcg: float
    main: float
    is_answered: bool


def _measure(golden: Golden, policy: Policy, corpus: SearchedCorpus) -> _Measured:
    question = Question(golden.question, clean(golden.question), Mode(golden.mode), golden.collection)
    found: Search = find_evidence(question, corpus=corpus, policy=policy, clock=Clock())
    ranked = tuple(dict.fromkeys(c.passage.study.study_id for c in found.ranked))
    outcome = confidence.decide(found.signals, found.understanding, policy)
    return _Measured(
        ndcg(ranked, golden.relevant, 10),
        recall(ranked, golden.relevant, 5, least=2),
        bool(ranked) and outcome.is_answer,
    )


def _row(
    variant: Variant, values: Sequence[_Measured], base: Sequence[_Measured], asked: Sequence[Golden]
) -> dict[str, Any]:
    answerable = [n for n, golden in enumerate(asked) if golden.is_answerable]
    others = [n for n, golden in enumerate(asked) if not golden.is_answerable]
    return {
        "name": variant.name,
        "what": variant.what,
        "ndcg@10": _spread([values[n].ndcg for n in answerable]),
        "difference": _spread([values[n].ndcg - base[n].ndcg for n in answerable]),
        "main recall@5": round(mean([values[n].main for n in answerable]), 4),
        "wrongly refused": round(share([not values[n].is_answered for n in answerable]), 4),
        "rightly refused": round(share([not values[n].is_answered for n in others]), 4),
    }


def _lay(values: Sequence[_Measured], base: Sequence[_Measured], asked: Sequence[Golden]) -> dict[str, Any]:
    lay = [n for n, golden in enumerate(asked) if golden.kind == "answerable_lay"]
    return {
        "lay ndcg@10": round(mean([values[n].ndcg for n in lay]), 4),
        "lay difference": _spread([values[n].ndcg - base[n].ndcg for n in lay]),
    }


def _spread(values: Sequence[float]) -> dict[str, Any]:
    low, high = bootstrap_interval(values)
    return {"mean": round(mean(values), 4), "interval": [round(low, 4), round(high, 4)]}


# --- Other people's questions -----------------------------------------------------------------------------------------


def on_benchmark(
    folder: Path, policy: Policy, *, limit: int | None, cache: Path, report: trial.Report
) -> dict[str, Any]:
    """nDCG@10 of the ranking on a BEIR folder, in a throw-away database. Raises BadBenchmark.

    It knows no concepts, collections, sections or designs: what goes by them changes nothing there and is left out.
    """
    benchmark = trial.read(folder)
    rows = [v for v in variants(policy) if v.what == "preset" or v.name in _WITHOUT_A_GRAPH]
    named = {v.name: v.policy for v in (Variant(policy.name, "as it is", policy), *rows)}
    measured = trials.rankings(benchmark, named, limit=limit, cache=cache, report=report)
    base = measured[policy.name]
    return {
        "corpus": benchmark.name,
        "questions": len(base),
        "policy": policy.label,
        "rows": [
            {
                "name": name,
                "what": next((v.what for v in rows if v.name == name), "as it is"),
                "ndcg@10": _spread(values),
                "difference": _spread([a - b for a, b in zip(values, base, strict=True)]),
            }
            for name, values in measured.items()
        ],
    }


_WITHOUT_A_GRAPH = frozenset(
    {
        "words",
        "meaning",
        "min-max fusion (else reciprocal ranks)",
        "weights by how far scores lie apart",
        "core of the question",
        "presence before repetition (else k1 1.2, b .75)",
        "best sentence",
        "keyword hits",
        "keyword hits first",
        "pool of 50 (else 10)",
    }
)


# --- In words ---------------------------------------------------------------------------------------------------------


def table(golden: Mapping[str, Any], benchmarks: Sequence[Mapping[str, Any]]) -> str:
    """The figures as Markdown, for docs/retrieval.md."""
    lines = [
        f"Policy `{golden['policy']}`; {golden['answerable']} answerable questions of golden_dev and "
        f"{golden['questions'] - golden['answerable']} that are to be refused.",
        "",
        "| | nDCG@10 | difference, paired | lay | difference | main study in 5 | wrongly refused | rightly refused |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {_title(row)} | {row['ndcg@10']['mean']:.3f} | {_signed(row, 'difference')} | {row['lay ndcg@10']:.3f} | "
        f"{_signed(row, 'lay difference')} | {row['main recall@5']:.3f} | {row['wrongly refused']:.1%} | "
        f"{row['rightly refused']:.1%} |"
        for row in golden["rows"]
    ]
    for figures in benchmarks:
        lines += [
            "",
            f"{figures['corpus']}, {figures['questions']} questions, `ranked`, policy `{figures['policy']}`:",
            "",
            "| | nDCG@10 | difference, paired |",
            "|---|---|---|",
        ]
        lines += [
            f"| {_title(row)} | {row['ndcg@10']['mean']:.3f} | {_signed(row, 'difference')} |"
            for row in figures["rows"]
        ]
    return "\n".join(lines) + "\n"


def _title(row: Mapping[str, Any]) -> str:
    before = {"off": "without ", "on": "with ", "preset": "preset ", "as it is": ""}[row["what"]]
    return f"{before}{row['name']}" if before else f"**{row['name']}**"


def _signed(row: Mapping[str, Any], name: str) -> str:
    if row["what"] == "as it is":
        return ""
    low, high = row[name]["interval"]
    return f"{row[name]['mean']:+.3f} ({low:+.3f} to {high:+.3f})"
