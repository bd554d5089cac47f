"""Measure the check of claims: on labelled claims with their evidence, and through the search on a corpus folder."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from corpus_app import search
from lab import edited_sentences, scratch_corpus
from qa_app.answers import claim_checking
from qa_app.evaluation.support_fit import split_evidence
from qa_app.pipeline.claims import TIE, ClaimVerdict
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.verification.statements import ClaimComparison, Stance, StatementReader

RESAMPLES = 1_000
SEED = 0
EDITED_EACH = 25  # sentences of each kind of edit
NOT_CLAIMS = frozenset({"other study", "trimmed", "joined"})
"""Edits that change what is cited, or leave no whole sentence."""
LABELS: Mapping[str, str] = {
    "supported": "supported", "refuted": "contradicted", "contradicted": "contradicted",
    "not_enough_info": "not_covered", "not_covered": "not_covered", "unsupported": "unsupported",
}  # fmt: skip
"""Verdicts by the labels of the files; `unsupported` is right where the verdict is not `supported`."""


class BadClaims(ValueError):
    """A line that cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled claim and the verdict on it."""

    key: str
    label: str
    verdict: str

    @property
    def is_right(self) -> bool:
        return self.verdict == self.label or (self.label == "unsupported" and self.verdict != "supported")


def check_evidence(path: Path) -> list[Labelled]:
    """Check claims against their own evidence: `claim`, `evidence` (texts) and `label`, one object a line."""
    reader = StatementReader.build(ConceptIndex.build(()))
    results = []
    for row in _rows(path):
        claim = reader.read(row["claim"])
        sentences = (reader.read(text) for text in split_evidence(row["evidence"]))
        found = [c for sentence in sentences if (c := reader.compare(claim, sentence))]
        results.append(Labelled(row["claim"], LABELS[row["label"]], _verdict(found)))
    return results


def check_corpus(
    folder: Path, claims: Path, *, cache: Path, report: scratch_corpus.Report
) -> tuple[list[Labelled], dict[str, Counter[str]]]:
    """Check claims through the search on a corpus folder, in a temporary database: `id`, `claim`, `label`.

    Also return the verdicts on edited sentences of the corpus, by kind of edit.
    """
    rows = list(_rows(claims))
    results = []
    with scratch_corpus.library(folder, search.encoder_name(), cache=cache, report=report):
        for number, row in enumerate(rows, start=1):
            results.append(Labelled(row["id"], LABELS[row["label"]], _check(row["claim"])))
            report("claims", number, len(rows))
        edited = edited_sentences.edit(edited_sentences.searchable_passages(), each=EDITED_EACH, seed=SEED)
        kinds: dict[str, Counter[str]] = {}
        for number, sentence in enumerate(edited, start=1):
            if sentence.kind not in NOT_CLAIMS:
                kinds.setdefault(sentence.kind, Counter())[_check(sentence.text)] += 1
            report("edited sentences", number, len(edited))
    return results, kinds


def _check(text: str) -> str:
    verdict: str | None = claim_checking.check_one(text)["verdict"]
    return verdict or "declined"


def figures(results: Sequence[Labelled]) -> dict[str, Any]:
    """Return the verdicts by label, and the balanced accuracy with its 95 % bootstrap interval over the claims."""
    rng = Random(SEED)  # noqa: S311 (no secret)
    by_claim: dict[str, list[Labelled]] = {}
    for result in results:
        by_claim.setdefault(result.key, []).append(result)
    keys = list(by_claim)
    drawn = sorted(
        balanced_accuracy([r for key in rng.choices(keys, k=len(keys)) for r in by_claim[key]])
        for _ in range(RESAMPLES)
    )
    verdicts = Counter((result.label, result.verdict) for result in results)
    against = [result for result in results if result.label in {"contradicted", "unsupported"}]
    return {
        "n": len(results),
        "balanced accuracy": round(balanced_accuracy(results), 4),
        "interval": [round(drawn[int(RESAMPLES * share)], 4) for share in (0.025, 0.975)],
        "called supported wrongly": sum(result.verdict == "supported" for result in against),
        "of": len(against),
        "verdicts": {f"{label} as {verdict}": n for (label, verdict), n in sorted(verdicts.items())},
    }


def balanced_accuracy(results: Iterable[Labelled]) -> float:
    """Return the mean over the labels of the share that is right."""
    right: dict[str, list[bool]] = {}
    for result in results:
        right.setdefault(result.label, []).append(result.is_right)
    return sum(sum(rows) / len(rows) for rows in right.values()) / len(right)


def figures_text(name: str, row: Mapping[str, Any]) -> str:
    low, high = row["interval"]
    lines = [
        f"\n{name}: {row['n']} claims, balanced accuracy {row['balanced accuracy']:.3f} [{low:.3f}, {high:.3f}]",
        f"  called supported though they are not: {row['called supported wrongly']} of {row['of']}",
        *(f"  {what:36}{n:>5}" for what, n in row["verdicts"].items()),
    ]
    return "\n".join(lines)


def _verdict(found: Sequence[ClaimComparison]) -> str:
    """Return the verdict by the nearest sentences, as for one study."""
    least = max((comparison.nearness for comparison in found), default=0.0) - TIE
    stances = {comparison.stance for comparison in found if comparison.nearness >= least}
    if not stances:
        return ClaimVerdict.NOT_COVERED.value
    if len(stances) > 1:
        return ClaimVerdict.MIXED.value
    return (ClaimVerdict.SUPPORTED if stances == {Stance.SUPPORTS} else ClaimVerdict.CONTRADICTED).value


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for number, line in enumerate(data.decode("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            row["claim"], LABELS[row["label"]]
        except (ValueError, KeyError, TypeError) as error:
            raise BadClaims(f"{path}:{number}: {type(error).__name__}: {error}") from error
        yield row
