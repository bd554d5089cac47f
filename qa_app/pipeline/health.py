"""What all people of a study have, as far as its description says so: sarcopenia, obesity, diabetes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from corpus_app.records import Concept, Design, Study
from qa_app.pipeline.naming import CONDITION, find_name_spans, names, names_in, once_for_these
from qa_app.pipeline.text import words

OF_MANY = frozenset({Design.NARRATIVE_REVIEW, Design.POSITION_STAND, Design.GUIDELINE, Design.OTHER})
MOST_KEPT = 4_096  # descriptions
# Before a name: only some have it, or nobody, or others beside them.
_OF_SOME = re.compile(
    r"\b(?:some|many|most|mostly|mainly|few|part|partly|half|one|two|three|several|includ(?:ing|ed|es)|such as|like|without|no|not|neither|free of|"
    r"(?:at|high|low|raised|increased) risk|(?:studies|trials) in|sections? on|compared with|versus|regardless of|exclud(?:ing|ed)|except)\b"
    r"|\bnon-?\s*$|[%:]|\bhealthy\b(?! [\w-]*$)",
    re.IGNORECASE,
)
# After a name: others beside them.
_OR_NOT = re.compile(r"^\W*(?:or|and) (?:non\b|no\b|not\b|without|healthy|normal)", re.IGNORECASE)
_OTHERS_TOO = re.compile(
    r"\bneither\b|\b(?:people|men|women|adults|persons|patients|those) without\b|\b(?<!otherwise )healthy\b|\bcontrols?\b|\bfor comparison\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\W*$", re.IGNORECASE)


def find_conditions(people: str, concepts: Sequence[Concept]) -> tuple[Concept, ...]:
    """Conditions that the description of a study's people names as those of all of them, in order; when in doubt none.

    Of "older adults with sarcopenia, without major disease" sarcopenia; of "healthy or with obesity" and "older or frail adults" none.
    """
    return _finder(concepts)(people)


def find_unasked(
    studies: Sequence[Study], question: str, concepts: Sequence[Concept]
) -> dict[str, tuple[Concept, ...]]:
    """By study what all of its people have, of those of whom the question names nothing that they have.

    A narrative review, a position stand or a guideline tells of studies in other people, too.
    """
    found = {
        study.study_id: find_conditions(study.population, concepts) for study in studies if study.design not in OF_MANY
    }
    return {study_id: own for study_id, own in found.items() if own and not any(names(question, one) for one in own)}


def tells_of(text: str, conditions: Sequence[Concept], people: str) -> bool:
    """Whether a text names one of these conditions, by a single word or as the description of the people does.

    "Age-related loss of muscle" does not say that they have sarcopenia.
    """
    written = {name for condition in conditions for name in names_in(people, condition)}
    told = {name for condition in conditions for name in names_in(text, condition)}
    return any(name in written or len(words(name)) == 1 for name in told)


@once_for_these
def _finder(concepts: tuple[Concept, ...]) -> Callable[[str], tuple[Concept, ...]]:
    """Looks in a description for these; kept, since the same studies are read again and again."""

    @lru_cache(maxsize=MOST_KEPT)
    def find(people: str) -> tuple[Concept, ...]:
        found: dict[str, Concept] = {}
        for start, end, concept in find_name_spans(people, concepts):
            if concept.kind == CONDITION and _is_of_all(people[:start], people[end:], is_first=not found):
                found.setdefault(concept.concept_id, concept)
        return tuple(found.values())

    return find


def _is_of_all(before: str, after: str, *, is_first: bool) -> bool:
    """Whether what stands before and after the name of a condition leaves nobody out; "older or frail" does where nothing is found before."""
    is_a_choice = is_first and bool(_OR.search(before))
    return not (is_a_choice or _OF_SOME.search(before) or _OR_NOT.search(after) or _OTHERS_TOO.search(after))
