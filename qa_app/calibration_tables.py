"""The tables and drawings of docs/confidence.md, from the calibrations that come with the code: nothing in them by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from qa_app.calibrating import BENCHMARK
from qa_app.diagrams import reliability_diagram
from qa_app.measures import Bin
from qa_app.pipeline import calibration

PAGE = "confidence.md"
MODELS = {"meaning": "by meaning", "words": "by words alone"}
_PLACE = re.compile(r"(<!-- (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

Row = dict[str, Any]


def write(calibrations: Path, docs: Path) -> None:
    """Rewrites what stands between `<!-- kind -->` and `<!-- end -->` in the page, and the drawings beside it."""
    told = tables(calibrations)
    page = docs / PAGE
    text = page.read_text(encoding="utf-8")
    page.write_text(_PLACE.sub(lambda m: f"{m[1]}{told.get(m[2], '')}\n{m[3]}", text), encoding="utf-8")
    for name, model in _confidences(calibrations).items():
        (docs / "images" / f"{name}.svg").write_text(diagram(model), encoding="utf-8")


def tables(calibrations: Path) -> dict[str, str]:
    """Markdown by the name of its place in the page."""
    folders = sorted(path.parent for path in calibrations.glob("*/confidence.json"))
    rows = {(kind, path): _read(path / f"{kind}.json") for kind in calibration.KINDS for path in folders}
    told = {kind: "\n\n".join(_table(rows[kind, path]) for path in reversed(folders)) for kind in calibration.KINDS}
    confidences = _confidences(calibrations)
    if (calibrations / BENCHMARK).exists():
        told["benchmark"] = _table(_read(calibrations / BENCHMARK))
    return (
        told | {f"bins-{name}": _bins(model) for name, model in confidences.items()} | {"labels": _labels(confidences)}
    )


def _confidences(calibrations: Path) -> dict[str, Row]:
    """The models whose reliability is drawn, by the name of the drawing."""
    shipped = _read(calibration.folder_of(calibration.DEFAULT_ENCODER, calibrations) / "confidence.json")
    found = {"confidence": shipped["models"]["meaning"]}
    if (calibrations / BENCHMARK).exists():
        found["confidence-benchmark"] = _read(calibrations / BENCHMARK)["models"]["meaning"]
    return found


def diagram(model: Row) -> str:
    unseen = model["unseen"]
    return reliability_diagram(
        [Bin(b["n"], b["estimated"], b["was"]) for b in unseen["bins"]],
        title=f"Confidence and what was right, {model['n']} answers",
        summary=f"Cross-validated: ECE {unseen['ece']['value']:.3f}, AUROC {unseen['auroc']['value']:.3f}.",
    )


def _read(path: Path) -> Row:
    row: Row = json.loads(path.read_text(encoding="utf-8"))
    return row


def _table(row: Row) -> str:
    """One calibration: a line a figure, a column a model."""
    models = {name: row["models"][name] for name in MODELS if name in row["models"]}
    names = dict.fromkeys(n for model in models.values() for n, f in model["unseen"].items() if _is_told(f))
    heads = (f"{MODELS[name]} (n = {model['n']})" for name, model in models.items())
    lines = [
        _fitted_on(row),
        "",
        f"| unseen | {' | '.join(heads)} |",
        "|---|" + "---|" * len(models),
        *(f"| {n} | {' | '.join(_figure(model['unseen'].get(n)) for model in models.values())} |" for n in names),
    ]
    return "\n".join(lines)


def _fitted_on(row: Row) -> str:
    if "documents" in row:
        return f"`{row['corpus']}`, encoder `{row['encoder']}`, {row['documents']} documents:"
    return f"`{row['version']}`, encoder `{row['encoder']}`, {row['corpus']['passages']} passages:"


def _is_told(figure: object) -> bool:
    return isinstance(figure, dict) and "interval" in figure


def _figure(figure: Row | None) -> str:
    if figure is None:
        return ""
    low, high = figure["interval"]
    value = figure["value"] if "value" in figure else figure["share"]
    return f"{value:.3f} ({low:.3f} to {high:.3f}), n = {figure['n']}"


def _bins(model: Row) -> str:
    rows = [f"| {100 * b['estimated']:.0f} | {b['n']} | {100 * b['was']:.0f} % |" for b in model["unseen"]["bins"]]
    return "\n".join(["| confidence | answers | right |", "|---|---|---|", *rows])


def _labels(confidences: dict[str, Row]) -> str:
    """What was right of the answers that each label would be given to."""
    lines = ["| right, of answers labelled | " + " | ".join(_TOLD[name] for name in confidences) + " |"]
    lines.append("|---|" + "---|" * len(confidences))
    for label in ("high", "medium", "low"):
        shares = (_figure(model["unseen"]["labels"][label]) for model in confidences.values())
        lines.append(f"| {label} | {' | '.join(shares)} |")
    return "\n".join(lines)


_TOLD = {"confidence": "our own corpus", "confidence-benchmark": "the benchmark"}
