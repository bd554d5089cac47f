"""Alternatives: what a question sets against each other, and which studies compared that: weights and cardio, milk and soy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise, product

from corpus_app.records import Concept, Finding
from qa_app.pipeline.naming import DONE, MOST_NEIGHBOURS, VARIABLE, Names, find_name_spans, names
from qa_app.pipeline.records import Alternatives, Understanding
from qa_app.pipeline.text import corrected, words

NEAR = 4  # words at most between what joins two alternatives and a name
_OR = re.compile(r"\bor\b|/", re.IGNORECASE)
_THAN = re.compile(
    r"\b(?:vs\.?|versus|than|against|instead of|rather than|the way|same as|match(?:es)?|beats?)\b|\bas\b.*\bas\b",
    re.IGNORECASE,
)
_OF_BOTH = re.compile(r"\bcompar|\bdifferences? between\b|\bwhich (?:one|of)\b", re.IGNORECASE)
_NO_CHOICE = re.compile(
    r"\b(?:before or after|after or before|with or without|more or less|whether or not|or (?:not|so|both)\b)",
    re.IGNORECASE,
)
_MEANWHILE = re.compile(r"\b(?:while|when|during|after|before)\s+$", re.IGNORECASE)
# What one side did not have, or what both had: "protein without training", "no added protein", "milk after training".
_BESIDE = re.compile(r"\b(?:no|not|without|during|after|before|while)\b.*", re.IGNORECASE | re.DOTALL)


def find_alternatives(
    question: str, understanding: Understanding, findings: Sequence[Finding], named: Names
) -> dict[str, Alternatives]:
    """By study what its findings compared of the things that the question sets against each other and that people do or take.

    Of several findings of a study the one that says most. How the training is done counts beside what is done ("light loads with a
    cuff or heavy loads"), but not alone, nor beside what half of the corpus is about: heavy training is training.
    """
    asked = {concept.concept_id: concept for concept in understanding.concepts if concept.kind in DONE}
    found: dict[str, Alternatives] = {}
    if len(asked) < 2:
        return found
    chosen = _set_apart(corrected(question, understanding.corrections), understanding.concepts)
    if not chosen:
        return found
    for finding in findings:
        sides = (_BESIDE.sub("", side) for side in (finding.intervention, finding.comparator))
        one, other = (named.ids_in(side) & asked.keys() for side in sides)
        both = Alternatives(tuple(asked[i] for i in sorted(one - other)), tuple(asked[i] for i in sorted(other - one)))
        if not (_are_things(both) and any(pair in chosen for pair in _pairs(both))):
            continue
        known = found.get(finding.study_id)
        if known is None or both.rarity > known.rarity:
            found[finding.study_id] = both
    return found


def widest(found: Mapping[str, Alternatives], studies: Collection[str]) -> Alternatives | None:
    """Those of these studies that say most."""
    own = [sides for study_id, sides in found.items() if study_id in studies]
    return max(own, key=lambda sides: sides.rarity, default=None)


def are_told(sides: Alternatives, text: str) -> bool:
    """Whether a text names something of either side."""
    return all(any(names(text, concept) for concept in side) for side in (sides.one, sides.other))


def _set_apart(question: str, concepts: Sequence[Concept]) -> frozenset[frozenset[str]]:
    """Pairs of concepts, by their ids, that the question sets against each other: by what stands between them, as both
    compared, or as a list that ends so ("milk, soy or rice"). What it names more than once, both have ("diet and cardio or diet and weights").
    """
    said = _NO_CHOICE.sub(lambda match: " " * len(match[0]), question)
    spans = [span for span in find_name_spans(said, concepts) if span[2].kind in DONE]
    often = Counter(concept.concept_id for *_, concept in spans)
    spans = [span for span in spans if often[span[2].concept_id] == 1 and not _MEANWHILE.search(said[: span[0]])]
    things = [span for span in spans if span[2].kind != VARIABLE]
    is_of_both = bool(_OF_BOTH.search(said))
    return frozenset(
        frozenset((first.concept_id, second.concept_id))
        for (_, end, first), (begins, _, second) in (*pairwise(spans), *pairwise(things))
        if _are_apart(said[end:begins], said[begins:]) or is_of_both
    )


def _are_apart(between: str, rest: str) -> bool:
    """Whether what stands between two names sets one against the other; of a list, what follows."""
    if between.strip() == ",":
        return bool(_OR.search(rest))
    if joint := _OR.search(between):
        return max(len(words(between[: joint.start()])), len(words(between[joint.end() :]))) <= NEAR
    joint = _THAN.search(between)
    return joint is not None and len(words(between[joint.end() :])) <= NEAR


def _pairs(sides: Alternatives) -> list[frozenset[str]]:
    return [frozenset((one.concept_id, other.concept_id)) for one, other in product(sides.one, sides.other)]


def _are_things(sides: Alternatives) -> bool:
    """Whether something is done or taken on both sides, or on one of them that is more than training as such."""
    if not (sides.one and sides.other):
        return False
    one, other = ([c for c in side if c.kind != VARIABLE] for side in (sides.one, sides.other))
    return bool(one and other) or any(len(c.neighbours) <= MOST_NEIGHBOURS for c in (*one, *other))
