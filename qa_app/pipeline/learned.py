"""Read fitted logistic models from JSON and apply them to named features.

A file holds one or more models of one estimate, with the name of the data and the held-out figures of the fit, so that
the quality of the weights is known.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
DEFAULT_ENCODER = "all-MiniLM-L6-v2@int8"
"""The encoder whose word-only models serve an encoder without models of its own."""
FOLDER = Path(__file__).resolve().parents[1] / "fitted"


class BadModel(ValueError):
    """A model file that cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model over standardised features, in the order of `names`."""

    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    threshold: float | None = None
    """Estimate from which the answer is yes; None where nothing is decided by it."""

    def predict(self, features: Matrix) -> Matrix:
        """Return one probability a row of `features` (rows x names)."""
        standard = (features - np.asarray(self.mean)) / np.asarray(self.scale)
        logits = standard @ np.asarray(self.coefficients) + self.intercept
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30))))

    def as_row(self) -> dict[str, Any]:
        """Return the model as a JSON-serialisable row."""
        features = [
            {"name": n, "mean": round(m, 6), "scale": round(s, 6), "coefficient": round(c, 6)}
            for n, m, s, c in zip(self.names, self.mean, self.scale, self.coefficients, strict=True)
        ]
        return {"intercept": round(self.intercept, 6), "threshold": self.threshold, "features": features}


def logit(chance: float) -> float:
    """Return the log odds of a chance, which is kept away from 0 and 1."""
    clipped = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(clipped / (1 - clipped))


@dataclass(frozen=True, slots=True)
class Scaling:
    """Slope and offset of two logits, fitted to a corpus without labels (Platt 1999); by default nothing changes."""

    slope: float = 1.0
    offset: float = 0.0
    lead_slope: float = 1.0
    lead_offset: float = 0.0

    def answerable(self, chance: float) -> float:
        return _scaled(chance, self.slope, self.offset)

    def lead(self, chance: float) -> float:
        return _scaled(chance, self.lead_slope, self.lead_offset)


def _scaled(chance: float, slope: float, offset: float) -> float:
    if (slope, offset) == (1.0, 0.0):
        return chance
    return 1 / (1 + math.exp(-(slope * logit(chance) + offset)))


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The models of one estimate by name, fitted for one encoder."""

    kind: str
    version: str
    encoder: str
    data: str
    """Names of the labelled questions that it was fitted on."""
    figures: Mapping[str, Any]
    """Held-out figures of the fit."""
    models: Mapping[str, Logistic]


def read(path: Path) -> ModelFile:
    """Read a model file. Raises BadModel."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        models = {name: _logistic(model) for name, model in row["models"].items()}
        found = ModelFile(row["kind"], row["version"], row["encoder"], row["data"], row["figures"], models)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadModel(
            f"{path.name} cannot be read as a model ({error}): run `manage.py calibrate relevance`."
        ) from error
    if found.version != version_of(row):
        raise BadModel(f"{path.name} was changed by hand: its figures are not those of version {found.version}.")
    return found


def write(path: Path, row: Mapping[str, Any]) -> None:
    """Write a model file with its version; `row` has every key of it but `version`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": version_of(row), **row}, indent=1) + "\n", encoding="utf-8")


def version_of(row: Mapping[str, Any]) -> str:
    """Return the kind and a hash of everything else in the file."""
    rest = json.dumps({key: value for key, value in row.items() if key != "version"}, sort_keys=True)
    return f"{row['kind']}-{hashlib.sha256(rest.encode()).hexdigest()[:10]}"


def folder_of(encoder: str) -> Path:
    """Return the folder of an encoder's models (`model@format`); the formats of one model share it.

    Cosines of the compressed format differ from the original's by less than .02.
    """
    return FOLDER / encoder.partition("@")[0].replace("/", "_")


def _logistic(row: Mapping[str, Any]) -> Logistic:
    features: Sequence[Mapping[str, Any]] = row["features"]
    threshold = row["threshold"]
    return Logistic(
        names=tuple(str(f["name"]) for f in features),
        mean=tuple(float(f["mean"]) for f in features),
        scale=tuple(float(f["scale"]) for f in features),
        coefficients=tuple(float(f["coefficient"]) for f in features),
        intercept=float(row["intercept"]),
        threshold=None if threshold is None else float(threshold),
    )
