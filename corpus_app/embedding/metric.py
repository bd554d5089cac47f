"""A learned metric for short texts, which discounts the directions in which texts of the same meaning differ.

Questions about one finding differ in style (slang, keywords, a story) and not in subject. The covariance within such
groups gives the directions of style. Whitening by it (Fisher's linear discriminant; Bishop 2006, section 4.1.6) makes
cosines compare subjects. `manage.py fit_metric` fits the matrix of an encoder model and stores it in the folder
`metrics`; vectors of an encoder without one are compared unchanged.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

FOLDER = Path(__file__).resolve().parent / "metrics"
SEPARATOR = "+"  # between an encoder and its metric, in the name of a vector space
# Shrinkage of the covariance towards the identity, in units of its mean eigenvalue; best of .1 to 10.
SHRINKAGE = 1.0


@dataclass(frozen=True, slots=True)
class Metric:
    """A shift and a linear map (dimensions x dimensions); `version` is part of the name of its vector space."""

    mean: NDArray[np.float32]
    matrix: NDArray[np.float32]
    version: str

    def apply(self, vectors: ArrayLike) -> NDArray[np.float32]:
        """Return the mapped vectors (rows x dimensions), each of unit length."""
        mapped = (np.atleast_2d(np.asarray(vectors, np.float32)) - self.mean) @ self.matrix
        lengths = np.linalg.norm(mapped, axis=1, keepdims=True)
        return np.asarray(mapped / np.maximum(lengths, 1e-9), np.float32)


def fit(vectors: NDArray[np.float32], groups: Sequence[Hashable], *, shrinkage: float = SHRINKAGE) -> Metric:
    """Fit the metric to vectors (rows x dimensions); those of one group have the same meaning."""
    members: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    residuals = np.concatenate([vectors[rows] - vectors[rows].mean(axis=0) for rows in members.values()])
    covariance = residuals.T @ residuals / len(residuals)
    dimensions = covariance.shape[0]
    covariance += shrinkage * np.trace(covariance) / dimensions * np.eye(dimensions)
    values, axes = np.linalg.eigh(covariance)
    matrix = (axes @ np.diag(values**-0.5) @ axes.T) * np.sqrt(values.mean())
    return Metric(vectors.mean(axis=0).astype(np.float32), matrix.astype(np.float32), "")


def save(metric: Metric, model: str, version: str) -> Path:
    """Write the metric of an encoder model as 16-bit floats; return the path."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{model.replace('/', '_')}.npz"
    mean, matrix = metric.mean.astype(np.float16), metric.matrix.astype(np.float16)
    np.savez_compressed(path, version=np.array(version), mean=mean, matrix=matrix)
    find.cache_clear()
    return path


@cache  # two files at most, read once: each takes 3 ms
def find(encoder: str) -> Metric | None:
    """Return the metric of an encoder (`model@format`); None when none was fitted."""
    path = FOLDER / f"{encoder.partition('@')[0].replace('/', '_')}.npz"
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return Metric(arrays["mean"].astype(np.float32), arrays["matrix"].astype(np.float32), str(arrays["version"]))


def space(encoder: str) -> str:
    """Return the name under which vectors in the metric of this encoder are stored."""
    metric = find(encoder)
    return f"{encoder}{SEPARATOR}{metric.version}" if metric else encoder


def project(encoder: str, vectors: ArrayLike) -> NDArray[np.float32]:
    """Return the encoder's vectors (rows x dimensions) in its metric."""
    metric = find(encoder)
    return metric.apply(vectors) if metric else np.atleast_2d(np.asarray(vectors, np.float32))
