"""Run the pipeline for a checked question and store the answer."""

from __future__ import annotations

import hashlib
import logging
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from common import metrics, tracing
from common.postgresql import replicas
from corpus_app import search
from qa_app.answers import engines, packing, payload
from qa_app.answers.corpus import SearchedCorpus
from qa_app.answers.time_limit import TimeLimit
from qa_app.models import Answer, Gap, SafetyReply
from qa_app.pipeline import policy as policies
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Progress, Reranker, Writer
from qa_app.pipeline.question import follow_up, safety
from qa_app.pipeline.question.safety import Route
from qa_app.pipeline.records import (
    Attempt,
    Counted,
    Declined,
    Ending,
    Outcome,
    Question,
    Refused,
    SentenceKind,
    Verdict,
)
from qa_app.pipeline.run import parse_question
from qa_app.pipeline.writer import EXTRACTIVE, ExtractiveWriter
from qa_app.pipeline.writing import PARTS
from qa_app.writers.model_server import Deadline, ModelServer, Price, ServerSettings, Waiting
from qa_app.writers.model_writer import ModelWriter
from qa_app.writers.rationed import Allowance, RationedWriter
from qa_app.writers.reranking import CrossEncoderReranker, ModelReranker
from qa_app.writers.spending import DailyBudget

ID_BYTES = 17  # at least 128 random bits, also after ids that begin with a dash are discarded
logger = logging.getLogger(__name__)
POLICY = policies.read(settings.INFORM_POLICY)  # settings.py has validated the name
FILED = frozenset(outcome for outcome in Outcome if not outcome.is_answer or outcome is Outcome.PARTIAL)
"""Outcomes that file the question, or a part of it, as a gap."""
_ENGINE = ("common/**/*", "corpus_app/*.py", "corpus_app/search/**/*", "qa_app/pipeline/**/*", "qa_app/lexicon/**/*",
           "qa_app/fitted/**/*")  # fmt: skip
_ENGINE_SUFFIXES = frozenset({".py", ".toml", ".json", ".txt"})


def make(
    question: Question,
    *,
    writer: str,
    policy: Policy = POLICY,
    progress: Progress | None = None,
    waiting: Waiting | None = None,
    allowance: Allowance | None = None,
    limit: TimeLimit | None = None,
) -> Ending:
    """Return how a question ends, not yet stored.

    Raises Abandoned (at the next stage, once every client has left), ModelQuotaUsedUp and OutOfTime.
    """
    answer = partial(
        engines.engine(policy).answer,
        question,
        corpus=SearchedCorpus(limit),
        writers=writers(writer, waiting=waiting, allowance=allowance),
        today=timezone.localdate(),
        reviewed=reviewed,
        progress=progress,
        limit=limit,
        reranker=reranker(waiting),
    )
    with tracing.span("answer of a question"):
        ending = replicas.with_failover(answer)
    return _with_missing_model(ending, writer)


def warm_up() -> None:
    """Load the corpus facts and the models, so that the first question does not wait for them."""
    try:
        SearchedCorpus().facts()
        engines.engine(POLICY)
    except DatabaseError as error:  # no database yet: the first question will report it
        logger.warning("The corpus could not be read ahead: %s", error)
    finally:
        if not connection.in_atomic_block:
            connection.close()  # of the warm-up thread


def follow(question: str, before: str) -> str | None:
    """Return a follow-up as a full question; None where it needs no context."""
    facts = SearchedCorpus().facts()
    return follow_up.follow(question, before, facts.concept_index, facts.facets)


def is_fragment(question: str) -> bool:
    """Return whether a question is a few words without a subject."""
    corpus = SearchedCorpus()
    return follow_up.is_fragment(parse_question(question, corpus, corpus.facts()))


def is_declined(question: str) -> bool:
    """Return whether a question gets a fixed safety reply."""
    return safety.check(question, None, SearchedCorpus().facts().safety, None) is not None


def safety_routes() -> Mapping[str, Route]:
    """Return the safety routes by name."""
    return SearchedCorpus().facts().safety.routes


