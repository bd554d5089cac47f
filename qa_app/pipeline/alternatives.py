"""Alternatives: what a question sets against each other, and which studies compared that: weights and cardio, milk and soy. And what it
only holds equal between them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, product

from corpus_app.records import Concept, Finding
from qa_app.pipeline.naming import DONE, MOST_NEIGHBOURS, VARIABLE, Names, find_name_spans, names
from qa_app.pipeline.records import Alternatives, Understanding
from qa_app.pipeline.text import corrected, words

NameSpan = tuple[int, int, Concept]  # code points, end exclusive
NEAR = 4  # words at most between what joins two alternatives and a name
_OR = re.compile(r"(?<!and/)\bor\b|^\s*/\s*$", re.IGNORECASE)
_THAN = re.compile(
    r"\b(?:vs\.?|versus|than(?! (?:\d|the age|age))|(?<!protect )(?<!protects )(?<!guard )against|instead of|rather than|the way|same as|match(?:es)?|beats?)\b"
    r"|\bas\b.*\bas\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*as well as\b", re.IGNORECASE)
_COMMA = re.compile(r"\s*(?:only|alone|just)?\s*,\s*(?:just|only)?\s*", re.IGNORECASE)
_LIST_GOES_ON = re.compile(r"(?:\W|only|alone|just)*\bor\b", re.IGNORECASE)
_OF_BOTH = re.compile(
    r"\bcompar\w*\b(?! (?:when|if|while|(?:to|with) (?:(?:a|the) )?(?:placebos?|controls?|(?:doing )?nothing|no|not|without|before)\b))"
    r"|\bdifferences? between\b|\bwhich (?:one|of)\b",
    re.IGNORECASE,
)
_NO_CHOICE = re.compile(
    r"\b(?:before or after|after or before|first,? or|with or without|more or less|whether or not|or (?:not|so)\b|as long as)",
    re.IGNORECASE,
)
_IN_ORDER = re.compile(r"\W*(?:first|last)\b", re.IGNORECASE)
_MEANWHILE = re.compile(r"\b(?:while|when|during|after|before)\s+$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<!\bvs)[.?!]+(?:\s|$)", re.IGNORECASE)
# What one side did not have, or what it was beside: "protein without training", "no added protein", "milk after training".
_LACKING = re.compile(r"\b(?:no|not|without)\b.*", re.IGNORECASE | re.DOTALL)
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
    chosen = find_set_apart(question, understanding)
    if not chosen:
        return found
    for finding in findings:
        sides = (finding.intervention, finding.comparator)
        one, other = (named.ids_in(_BESIDE.sub("", side)) & asked.keys() for side in sides)
        had, other_had = (named.ids_in(_LACKING.sub("", side)) for side in sides)
        both = Alternatives(
            tuple(asked[i] for i in sorted(one - other_had)), tuple(asked[i] for i in sorted(other - had))
        )
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
    """Whether a text names something of both sides."""
    return all(any(names(text, concept) for concept in side) for side in (sides.one, sides.other))


def find_set_apart(question: str, understanding: Understanding) -> frozenset[frozenset[str]]:
    """Pairs of concepts, by their ids, that the question sets against each other: by what stands between them, as both
    compared, or in a list ("milk, soy or rice"). What a sentence names more than once, both have ("diet and cardio or diet and weights").
    """
    said = corrected(question, understanding.corrections)
    said = _NO_CHOICE.sub(lambda match: " " * len(match[0]), said)
    spans = [span for span in find_name_spans(said, understanding.concepts) if span[2].kind in DONE]
    often = Counter(_place(said, span) for span in spans)
    spans = [span for span in spans if often[_place(said, span)] == 1 and not _MEANWHILE.search(said[: span[0]])]
    things = [span for span in spans if span[2].kind != VARIABLE]
    return frozenset(
        frozenset((one[2].concept_id, other[2].concept_id))
        for row in (*_rows(said, spans), *_rows(said, things))
        for one, other in combinations(row, 2)
        if one[2] is not other[2]
    )


def _place(said: str, span: NameSpan) -> tuple[str, int]:
    """A concept and the sentence that names it."""
    return span[2].concept_id, len(_SENTENCE_END.findall(said[: span[0]]))


def _rows(said: str, spans: Sequence[NameSpan]) -> Iterator[list[NameSpan]]:
    """Names that the question sets against each other one after another."""
    is_of_both = bool(_OF_BOTH.search(said))
    row: list[NameSpan] = []
    is_choice = False  # until then commas make a list of anything
    for span in spans:
        between = said[row[-1][1] : span[0]] if row else ""
        is_listed = bool(_COMMA.fullmatch(between))
        if not (row and (is_of_both or is_listed or _are_apart(between))):
            yield from _chosen(said, row, is_choice)
            row, is_choice = [], False
        row.append(span)
        is_choice |= len(row) > 1 and (is_of_both or not is_listed)
    yield from _chosen(said, row, is_choice)


def _chosen(said: str, row: list[NameSpan], is_choice: bool) -> Iterator[list[NameSpan]]:
    """The names, if one is to be chosen of them: by what joins them, or since they go on to an "or" ("milk, soy or both"). What to do first is
    no such choice.
    """
    rest = said[row[-1][1] :] if len(row) > 1 else ""
    if (is_choice or _LIST_GOES_ON.match(rest)) and not _IN_ORDER.match(rest):
        yield row


def _are_apart(between: str) -> bool:
    """Whether what stands between two names sets one against the other."""
    if _AND.match(between):
        return False
    joint = _OR.search(between)
    if joint is not None:
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


def asked_and_held_equal(
    question: str, understanding: Understanding
) -> tuple[tuple[Concept, ...], tuple[Concept, ...]]:
    """The variables of training that a question asks about, and those that it only holds equal: "the same weekly sets"."""
    said = corrected(question, understanding.corrections)
    variables = tuple(concept for concept in understanding.concepts if concept.kind == VARIABLE)
    spans = find_name_spans(said, variables)
    asked = {c.concept_id: c for start, end, c in spans if not _is_held_equal(said, start, end)}
    held = {c.concept_id: c for _, _, c in spans if c.concept_id not in asked}
    return tuple(asked.values()), tuple(held.values())


def _is_held_equal(said: str, start: int, end: int) -> bool:
    """Whether what stands there is only the same on both sides: "the same weekly sets", "if volume is equated"."""
    return bool(_ALIKE_BEFORE.search(said, 0, start) or _ALIKE_AFTER.match(said, end))


_ALIKE = r"(?:equal(?:ly)?|equated|equali[sz]ed|matched|identical|constant|fixed|(?:the |a )?same)"
_ALIKE_BEFORE = re.compile(
    rf"\b{_ALIKE}(?:[\s-]+(?:total|weekly|daily|training|overall|number|amount|of))*[\s-]+$", re.IGNORECASE
)
_ALIKE_AFTER = re.compile(
    rf"(?:[\s-]+(?:is|are|was|were|being|held|kept|be|per week))*[\s-]+{_ALIKE}\b(?! (?:as|for))", re.IGNORECASE
)
