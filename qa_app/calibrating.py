"""Fitting the estimates: questions with labels are asked, their raw signals gathered, a model fitted and cross-validated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from corpus_app import search, trial
from qa_app import fitting
from qa_app.answering import POLICY, in_use
from qa_app.backends.corpus import SearchedCorpus, failing
from qa_app.evaluation import REFUSED_KINDS, Golden, read_golden
from qa_app.measures import auroc, brier, calibration_error, reliability, resampled_interval, wilson_interval
from qa_app.pipeline import calibration, confidence, scope
from qa_app.pipeline.generation import ExtractiveWriter
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Encoded
from qa_app.pipeline.records import Answer, Mode, Question
from qa_app.pipeline.retrieval import Clock, find_evidence
from qa_app.pipeline.run import answer_question
from qa_app.pipeline.text import clean

WRONGLY_REFUSED = {"meaning": 0.03, "words": 0.15}
"""Share of answerable questions given up when a threshold is chosen; unseen ones lose about two in a hundred more. Words alone
tell less, and a site without its encoder rather says no."""
BENCHMARK = (
    "benchmark.json"  # confidence as it was fitted to other people's questions, beside the folders of the encoders
)
PASSAGES = 12  # best passages of a question that the bearing model sees
SIGNALS = {
    "answerability": {
        "meaning": ("nearest_three", "unmet_word", "unmet_together", "subject_coverage", "asked_lead", "unasked"),
        "words": ("subject_coverage", "bm25"),
    },
    "confidence": {
        "meaning": ("top_cosine", "first_lead", "first_lead_by_words", "agreement", "unmet_word"),
        "words": ("subject_coverage", "bm25", "first_lead_by_words"),
    },
    "bearing": {"meaning": ("best_cosine", "keyword_share"), "words": ("keyword_share",)},
}
Row = dict[str, Any]
Progress = Callable[[str, int, int], None]


class TooFewExamples(ValueError):
    """The questions hold only one kind of example, or none; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Example:
    signals: dict[str, float]
    right: bool
    kind: str
    group: str
    is_more: bool = False
    """It is of the further questions, whose figures are told apart."""
    is_bare: bool = False
    """It was asked as if nobody had written down how readers ask for a finding: it is fitted to, and not told in the figures."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the system gave for a question, whether or not it would have refused."""

    golden: Golden
    answer: Answer
    would_answer: bool

    @property
    def signals(self) -> dict[str, float]:
        return dict(self.answer.signals.values) if self.answer.signals else {}

    @property
    def first_study(self) -> str | None:
        """The first that is cited; the first of the evidence where nothing could be written."""
        if self.answer.citations:
            return self.answer.citations[0].study.study_id
        return self.answer.evidence[0].passage.study.study_id if self.answer.evidence else None


class WithoutVectors(SearchedCorpus):
    """The corpus as it is searched while no encoder can be had."""

    def encode_ahead(self, texts: Sequence[str]) -> Encoded:
        return failing("The encoder was taken away.")


# --- Asking -----------------------------------------------------------------------------------------------------------


def ask(questions: Iterable[Golden], *, corpus: SearchedCorpus, policy: Policy, report: Progress) -> list[Asked]:
    """Every question that comes to the search, answered in any case."""
    lenient = replace(policy, answerable_from=0.0, answerable_by_words_from=0.0)
    asked = []
    reaching = _reaching(questions)
    for number, (golden, question) in enumerate(reaching, start=1):
        answer = answer_question(question, corpus=corpus, writer=ExtractiveWriter(), policy=lenient)
        if answer.signals is not None:
            outcome = confidence.decide(answer.signals, answer.understanding, policy)
            asked.append(Asked(golden, answer, outcome.is_answer))
        report("questions", number, len(reaching))
    return asked


def _reaching(questions: Iterable[Golden]) -> list[tuple[Golden, Question]]:
    """Those that should come to the search and do: neither dangerous nor hostile, and kept from it by no fixed reply."""
    counted = (g for g in questions if g.is_answerable or g.kind in REFUSED_KINDS)
    asked = [(g, Question(g.question, clean(g.question), Mode(g.mode), g.collection)) for g in counted]
    return [(golden, question) for golden, question in asked if scope.check_scope(question.searched) is None]