def _with_missing_model(ending: Ending, writer: str) -> Ending:
    """Record that the extractive writer replaced a language model that is not configured."""
    if writer != "llm" or model_server() is not None or isinstance(ending, Refused):
        return ending
    instead = replace(ending.generator, fallback_from="llm", fallback_reason="not_configured")
    return replace(ending, generator=instead)


def reviewed(declined: Declined) -> Declined:
    """Return the declined question with the approved reply of its route, if there is one.

    A built-in reply that says something else than the corpus's own gives way: it was written for another corpus.
    """
    with replicas.primary():
        reply = SafetyReply.objects.find_approved(declined.route)
    if reply is None or (reply.is_built_in and reply.message != declined.message):
        return declined
    return replace(declined, message=reply.message, version=reply.version)


def reranker(waiting: Waiting | None = None) -> Reranker | None:
    """Return the configured reranker; None where there is none."""
    kind, _, model = settings.INFORM_RERANKER.partition(":")
    if kind == "cross-encoder":
        return _cross_encoder(model.strip())
    server = model_server() if kind == "llm" else None
    return ModelReranker(server, waiting) if server else None


@cache
def _cross_encoder(model: str) -> Reranker:
    return CrossEncoderReranker(model)


def writers(
    wanted: str,
    parts: tuple[str, ...] = PARTS,
    waiting: Waiting | None = None,
    allowance: Allowance | None = None,
) -> tuple[Writer, ...]:
    """Return the writers in the order of fallback: a configured model first, the extractive writer last.

    Only a model is limited to `parts`. Without an `allowance` no quota is counted.
    """
    server = None if wanted == "extractive" else model_server()
    extractive: Writer = ExtractiveWriter()
    if server is None:
        return (extractive,)
    deadline = Deadline.after(settings.OPENAI_TIMEOUT_SECONDS, waiting=waiting)
    strict = ModelWriter(server, deadline, is_strict=True, parts=parts)
    models: list[Writer] = [ModelWriter(server, deadline, parts=parts), strict]
    if allowance is not None:
        models = [RationedWriter(model, allowance, is_named=wanted == "llm") for model in models]
    return (*models, extractive)


def model_server() -> ModelServer | None:
    """Return the client of the language model, one a process; None where none is configured."""
    if not settings.OPENAI_MODEL:
        return None
    return _model_server(
        ServerSettings(
            model=settings.OPENAI_MODEL,
            api_key=settings.OPENAI_API_KEY,
            base_url=settings.OPENAI_BASE_URL,
            price=Price(settings.OPENAI_PRICE_PROMPT, settings.OPENAI_PRICE_REPLY),
            reply_tokens=settings.OPENAI_REPLY_TOKENS,
            context_tokens=settings.OPENAI_CONTEXT_TOKENS,
            breaker_failures=settings.OPENAI_BREAKER_FAILURES,
            breaker_pause_seconds=settings.OPENAI_BREAKER_PAUSE_SECONDS,
        ),
        settings.OPENAI_DAILY_LIMIT,
    )


@cache
def _model_server(chosen: ServerSettings, daily_limit: float) -> ModelServer:
    return ModelServer(chosen, budget=DailyBudget(daily_limit))


