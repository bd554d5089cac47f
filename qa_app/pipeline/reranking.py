"""Rerank evidence passages with a model that reads question and passage together, where one is configured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qa_app.pipeline.ports import Reranker, RerankerFailed
from qa_app.pipeline.records import Because, Candidate

READ = 25
"""Passages that the model reads at most."""
SECONDS = 2.0
"""Time that the model may take."""


def rerank(question: str, ranked: Sequence[Candidate], reranker: Reranker) -> tuple[Candidate, ...]:
    """Return the passages in the model's order, the unread ones last; the order is unchanged where it fails."""
    head, tail = ranked[:READ], ranked[READ:]
    try:
        scores = reranker.scores(question, [candidate.passage for candidate in head], seconds=SECONDS)
    except RerankerFailed as failure:
        return tuple(replace(c, because=(*c.because, Because(reranker.name, str(failure), 0.0))) for c in ranked)
    order = sorted(range(len(head)), key=lambda n: (-scores[n], n))
    moved = [
        replace(head[n], because=(*head[n].because, Because(reranker.name, f"{n + 1} to {place}", round(scores[n], 4))))
        for place, n in enumerate(order, start=1)
    ]
    return (*moved, *tail)
