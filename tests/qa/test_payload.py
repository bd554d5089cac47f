"""The answer as clients see it: every field of the contract, its type and its words, in every outcome."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from corpus_app.records import Design, Notice, PassageKind, Section, Status
from qa_app.answers import asking, payload
from qa_app.pipeline.citations import parse_markers
from qa_app.pipeline.records import (
    HeadlineVerdict,
    LeftOutReason,
    Mode,
    Outcome,
    Scope,
    SentenceKind,
    StrengthLevel,
    Verdict,
)
from tests.pipeline.values import make_study
from tests.qa.answers import store_answer
from tests.qa.conftest import ASKED, DRAFT

pytestmark = pytest.mark.usefixtures("library")

OUTCOMES = {
    Outcome.ANSWERED: ASKED,
    Outcome.INSUFFICIENT_EVIDENCE: "does a sauna cure gout?",
    Outcome.OUT_OF_SCOPE: "What is the best pizza in Naples?",
    Outcome.GUARDRAIL: "I get chest pain when I lift, should I do more sets?",
}
CODES = {None, "RAG_NO_ANSWER", "OUT_OF_SCOPE", "GUARDRAIL"}

# A shape is a type, a set of values, [shape of each entry], {field: shape}, or a tuple of alternatives.
TEXT = (str, None)
SPAN = {"passage_id": int, "passage_version": int, "study_id": str, "start": int, "end": int, "quote": str}
COUNTED = {"study_id": str, "finding_ids": [int]}
HEADLINE = {
    "text": str,
    "verdict": (set(HeadlineVerdict), None),
    "studies_for": (int, None),
    "studies_against": (int, None),
    "studies_without_difference": (int, None),
    "citations": [int],
    "kind": {"quote", "count"},
    "support": [(SPAN, COUNTED)],
}
STANDS = {
    stance: [{"study_id": str, "finding_id": int, "statement": str}]
    for stance in ("favours", "no_difference", "against", "unclear")
}
PART = {
    "text": str,
    "sentences": [
        {
            "text": str,
            "attribution": TEXT,
            "citations": [int],
            "verdict": set(Verdict),
            "support_level": {"high", "medium", "low"},
            "kind": set(SentenceKind),
            "paragraph": int,
            "support": [(SPAN, COUNTED)],
        }
    ],
}
LEG = {"ok": bool, "candidates": int, "error": TEXT}
SHAPE: dict[str, Any] = {
    "id": str,
    "url": str,
    "request_id": str,
    "question": str,
    "mode": set(Mode),
    "collection": TEXT,
    "parent": TEXT,
    "scope": {"collection": TEXT, "searched": set(Scope), "detail": TEXT},
    "outcome": set(Outcome),
    "code": CODES,
    "message": TEXT,
    "guardrail": ({"route": str, "version": (int, None)}, None),
    "headline": (HEADLINE, None),
    "summary": PART,
    "answer": PART,
    "citations": [
        {
            "index": int,
            "study_id": str,
            "title": str,
            "authors": [str],
            "year": (int, None),
            "journal": TEXT,
            "doi": TEXT,
            "url": TEXT,
            "design": set(Design),
            "peer_reviewed": bool,
            "population": str,
            "notice": set(Notice),
            "status": {Status.PUBLISHED, Status.WITHDRAWN},
        }
    ],
    "confidence": ({"score": int, "label": {"low", "medium", "high"}, "reasons": [str], "calibration": str}, None),
    "evidence_strength": ({"level": set(StrengthLevel), "reasons": [{"code": str, "text": str}]}, None),
    "missing": [str],
    "near_questions": [{"question": str, "url": str}],
    "evidence": [
        {
            "rank": int,
            "passage_id": int,
            "passage_version": int,
            "study_id": str,
            "title": str,
            "section": set(Section),
            "kind": set(PassageKind),
            "text": str,
            "score": float,
            "lexical_score": float,
            "dense_score": (float, None),
            "distance": (float, None),
            "confidence": int,
            "keyword_hits": int,
            "highlights": [[int]],
            "because": [{"step": str, "effect": str, "value": float}],
        }
    ],
    "left_out": [
        (
            {"what": {"passage"}, "reason": set(LeftOutReason), "detail": str, "passage_id": int, "study_id": str},
            {"what": {"sentence"}, "reason": set(LeftOutReason), "detail": str, "text": str},
        )
    ],
    "agreement": (
        None,
        {
            "outcome_concept": str,
            "outcome_name": str,
            "subject_concept": TEXT,
            **STANDS,
            "by_population": [{"population": str, **STANDS}],
        },
    ),
    "definitions": [{"id": str, "name": str, "definition": str}],
    "target_sections": [set(Section)],
    "also_searched": [str],
    "related_topics": [{"id": str, "name": str}],
    "legs": {"lexical": LEG, "dense": LEG, "linked": LEG},
    "pool": {"found": int, "ranked": int},
    "generator": {
        "name": {"extractive", "llm", "counted"},
        "version": str,
        "model": TEXT,
        "prompt": TEXT,
        "fallback_from": TEXT,
        "fallback_reason": TEXT,
        "tokens": (int, None),
        "cost": (float, None),
    },
    "corpus_version": int,
    "policy": str,
    "encoder": str,
    "notices": [{"study_id": TEXT, "kind": str, "at": TEXT}],
    "timings_ms": dict.fromkeys(
        "total scope understand encode lexical dense linked rank rerank summary answer verify store".split(),
        (float, None),
    ),
    "understood_as": (str, None),
    "overview": ({"wish": str, "total": int, "filters": [[str]], "years": [[int]], "designs": [[(str, int)]]}, None),
    "understood": {
        "ask": TEXT,
        "intent": TEXT,
        "intervention": [str],
        "comparator": [str],
        "outcome": [str],
        "language": TEXT,
        "sources": [{"author": TEXT, "year": (int, None), "doi": TEXT, "pmid": TEXT, "title": TEXT}],
        "intents": [str],
        "concepts": [str],
        "unstudied": [str],
        "terms": [str],
        "core": (str, None),
        "corrections": [{"typed": str, "searched": str}],
        "population": {"age_groups": [str], "training": [str], "sexes": [str]},
        "numbers": [str],
        "asks_for_figures": bool,
        "signals": dict,
    },
    "created_at": str,
}


def faults(value: Any, shape: Any, path: str = "payload") -> list[str]:
    """Where a value is not of a shape; empty where it is."""
    if isinstance(shape, tuple):
        tried = [faults(value, one, path) for one in shape]
        return [] if [] in tried else min(tried, key=len)
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            return [f"{path}: {value!r} has not the fields {sorted(shape)}"]
        return [fault for name in shape for fault in faults(value[name], shape[name], f"{path}.{name}")]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{path}: {value!r} is no list"]
        return [fault for n, one in enumerate(value) for fault in faults(one, shape[0], f"{path}[{n}]")]
    if isinstance(shape, set):
        return [] if value in shape else [f"{path}: {value!r} is none of {sorted(map(str, shape))}"]
    fits = value is None if shape is None else type(value) is shape
    return [] if fits else [f"{path}: {value!r} is no {shape}"]


def sentences(body: payload.Payload) -> list[dict[str, Any]]:
    return [*body["summary"]["sentences"], *body["answer"]["sentences"]]


@pytest.fixture
def answered() -> payload.Payload:
    return asking.ask(question=ASKED)


def test_the_payload_of_a_full_answer_is_the_contracts() -> None:
    assert faults(json.loads(json.dumps(store_answer())), SHAPE) == []


@pytest.mark.parametrize(("outcome", "question"), OUTCOMES.items())
def test_the_payload_is_the_contracts(outcome: Outcome, question: str) -> None:
    body = asking.ask(question=question)

    assert body["outcome"] == outcome
    assert body["code"] == outcome.code
    assert faults(json.loads(json.dumps(body)), SHAPE) == []


@pytest.mark.parametrize("outcome", [outcome for outcome in OUTCOMES if not outcome.is_answer])
def test_a_refusal_says_why_and_carries_nothing_that_pretends_support(outcome: Outcome) -> None:
    body = asking.ask(question=OUTCOMES[outcome])

    assert body["message"]
    assert body["confidence"] is None
    assert body["citations"] == []
    assert body["summary"] == body["answer"] == {"text": "", "sentences": []}


def test_an_answer_has_confidence_and_no_message(answered: payload.Payload) -> None:
    assert answered["message"] is None
    assert 0 <= answered["confidence"]["score"] <= 100


def test_every_quote_is_the_passages_text_between_its_ends(answered: payload.Payload) -> None:
    texts = {entry["passage_id"]: entry["text"] for entry in answered["evidence"]}

    spans = [span for sentence in sentences(answered) for span in sentence["support"]]

    assert spans
    assert all(texts[s["passage_id"]][s["start"] : s["end"]] == s["quote"] for s in spans)


def test_citations_and_sentences_point_at_each_other(answered: payload.Payload) -> None:
    index_of = {citation["study_id"]: citation["index"] for citation in answered["citations"]}

    used = [n for sentence in sentences(answered) for n in sentence["citations"]]

    assert list(dict.fromkeys(used)) == list(index_of.values()) == list(range(1, len(index_of) + 1))
    for sentence in sentences(answered):
        assert sorted(sentence["citations"]) == sorted({index_of[s["study_id"]] for s in sentence["support"]})


@pytest.mark.parametrize("part", ["summary", "answer"])
def test_the_text_is_its_sentences_with_markers(answered: payload.Payload, part: str) -> None:
    text, numbers = parse_markers(answered[part]["text"])

    assert text.split() == " ".join(s["text"] for s in answered[part]["sentences"]).split()
    assert set(numbers) == {n for s in answered[part]["sentences"] for n in s["citations"]}


def test_evidence_is_in_rank_order_and_its_highlights_are_words_of_the_question(answered: payload.Payload) -> None:
    assert [entry["rank"] for entry in answered["evidence"]] == list(range(1, len(answered["evidence"]) + 1))
    marked = {e["text"][a:b].lower() for e in answered["evidence"] for a, b in e["highlights"]}
    assert {"weekly", "sets", "muscle", "growth"} <= marked


def test_distance_is_one_minus_the_cosine(answered: payload.Payload) -> None:
    entry = answered["evidence"][0]

    assert entry["distance"] == pytest.approx(1 - entry["dense_score"])


def test_only_insufficient_evidence_shows_evidence_without_an_answer() -> None:
    shown = {outcome: bool(asking.ask(question=question)["evidence"]) for outcome, question in OUTCOMES.items()}

    assert [outcome for outcome, any_evidence in shown.items() if any_evidence] == ["answered", "insufficient_evidence"]


def test_the_address_ends_in_an_id_of_128_random_bits_or_more(answered: payload.Payload) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{23}", answered["id"])
    assert answered["url"] == f"/answers/{answered['id']}/"
    assert answered["id"] != asking.ask(question=ASKED)["id"]


@pytest.mark.parametrize("question", [ASKED, *OUTCOMES.values(), "canary"])
def test_no_word_of_a_draft_is_in_any_answer(question: str) -> None:
    echoed = {"question", "message", "understood", "missing"}  # hold the asker's own words
    asked = asking.ask(question=question)
    body = json.dumps({field: value for field, value in asked.items() if field not in echoed})

    assert "canary" not in body.lower()
    assert DRAFT not in body


@pytest.mark.parametrize(
    ("url", "doi", "expected"),
    [
        ("https://example.org/x", "10.1/x", "https://example.org/x"),
        ("javascript:alert(1)", "10.1/x", "https://doi.org/10.1/x"),
        ("data:text/html,x", None, None),
        ("JavaScript://example.org/%0aalert(1)", None, None),
        ("//example.org", None, None),
        (None, "10.1/x", "https://doi.org/10.1/x"),
        (None, None, None),
    ],
)
def test_only_http_addresses_and_dois_become_links(url: str | None, doi: str | None, expected: str | None) -> None:
    assert payload.link(make_study(url=url, doi=doi)) == expected


def test_every_field_that_the_contract_names_is_held_here() -> None:
    contract = (Path(__file__).resolve().parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| field \|.*?\n\n", contract, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([\w, \[\]]+) \|", table, re.MULTILINE)
    fields = {name.removesuffix("[]") for row in rows for name in row.split(", ")}

    nested = {"field", "sentences", "verdict", "support"}
    assert fields - nested == set(SHAPE) - {"parent"}