def store(
    ending: Ending,
    *,
    parent: str | None,
    now: datetime,
    started: float | None = None,
    files_gap: bool = True,
    request_id: uuid.UUID | None = None,
    limit: TimeLimit | None = None,
    when_stored: Callable[[payload.Payload], None] | None = None,
) -> payload.Payload:
    """Store an answer with its sentences and citations in one transaction; file a gap for a refusal.

    `when_stored` is called with the payload at the end of this transaction. Raises OutOfTime.
    """
    timeout = limit.statement_timeout() if limit else None
    answer_id, request_id = new_id(), request_id or uuid.uuid4()
    body = payload.build_payload(
        ending,
        answer_id=answer_id,
        url=reverse("answer", args=[answer_id]),
        request_id=str(request_id),
        parent=parent,
        encoder=search.encoder_name(),
        created_at=now.isoformat(timespec="seconds"),
    )
    writing = perf_counter()
    with transaction.atomic():
        with search.statement_pipeline() as send:
            if timeout is not None:
                send(search.CUT_OFF, [str(timeout)])
            # The answer is stored last, so that its payload contains the time that storing the sentences took; foreign
            # keys to it are deferred. Python prepares the next statement while the database executes this one.
            sentences = send(_STORE_SENTENCES, [answer_id, *_sentence_rows(body)])
            body = payload.in_contract_order(body)
            send(_STORE_POLICY, [ending.policy.label, _policy(ending.policy)])
            drafts = [] if isinstance(ending, Counted) else [_draft(attempt) for attempt in ending.attempts]
            drafts = packing.pack_drafts(drafts, body, writer=EXTRACTIVE.name)
            sentences.fetchall()
            end = perf_counter()
            body["timings_ms"] = payload.in_contract_order(
                body["timings_ms"]
                | {
                    "store": _milliseconds(writing, end),
                    "total": _milliseconds(writing if started is None else started, end),
                }
            )
            row = Answer(
                id=answer_id,
                request_id=request_id,
                question=ending.question.text,
                mode=ending.question.mode.value,
                collection=ending.question.collection,
                outcome=ending.outcome.value,
                corpus_version=ending.corpus_version,
                policy_id=ending.policy.label,
                engine=engine(),
                parent_id=parent,
                asked_key=asked_key(body),
                candidates=list(ending.search.candidates) if ending.search else [],
                created_at=now,
            )
            row.payload, passages = packing.pack(body)
            stored = [{"digest": key} | passages[key] for key in sorted(passages)]  # a fixed order prevents deadlocks
            send(_STORE_PASSAGES, [_json(stored)])
            send(_STORE_ANSWER, [*(getattr(row, name) for name in _PLAIN), _json(row.payload), _json(drafts)])
        is_whole = not ending.question.filters.narrows  # what some studies lack, others may have
        if files_gap and is_whole and not isinstance(ending, Counted) and ending.outcome in FILED:
            Gap.objects.file(row, missing=list(ending.missing))
        if when_stored:
            when_stored(body)
    metrics.count_answer(ending.outcome.value, body["generator"]["name"], body["timings_ms"])
    return body


def asked_key(body: Mapping[str, Any]) -> str:
    """Return a hash of a question as it was asked, apart from its filters; `body` is the payload of its answer."""
    parent = body["parent"] if body["understood_as"] else None  # a question that needed no context had none
    return hashlib.sha256(_json([body["question"], body["mode"], body["collection"], parent]).encode()).hexdigest()


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def _policy(policy: Policy) -> str:
    return _json(policy.values())


@cache
def engine() -> str:
    """Return a hash of the code, models and reranker that make answers.

    With the same hash, policy, corpus version and calibration to the corpus an answer is the same, byte for byte.
    """
    root = Path(__file__).parents[2]
    paths = sorted(path for part in _ENGINE for path in root.glob(part) if path.suffix in _ENGINE_SUFFIXES)
    own = sorted(Path(settings.CALIBRATIONS).glob("*.json")) if settings.CALIBRATIONS else []
    digest = hashlib.sha256(settings.INFORM_RERANKER.encode())
    for path in (*paths, *own):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _draft(attempt: Attempt) -> dict[str, Any]:
    """Serialize a writer's attempt: its draft as received and the verdict on each sentence."""
    draft = attempt.draft
    return {
        "writer": attempt.generator.name,
        "generator": asdict(attempt.generator),
        "failure": attempt.failure,
        **{
            part: [asdict(sentence) | {"text": payload.replace_unstorable(sentence.text)} for sentence in sentences]
            for part, sentences in (("summary", draft.summary), ("answer", draft.answer))
        },
        "dropped": [asdict(entry) | {"text": payload.replace_unstorable(entry.text or "")} for entry in draft.dropped],
        "verdicts": list(attempt.verdicts),
        "received": {part: payload.replace_unstorable(text) for part, text in draft.received.items()},
        "labels": dict(draft.labels),
    }


