"""Let a language model propose the plain words of a finding, and check them against its statement and passages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus_app.records import QUESTION_LETTERS, Finding, Passage, ProposedWords
from qa_app.pipeline.orders import gives_orders, visible
from qa_app.pipeline.records import LeftOutReason
from qa_app.pipeline.verification import find_contradiction, has_foreign_figures
from qa_app.writers.drafts import clean_sentence
from qa_app.writers.model_server import ModelServer
from qa_app.writers.records import Deadline, ServerFailed

PROMPT = Path(__file__).parent / "prompts" / "finding-words-1.txt"
MOST_QUESTIONS = 3
SENTENCE_WORDS = (4, 60)  # fewer or more are no plain sentence
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"plain": {"type": "string"}, "questions": {"type": "array", "items": {"type": "string"}}},
    "required": ["plain", "questions"],
    "additionalProperties": False,
}
WHY = {
    LeftOutReason.NUMBER_MISMATCH: "it has a figure that the finding and the passages lack",
    LeftOutReason.DIRECTION_MISMATCH: "it turns the direction of the finding round",
    LeftOutReason.NEGATION_MISMATCH: "it denies what the finding states, or the other way round",
    LeftOutReason.POPULATION_MISMATCH: "it names people or groups that the finding and the passages lack",
}


def propose(server: ModelServer, deadline: Deadline, finding: Finding, passages: Sequence[Passage]) -> ProposedWords:
    """Return what the model proposes and passes the checks; its notes say what was left out and why."""
    messages = [
        {"role": "system", "content": PROMPT.read_text(encoding="utf-8")},
        {"role": "user", "content": _material(finding, passages)},
    ]
    try:
        reply = server.complete(messages, SCHEMA, deadline, name="finding_words")
    except ServerFailed as failure:
        return ProposedWords(notes=(str(failure),))
    plain, questions = _read(reply.text if reply.is_complete else "")
    if not plain and not questions:
        return ProposedWords(notes=("The language model proposed nothing that can be read.",))
    sources = [_as_passage(finding, passage) for passage in passages[:1]] + list(passages)
    fault = _sentence_fault(plain, finding, sources) if plain else None
    sound = [question for question in questions if _is_question(question, sources)]
    notes = [f"The proposed sentence was left out: {fault}."] if fault else []
    if len(sound) < len(questions):
        left_out = len(questions) - len(sound)
        notes.append(f"Questions left out, for they are none or have figures of their own: {left_out}.")
    return ProposedWords("" if fault else plain, tuple(sound[:MOST_QUESTIONS]), tuple(notes))


def _material(finding: Finding, passages: Sequence[Passage]) -> str:
    """Return the finding and its study as one JSON value; sentences that give orders to a machine are left out."""
    said = {
        name: visible(getattr(finding, name)) for name in ("statement", "intervention", "comparator", "outcome")
    } | {"direction": finding.direction.value}
    sentences = (p.text[s.start : s.end] for p in passages for s in p.sentences)
    shown = [visible(text) for text in sentences if not gives_orders(text)]
    return json.dumps({"finding": said, "sentences": shown}, ensure_ascii=False)


def _read(reply: str) -> tuple[str, list[str]]:
    """Return the sentence and the questions of a reply, cleaned; empty where it cannot be read."""
    try:
        row: Any = json.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except (ValueError, RecursionError):
        return "", []
    plain, questions = (row.get("plain"), row.get("questions")) if isinstance(row, dict) else ("", [])
    texts = questions if isinstance(questions, list) else []
    return _clean(plain), list(dict.fromkeys(filter(None, map(_clean, texts))))


def _clean(text: object) -> str:
    return " ".join(clean_sentence(text)[0].split()) if isinstance(text, str) else ""


def _as_passage(finding: Finding, passage: Passage) -> Passage:
    """Return the finding as a passage of its study, so that its own words count as a source."""
    said = f"{finding.statement} {finding.intervention}; {finding.comparator}; {finding.outcome}."
    return replace(passage, passage_id=0, text=said, sentences=())


def _sentence_fault(plain: str, finding: Finding, sources: Sequence[Passage]) -> str | None:
    least, most = SENTENCE_WORDS
    if not least <= len(plain.split()) <= most or gives_orders(plain):
        return "it is no plain sentence"
    reason = find_contradiction(plain, finding.statement, sources)
    return WHY.get(reason, "it does not agree with the finding") if reason else None


def _is_question(text: str, sources: Sequence[Passage]) -> bool:
    is_one = text.endswith("?") and len(text) <= QUESTION_LETTERS and not gives_orders(text)
    return is_one and not has_foreign_figures(text, sources)
