"""Template filters that translate an answer's codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from django import template
from django.template.defaultfilters import floatformat
from django.utils import formats
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as N_

register = template.Library()

OUTCOMES = {
    "answered": N_("Answered"),
    "partial": N_("Partly answered"),
    "conflicting": N_("The studies disagree"),
    "insufficient_evidence": N_("No answer in these studies"),
    "out_of_scope": N_("Outside these studies"),
    "guardrail": N_("One for a professional"),
}
OUTCOME_SENTENCES = {
    "answered": N_("Every sentence is tied to the exact words of a passage. Select its number to read them."),
    "partial": N_("The studies answer part of this question; what they do not answer is left out."),
    "conflicting": N_("The studies do not all say the same; both sides are shown."),
    "insufficient_evidence": N_("The studies here do not answer this question, so there is no answer."),
    "out_of_scope": N_("This question is not about what the studies here cover."),
    "guardrail": N_("This site reports what its sources say. It cannot advise one person."),
}
STANCES = {
    "favours": N_("Found a benefit"),
    "no_difference": N_("Found no clear difference"),
    "against": N_("Found a disadvantage"),
    "unclear": N_("Mixed or unclear"),
}
COUNTED_SIDES = {
    "for": N_("%(n)s found a benefit"),
    "without_difference": N_("%(n)s found no clear difference"),
    "against": N_("%(n)s found a disadvantage"),
    "favours": N_("%(n)s found a benefit"),
    "no_difference": N_("%(n)s found no clear difference"),
    "unclear": N_("%(n)s mixed or unclear"),
}
SHORT_STANCES = {
    "favours": N_("Benefit"),
    "no_difference": N_("No clear difference"),
    "against": N_("Disadvantage"),
    "unclear": N_("Mixed or unclear"),
}
LOSSES = {
    "part": N_("Part of this answer has lost its source."),
    "all_withdrawn": N_("All sources of this answer were withdrawn."),
    "all": N_("All sources of this answer were retracted or withdrawn."),
}
CHECKS = {
    "verbatim": N_("Word for word from the passage."),
    "supported": N_("Checked against the marked words: figures, direction and groups agree."),
    "weak": N_("Only loosely supported by the marked words. Read them before relying on it."),
    "counted": N_("Counted from the findings recorded for each study."),
}
CONFIDENCES = {
    "high": N_("Very likely"),
    "medium": N_("Likely"),
    "low": N_("Uncertain"),
}
SURENESS = {
    "low": N_("May not fit your question"),
}
VERDICTS = {
    "yes": N_("Yes"),
    "no": N_("No"),
    "no_clear_difference": N_("No clear difference"),
    "depends": N_("It depends"),
}
STRENGTHS = {
    "high": N_("high"),
    "moderate": N_("moderate"),
    "low": N_("low"),
    "very_low": N_("very low"),
}
OPENING = re.compile(r"(?<![(\[“‘])[(\[“‘]+$")
CLOSING = re.compile(r"^[)\],.;:!?”’%]+")
REASONS = {
    "duplicate_location": N_("from a part of a study that is already shown"),
    "near_duplicate": N_("says nearly the same as another"),
    "hangs": N_("cannot be understood without the text before it"),
    "study_cap": N_("its study is already shown often enough"),
    "below_threshold": N_("too weak a match"),
    "budget": N_("no room left after better matches"),
    "unsupported": N_("the passages do not support it"),
    "number_mismatch": N_("a figure does not agree with the passage"),
    "direction_mismatch": N_("the direction does not agree with the passage"),
    "negation_mismatch": N_("one says “not” and the other does not"),
    "population_mismatch": N_("about another group than the passage"),
    "unknown_citation": N_("cites a source that is not there"),
}
STEPS = {
    "relevance": N_("Chance that its study answers the question"),
    "words": N_("Words in common"),
    "meaning": N_("Closeness in meaning"),
    "section": N_("Part of the study asked for"),
    "beginner reader": N_("Fits a beginner"),
    "intermediate reader": N_("Fits an intermediate reader"),
    "recency": N_("The newer of equals"),
    "neighbouring concept": N_("Study of a related topic"),
    "keyword hits first": N_("Words of the question first"),
    "cross-encoder": N_("Read beside the question by a model"),
    "llm reranker": N_("Read beside the question by a language model"),
}
PLACES = re.compile(r"(?<=\d) to (?=\d)")
LEGS = {"lexical": N_("By words"), "dense": N_("By meaning"), "linked": N_("By related topics")}
STAGES = {
    "total": N_("Altogether"),
    "scope": N_("Checking the question"),
    "understand": N_("Understanding it"),
    "encode": N_("Turning it into numbers"),
    "lexical": N_("Searching by words"),
    "dense": N_("Searching by meaning"),
    "linked": N_("Searching related topics"),
    "rank": N_("Ranking"),
    "rerank": N_("Ranking by a model"),
    "summary": N_("Writing the summary"),
    "answer": N_("Writing the answer"),
    "verify": N_("Checking every sentence"),
    "store": N_("Keeping the answer"),
}
WRITERS = {
    "counted": N_("Counted from the records of the studies"),
    "extractive": N_("Sentences chosen from the passages, word for word"),
    "llm": N_("Written by a language model from the passages, then checked sentence by sentence"),
}
FALLBACKS = {
    "not_configured": N_("No language model is set up here, so the passages were quoted instead"),
    "not_found": N_("The language model found no answer in the passages, so they were quoted instead"),
    "unverified": N_("What the language model wrote could not be verified, so the passages were quoted instead"),
    "quota_used_up": N_(
        "Your share of answers by the language model is used up for now, so the passages were quoted instead"
    ),
    "spend_limit": N_("The day's limit for the language model is reached, so the passages were quoted instead"),
    "too_long": N_("The passages are too long for the language model, so they were quoted instead"),
    "timeout": N_("The language model did not answer in time, so the passages were quoted instead"),
}
FALLBACK = N_("The language model did not answer, so the passages were quoted instead")

MODES = {"beginner": N_("Beginner"), "intermediate": N_("Intermediate")}
CONFIDENCE_REASONS = frozenset(
    {
        N_("one study is cited"),
        N_("search by meaning was not available"),
        N_("a passage comes very close to the question"),
        N_("no passage comes very close to the question"),
        N_("not every word of the question stands in the evidence"),
        N_("every word of the question stands in the evidence"),
        N_("a part of the question stays open"),
        N_("search by words and by meaning agree on the best study"),
        N_("a curated question asks the same"),
        N_("one study stands out"),
        N_("no study stands out"),
        N_("some words of the question stand in no cited study"),
        N_("the cited studies use the question's words"),
        N_("a language model found no answer in the passages, twice"),
    }
)
STUDIES_CITED = re.compile(r"(\d+) studies are cited")
STUDIES_LIKELY = re.compile(r"(\d+) studies are likely to answer")
SCOPES = frozenset(
    {
        N_("Only this collection was searched."),
        N_("This collection was searched first, then all the others, and they hold no answer either."),
        N_("This collection holds too little on the question, so all the others were searched too."),
    }
)


@register.filter
def stance_words(value: object) -> str:
    return gettext(STANCES.get(str(value), ""))


@register.filter
def short_stance_words(value: object) -> str:
    """Return the short label of a stance, for tables."""
    return gettext(SHORT_STANCES.get(str(value), ""))


@register.filter
def titled(study_ids: Iterable[str], titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return id and title of the studies whose titles may be shown."""
    return [(study_id, titles[study_id]) for study_id in study_ids if study_id in titles]


