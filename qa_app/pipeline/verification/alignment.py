"""Tell whether a sentence is what its source says, cut down or joined, with nothing that matters added or lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from qa_app.pipeline.records import LeftOutReason
from qa_app.pipeline.text import stem
from qa_app.pipeline.verification.reading import LISTS, RANGE_MARK, Kind, Token

NEAR_FROM = 0.55  # share of a sentence's tokens in order in the source, from which it counts as the source's words
SIGNIFICANCE = stem("significant")
_FIGURES = frozenset({Kind.NUMBER, Kind.UNIT, Kind.COMPARATOR})
_TURNING = frozenset({Kind.NEGATION, Kind.DIRECTION, Kind.POPULATION, Kind.GROUP, Kind.RESTRICTION, Kind.HEDGE})
_NOT_LAST = frozenset({Kind.PLACE, Kind.JOINT, Kind.RESTRICTION, Kind.COMPARATOR})
_PLAIN_JOINTS = LISTS["joint"] - {"or", "plus"}  # that join two statements and claim no more
_SENTENCE_NEGATIONS = frozenset("not no nor neither never none hardly scarcely barely nobody nothing".split())
_SUBORDINATORS = frozenset("although though while whereas despite because since as given after before when".split())
_FEW = frozenset("few fewer little some rarely seldom".split())
_SEPARATORS = frozenset(",;:()[]—")
_REASONS = (
    (_FIGURES, LeftOutReason.NUMBER_MISMATCH),
    (frozenset({Kind.NEGATION}), LeftOutReason.NEGATION_MISMATCH),
    (frozenset({Kind.DIRECTION}), LeftOutReason.DIRECTION_MISMATCH),
    (frozenset({Kind.POPULATION, Kind.GROUP}), LeftOutReason.POPULATION_MISMATCH),
)
Pair = tuple[int, int]
"""The place of a token in the sentence, and in the source."""
Cut = tuple[Sequence[Token], bool]
"""Tokens of the source that the sentence leaves out, and whether it may."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a sentence lies on a stretch of a source."""

    coverage: float
    """Share of the sentence's tokens that stand in the same order in the source."""
    reason: LeftOutReason | None
    """Why it is not what the source says; None where it is."""
    words: tuple[str, ...] = ()
    """The words that differ."""

    @property
    def is_near(self) -> bool:
        return self.coverage >= NEAR_FROM


def fit(claim: Sequence[Token], first: Sequence[Token], second: Sequence[Token] = ()) -> Fit:
    """Compare a sentence with one sentence of a source, or with two neighbouring ones."""
    source = (*first, *second)
    matcher = SequenceMatcher(None, [t.key for t in claim], [t.key for t in source], autojunk=False)
    pairs = [(block.a + n, block.b + n) for block in matcher.get_matching_blocks() for n in range(block.size)]
    if not pairs:
        return Fit(0.0, LeftOutReason.UNSUPPORTED)
    cuts = _cuts(claim, source, len(first), pairs)
    different = _added(claim, len(first), pairs) or next((cut for cut, is_harmless in cuts if not is_harmless), ())
    reason = _reason(different) if different else None
    return Fit(len(pairs) / len(claim), reason, tuple(token.word for token in different))


def _added(claim: Sequence[Token], border: int, pairs: Sequence[Pair]) -> Sequence[Token]:
    """Return the tokens that the source lacks, but for a plain joint where two pieces meet."""
    places = dict(pairs)
    added = []
    for place, token in enumerate(claim):
        if place in places or token.kind is Kind.ASIDE:
            continue
        before, after = places.get(place - 1), places.get(place + 1)
        is_joint = before is not None and after is not None and (after > before + 1 or after == border)
        if not (is_joint and token.word in _PLAIN_JOINTS):
            added.append(token)
    return added


def _cuts(claim: Sequence[Token], source: Sequence[Token], border: int, pairs: Sequence[Pair]) -> Iterator[Cut]:
    """Yield what the sentence leaves out; the second sentence of the source begins at `border`."""
    first, last = pairs[0][1], pairs[-1][1]
    yield from _head(source, border if first >= border else 0, first)
    for left, right in pairwise(pairs):
        before, after = left[1], right[1]
        if before < border <= after:
            has_room = min(sum(p <= left for p in pairs), sum(p >= right for p in pairs)) >= 3
            yield source[before + 1 : after] or source[after : after + 1], has_room and _is_joined(claim, left, right)
            yield from _tail(source, before, border)
            yield from _head(source, border, after)
        elif after > before + 1:
            yield source[before + 1 : after], _is_inner_harmless(source, before, after)
    yield from _tail(source, last, len(source) if last >= border else border)


