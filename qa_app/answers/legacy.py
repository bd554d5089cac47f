"""Answers in the response formats of the predecessor systems, see docs/legacy.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from corpus_app import search
from corpus_app.records import Reference
from qa_app.answers import asking, presentation
from qa_app.answers.contexts import Part
from qa_app.answers.site_words import in_site_words

Payload = Mapping[str, Any]
Body = dict[str, Any]

INSUFFICIENT = "Based on the available sources, there is insufficient evidence to answer this question."
NO_ANSWER = "RAG_NO_ANSWER"
TOP_PASSAGES = 5
RETRIEVAL = ("scope", "understand", "encode", "lexical", "dense", "linked", "rank", "rerank")  # stages, of `timings_ms`


def ask(**arguments: Any) -> Body:
    """Return the body of /ask. Raises BadQuestion."""
    payload = in_site_words(asking.ask(**arguments))
    return {
        "query": payload["question"],
        "mode": payload["mode"],
        "answer": _full_text(payload),
        "backend": payload["generator"]["name"],
        "citations": [{name: row[name] for name in ("index", "study_id", "title")} for row in payload["citations"]],
        "studies": payload["citations"],
        **_assessment(payload),
        "answer_id": payload["id"],
        "url": payload["url"],
    }


def search_and_write(**arguments: Any) -> Body:
    """Return the body of /api/unified-search and /explain-research; the request id serves for the parts.

    Raises BadQuestion.
    """
    payload = in_site_words(asking.ask(**arguments, keeps_evidence=True))
    refused = _refusal_text(payload)
    evidence = [] if refused else payload["evidence"]
    known = _references(evidence, payload["citations"])
    spent = payload["timings_ms"]
    together = spent.get("answer")  # time of a pass that wrote both parts
    return {
        "success": True,
        "request_id": payload["request_id"],
        "query": payload["question"],
        "summary": refused or payload["summary"]["text"],
        "answer": refused or payload["answer"]["text"],
        "citations": [_citation(row, known) for row in payload["citations"]],
        "retrieval_latency_ms": _sum(spent.get(stage) for stage in RETRIEVAL),
        "summary_latency_ms": _sum([spent.get("summary") or together, spent.get("verify")]),
        "answer_latency_ms": _sum([together, spent.get("verify")]),
        "total_chunks": len(evidence),
        "chunks_used_summary": len(evidence),
        "chunks_used_answer": len(evidence),
        "selected_chunks": [_chunk(row, known) for row in evidence],
        **_assessment(payload),
        "answer_id": payload["id"],
        "url": payload["url"],
    }


def write(request_id: str, part: Part, *, writer: str, allowance: asking.Allowance | None = None) -> Body:
    """Return the body of /api/quick-summary and /api/detailed-answer.

    Raises UnknownContext, ExpiredContext, InsufficientEvidence and ModelQuotaUsedUp.
    """
    written = asking.write_part(request_id, part, writer=writer, allowance=allowance)
    known = _references(written.evidence, written.citations)
    spent = written.timings_ms
    return {
        "success": True,
        "request_id": request_id,
        "query": written.question,
        part: written.part["text"],
        "citations": [_citation(row, known) for row in written.citations],
        f"{part}_latency_ms": _sum([spent.get(part) or spent.get("answer"), spent.get("verify")]),
        "total_chunks": len(written.evidence),
        f"chunks_used_{part}": len(written.evidence),
        "selected_chunks": [_chunk(row, known) for row in written.evidence],
        "sources_used": [row["study_id"] for row in written.citations],
        "top_passages": _top_passages(written.evidence),
        "code": None,
        "backend": written.generator["name"],
    }  # fmt: skip


def _assessment(payload: Payload) -> Body:
    """Return the confidence, the sources and the outcome."""
    confidence = payload["confidence"]
    return {
        "confidence": None if confidence is None else {"value": confidence["score"], "label": confidence["label"]},
        "sources_used": [row["study_id"] for row in payload["citations"]],
        "top_passages": _top_passages(payload["evidence"]),
        "outcome": payload["outcome"],
        "code": payload["code"],
        "message": payload["message"],
    }


def _refusal_text(payload: Payload) -> str:
    """Return the text of a refusal; empty where there is an answer."""
    if payload["outcome"] not in presentation.REFUSALS:
        return ""
    return INSUFFICIENT if payload["code"] == NO_ANSWER else str(payload["message"])


def _full_text(payload: Payload) -> str:
    """Join summary and answer."""
    adds = [] if presentation.adds_nothing(payload) else [payload["answer"]["text"]]
    return _refusal_text(payload) or "\n\n".join([payload["summary"]["text"], *adds])


def _references(*rows: Iterable[Payload]) -> dict[str, Reference]:
    wanted = dict.fromkeys(row["study_id"] for some in rows for row in some)
    return {study.study_id: study for study in search.references(list(wanted))}


def _citation(row: Payload, known: Mapping[str, Reference]) -> Body:
    fields = ("index", "study_id", "title", "authors", "year", "journal", "url", "notice")
    return {name: row[name] for name in fields} | {"pmidOrDoi": _identifier(known.get(row["study_id"]))}


def _chunk(row: Payload, known: Mapping[str, Reference]) -> Body:
    return {
        "id": row["passage_id"],
        "title": row["title"],
        "pmidOrDoi": _identifier(known.get(row["study_id"])),
        "section": row["section"],
        "text": row["text"],
    }


def _identifier(study: Reference | None) -> str | None:
    return (study.pmid or study.doi) if study else None


def _top_passages(evidence: Iterable[Payload]) -> list[Body]:
    """Return the first passages; for a refusal these are the nearest ones, which do not answer."""
    fields = ("rank", "study_id", "title", "section", "text", "distance", "confidence", "keyword_hits", "highlights")
    return [{"id": row["passage_id"]} | {name: row[name] for name in fields} for row in list(evidence)[:TOP_PASSAGES]]


def _sum(milliseconds: Iterable[float | None]) -> float:
    return round(sum(spent for spent in milliseconds if spent), 3)
