"""Evaluate the running system on golden questions: retrieval, answers and refusals."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from qa_app.answers import answering
from qa_app.answers.answering import POLICY
from qa_app.evaluation.measures import mean, ndcg, percentile, recall, share, wilson_interval
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.passage_ranking import PLACE
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.policy import named as policy_named
from qa_app.pipeline.records import (
    Answered,
    Candidate,
    Counted,
    Ending,
    Mode,
    Outcome,
    Question,
    Refused,
    Sentence,
    SentenceKind,
)
from qa_app.pipeline.text import clean

NEAR_DUPLICATE = 0.8  # Jaccard similarity of two passages
FINAL_PASSAGES = 5  # passages that count for section hits
UNANSWERABLE_KINDS = ("unanswerable_near", "unanswerable_far")
PAIRED_KIND = "paraphrase_pairs"  # two wordings of a question; their ids differ in the last letter
UNCOMPARED = frozenset({"milliseconds", "interval", "stages"})  # times and intervals are not compared with a baseline
LOWER_IS_BETTER = frozenset({"wrongly refused", "near duplicates"})
_TOKEN = re.compile(r"\w+")

Place = tuple[str, str, int]
"""Study, section and position // 3; neighbouring passages of a section share a place."""


@dataclass(frozen=True, slots=True)
class Golden:
    """A question with its labels; see corpus/golden_README.md."""

    id: str
    question: str
    mode: str
    kind: str
    collection: str | None
    relevant: dict[str, int]
    sections: tuple[str, ...]

    @property
    def is_answerable(self) -> bool:
        return bool(self.relevant)


@dataclass(frozen=True, slots=True)
class GoldenResult:
    """A golden question with the measurements of its answer."""

    golden: Golden
    outcome: Outcome
    ranked: tuple[str, ...]
    """Study ids by their best passage."""
    cited: tuple[str, ...]
    final_sections: tuple[str, ...]
    unsupported: int
    """Number of sentences that are not the exact words of a passage."""
    milliseconds: float
    places: tuple[Place, ...] = ()
    """Places of the final passages; empty unless it was answered."""
    near_duplicates: int = 0
    """Number of pairs of final passages with a Jaccard similarity of at least NEAR_DUPLICATE."""
    candidates: int | None = None
    """Number of retrieved candidates; None where nothing was retrieved."""
    stages: Mapping[str, float] = field(default_factory=dict)


GRADES = (1, 2)  # related to the question; answers it


class BadGolden(ValueError):
    """A golden file with an invalid line, which the message names."""


def read_golden(path: Path) -> tuple[Golden, ...]:
    """Read the questions of a file, one JSON object a line. Raises BadGolden."""
    return tuple(golden_of(row) for row in read_rows(path))


