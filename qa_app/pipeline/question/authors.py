"""Find the family names in a question next to a cue such as a year, "et al." or "the paper by"."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corpus_app.records import Reference
from qa_app.pipeline.lexicon import Span, language_table
from qa_app.pipeline.text import EMPTY_WORDS, stem

YEAR_GAP = 4  # words between a name and its year
SHORT_NAME = (
    4  # letters; a shorter name counts only with a capital, one of this length in lower case only next to a cue
)
JOINING = frozenset({"and", "et"})
PARTICLES = frozenset({"dos", "de", "da", "van", "von", "del"})
_WITH_EMPTY_WORDS = frozenset({"ordinary", "not_names"})
WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(table["words"]) | (EMPTY_WORDS if name in _WITH_EMPTY_WORDS else frozenset())
    for name, table in language_table("sources").items()
}
_STEMS = {name: frozenset(map(stem, WORDS[name])) for name in ("study", "says", "statement", "issued")}
YEAR = re.compile(r"(?:19|20)\d\d")
POSSESSIVE = re.compile(r"['’]s?$")
INITIALS = re.compile(r"(?<!\s)\s+[A-Z][A-Z.\-]{0,5}$")
"""Of an author's given names, after the family name."""
ACRONYM = re.compile(r"[A-Z]{3,6}")
_TOKEN = re.compile(r"&|[^\W_]+(?:['’][^\W_]+)*['’]?")

# --- Words ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuestionToken:
    """A word with its capitals, its normal form and its code points in the text (`end` exclusive)."""

    text: str
    norm: str
    start: int
    end: int
    is_possessive: bool

    @property
    def is_capital(self) -> bool:
        return self.text[:1].isupper() and not ACRONYM.fullmatch(self.text)


def tokenise(text: str, cuts: Sequence[Span]) -> list[QuestionToken]:
    """Split a text into words, without those that touch a cut."""
    found = []
    for match in _TOKEN.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in cuts):
            bare = POSSESSIVE.sub("", match[0])
            found.append(QuestionToken(bare, _normal(bare), *match.span(), bare != match[0]))
    return found


def _normal(word: str) -> str:
    if word == "&":
        return "and"
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c) and c not in "'’")


def normal_words(text: str) -> list[str]:
    return [_normal(POSSESSIVE.sub("", word)) for word in _TOKEN.findall(text)]


def is_in_titles(word: str, studies: Iterable[Reference]) -> bool:
    return any(word in study.title.casefold() and word in normal_words(study.title) for study in studies)


def _norms(tokens: Sequence[QuestionToken], start: int, end: int) -> list[str]:
    return [token.norm for token in tokens[max(0, start) : max(0, end)]]


def is_cue(word: str, *lists: str) -> bool:
    """Tell whether some form of a word is in one of the lists "study", "says", "statement" and "issued"."""
    return any(stem(word) in _STEMS[name] for name in lists)


def _is_study_or_year(word: str) -> bool:
    return is_cue(word, "study") or YEAR.fullmatch(word) is not None


def _is_publication(word: str) -> bool:
    return is_cue(word, "study") or word in WORDS["thing"]


def _has_et_al(tokens: Sequence[QuestionToken], start: int = 0, end: int | None = None) -> bool:
    words = [token.norm for token in tokens[start:end]]
    return any(first in JOINING and then in WORDS["others"] for first, then in pairwise(words))


def _publication_years(tokens: Sequence[QuestionToken]) -> dict[int, int]:
    """Return publication years by their place; the ends of a range are none."""
    found = {}
    for place, token in enumerate(tokens):
        before, after = "".join(_norms(tokens, place - 1, place)), "".join(_norms(tokens, place + 1, place + 2))
        is_end = before == "to" or after in {"to", "until", "onwards"}
        if YEAR.fullmatch(token.norm) and before not in WORDS["range"] and not is_end:
            found[place] = int(token.norm)
    return found


# --- Names ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AuthorIndex:
    """The studies by their authors' family names, as normalised words."""

    authors: Mapping[tuple[str, ...], set[str]]
    first_authors: Mapping[tuple[str, ...], set[str]]
    by_id: Mapping[str, Reference]
    longest: int


@dataclass(slots=True)
class AuthorMention:
    """One or more family names in a row, with the year next to them, as token positions."""

    start: int
    end: int
    names: list[tuple[str, ...]] = field(default_factory=list)
    has_et_al: bool = False
    year: int | None = None


