"""Parse XML safely: no entity declarations, no external files, limited depth and size.

It uses expat directly, which streams, gives the line of each element, and can refuse an entity declaration before
anything is expanded.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from pyexpat import ErrorString
from xml.parsers import expat

from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source

MAX_DEPTH = 200  # MathML in a real article reaches 40
MAX_NODES = 100_000  # of one article or record; the largest of some hundred real articles has 8,400
_CHUNK = 65_536


@dataclass(slots=True)
class Node:
    """An element without its namespace prefix; `parts` are its texts and elements in order."""

    tag: str
    attributes: dict[str, str]
    line: int
    parts: list[str | Node] = field(default_factory=list)

    def __iter__(self) -> Iterator[Node]:
        return (part for part in self.parts if isinstance(part, Node))

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def find(self, path: str) -> Node | None:
        """Return the first element under a path of tags; None when there is none."""
        return next(self.all(path), None)

    def all(self, path: str) -> Iterator[Node]:
        first, _, rest = path.partition("/")
        for node in self:
            if node.tag == first:
                if rest:
                    yield from node.all(rest)
                else:
                    yield node

    def walk(self) -> Iterator[Node]:
        """Yield this element and all its descendants, in the order of the file."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed([*node])

    def text(self, path: str = "") -> str:
        """Return all text below this element, or below the first one at `path`, with single spaces."""
        node = self.find(path) if path else self
        return " ".join("".join(node.words()).split()) if node else ""

    def words(self) -> Iterator[str]:
        stack: list[str | Node] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, str):
                yield part
            else:
                stack += reversed(part.parts)


def root_of(source: Source) -> Node:
    """Parse the whole tree. Raises Refused, with the line, for invalid or unsafe XML."""
    return next(elements(source, frozenset()))


def elements(source: Source, wanted: frozenset[str]) -> Iterator[Node]:
    """Yield each outermost element with one of the wanted tags as it ends, to save memory; without tags, the root."""
    reader = _Reader(wanted)
    try:
        with source.open() as stream:
            while True:
                block = stream.read(_CHUNK)
                reader.parser.Parse(block, not block)
                yield from reader.taken()
                if not block:
                    return
    except expat.ExpatError as error:
        raise Refused(
            f"is not sound XML: {ErrorString(error.code)} at column {error.offset + 1}.", error.lineno
        ) from None
    except (LookupError, ValueError) as error:
        raise Refused(f"is not sound XML: {error}.", reader.parser.CurrentLineNumber) from None


class _Reader:
    def __init__(self, wanted: frozenset[str]) -> None:
        self.wanted = wanted
        self.open: list[Node] = []
        self.done: list[Node] = []
        self.depth = self.nodes = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.parser.SkippedEntityHandler = self.skipped

    def taken(self) -> list[Node]:
        done, self.done = self.done, []
        return done

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.nodes += bool(self.open)
        if self.depth > MAX_DEPTH:
            raise Refused(
                f"is nested deeper than {MAX_DEPTH} elements; it is no article.", self.parser.CurrentLineNumber
            )
        if self.nodes > MAX_NODES:
            raise Refused(
                f"has more than {MAX_NODES:,} elements in one record; it is no article.", self.parser.CurrentLineNumber
            )
        tag = name.rpartition(":")[2]
        if not self.open and self.wanted and tag not in self.wanted:
            return
        node = Node(
            tag, {key.rpartition(":")[2]: value for key, value in attributes.items()}, self.parser.CurrentLineNumber
        )
        if self.open:
            self.open[-1].parts.append(node)
        self.open.append(node)

    def end(self, name: str) -> None:
        self.depth -= 1
        if self.open:
            node = self.open.pop()
            if not self.open:
                self.done.append(node)
                self.nodes = 0

    def characters(self, words: str) -> None:
        if self.open:
            self.open[-1].parts.append(words)

    def entity(self, name: str, is_parameter: bool, *_: object) -> None:
        raise Refused(
            f"declares the entity {name[:40]!r}; files with entities of their own are not read. Remove the "
            f"declaration.",
            self.parser.CurrentLineNumber,
        )

    def skipped(self, name: str, is_parameter: bool) -> None:
        """Resolve an entity of an external document type: HTML's names are known, others are refused."""
        if is_parameter:
            return
        word = html.unescape(f"&{name};")
        if word == f"&{name};":
            raise Refused(f"uses the entity {name[:40]!r}, which it does not explain.", self.parser.CurrentLineNumber)
        self.characters(word)