def _group(golden: Golden) -> str:
    """Both of a pair of paraphrases have one number."""
    return golden.id.rstrip("ab") if golden.kind == "paraphrase_pairs" else golden.id


def examples_of(kind: str, asked: Iterable[Asked]) -> list[Example]:
    """What a model of answerability or confidence is fitted to."""
    found = []
    for one in asked:
        golden, stratum = one.golden, one.golden.kind if one.golden.kind in REFUSED_KINDS else "answerable"
        group = _group(golden)
        if kind == "answerability":
            found.append(Example(one.signals, golden.is_answerable, stratum, group))
        elif kind == "confidence" and one.would_answer:
            found.append(Example(one.signals, one.first_study in golden.relevant, stratum, group))
    return found


def bearing_examples(
    questions: Iterable[Golden], *, corpus: SearchedCorpus, policy: Policy, report: Progress
) -> list[Example]:
    """The best passages of every question: is the study labelled relevant?"""
    found = []
    reaching = _reaching(questions)
    for number, (golden, question) in enumerate(reaching, start=1):
        result = find_evidence(question, corpus=corpus, policy=policy, clock=Clock())
        found += [
            Example(
                confidence.bearing_signals(candidate, result.understanding),
                candidate.passage.study.study_id in golden.relevant,
                golden.kind,
                _group(golden),
            )
            for candidate in result.ranked[:PASSAGES]
        ]
        report("questions", number, len(reaching))
    return found


# --- Fitting ----------------------------------------------------------------------------------------------------------


def calibrate(kind: str, path: Path, *, more: Path | None = None, today: date, report: Progress) -> Row:
    """A calibration as it is kept in a file, of the live corpus. Raises BadGolden, TooFewExamples and OSError.

    Whether the corpus answers is fitted on `more` questions, too: there are few in `path` that it does not.
    """
    policy = in_use(POLICY)
    further = read_golden(more) if more and kind == "answerability" else []
    examples = {name: _examples(kind, read_golden(path), further, corpus, policy, report) for name, corpus in _ways()}
    return _calibration(kind, path, examples, today, more=more if further else None)


def calibrate_all(path: Path, *, more: Path | None = None, base: Path, today: date, report: Progress) -> dict[str, Row]:
    """All three, each with the models fitted just before: what the passages say of themselves, whether there is an answer,
    and how sure it is. `base` holds the shape of the last. Raises as `calibrate`."""
    questions, further = read_golden(path), read_golden(more) if more else []
    policy = replace(in_use(POLICY), trusts_cosines=True)
    rows: dict[str, Row] = {}
    for kind in ("bearing", "answerability", "confidence"):
        beside = further if kind == "answerability" else []
        found = {name: _examples(kind, questions, beside, corpus, policy, report) for name, corpus in _ways()}
        rows[kind] = _calibration(kind, path, found, today, base, more=more if beside else None)
        policy = policy.calibrated(calibration.read(json.dumps(rows[kind]), kind))
    return rows


def forms(encoder: str) -> tuple[str, ...]:
    """Names of the encoder's forms that can be used here: the one in use, which may be compressed, and as it was published."""
    return tuple(dict.fromkeys((search.encoder_name(), f"{encoder}@{search.ORIGINAL}")))


def calibrate_library(
    folder: Path,
    questions: Path,
    encoder: str,
    *,
    more: Path | None = None,
    base: Path,
    cache: Path,
    today: date,
    report: Progress,
) -> dict[str, Row]:
    """`calibrate_all` for a corpus folder and this encoder, in a throw-away database."""
    with trial.library(folder, encoder, cache=cache, report=report):
        return calibrate_all(questions, more=more, base=base, today=today, report=report)


def _ways() -> tuple[tuple[str, SearchedCorpus], ...]:
    return ("meaning", SearchedCorpus()), ("words", WithoutVectors())


def _examples(
    kind: str,
    questions: Sequence[Golden],
    more: Sequence[Golden],
    corpus: SearchedCorpus,
    policy: Policy,
    report: Progress,
) -> list[Example]:
    if kind == "bearing":
        return bearing_examples(questions, corpus=corpus, policy=policy, report=report)
    found = examples_of(kind, ask(questions, corpus=corpus, policy=policy, report=report))
    further = examples_of(kind, ask(more, corpus=corpus, policy=policy, report=report))
    examples = [*found, *(replace(example, is_more=True) for example in further)]
    if kind != "answerability" or isinstance(corpus, WithoutVectors) or not policy.question_weight:
        return examples
    bare = _examples(kind, questions, more, corpus, replace(policy, question_weight=0.0), report)
    return [*examples, *(replace(example, is_bare=True) for example in bare)]


