"""Put the text of PDF pages into reading order, and leave out what surrounds it on every page.

Left out are running heads, page numbers, numbers of lines, and the numbers of references in brackets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from corpus_app.sources.plain_text import MAX_HEADING_WORDS

LETTER_WIDTH = 0.45  # of the size of the type: the mean of common typefaces
_EDGE_LINES = 3  # at the top and at the bottom of a page, where running heads stand
_LINES_OF_A_COLUMN = 4
_NUMBERED_LINES = 5
_PARAGRAPH_GAP = 1.5  # of the usual distance of lines
_HEADING_SIZE = 1.12  # of the type of the text
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one column: its words and place in points, the origin at the bottom left."""

    x: float
    y: float
    size: float
    text: str

    @property
    def end(self) -> float:
        """Return where the line ends, estimated from its letters."""
        return self.x + LETTER_WIDTH * self.size * len(self.text)


@dataclass(frozen=True, slots=True)
class PageText:
    """The pages as one reads them, and what was left out of them, each once."""

    pages: tuple[str, ...]
    running_heads: tuple[str, ...] = ()
    citation_marks: tuple[str, ...] = ()


def read_pages(pages: Sequence[Sequence[tuple[float, float, float, str]]], widths: Sequence[float]) -> PageText:
    """Return the text of pages from their pieces (x, y, size, words), in the order of the file."""
    lines = [_without_line_numbers(_lines(pieces)) for pieces in pages]
    heads = _running_heads(lines)
    size = _type_of_text(lines)
    texts = []
    shown: dict[str, None] = {}
    for page, width in zip(lines, widths, strict=True):
        around = _around(page, heads)
        shown |= dict.fromkeys(line.text for line in around)
        kept = [line for line in page if line not in around]
        texts.append(_in_paragraphs(_in_order(kept, width), size))
    bare, marks = _without_marks(texts)
    return PageText(tuple(bare), tuple(shown), marks)


def _type_of_text(pages: Sequence[Sequence[Line]]) -> float:
    """Return the size of type, in points, in which most letters of a file are set."""
    letters: Counter[float] = Counter()
    for line in chain.from_iterable(pages):
        letters[round(line.size, 1)] += len(line.text)
    return max(letters, key=lambda size: letters[size], default=1.0)


