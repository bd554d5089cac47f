"""Alternatives: which of the things that a question names its studies set against each other: weights and cardio, milk and soy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from corpus_app.records import Concept, Finding
from qa_app.pipeline.naming import DONE, MOST_NEIGHBOURS, VARIABLE, Names, names
from qa_app.pipeline.records import Understanding


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What stands on either side of a comparison, of the concepts that a question names; neither side is empty."""

    one: tuple[Concept, ...]
    other: tuple[Concept, ...]

    @property
    def rarity(self) -> float:
        """How much both sides tell together."""
        return math.fsum(concept.rarity for concept in (*self.one, *self.other))

    def are_told(self, text: str) -> bool:
        """Whether a text names something of either side."""
        return all(any(names(text, concept) for concept in side) for side in (self.one, self.other))


def find_alternatives(
    understanding: Understanding, findings: Sequence[Finding], named: Names
) -> dict[str, Alternatives]:
    """By study what its findings set against each other of the things that the question names and that people do or take.

    Of several findings of a study the one that says most. How the training is done counts beside what is done ("light loads with a
    cuff or heavy loads"), but not alone, nor beside what half of the corpus is about: heavy training is training.
    """
    asked = {concept.concept_id: concept for concept in understanding.concepts if concept.kind in DONE}
    found: dict[str, Alternatives] = {}
    if len(asked) < 2:
        return found
    for finding in findings:
        one, other = (named.ids_in(side) & asked.keys() for side in (finding.intervention, finding.comparator))
        both = Alternatives(tuple(asked[i] for i in sorted(one - other)), tuple(asked[i] for i in sorted(other - one)))
        if not _are_things(both):
            continue
        known = found.get(finding.study_id)
        if known is None or both.rarity > known.rarity:
            found[finding.study_id] = both
    return found


def _are_things(sides: Alternatives) -> bool:
    """Whether something is done or taken on both sides, or on one of them that is more than training as such."""
    one, other = ([c for c in side if c.kind != VARIABLE] for side in (sides.one, sides.other))
    if not (sides.one and sides.other):
        return False
    return bool(one and other) or any(len(c.neighbours) <= MOST_NEIGHBOURS for c in (*one, *other))
