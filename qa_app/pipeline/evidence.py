"""Evidence: which ranked passages the answer may use, and why the others may not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Candidate, Evidence, Finding, LeftOut, LeftOutReason, Question, Understanding
from qa_app.pipeline.text import jaccard, stem_set


def find_citable(ranked: Sequence[Candidate], *, understanding: Understanding, policy: Policy) -> frozenset[str]:
    """The studies that an answer may quote: the first, and those with a fair chance to bear on the question.

    Which study bears is another question than which passage comes close: a study that ranking puts first is worth more than
    a stray sentence of another one. The others stay evidence that readers may look at.
    """
    signals = study_signals(ranked, understanding=understanding)
    return frozenset(
        study_id
        for place, (study_id, values) in enumerate(signals.items())
        if place == 0 or _chance(values, policy) >= policy.cites_from
    )


def study_signals(ranked: Sequence[Candidate], *, understanding: Understanding) -> dict[str, dict[str, float]]:
    """What speaks for each study, those of the best passages first.

    cosine    the closest of its sentences or passages
    keywords  the largest share of the question's terms in one of its passages
    place     1 / rank
    score     its best score over the best of all
    """
    by_study: dict[str, list[Candidate]] = {}
    for candidate in ranked:
        by_study.setdefault(candidate.passage.study.study_id, []).append(candidate)
    best = max((c.score for c in ranked), default=0.0) or 1.0
    return {
        study_id: {
            "cosine": max(c.best_cosine for c in own),
            "keywords": max(c.keyword_hits for c in own) / max(1, len(understanding.terms)),
            "place": 1 / rank,
            "score": max(c.score for c in own) / best,
        }
        for rank, (study_id, own) in enumerate(by_study.items(), start=1)
    }


def _chance(values: Mapping[str, float], policy: Policy) -> float:
    model = policy.citing if values["cosine"] > 0 else policy.citing_by_words
    z = model.intercept + sum(weight * values[name] for name, weight in model.weights)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def location(candidate: Candidate, policy: Policy) -> tuple[str, object, int]:
    """Study, page (or section where pages are unknown), and a group of neighbouring positions."""
    passage = candidate.passage
    return passage.study.study_id, passage.page or passage.section, passage.position // policy.location_group


def select(
    ranked: Sequence[Candidate],
    *,
    question: Question,
    understanding: Understanding,
    policy: Policy,
    findings: Sequence[Finding] = (),
    citable: frozenset[str] | None = None,
) -> Evidence:
    """The best passages from different places, within the budget, and what their studies found.

    Raises InsufficientEvidence where no passage is left.
    """
    chosen: list[Candidate] = []
    words: list[frozenset[str]] = []
    left_out: list[LeftOut] = []
    for candidate in ranked:
        is_citable = citable is not None and candidate.passage.study.study_id in citable
        reason = _why_not(candidate, chosen, words, policy, is_citable=is_citable)
        if reason is None:
            chosen.append(candidate)
            words.append(stem_set(candidate.passage.text))
        else:
            left_out.append(
                LeftOut(
                    "passage",
                    reason[0],
                    reason[1],
                    candidate.passage.passage_id,
                    None,
                    candidate.passage.study.study_id,
                )
            )
    studies = {c.passage.study.study_id for c in chosen}
    found = tuple(finding for finding in findings if finding.study_id in studies)
    return Evidence(question, understanding, tuple(chosen), tuple(left_out), found, citable)


def _why_not(
    candidate: Candidate,
    chosen: Sequence[Candidate],
    words: Sequence[frozenset[str]],
    policy: Policy,
    *,
    is_citable: bool,
) -> tuple[LeftOutReason, str] | None:
    """Of a study that the answer may quote more is taken: what it says of the matter may stand in several passages."""
    cap = policy.passages_per_cited_study if is_citable else policy.passages_per_study
    study = candidate.passage.study.study_id
    per_study = Counter(c.passage.study.study_id for c in chosen)
    if len(chosen) >= policy.evidence_passages:
        return LeftOutReason.BUDGET, f"the {policy.evidence_passages} best passages were already chosen"
    if location(candidate, policy) in {location(c, policy) for c in chosen}:
        return LeftOutReason.DUPLICATE_LOCATION, "a better passage stands at the same place of this study"
    if per_study[study] >= cap:
        return LeftOutReason.STUDY_CAP, f"this study already gave {cap} passages"
    if study not in per_study and len(per_study) >= policy.evidence_studies:
        return LeftOutReason.BUDGET, f"the {policy.evidence_studies} best studies were already chosen"
    if chosen and not is_citable and candidate.bears < max(policy.bears_from, policy.bears_share * chosen[0].bears):
        return (
            LeftOutReason.BELOW_THRESHOLD,
            f"the chance that it bears on the question is only {candidate.bears} of 100",
        )
    own = stem_set(candidate.passage.text)
    if any(jaccard(own, other) >= policy.near_duplicate_jaccard for other in words):
        return LeftOutReason.NEAR_DUPLICATE, "a chosen passage says the same in almost the same words"
    return None