def _calibration(
    kind: str,
    path: Path,
    examples: Mapping[str, Sequence[Example]],
    today: date,
    base: Path = calibration.SHIPPED,
    more: Path | None = None,
) -> Row:
    shapes = shape_for(kind, search.encoder_name(), base)
    row: Row = {
        "kind": kind,
        "date": today.isoformat(),
        "encoder": search.encoder_name(),
        "questions": _file(path),
        **({"more_questions": _file(more)} if more else {}),
        "corpus": {"version": search.corpus_version(), **search.corpus_digest()},
        "models": {name: fit_model(kind, name, found, shapes.get(name)) for name, found in examples.items()},
    }
    return {"version": calibration.version_of(row), **row}


def _file(path: Path) -> Row:
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def fit_model(kind: str, by: str, found: Sequence[Example], shape: Row | None = None) -> Row:
    """One model with what it is made of and how it did on examples that it had not seen. Raises TooFewExamples.

    With a shape, a model of the same kind that was fitted elsewhere, its signals keep their weights against each other: what
    is fitted is an intercept and one slope.
    """
    names = SIGNALS[kind][by] if shape is None else tuple(signal["name"] for signal in shape["signals"])
    right = [example.right for example in found]
    if len(set(right)) < 2:
        raise TooFewExamples(f"There are {len(right)} examples of {kind}, and all are alike: nothing can be fitted.")
    rows = [[example.signals[name] for name in names] for example in found]
    examples = fitting.examples(
        names if shape is None else ("shape",),
        rows if shape is None else [[_log_odds(shape, row)] for row in rows],
        right,
        [example.kind if kind == "answerability" else str(example.right) for example in found],
        [example.group for example in found],
    )
    decides, given_up = kind == "answerability", WRONGLY_REFUSED[by]
    told = [example for example in found if not example.is_bare]
    line = fitting.fit(examples.rows, examples.right, balanced=False)
    unseen = fitting.cross_validate(examples, balanced=False, wrongly_refused=given_up if decides else None)
    figures = _figures(found, unseen, decides=decides)
    return {
        **(_as_fitted(names, line) if shape is None else _stretched(shape, line)),
        "threshold": _rounded(fitting.threshold(line, examples, given_up)) if decides else None,
        "n": len(told),
        "right": sum(example.right for example in told),
        "ridge": fitting.RIDGE,
        **({"given up": given_up} if decides else {}),
        **({"shape": shape["n"]} if shape else {}),
        "unseen": figures | ({"labels": _labels(unseen.estimates.tolist(), right)} if kind == "confidence" else {}),
    }


def _log_odds(model: Row, row: Sequence[float]) -> float:
    signals = zip(model["signals"], row, strict=True)
    return float(model["intercept"] + sum(s["coefficient"] * (value - s["mean"]) / s["scale"] for s, value in signals))


def _as_fitted(names: Sequence[str], line: fitting.Line) -> Row:
    columns = zip(names, line.means, line.scales, line.coefficients, strict=True)
    return {
        "signals": [
            {"name": name, "mean": _rounded(mean), "scale": _rounded(scale), "coefficient": _rounded(coefficient)}
            for name, mean, scale, coefficient in columns
        ],
        "intercept": _rounded(line.intercept),
    }


def _stretched(shape: Row, line: fitting.Line) -> Row:
    """The shape's own signals, so that its log odds come out as the line has them."""
    slope = float(line.coefficients[0] / line.scales[0])
    return {
        "signals": [{**s, "coefficient": _rounded(slope * s["coefficient"])} for s in shape["signals"]],
        "intercept": _rounded(line.intercept + slope * (shape["intercept"] - float(line.means[0]))),
    }


def _labels(estimates: Sequence[float], right: Sequence[bool]) -> Row:
    """What was right of the answers that get each label."""
    given = [confidence.label_of(round(100 * estimate), POLICY) for estimate in estimates]
    held = {label: [was for its, was in zip(given, right, strict=True) if its == label] for label in confidence.LABELS}
    return {label: _share(sum(those), len(those)) for label, those in held.items()}