def index_authors(studies: Sequence[Reference]) -> AuthorIndex:
    """Index the studies by family name, with and without a particle."""
    authors, first = defaultdict[tuple[str, ...], set[str]](set), defaultdict[tuple[str, ...], set[str]](set)
    for study in studies:
        for place, author in enumerate(study.authors):
            family = tuple(normal_words(INITIALS.sub("", author)))
            for name in {family, family[1:] if family[:1] and family[0] in PARTICLES else family} - {()}:
                authors[name].add(study.study_id)
                if place == 0:
                    first[name].add(study.study_id)
    by_id = {study.study_id: study for study in studies}
    return AuthorIndex(dict(authors), dict(first), by_id, max(map(len, authors), default=0))


def known_mentions(tokens: Sequence[QuestionToken], index: AuthorIndex) -> Iterator[AuthorMention]:
    """Yield family names of the corpus next to a cue, or with one anywhere if the name is no ordinary word."""
    has_cue = any(_is_study_or_year(token.norm) for token in tokens) or _has_et_al(tokens)
    place = 0
    while place < len(tokens):
        for length in range(min(index.longest, len(tokens) - place), 0, -1):
            name = tuple(_norms(tokens, place, place + length))
            if name in index.authors and _is_mention(tokens, place, place + length, has_cue=has_cue):
                yield AuthorMention(place, place + length, [name])
                place += length - 1
                break
        place += 1


def can_be_author(tokens: Sequence[QuestionToken], place: int) -> bool:
    """Tell whether a word may be of an author's name: an ordinary word needs a capital, or "et al." after it."""
    token = tokens[place]
    is_unusual = token.is_capital or token.norm not in WORDS["ordinary"]
    return is_unusual or _has_et_al(tokens, place + 1, place + 3)


def _is_mention(tokens: Sequence[QuestionToken], start: int, end: int, *, has_cue: bool) -> bool:
    is_capital = any(token.is_capital for token in tokens[start:end])
    is_ordinary = tokens[start].norm in WORDS["ordinary"]
    letters = sum(map(len, _norms(tokens, start, end)))
    if letters < SHORT_NAME and not is_capital:
        return False
    if is_ordinary and end - start == 1 and not is_capital:
        return _has_et_al(tokens, end, end + 2)
    is_plain = is_ordinary or (letters <= SHORT_NAME and not is_capital)
    return _has_adjacent_cue(tokens, start, end, is_capital=is_capital) or (has_cue and not is_plain)


def _has_adjacent_cue(tokens: Sequence[QuestionToken], start: int, end: int, *, is_capital: bool) -> bool:
    before, after = _norms(tokens, start - 2, start), _norms(tokens, end, end + 2)
    following = after[0] if after else ""
    return (
        _has_et_al(tokens, end, end + 2)
        or _is_study_or_year(following)
        or is_cue(following, "says")
        or (following == "and" and any(YEAR.fullmatch(word) for word in _norms(tokens, end + 2, end + 4)))
        or (tokens[end - 1].is_possessive and any(map(_is_study_or_year, after)))
        or before == ["according", "to"]
        or (before[-1:] == ["by"] and is_capital)
        or (before[-1:] == ["from"] and _is_publication(before[0]))
        or (before[-1:] == ["did"] and any(is_cue(word, "says") for word in after))
    )


def unknown_mentions(tokens: Sequence[QuestionToken], index: AuthorIndex) -> Iterator[AuthorMention]:
    """Yield names that no study has, each next to a cue that only sources have, with the names right after."""
    for place in range(len(tokens)):
        is_led = _has_et_al(tokens, place + 1, place + 3) and tokens[place].norm not in WORDS["not_names"]
        if not is_led and not (_can_be_name(tokens[place], index) and _has_source_cue(tokens, place, index)):
            continue
        end = place + 1
        while end < len(tokens) and _is_next_word(tokens, end) and _can_be_name(tokens[end], index):
            end += 1
        is_given_name = end < len(tokens) and _is_next_word(tokens, end) and _is_known_name(tokens[end], index)
        if not is_given_name:
            yield AuthorMention(place, end, [tuple(_norms(tokens, place, end))])


def _is_next_word(tokens: Sequence[QuestionToken], place: int) -> bool:
    return tokens[place].start == tokens[place - 1].end + 1