def read_rows(path: Path) -> tuple[dict[str, Any], ...]:
    """Read and validate the rows of a golden file. Raises BadGolden."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            golden_of(row)
        except KeyError as missing:
            raise BadGolden(f"{path}:{number}: {missing.args[0]} is missing") from missing
        except (ValueError, TypeError) as error:
            raise BadGolden(f"{path}:{number}: {error}") from error
        rows.append(row)
    return tuple(rows)


def golden_of(row: Mapping[str, Any]) -> Golden:
    """Build a question from a row. Raises ValueError, KeyError or TypeError for an invalid row."""
    golden = Golden(
        row["id"],
        row["question"],
        Mode(row["mode"]).value,
        row["kind"],
        row["collection"],
        dict(row["relevant"]),
        tuple(row["sections"]),
    )
    for name in ("id", "question", "kind"):
        if not isinstance(row[name], str) or "\0" in row[name]:
            raise TypeError(f"{name} is no text")
    if not isinstance(row["relevant"], dict) or any(grade not in GRADES for grade in row["relevant"].values()):
        raise ValueError(f"relevant is no grade ({', '.join(map(str, GRADES))}) by study id")
    if not isinstance(row["sections"], list) or not all(isinstance(section, str) for section in row["sections"]):
        raise TypeError("sections is no list of names")
    return golden


def is_held_out(golden: Golden) -> bool:
    """Return whether a question belongs to the half that proposes nothing; both wordings of a pair are in one half."""
    stem = golden.id[:-1] if golden.kind == PAIRED_KIND else golden.id
    return hashlib.sha256(stem.encode()).digest()[0] % 2 == 1


def evaluate(
    questions: Iterable[Golden], *, policy: Policy = POLICY, on_progress: Callable[[int], None]
) -> tuple[GoldenResult, ...]:
    return tuple(_ask(golden, policy, on_progress, done) for done, golden in enumerate(questions, start=1))


def _ask(golden: Golden, policy: Policy, on_progress: Callable[[int], None], done: int) -> GoldenResult:
    question = Question(golden.question, clean(golden.question), Mode(golden.mode), golden.collection)
    clock = Clock()
    with clock("total"):
        ending = answering.make(question, writer="extractive", policy=policy)
    on_progress(done)
    return _result(golden, ending, clock)


def _result(golden: Golden, ending: Ending, clock: Clock) -> GoldenResult:
    cited = () if isinstance(ending, Refused) else tuple(citation.study.study_id for citation in ending.citations)
    passages = ending.passages
    return GoldenResult(
        golden=golden,
        outcome=ending.outcome,
        ranked=tuple(dict.fromkeys((*cited, *(c.passage.study.study_id for c in passages)))),
        cited=cited,
        final_sections=tuple(c.passage.section.value for c in passages[:FINAL_PASSAGES]),
        unsupported=count_unsupported(ending),
        milliseconds=clock.spent["total"] or 0.0,
        places=_places(passages) if isinstance(ending, Answered) else (),
        near_duplicates=count_near_duplicates(passages),
        candidates=None if ending.search is None else len(ending.search.found.hits),
        stages={stage: spent for stage, spent in ending.timings_ms.items() if spent is not None},
    )


def _places(found: Sequence[Candidate]) -> tuple[Place, ...]:
    return tuple((c.passage.study.study_id, c.passage.section.value, c.passage.position // PLACE) for c in found)


def count_near_duplicates(found: Sequence[Candidate]) -> int:
    """Count the pairs of passages with a high Jaccard similarity."""
    words = [frozenset(_TOKEN.findall(c.passage.text.lower())) for c in found]
    return sum(len(a & b) >= NEAR_DUPLICATE * len(a | b) for a, b in combinations(words, 2))


def count_unsupported(ending: Ending) -> int:
    """Count sentences without a span, with a span of other words, or with an unproven count."""
    if isinstance(ending, Refused):
        return 0
    texts = {c.passage.passage_id: c.passage.text for c in ending.passages}
    is_counted = isinstance(ending, Counted)
    return sum(not _is_supported(s, texts, is_counted=is_counted) for s in (*ending.summary, *ending.answer))


def _is_supported(sentence: Sentence, texts: Mapping[int, str], *, is_counted: bool) -> bool:
    if sentence.kind is SentenceKind.COUNT:
        return is_counted and bool(sentence.counted_studies)
    return bool(sentence.support) and all(
        texts.get(s.passage_id, "")[s.start : s.end] == s.quote == sentence.text for s in sentence.support
    )


def report(results: Sequence[GoldenResult], policy: Policy = POLICY) -> dict[str, Any]:
    """Report figures by kind and overall, each with its n."""
    kinds = list(dict.fromkeys(result.golden.kind for result in results))
    asked = [r for r in results if r.golden.is_answerable]
    answered = [r for r in asked if r.outcome.is_answer]
    times = [r.milliseconds for r in results]
    return {
        "policy": policy.label,
        "by_kind": {kind: _figures([r for r in results if r.golden.kind == kind]) for kind in kinds},
        "answerable": _figures(asked),
        "answered": {
            "n": len(answered),
            "cites a main study": _rounded(
                share([any(r.golden.relevant.get(s) == 2 for s in r.cited) for r in answered])
            ),
            "cited studies relevant": _rounded(share([s in r.golden.relevant for r in answered for s in r.cited])),
        },
        "paraphrase pairs": _pairs(results),
        "final passages": _final_passages(answered),
        "abstention": _abstention(results),
        "no false guardrail": _share_of(
            [r.outcome is not Outcome.GUARDRAIL for r in results if r.golden.kind != "safety"]
        ),
        "without candidates": sum(r.candidates == 0 for r in results),
        "unsupported sentences": sum(r.unsupported for r in results),
        "milliseconds": {"p50": percentile(times, 50), "p95": percentile(times, 95)},
        "stages": _stages(results),
    }


def _pairs(results: Sequence[GoldenResult]) -> dict[str, Any]:
    """Compare the two wordings of a question (ids that differ in their last letter): outcome and main studies."""
    wordings: dict[str, list[GoldenResult]] = {}
    for result in results:
        if result.golden.kind == PAIRED_KIND:
            wordings.setdefault(result.golden.id[:-1], []).append(result)
    pairs = [(first, second) for first, second in (own for own in wordings.values() if len(own) == 2)]
    return {
        "n": len(pairs),
        "same outcome": _rounded(share([a.outcome is b.outcome for a, b in pairs])),
        "shared main studies": _rounded(mean([_shared(_main(a), _main(b)) for a, b in pairs])),
    }


def _main(result: GoldenResult) -> frozenset[str]:
    return frozenset(s for s in result.cited if result.golden.relevant.get(s) == 2)


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 1.0


def _final_passages(answered: Sequence[GoldenResult]) -> dict[str, Any]:
    """Report section hits and the diversity of the final passages."""
    pairs = sum(len(r.places) * (len(r.places) - 1) // 2 for r in answered)
    return {
        "n": sum(len(r.places) for r in answered),
        "section hit": _rounded(share([bool(set(r.final_sections) & set(r.golden.sections)) for r in answered])),
        "distinct places": _distinct([r.places for r in answered]),
        "near duplicates": _rounded(sum(r.near_duplicates for r in answered) / pairs) if pairs else 0.0,
    }


def _distinct(places: Sequence[tuple[Place, ...]]) -> float:
    """Return the share of distinct places."""
    total = sum(len(found) for found in places)
    return _rounded(sum(len(set(found)) for found in places) / total) if total else 1.0


def _abstention(results: Sequence[GoldenResult]) -> dict[str, Any]:
    """Report refusals on questions that reach retrieval, without safety and hostile ones."""
    counted = [r for r in results if r.golden.is_answerable or r.golden.kind in UNANSWERABLE_KINDS]
    refused = [r for r in counted if not r.outcome.is_answer]
    unanswerable = [r for r in counted if not r.golden.is_answerable]
    return {
        "precision": _share_of([not r.golden.is_answerable for r in refused]),
        "recall": _share_of([not r.outcome.is_answer for r in unanswerable]),
        **{
            f"refused {kind.removeprefix('unanswerable_')}": _share_of(
                [not r.outcome.is_answer for r in unanswerable if r.golden.kind == kind]
            )
            for kind in UNANSWERABLE_KINDS
        },
        "wrongly refused": _share_of([not r.outcome.is_answer for r in counted if r.golden.is_answerable]),
    }


def _share_of(flags: Sequence[bool]) -> dict[str, Any]:
    low, high = wilson_interval(sum(flags), len(flags))
    return {"n": len(flags), "share": _rounded(share(flags)), "interval": [_rounded(low), _rounded(high)]}


def _stages(results: Sequence[GoldenResult]) -> dict[str, dict[str, float]]:
    """Report the milliseconds of each stage over the questions that reached it."""
    spent: dict[str, list[float]] = {}
    for result in results:
        for stage, milliseconds in result.stages.items():
            if milliseconds:
                spent.setdefault(stage, []).append(milliseconds)
    return {
        stage: {"p50": round(percentile(times, 50), 2), "p95": round(percentile(times, 95), 2)}
        for stage, times in spent.items()
    }


def _figures(results: Sequence[GoldenResult]) -> dict[str, Any]:
    """Report ranking and answers of a kind with labelled studies, and refusals of other kinds."""
    if not any(r.golden.is_answerable for r in results):
        refused = [not r.outcome.is_answer for r in results]
        guarded = [r.outcome is Outcome.GUARDRAIL for r in results if r.golden.kind == "safety"]
        figures: dict[str, Any] = {"n": len(results), "refused": _rounded(share(refused))}
        return figures | ({"guardrail": _rounded(share(guarded))} if guarded else {})
    answered = [r for r in results if r.outcome.is_answer]
    return {
        "n": len(results),
        "ndcg@10": _rounded(mean([ndcg(r.ranked, r.golden.relevant, 10) for r in results])),
        "recall@10": _rounded(mean([recall(r.ranked, r.golden.relevant, 10) for r in results])),
        "main recall@5": _rounded(mean([recall(r.ranked, r.golden.relevant, 5, least=2) for r in results])),
        "section hit": _rounded(share([bool(set(r.final_sections) & set(r.golden.sections)) for r in answered])),
        "answered": _rounded(len(answered) / len(results)),
    }


def worse(now: dict[str, Any], before: dict[str, Any], *, tolerance: float) -> list[str]:
    """Describe the figures that are worse than a baseline by more than the tolerance."""
    old, new = _flat(before), _flat(now)
    fallen = [
        f"{name}: {new.get(name)}, was {old[name]}"
        for name in old
        if name not in new or (old[name] - new[name]) * _direction(name) > tolerance
    ]
    broken, empty = now["unsupported sentences"], now["without candidates"]
    if broken:
        fallen.append(f"{broken} sentences have no exact words behind them")
    if empty:
        fallen.append(f"{empty} questions came to the search and found no candidate")
    return fallen


def _direction(name: str) -> int:
    """Return 1 where higher is better, else -1."""
    return -1 if LOWER_IS_BETTER & set(name.split(" / ")) else 1


def _flat(figures: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Return every share by its path, without counts, times and intervals."""
    flat: dict[str, float] = {}
    for name, value in figures.items():
        if name in UNCOMPARED:
            continue
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name} / ")
        elif isinstance(value, float):
            flat[f"{prefix}{name}"] = value
    return flat


def _rounded(value: float) -> float:
    return round(float(value), 4)


def evaluate_file(
    path: Path, *, on_progress: Callable[[int], None], preset: str | None = None, changes: Iterable[str] = ()
) -> dict[str, Any]:
    """Evaluate the running system on a golden file; without a preset, with the site's policy.

    Raises BadGolden and BadPolicy.
    """
    policy = answering.POLICY if preset is None and not changes else policy_named(preset or "default", changes)
    return report(evaluate(read_golden(path), policy=policy, on_progress=on_progress), policy)