@register.filter
def outcome_words(value: object) -> str:
    return gettext(OUTCOMES.get(str(value), str(value).replace("_", " ")))


@register.filter
def outcome_sentence(value: object) -> str:
    return gettext(OUTCOME_SENTENCES.get(str(value), ""))


@register.filter
def loss_words(value: object) -> str:
    return gettext(LOSSES.get(str(value), ""))


@register.filter
def check_words(verdict: object) -> str:
    return gettext(CHECKS.get(str(verdict), ""))


@register.filter
def confidence_words(label: object) -> str:
    return gettext(CONFIDENCES.get(str(label), str(label)))


@register.filter
def sureness_words(label: object) -> str:
    """Return a confidence as a phrase of its own."""
    return gettext(SURENESS.get(str(label), str(label)))


@register.filter
def verdict_words(verdict: object) -> str:
    return gettext(VERDICTS.get(str(verdict), ""))


@register.simple_tag
def verdict_choices() -> list[tuple[str, str]]:
    """Return every shown verdict with its label."""
    return [(verdict, gettext(words)) for verdict, words in VERDICTS.items()]


@register.filter
def sides_words(counts: Iterable[tuple[str, int]]) -> str:
    """Return how many studies had which result, by sides of a headline or stances of a meter: `3 found a benefit`."""
    return ", ".join(gettext(COUNTED_SIDES[side]) % {"n": n} for side, n in counts)


@register.filter
def counts_words(counts: Sequence[tuple[str, int]]) -> str:
    """Return the results with the number of studies: `Of 5 studies: 3 found a benefit, 2 mixed or unclear`."""
    total = gettext("Of %(n)s studies:") % {"n": sum(n for _, n in counts)}
    return f"{total} {sides_words(counts)}"