def _is_joined(claim: Sequence[Token], left: Pair, right: Pair) -> bool:
    """Tell whether a mark or a joint stands between two sentences set side by side."""
    between = claim[left[0] + 1 : right[0]]
    gap = "".join(token.gap for token in (*between, claim[right[0]]))
    return any(t.kind is Kind.JOINT for t in between) or any(mark in gap for mark in (*",;:.—", "- "))


def _head(source: Sequence[Token], start: int, first: int) -> Iterator[Cut]:
    """Yield what stands before the first word kept: a phrase up to a comma, a joint, or "we found that"."""
    if first > start:
        yield source[start:first], _is_head_harmless(source[start:first], source[first])


def _is_head_harmless(dropped: Sequence[Token], kept: Token) -> bool:
    if all(t.kind is Kind.ASIDE or t.word in _PLAIN_JOINTS for t in dropped):
        return True
    if {kept.word, dropped[-1].word} & {"or", "nor"} or _is_listed([*dropped, kept], len(dropped)):
        return False
    if any(t.word in LISTS["doubt"] | {"if", "unless", "whether", "neither"} for t in dropped):
        return False
    is_clause = dropped[-1].kind is Kind.JOINT or kept.kind is Kind.JOINT or ";" in kept.gap
    is_apart = is_clause or not _SEPARATORS.isdisjoint(kept.gap)
    stands_alone = is_apart and not kept.opens and kept.kind is not Kind.PLACE
    # A negation within one word concerns that word alone: "with unchanged diet, ..."
    if any(t.kind is Kind.NEGATION and not (stands_alone and t.word.startswith(("un", "in"))) for t in dropped):
        is_opened = dropped[0].word in _SUBORDINATORS or dropped[0].word == "without"
        return is_apart and (is_clause or is_opened or _is_statement(dropped, kept))
    if kept.reported:
        return not any(t.kind in {Kind.HEDGE, Kind.RESTRICTION} or _says_few(t) for t in dropped)
    return is_apart


