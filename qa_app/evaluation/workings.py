"""Describe the present policy, models, figures and writer for the page "How it works"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from corpus_app import search
from qa_app.answers import answering, asking, engines
from qa_app.answers.corpus import describe_calibration
from qa_app.evaluation.measures import wilson_interval
from qa_app.evaluation.risk_coverage import Curve, draw_curve
from qa_app.models import CorpusCalibration, EvaluationRun
from qa_app.pipeline.learned import DEFAULT_ENCODER, BadModel, ModelFile
from qa_app.pipeline.policy import Policy

SIDE = 200  # of a diagram, in pixels


def describe() -> dict[str, Any]:
    """Return the present state of the answering engine."""
    encoder = search.encoder_name()
    files, is_calibrated = _files(encoder)
    mode = "meaning" if is_calibrated else "words"
    return {
        "policy": answering.POLICY.label,
        "figures": figures(answering.POLICY),
        "models": [_model(file, "bare" if name == "grounding" else mode) for name, file in files.items()],
        "by_meaning": is_calibrated,
        "threshold": files["answerability"].models[mode].threshold,
        "encoder": encoder,
        "reranker": settings.INFORM_RERANKER,
        "corpus": search.corpus_figures(),
        "held_out": _held_out(files["lead"], mode) if is_calibrated else None,
        "safety": _safety(encoder),
        "evaluation": _evaluation(),
    }


def figures(policy: Policy) -> dict[str, Any]:
    """Return every number and choice of a policy by its name."""
    return {name: value for name, value in policy.values().items() if name != "name"}


def _files(encoder: str) -> tuple[Mapping[str, ModelFile], bool]:
    try:
        return engines.model_files(encoder), True
    except BadModel:
        return engines.model_files(DEFAULT_ENCODER), False


def _model(file: ModelFile, mode: str) -> dict[str, Any]:
    model = file.models[mode]
    weights = sorted(zip(model.names, model.coefficients, strict=True), key=lambda pair: -abs(pair[1]))
    return {
        "name": file.kind,
        "version": file.version,
        "fitted_on": file.data,
        "intercept": model.intercept,
        "weights": weights,
    }


def _held_out(file: ModelFile, mode: str) -> dict[str, Any]:
    """Return the models' held-out figures, with a reliability diagram where bins are known."""
    own = dict(file.figures[mode])
    n, bins = round(own["questions"]), own.get("bins", ())
    return own | {"n": n, "diagram": _diagram(bins), "curve": draw_curve(bins, n)}


def _own_curve() -> Curve | None:
    """Return the curve of the questions made from this corpus; None where none is stored."""
    newest = CorpusCalibration.newest()
    bins = newest.bins if newest else ()
    return draw_curve(bins, sum(row["n"] for row in bins))


def _safety(encoder: str) -> dict[str, Any] | None:
    """Count what the classifier and the word list missed and mistook, by route in force; None without figures."""
    _, classifier = engines.load(encoder)
    counts = classifier.held_out if classifier else {}
    rows: list[dict[str, Any]] = [
        {
            "route": route,
            "n": counts[route].get("rows", 0),
            "missed_by_classifier": counts[route].get("classifier missed", 0),
            "missed": counts[route].get("both missed", 0),
            "mistaken": counts[route].get("both false", 0),
        }
        for route in answering.safety_routes()
        if route in counts
    ]
    total = {name: sum(row[name] for row in rows) for name in ("n", "missed_by_classifier", "missed", "mistaken")}
    return {"rows": rows, "total": total, "others": counts.get("none", {}).get("rows", 0)} if rows else None


def _diagram(bins: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return a reliability diagram with 95 % intervals, in a square of SIDE units with the origin at the top left."""
    points = []
    for row in bins:
        low, high = wilson_interval(round(row["n"] * row["was"]), round(row["n"]))
        points.append(
            {
                "n": round(row["n"]),
                "estimated": row["estimated"],
                "was": row["was"],
                "low": low,
                "high": high,
                "x": round(SIDE * row["estimated"], 1),
                "y": round(SIDE * (1 - row["was"]), 1),
                "y_low": round(SIDE * (1 - low), 1),
                "y_high": round(SIDE * (1 - high), 1),
            }
        )
    return points


def _evaluation() -> dict[str, Any] | None:
    """Return the main figures of the last finished evaluation run; None where there is none."""
    run = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).defer("results").first()
    if run is None:
        return None
    own = run.figures
    return {
        "at": run.finished_at or run.asked_at,
        "total": run.total,
        "corpus_version": run.corpus_version,
        "policy": run.policy,
        "answerable": own.get("answerable") or {},
        "cites": (own.get("answered") or {}).get("cites a main study"),
        "unsupported": own.get("unsupported sentences"),
    }


def how_it_works() -> dict[str, Any]:
    """Return `describe()` with fixed limits and the writer."""
    return describe() | {
        "writer": asking.describe_writer(),
        "longest_question": asking.MAX_QUESTION_LENGTH,
        "calibration_trouble": engines.model_trouble(),
        "corpus_calibration": describe_calibration(),
        "own_curve": _own_curve(),
        "is_uncalibrated": CorpusCalibration.is_missing(),
    }
