"""Check that a shortened or joined quotation adds, omits and moves nothing that changes its source's meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from qa_app.pipeline.records import LeftOutReason
from qa_app.pipeline.text import stem
from qa_app.pipeline.verification.lexicon import DOUBTS, MODALS, PLAIN_JOINTS, SIGNIFICANCE, SUBORDINATORS, Kind
from qa_app.pipeline.verification.reading import RANGE_MARK, Token

BREAK = "¶"  # in the gap of the first token of the second sentence of a window
NEAR_FROM = 0.55
"""Share of a sentence's tokens, in order, from which it counts as taken from the source."""
_FIGURES = frozenset({Kind.NUMBER, Kind.UNIT, Kind.COMPARATOR})
_MEANING_KINDS = frozenset({Kind.NEGATION, Kind.DIRECTION, Kind.POPULATION, Kind.GROUP, Kind.RESTRICTION, Kind.HEDGE})
_NOT_LAST = frozenset({Kind.PLACE, Kind.JOINT, Kind.RESTRICTION, Kind.COMPARATOR})
_SENTENCE_NEGATIONS = frozenset("not no nor neither never none hardly scarcely barely nobody nothing".split())
_BLOCKS_HEAD = frozenset("if unless whether neither".split())
_FEW = frozenset("few fewer little some rarely seldom".split())
_NEGATIVE = ("un", "in")  # of one word alone: "with unchanged intensity, ..."
_SEPARATES = frozenset(",;:()[]—¶")
_REASONS = (
    (frozenset(_FIGURES), LeftOutReason.NUMBER_MISMATCH),
    (frozenset({Kind.NEGATION}), LeftOutReason.NEGATION_MISMATCH),
    (frozenset({Kind.DIRECTION}), LeftOutReason.DIRECTION_MISMATCH),
    (frozenset({Kind.POPULATION, Kind.GROUP}), LeftOutReason.POPULATION_MISMATCH),
)


@dataclass(frozen=True, slots=True)
class Fit:
    """The alignment of a sentence with a stretch of a source."""

    coverage: float
    """Share of the sentence's tokens that occur in the same order in the source."""
    reason: LeftOutReason | None
    """Why the sentence differs from the source; None where it agrees."""
    words: tuple[str, ...] = ()
    """The words that differ."""

    @property
    def is_near(self) -> bool:
        return self.coverage >= NEAR_FROM


def fit(claim: Sequence[Token], source: Sequence[Token]) -> Fit:
    """Align the claim with one sentence, or two neighbouring ones with a BREAK between them."""
    if not claim:
        return Fit(0.0, LeftOutReason.UNSUPPORTED)
    pairs = _aligned(claim, source)
    coverage = len(pairs) / len(claim)
    if not pairs:
        return Fit(0.0, LeftOutReason.UNSUPPORTED)
    added = _added(claim, source, pairs)
    if added:
        return Fit(coverage, _reason(added), tuple(token.word for token in added))
    for dropped, is_harmless in _dropped(claim, source, pairs):
        if not is_harmless:
            return Fit(coverage, _reason(dropped), tuple(token.word for token in dropped))
    return Fit(coverage, None)


def window(first: Sequence[Token], second: Sequence[Token]) -> tuple[Token, ...]:
    """Join two neighbouring sentences into one stretch."""
    if not second:
        return tuple(first)
    head = second[0]
    opening = Token(head.key, head.kind, BREAK + head.gap, head.word, head.reported, head.opens)
    return (*first, opening, *second[1:])


def _aligned(claim: Sequence[Token], source: Sequence[Token]) -> list[tuple[int, int]]:
    matcher = SequenceMatcher(None, [t.key for t in claim], [t.key for t in source], autojunk=False)
    return [(block.a + n, block.b + n) for block in matcher.get_matching_blocks() for n in range(block.size)]


