"""Fitted models as files: what they were fitted on, for which encoder, and how well they did on questions they had not seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).resolve().parent.parent / "calibrations"
KINDS = ("answerability", "confidence", "bearing")


class BadCalibration(ValueError):
    """A calibration that cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted logistic model: intercept and one weight per named signal.

    `fitted_on` is the version of the calibration it comes from; it means nothing for another encoder.
    """

    intercept: float
    weights: tuple[tuple[str, float], ...]
    fitted_on: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """One model of a calibration, and the estimate from which on its answer is yes (None where nothing is decided by it)."""

    model: Logistic
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two models of one estimate: with the encoder's cosines, and by the words alone."""

    kind: str
    version: str
    encoder: str
    by_meaning: Fitted
    by_words: Fitted


def read(text: str, source: str) -> Calibration:
    """A calibration from its JSON. Raises BadCalibration, which names the source."""
    try:
        row = json.loads(text)
        kind, version, encoder = str(row["kind"]), str(row["version"]), str(row["encoder"])
        models = {name: _fitted(row["models"][name], version) for name in ("meaning", "words")}
        is_whole = version == version_of(row)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise BadCalibration(
            f"{source} is no calibration ({type(error).__name__}: {error}). Make one with `manage.py calibrate`."
        ) from error
    if kind not in KINDS:
        raise BadCalibration(f"{source} calibrates {kind!r}; there are {', '.join(KINDS)}.")
    if not is_whole:
        raise BadCalibration(f"{source} was changed by hand: its figures are not those of version {version}.")
    return Calibration(kind, version, encoder, models["meaning"], models["words"])


def _fitted(row: Mapping[str, Any], version: str) -> Fitted:
    """Figures on standardised signals, brought back to the raw ones."""
    signals = [(str(s["name"]), float(s["mean"]), float(s["scale"]), float(s["coefficient"])) for s in row["signals"]]
    weights = tuple((name, coefficient / scale) for name, _, scale, coefficient in signals)
    intercept = float(row["intercept"]) - sum(mean / scale * coefficient for _, mean, scale, coefficient in signals)
    threshold = row["threshold"]
    return Fitted(Logistic(intercept, weights, version), None if threshold is None else float(threshold))


def version_of(row: Mapping[str, Any]) -> str:
    """Kind, date and a hash of everything else in it."""
    rest = json.dumps({k: v for k, v in row.items() if k != "version"}, sort_keys=True)
    return f"{row['kind']}-{row['date']}-{hashlib.sha256(rest.encode()).hexdigest()[:8]}"


def load(folder: Path, kind: str, encoder: str) -> Calibration:
    """The calibration of this kind in a folder. Raises BadCalibration, also where it was fitted with another encoder."""
    path = folder / f"{kind}.json"
    try:
        found = read(path.read_text(encoding="utf-8"), str(path.name))
    except UnicodeDecodeError as error:
        raise BadCalibration(f"{path.name} is no calibration: it is not written in UTF-8.") from error
    except OSError as error:
        raise BadCalibration(
            f"There is no calibration of {kind} for the encoder {encoder} ({type(error).__name__}). Fit one with "
            f"`manage.py calibrate {kind}` and name its folder in INFORM_CALIBRATIONS."
        ) from error
    if found.kind != kind:
        raise BadCalibration(f"{path.name} calibrates {found.kind}, not {kind}.")
    if found.encoder != encoder:
        raise BadCalibration(
            f"The calibration of {kind} was fitted with the encoder {found.encoder}, but {encoder} is in use: its cosines "
            f"mean something else. Fit one with `manage.py calibrate {kind}`."
        )
    return found


def folder_of(encoder: str, base: Path = SHIPPED) -> Path:
    """Where the calibrations of an encoder lie."""
    return base / encoder.replace("/", "_")


@cache
def shipped(kind: str) -> Calibration:
    """The one that comes with the code, of the encoder that comes with it."""
    return load(folder_of(DEFAULT_ENCODER), kind, DEFAULT_ENCODER)


DEFAULT_ENCODER = "all-MiniLM-L6-v2@int8"
