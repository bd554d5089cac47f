"""An answer's payload as the contract describes it, for tests of what shows it."""

import copy
from contextlib import nullcontext
from typing import Any, Self

from corpus_app import search
from corpus_app.site import Site
from qa_app.answers import asking, examples, narrowing, overview, reader_facets
from qa_app.answers.payload import with_added

WEEKLY = "Across 15 trials, at least 10 weekly sets per muscle seem necessary to maximise growth. Few sets still build muscle."
QUOTE = "Few sets still build muscle."
PROTEIN = "Older adults who ate 1.2 g/kg of protein a day kept more lean mass 💪 than those who ate 0.8 g/kg."


def make_citation(index: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "index": index, "study_id": f"T{index:03}", "title": f"Weekly sets and muscle growth, review {index}",
        "authors": ["Example AB", "Sample CD"], "year": 2017, "journal": "Journal of Examples",
        "doi": f"10.1000/test.{index}", "url": f"https://doi.org/10.1000/test.{index}", "design": "meta_analysis",
        "peer_reviewed": True, "population": "Young and older adults", "notice": "none", "status": "published",
    } | changes  # fmt: skip


def make_evidence(rank: int = 1, **changes: Any) -> dict[str, Any]:
    """Evidence whose passage no test makes."""
    start = WEEKLY.index("weekly sets")
    return {
        "rank": rank, "passage_id": 900_000_000 + rank, "passage_version": 1, "study_id": f"T{rank:03}",
        "title": f"Weekly sets and muscle growth, review {rank}", "section": "results", "kind": "summary",
        "text": WEEKLY, "score": 0.97, "lexical_score": 14.2, "dense_score": 0.71, "distance": 0.29, "confidence": 84.0,
        "keyword_hits": 2, "highlights": [[start, start + len("weekly sets")]],
        "because": [{"step": "section", "effect": "x2.0", "value": 2.0}],
    } | changes  # fmt: skip


def make_sentence(
    evidence: dict[str, Any], quote: str, citations: tuple[int, ...] = (1,), **changes: Any
) -> dict[str, Any]:
    start = evidence["text"].index(quote)
    named = {name: evidence[name] for name in ("passage_id", "passage_version", "study_id")}
    return {
        "text": quote, "citations": list(citations), "verdict": "verbatim", "support_level": "high", "kind": "quote",
        "paragraph": 0, "support": [named | {"start": start, "end": start + len(quote), "quote": quote}],
    } | changes  # fmt: skip


def make_payload(**changes: Any) -> dict[str, Any]:
    """An answered question with two sources; an emoji stands before the span of the second passage."""
    first, second = make_evidence(1), make_evidence(2, text=PROTEIN, section="practical_applications", highlights=[])
    compared = make_sentence(second, "than those who ate 0.8 g/kg.", (2,), paragraph=1)
    left_out = {"what": "passage", "reason": "study_cap", "detail": "", "passage_id": 9, "study_id": "T001"}
    nobody = dict.fromkeys(("model", "prompt", "fallback_from", "fallback_reason", "tokens", "cost"))
    made: dict[str, Any] = {
        "id": "answer-one", "url": "/answers/answer-one/", "request_id": "00000000-0000-4000-8000-000000000001",
        "question": "how many sets per week for muscle growth?", "mode": "beginner", "collection": None,
        "scope": {"collection": "training", "searched": "collection"}, "outcome": "answered", "code": None,
        "message": None, "summary": {"text": f"{QUOTE} [1]", "sentences": [make_sentence(first, QUOTE)]},
        "answer": {"text": f"{QUOTE} [1]", "sentences": [make_sentence(first, QUOTE), compared]},
        "citations": [make_citation(1), make_citation(2)],
        "confidence": {"score": 84, "label": "high", "reasons": ["two studies are cited"], "calibration": "test-1"},
        "evidence": [first, second, *(make_evidence(rank) for rank in range(3, 8))],
        "left_out": [left_out,
         {"what": "sentence", "reason": "number_mismatch", "detail": "", "text": "Twelve sets are best."}],
        "agreement": None, "target_sections": ["results"], "also_searched": ["hypertrophy"],
        "related_topics": [{"id": "training-volume", "name": "training volume"}],
        "legs": {"lexical": {"ok": True, "candidates": 96, "error": None},
         "dense": {"ok": False, "candidates": 0, "error": "the encoder did not load"},
         "linked": {"ok": True, "candidates": 0, "error": None}},
        "generator": {"name": "extractive", "version": "1"} | nobody, "corpus_version": 12, "site_hash": None,
        "policy": "default-1a2b3c", "encoder": "all-MiniLM-L6-v2", "notices": [],
        "timings_ms": {"total": 11.2, "rank": 0.8}, "created_at": "2026-11-20T10:00:00+00:00",
    }  # fmt: skip
    return with_added(copy.deepcopy(made | changes))


def make_refusal(outcome: str = "insufficient_evidence", **changes: Any) -> dict[str, Any]:
    nothing = {"text": "", "sentences": []}
    code = {"insufficient_evidence": "RAG_NO_ANSWER", "out_of_scope": "OUT_OF_SCOPE", "guardrail": "GUARDRAIL"}[outcome]
    refused = {
        "outcome": outcome, "code": code, "message": "The studies here do not answer this.", "summary": nothing,
        "answer": nothing, "citations": [], "confidence": None,
    }  # fmt: skip
    return make_payload(**(refused | changes))


class FakeAsking:
    """The answering service over a few payloads in memory."""

    def __init__(self, *payloads: dict[str, Any]) -> None:
        self.payloads = {payload["id"]: payload for payload in payloads or (make_payload(),)}
        self.asked: list[dict[str, Any]] = []
        self.bad: asking.BadQuestion | None = None

    def check(self, **arguments: Any) -> dict[str, Any]:
        if self.bad is not None:
            raise self.bad
        return arguments

    def ask(self, **arguments: Any) -> dict[str, Any]:
        self.check()
        self.asked.append({name: value for name, value in arguments.items() if name != "allowance"})
        return next(iter(self.payloads.values()))

    def find_answer(self, answer_id: str) -> dict[str, Any] | None:
        return self.payloads.get(answer_id)

    def overview(self, payload: dict[str, Any]) -> overview.AnswerOverview:
        """As of a corpus without studies."""
        topics = tuple(overview.Topic(row["id"], row["name"], has_page=False) for row in payload["related_topics"])
        return overview.AnswerOverview(
            rows=(), meter=None, forest=None, timeline=None, topics=topics, names={}, titles={}
        )

    def examples(self) -> list[str]:
        return ["How many sets per week for muscle growth?", "Is creatine safe for the kidneys?"]

    def corpus_figures(self) -> dict[str, Any]:
        collections = [{"slug": "training", "name": "Training", "description": "How to lift.", "studies": 33}]
        return {"studies": 101, "passages": 778, "collections": collections, "corpus_version": 12}

    def collection_choices(self) -> dict[str, Any]:
        return self.corpus_figures()

    def install(self, monkeypatch: Any) -> Self:
        for name in ("check", "ask", "find_answer", "corpus_figures", "collection_choices"):
            monkeypatch.setattr(asking, name, getattr(self, name))
        monkeypatch.setattr(search, "site", Site)
        monkeypatch.setattr(examples, "shown", self.examples)
        monkeypatch.setattr(asking, "snapshot", nullcontext)
        monkeypatch.setattr(overview, "build_overview", self.overview)
        monkeypatch.setattr(narrowing, "read_narrowing", lambda payload: None)
        monkeypatch.setattr(reader_facets, "read_reader_facets", lambda study_ids: None)
        return self
