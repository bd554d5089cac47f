"""Find the family names in a question that stand beside a cue such as a year, "et al." or "the paper by"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corpus_app.records import Reference
from qa_app.pipeline.question.source_words import (
    INITIALS,
    POSSESSIVE,
    WORDS,
    YEAR,
    Span,
    Token,
    is_in_titles,
    normal_words,
    publication_years,
)

YEAR_GAP = 4  # words between a name and its year
SHORT_NAME = 4  # letters; a shorter name counts only with a capital, one of this length in lower case only beside a cue
JOINING = frozenset({"and", "et"})
PARTICLES = frozenset({"dos", "de", "da", "van", "von", "del"})


@dataclass(frozen=True, slots=True)
class AuthorIndex:
    """The studies by their authors' family names, as normalised words."""

    authors: Mapping[tuple[str, ...], frozenset[str]]
    first_authors: Mapping[tuple[str, ...], frozenset[str]]
    by_id: Mapping[str, Reference]
    longest: int


@dataclass(slots=True)
class Mention:
    """One or more family names in a row, with the year beside them: token positions."""

    start: int
    end: int
    names: list[tuple[str, ...]] = field(default_factory=list)
    has_et_al: bool = False
    year: int | None = None


def index_authors(studies: Sequence[Reference]) -> AuthorIndex:
    authors: dict[tuple[str, ...], set[str]] = {}
    first: dict[tuple[str, ...], set[str]] = {}
    for study in studies:
        for place, author in enumerate(study.authors):
            family = tuple(normal_words(INITIALS.sub("", author)))
            for name in {family, family[1:] if family[:1] and family[0] in PARTICLES else family}:
                authors.setdefault(name, set()).add(study.study_id)
                if place == 0:
                    first.setdefault(name, set()).add(study.study_id)
    authors.pop((), None)
    return AuthorIndex(
        {name: frozenset(ids) for name, ids in authors.items()},
        {name: frozenset(ids) for name, ids in first.items()},
        {study.study_id: study for study in studies},
        max(map(len, authors), default=0),
    )


def held_mentions(tokens: Sequence[Token], index: AuthorIndex) -> Iterator[Mention]:
    """Yield family names of the corpus beside a cue, or with one anywhere if the name is no ordinary word."""
    has_cue = any(t.norm in WORDS["study"] or YEAR.fullmatch(t.norm) for t in tokens) or _has_et_al(tokens)
    place = 0
    while place < len(tokens):
        for length in range(min(index.longest, len(tokens) - place), 0, -1):
            name = tuple(t.norm for t in tokens[place : place + length])
            if name in index.authors and _is_mention(tokens, place, place + length, has_cue=has_cue):
                yield Mention(place, place + length, [name])
                place += length - 1
                break
        place += 1


def _is_mention(tokens: Sequence[Token], start: int, end: int, *, has_cue: bool) -> bool:
    token = tokens[start]
    is_capital = any(t.is_capital for t in tokens[start:end])
    letters = sum(len(t.norm) for t in tokens[start:end])
    if letters < SHORT_NAME and not is_capital:
        return False
    if token.norm in WORDS["ordinary"] and end - start == 1 and not is_capital:
        return _has_et_al(tokens[end : end + 2])
    if _has_adjacent_cue(tokens, start, end, is_capital=is_capital):
        return True
    is_plain = token.norm in WORDS["ordinary"] or (letters <= SHORT_NAME and not is_capital)
    return has_cue and not is_plain


def _has_adjacent_cue(tokens: Sequence[Token], start: int, end: int, *, is_capital: bool) -> bool:
    before = [t.norm for t in tokens[max(0, start - 2) : start]]
    after = [t.norm for t in tokens[end : end + 2]]
    return bool(
        _has_et_al(tokens[end : end + 2])
        or (after and (YEAR.fullmatch(after[0]) or after[0] in WORDS["study"] or after[0] in WORDS["says"]))
        or (after[:1] == ["and"] and any(YEAR.fullmatch(t.norm) for t in tokens[end + 2 : end + 4]))
        or (tokens[end - 1].is_possessive and any(word in WORDS["study"] or YEAR.fullmatch(word) for word in after))
        or before == ["according", "to"]
        or (before[-1:] == ["by"] and is_capital)
        or (before[-1:] == ["from"] and before[0] in WORDS["study"] | WORDS["thing"])
        or (before[-1:] == ["did"] and any(t.norm in WORDS["says"] for t in tokens[end : end + 2]))
    )


def unknown_mentions(tokens: Sequence[Token], index: AuthorIndex) -> Iterator[Mention]:
    """Yield names that no study has, each beside a cue that only a source has, with the names right after."""
    for place in range(len(tokens)):
        is_led = _has_et_al(tokens[place + 1 : place + 3]) and tokens[place].norm not in WORDS["not_names"]
        if not is_led and not (_can_be_name(tokens, place, index) and _has_source_cue(tokens, place, index)):
            continue
        end = place + 1
        while end < len(tokens) and _is_next_word(tokens, end) and _can_be_name(tokens, end, index):
            end += 1
        is_given_name = end < len(tokens) and _is_next_word(tokens, end) and _is_held_name(tokens[end], index)
        if not is_given_name:
            yield Mention(place, end, [tuple(token.norm for token in tokens[place:end])])