def _is_listed(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a cut before `place` parts figures that belong together: "31 | and 101", "12 | kg", "12, | 14"."""
    before, after = tokens[place - 1], tokens[place]
    if set("([;" + RANGE_MARK) & set(after.gap):
        return False
    if after.kind is Kind.JOINT and "," not in after.gap and place + 1 < len(tokens):
        return before.kind in _FIGURES and tokens[place + 1].kind is Kind.NUMBER
    if before.kind is Kind.JOINT and place > 1:
        return tokens[place - 2].kind in _FIGURES and after.kind is Kind.NUMBER
    if "," in after.gap and before.kind is Kind.UNIT:
        return False
    return before.kind in _FIGURES and after.kind in _FIGURES


def _is_statement(dropped: Sequence[Token], kept: Token) -> bool:
    """Tell whether what is cut off says something of its own and ends at its comma: "Diet was not controlled, ..."."""
    if kept.opens or kept.kind in {Kind.PLACE, Kind.DIRECTION}:
        return False
    return all(
        token.word == "not" and 0 < n < len(dropped) - 1 and _SEPARATORS.isdisjoint(dropped[n + 1].gap)
        for n, token in enumerate(dropped)
        if token.kind is Kind.NEGATION
    )


def _tail(source: Sequence[Token], last: int, end: int) -> Iterator[Cut]:
    """Yield what stands behind the last word kept: a phrase from a comma, a joint or a preposition on."""
    if end > last + 1:
        yield source[last + 1 : end], _is_tail_harmless(source[last], source[last + 1 : end])


def _is_tail_harmless(kept: Token, dropped: Sequence[Token]) -> bool:
    head = dropped[0]
    is_apart = not _SEPARATORS.isdisjoint(head.gap)
    if all(t.kind is Kind.ASIDE for t in dropped):
        return True
    if not is_apart and (kept.kind in _NOT_LAST or kept.word in LISTS["modal"] | _SENTENCE_NEGATIONS):
        return False
    if _is_listed([kept, *dropped], 1):
        return False
    if ";" not in head.gap and (_is_restricted(dropped) or any(t.word in LISTS["doubt"] for t in dropped)):
        return False
    if head.kind is Kind.PLACE and any(map(_says_few, dropped[1:2])):
        return False  # "in few trials", "in 0 of 12 trials"
    negated = [place for place, t in enumerate(dropped) if t.word in _SENTENCE_NEGATIONS]
    if negated and not _is_negation_apart(dropped, negated[0], is_apart=is_apart):
        return False
    opens = head.kind in {Kind.JOINT, Kind.PLACE} or head.word == "without" or RANGE_MARK in head.gap
    return is_apart or head.opens or opens


def _says_few(token: Token) -> bool:
    return token.word in _FEW or token.key in {"<", "≤", "0"}


def _is_restricted(dropped: Sequence[Token]) -> bool:
    """Tell whether a tail begins with a condition: "if ...", ", but only in men" (not: ", and only three trials")."""
    for place, token in enumerate(dropped[:3]):
        if token.kind is Kind.RESTRICTION and token.word != "whether":
            is_count = token.word == "only" and dropped[0].kind is not Kind.PLACE and 0 < place < len(dropped) - 1
            if not is_count or dropped[place + 1].kind is Kind.PLACE:
                return True
    return False


def _is_negation_apart(dropped: Sequence[Token], place: int, *, is_apart: bool) -> bool:
    """Tell whether the first negation of a tail belongs to the tail alone: a clause, or ", with no change in ..."."""
    head = dropped[0]
    if head.word in {"but", "although", "though", "yet"} and _is_on_significance(dropped):
        return False  # "rose, but not significantly" does not say that it rose
    if place == 1 and head.word == "with":
        return True
    if place == 1 and head.kind is Kind.JOINT:
        is_elsewhere = len(dropped) > 2 and dropped[2].kind is Kind.PLACE  # ", but not in women"
        return is_apart and (dropped[1].word in {"no", "none"} or is_elsewhere)
    if head.kind is Kind.JOINT or ";" in head.gap:
        return True
    return any(t.opens for t in dropped[: place + 1]) or (head.kind is Kind.PLACE and place > 2)


def _is_on_significance(tokens: Sequence[Token]) -> bool:
    return any(stem(token.word) == SIGNIFICANCE for token in tokens)


def _is_inner_harmless(source: Sequence[Token], before: int, after: int) -> bool:
    """Tell whether asides, brackets, or what stands between two commas may go.

    Where the words around a gap repeat, it may as well begin earlier or later: "unfolded (and freed) and moved".
    """
    places = [(before, after)]
    while places[-1][0] > 0 and source[places[-1][0]].key == source[places[-1][1] - 1].key:
        places.append((places[-1][0] - 1, places[-1][1] - 1))
    places.append((before, after))
    while places[-1][1] + 1 < len(source) and source[places[-1][0] + 1].key == source[places[-1][1]].key:
        places.append((places[-1][0] + 1, places[-1][1] + 1))
    return any(_can_go(source[first + 1 : last], source[last].gap) for first, last in places)


def _can_go(dropped: Sequence[Token], closing: str) -> bool:
    if all(token.kind is Kind.ASIDE for token in dropped):
        return True
    opening = dropped[0].gap
    if ("(" in opening and ")" in closing) or ("[" in opening and "]" in closing):
        is_negated = any(token.kind is Kind.NEGATION for token in dropped)
        return not is_negated or (dropped[0].kind is not Kind.NEGATION and not _is_on_significance(dropped))
    is_between = all(set(",—") & set(gap) for gap in (opening, closing)) or (" - " in opening and " - " in closing)
    return is_between and not any(t.kind in _TURNING for t in dropped)


def _reason(tokens: Sequence[Token]) -> LeftOutReason:
    """Return the reason by the kinds of the words that differ, figures first."""
    if any(character.isdigit() for token in tokens for character in token.key):
        return LeftOutReason.NUMBER_MISMATCH
    kinds = {token.kind for token in tokens}
    return next((reason for these, reason in _REASONS if kinds & these), LeftOutReason.UNSUPPORTED)
