"""How the site answers, as it runs at this moment: the policy in force, what was fitted and how well, and who writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from corpus_app import search
from qa_app import answering
from qa_app.measures import wilson_interval
from qa_app.models import EvaluationRun
from qa_app.pipeline import calibration
from qa_app.pipeline.policy import Policy

SIDE = 200  # of the diagram of confidence


def describe() -> dict[str, Any]:
    """Everything that the page tells, read anew each time."""
    policy = answering.in_use(answering.POLICY)
    return {
        "policy": policy.label,
        "figures": figures(policy),
        "models": [_model(name, value) for name, value in asdict(policy).items() if _is_model(value)],
        "by_meaning": policy.trusts_cosines,
        "encoder": search.encoder_name(),
        "reranker": settings.INFORM_RERANKER,
        "corpus": search.corpus_figures(),
        "calibrations": _calibrations(policy),
        "evaluation": _evaluation(),
    }


def figures(policy: Policy) -> dict[str, Any]:
    """Every number and choice of a policy by its name, without the fitted models."""
    return {name: value for name, value in asdict(policy).items() if name != "name" and not _is_model(value)}


def _is_model(value: object) -> bool:
    return isinstance(value, Mapping)


def _model(name: str, model: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, **model}


def _calibrations(policy: Policy) -> dict[str, Any]:
    """Of each kind, what it was fitted on and how it did on questions it had not seen; only of what is in force."""
    found: dict[str, Any] = {}
    for kind in calibration.KINDS:
        path = answering.calibration_folder(search.encoder_name(), settings.CALIBRATIONS, kind) / f"{kind}.json"
        if not path.is_file():
            continue
        row = json.loads(path.read_text(encoding="utf-8"))
        if row.get("version") != getattr(policy, kind).fitted_on:
            continue  # the policy brings its own model
        fitted = row["models"]["meaning" if policy.trusts_cosines else "words"]
        found[kind] = {
            "version": row["version"],
            "date": row["date"],
            "n": fitted["n"],
            "unseen": {name.replace(" ", "_"): value for name, value in fitted["unseen"].items()},
            "diagram": _diagram(fitted["unseen"].get("bins") or ()),
        }
    return found


def _diagram(bins: Any) -> list[dict[str, Any]]:
    """Estimated against right, with 95 % intervals, as places in a square of SIDE with its origin above."""
    points = []
    for row in bins:
        low, high = wilson_interval(round(row["n"] * row["was"]), row["n"])
        points.append(
            {
                "n": row["n"],
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
    """The curators' last finished run of their test questions: its main figures, never its questions."""
    run = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).defer("results").first()
    if run is None:
        return None
    told = run.figures
    return {
        "at": run.finished_at or run.asked_at,
        "total": run.total,
        "corpus_version": run.corpus_version,
        "policy": run.policy,
        "answerable": told.get("answerable") or {},
        "cites": (told.get("answered") or {}).get("cites a main study"),
        "unsupported": told.get("unsupported sentences"),
    }
