"""Put the nouns of the site into what an answer says in words of the program, for readers of English.

Stored answers say "studies" on every site. So they need no change when a site changes its nouns.
"""

from __future__ import annotations

from django.utils.translation import get_language, gettext

from corpus_app import search
from qa_app.answers.payload import Payload
from qa_app.pipeline.citations import with_markers
from qa_app.pipeline.question.safety import URGENT
from qa_app.pipeline.records import SentenceKind
from qa_app.templatetags.answer_words import confidence_reason_words
from qa_app.templatetags.counted_words import translated_count
from qa_app.templatetags.stored_words import site_message
from qa_app.templatetags.strength_words import strength_reason_words

UNNAMED = "A study"
"""An attribution to a study that has neither authors nor a design begins so."""


def site_name() -> str:
    """Return the name of the site, in the language of its corpus."""
    return search.site().texts.name or "InForm"


def in_site_words(payload: Payload) -> Payload:
    """Return the payload with the nouns of the site; itself where the site has none, or the page is not in English."""
    if not (get_language() or "").startswith("en") or search.site().nouns is None:
        return payload
    body = dict(payload)
    if body["message"] and (body["guardrail"] or {}).get("route") in {None, *URGENT}:
        body["message"] = site_message(body["message"])
    if confidence := body["confidence"]:
        body["confidence"] = confidence | {"reasons": [confidence_reason_words(text) for text in confidence["reasons"]]}
    if strength := body["evidence_strength"]:
        reasons = [reason | {"text": strength_reason_words(reason)} for reason in strength["reasons"]]
        body["evidence_strength"] = strength | {"reasons": reasons}
    for part in ("summary", "answer"):
        sentences = [sentence_in_site_words(row) for row in body[part]["sentences"]]
        text = with_markers((s["text"], s["citations"], s["paragraph"]) for s in sentences)
        body[part] = body[part] | {"text": text, "sentences": sentences}
    return body


def sentence_in_site_words(row: Payload) -> Payload:
    """Return a sentence with the nouns of the site, as far as it is not quoted."""
    who = row["attribution"]
    if who and who.startswith(f"{UNNAMED} ("):
        row = row | {"attribution": gettext(UNNAMED) + who.removeprefix(UNNAMED)}
    if row["kind"] == SentenceKind.COUNT.value:
        row = row | {"text": translated_count(row["text"]) or row["text"]}
    return row
