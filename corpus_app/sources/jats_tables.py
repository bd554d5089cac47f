"""Read the tables and figures of an article: captions, and each row of a table with its heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from corpus_app.passages import split_sentences
from corpus_app.sources.jats_references import CitedText, joined
from corpus_app.sources.markup import HOLE
from corpus_app.sources.trees import Node

TABLES = frozenset({"table-wrap", "table-wrap-group"})
FIGURES = frozenset({"fig", "fig-group"})
MAX_CELLS = 4_000  # of one table; the largest of 228 trial reports has 560
LONGEST_TITLE = 30  # words of a caption that each row repeats

TextReader = Callable[[Sequence["str | Node"]], CitedText]


@dataclass(frozen=True, slots=True)
class DisplayItem:
    """A table or figure: its label and caption, and the rows of a table."""

    label: str
    caption: tuple[CitedText, ...] = ()
    rows: tuple[CitedText, ...] = ()
    left_out: tuple[str, ...] = ()
    """What could not be taken, as it is counted."""

    @property
    def prose(self) -> tuple[CitedText, ...]:
        """Return the caption's paragraphs; nothing where it is a title that each row has."""
        is_told = self.rows and len(self.caption) == 1 and len(self.caption[0].text.split()) <= LONGEST_TITLE
        return () if is_told else self.caption


@dataclass(slots=True)
class _Cell:
    words: CitedText
    is_head: bool
    is_indented: bool
    is_whole_row: bool = False


@dataclass(slots=True)
class _Group:
    """The lines between rows that name what the rows below have in common: “Women”."""

    lines: list[CitedText] = field(default_factory=list)
    is_open: bool = False
    """No row has followed yet."""
    lasts: bool = True
    is_indented: bool = False

    def add(self, cell: _Cell, *, repeats: bool) -> None:
        if not self.is_open:
            self.lines = []
        self.lines.append(cell.words)
        self.is_open, self.is_indented = True, cell.is_indented
        self.lasts = cell.is_whole_row or repeats

    def above(self, first: _Cell) -> list[CitedText]:
        """Return the lines that hold for a row with this first cell."""
        if not self.lasts and not self.is_open and not (first.is_indented and not self.is_indented):
            self.lines = []
        self.is_open = False
        return self.lines


def display_item(node: Node, read: TextReader) -> DisplayItem:
    """Return a table or figure as it can be quoted."""
    is_table = node.tag in TABLES
    label = node.text("label").rstrip(".: ") or ("Table" if is_table else "Figure")
    caption = _caption(node, label, read)
    if not is_table:
        return _whole(DisplayItem(label, caption, left_out=() if caption else ("figures without a caption",)))
    caption += tuple(_notes(node, read))
    bodies = [part for part in node.walk() if part.tag == "table"]
    if not any(part.tag == "tr" for body in bodies for part in body.walk()):
        return _whole(DisplayItem(label, caption, left_out=("tables that are pictures",)))
    title = _title(caption[0].text if caption else label)
    rows: list[CitedText] = []
    for body in bodies:
        try:
            rows += _rows(body, title, read)
        except _TooLarge:
            return _whole(DisplayItem(label, caption, left_out=(f"tables of more than {MAX_CELLS:,} cells",)))
    return _whole(DisplayItem(label, caption, tuple(rows)))


def _whole(item: DisplayItem) -> DisplayItem:
    """Return the item without the rows and paragraphs in which a picture stands for a sign."""
    caption, rows = ([text for text in texts if HOLE not in text.text] for texts in (item.caption, item.rows))
    lost = len(item.caption) + len(item.rows) - len(caption) - len(rows)
    return replace(
        item,
        caption=tuple(caption),
        rows=tuple(rows),
        left_out=(*item.left_out, *["rows and legends with a picture of a sign"] * lost),
    )


class _TooLarge(Exception):
    """A table that would fill the corpus."""


def _caption(node: Node, label: str, read: TextReader) -> tuple[CitedText, ...]:
    """Return the paragraphs of the caption: label and title in the first, then the legend."""
    parts = [part for caption in node.all("caption") for part in caption if part.tag in {"title", "p"}]
    paragraphs = [text for part in parts if (text := read(part.parts)).text]
    if not paragraphs:
        return ()
    return joined([CitedText(label), paragraphs[0]], ": "), *paragraphs[1:]


def _notes(node: Node, read: TextReader) -> Iterator[CitedText]:
    for foot in node.all("table-wrap-foot"):
        for part in foot.walk():
            if part.tag == "p" and (text := read(part.parts)).text:
                yield text


