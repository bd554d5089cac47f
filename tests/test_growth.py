"""No file and no text may hold the site up: ten times the input takes at most fifteen times as long."""

import ast
import gc
import importlib
import pkgutil
import re
import re._constants as codes
import re._parser as parser
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest

from corpus_app import quality, sources
from corpus_app.sources import READERS, Intake, Source, plain_text
from qa_app.writers import drafts

ROOT = Path(__file__).resolve().parents[1]
APPS = ("common", "corpus_app", "qa_app", "inform_site")
MOST = 15
LETTERS = 5_000  # of the large input of a pattern
TEXT = 20_000  # letters of the text in a large file
PIECES_OF_A_FILE = 2_000
INSTANT = 0.005  # seconds: what takes less for so many letters is in proportion; a square takes ten times as long
SHOWN = 40

SCANNING = {"search", "sub", "subn", "split", "findall", "finditer"}
ANCHORED = {"match", "fullmatch"}


def seconds(work: Callable[[], Any], runs: int = 1) -> float:
    """Return the least processor time of several runs, which other processes and the garbage collector disturb least."""

    def run() -> float:
        began = time.thread_time()
        work()
        return time.thread_time() - began

    gc.disable()  # a collection takes longer than what is measured
    try:
        return min(run() for _ in range(runs))
    finally:
        gc.enable()


TRIES = 5


