"""Text for large corpora: real passages from a folder, then passages recombined from their sentences.

New words enter the recombined text as fast as in real text (Heaps' law, fitted on the real part).
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
import string
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus_app import passages

FEWEST_WORDS = 25  # of a text worth a passage
MOST_SENTENCES = 5  # of a recombined passage
SHORTEST_WORD = 6  # letters of a word that a new one may replace
QUESTIONS_FILE = "queries.jsonl"
_WORD = re.compile(r"[a-z]{2,}")


class RealText:
    """Passages of real text, in random order, and their questions if the folder has any."""

    def __init__(self, folder: Path, *, seed: int = 1) -> None:
        """Read each .jsonl, .jsonl.gz and .tar.xz (its .txt members) below a folder. Raises OSError, ValueError."""
        self._random = random.Random(seed)  # noqa: S311  # no secret
        texts = dict.fromkeys(text for text in _texts(folder) if len(text.split()) >= FEWEST_WORDS)
        pieces = (text[start:end] for text in texts for start, end in passages.cut_text(text))
        self.passages = list(dict.fromkeys(piece for piece in pieces if len(piece.split()) >= FEWEST_WORDS))
        if not self.passages:
            raise ValueError(f"{folder} has no text: .jsonl, .jsonl.gz or .tar.xz with .txt files.")
        self._random.shuffle(self.passages)
        self.questions = list(dict.fromkeys(_questions(folder))) or [
            text[slice(*passages.split_sentences(text)[0])] for text in self.passages[::50]
        ]

    def recombined(self, openings: int) -> Iterator[tuple[int, str]]:
        """Yield without end passages of known sentences: the place of the one that it opens like, and its text.

        They open like one of the first `openings` passages.
        """
        growth = _Growth(self.passages)
        pool = [text[start:end] for text in self.passages for start, end in passages.split_sentences(text)]
        while True:
            base = self._random.randrange(openings)
            opening = passages.split_sentences(self.passages[base])[0]
            places = [self._random.randrange(len(pool)) for _ in range(self._random.randint(2, MOST_SENTENCES - 1))]
            growth.words += sum(len(pool[place].split()) for place in places)
            while growth.is_behind and (renewed := growth.renew(pool[places[-1]], self._random)):
                pool[places[-1]] = renewed
            yield base, " ".join([self.passages[base][slice(*opening)], *(pool[place] for place in places)])


class _Growth:
    """The vocabulary of a growing text: V = V0 (n / n0)^beta distinct words among n."""

    def __init__(self, texts: list[str]) -> None:
        counts: Counter[str] = Counter()
        halfway = (0, 0)
        for number, text in enumerate(texts):
            if number == len(texts) // 2:
                halfway = (counts.total(), len(counts))
            counts.update(_WORD.findall(text.lower()))
        self.words = self._words_at_first = counts.total()
        self._size_at_first = len(counts)
        self._vocabulary = set(counts)
        self._rare = {word for word, count in counts.items() if count == 1 and len(word) >= SHORTEST_WORD}
        self._parts = sorted(self._rare)
        n, size = halfway
        self._beta = math.log(len(counts) / size) / math.log(self.words / n) if size else 0.5

    @property
    def is_behind(self) -> bool:
        wanted: float = self._size_at_first * (self.words / self._words_at_first) ** self._beta
        return len(self._vocabulary) < wanted

    def renew(self, sentence: str, rng: random.Random) -> str:
        """Replace a word of a sentence by a new one, a rare word if there is one; empty where none can be replaced."""
        found = [match for match in _WORD.finditer(sentence) if len(match.group()) >= SHORTEST_WORD]
        if not found or not self._parts:
            return ""
        match = next((match for match in found if match.group() in self._rare), rng.choice(found))
        word = self._new_word(rng)
        return sentence[: match.start()] + word + sentence[match.end() :]

    def _new_word(self, rng: random.Random) -> str:
        first, last = rng.choice(self._parts), rng.choice(self._parts)
        word = first[: (len(first) + 1) // 2] + last[len(last) // 2 :]
        while word in self._vocabulary:
            word += rng.choice(string.ascii_lowercase)
        self._vocabulary.add(word)
        self._rare.add(word)
        return word


def title_of(text: str) -> str:
    """Return the first words of a text as a title."""
    return " ".join(text.split()[:12]).rstrip(".,;:")


def _texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.name == QUESTIONS_FILE:
            continue
        if path.name.endswith((".jsonl", ".jsonl.gz")):
            for row in _rows(path):
                yield from _strings(row)
        elif path.name.endswith(".tar.xz"):
            yield from _members(path)


def _members(path: Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".txt") and (file := archive.extractfile(member)):
                yield from _clean(file.read().decode("utf-8", "replace")).split("\n\n")


def _rows(path: Path) -> Iterator[Any]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value; a list of strings is one text."""
    if isinstance(value, str):
        yield from _clean(value).split("\n\n")
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield _clean(" ".join(value))
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _clean(text: str) -> str:
    """Leave out what the database cannot store."""
    return "".join(character for character in text if character != "\0" and not "\ud800" <= character <= "\udfff")


def _questions(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob(QUESTIONS_FILE)):
        yield from (row["text"] for row in _rows(path))