def _title(caption: str) -> str:
    """Return the first sentence of a caption, with the label, as each row begins."""
    start, end = split_sentences(caption)[0]
    words = caption[start:end].split()
    return " ".join(words[:LONGEST_TITLE]).rstrip(".,;:") + ("…" if len(words) > LONGEST_TITLE else ".")


# --- Rows -------------------------------------------------------------------------------------------------------------


def _rows(table: Node, title: str, read: TextReader) -> Iterator[CitedText]:
    """Yield each row as a line: the title, the lines above it, its first cell, and every cell behind its heads."""
    heads: list[list[_Cell | None]] = []
    body: list[list[_Cell | None]] = []
    for part in (table, *table):
        rows = [*part.all("tr")]
        (heads if part.tag == "thead" else body).extend(_grid(rows, read))
    if not heads:
        number = next((n for n, row in enumerate(body) if not _is_head(row)), 0) or _opens_without_numbers(body)
        heads, body = body[:number], body[number:]
    names = _column_names(heads)
    first_words = [row[0].words.text for row in body if row and row[0] and len(_filled(row)) > 1]
    repeats = len(set(first_words)) < len(first_words)
    group = _Group()
    for row in body:
        cells = _filled(row)
        first = row[0] if row else None
        if len(cells) == 1 and cells[0] is first and len(row) > 1:
            group.add(cells[0], repeats=repeats)
        elif cells:
            above = group.above(first or cells[0])
            yield joined([CitedText(title), joined([*above, *_named(row, names)], "; ")], " ")
    if group.is_open:  # lines below the last row: notes
        yield joined([CitedText(title), joined(group.lines, "; ")], " ")


def _grid(rows: Sequence[Node], read: TextReader) -> list[list[_Cell | None]]:
    """Return the cells by row and column; a merged cell stands in each of its places. Raises _TooLarge."""
    grid: list[list[_Cell | None]] = [[] for _ in rows]
    filled = 0
    for number, row in enumerate(rows):
        column = 0
        for node in row:
            if node.tag not in {"td", "th"}:
                continue
            while column < len(grid[number]) and grid[number][column] is not None:
                column += 1
            wide, high = _span(node.get("colspan")), min(_span(node.get("rowspan")), len(rows) - number)
            filled += wide * high
            if filled > MAX_CELLS:
                raise _TooLarge
            cell = _Cell(read(node.parts), node.tag == "th", _is_indented(node))
            for line in grid[number : number + high]:
                line += [None] * (column + wide - len(line))
                line[column : column + wide] = [cell] * wide
            column += wide
    width = max(map(len, grid), default=0)
    for line in grid:
        line += [None] * (width - len(line))
        if line and line[0] and all(cell is line[0] for cell in line):
            line[0].is_whole_row = True
    return grid


def _span(value: str) -> int:
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _is_indented(node: Node) -> bool:
    written = "".join(node.words()).lstrip(" \t\r\n")
    return written[:1].isspace()  # what is left are blanks that are no line breaks: U+00A0, U+2003


def _is_head(row: Sequence[_Cell | None]) -> bool:
    return all(cell.is_head for cell in row if cell)


def _opens_without_numbers(body: Sequence[Sequence[_Cell | None]]) -> int:
    """Return 1 where the first row is likely the head: it has no number, and the others have."""
    has_numbers = [any(re.search(r"\d", cell.words.text) for cell in row if cell) for row in body]
    return int(len(body) > 1 and len(_filled(body[0])) > 1 and not has_numbers[0] and any(has_numbers[1:]))


def _filled(row: Sequence[_Cell | None]) -> list[_Cell]:
    """Return the cells with words, a merged one once."""
    return list({id(cell): cell for cell in row if cell and cell.words.text}.values())


def _column_names(heads: Sequence[Sequence[_Cell | None]]) -> list[str]:
    """Return the heads above each column, the outermost first."""
    width = max(map(len, heads), default=0)
    columns = [[cell.words.text.rstrip(":") for row in heads for cell in row[n : n + 1] if cell] for n in range(width)]
    return [", ".join(dict.fromkeys(filter(None, names))) for names in columns]


def _named(row: Sequence[_Cell | None], names: Sequence[str]) -> Iterator[CitedText]:
    """Yield the cells of a row with their heads; a merged cell has those of all its columns."""
    for cell in _filled(row):
        columns = [names[n] for n, other in enumerate(row) if other is cell and n < len(names) and names[n]]
        name = " and ".join(dict.fromkeys(columns))
        yield joined([CitedText(name), cell.words], ": ") if name else cell.words
