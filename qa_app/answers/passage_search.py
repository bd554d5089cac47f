"""Search passages without answering. Nothing is stored."""

from __future__ import annotations

from functools import partial

from common import tracing
from common.postgresql import replicas
from corpus_app import search
from corpus_app.records import Leg
from qa_app.answers import answering, engines, payload
from qa_app.answers.corpus import SearchedCorpus
from qa_app.answers.payload import Payload
from qa_app.answers.time_limit import TimeLimit
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.records import Declined, Question
from qa_app.pipeline.run import Searched


def find(question: Question, *, limit: int, time_limit: TimeLimit | None = None) -> Payload:
    """Return the best `limit` passages, or the fixed reply to a declined question. Raises OutOfTime."""
    clock = Clock(limit=time_limit, span=tracing.span)
    engine = engines.engine(answering.POLICY)
    searched = partial(engine.search, question, corpus=SearchedCorpus(time_limit), clock=clock)
    found = replicas.with_failover(partial(searched, reranker=answering.reranker()))
    if isinstance(found, Declined):
        return _payload(question, None, answering.reviewed(found), 0, clock)
    return _payload(question, found, None, limit, clock)


def _payload(
    question: Question, found: Searched | None, declined: Declined | None, limit: int, clock: Clock
) -> Payload:
    retrieved = found.retrieved if found else None
    legs = (retrieved.found.lexical, retrieved.found.dense, retrieved.linked_leg) if retrieved else (None, None, None)
    query = found.query if found else None
    return {
        "question": question.text,
        "mode": question.mode.value,
        "collection": question.collection,
        "scope": {
            "collection": question.collection or (query.collection if query else None),
            "searched": found.scope.value if found else None,
        },
        "declined": {"route": declined.route, "message": declined.message} if declined else None,
        "passages": payload.evidence_rows(found.ranked[:limit], found.query) if found else [],
        "pool": {
            "found": len(retrieved.found.hits) if retrieved else 0,
            "ranked": len(found.ranked) if found else 0,
        },
        "legs": {
            name: payload.leg(leg or Leg(True, 0))
            for name, leg in zip(("lexical", "dense", "linked"), legs, strict=True)
        },
        "target_sections": [section.value for section in query.sections] if query else [],
        "also_searched": list(query.also_searched) if query else [],
        "related_topics": [{"id": c.concept_id, "name": c.name} for c in found.related] if found else [],
        "corpus_version": retrieved.found.corpus_version if retrieved else search.corpus_version(),
        "policy": answering.POLICY.label,
        "encoder": search.encoder_name(),
        "timings_ms": dict(clock.spent),
    }
