"""Count in how many questions each entry of the word lists occurs, to find unused entries."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_app.pipeline.lexicon import PhraseIndex, Tables, words_of
from qa_app.pipeline.question.wording import SHORTEST_ENDED
from qa_app.pipeline.text import folded, stem

SAFETY = frozenset({"safety", "crisis", "crisis_german", "age", "asking"})
"""Files of the safety check: counted apart, because a rare emergency needs no labelled question."""
READ_IN_PASSAGES = frozenset({"connectives"})
"""Files whose phrases are looked for in passages, not in questions."""
SETTINGS = frozenset({"ages", "examples", "facts", "misspelt", "names", "routes", "rules", "sections", "slots"})
"""Tables that hold no words to look for."""
STEMMED = frozenset({"generic", "issued", "says", "statement", "study"})
"""Lists whose words match every form of themselves."""
ENDINGS, UNITS = ", endings", "units, "
"""How names of lists of endings end, and those of units begin."""

_WORD = re.compile(r"\d+|[^\W\d_]+|%")


@dataclass(frozen=True, slots=True)
class Entry:
    """A phrase, word, ending or unit of one list."""

    file: str
    name: str
    """Of its list."""
    text: str

    @property
    def is_safety(self) -> bool:
        return self.file in SAFETY


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    """Return the questions and the passages of a file of JSON lines or of a study. Raises ValueError with the line."""
    if path.suffix == ".json":
        return [], [passage["text"] for passage in json.loads(path.read_text("utf-8"))["passages"]]
    questions: list[str] = []
    passages: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        questions += [row[name] for name in ("question", "before") if row.get(name)]
        passages += [row["passage"]] if row.get("passage") else []
    return questions, passages


def count_usage(tables: Tables, questions: Sequence[str], passages: Sequence[str] = ()) -> dict[Entry, int]:
    """Return for every entry of the lists how many texts it occurs in; `tables` are parsed files by name."""
    counts: dict[Entry, int] = {}
    for files in ([file for file in tables if file in SAFETY], *([file] for file in tables if file not in SAFETY)):
        texts = passages if READ_IN_PASSAGES.issuperset(files) else questions
        phrases = [pair for file in files for pair in _phrases(file, tables[file])]
        counts |= _count_phrases([tables[file] for file in files], phrases, texts)
        counts |= _count_words([entry for file in files for entry in _words(file, tables[file])], texts)
    return {entry: counts[entry] for file in tables for entry in counts if entry.file == file}


def usage_text(counts: Mapping[Entry, int]) -> str:
    """Print the entries without a hit by file and list, then the totals of each file; safety apart."""
    lines: list[str] = []
    for file, name in dict.fromkeys((entry.file, entry.name) for entry in counts):
        unused = [e.text for e, n in counts.items() if (e.file, e.name) == (file, name) and not n and not e.is_safety]
        lines += [f"{file}, {name}: {'; '.join(unused)}"] if unused else []
    lines += ["", f"{'':24}{'entries':>9}{'without a hit':>15}"]
    for is_safety, title in ((False, "all but safety"), (True, "all of safety")):
        entries = [entry for entry in counts if entry.is_safety is is_safety]
        groups = {file: [e for e in entries if e.file == file] for file in dict.fromkeys(e.file for e in entries)}
        for label, members in {**groups, title: entries}.items():
            lines.append(f"{label:24}{len(members):>9,}{sum(not counts[entry] for entry in members):>15,}")
    return "\n".join(lines)


# --- Entries --------------------------------------------------------------------------------------------------------


def _phrases(file: str, table: Mapping[str, Any]) -> Iterator[tuple[Entry, Any]]:
    """Yield the phrases of the lists, each with what the index compiles."""
    for name, rows in table.get("lists", {}).items():
        for key in ("phrases", "except"):
            for phrase in rows.get(key, ()):
                text = phrase if isinstance(phrase, str) else f"{' … '.join(phrase['all'])} within {phrase['within']}"
                yield Entry(file, name if key == "phrases" else f"{name}, except", text), phrase


def _words(file: str, table: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the words of the other tables: lists of words or endings, ways to write a unit, and keys with a number."""
    for name, rows in table.items():
        if name == "lists" or name in SETTINGS:
            continue
        for key, value in rows.items():
            if isinstance(value, int):
                yield Entry(file, name, key)
            elif isinstance(value, list):
                label = {"words": name, "endings": f"{name}{ENDINGS}"}.get(key, f"{name}, {key}")
                yield from (Entry(file, label, word) for word in value)


# --- Counting -------------------------------------------------------------------------------------------------------


def _count_phrases(
    tables: Sequence[Mapping[str, Any]], phrases: Sequence[tuple[Entry, Any]], texts: Iterable[str]
) -> dict[Entry, int]:
    """Count the texts with each phrase; the tables have the lists that phrases refer to."""
    alone = {f"entry/{number}": {"phrases": [phrase]} for number, (_, phrase) in enumerate(phrases)}
    index = PhraseIndex.compile([*tables, {"lists": alone}])
    hits = Counter(name for text in texts for name in index.find(words_of(text)))
    return {entry: hits[f"entry/{number}"] for number, (entry, _) in enumerate(phrases)}


def _count_words(entries: Sequence[Entry], texts: Iterable[str]) -> dict[Entry, int]:
    """Count the texts with each word: as it is, in any form, in the plural, or as the ending of a long word."""
    counts: Counter[Entry] = Counter()
    for text in texts if entries else ():
        said = folded(text).replace("'", "")
        words = frozenset(_WORD.findall(said))
        stems = frozenset(map(stem, words))
        counts.update(entry for entry in entries if _occurs(entry, said, words, stems))
    return {entry: counts[entry] for entry in entries}


def _occurs(entry: Entry, said: str, words: frozenset[str], stems: frozenset[str]) -> bool:
    text = folded(entry.text)
    if entry.name.endswith(ENDINGS):
        return any(len(word) >= SHORTEST_ENDED and word.endswith(text) for word in words)
    if entry.name in STEMMED:
        return stem(text) in stems
    if "." in text:
        return f" {text}." in f" {said}"
    return text in words or (entry.name.startswith(UNITS) and f"{text}s" in words)