def _is_next_word(tokens: Sequence[Token], place: int) -> bool:
    return tokens[place].start == tokens[place - 1].end + 1


def _is_held_name(token: Token, index: AuthorIndex) -> bool:
    return token.is_capital and (token.norm,) in index.authors


def _can_be_name(tokens: Sequence[Token], place: int, index: AuthorIndex) -> bool:
    token = tokens[place]
    return (
        token.is_capital
        and not any(letter.isdigit() for letter in token.text)
        and token.norm not in WORDS["not_names"]
        and (token.norm,) not in index.authors
        and not is_in_titles(token.norm, index.by_id.values())
    )


def _has_source_cue(tokens: Sequence[Token], place: int, index: AuthorIndex) -> bool:
    after = [t.norm for t in tokens[place + 1 : place + 5]]
    before = [t.norm for t in tokens[max(0, place - 4) : place]]
    is_cited = bool(after and YEAR.fullmatch(after[0]))
    is_by = before[-1:] == ["by"] and not (WORDS["study"] | WORDS["thing"]).isdisjoint(before)
    is_possessive = tokens[place].is_possessive and (
        after[:1] and (after[0] in WORDS["study"] or (YEAR.fullmatch(after[0]) and after[1:2] != []))
    )
    is_according = before[-2:] == ["according", "to"]
    return bool(is_cited or is_by or is_possessive or is_according or _is_of_pair(tokens, place, index))


def _is_of_pair(tokens: Sequence[Token], place: int, index: AuthorIndex) -> bool:
    """Whether the name is one of "X and Y" with a year or a kind of study beside it."""
    for first in (place - 2, place):
        if first < 0 or first + 2 >= len(tokens) or tokens[first + 1].norm not in JOINING:
            continue
        other = first if first < place else first + 2
        is_name = tokens[other].is_capital and (tokens[other].norm,) in index.authors
        if (is_name or _can_be_name(tokens, other, index)) and _pair_is_cited(tokens, first):
            return True
    return False


def _pair_is_cited(tokens: Sequence[Token], first: int) -> bool:
    """Whether "X and Y" is followed by a year or soon by a kind of study, or is after "the study by"."""
    before = [t.norm for t in tokens[max(0, first - 4) : first]]
    after = [t.norm for t in tokens[first + 3 : first + 6]]
    is_by = before[-1:] == ["by"] and not WORDS["study"].isdisjoint(before)
    return is_by or bool(after and (YEAR.fullmatch(after[0]) or not WORDS["study"].isdisjoint(after)))


def _has_et_al(tokens: Sequence[Token]) -> bool:
    words = [t.norm for t in tokens]
    return any(first in JOINING and then in WORDS["others"] for first, then in pairwise(words))


def merge_mentions(mentions: Iterable[Mention], tokens: Sequence[Token]) -> list[Mention]:
    """Join names in a row into one mention and give each the year beside it."""
    merged: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: m.start):
        last = merged[-1] if merged else None
        if last and mention.start < last.end:
            continue
        if last and all(t.norm in JOINING for t in tokens[last.end : mention.start]) and not last.has_et_al:
            last.end, last.names = mention.end, last.names + mention.names
        else:
            last = mention
            merged.append(last)
        if _has_et_al(tokens[last.end : last.end + 2]):
            last.end, last.has_et_al = last.end + 2, True
    years = publication_years(tokens)
    for mention in merged:
        near = [
            (max(mention.start - place - 1, place - mention.end, 0), place)
            for place in years
            if -YEAR_GAP <= place - mention.end <= YEAR_GAP or 0 < mention.start - place <= YEAR_GAP + 1
        ]
        if near or (len(years) == len(merged) == 1):
            place = min(near)[1] if near else next(iter(years))
            mention.year = years[place]
            if place == mention.end:
                mention.end += 1
    return merged


def studies_of(mention: Mention, index: AuthorIndex, *, prefer_first: bool) -> list[str]:
    """Return the studies by all of the names and of the year; those of the first author if preferred and there are any."""
    groups = [index.authors.get(name, frozenset()) for name in mention.names]
    ids = frozenset.intersection(*groups)
    if mention.year is not None:
        ids = frozenset(i for i in ids if index.by_id[i].year == mention.year)
    led = ids & index.first_authors.get(mention.names[0], frozenset())
    chosen = led if (led and prefer_first) or mention.has_et_al else ids
    return sorted(chosen)


def write_mention(mention: Mention, tokens: Sequence[Token], text: str) -> tuple[str, Span]:
    """Return the mention as written, with its year, and the span to cut from the question."""
    start, end = tokens[mention.start].start, tokens[mention.end - 1].end
    tail = text[end : end + len(text[end:]) - len(text[end:].lstrip(".)]"))]
    written = POSSESSIVE.sub("", text[start:end])
    if mention.year is not None and str(mention.year) not in written:
        written = f"{written} {mention.year}"
    is_closed = mention.has_et_al or ")" in tail
    return written, (start, end + (len(tail) if is_closed else 0))