def _is_known_name(token: QuestionToken, index: AuthorIndex) -> bool:
    return token.is_capital and (token.norm,) in index.authors


def _can_be_name(token: QuestionToken, index: AuthorIndex) -> bool:
    is_word = not any(letter.isdigit() for letter in token.text) and token.norm not in WORDS["not_names"]
    is_unknown = is_word and token.is_capital and (token.norm,) not in index.authors
    return is_unknown and not is_in_titles(token.norm, index.by_id.values())


def _has_source_cue(tokens: Sequence[QuestionToken], place: int, index: AuthorIndex) -> bool:
    before, after = _norms(tokens, place - 4, place), _norms(tokens, place + 1, place + 3)
    following = after[0] if after else ""
    is_cited = YEAR.fullmatch(following) is not None
    is_by = before[-1:] == ["by"] and any(map(_is_publication, before))
    is_possessive = tokens[place].is_possessive and is_cue(following, "study")
    return is_cited or is_by or is_possessive or before[-2:] == ["according", "to"] or _is_of_pair(tokens, place, index)


def _is_of_pair(tokens: Sequence[QuestionToken], place: int, index: AuthorIndex) -> bool:
    """Tell whether the name is one of "X and Y" with a year or a kind of study next to it."""
    for first in (place - 2, place):
        if first < 0 or first + 2 >= len(tokens) or tokens[first + 1].norm not in JOINING:
            continue
        other = tokens[first if first < place else first + 2]
        if (_is_known_name(other, index) or _can_be_name(other, index)) and _pair_is_cited(tokens, first):
            return True
    return False


def _pair_is_cited(tokens: Sequence[QuestionToken], first: int) -> bool:
    """Tell whether "X and Y" is followed by a year or soon by a kind of study, or is after "the study by"."""
    before, after = _norms(tokens, first - 4, first), _norms(tokens, first + 3, first + 6)
    is_by = before[-1:] == ["by"] and any(is_cue(word, "study") for word in before)
    return is_by or bool(after and (YEAR.fullmatch(after[0]) or any(is_cue(word, "study") for word in after)))


def merge_mentions(mentions: Iterable[AuthorMention], tokens: Sequence[QuestionToken]) -> list[AuthorMention]:
    """Join names in a row into one mention and give each the year next to it."""
    merged: list[AuthorMention] = []
    for mention in sorted(mentions, key=lambda m: m.start):
        last = merged[-1] if merged else None
        if last and mention.start < last.end:
            continue
        if last and not last.has_et_al and JOINING.issuperset(_norms(tokens, last.end, mention.start)):
            last.end, last.names = mention.end, last.names + mention.names
        else:
            last = mention
            merged.append(last)
        if _has_et_al(tokens, last.end, last.end + 2):
            last.end, last.has_et_al = last.end + 2, True
    years = _publication_years(tokens)
    for mention in merged:
        near = [
            (max(mention.start - place - 1, place - mention.end, 0), place)
            for place in years
            if -YEAR_GAP <= place - mention.end <= YEAR_GAP or 0 < mention.start - place <= YEAR_GAP + 1
        ]
        if near or (len(years) == len(merged) == 1):
            place = min(near)[1] if near else next(iter(years))
            mention.year = years[place]
            mention.end += place == mention.end
    return merged


def studies_of(mention: AuthorMention, index: AuthorIndex, *, prefer_first: bool) -> list[str]:
    """Return the studies by all of the names and of the year; with `prefer_first` those by the first author, if any."""
    ids = set.intersection(*(index.authors.get(name, set()) for name in mention.names))
    if mention.year is not None:
        ids = {study_id for study_id in ids if index.by_id[study_id].year == mention.year}
    led = ids & index.first_authors.get(mention.names[0], set())
    return sorted(led if (led and prefer_first) or mention.has_et_al else ids)


def write_mention(mention: AuthorMention, tokens: Sequence[QuestionToken], text: str) -> tuple[str, Span]:
    """Return the mention as written, with its year, and the span to cut from the question."""
    start, end = tokens[mention.start].start, tokens[mention.end - 1].end
    tail = text[end : len(text) - len(text[end:].lstrip(".)]"))]
    written = POSSESSIVE.sub("", text[start:end])
    if mention.year is not None and str(mention.year) not in written:
        written = f"{written} {mention.year}"
    return written, (start, end + (len(tail) if mention.has_et_al or ")" in tail else 0))
