"""How far a free paraphrase is borne out by the sentences behind it: signals from the words, and a fitted score."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from qa_app.pipeline.text import EMPTY_WORDS, stem, words
from qa_app.pipeline.verification.lexicon import FALLING, NEGATIONS, RISING, Kind
from qa_app.pipeline.verification.reading import Token, read

FILE = Path(__file__).with_name("support.json")
SIGNALS = (
    "union_recall", "best_recall", "best_three_recall", "pair_recall", "longest_run", "letter_recall", "missing_rarest",
    "numbers_missing", "numbers_apart", "names_missing", "negation_differs", "direction_differs", "claim_length", "evidence_length",
)  # fmt: skip
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w-]+")


@dataclass(frozen=True, slots=True)
class Support:
    """A fitted score: means and scales of the signals, weights on the scaled ones, and how rare words are."""

    intercept: float
    weights: Mapping[str, float]
    means: Mapping[str, float]
    scales: Mapping[str, float]
    sentences: int
    """From how many sentences `carrying` was counted."""
    carrying: Mapping[str, int]
    """In how many of them a stem stands; a stem that is not named stands in few."""
    fitted_on: str

    def rarity(self, word: str) -> float:
        return math.log(1 + (self.sentences + 0.5) / (self.carrying.get(word, 0) + 0.5))

    def score(self, signals: Mapping[str, float]) -> float:
        """From 0 to 1: as sure as that the cited sentences bear the claim out."""
        z = self.intercept + sum(
            weight * (signals[name] - self.means[name]) / self.scales[name] for name, weight in self.weights.items()
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


FITTED = Support(**json.loads(FILE.read_text(encoding="utf-8")))
"""The score that the running site uses."""


def read_signals(claim: str, evidence: Sequence[str], support: Support) -> dict[str, float]:
    """What the words of a claim and of the sentences behind it show.

    union_recall       IDF-weighted share of the claim's content stems that stand anywhere in the evidence
    best_recall        the same in the one sentence that holds most; best_three_recall in the three best together
    pair_recall        share of the claim's neighbouring stems that are neighbours in the evidence
    longest_run        longest run of the claim's stems in one sentence, as a share of the claim
    letter_recall      share of the claim's runs of five letters that stand in the evidence
    missing_rarest     IDF of the rarest stem that the evidence lacks, over the largest possible
    numbers_missing    share of the claim's numbers that the evidence lacks; numbers_apart: that the best sentence lacks
    names_missing      share of the claim's names (capitals within the sentence) that the evidence lacks
    negation_differs   whether one of claim and best sentence is negated and the other is not
    direction_differs  whether the claim's direction words point otherwise than all of the best sentence's
    claim_length, evidence_length   logarithms of the numbers of words
    """
    stems = _stems(claim)
    content = {s: support.rarity(s) for s in dict.fromkeys(stems) if s not in _EMPTY_STEMS}
    total = sum(content.values()) or 1.0
    read_sentences = [_stems(sentence) for sentence in evidence]
    held = [frozenset(sentence) for sentence in read_sentences]
    together: frozenset[str] = frozenset().union(*held)

    def recall(found: frozenset[str]) -> float:
        return sum(value for s, value in content.items() if s in found) / total

    best = max(range(len(evidence)), key=lambda n: (recall(held[n]), -n), default=None)
    three: frozenset[str] = frozenset()
    for _ in range(3):
        three = max((three | sentence for sentence in held), key=recall, default=three)
    pairs = set(pairwise(stems))
    paired = pairs & {pair for sentence in read_sentences for pair in pairwise(sentence)}
    missing = [value for s, value in content.items() if s not in together]
    tokens, nearest = read(claim), read(evidence[best]) if best is not None else ()
    numbers = _numbers(tokens)
    known = {number for sentence in evidence for number in _numbers(read(sentence))}
    names = {stem(name) for name in _NAME.findall(claim)}
    letters = _letters(claim)
    return {
        "union_recall": recall(together),
        "best_recall": recall(held[best]) if best is not None else 0.0,
        "best_three_recall": recall(three),
        "pair_recall": len(paired) / max(1, len(pairs)),
        "longest_run": max((_longest_run(stems, sentence) for sentence in read_sentences), default=0) / max(1, len(stems)),
        "letter_recall": len(letters & _letters(" ".join(evidence))) / max(1, len(letters)),
        "missing_rarest": max(missing, default=0.0) / support.rarity(""),
        "numbers_missing": _share_missing(numbers, known),
        "numbers_apart": _share_missing(numbers, _numbers(nearest)),
        "names_missing": _share_missing(names, together),
        "negation_differs": float(is_negated(tokens) != is_negated(nearest)),
        "direction_differs": float(turns(tokens, nearest)),
        "claim_length": math.log(1 + len(stems)),
        "evidence_length": math.log(1 + sum(map(len, read_sentences))),
    }  # fmt: skip


def is_negated(tokens: Sequence[Token]) -> bool:
    return sum(token.word in NEGATIONS or token.key in NEGATIONS for token in tokens) % 2 == 1


def turns(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether the claim points up or down and the source only the other way."""
    said, found = _ways(claim), _ways(source)
    return bool(said and found and not said & found)


def _ways(tokens: Sequence[Token]) -> set[int]:
    stems = {stem(token.word) for token in tokens if token.kind is Kind.DIRECTION}
    return ({1} if stems & RISING else set()) | ({-1} if stems & FALLING else set())


def _numbers(tokens: Sequence[Token]) -> set[str]:
    return {token.key for token in tokens if token.kind is Kind.NUMBER}


def _share_missing(wanted: set[str], found: set[str] | frozenset[str]) -> float:
    return len(wanted - found) / len(wanted) if wanted else 0.0


_EMPTY_STEMS = frozenset(stem(word) for word in EMPTY_WORDS)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _letters(text: str) -> set[str]:
    plain = " ".join(words(text))
    return {plain[n : n + 5] for n in range(len(plain) - 4)}


def _longest_run(claim: Sequence[str], sentence: Sequence[str]) -> int:
    best = 0
    lengths = [0] * (len(sentence) + 1)
    for word in claim:
        before = 0
        for place, other in enumerate(sentence, start=1):
            before, lengths[place] = lengths[place], before + 1 if word == other else 0
            best = max(best, lengths[place])
    return best
