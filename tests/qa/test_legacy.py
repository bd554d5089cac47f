"""The addresses of earlier systems: their fields and their errors, with the content of /api/v1/."""

from __future__ import annotations

import json
import os
import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from corpus_app import curation, indexing
from corpus_app.models import Study
from inform_site.clients.limits import Limits
from qa_app.answers import answering, legacy
from qa_app.models import Answer, EvidenceContext
from qa_app.pipeline import policy
from tests.fakes import WordHashEncoder
from tests.qa.conftest import ASKED, PLAIN_SETS, SETS, UNANSWERED

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
SLICE = ("S013", "S018", "S028", "S029", "S030", "S061", "S080", "S092")
EMERGENCY = "I get chest pain when I lift, should I do more sets?"
UNIFIED = ("/api/unified-search", "/explain-research")
PARTS = {"/api/quick-summary": "summary", "/api/detailed-answer": "answer"}
ADDRESSES = ("/ask", *UNIFIED, *PARTS)
EVERY = 8 if "GOLDEN" not in os.environ else int(os.environ["GOLDEN"])  # golden question that is asked
ANSWERED_FIELDS = {
    "success", "request_id", "query", "summary", "answer", "citations", "retrieval_latency_ms", "summary_latency_ms",
    "answer_latency_ms", "total_chunks", "chunks_used_summary", "chunks_used_answer", "selected_chunks", "confidence",
    "sources_used", "top_passages", "code",
}  # fmt: skip


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


