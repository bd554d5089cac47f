"""Golden questions against the running system: what it finds, answers and refuses."""

from __future__ import annotations

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
from qa_app.pipeline.records import Answer, Candidate, Mode, Outcome, Question, Sentence, SentenceKind
from qa_app.pipeline.text import clean

NEAR_DUPLICATE = 0.8  # Jaccard similarity of two passages
FINAL = 5  # passages that count as final for section hits
REFUSED_KINDS = ("unanswerable_near", "unanswerable_far")
UNCOMPARED = frozenset({"milliseconds", "interval", "stages"})  # times and spreads are told, not held to a baseline
LOWER_IS_BETTER = frozenset({"wrongly refused", "near duplicates"})
_TOKEN = re.compile(r"\w+")

Place = tuple[str, str, int]
"""Study, section and position // 3: passages of one place say much the same."""


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
class Result:
    golden: Golden
    outcome: Outcome
    ranked: tuple[str, ...]
    """Study ids by their best passage."""
    cited: tuple[str, ...]
    final_sections: tuple[str, ...]
    unsupported: int
    """Sentences that are not the exact words of a passage of the evidence."""
    milliseconds: float
    places: tuple[Place, ...] = ()
    """Where the final passages stand; empty unless it was answered."""
    near_duplicates: int = 0
    """Pairs of final passages that share four words of five."""
    candidates: int | None = None
    """What the search found; None where the question never came to it."""
    stages: Mapping[str, float] = field(default_factory=dict)


GRADES = (1, 2)  # it bears on the question, it answers it


class BadGolden(ValueError):
    """A line that cannot be read; the message names it."""


def read_golden(path: Path) -> tuple[Golden, ...]:
    """The questions of a file, one JSON object a line. Raises BadGolden naming the line."""
    return tuple(golden_of(row) for row in read_rows(path))


def read_rows(path: Path) -> tuple[dict[str, Any], ...]:
    """The lines of a file of golden questions, each fit for `golden_of`. Raises BadGolden naming the line."""
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
    """A line of the file as a question. Raises ValueError, KeyError or TypeError where it is none."""
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


def evaluate(
    questions: Iterable[Golden], *, policy: Policy = POLICY, on_progress: Callable[[int], None]
) -> tuple[Result, ...]:
    return tuple(_ask(golden, policy, on_progress, done) for done, golden in enumerate(questions, start=1))


def _ask(golden: Golden, policy: Policy, on_progress: Callable[[int], None], done: int) -> Result:
    question = Question(golden.question, clean(golden.question), Mode(golden.mode), golden.collection)
    clock = Clock()
    with clock("total"):
        answer = answering.make(question, writer="extractive", policy=policy)
    on_progress(done)
    cited = [citation.study.study_id for citation in answer.citations]
    found = [c.passage.study.study_id for c in answer.evidence]
    return _result(golden, answer, tuple(dict.fromkeys((*cited, *found))), clock)


def _result(golden: Golden, answer: Answer, ranked: tuple[str, ...], clock: Clock) -> Result:
    places = _places(answer.evidence) if answer.outcome.is_answer else ()
    return Result(
        golden=golden,
        outcome=answer.outcome,
        ranked=ranked,
        cited=tuple(citation.study.study_id for citation in answer.citations),
        final_sections=tuple(c.passage.section.value for c in answer.evidence[:FINAL]),
        unsupported=count_unsupported(answer),
        milliseconds=clock.spent["total"] or 0.0,
        places=places,
        near_duplicates=count_near_duplicates(answer.evidence),
        candidates=None if answer.found is None else len(answer.found.hits),
        stages={stage: spent for stage, spent in answer.timings_ms.items() if spent is not None},
    )