@register.filter
def source_of(paragraph: Iterable[Any], sources: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the one source that a paragraph quotes; None where there are several, or it is withdrawn."""
    quoted = {index for sentence in paragraph for index in sentence.markers}
    found = [source for source in sources if source["index"] in quoted and source.get("status") != "withdrawn"]
    return found[0] if len(quoted) == len(found) == 1 else None


@register.filter
def strength_words(level: object) -> str:
    return gettext(STRENGTHS.get(str(level), str(level).replace("_", " ")))


@register.filter
def stretches(words: Sequence[Any]) -> list[tuple[str, str, str, Any]]:
    """Return a sentence's stretches: opening bracket, text, closing punctuation, term.

    A term is a button, around which a browser may break the line; so adjacent punctuation moves into its stretch.
    """
    return [_stretch(words, place) for place in range(len(words))]


def _stretch(words: Sequence[Any], place: int) -> tuple[str, str, str, Any]:
    word = words[place]
    before = words[place - 1] if place else None
    after = words[place + 1] if place + 1 < len(words) else None
    if word.term:
        opening = OPENING.search(before.text) if before and not before.term else None
        closing = CLOSING.search(after.text) if after and not after.term else None
        return (opening[0] if opening else "", word.text, closing[0] if closing else "", word.term)
    text = OPENING.sub("", word.text) if after and after.term else word.text
    text = CLOSING.sub("", text) if before and before.term else text
    return ("", text, "", None)


@register.filter
def reason_words(value: object) -> str:
    return gettext(REASONS.get(str(value), str(value).replace("_", " ")))


@register.filter
def step_words(value: object) -> str:
    return gettext(STEPS.get(str(value), str(value).replace("_", " ").capitalize()))


@register.filter
def effect_words(step: Mapping[str, Any]) -> str:
    """Return a step's effect on a passage's rank.

    `+0.12` was added, `×2` multiplied, `0.63` is its size, `3 → 1` its move; a tie-break has none.
    """
    effect, value = str(step.get("effect", "")), step.get("value")
    if effect.startswith("x"):
        return "×" + effect.removeprefix("x").removesuffix(".0")
    if effect in {"+", "-"} and isinstance(value, int | float):
        return f"{'−' if value < 0 or effect == '-' else '+'}{abs(value):.2f}"
    if effect == "=" and isinstance(value, int | float):
        return f"{value:.2f}".removesuffix(".00")
    return "" if effect == "tie-break" else PLACES.sub(" → ", effect)


@register.filter
def steps_listed(because: Iterable[Mapping[str, Any]]) -> SafeString:
    """Render the ranking steps of a passage as list rows; in Python, since a page has hundreds."""
    point = str(formats.get_format("DECIMAL_SEPARATOR"))
    rows = (
        f"<div><dt>{escape(step_words(step['step']))}</dt>"
        f"<dd>{escape(effect_words(step).replace('.', point))}</dd></div>"
        for step in because
    )
    return mark_safe("".join(rows))  # noqa: S308 - every word of it is escaped


@register.filter
def short_number(value: object) -> str:
    """Format a number as `floatformat` does, with a shortcut for small integers."""
    return str(value) if type(value) is int and 0 <= value < 1_000 else str(floatformat(value))


@register.filter
def leg_words(value: object) -> str:
    return gettext(LEGS.get(str(value), str(value)))


@register.filter
def has_people(rows: Iterable[Any]) -> bool:
    """Tell whether a row of the table of findings says who, or how many, were studied."""
    studies = [row.study for row in rows]
    return any(study.population or study.participants is not None or study.included_studies for study in studies)


@register.filter
def stage_words(value: object) -> str:
    return gettext(STAGES.get(str(value), str(value).replace("_", " ").capitalize()))


@register.filter
def uncapital(words: str) -> str:
    """Return the words with a small first letter, for use inside a sentence."""
    return words[:1].lower() + words[1:]


@register.filter
def mode_words(mode: object) -> str:
    return gettext(MODES.get(str(mode), str(mode).capitalize()))


@register.filter
def confidence_reason_words(reason: object) -> str:
    """Translate a stored reason for a confidence; an unknown wording stays as it is."""
    if match := STUDIES_CITED.fullmatch(str(reason)):
        return ngettext("%(n)s study is cited", "%(n)s studies are cited", int(match[1])) % {"n": match[1]}
    if match := STUDIES_LIKELY.fullmatch(str(reason)):
        words = ngettext("%(n)s study is likely to answer", "%(n)s studies are likely to answer", int(match[1]))
        return words % {"n": match[1]}
    return gettext(str(reason)) if reason in CONFIDENCE_REASONS else str(reason)


@register.filter
def scope_words(detail: object) -> str:
    """Translate a stored note on the searched scope."""
    return gettext(str(detail)) if detail in SCOPES else str(detail or "")


@register.filter
def left_out_words(group: Any) -> str:
    """Return the number of what was left out: `3 passages`."""
    if group.what == "sentence":
        return ngettext("%(n)s sentence", "%(n)s sentences", group.count) % {"n": group.count}
    if group.what == "passage":
        return ngettext("%(n)s passage", "%(n)s passages", group.count) % {"n": group.count}
    return f"{group.count} {group.what}{'' if group.count == 1 else 's'}"


@register.filter
def writer_words(value: object) -> str:
    return gettext(WRITERS.get(str(value), str(value)))


@register.filter
def fallback_words(reason: object) -> str:
    return gettext(FALLBACKS.get(str(reason), FALLBACK))


@register.filter
def name_of(value: Any) -> str:
    """Return a term's text or a concept's name."""
    return str(value.get("name") or value.get("id") or "") if isinstance(value, Mapping) else str(value)


@register.filter
def value_of(key: str, values: Mapping[str, str]) -> str:
    """Return the value of a key; empty where there is none."""
    return values.get(key, "")


@register.filter
def moment(value: object) -> datetime | None:
    """Parse an ISO 8601 text for the date filter; None where it is invalid."""
    try:
        return parse_datetime(str(value or ""))
    except ValueError:
        return None
