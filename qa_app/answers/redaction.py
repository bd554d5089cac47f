"""Update a stored answer with the present state of its sources, and hide the words of withdrawn studies."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from django.db import connection

from corpus_app import search
from corpus_app.records import READABLE, Notice, PassageState, Status, StudyState
from qa_app.answers.payload import Payload, in_contract_order
from qa_app.pipeline.citations import with_markers

STANCES = ("favours", "no_difference", "against", "unclear")
WITHDRAWN = "A source was withdrawn."
SHOWN_WHEN_WITHDRAWN = frozenset({"index", "study_id", "design", "peer_reviewed", "notice", "status"})
"""Keys of a withdrawn study's citation that keep their values; any other is emptied."""
EMPTY: Payload = {"title": WITHDRAWN, "authors": [], "population": ""}
"""Values of emptied keys that are not null."""


def redact(stored: Payload) -> Payload:
    """Return a copy of the payload with present notices and statuses, and without the words of withdrawn studies.

    One database snapshot makes all its marks consistent.
    """
    with search.snapshot():
        return redact_now(deepcopy(stored))


def redact_now(body: Payload) -> Payload:
    """Redact a payload in place, within a snapshot."""
    cited = {c["study_id"] for c in body["citations"]}
    used = cited | {e["study_id"] for e in body["evidence"]}
    offering = {near.get("study_id") for near in body["near_questions"]} - {None}
    named = used | offering | _counted(body) | {o.get("study_id") for o in body["left_out"]} - {None}
    quoted = _passages_used(body)
    studies, passages = search.states(named, quoted)
    hidden = {s for s in named if s not in studies or studies[s].status not in READABLE}
    hidden |= _deleted(body, used - cited, {quoted[pk][0] for pk in passages})
    _hide(body, hidden)
    answering = {study_id for study_id, state in studies.items() if state.is_searched}
    body["near_questions"] = [row for row in body["near_questions"] if row.get("study_id") in (None, *answering)]
    for citation in body["citations"]:
        state = studies.get(citation["study_id"])
        if citation["study_id"] in hidden:
            citation |= {key: EMPTY.get(key) for key in citation if key not in SHOWN_WHEN_WITHDRAWN}
        status = Status.WITHDRAWN if state is None or citation["study_id"] in hidden else state.status
        citation["status"] = status.value
        citation["notice"] = state.notice.value if state else Notice.NONE.value
    body["notices"] = [
        *_study_notices(sorted(used), studies, hidden),
        *_passage_notices(quoted, passages, hidden),
        *_newer_corpus(body["corpus_version"]),
    ]
    return in_contract_order(body)


def _counted(body: Payload) -> set[str]:
    """Return the studies that sentences about the corpus count, cited or not."""
    return {study_id for span in _support(body) for study_id in span.get("study_ids", ())}


def _support(body: Payload) -> Iterator[Payload]:
    """Yield the spans and counts behind the headline and the sentences."""
    headlines = [body["headline"]] if body["headline"] else []
    for row in (*headlines, *(s for part in ("summary", "answer") for s in body[part]["sentences"])):
        yield from row["support"]


def _deleted(body: Payload, shown: set[str], remaining: set[str]) -> set[str]:
    """Return the studies that were deleted since, even if their id was reused.

    A citation of a deleted study has lost its foreign key; a study that was only shown has none of its passages left.
    """
    with connection.cursor() as cursor:
        cursor.execute(_UNLINKED, [body["id"]])
        return {study_id for (study_id,) in cursor.fetchall()} | (shown - remaining)


_UNLINKED = """
    SELECT c.study_key FROM qa_app_answercitation c JOIN qa_app_answersentence s ON s.id = c.sentence_id
    WHERE s.answer_id = %s AND c.study_id IS NULL
"""


def _passages_used(body: Payload) -> dict[int, tuple[str, int]]:
    """Map passages to study and version, quoted ones first."""
    used: dict[int, tuple[str, int]] = {}
    for row in (*(span for span in _support(body) if "finding_ids" not in span), *body["evidence"]):
        used.setdefault(row["passage_id"], (row["study_id"], row["passage_version"]))
    return used


def _hide(body: Payload, hidden: set[str]) -> None:
    """Remove all words of the hidden studies from a payload."""
    if not hidden:
        return
    if (headline := body["headline"]) and any(span.get("study_id") in hidden for span in headline["support"]):
        counts = dict.fromkeys(("studies_for", "studies_against", "studies_without_difference"))
        headline |= {"text": WITHDRAWN, "verdict": None, "support": []} | counts
    for name in ("summary", "answer"):
        sentences = body[name]["sentences"]
        for sentence in sentences:
            if any(span.get("study_id") in hidden for span in sentence["support"]):
                sentence |= {"text": WITHDRAWN, "attribution": None, "support": []}
            for span in sentence["support"]:
                if "study_ids" in span:  # the count stays, but only public studies are named
                    span["study_ids"] = [study_id for study_id in span["study_ids"] if study_id not in hidden]
        body[name]["text"] = with_markers((s["text"], s["citations"], s["paragraph"]) for s in sentences)
    if agreement := body.get("agreement"):
        _hide_stances(agreement, hidden)
        for split in agreement["by_population"]:
            _hide_stances(split, hidden)
        agreement["by_population"] = [s for s in agreement["by_population"] if any(s[name] for name in STANCES)]
    body["evidence"] = [entry for entry in body["evidence"] if entry["study_id"] not in hidden]
    body["left_out"] = [
        entry for entry in body["left_out"] if entry["what"] == "passage" and entry["study_id"] not in hidden
    ]


def _hide_stances(stances: Payload, hidden: set[str]) -> None:
    for name in STANCES:
        stances[name] = [row for row in stances[name] if row["study_id"] not in hidden]


def _study_notices(used: list[str], studies: dict[str, StudyState], hidden: set[str]) -> list[Payload]:
    notices = []
    for study_id in used:
        state = studies.get(study_id)
        if study_id in hidden:
            notices.append({"study_id": study_id, "kind": "withdrawn", "at": state.changed_at if state else None})
            continue
        if state and state.status is Status.ARCHIVED:
            notices.append({"study_id": study_id, "kind": "archived", "at": state.changed_at})
        if state and state.notice is not Notice.NONE:
            notices.append({"study_id": study_id, "kind": state.notice.value, "at": state.changed_at})
    return notices


def _passage_notices(
    quoted: dict[int, tuple[str, int]], passages: dict[int, PassageState], hidden: set[str]
) -> list[Payload]:
    """Return a notice for each passage that was edited or removed since the answer used it."""
    notices = []
    for passage_id, (study_id, version) in quoted.items():
        state = passages.get(passage_id)
        if study_id in hidden or (state is not None and state.version == version):
            continue
        notices.append(
            {
                "study_id": study_id,
                "kind": "passage_changed",
                "passage_id": passage_id,
                "gone": state is None,
                "at": state.changed_at if state else None,
            }
        )
    return notices


def _newer_corpus(version: int) -> list[Payload]:
    now = search.corpus_version()
    return [{"study_id": None, "kind": "newer_corpus", "at": None, "corpus_version": now}] if now > version else []
