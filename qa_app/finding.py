"""Retrieval alone: the passages nearest to a question, and why they come in this order. Nothing is written or stored."""

from __future__ import annotations

from corpus_app import search
from qa_app import answering, payload
from qa_app.backends.corpus import SearchedCorpus
from qa_app.backends.time_limit import TimeLimit
from qa_app.payload import Payload
from qa_app.pipeline import scope
from qa_app.pipeline.records import Declined, Leg, Question
from qa_app.pipeline.retrieval import Clock, Search, find_evidence


def find(question: Question, *, limit: int, time_limit: TimeLimit | None = None) -> Payload:
    """The best `limit` passages as the contract describes them. A question with a fixed reply gets that and no passage.

    Raises OutOfTime.
    """
    clock = Clock(limit=time_limit)
    with clock("scope"):
        declined = scope.check_scope(question.searched)
    if declined is not None:
        return _payload(question, None, answering.reviewed(declined), 0, clock)
    policy = answering.in_use(answering.POLICY)
    corpus = SearchedCorpus(time_limit)
    found = find_evidence(question, corpus=corpus, policy=policy, clock=clock, reranker=answering.reranker())
    return _payload(question, found, None, limit, clock)


def _payload(question: Question, found: Search | None, declined: Declined | None, limit: int, clock: Clock) -> Payload:
    legs = (found.found.lexical, found.found.dense, found.linked) if found else (None, None, None)
    understood = found.understanding if found else None
    return {
        "question": question.text,
        "mode": question.mode.value,
        "collection": question.collection,
        "scope": {
            "collection": question.collection or (understood.collection if understood else None),
            "searched": found.searched.value if found else None,
        },
        "declined": {"route": declined.route, "message": declined.message} if declined else None,
        "passages": payload.evidence_rows(found.ranked[:limit], found.understanding) if found else [],
        "pool": {"found": len(found.found.hits), "ranked": len(found.ranked)} if found else {"found": 0, "ranked": 0},
        "legs": {
            name: payload.leg(leg or Leg(True, 0))
            for name, leg in zip(("lexical", "dense", "linked"), legs, strict=True)
        },
        "target_sections": [section.value for section in understood.target_sections] if understood else [],
        "also_searched": list(understood.also_searched) if understood else [],
        "related_topics": [{"id": c.concept_id, "name": c.name} for c in found.related] if found else [],
        "corpus_version": found.found.corpus_version if found else search.corpus_version(),
        "policy": answering.POLICY.label,
        "encoder": search.encoder_name(),
        "timings_ms": dict(clock.spent),
    }
