"""Hash the text of passages, split it into sentences or rows, and split sections into passages.

Sentences follow rules of this module, not Punkt's: untrained Punkt scores lower on scientific prose, and importing NLTK
takes a second and brings in scipy and scikit-learn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from corpus_app.records import CitedWork, PassageKind, Section

Span = tuple[int, int]

# Words of a passage made by an import; a shorter section or a longer sentence remains whole.
FEWEST_WORDS, MOST_WORDS = 40, 120
_BEST_WORDS = 80


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Abbreviations before a name, a number or other words: the full stop never ends a sentence.
_NEVER_LAST = _words(
    "acad approx assoc ca cf cfr chap dr drs e.g ed eds eg eq eqs esp fig figs gov i.e ie messrs mr mrs ms mt n° natl "
    "nos p ph pp prof ref refs resp rev sect sep spp ssp st subsp suppl var viz vol vols vs"
)
# Abbreviations that may end a sentence: they do if a capital follows.
_PERHAPS_LAST = _words(
    "al apr aug avg cm co conc corp dec dept diam etc ext feb ft hr hrs inc int jan jr jul jun kg km lb lbs ltd mar "
    "max mg min mins mm mo mos no nov oct oz sci sec secs sept sp sr temp univ wk wks wt yr yrs"
)
# Words that open a sentence far more often than they are names: an initial before one ends a sentence ("vitamin D.
# The").
_OPENERS = _words(
    "a after all although among an and another as at based because before both but by compared consequently despite "
    "did do does during each finally first for four from furthermore he her here his how however i if in "
    "interestingly is it its last many moreover most my nevertheless next no nonetheless notably of on one only other "
    "our overall participants previous she similarly since so some studies subjects such taken that the their then "
    "there therefore these they third this those three thus to two under using was we were what when whereas whether "
    "which while who with within you your"
)
# A letter after one of these is a label, not a person's initial ("group B. Strength rose").
_LABELLED = _words(
    "arm class condition figure figures grade group groups hepatitis panel panels phase metaphase protein schedule "
    "table type vitamin"
)

# Tokens end at white space, or where a space after a full stop was lost ("rose.The group"). All repeats are bounded or
# cannot overlap what follows, so the scan is linear in the text.
_TOKEN = re.compile(r"\S+?(?=\s|\Z|(?<=[a-z)\]][a-z)\]][.?!])[A-Z][a-z]{0,20}[\s,])")
# The end of a token that may end a sentence: stop, closing marks, reference numbers ("rose.", "rose.)", "rose.[12]",
# "rose.12").
_END = re.compile(
    r"(?P<stop>[.?!…。！？])(?P<close>[\"'”’»)\]}]{0,9})"
    r"(?:(?:\[[\d,;–-]{1,20}\]){1,3}|(?<=[a-z%)\]][.?!])\d{1,3}(?:[,–-]\d{1,3}){0,5}|[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻,–-]{0,19})?\Z"
)
_OPENING = "\"'“‘«([{*†‡§•"
_LABEL = re.compile(r"\(?[a-z](?:[,–-][a-z])?[:)]")
_REFERENCE = re.compile(r"\[\d[\d,;–-]*\][.,;]?\Z")
_MARKER = re.compile(r"(?:[-–*•‣⁃]|[(\[]?(?:\d{1,3}|[A-Za-z])[.)\]]{1,2})\Z")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_LONGEST_END = 60  # characters at a token's end that the rules examine


def content_hash(*, heading: str, text: str) -> str:
    """Return the SHA-256 of a passage's heading and text, with NUL between them."""
    return hashlib.sha256(f"{heading}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def split_sentences(text: str) -> tuple[Span, ...]:
    """Return sentence spans (code points, end exclusive), in order, trimmed, covering all but white space."""
    tokens = [match.span() for match in _TOKEN.finditer(text)]
    sentences: list[Span] = []
    first = 0
    for index, (token, following) in enumerate(zip_longest(tokens, tokens[1:])):
        if following is None or (
            _may_be_boundary(text, token[1], following[0]) and _is_boundary(text, tokens, first, index)
        ):
            sentences.append((tokens[first][0], token[1]))
            first = index + 1
    return tuple(sentences)


def sentences_of(text: str, kind: str) -> tuple[Span, ...]:
    """Return the sentence spans of a passage of this kind; a row of a table is one, whatever is in its cells."""
    return tuple(row.span() for row in _LINE.finditer(text)) if kind == PassageKind.TABLE else split_sentences(text)


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section of a source: paragraphs separated by empty lines, or rows of a table, one a line."""

    section: Section
    heading: str
    text: str
    start: int = 0
    """Offset of its first character."""
    kind: PassageKind = PassageKind.EXCERPT
    cited: tuple[CitedWork, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A new passage: `text` is the source's text from `start` to `end` (exclusive)."""

    section: Section
    heading: str
    text: str
    start: int
    end: int
    kind: PassageKind
    cited: tuple[CitedWork, ...]


def cut(sections: Sequence[SectionText]) -> tuple[Piece, ...]:
    """Split sections into passages of whole sentences and 40 to 120 words, at paragraph ends if possible."""
    return tuple(
        Piece(
            section=part.section,
            heading=part.heading,
            text=part.text[start:end],
            start=part.start + start,
            end=part.start + end,
            kind=part.kind,
            # a mark stands behind the words that it belongs to
            cited=tuple(replace(work, at=work.at - start) for work in part.cited if start < work.at <= end),
        )
        for part in sections
        for start, end in cut_text(part.text, part.kind)
    )


def moved_works(works: Sequence[CitedWork], before: str, after: str) -> tuple[CitedWork, ...]:
    """Return the works with their places in an edited text, without those cited in the words that were changed."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next((n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head)
    moved = len(after) - len(before)
    return tuple(
        work if work.at <= head else replace(work, at=work.at + moved)
        for work in works
        if work.at <= head or work.at > len(before) - tail
    )


def cut_text(text: str, kind: PassageKind = PassageKind.EXCERPT) -> tuple[Span, ...]:
    """Return the spans of a section's passages: first few out of bounds, then even lengths and good breaks."""
    sentences = sentences_of(text, kind)
    words = [len(text[start:end].split()) for start, end in sentences]
    ends_paragraph = ["\n\n" in text[here[1] : there[0]] for here, there in pairwise(sentences)] + [True]
    best: list[tuple[float, int]] = [
        (0.0, 0)
    ]  # up to each sentence: the lowest cost, and the begin of its last passage
    for end in range(1, len(sentences) + 1):
        choices: list[tuple[float, int]] = []
        count = 0
        for begin in range(end - 1, -1, -1):
            count += words[begin]
            if count > MOST_WORDS and choices:
                break
            choices.append((best[begin][0] + _cost(count, end - begin, breaks_well=ends_paragraph[end - 1]), begin))
        best.append(min(choices))
    spans: list[Span] = []
    end = len(sentences)
    while end:
        begin = best[end][1]
        spans.append((sentences[begin][0], sentences[end - 1][1]))
        end = begin
    return tuple(reversed(spans))


def _cost(words: int, sentences: int, *, breaks_well: bool) -> float:
    """Return the cost of a passage: leaving the bounds costs more than breaking inside a paragraph."""
    outside = max(0, FEWEST_WORDS - words, (words - MOST_WORDS) if sentences > 1 else 0)
    return (
        10.0 * (outside > 0)
        + 0.2 * outside
        + ((words - _BEST_WORDS) / _BEST_WORDS) ** 2
        + (0.0 if breaks_well else 0.5)
    )


def _may_be_boundary(text: str, end: int, next_start: int) -> bool:
    """Return whether a token's last letter and the blanks behind it allow an end: a quick test for most words."""
    return not text[end - 1].isalpha() or "\n" in text[end:next_start]


def _is_boundary(text: str, tokens: list[Span], first: int, index: int) -> bool:
    """Return whether a sentence from token `first` ends with token `index`; another token follows."""
    end, (next_start, next_end) = tokens[index][1], tokens[index + 1]
    following = text[next_start : min(next_end, next_start + _LONGEST_END)]
    line_ends = text.count("\n", end, next_start)
    if line_ends > 1 or (line_ends and _MARKER.match(following)):
        return True  # the end of a paragraph or list item, whatever its last character
    return _ends_sentence(text, tokens, first, index, following)


def _ends_sentence(text: str, tokens: list[Span], first: int, index: int, following: str) -> bool:
    start, end = tokens[index]
    token = text[max(start, end - _LONGEST_END) : end]
    found = _END.search(token)
    if found is None or not _may_open(following):
        return False
    before = text[slice(*tokens[index - 1])][-_LONGEST_END:] if index > first else ""
    if _MARKER.match(token) and (not before or (index == first + 1 and _MARKER.match(before))):
        return False  # "1." opens a list item
    word = token[: found.start()].lstrip(_OPENING)
    if not word and token[0] in _OPENING:
        return False  # "[...]" and "(.)" mark an omission or an example
    return found["stop"] != "." or not _is_abbreviation(word, found["close"], before, following)


def _may_open(following: str) -> bool:
    """Return whether a sentence may begin so: not with a small letter, except in names ("mRNA", "p53") and labels."""
    if _REFERENCE.match(following):
        return False  # a reference number belongs to the words before it
    word = following.lstrip(_OPENING)
    if not word.strip(".?!…\"'”’»)]}"):
        return False  # an ellipsis continues the sentence
    if not word[0].islower():
        return following[0] not in ",;:)]}%=<>" and following not in {"&", "+", "±", "×"}
    name = word.rstrip(".,;:?!)\"'”’]")
    return bool(_LABEL.match(following)) or any(char.isupper() or char.isdigit() for char in name)


def _is_abbreviation(word: str, close: str, before: str, following: str) -> bool:
    """Return whether the full stop after `word` belongs to an abbreviation."""
    opener = following.lstrip(_OPENING)
    if _INITIALS.match(word) and (word.isupper() or "." in word) and word.lower() not in _NEVER_LAST:
        return not close and before.lower() not in _LABELLED and opener.rstrip(",;:.").lower() not in _OPENERS
    known = word.lower() or before.lower()  # "et al ." has a space before its full stop
    if known in _NEVER_LAST:
        return not close
    return known in _PERHAPS_LAST and (following[0] in "([" or not opener[:1].isupper())
