"""Fit the support score of paraphrases to labelled claims, and evaluate it and other judges."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_app.pipeline.text import stem_set
from qa_app.pipeline.verification.support import SIGNALS, Support, read_signals

RIDGE = 10.0  # strength of the L2 penalty, in claims
FOLDS = 10
REPEATS = 5
MAX_STEMS = 4_000
RESAMPLES = 1_000
SEED = 0
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(\[])|\n+")

Floats = NDArray[np.float64]


class BadClaims(ValueError):
    """An invalid folder or line, which the message names."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its evidence sentences."""

    text: str
    evidence: tuple[str, ...]
    is_supported: bool


def read_claims(folder: Path) -> dict[str, tuple[Claim, ...]]:
    """Read the `*.jsonl` and `*.jsonl.gz` files: `claim`, `evidence` (texts), `label` ("supported" or other)."""
    sets = {path.name.split(".")[0]: _read(path) for path in sorted(folder.glob("*.jsonl*"))}
    if not sets:
        raise BadClaims(f"{folder} holds no .jsonl or .jsonl.gz file")
    return sets


def split_evidence(texts: Sequence[str]) -> tuple[str, ...]:
    """Split texts into sentences."""
    return tuple(s for text in texts for s in _SENTENCE.split(text) if s.strip())