@pytest.fixture
def starter(db: None, encoder: WordHashEncoder, tmp_path: Path) -> None:
    """Eight studies of the starter corpus, published and indexed."""
    (tmp_path / "studies").mkdir()
    for study_id in SLICE:
        shutil.copy(CORPUS / "studies" / f"{study_id}.json", tmp_path / "studies")
    vocabulary = json.loads((CORPUS / "concepts.json").read_text(encoding="utf-8"))
    relations = [row | {"studies": [s for s in row["studies"] if s in SLICE]} for row in vocabulary["relations"]]
    vocabulary["relations"] = [row for row in relations if row["studies"]]
    (tmp_path / "concepts.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    call_command("import_corpus", str(tmp_path), publish=True)
    indexing.index_stale()


# --- The same content as /api/v1/ ---------------------------------------------------------------------------------------


def test_they_answer_golden_questions_as_v1_does(starter: None, settings: LazySettings) -> None:
    """GOLDEN=1 asks all of them, at every address."""
    settings.ANONYMOUS_QUOTAS = dict.fromkeys(settings.ANONYMOUS_QUOTAS, Limits(10**6, 10**6))
    rows = [json.loads(line) for line in (CORPUS / "golden_dev.jsonl").read_text(encoding="utf-8").splitlines()]
    outcomes = set()
    for row in rows[::EVERY]:
        asked = {"mode": row["mode"], "collection": row["collection"]}
        v1 = json.loads(
            Client()
            .post("/api/v1/answers", json.dumps(asked | {"question": row["question"]}), content_type="application/json")
            .content
        )
        outcomes.add(v1["outcome"])
        unified, explained = (post(address, asked | {"query": row["question"]}) for address in UNIFIED)
        said = post("/ask", asked | {"query": row["question"]})

        cited = [(c["index"], c["study_id"], c["title"]) for c in v1["citations"]]
        for found in (unified, explained, said):
            assert [(c["index"], c["study_id"], c["title"]) for c in found["citations"]] == cited
            assert (found["outcome"], found["code"], found["message"]) == (v1["outcome"], v1["code"], v1["message"])
            assert (found["confidence"] or {}).get("value") == (v1["confidence"] or {}).get("score")
            assert found["sources_used"] == [study_id for _, study_id, _ in cited]
            assert [p["text"] for p in found["top_passages"]] == [e["text"] for e in v1["evidence"][:5]]
        if v1["summary"]["text"]:
            for found in (unified, explained):
                assert (found["summary"], found["answer"]) == (v1["summary"]["text"], v1["answer"]["text"])
            assert said["answer"].startswith(v1["summary"]["text"])
            assert all(s["text"] in bare(said["answer"]) for s in v1["answer"]["sentences"])
            for address, part in PARTS.items():
                alone = post(address, {"request_id": unified["request_id"]})
                assert alone["code"] is None
                assert alone["query"] == row["question"].strip()
                assert bare(alone[part]) == bare(v1[part]["text"])
        else:
            assert unified["summary"] == unified["answer"] == explained["answer"] == said["answer"]
    assert {"answered", "insufficient_evidence"} <= outcomes


# --- /ask ---------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
def test_ask_answers_with_its_fields() -> None:
    found = post("/ask", {"query": ASKED})

    first, second = SETS.split(". ")
    assert found["answer"] == f"{PLAIN_SETS[:-1]} [1].\n\n{first} [1]. {second[:-1]} [1]."
    assert (found["mode"], found["backend"], found["code"]) == ("beginner", "extractive", None)
    (citation,) = found["citations"]
    assert set(citation) == {"index", "study_id", "title"}
    assert [study["study_id"] for study in found["studies"]] == ["T-SETS"]
    assert set(found["confidence"]) == {"value", "label"}
    assert found["sources_used"] == ["T-SETS"]
    assert {"distance", "confidence"} <= set(found["top_passages"][0])


@pytest.mark.usefixtures("library")
def test_what_is_left_out_is_beginner_twelve_and_five() -> None:
    least = post("/ask", {"query": ASKED})
    said = post("/ask", {"query": ASKED, "mode": "beginner", "use_llm": None, "top_k_passages": 12, "max_studies": 5})

    first, second = Answer.objects.filter(pk__in=[least["answer_id"], said["answer_id"]])
    assert first.policy == second.policy
    assert (first.policy.values["evidence_passages"], first.policy.values["cited_studies"]) == (12, 5)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", ["/ask", *UNIFIED])
def test_how_much_is_read_can_be_chosen(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "POLICY", policy.PRESETS["seed-004"])  # cites a study for each passage
    usual = post(address, {"query": ASKED})
    assert len({row["study_id"] for row in usual["top_passages"]}) > 1

    few = post(address, {"query": ASKED, "max_studies": 1})
    least = post(address, {"query": ASKED, "top_k_passages": 1})

    assert len({row["study_id"] for row in few["top_passages"]}) == 1
    assert len(least["top_passages"]) == 1


@pytest.mark.usefixtures("library")
def test_who_writes_can_be_chosen() -> None:
    post("/ask", {"query": ASKED, "use_llm": False})
    post("/ask", {"query": ASKED, "use_llm": True})

    newest, before = Answer.objects.order_by("-created_at", "-payload__generator__fallback_from")[:2]
    reasons = {newest.payload["generator"]["fallback_reason"], before.payload["generator"]["fallback_reason"]}
    assert reasons == {None, "not_configured"}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", ["/ask", *UNIFIED])
def test_where_there_is_no_answer_it_says_so(address: str) -> None:
    found = post(address, {"query": UNANSWERED})

    assert (found["code"], found["answer"], found["confidence"]) == ("RAG_NO_ANSWER", legacy.INSUFFICIENT, None)
    assert (found["citations"], found["sources_used"]) == ([], [])
    assert "do not answer" in found["message"]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", ["/ask", *UNIFIED])
def test_fixed_replies_are_given_word_for_word(address: str) -> None:
    found = post(address, {"query": EMERGENCY})

    assert (found["code"], found["outcome"]) == ("GUARDRAIL", "guardrail")
    assert found["answer"] == found["message"]
    assert found["top_passages"] == []


# --- /api/unified-search and /explain-research --------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", UNIFIED)
def test_a_search_answers_with_its_fields(address: str) -> None:
    Study.objects.filter(study_id="T-SETS").update(pmid="123")

    found = post(address, {"query": ASKED})

    assert set(found) >= ANSWERED_FIELDS
    assert (found["success"], found["query"]) == (True, ASKED)
    assert found["summary"] == f"{PLAIN_SETS[:-1]} [1]."
    assert (
        found["total_chunks"]
        == found["chunks_used_summary"]
        == found["chunks_used_answer"]
        == len(found["selected_chunks"])
    )
    assert all(set(chunk) == {"id", "title", "pmidOrDoi", "section", "text"} for chunk in found["selected_chunks"])
    chunk = found["selected_chunks"][0]
    assert (chunk["pmidOrDoi"], chunk["section"], chunk["text"]) == ("123", "results", SETS)
    assert found["citations"][0]["pmidOrDoi"] == "123"
    assert all(found[f"{name}_latency_ms"] > 0 for name in ("retrieval", "summary", "answer"))


@pytest.mark.usefixtures("library")
def test_without_an_answer_nothing_was_used() -> None:
    found = post(UNIFIED[0], {"query": UNANSWERED})

    assert (found["total_chunks"], found["chunks_used_summary"], found["chunks_used_answer"]) == (0, 0, 0)
    assert found["selected_chunks"] == []
    assert found["summary"] == legacy.INSUFFICIENT


# --- The parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("address", "part"), PARTS.items())
def test_a_part_is_written_from_the_evidence_of_its_request(address: str, part: str) -> None:
    whole = post(UNIFIED[0], {"query": ASKED})

    found = post(
        address, {"request_id": whole["request_id"], "query": ASKED, "selected_chunks": whole["selected_chunks"]}
    )

    assert (found["success"], found["request_id"], found["query"]) == (True, whole["request_id"], ASKED)
    assert found[part] == whole[part]
    assert found["selected_chunks"] == whole["selected_chunks"]
    assert found[f"chunks_used_{part}"] == found["total_chunks"] == whole["total_chunks"]
    assert found[f"{part}_latency_ms"] > 0
    assert found["citations"] == whole["citations"]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("request_id", ["", "nobody", "00000000-0000-4000-8000-000000000000"])
def test_an_unknown_request_is_404(request_id: str) -> None:
    for address in PARTS:
        assert failed(address, {"request_id": request_id}, 404)["code"] == "REQUEST_UNKNOWN"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", PARTS)
def test_an_expired_request_is_410(address: str) -> None:
    whole = post(UNIFIED[0], {"query": ASKED})
    EvidenceContext.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    found = failed(address, {"request_id": whole["request_id"]}, 410)

    assert (found["code"], found["request_id"]) == ("REQUEST_EXPIRED", whole["request_id"])


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("address", "part"), PARTS.items())
def test_a_request_without_evidence_is_422_with_the_template(address: str, part: str) -> None:
    whole = post(UNIFIED[0], {"query": UNANSWERED})

    found = failed(address, {"request_id": whole["request_id"]}, 422)

    assert (found["code"], found[part], found["citations"]) == ("RAG_NO_ANSWER", legacy.INSUFFICIENT, [])


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("address", "part"), PARTS.items())
def test_evidence_that_was_withdrawn_is_422(address: str, part: str) -> None:
    whole = post(UNIFIED[0], {"query": ASKED})
    curation.withdraw(["T-SETS", "T-PROTEIN"], reason="A test.", by=None, by_name="tests")

    found = failed(address, {"request_id": whole["request_id"]}, 422)

    assert (found["code"], found[part]) == ("RAG_NO_ANSWER", legacy.INSUFFICIENT)
    assert "increased growth" not in json.dumps(found)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", PARTS)
