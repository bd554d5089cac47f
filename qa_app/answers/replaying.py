"""Make stored answers again: the same engine, policy and corpus version must give the same bytes."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from corpus_app import search
from qa_app.answers import answering, engines, payload, storing, study_filters
from qa_app.answers.corpus import SearchedCorpus
from qa_app.answers.serialization import NotReadable, thaw
from qa_app.answers.time_limit import TimeLimit
from qa_app.models import Answer, CorpusCalibration
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Writer, WriterFailed
from qa_app.pipeline.records import Draft, Ending, Evidence, Generator, Mode, Question
from qa_app.pipeline.text import searchable
from qa_app.pipeline.writer import EXTRACTIVE, ExtractiveWriter

NOT_COMPARED = frozenset({"timings_ms", "notices"})  # these depend on the time of day


class CannotReplay(Exception):
    """The answer cannot be made again here; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The comparison of a stored answer with one made now."""

    is_same: bool
    """Whether both are equal byte for byte, except for times."""
    changed: tuple[str, ...]
    """Inputs (corpus, calibration, encoder) that changed since; empty where the bytes must be equal."""
    differences: tuple[str, ...]
    """Removed (-) and added (+) lines; the outcome and each sentence are a line."""


class RecordedWriter:
    """A writer that repeats the recorded draft, or failure, of a stored attempt."""

    def __init__(self, recorded: Mapping[str, Any]) -> None:
        self.name = str(recorded["writer"])
        self._failure = recorded["failure"]
        self._generator: Generator = _read(Generator, recorded["generator"])
        parts = ("summary", "answer", "dropped", "received", "labels")
        self._draft: Draft = _read(Draft, {part: recorded[part] for part in parts})

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        if self._failure:
            raise WriterFailed(
                "It gave nothing that was kept.",
                reason=self._failure,
                generator=self._generator,
                received=self._draft.received,
            )
        return self._draft, self._generator


def replay(answer_id: str, *, limit: TimeLimit | None = None) -> Replay | None:
    """Make a stored answer again with its own policy and the stored drafts of a language model.

    None where there is no such answer. Raises CannotReplay when engine, policy or draft belong to another release;
    OutOfTime.
    """
    row = Answer.objects.select_related("policy").filter(pk=answer_id).first()
    if row is None:
        return None
    if row.engine != answering.engine():
        raise CannotReplay("It was made by another engine than the one that runs here, so it cannot be made again.")
    then = storing.restore_payload(row.payload)
    meant = then.get("understood_as")
    searched = searchable(meant or row.question)
    filters = study_filters.read_stored(then.get("filters"))
    question = Question(row.question, searched, Mode(row.mode), row.collection, meant, filters)
    made = _make(row, question, _read(Policy, row.policy.values), limit)
    now = payload.build_payload(
        made,
        answer_id=row.id,
        url=then["url"],
        request_id=then["request_id"],
        parent=row.parent_id,
        encoder=search.encoder_name(),
        created_at=then["created_at"],
    )
    if then["generator"]["fallback_reason"] == "not_configured":  # this depended on the settings then
        now["generator"] |= {name: then["generator"][name] for name in ("fallback_from", "fallback_reason")}
    before, after = _comparable(then), _comparable(now)
    return Replay(
        is_same=_text(before) == _text(after),
        changed=tuple(_changed(row, then, now)),
        differences=() if _text(before) == _text(after) else _differences(before, after),
    )


def _make(row: Answer, question: Question, policy: Policy, limit: TimeLimit | None) -> Ending:
    """Answer the question again from the stored drafts."""
    return engines.engine(policy).answer(
        question,
        corpus=SearchedCorpus(limit),
        writers=(*_drafted(row), ExtractiveWriter()),
        today=timezone.localdate(row.created_at),
        reviewed=answering.reviewed,
        limit=limit,
        reranker=answering.reranker(),
    )


def _read(kind: type[Any], recorded: Mapping[str, Any]) -> Any:
    try:
        return thaw(kind, recorded)
    except NotReadable as error:
        raise CannotReplay(
            f"It was made by a release whose {kind.__name__.lower()} this one does not know, "
            "so it cannot be made again."
        ) from error


def _drafted(row: Answer) -> tuple[Writer, ...]:
    """Return a writer for each stored attempt of a language model."""
    return tuple(RecordedWriter(attempt) for attempt in row.drafts if attempt["writer"] != EXTRACTIVE.name)


def _changed(row: Answer, then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Describe the inputs that differ between then and now."""
    changed = []
    if then["corpus_version"] != now["corpus_version"]:
        changed.append(f"the corpus has gone from version {then['corpus_version']} to {now['corpus_version']}")
    if then["site_hash"] != now["site_hash"]:
        changed.append("the site file has changed")
    if CorpusCalibration.is_newer_than(row.created_at):
        changed.append("the estimates were calibrated to the corpus since")
    if then["encoder"] != now["encoder"]:
        changed.append(f"the encoder was {then['encoder']} and is {now['encoder']}")
    return changed


def _comparable(body: Mapping[str, Any]) -> dict[str, Any]:
    recorded = {name: value for name, value in body.items() if name not in NOT_COMPARED}
    return payload.in_contract_order(json.loads(json.dumps(recorded)))


def _text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    lines = difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=0)
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _lines(body: Mapping[str, Any]) -> list[str]:
    """Return what a reader notices, one line each, then the rest of the payload."""
    confidence = body["confidence"]
    lines = [f"outcome: {body['outcome']}"]
    lines += [f"confidence: {confidence['score']} ({confidence['label']})"] if confidence else []
    lines += [f"{part}: {s['text']}" for part in ("summary", "answer") for s in body[part]["sentences"]]
    lines += [f"source: {c['study_id']} {c['title']}" for c in body["citations"]]
    lines += [f"evidence: {e['study_id']} {e['section']}, passage {e['passage_id']}" for e in body["evidence"]]
    rest = {name: value for name, value in body.items() if name not in {"summary", "answer", "citations", "evidence"}}
    return lines + [f"{name}: {_text({'': value})}" for name, value in rest.items()]
