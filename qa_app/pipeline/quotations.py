"""Cut passages into quotations: runs of whole sentences that can be read alone, with their qualifications."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from common.orders import gives_orders
from corpus_app.records import Passage, PassageKind
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, PhraseIndex, words_of
from qa_app.pipeline.text import stem_set

OPENING = 6  # words of a sentence that say whether it goes on from the one before
LONGEST = 4  # sentences of a quotation; a longer run is not quoted
_CONNECTIVES = PhraseIndex.compile([tomllib.loads((LANGUAGE_FOLDER / "connectives.toml").read_text("utf-8"))])


@dataclass(frozen=True, slots=True)
class Quotation:
    """Consecutive sentences of one passage, word for word."""

    passage: Passage
    first: int
    """Index of its first sentence in the passage."""
    last: int
    core: int
    """Index of the sentence it was made for; the others make that one readable."""
    terms: frozenset[str]
    """Stems of its words, and of the heading that its source gives it."""

    @property
    def study_id(self) -> str:
        return self.passage.study.study_id

    @property
    def is_plain(self) -> bool:
        return self.passage.kind is PassageKind.PLAIN

    @property
    def is_row(self) -> bool:
        return self.passage.kind is PassageKind.TABLE

    @property
    def sentences(self) -> tuple[str, ...]:
        text, spans = self.passage.text, self.passage.sentences[self.first : self.last + 1]
        return tuple(text[span.start : span.end] for span in spans)

    @property
    def words(self) -> int:
        return sum(len(sentence.split()) for sentence in self.sentences)

    def cosine(self, vector: Sequence[float] | None) -> float:
        """Return the cosine of its core sentence to a unit vector; 0.0 without vectors."""
        own = self.passage.sentences[self.core].vector
        if vector is None or own is None or len(own) != len(vector):
            return 0.0
        return float(np.dot(np.asarray(own, np.float32), np.asarray(vector, np.float32)))


def cut(passage: Passage, named: Container[int] = ()) -> Iterator[Quotation]:
    """Yield the quotation around each sentence of a passage, each run once.

    Each row of a table is one. Runs over `LONGEST` sentences are left out, and those with a sentence that instructs a
    machine.
    `named` holds the indices of sentences that name what is asked about: "the" at their start needs no antecedent. Nor
    does it in the first sentence of a source's own passage, which is read below its title and heading.
    """
    texts = [passage.text[s.start : s.end] for s in passage.sentences]
    is_table = passage.kind is PassageKind.TABLE
    ties = [{} if is_table else _CONNECTIVES.find(words_of(text)[:OPENING]) for text in texts]
    back = [_opens(tie, "refers_back") or _opens(tie, "qualifies") for tie in ties]
    is_headed = passage.kind is PassageKind.EXCERPT
    refers = [
        back[n] or (_opens(tie, "definite") and n not in named and not (n == 0 and is_headed))
        for n, tie in enumerate(ties)
    ]
    qualifies = [_opens(tie, "qualifies") for tie in ties]
    orders = [gives_orders(text) for text in texts]
    seen: set[tuple[int, int]] = set()
    for core in range(len(texts)):
        first, last = core, core
        while first > 0 and refers[first]:
            first -= 1
        while last + 1 < len(texts) and qualifies[last + 1]:
            last += 1
        if refers[first] or last - first >= LONGEST or (first, last) in seen or any(orders[first : last + 1]):
            continue
        seen.add((first, last))
        yield Quotation(passage, first, last, core, stem_set(" ".join((passage.own_section, *texts[first : last + 1]))))


def has_statistics(text: str) -> bool:
    """Tell whether a text has the abbreviations of statistics that a beginner need not know."""
    return "statistics" in _CONNECTIVES.find(words_of(text))


def _opens(found: dict[str, tuple[tuple[int, int], ...]], name: str) -> bool:
    return any(start == 0 for start, _ in found.get(name, ()))