def _sentence_rows(body: payload.Payload) -> list[str]:
    """Return the sentences and quoted spans as two JSON arrays, the parameters of `_STORE_SENTENCES`."""
    sentences = [(part, n, s) for part in ("summary", "answer") for n, s in enumerate(body[part]["sentences"])]
    if headline := body["headline"]:
        verdict = Verdict.VERBATIM if headline["kind"] == SentenceKind.QUOTE else Verdict.COUNTED
        sentences.insert(0, ("headline", 0, headline | {"verdict": verdict.value}))
    quoted = [(part, n, span) for part, n, s in sentences for span in s["support"] if "finding_ids" not in span]
    index_of = {citation["study_id"]: citation["index"] for citation in body["citations"]}
    rows = [
        {"part": part, "position": n, "text": s["text"], "kind": s["kind"], "verdict": s["verdict"]}
        for part, n, s in sentences
    ]
    spans = [
        {"part": part, "position": n, "place": place, "index": index_of[span["study_id"]]}
        | {column: span[name] for column, name in _SPAN.items()}
        for place, (part, n, span) in enumerate(quoted)
    ]
    return [_json(rows), _json(spans)]


_SPAN = {
    "study_key": "study_id",
    "passage_key": "passage_id",
    "passage_version": "passage_version",
    "start": "start",
    "end": "end",
    "quote": "quote",
}
"""Citation columns and their payload keys."""
# One statement, since the ORM needs longer to build two than PostgreSQL to execute both. A citation of a passage or
# study that was deleted meanwhile is stored without its foreign key.
_STORE_SENTENCES = """
    WITH sentence AS (
        INSERT INTO qa_app_answersentence (answer_id, part, position, text, kind, verdict)
        SELECT %s, row.* FROM jsonb_to_recordset(%s::jsonb)
            AS row (part text, position int, text text, kind text, verdict text)
        RETURNING id, part, position
    )
    INSERT INTO qa_app_answercitation
        (sentence_id, index, study_id, study_key, passage_id, passage_key, passage_version, start, "end", quote)
    SELECT sentence.id, row.index, study.study_id, row.study_key, passage.id, row.passage_key, row.passage_version,
           row.start, row.end, row.quote
    FROM jsonb_to_recordset(%s::jsonb) AS row (
        part text, position int, place int, index int, study_key text, passage_key bigint, passage_version int,
        start int, "end" int, quote text
    )
    JOIN sentence USING (part, position)
    {still_there}
    ORDER BY row.place
    RETURNING id
""".replace("{still_there}", search.STILL_THERE)
_STORE_POLICY = """
    INSERT INTO qa_app_storedpolicy (label, "values") VALUES (%s, %s::jsonb) ON CONFLICT (label) DO NOTHING
"""
_STORE_PASSAGES = """
    INSERT INTO qa_app_storedpassage (digest, passage_id, passage_version, study_id, title, section, kind, text)
    SELECT row.* FROM jsonb_to_recordset(%s::jsonb) AS row (
        digest text, passage_id bigint, passage_version int, study_id text, title text, section text, kind text,
        text text
    )
    ON CONFLICT (digest) DO NOTHING
"""
_PLAIN = (
    "id request_id question mode collection outcome corpus_version policy_id engine parent_id asked_key candidates "
    "created_at".split()
)
_STORE_ANSWER = """
    INSERT INTO qa_app_answer (
        id, request_id, question, mode, collection, outcome, corpus_version, policy_id, engine, parent_id, asked_key,
        candidates, created_at, payload, drafts
    )
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::varchar[], %s, %s::jsonb, %s::jsonb)
"""


def new_id() -> str:
    """Return a random URL-safe id that does not begin with a dash, which a command line would read as an option."""
    while (drawn := secrets.token_urlsafe(ID_BYTES)).startswith("-"):
        pass
    return drawn


def _milliseconds(start: float, end: float) -> float:
    return round(1000 * (end - start), 3)
