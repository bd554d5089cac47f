"""Template filters that translate the codes of checked claims."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as N_

register = template.Library()

VERDICTS = {
    "supported": N_("Supported"),
    "contradicted": N_("Contradicted"),
    "mixed": N_("Mixed"),
    "not_covered": N_("Not covered here"),
}
SENTENCES = {
    "supported": N_("A study here says the same."),
    "contradicted": N_("A study here says otherwise."),
    "mixed": N_("Some words here say the same, and some say otherwise."),
    "not_covered": N_("No study here addresses this claim. That does not make it true or false."),
    "other_people": N_("The studies here address this, but in other people than the claim is about."),
    "undecided": N_("The studies here are on this subject, but they neither say this nor deny it."),
}
CHIPS = {"supported": "yes", "contradicted": "no", "mixed": "depends", "not_covered": ""}
STANCES = {
    "supports": N_("Says the same"),
    "direction_mismatch": N_("Says otherwise: another direction"),
    "negation_mismatch": N_("Says otherwise: one of them denies it"),
    "number_mismatch": N_("Says otherwise: another figure"),
    "near": N_("Closest passages, neither for nor against"),
}
SKIPPED = {
    "question": N_("a question"),
    "too_short": N_("too short to be a claim"),
    "beyond_limit": N_("comes after the first fifty claims"),
}


@register.filter
def claim_verdict_words(verdict: object) -> str:
    return gettext(VERDICTS[str(verdict)])


@register.filter
def claim_chip(verdict: object) -> str:
    return CHIPS[str(verdict)]


@register.filter
def claim_sentence(row: dict[str, object]) -> str:
    """Return what a verdict means, with its note where it has one."""
    return gettext(SENTENCES[str(row["note"] or row["verdict"])])


@register.filter
def stance_on_claim(span: dict[str, object]) -> str:
    """Return whether words support or contradict a claim, and by what."""
    return gettext(STANCES[str(span["reason"] or span["stance"] or "near")])


@register.filter
def skipped_words(reason: object) -> str:
    return gettext(SKIPPED[str(reason)])