def _in_paragraphs(lines: Sequence[Line], size: float) -> str:
    """Return the text of a page: an empty line at a wide gap or another type, and `#` before a heading."""
    gaps = sorted(gap for before, line in pairwise(lines) if (gap := before.y - line.y) > 0.8 * size)
    usual = gaps[len(gaps) // 4] if gaps else 0.0
    text = ""
    for before, line in zip([None, *lines], lines, strict=False):
        is_heading = line.size > _HEADING_SIZE * size and len(line.text.split()) <= MAX_HEADING_WORDS
        if before is not None:
            is_apart = before.y - line.y > _PARAGRAPH_GAP * usual or abs(before.size - line.size) > 0.1 * size
            text += "\n\n" if is_apart or is_heading else "\n"
        text += f"# {line.text}" if is_heading else line.text
    return text


def joined_pages(pages: Iterable[str]) -> str:
    """Join pages; a sentence that goes on over the page stays in one paragraph."""
    text = ""
    for page in filter(None, (page.strip() for page in pages)):
        goes_on = text and text[-1] not in ".?!:”)]" and not page[0].isupper()
        text += f"{'' if not text else chr(10) if goes_on else chr(10) * 2}{page}"
    return text


def _lines(pieces: Sequence[tuple[float, float, float, str]]) -> list[Line]:
    """Return the lines that the pieces make; a wide gap on one height begins a line of its own."""
    lines: list[Line] = []
    held: Line | None = None
    for x, y, size, words in pieces:
        for part in re.split(r"(\n)", words.translate(_LIGATURES)):
            is_break = part == "\n"
            is_apart = held is not None and (abs(y - held.y) > held.size or x - held.end > 2.5 * held.size)
            is_number = held is not None and held.text.strip().isdigit() and x - held.end > 0.5 * held.size
            if held is not None and (is_break or ((is_apart or is_number) and part.strip())):
                lines.append(held)
                held = None
            if not is_break and (part.strip() or held is not None):
                held = Line(x, y, size or 1.0, part) if held is None else replace(held, text=held.text + part)
    if held is not None:
        lines.append(held)
    return [replace(line, text=line.text.strip()) for line in lines if line.text.strip()]


def _without_line_numbers(lines: list[Line]) -> list[Line]:
    """Return the lines without the numbers that a manuscript has in its margin."""
    texts = [line for line in lines if not line.text.isdigit()]
    margin = min((line.x for line in texts), default=0.0)
    numbers = [line for line in lines if line.text.isdigit() and line.end <= margin]
    values = [int(line.text) for line in sorted(numbers, key=lambda line: -line.y)]
    steps = {after - before for before, after in pairwise(values)}
    return texts if len(values) >= _NUMBERED_LINES and len(steps) == 1 and min(steps) > 0 else lines


def _key(line: Line) -> tuple[str, int]:
    """Return what is the same on every page: the words with any whole number, and the height."""
    return re.sub(r"(?<![\d.])\d{1,5}(?![\d.])", "#", line.text.casefold()), round(line.y / 10)


def _running_heads(pages: Sequence[Sequence[Line]]) -> set[tuple[str, int]]:
    """Return the keys of lines that stand at one height of two pages in five: left and right pages differ."""
    counts = Counter(key for page in pages for key in {_key(line) for line in page})
    return {key for key, number in counts.items() if number >= max(2, 0.4 * len(pages))}


def _around(page: Sequence[Line], heads: set[tuple[str, int]]) -> list[Line]:
    """Return the lines around the text: running heads from the edges of the page inwards, up to the first other."""
    found: set[Line] = set()
    heights = sorted({round(line.y) for line in page})
    for inwards in (heights, heights[::-1]):
        for height in inwards[:_EDGE_LINES]:
            row = [line for line in page if round(line.y) == height]
            if not all(_key(line) in heads for line in row):
                break
            found.update(row)
    return [line for line in page if line in found] if len(found) < len(page) else []


def _in_order(lines: Sequence[Line], width: float) -> list[Line]:
    """Return the lines of a page as one reads them: the left column, then the right, between lines over both."""
    starts = Counter(round(line.x / 4) for line in lines if 0.42 * width < line.x < 0.68 * width)
    common, number = max(starts.items(), key=lambda item: item[1], default=(0, 0))
    gutter = common * 4 - 6.0
    left = [line for line in lines if line.x < gutter]
    narrow = [line for line in left if line.end < gutter + 0.06 * width]
    if number < _LINES_OF_A_COLUMN or len(narrow) < _LINES_OF_A_COLUMN or len(narrow) < len(left) / 2:
        return list(lines)
    ordered: list[Line] = []
    columns: tuple[list[Line], list[Line]] = ([], [])
    for line in sorted(lines, key=lambda line: -line.y):
        if line.x < gutter and line.end >= gutter + 0.06 * width:
            ordered += [*columns[0], *columns[1], line]
            columns = ([], [])
        else:
            columns[line.x >= gutter].append(line)
    return [*ordered, *columns[0], *columns[1]]


_BRACKETED = re.compile(r"\s?\[(?P<numbers>\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9})\]")
_MEASURED = re.compile(r"\d[^\s,.]*[\s(]*\Z|[=<>±%(]\s*\Z|\b(?:CI|range|IQR|score|scale)s?\W*\Z", re.IGNORECASE)


def _without_marks(texts: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts without the numbers of references in brackets, and these; an interval stays.

    Numbers are taken for references where the first of them are among them.
    """
    found = [match for text in texts for match in _BRACKETED.finditer(text) if _is_mark(text, match)]
    numbers = {int(number) for match in found for number in re.findall(r"\d+", match["numbers"])}
    if not {1, 2} <= numbers or 0 in numbers:
        return list(texts), ()
    bare = [_drop_marks(text) for text in texts]
    return bare, tuple(dict.fromkeys(match[0].strip() for match in found))


def _is_mark(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 24) : match.start()]
    return not _MEASURED.search(before) and not (re.search(r"\D", match["numbers"]) and re.search(r"\d", before[-14:]))


def _drop_marks(text: str) -> str:
    return _BRACKETED.sub(lambda match: "" if _is_mark(text, match) else match[0], text)
