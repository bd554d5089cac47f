"""An answer's codes in a reader's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()

OUTCOMES = {
    "answered": "Answered",
    "partial": "Partly answered",
    "conflicting": "The studies disagree",
    "insufficient_evidence": "No answer in these studies",
    "out_of_scope": "Outside these studies",
    "guardrail": "One for a professional",
}
OUTCOME_SENTENCES = {
    "answered": "Every sentence quotes a passage about a study; its number opens it.",
    "partial": "The studies answer part of this question; what they do not answer is left out.",
    "conflicting": "The studies do not all say the same; both sides are shown.",
    "insufficient_evidence": "The studies here do not answer this question, so InForm does not either.",
    "out_of_scope": "This question is not about what the studies here cover.",
    "guardrail": "InForm reports what studies found in general. It cannot advise one person about their health.",
}
STANCES = {
    "favours": "Found a benefit",
    "no_difference": "Found no clear difference",
    "against": "Found a disadvantage",
    "unclear": "Mixed or unclear",
}
STOOD = {
    "favours": "Benefit",
    "no_difference": "No clear difference",
    "against": "Disadvantage",
    "unclear": "Mixed or unclear",
}
LOSSES = {
    "part": "Part of this answer has lost its source.",
    "all_withdrawn": "All sources of this answer were withdrawn.",
    "all": "All sources of this answer were retracted or withdrawn.",
}
CHECKS = {
    "verbatim": "Word for word from the passage.",
    "supported": "Checked against the marked words: figures, direction and people agree.",
    "weak": "Only loosely supported by the marked words. Read them before relying on it.",
    "counted": "Counted from the findings recorded for each study.",
}
CONFIDENCES = {
    "high": "High",
    "medium": "Medium",
    "low": "Low",
}
REASONS = {
    "duplicate_location": "from a part of a study that is already shown",
    "near_duplicate": "says nearly the same as another",
    "study_cap": "its study is already shown often enough",
    "below_threshold": "too weak a match",
    "budget": "no room left after better matches",
    "unsupported": "the passages do not bear it out",
    "number_mismatch": "a figure does not agree with the passage",
    "direction_mismatch": "the direction does not agree with the passage",
    "negation_mismatch": "one says “not” and the other does not",
    "population_mismatch": "about other people than the passage",
    "unknown_citation": "cites a source that is not there",
}
STEPS = {
    "words": "Words in common",
    "meaning": "Closeness in meaning",
    "keywords": "Words of the question",
    "best sentence": "Its best sentence",
    "meaning for finding": "In place of a finding",
    "words for meaning": "Its words, until it is indexed",
    "section": "Part of the study asked for",
    "concepts": "Topics in common",
    "concept words": "Words for the study's topics",
    "leading studies": "About the same as the best studies",
    "design": "Kind of study",
    "beginner reader": "Fits a beginner",
    "intermediate reader": "Fits an intermediate reader",
    "recency": "The newer of equals",
    "linked": "Found through a related topic",
    "neighbouring concept": "Study of a related topic",
    "people asked about": "The people asked about",
    "numbers asked about": "The numbers asked about",
    "keyword hits first": "Words of the question first",
    "cross-encoder": "Read beside the question by a model",
    "llm reranker": "Read beside the question by a language model",
}
FINDING_STEP = re.compile(r"finding (\d+)")
LEGS = {"lexical": "By words", "dense": "By meaning", "linked": "By related topics"}
STAGES = {
    "total": "Altogether",
    "scope": "Checking the question",
    "understand": "Understanding it",
    "encode": "Turning it into numbers",
    "lexical": "Searching by words",
    "dense": "Searching by meaning",
    "linked": "Searching related topics",
    "rank": "Ranking",
    "rerank": "Ranking by a model",
    "summary": "Writing the summary",
    "answer": "Writing the answer",
    "verify": "Checking every sentence",
    "store": "Keeping the answer",
}
WRITERS = {
    "counted": "Counted from the studies’ own records",
    "extractive": "Sentences chosen from the passages, word for word",
    "llm": "Written by a language model from the passages, then checked sentence by sentence",
}
FALLBACKS = {
    "not_configured": "No language model is set up here, so the passages were quoted instead",
    "not_found": "The language model found no answer in the passages, so they were quoted instead",
    "unverified": "What the language model wrote could not be verified, so the passages were quoted instead",
    "quota_used_up": "As much as a language model may write for you for now is used up, so the passages were quoted instead",
    "spend_limit": "The day's limit for the language model is reached, so the passages were quoted instead",
    "timeout": "The language model did not answer in time, so the passages were quoted instead",
}
FALLBACK = "The language model did not answer, so the passages were quoted instead"


@register.filter
def stance_words(value: object) -> str:
    return STANCES.get(str(value), "")


@register.filter
def stood_words(value: object) -> str:
    """The same for a finding, as short as a table has it."""
    return STOOD.get(str(value), "")


@register.filter
def titled(study_ids: Iterable[str], titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Those of the studies whose titles may be shown: id and title."""
    return [(study_id, titles[study_id]) for study_id in study_ids if study_id in titles]


@register.filter
def outcome_words(value: object) -> str:
    return OUTCOMES.get(str(value), str(value).replace("_", " "))


@register.filter
def outcome_sentence(value: object) -> str:
    return OUTCOME_SENTENCES.get(str(value), "")


@register.filter
def loss_words(value: object) -> str:
    return LOSSES.get(str(value), "")


@register.filter
def check_words(verdict: object) -> str:
    return CHECKS.get(str(verdict), "")


@register.filter
def confidence_words(label: object) -> str:
    return CONFIDENCES.get(str(label), str(label))


@register.filter
def reason_words(value: object) -> str:
    return REASONS.get(str(value), str(value).replace("_", " "))


@register.filter
def step_words(value: object) -> str:
    if match := FINDING_STEP.fullmatch(str(value)):
        return f"Finding {match[1]} of its study"
    return STEPS.get(str(value), str(value).replace("_", " ").capitalize())


@register.filter
def effect_words(step: Mapping[str, Any]) -> str:
    """What a step did to a passage's rank: `+0.12` added, `×2` multiplied; a tie-break has no size."""
    effect, value = str(step.get("effect", "")), step.get("value")
    if effect.startswith("x"):
        return "×" + effect.removeprefix("x").removesuffix(".0")
    if effect in {"+", "-"} and isinstance(value, int | float):
        return f"{'−' if value < 0 or effect == '-' else '+'}{abs(value):.2f}"
    return "" if effect == "tie-break" else effect


@register.filter
def steps_listed(because: Iterable[Mapping[str, Any]]) -> SafeString:
    """The steps of a passage's rank as the rows of a list: a page has hundreds of them."""
    steps = ((step_words(step["step"]), effect_words(step)) for step in because)
    return format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", steps)


@register.filter
def leg_words(value: object) -> str:
    return LEGS.get(str(value), str(value))


@register.filter
def stage_words(value: object) -> str:
    return STAGES.get(str(value), str(value).replace("_", " ").capitalize())


@register.filter
def writer_words(value: object) -> str:
    return WRITERS.get(str(value), str(value))


@register.filter
def fallback_words(reason: object) -> str:
    return FALLBACKS.get(str(reason), FALLBACK)


@register.filter
def name_of(value: Any) -> str:
    """A term's text or a concept's name."""
    return str(value.get("name") or value.get("id") or "") if isinstance(value, Mapping) else str(value)


@register.filter
def moment(value: object) -> datetime | None:
    """An ISO 8601 text as a time that the date filter takes; None where it is none."""
    try:
        return parse_datetime(str(value or ""))
    except ValueError:
        return None