def shape_for(kind: str, encoder: str, base: Path) -> Mapping[str, Row]:
    """Models of a kind that were fitted to a benchmark with this model, in any form, by meaning and by words; empty without."""
    path = base / BENCHMARK
    if kind != "confidence" or not path.exists():
        return {}
    row = json.loads(path.read_text(encoding="utf-8"))
    models: dict[str, Row] = row["models"] if row["encoder"].partition("@")[0] == encoder.partition("@")[0] else {}
    return models


def _figures(found: Sequence[Example], unseen: fitting.Unseen, *, decides: bool) -> Row:
    """Cross-validated: each example judged by models that had not seen it."""
    told = [place for place, example in enumerate(found) if not example.is_bare]
    refused = [float(unseen.refused[place]) for place in told] if decides else []
    estimates = [float(unseen.estimates[place]) for place in told]
    found = [found[place] for place in told]
    right = [example.right for example in found]
    figures: Row = {
        "folds": fitting.FOLDS,
        "repeats": fitting.REPEATS,
        "auroc": _with_interval(auroc, estimates, right),
        "ece": _with_interval(calibration_error, estimates, right),
        "brier": _with_interval(brier, estimates, right),
    }
    if not decides:
        return figures | {
            "bins": [
                {"n": b.n, "estimated": round(b.estimated, 4), "was": round(b.was, 4)}
                for b in reliability(estimates, right)
            ]
        }
    kinds = [(example.is_more, example.kind) for example in found]
    for is_more, kind in dict.fromkeys(kinds):
        shares = [share for share, its in zip(refused, kinds, strict=True) if its == (is_more, kind)]
        name = "wrongly refused" if kind == "answerable" else f"refused {kind.removeprefix('unanswerable_')}"
        figures[f"{name}, more questions" if is_more else name] = _share(sum(shares), len(shares))
    for kind in REFUSED_KINDS:
        these = [i for i, (_, its) in enumerate(kinds) if its in ("answerable", kind)]
        figures[f"auroc {kind.removeprefix('unanswerable_')}"] = _with_interval(
            auroc, [estimates[i] for i in these], [right[i] for i in these]
        )
    return figures


def _share(hits: float, n: int) -> Row:
    low, high = wilson_interval(round(hits), n)
    return {"n": n, "share": round(hits / n, 4) if n else 0.0, "interval": [round(low, 4), round(high, 4)]}


def _with_interval(
    measure: Callable[[Sequence[float], Sequence[bool]], float], estimates: Sequence[float], right: Sequence[bool]
) -> Row:
    low, high = resampled_interval(measure, estimates, right)
    return {
        "n": len(right),
        "value": round(measure(estimates, right), 4),
        "interval": [round(low, 4), round(high, 4)],
    }


def _rounded(value: float) -> float:
    return round(float(value), 6)


# --- Other people's collections ---------------------------------------------------------------------------------------


def measure_confidence(folder: Path, *, cache: Path, report: Progress) -> Row:
    """Confidence on a benchmark, in a throw-away database: the same signals, fitted and cross-validated there.

    Every question is answered. Right means that the first study cited is judged relevant. Raises BadBenchmark.
    """
    benchmark, policy = trial.read(folder), in_use(POLICY)
    with trial.throwaway_database():
        documents = trial.fill(benchmark, cache=cache, with_sentences=True, report=report)
        questions = [
            Golden(pk, text, Mode.BEGINNER.value, "benchmark", None, benchmark.judgments[pk], ())
            for pk, text in benchmark.questions.items()
        ]
        asked = ask(questions, corpus=SearchedCorpus(), policy=policy, report=report)
        found = [Example(one.signals, _judged(one, documents), "", one.golden.id) for one in asked]
        encoder = search.encoder_name()
    return {
        "kind": "confidence",
        "corpus": benchmark.name,
        "encoder": encoder,
        "documents": len(documents),
        "models": {"meaning": fit_model("confidence", "meaning", found)},
    }


def _judged(one: Asked, documents: Mapping[int, str]) -> bool:
    """Whether the first study is judged relevant. Each document is a study of one passage."""
    passage_of = {c.passage.study.study_id: c.passage.passage_id for c in one.answer.evidence}
    first = passage_of.get(one.first_study or "")
    return first is not None and one.golden.relevant.get(documents[first], 0) > 0
