"""Turn the calibrated chance that the leading study answers into the confidence that readers see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Confidence

DOUBTED = "a language model found no answer in the passages, twice"
CLOSE_QUESTION = 0.75  # cosine to a curated question from which it asks the same


def assess(
    chance: float,
    signals: Mapping[str, float],
    missing: Sequence[str],
    version: str,
    policy: Policy,
    *,
    is_doubted: bool = False,
) -> Confidence:
    """Return the confidence for a calibrated chance, 0 to 1, with the reasons for and against it.

    `is_doubted` says that a language model found no answer in the passages, twice.
    """
    score = round(100 * chance * (policy.not_found_share if is_doubted else 1))
    label = "high" if score >= policy.confidence_high else "medium" if score >= policy.confidence_medium else "low"
    return Confidence(score, label, (*_reasons(signals, missing), *((DOUBTED,) if is_doubted else ())), version)


def _reasons(signals: Mapping[str, float], missing: Sequence[str]) -> list[str]:
    reasons = []
    if signals["leader_question_cosine"] >= CLOSE_QUESTION:
        reasons.append("a curated question asks the same")
    likely = int(signals["likely"])
    reasons.append(
        f"{likely} studies are likely to answer"
        if likely > 1
        else "one study stands out"
        if likely
        else "no study stands out"
    )
    reasons.append(
        "some words of the question stand in no cited study"
        if missing
        else "the cited studies use the question's words"
    )
    return reasons