def _read(path: Path) -> tuple[Claim, ...]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    claims = []
    for number, line in enumerate(data.decode("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            texts = split_evidence(row["evidence"])
            claims.append(Claim(row["claim"], texts, row["label"] == "supported"))
        except (ValueError, KeyError, TypeError) as error:
            raise BadClaims(f"{path}:{number}: {type(error).__name__}: {error}") from error
    if len({claim.is_supported for claim in claims}) < 2:
        raise BadClaims(f"{path} needs claims of both kinds")
    return tuple(claims)


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """A set of claims as signals (n x signals) and labels (n)."""

    name: str
    signals: Floats
    labels: Floats
    claims: tuple[str, ...] = ()
    """Texts, so that all rows of a claim are held out together."""

    @property
    def weights(self) -> Floats:
        """Return weights that balance both labels."""
        supported = self.labels.mean()
        each = np.where(self.labels == 1, 0.5 / supported, 0.5 / (1 - supported)) / len(self.labels)
        return np.asarray(each, dtype=np.float64)


def count_stems(sets: dict[str, tuple[Claim, ...]]) -> Support:
    """Return a score without weights that contains the document frequencies of stems."""
    sentences = dict.fromkeys(s for claims in sets.values() for claim in claims for s in claim.evidence)
    carrying: Counter[str] = Counter()
    for sentence in sentences:
        carrying.update(stem_set(sentence))
    common = dict(sorted(carrying.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_STEMS])
    return Support(0.0, {}, {}, {}, len(sentences), common, "")


def fit(folder: Path, *, report: Callable[[str], None] = lambda _: None) -> tuple[Support, dict[str, Any]]:
    """Return the score fitted on all sets, weighted alike, and cross-validated figures for each set."""
    claims = read_claims(folder)
    counted = count_stems(claims)
    sets = []
    for name, rows in claims.items():
        report(name)
        signals = [read_signals(claim.text, claim.evidence, counted) for claim in rows]
        matrix = np.array([[row[signal] for signal in SIGNALS] for row in signals])
        sets.append(
            ClaimSet(
                name,
                matrix,
                np.array([float(claim.is_supported) for claim in rows]),
                tuple(claim.text for claim in rows),
            )
        )
    support = replace(_fit(sets, counted), fitted_on=", ".join(f"{s.name} ({len(s.labels)})" for s in sets))
    return support, {s.name: _cross_validated(s, sets, counted) for s in sets}


def _fit(sets: Sequence[ClaimSet], counted: Support) -> Support:
    x = np.vstack([s.signals for s in sets])
    y = np.concatenate([s.labels for s in sets])
    mean_size = len(y) / len(sets)
    weights = np.concatenate([s.weights * mean_size for s in sets])
    means = np.average(x, axis=0, weights=weights)
    scales = np.sqrt(np.average((x - means) ** 2, axis=0, weights=weights))
    scales[scales < 1e-4] = 1.0  # nearly constant in these sets
    fitted = logistic((x - means) / scales, y, weights, ridge=RIDGE)
    named = {name: round(float(value), 5) for name, value in zip(SIGNALS, fitted[1:], strict=True)}
    return replace(
        counted,
        intercept=round(float(fitted[0]), 5),
        weights=named,
        means={name: round(float(value), 5) for name, value in zip(SIGNALS, means, strict=True)},
        scales={name: round(float(value), 5) for name, value in zip(SIGNALS, scales, strict=True)},
    )


def logistic(x: Floats, y: Floats, weights: Floats, *, ridge: float, steps: int = 50) -> Floats:
    """Return intercept and weights of a weighted logistic regression with an L2 penalty, fitted by IRLS."""
    design = np.hstack([np.ones((len(x), 1)), x])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 0.0
    beta = np.zeros(design.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (weights * (y - chance)) - penalty * beta
        hessian = (design * (weights * chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return np.asarray(beta, dtype=np.float64)


def _cross_validated(held_out: ClaimSet, sets: Sequence[ClaimSet], counted: Support) -> dict[str, Any]:
    """Return held-out figures of a set over repeated folds; the other sets are always part of the training data."""
    others = [s for s in sets if s is not held_out]
    generator = np.random.default_rng(SEED)
    scores = np.zeros((REPEATS, len(held_out.labels)))
    for repeat in range(REPEATS):
        order_of = {claim: place for place, claim in enumerate(generator.permutation(sorted(set(held_out.claims))))}
        folds = np.array([order_of[claim] % FOLDS for claim in held_out.claims])
        for fold in range(FOLDS):
            inside = folds != fold
            model = _fit([ClaimSet(held_out.name, held_out.signals[inside], held_out.labels[inside]), *others], counted)
            scores[repeat, ~inside] = predict(model, held_out.signals[~inside])
    return evaluate(scores, held_out.labels)


def predict(model: Support, signals: Floats) -> Floats:
    return np.array([model.score(dict(zip(SIGNALS, row, strict=True))) for row in signals.tolist()])


def evaluate(scores: Floats, labels: Floats, *, threshold: float = 0.5) -> dict[str, Any]:
    """Return AUROC and balanced accuracy, averaged over score rows, with 95 % bootstrap intervals over the claims."""
    generator = np.random.default_rng(SEED)
    drawn = [generator.integers(0, len(labels), len(labels)) for _ in range(RESAMPLES)]

    def spread(measure: Callable[[Floats, Floats], float]) -> dict[str, Any]:
        value = float(np.mean([measure(row, labels) for row in scores]))
        again = [measure(scores[0][d], labels[d]) for d in drawn if 0 < labels[d].mean() < 1]
        low, high = np.quantile(again, [0.025, 0.975])
        return {"mean": round(value, 4), "interval": [round(float(low), 3), round(float(high), 3)]}

    return {
        "n": len(labels),
        "supported": int(labels.sum()),
        "auroc": spread(auroc),
        "balanced accuracy": spread(lambda row, true: balanced_accuracy(row >= threshold, true)),
    }


def auroc(scores: Floats, labels: Floats) -> float:
    """Return the area under the ROC curve; ties count half."""
    order = np.sort(scores[labels == 0])
    above = scores[labels == 1]
    wins = np.searchsorted(order, above, side="left") + np.searchsorted(order, above, side="right")
    return float(wins.sum() / (2 * len(order) * len(above)))


def balanced_accuracy(predicted: NDArray[np.bool_], labels: Floats) -> float:
    return float((predicted[labels == 1].mean() + (~predicted[labels == 0]).mean()) / 2)


def evaluate_judge(folder: Path, judge: Callable[[str, Sequence[str]], float]) -> dict[str, Any]:
    """Return the figures of a judge that was not fitted; a judge that fails scores 0."""
    return {
        name: evaluate(
            np.array([[_judge_score(judge, claim) for claim in claims]]),
            np.array([float(c.is_supported) for c in claims]),
        )
        for name, claims in read_claims(folder).items()
    }


def _judge_score(judge: Callable[[str, Sequence[str]], float], claim: Claim) -> float:
    try:
        return judge(claim.text, claim.evidence)
    except Exception:  # the running site also counts a failing judge as no support
        return 0.0


def write(support: Support, path: Path) -> None:
    path.write_text(json.dumps(asdict(support), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