def _places(found: Sequence[Candidate]) -> tuple[Place, ...]:
    return tuple((c.passage.study.study_id, c.passage.section.value, c.passage.position // PLACE) for c in found)


def count_near_duplicates(found: Sequence[Candidate]) -> int:
    """Count pairs of passages whose words are nearly the same (Jaccard)."""
    words = [frozenset(_TOKEN.findall(c.passage.text.lower())) for c in found]
    return sum(len(a & b) >= NEAR_DUPLICATE * len(a | b) for a, b in combinations(words, 2))


def count_unsupported(answer: Answer) -> int:
    """Sentences without exact words behind them: no span, one whose words are not the sentence's, or a count that is not proven."""
    texts = {c.passage.passage_id: c.passage.text for c in answer.evidence}
    return sum(not _is_supported(sentence, answer, texts) for sentence in (*answer.summary, *answer.answer))


def _is_supported(sentence: Sentence, answer: Answer, texts: Mapping[int, str]) -> bool:
    if sentence.kind is SentenceKind.COUNT:
        return answer.overview is not None and bool(sentence.counted_studies)
    return bool(sentence.support) and all(
        texts.get(s.passage_id, "")[s.start : s.end] == s.quote == sentence.text for s in sentence.support
    )


def report(results: Sequence[Result], policy: Policy = POLICY) -> dict[str, Any]:
    """Figures by kind and over all, each with n; `worse` says which way is better."""
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


def _pairs(results: Sequence[Result]) -> dict[str, Any]:
    """Questions asked in two wordings (ids that differ in their last letter): whether both end alike and cite the same main studies."""
    wordings: dict[str, list[Result]] = {}
    for result in results:
        if result.golden.kind == "paraphrase_pairs":
            wordings.setdefault(result.golden.id[:-1], []).append(result)
    pairs = [(first, second) for first, second in (own for own in wordings.values() if len(own) == 2)]
    return {
        "n": len(pairs),
        "same outcome": _rounded(share([a.outcome is b.outcome for a, b in pairs])),
        "shared main studies": _rounded(mean([_shared(_main(a), _main(b)) for a, b in pairs])),
    }


def _main(result: Result) -> frozenset[str]:
    return frozenset(s for s in result.cited if result.golden.relevant.get(s) == 2)


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 1.0


def _final_passages(answered: Sequence[Result]) -> dict[str, Any]:
    """What seed 002 asks of them: from different places, and not the same words twice."""
    pairs = sum(len(r.places) * (len(r.places) - 1) // 2 for r in answered)
    return {
        "n": sum(len(r.places) for r in answered),
        "section hit": _rounded(share([bool(set(r.final_sections) & set(r.golden.sections)) for r in answered])),
        "distinct places": _distinct([r.places for r in answered]),
        "near duplicates": _rounded(sum(r.near_duplicates for r in answered) / pairs) if pairs else 0.0,
    }


def _distinct(places: Sequence[tuple[Place, ...]]) -> float:
    """The share of passages that stand at a place of their own."""
    total = sum(len(found) for found in places)
    return _rounded(sum(len(set(found)) for found in places) / total) if total else 1.0


def _abstention(results: Sequence[Result]) -> dict[str, Any]:
    """Refusing, measured on questions that come to the search: those of safety and hostile ones do not count."""
    counted = [r for r in results if r.golden.is_answerable or r.golden.kind in REFUSED_KINDS]
    refused = [r for r in counted if not r.outcome.is_answer]
    unanswerable = [r for r in counted if not r.golden.is_answerable]
    return {
        "precision": _share_of([not r.golden.is_answerable for r in refused]),
        "recall": _share_of([not r.outcome.is_answer for r in unanswerable]),
        **{
            f"refused {kind.removeprefix('unanswerable_')}": _share_of(
                [not r.outcome.is_answer for r in unanswerable if r.golden.kind == kind]
            )
            for kind in REFUSED_KINDS
        },
        "wrongly refused": _share_of([not r.outcome.is_answer for r in counted if r.golden.is_answerable]),
    }


def _share_of(flags: Sequence[bool]) -> dict[str, Any]:
    low, high = wilson_interval(sum(flags), len(flags))
    return {"n": len(flags), "share": _rounded(share(flags)), "interval": [_rounded(low), _rounded(high)]}


def _stages(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Milliseconds of each stage over the questions that came to it."""
    spent: dict[str, list[float]] = {}
    for result in results:
        for stage, milliseconds in result.stages.items():
            if milliseconds:
                spent.setdefault(stage, []).append(milliseconds)
    return {
        stage: {"p50": round(percentile(times, 50), 2), "p95": round(percentile(times, 95), 2)}
        for stage, times in spent.items()
    }


def _figures(results: Sequence[Result]) -> dict[str, Any]:
    """What counts for a kind: ranking and answering where studies are labelled, else the refusal."""
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
    """Figures that are worse by more than the tolerance than in a baseline, in words."""
    old, new = _flat(before), _flat(now)
    fallen = [
        f"{name}: {new.get(name)}, was {old[name]}"
        for name in old
        if name not in new or (old[name] - new[name]) * _sense(name) > tolerance
    ]
    broken, empty = now["unsupported sentences"], now["without candidates"]
    if broken:
        fallen.append(f"{broken} sentences have no exact words behind them")
    if empty:
        fallen.append(f"{empty} questions came to the search and found no candidate")
    return fallen


def _sense(name: str) -> int:
    """1 where higher is better, -1 where lower is."""
    return -1 if LOWER_IS_BETTER & set(name.split(" / ")) else 1


def _flat(figures: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Every share by its path; counts, times and intervals are left out."""
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
    """Figures of the running system on a file of golden questions. Raises BadGolden naming the line, and BadPolicy.

    Without a preset, of the site's own policy.
    """
    policy = answering.POLICY if preset is None and not changes else policy_named(preset or "default", changes)
    return report(evaluate(read_golden(path), policy=policy, on_progress=on_progress), policy)
