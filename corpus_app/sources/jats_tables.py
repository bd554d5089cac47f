"""Read the tables and figures of an article: captions, and each row of a table with its heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

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
        title = self.caption[0].text if self.caption else ""
        is_told = self.rows and len(self.caption) == 1 and _title(title) == title.rstrip(".,;:")
        return () if is_told else self.caption


@dataclass(slots=True)
class _Cell:
    words: CitedText
    is_head: bool
    indent: int
    """Blanks before its words that are no line breaks."""


@dataclass(frozen=True, slots=True)
class _Row:
    cells: Sequence[_Cell | None]
    filled: Sequence[_Cell]
    """The cells with words, a merged one once; the first names the row."""
    level: int
    """How far the first of them stands from the edge of the table."""
    values: frozenset[int]
    """The columns of the others."""

    @property
    def label(self) -> CitedText:
        return self.filled[0].words

    @property
    def is_merged(self) -> bool:
        """Return whether one cell fills the row: it heads the rows below."""
        return len(self.cells) > 1 and all(cell is self.filled[0] for cell in self.cells)


def display_item(node: Node, read: TextReader) -> DisplayItem:
    """Return a table or figure as it can be quoted."""
    is_table = node.tag in TABLES
    label = node.text("label").rstrip(".: ") or ("" if is_table else "Figure")
    caption = _caption(node, label, read)
    label = label or ("" if caption else "Table")
    if not is_table:
        return _whole(DisplayItem(label, caption, left_out=() if caption else ("figures without a caption",)))
    caption += tuple(_notes(node, read))
    bodies = [part for part in node.walk() if part.tag == "table"]
    if not any(part.tag == "tr" for body in bodies for part in body.walk()):
        return _whole(DisplayItem(label, caption, left_out=("tables that are pictures",)))
    title = _title(caption[0].text if caption else label)
    rows: list[CitedText] = []
    unfit = 0
    for body in bodies:
        try:
            found = [*_rows(body, title, read)]
            unfit += found.count(None)
            rows += filter(None, found)
        except _TooLarge:
            return _whole(DisplayItem(label, caption, left_out=(f"tables of more than {MAX_CELLS:,} cells",)))
    return _whole(DisplayItem(label, caption, tuple(rows), ("rows that do not fit their heads",) * unfit))


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
    return joined([CitedText(label), paragraphs[0]] if label else paragraphs[:1], ": "), *paragraphs[1:]


def _notes(node: Node, read: TextReader) -> Iterator[CitedText]:
    for foot in node.all("table-wrap-foot"):
        for part in foot.walk():
            if part.tag == "p" and (text := read(part.parts)).text:
                yield text


def _title(caption: str) -> str:
    """Return the first sentence of a caption, with the label, as each row begins."""
    start, end = split_sentences(caption)[0]
    words = caption[start:end].split()
    return " ".join(words[:LONGEST_TITLE]).rstrip(".,;:") + ("…" if len(words) > LONGEST_TITLE else "")


# --- Rows -------------------------------------------------------------------------------------------------------------


def _rows(table: Node, title: str, read: TextReader) -> Iterator[CitedText | None]:
    """Yield each row as a line: the title, the rows that it belongs to, and every cell behind its heads.

    None stands for a row of which nobody can tell the heads.
    """
    heads: list[list[_Cell | None]] = []
    body: list[list[_Cell | None]] = []
    for part in (table, *table):
        (heads if part.tag == "thead" else body).extend(_grid([*part.all("tr")], read))
    if not heads:
        number = next((n for n, row in enumerate(body) if not _is_head(row)), 0) or _opens_without_numbers(body)
        heads, body = body[:number], body[number:]
    rows = [_row(cells) for cells in body if _filled(cells)]
    for above, row in _with_parents(rows):
        named = _named(row, heads)
        yield joined([CitedText(title), *above, *named], "; ") if named else None


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
            written = "".join(node.words()).lstrip(" \t\r\n")
            cell = _Cell(read(node.parts), node.tag == "th", len(written) - len(written.lstrip()))
            for line in grid[number : number + high]:
                line += [None] * (column + wide - len(line))
                line[column : column + wide] = [cell] * wide
            column += wide
    width = max(map(len, grid), default=0)
    for line in grid:
        line += [None] * (width - len(line))
    return grid


def _span(value: str) -> int:
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _is_head(row: Sequence[_Cell | None]) -> bool:
    return all(cell.is_head for cell in row if cell)


def _opens_without_numbers(body: Sequence[Sequence[_Cell | None]]) -> int:
    """Return 1 where the first row is likely the head: it has no number, and the others have."""
    has_numbers = [any(re.search(r"\d", cell.words.text) for cell in row if cell) for row in body]
    return int(len(body) > 1 and len(_filled(body[0])) > 1 and not has_numbers[0] and any(has_numbers[1:]))


def _filled(row: Sequence[_Cell | None]) -> list[_Cell]:
    return list({id(cell): cell for cell in row if cell and cell.words.text}.values())


def _row(cells: Sequence[_Cell | None]) -> _Row:
    filled = _filled(cells)
    empty = next(n for n, cell in enumerate(cells) if cell is filled[0])
    values = frozenset(n for n, cell in enumerate(cells) if cell and cell.words.text and cell is not filled[0])
    return _Row(cells, filled, 100 * empty + filled[0].indent, values)


def _with_parents(rows: Sequence[_Row]) -> Iterator[tuple[list[CitedText], _Row]]:
    """Yield the rows with values, each after the labels of the rows that it belongs to.

    A row belongs to the merged row above it, and to the last row that stands less far in. Without that, a row without
    values heads the rows below where they repeat their labels, else the next one only.
    """
    labels = [row.label.text for row in rows if row.values]
    repeats, is_level = len(set(labels)) < len(labels), len({row.level for row in rows}) < 2
    merged: list[CitedText] = []
    parents: list[_Row] = []
    head: _Row | None = None
    for number, row in enumerate(rows):
        before, after = rows[number - 1] if number else None, rows[number + 1] if number + 1 < len(rows) else None
        if row.is_merged:
            merged = [*merged, row.label] if before and before.is_merged else [row.label]
            parents, head = [], None
            if after is None:
                yield [], row
            continue
        while parents and parents[-1].level >= row.level:
            parents.pop()
        if is_level and head and (head.values & row.values or not (head.values or repeats or before is head)):
            head = None
        if row.values or after is None or len(row.cells) == 1:
            yield [*merged, *(parent.label for parent in parents), *([head.label] if head else [])], row
        if after and after.level > row.level:
            parents.append(row)
        elif is_level and after and (not row.values or (after.values and not row.values & after.values)):
            head = row


def _named(row: _Row, heads: Sequence[Sequence[_Cell | None]]) -> list[CitedText]:
    """Return the cells of a row with their heads, the outermost first; a merged cell has those of all its columns.

    Cells that stand across the borders of the heads are matched in their order, where there are as many; else the
    list is empty.
    """
    if row.is_merged:
        return [row.label]
    width = max(map(len, heads), default=0)
    columns = [[cell for line in heads for cell in line[n : n + 1] if cell] for n in range(width)]
    names = [", ".join(dict.fromkeys(c.words.text.rstrip(":") for c in own if c.words.text)) for own in columns]
    lowest = heads[-1] if heads else []
    places = {id(cell): [n for n, other in enumerate(row.cells) if other is cell] for cell in row.filled}
    if any(_crosses(lowest, own) for own in places.values()):
        cells = list(dict.fromkeys(id(cell) for cell in row.cells if cell))
        cells = cells[cells.index(id(row.filled[0])) :]
        begins = [n for n, cell in enumerate(lowest) if cell and (n == 0 or lowest[n - 1] is not cell)]
        if len(cells) != len(begins):
            return []
        places = {cell: [place] for cell, place in zip(cells, begins, strict=True)}
    found = []
    for cell in row.filled:
        own = [names[n] for n in places.get(id(cell), ()) if n < len(names) and names[n]]
        name = " and ".join(dict.fromkeys(own))
        found.append(joined([CitedText(name), cell.words], ": ") if name else cell.words)
    return found


def _crosses(lowest: Sequence[_Cell | None], places: Sequence[int]) -> bool:
    """Return whether columns lie under several heads, and not under the whole of each."""
    over = {id(lowest[n]) for n in places if n < len(lowest) and lowest[n]}
    whole = {n for n, cell in enumerate(lowest) if cell and id(cell) in over}
    return len(over) > 1 and not whole <= set(places)