def growth(work: Callable[[int], Any], size: int, *, instant: float) -> float:
    """Return how many times as long the whole size takes as a tenth of it; 0 when it takes no time to speak of."""
    small = seconds(partial(work, size // 10), 2)
    if small > 20 * instant:
        return float("inf")  # the whole might not end
    if seconds(partial(work, size)) < instant:
        return 0.0
    least = float("inf")
    for _ in range(TRIES):  # a machine with other work shows a linear one too slow, never a quadratic one as quick
        least = min(least, seconds(partial(work, size), 3) / max(seconds(partial(work, size // 10), 5), 1e-6))
        if least <= MOST:
            break
    return least


# --- Patterns


def calls(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield the name that each method of a pattern is called on, the method, and the call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            on = node.func.value
            name = on.id if isinstance(on, ast.Name) else on.attr if isinstance(on, ast.Attribute) else ""
            yield name, node.func.attr, node


def patterns() -> dict[re.Pattern[str], set[str]]:
    """Return every pattern, written in a call or held by a module, with the methods that are called on it."""
    found: dict[re.Pattern[str], set[str]] = defaultdict(set)
    for app in APPS:
        package = importlib.import_module(app)
        for info in pkgutil.walk_packages(package.__path__, f"{app}."):
            if ".migrations" in info.name or ".management" in info.name or info.name.endswith(".asgi"):
                continue  # the last one starts the site
            module = importlib.import_module(info.name)
            tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
            used: dict[str, set[str]] = defaultdict(set)
            for name, method, call in calls(tree):
                used[name].add(method)
                pattern = call.args[0] if name == "re" and call.args else None
                if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and method != "compile":
                    found[re.compile(pattern.value)].add(method)
            unnamed = {m for name, methods in used.items() if name.islower() and name != "re" for m in methods} - {
                "split"
            }
            for name, value in vars(module).items():
                for pattern in held(value):
                    methods = (used[name] if isinstance(value, re.Pattern) else unnamed) & (SCANNING | ANCHORED)
                    found[pattern] |= methods
    return found


def held(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 3 and isinstance(value, tuple | list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from held(part, depth + 1)


CATEGORIES = {
    codes.CATEGORY_DIGIT: "1", codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_SPACE: " \n",
    codes.CATEGORY_NOT_SPACE: "a", codes.CATEGORY_WORD: "a", codes.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
SIGNS = "aA1 \n.,-()[]{}<>\"'/:;"


class Shapes:
    """Texts that a pattern may take long for: beginnings of what it matches, and what it repeats, over and over."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.found: set[tuple[str, str, str]] = {
            ("", unit, "") for unit in ("a", " ", "1", "\n", "a ", "Aa ", "(", "{")
        }
        self._walk(parser.parse(pattern.pattern, pattern.flags), "")

    def _walk(self, tree: Any, before: str) -> None:
        for op, value in list(tree):
            if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                if value[1] > SHOWN // 2:
                    for unit in self._units(value[2], before):
                        self.found |= {(before, unit, end) for end in ("", "\0", "é")}
                        self.found |= {("", before + unit, ""), ("", unit, "a"), ("", before + unit + " ", "a")}
                self._walk(value[2], before)
            elif op is codes.BRANCH:
                for branch in value[1]:
                    self._walk(branch, before)
            elif op in (codes.SUBPATTERN, codes.ATOMIC_GROUP, codes.ASSERT, codes.ASSERT_NOT):
                self._walk(
                    value[3]
                    if op is codes.SUBPATTERN
                    else value[1]
                    if op in (codes.ASSERT, codes.ASSERT_NOT)
                    else value,
                    before,
                )
            before = (before + self._example([(op, value)], before))[-SHOWN:]
            if before:
                self.found.add(("", before, ""))

    def _units(self, body: Any, before: str) -> set[str]:
        op, value = next(iter(body))
        units = {self._example(body, before)} - {""}
        if len(list(body)) == 1 and op is codes.IN:
            units.update(self._members(value, before)[:5])
        return units

    def _example(self, tree: Any, before: str) -> str:
        """Return a short text that the tree matches, look-arounds left out of account."""
        text = ""
        for op, value in list(tree):
            if op is codes.LITERAL:
                text += chr(value)
            elif op in (codes.ANY, codes.NOT_LITERAL):
                text += "a"
            elif op is codes.IN:
                text += self._members(value, before + text)[0]
            elif op is codes.BRANCH:
                text += self._example(value[1][0], before)
            elif op is codes.SUBPATTERN:
                text += self._example(value[3], before)
            elif op is codes.ATOMIC_GROUP:
                text += self._example(value, before)
            elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                text += self._example(value[2], before) * min(value[0], 5)
        return text

    def _members(self, items: Any, before: str) -> list[str]:
        """Return characters of a set; of one that excludes, those first that the pattern itself begins with."""
        if items[0][0] is not codes.NEGATE:
            texts = (
                chr(value) if op is codes.LITERAL else chr(value[0]) if op is codes.RANGE else CATEGORIES[value]
                for op, value in items
            )
            return [char for text in texts for char in text]
        own = {chr(value) for op, value in items if op is codes.LITERAL}
        own |= {char for op, value in items if op is codes.CATEGORY for char in CATEGORIES[value]}
        return [char for char in (*before[:3], *SIGNS) if char not in own] or ["é"]


def use(pattern: re.Pattern[str], method: str, shape: tuple[str, str, str], size: int) -> None:
    before, unit, after = shape
    text = before + unit * (size // len(unit)) + after
    if method in SCANNING:
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)


def test_every_pattern_takes_time_in_proportion() -> None:
    assert not list(filter(None, starmap(slowest_shape, patterns().items())))


def slowest_shape(pattern: re.Pattern[str], methods: set[str]) -> str:
    """Return how a text grows too slow for a pattern; empty when none does."""
    for method in {"search" if method in SCANNING else method for method in methods} or {"search"}:
        for shape in sorted(Shapes(pattern).found):
            ratio = growth(partial(use, pattern, method, shape), LETTERS, instant=INSTANT)
            if ratio > MOST:
                return f"{ratio:.0f} times: {pattern.pattern[:100]} by {method} on {shape}"
    return ""


# --- Readers

PIECES = {
    "RIS": ("TY  - JOUR\nTI  - Title\nAB  - ", "\nER  - \n"),
    "NBIB (PubMed)": ("PMID- 1\nTI  - Title\nAB  - ", "\n\n"),
    "BibTeX": ("@article{k, title={Title}, author={", "}}"),
    "EndNote XML": (
        "<xml><records><record><titles><title>T</title></titles><abstract>",
        "</abstract></record></records></xml>",
    ),
    "PubMed XML": (
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract><AbstractText>",
        "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>",
    ),
    "JATS XML (PMC, PLOS, eLife)": ("<article><body><sec><title>Results</title><p>", "</p></sec></body></article>"),
    "CSV of sources or passages": ('title,authors,year,abstract\nTitle,A B,2001,"', '"\n'),
    "JSON of sources or passages": ('[{"title": "Title", "abstract": "', '"}]'),
    "BEIR documents": ('{"_id": "1", "title": "Title", "text": "', '"}\n'),
    "web page (HTML)": ("<!doctype html><title>T</title><h1>T</h1><p>", "</p>"),
    "Markdown with headings": ("# Title\n\n## Results\n\n", "\n"),
}
"""The beginning and the end of a file of each format, around a text."""
OTHERS = {"CSV exported here to be mended", "EPUB", "PDF"}
"""Read as one of the others is, once unpacked; a PDF in a process of its own with a time limit."""
UNITS = (
    "a",
    " ",
    "word ",
    "A. ",
    "ab-",
    "{",
    "{} ",
    "( ",
    "[1] ",
    "1 ",
    "1,1 ",
    "and ",
    "$",
    "\\\\",
    "~",
    "©",
    "http://a.b/ ",
    "A: ",
)


def read(content: str) -> None:
    for _ in sources.stream(Source("file", content.encode()), Intake()):
        pass


def read_text(begin: str, unit: str, end: str, size: int) -> None:
    read(begin + unit * (size // len(unit)) + end)


def test_every_reader_takes_time_in_proportion() -> None:
    assert PIECES.keys() | OTHERS == {reader.name for reader in READERS}
    slow = []
    for name, (begin, end) in PIECES.items():
        for unit in UNITS:
            work = partial(read_text, begin, unit, end)
            if (ratio := growth(work, TEXT, instant=0.05)) > MOST:
                slow.append(f"{name}: {ratio:.0f} times on {unit!r}")
    assert not slow


MANY: dict[str, Callable[[int], str]] = {
    "records without an end": lambda n: "@article{k, title={\n" * n,
    "records in records": lambda n: "@article{k, title={\n" * n + "}?" * n,
    "one record of many fields": lambda n: "@article{k, title={T}" + ",\n a={x}" * n + "}",
    "macros of macros": lambda n: "@string{a={xy}}" + "@string{a=a#a}\n" * n + "@article{k, title=a}",
    "records": lambda n: "".join(f"@article{{k{i}, title={{Title {i}}}}}\n" for i in range(n)),
    "authors": lambda n: "TY  - JOUR\nTI  - Title\n" + "AU  - A B\n" * n,
    "wrapped lines": lambda n: "PMID- 1\nTI  - Title\nAB  - x\n" + "      word\n" * n,
}


@pytest.mark.parametrize("name", MANY)
def test_many_pieces_are_read_in_proportion(name: str) -> None:
    assert growth(lambda size: read(MANY[name](size)), PIECES_OF_A_FILE, instant=0.05) <= MOST


TEXTS: dict[str, Callable[[str], Any]] = {
    "quality": quality.check,
    "passages": partial(plain_text.passages_of, name="text"),
    "draft": drafts.clean_sentence,
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_check_of_a_text_takes_time_in_proportion(name: str) -> None:
    def ratio(unit: str) -> float:
        return growth(lambda size: TEXTS[name](unit * (size // len(unit))), TEXT, instant=0.05)

    assert [unit for unit in UNITS if ratio(unit) > MOST] == []
