"""The addresses of earlier systems: their fields and their errors, with the content of /api/v1/."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from corpus_app import curation
from qa_app.answers import answering, legacy
from qa_app.models import Answer, EvidenceContext
from qa_app.pipeline import policy
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")

EMERGENCY = "I get chest pain when I lift, should I do more sets?"


ASKED_OF_ALL = (
    (ASKED, "beginner", None), (ASKED, "intermediate", "nutrition"),
    ("How much protein do older adults need to keep lean mass?", "intermediate", "nutrition"),
    (UNANSWERED, "beginner", None), ("What is the best pizza in Naples?", "beginner", "training"),
)  # fmt: skip


UNIFIED = ("/api/unified-search", "/explain-research")
PARTS = {"/api/quick-summary": "summary", "/api/detailed-answer": "answer"}
WHOLE = ("/ask", *UNIFIED)


def post(address: str, body: Any, status: int = 200) -> dict[str, Any]:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = Client(raise_request_exception=False).post(address, sent, content_type="application/json")
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/json"
    return dict(json.loads(response.content))


def failed(address: str, body: Any, status: int) -> dict[str, Any]:
    """The body of a refused request."""
    found = post(address, body, status)
    assert found["success"] is False
    assert found["error"]
    assert found["code"]
    return found


def bare(text: str) -> str:
    """Without markers: a part alone counts its studies by itself."""
    return re.sub(r" ?\[\d+\]", "", text)


def test_they_answer_as_v1_does() -> None:
    for question, mode, collection in ASKED_OF_ALL:
        asked = {"mode": mode, "collection": collection}
        sent = json.dumps(asked | {"question": question})
        v1 = Client().post("/api/v1/answers", sent, content_type="application/json").json()
        unified, explained, said = (post(address, asked | {"query": question}) for address in (*UNIFIED, "/ask"))

        cited = [(c["index"], c["study_id"], c["title"]) for c in v1["citations"]]
        for found in (unified, explained, said):
            assert [(c["index"], c["study_id"], c["title"]) for c in found["citations"]] == cited
            assert (found["outcome"], found["code"], found["message"]) == (v1["outcome"], v1["code"], v1["message"])
            assert (found["confidence"] or {}).get("value") == (v1["confidence"] or {}).get("score")
            assert found["sources_used"] == [study_id for _, study_id, _ in cited]
            assert [p["text"] for p in found["top_passages"]] == [e["text"] for e in v1["evidence"][:5]]
        if not v1["summary"]["text"]:
            assert unified["summary"] == unified["answer"] == explained["answer"] == said["answer"]
            continue
        for found in (unified, explained):
            assert (found["summary"], found["answer"]) == (v1["summary"]["text"], v1["answer"]["text"])
        assert said["answer"].startswith(v1["summary"]["text"])
        assert {study["study_id"] for study in said["studies"]} == {study_id for _, study_id, _ in cited}
        assert (said["mode"], said["backend"], set(said["confidence"])) == (mode, "extractive", {"value", "label"})
        assert {"distance", "confidence"} <= set(said["top_passages"][0])
        assert all(s["text"] in bare(said["answer"]) for s in v1["answer"]["sentences"])
        for address, part in PARTS.items():
            alone = post(address, {"request_id": unified["request_id"]})
            assert (alone["code"], alone["query"]) == (None, question)
            assert bare(alone[part]) == bare(v1[part]["text"])


def test_how_much_is_read_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(post("/ask", {"query": ASKED, "top_k_passages": 1})["top_passages"]) == 1
    monkeypatch.setattr(answering, "POLICY", policy.PRESETS["seed-004"])  # cites a study for each passage
    for address in WHOLE:
        usual = post(address, {"query": ASKED})
        few = post(address, {"query": ASKED, "max_studies": 1})
        least = post(address, {"query": ASKED, "top_k_passages": 1})

        assert len({row["study_id"] for row in usual["top_passages"]}) > 1
        assert len({row["study_id"] for row in few["top_passages"]}) == 1
        assert len(least["top_passages"]) == 1


def test_refusals_and_fixed_replies_are_given_word_for_word() -> None:
    for address in WHOLE:
        found = post(address, {"query": UNANSWERED})
        assert (found["code"], found["answer"], found["confidence"]) == ("RAG_NO_ANSWER", legacy.INSUFFICIENT, None)
        assert (found["citations"], found["sources_used"]) == ([], [])
        assert "do not answer" in found["message"]

        found = post(address, {"query": EMERGENCY})
        assert (found["code"], found["outcome"]) == ("GUARDRAIL", "guardrail")
        assert found["answer"] == found["message"]
        assert found["top_passages"] == []


def test_a_part_is_written_from_its_request_until_that_expires() -> None:
    whole = post(UNIFIED[0], {"query": ASKED})
    request_id, chunks = whole["request_id"], whole["selected_chunks"]

    for address, part in PARTS.items():
        found = post(address, {"request_id": request_id, "query": ASKED, "selected_chunks": chunks})
        assert (found["success"], found["request_id"], found["query"]) == (True, request_id, ASKED)
        assert found[part] == whole[part]
        assert found["selected_chunks"] == chunks
        assert found[f"chunks_used_{part}"] == found["total_chunks"] == whole["total_chunks"]
        assert found[f"{part}_latency_ms"] > 0
        assert found["citations"] == whole["citations"]
        assert failed(address, {"request_id": request_id, "selected_chunks": []}, 422)["code"] == "RAG_NO_ANSWER"
    EvidenceContext.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for address in PARTS:
        found = failed(address, {"request_id": request_id}, 410)
        assert (found["code"], found["request_id"]) == ("REQUEST_EXPIRED", request_id)
        for unknown in ("", "nobody", "00000000-0000-4000-8000-000000000000"):
            assert failed(address, {"request_id": unknown}, 404)["code"] == "REQUEST_UNKNOWN"


def test_a_request_without_evidence_is_422_with_the_template() -> None:
    refused, whole = post(UNIFIED[0], {"query": UNANSWERED}), post(UNIFIED[0], {"query": ASKED})
    curation.withdraw(["T-SETS", "T-PROTEIN"], reason="A test.", by=None, by_name="tests")

    for address, part in PARTS.items():
        for before in (refused, whole):
            found = failed(address, {"request_id": before["request_id"]}, 422)
            assert (found["code"], found[part], found["citations"]) == ("RAG_NO_ANSWER", legacy.INSUFFICIENT, [])
            assert "increased growth" not in json.dumps(found)


def test_a_bad_request_is_400_in_their_words() -> None:
    bad: list[tuple[dict[str, Any], str, str]] = [
        ({"query": None}, "query", "not_text"), ({"query": "  "}, "query", "blank"),
        ({"query": "a" * 2001}, "query", "too_long"), ({"mode": "expert"}, "mode", "unknown"),
        ({"collection": "moon"}, "collection", "unknown"), ({"use_llm": "yes"}, "use_llm", "not_boolean"),
        *(({"top_k_passages": bad}, "top_k_passages", "out_of_range") for bad in (0, 13, True, "5", [5])),
        *(({"max_studies": bad}, "max_studies", "out_of_range") for bad in (0, 13, True, "5", [5])),
        ({"moon": 1}, "moon", "unknown_field"),
    ]  # fmt: skip
    bad_parts: list[tuple[dict[str, Any], str]] = [
        ({"request_id": None}, "request_id"), ({"query": 5}, "query"), ({"selected_chunks": "all"}, "selected_chunks"),
        ({"use_llm": 1}, "use_llm"), ({"moon": 1}, "moon"),
    ]  # fmt: skip
    unreadable = (b"", b"{", b"[]", b"null", b"\xff", b'{"query": NaN}', b'{"query": "\\ud800"}', b"[" * 5000)

    for address in WHOLE:
        for change, field, code in bad:
            found = failed(address, {"query": ASKED} | change, 400)
            assert found["code"] == "INVALID"
            assert [(error["field"], error["code"]) for error in found["errors"]] == [(field, code)]
    for address in PARTS:
        for change, field in bad_parts:
            found = failed(address, {"request_id": "x"} | change, 400)
            assert [error["field"] for error in found["errors"]] == [field]
    for address in (*WHOLE, *PARTS):
        for body in unreadable:
            failed(address, body, 400)
    assert not Answer.objects.exists()


def test_other_methods_types_and_sizes_are_refused_in_the_same_shape(client: Client) -> None:
    for address in (*WHOLE, *PARTS):
        wrong_method = client.get(address)
        wrong_type = client.post(address, {"query": ASKED})
        too_large = client.post(address, json.dumps({"query": "a" * 70_000}), content_type="application/json")

        assert [r.status_code for r in (wrong_method, wrong_type, too_large)] == [405, 415, 413]
        assert all(json.loads(r.content)["success"] is False for r in (wrong_method, wrong_type, too_large))
