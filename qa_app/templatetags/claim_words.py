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
    "other_language": N_("Not in English"),
}
SENTENCES = {
    "supported": N_("A study here says the same."),
    "contradicted": N_("A study here says otherwise."),
    "mixed": N_("Some words here say the same, and some say otherwise."),
    "not_covered": N_("No study here addresses this claim. That does not make it true or false."),
    "other_people": N_("The studies here address this, but in other people than the claim is about."),
    "other_language": N_(
        "This site understands claims in English only, the language of its studies. So this says nothing about what "
        "the studies hold. Please check it in English."
    ),
    "no_advice": N_(
        "This claim says what should be done. Results neither prove nor refute that, and no study here advises for or "
        "against it."
    ),
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
def claim_verdict_words(row: dict[str, object]) -> str:
    """Return the verdict on a claim in a word or two; of one in another language, that it is not in English."""
    return gettext(VERDICTS.get(str(row["note"])) or VERDICTS[str(row["verdict"])])


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