def test_no_chunks_are_422(address: str) -> None:
    whole = post(UNIFIED[0], {"query": ASKED})

    assert failed(address, {"request_id": whole["request_id"], "selected_chunks": []}, 422)["code"] == "RAG_NO_ANSWER"


# --- Bad requests -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"query": None}, "query", "not_text"),
        ({"query": 5}, "query", "not_text"),
        ({"query": "  "}, "query", "blank"),
        ({"query": "a" * 2001}, "query", "too_long"),
        ({"mode": "expert"}, "mode", "unknown"),
        ({"collection": "moon"}, "collection", "unknown"),
        ({"use_llm": "yes"}, "use_llm", "not_boolean"),
        ({"top_k_passages": 0}, "top_k_passages", "out_of_range"),
        ({"top_k_passages": 13}, "top_k_passages", "out_of_range"),
        ({"max_studies": True}, "max_studies", "out_of_range"),
        ({"max_studies": "5"}, "max_studies", "out_of_range"),
        ({"moon": 1}, "moon", "unknown_field"),
    ],
)
def test_a_bad_question_is_400_in_their_words(change: dict[str, Any], field: str, code: str) -> None:
    for address in ("/ask", *UNIFIED):
        found = failed(address, {"query": ASKED} | change, 400)

        assert found["code"] == "INVALID"
        assert [(error["field"], error["code"]) for error in found["errors"]] == [(field, code)]
    assert not Answer.objects.exists()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"request_id": None}, "request_id"),
        ({"request_id": 5}, "request_id"),
        ({"query": 5}, "query"),
        ({"selected_chunks": "all"}, "selected_chunks"),
        ({"use_llm": 1}, "use_llm"),
        ({"moon": 1}, "moon"),
    ],
)
def test_a_bad_request_for_a_part_is_400(change: dict[str, Any], field: str) -> None:
    for address in PARTS:
        found = failed(address, {"request_id": "x"} | change, 400)

        assert [error["field"] for error in found["errors"]] == [field]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"query"', b"\xff", b'{"query": NaN}', b'{"query": "\\ud800"}', b"[" * 5000]
)
def test_what_is_no_json_object_is_400(body: bytes) -> None:
    for address in ADDRESSES:
        failed(address, body, 400)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", ADDRESSES)
def test_other_methods_types_and_sizes_are_refused_in_the_same_shape(address: str) -> None:
    client = Client()

    wrong_method = client.get(address)
    wrong_type = client.post(address, {"query": ASKED})
    too_large = client.post(address, json.dumps({"query": "a" * 70_000}), content_type="application/json")

    assert [r.status_code for r in (wrong_method, wrong_type, too_large)] == [405, 415, 413]
    assert all(json.loads(r.content)["success"] is False for r in (wrong_method, wrong_type, too_large))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("address", ["/ask", *UNIFIED])
def test_their_questions_count_on_the_same_quota(address: str, settings: Any) -> None:
    limits = type(settings.ANONYMOUS_QUOTAS["ask"])
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"ask": limits(1, 1)}
    Client().post("/api/v1/answers", json.dumps({"question": ASKED}), content_type="application/json")

    found = failed(address, {"query": ASKED}, 429)

    assert found["code"] == "QUOTA_USED_UP"