def _added(claim: Sequence[Token], source: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> list[Token]:
    """Return the claim's tokens that the source lacks, except a plain conjunction where two pieces meet."""
    places = dict(pairs)
    added = []
    for place, token in enumerate(claim):
        if place in places:
            continue
        before, after = places.get(place - 1), places.get(place + 1)
        joins = before is not None and after is not None and (after > before + 1 or BREAK in source[after].gap)
        if not (joins and token.word in PLAIN_JOINTS and token.kind is Kind.JOINT) and token.kind is not Kind.ASIDE:
            added.append(token)
    return added


def _dropped(
    claim: Sequence[Token], source: Sequence[Token], pairs: Sequence[tuple[int, int]]
) -> Iterable[tuple[list[Token], bool]]:
    """Yield each stretch that the claim omits, and whether omitting it is harmless."""
    first, last = pairs[0][1], pairs[-1][1]
    yield from _head(source, _sentence_start(source, first), first)
    for (left, before), (right, after) in pairwise(pairs):
        breaks = [place for place in range(before + 1, after + 1) if BREAK in source[place].gap]
        if breaks:
            yield from _joined(claim, source, (left, before), (right, after), breaks[0], pairs)
        elif after > before + 1:
            yield list(source[before + 1 : after]), _is_inner_harmless(source, before, after)
    yield from _tail(source, last, _sentence_end(source, last))


def _sentence_start(source: Sequence[Token], place: int) -> int:
    return max((p for p in range(place + 1) if BREAK in source[p].gap), default=0)


def _sentence_end(source: Sequence[Token], place: int) -> int:
    return min((p for p in range(place + 1, len(source)) if BREAK in source[p].gap), default=len(source))


def _joined(
    claim: Sequence[Token],
    source: Sequence[Token],
    left: tuple[int, int],
    right: tuple[int, int],
    cut: int,
    pairs: Sequence[tuple[int, int]],
) -> Iterable[tuple[list[Token], bool]]:
    """Check two joined sentences: each piece has three tokens or more, with a mark or a conjunction between them."""
    between = claim[left[0] + 1 : right[0]]
    gap = claim[right[0]].gap + "".join(token.gap for token in between)
    has_joint = (
        any(token.kind is Kind.JOINT for token in between) or any(mark in gap for mark in ",;:.—") or "- " in gap
    )
    pieces = sum(p[1] <= left[1] for p in pairs), sum(p[1] >= right[1] for p in pairs)
    whole = list(source[left[1] + 1 : right[1]])
    yield whole or [source[right[1]]], has_joint and min(pieces) >= 3
    yield from _tail(source, left[1], cut)
    yield from _head(source, cut, right[1])


def _head(source: Sequence[Token], start: int, first: int) -> Iterable[tuple[list[Token], bool]]:
    """Yield the stretch omitted before the first aligned word, such as "we found that", if any."""
    if first > start:
        dropped = list(source[start:first])
        yield dropped, _is_head_harmless(dropped, source[first])


def _is_head_harmless(dropped: Sequence[Token], aligned: Token) -> bool:
    if all(t.kind is Kind.ASIDE or (t.kind is Kind.JOINT and t.word in PLAIN_JOINTS) for t in dropped):
        return True
    if {aligned.word, dropped[-1].word} & {"or", "nor"}:
        return False
    if any(t.word in _BLOCKS_HEAD | DOUBTS for t in dropped) or _is_listed([*dropped, aligned], len(dropped)):
        return False
    is_clause = dropped[-1].kind is Kind.JOINT or aligned.kind is Kind.JOINT or ";" in aligned.gap
    is_apart = is_clause or bool(_SEPARATES & set(aligned.gap))
    stands_alone = is_apart and not aligned.opens and aligned.kind is not Kind.PLACE
    if any(t.kind is Kind.NEGATION and not (stands_alone and t.word.startswith(_NEGATIVE)) for t in dropped):
        opens_apart = dropped[0].word in SUBORDINATORS or dropped[0].word == "without"
        return is_apart and (is_clause or opens_apart or _is_statement(dropped, aligned))
    if aligned.reported:
        return not any(t.kind in {Kind.HEDGE, Kind.RESTRICTION} or _says_few(t) for t in dropped)
    return is_apart


def _is_listed(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a cut before `place` divides a list of figures: "31 | and 101", "12 | kg", "12, | 14 and 16"."""
    before, after = tokens[place - 1], tokens[place]
    if set("([;") & set(after.gap) or RANGE_MARK in after.gap:
        return False
    if after.kind is Kind.JOINT and "," not in after.gap and place + 1 < len(tokens):
        return before.kind in _FIGURES and tokens[place + 1].kind is Kind.NUMBER
    if before.kind is Kind.JOINT and place > 1:
        return tokens[place - 2].kind in _FIGURES and after.kind is Kind.NUMBER
    if "," in after.gap and before.kind is Kind.UNIT:
        return False
    return before.kind in _FIGURES and after.kind in _FIGURES


def _is_statement(dropped: Sequence[Token], aligned: Token) -> bool:
    """Tell whether the omitted head is a statement of its own, up to a comma: "Light was not controlled, ..."."""
    if aligned.opens or aligned.kind in {Kind.PLACE, Kind.DIRECTION}:
        return False
    denied = [n for n, t in enumerate(dropped) if t.kind is Kind.NEGATION]
    return all(
        dropped[n].word == "not" and 0 < n < len(dropped) - 1 and not _SEPARATES & set(dropped[n + 1].gap)
        for n in denied
    )


def _tail(source: Sequence[Token], last: int, end: int) -> Iterable[tuple[list[Token], bool]]:
    """Yield the stretch omitted after the last aligned word, if any."""
    if end > last + 1:
        dropped = list(source[last + 1 : end])
        yield dropped, _is_tail_harmless(source[last], dropped)


def _is_tail_harmless(aligned: Token, dropped: Sequence[Token]) -> bool:
    head = dropped[0]
    is_apart = bool(_SEPARATES & set(head.gap))
    if all(t.kind is Kind.ASIDE for t in dropped):
        return True
    if _is_listed([aligned, *dropped], 1) or (
        not is_apart and (aligned.kind in _NOT_LAST or aligned.word in MODALS | _SENTENCE_NEGATIONS)
    ):
        return False
    if ";" not in head.gap and (_is_restricted(dropped) or any(t.word in DOUBTS for t in dropped)):
        return False
    if head.kind is Kind.PLACE and any(_says_few(t) for t in dropped[1:2]):
        return False  # "in few trials", "in 0 of 12 trials"
    negated = [place for place, t in enumerate(dropped) if t.word in _SENTENCE_NEGATIONS]
    if negated and not _is_negation_apart(dropped, negated[0], is_apart=is_apart):
        return False
    opens = head.kind in {Kind.JOINT, Kind.PLACE} or head.word == "without" or RANGE_MARK in head.gap
    return is_apart or head.opens or opens


def _says_few(token: Token) -> bool:
    return token.word in _FEW or token.key in {"<", "≤", "0"}


def _is_restricted(dropped: Sequence[Token]) -> bool:
    """Tell whether a tail begins with a condition: "if ...", ", but only in men", not ", and only three trials"."""
    for place, token in enumerate(dropped[:3]):
        if token.kind is not Kind.RESTRICTION or token.word == "whether":
            continue
        follows = dropped[place + 1] if place + 1 < len(dropped) else None
        is_count = token.word == "only" and dropped[0].kind is not Kind.PLACE and place > 0
        is_count = is_count and follows is not None and follows.kind is not Kind.PLACE
        if not is_count:
            return True
    return False


def _is_negation_apart(dropped: Sequence[Token], place: int, *, is_apart: bool) -> bool:
    """Tell whether the first negation of a tail applies to the tail alone, as in ", with no change in ..."."""
    head = dropped[0]
    if head.word in {"but", "although", "though", "yet"} and any(stem(t.word) in SIGNIFICANCE for t in dropped):
        return False  # "rose, but not significantly" does not say that it rose
    if dropped[place - 1].word == "with" and place == 1:
        return True
    if head.kind is Kind.JOINT and place == 1:
        is_elsewhere = len(dropped) > place + 1 and dropped[place + 1].kind is Kind.PLACE  # ", but not in women"
        return is_apart and (dropped[1].word in {"no", "none"} or is_elsewhere)
    if head.kind is Kind.JOINT or ";" in head.gap:
        return True
    return any(t.opens for t in dropped[: place + 1]) or (head.kind is Kind.PLACE and place > 2)


def _is_inner_harmless(source: Sequence[Token], before: int, after: int) -> bool:
    """Tell whether an inner stretch is an aside, a bracket or a phrase between commas that changes no meaning.

    Where the words around a gap repeat, it may begin earlier or later: "unfolded (and freed) and moved".
    """
    places = [(before, after)]
    while before > 0 and source[before].key == source[after - 1].key:
        before, after = before - 1, after - 1
        places.append((before, after))
    before, after = places[0]
    while after + 1 < len(source) and source[before + 1].key == source[after].key:
        before, after = before + 1, after + 1
        places.append((before, after))
    return any(_is_removable(source[first + 1 : last], source[last].gap) for first, last in places)


def _is_removable(dropped: Sequence[Token], closing: str) -> bool:
    if all(token.kind is Kind.ASIDE for token in dropped):
        return True
    opening = dropped[0].gap
    denied = [place for place, t in enumerate(dropped) if t.kind is Kind.NEGATION]
    if ("(" in opening and ")" in closing) or ("[" in opening and "]" in closing):
        return not denied or (denied[0] > 0 and not any(stem(t.word) in SIGNIFICANCE for t in dropped))
    is_between = (bool(set(",—") & set(opening)) and bool(set(",—") & set(closing))) or (
        " - " in opening and " - " in closing
    )
    return is_between and not any(t.kind in _MEANING_KINDS for t in dropped)


def _reason(tokens: Sequence[Token]) -> LeftOutReason:
    """Return the reason by the kinds of the words that differ, figures first."""
    kinds = {token.kind for token in tokens}
    if any(character.isdigit() for token in tokens for character in token.key):
        return LeftOutReason.NUMBER_MISMATCH
    for these, reason in _REASONS:
        if kinds & these:
            return reason
    return LeftOutReason.UNSUPPORTED
