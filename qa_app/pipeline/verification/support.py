"""Score the support of a free paraphrase by its cited sentences: signals from the words, and a fitted model."""

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
    "numbers_missing", "numbers_apart", "names_missing", "negation_differs", "direction_differs", "claim_length",
    "evidence_length",
)  # fmt: skip
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w-]+")


@dataclass(frozen=True, slots=True)
class Support:
    """A fitted model of support: means and scales of the signals, weights on the scaled ones, and word frequencies."""

    intercept: float
    weights: Mapping[str, float]
    means: Mapping[str, float]
    scales: Mapping[str, float]
    sentences: int
    """Number of sentences over which `carrying` was counted."""
    carrying: Mapping[str, int]
    """Number of sentences with each stem; stems that are not listed are rare."""
    fitted_on: str

    def rarity(self, word: str) -> float:
        return math.log(1 + (self.sentences + 0.5) / (self.carrying.get(word, 0) + 0.5))

    def score(self, signals: Mapping[str, float]) -> float:
        """Return the chance, 0 to 1, that the cited sentences support the claim."""
        z = self.intercept + sum(
            weight * (signals[name] - self.means[name]) / self.scales[name] for name, weight in self.weights.items()
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


FITTED = Support(**json.loads(FILE.read_text(encoding="utf-8")))
"""The score that the running site uses."""


def read_signals(claim: str, evidence: Sequence[str], support: Support) -> dict[str, float]:
    """Compute the signals of a claim and its cited sentences.

    union_recall       IDF-weighted share of the claim's content stems that occur anywhere in the evidence
    best_recall        the same for the one best sentence; best_three_recall for the three best together
    pair_recall        share of the claim's neighbouring stems that are neighbours in the evidence
    longest_run        longest run of the claim's stems in one sentence, as a share of the claim
    letter_recall      share of the claim's runs of five letters that occur in the evidence
    missing_rarest     IDF of the rarest stem that the evidence lacks, over the largest possible
    numbers_missing    share of the claim's numbers that the evidence lacks
    numbers_apart      share of the claim's numbers that the best sentence lacks
    names_missing      share of the claim's names (capitals within the sentence) that the evidence lacks
    negation_differs   whether one of claim and best sentence is negated and the other is not
    direction_differs  whether the claim's direction words point otherwise than all of the best sentence's
    claim_length, evidence_length   logarithms of the numbers of words
    """
    stems = _stems(claim)
    content = {s: support.rarity(s) for s in dict.fromkeys(stems) if s not in _EMPTY_STEMS}
    total = sum(content.values()) or 1.0
    read_sentences = [_stems(sentence) for sentence in evidence]
    stem_sets = [frozenset(sentence) for sentence in read_sentences]
    together: frozenset[str] = frozenset().union(*stem_sets)

    def recall(found: frozenset[str]) -> float:
        return sum(value for s, value in content.items() if s in found) / total

    best = max(range(len(evidence)), key=lambda n: (recall(stem_sets[n]), -n), default=None)
    three: frozenset[str] = frozenset()
    for _ in range(3):
        three = max((three | sentence for sentence in stem_sets), key=recall, default=three)
    pairs = set(pairwise(stems))
    paired = pairs & {pair for sentence in read_sentences for pair in pairwise(sentence)}
    missing = [value for s, value in content.items() if s not in together]
    tokens, nearest = read(claim), read(evidence[best]) if best is not None else ()
    numbers = _numbers(tokens)
    known = {number for sentence in evidence for number in _numbers(read(sentence))}
    names = {stem(name) for name in _NAME.findall(claim)}
    letters = _letters(claim)
    longest = max((_longest_run(stems, sentence) for sentence in read_sentences), default=0)
    return {
        "union_recall": recall(together),
        "best_recall": recall(stem_sets[best]) if best is not None else 0.0,
        "best_three_recall": recall(three),
        "pair_recall": len(paired) / max(1, len(pairs)),
        "longest_run": longest / max(1, len(stems)),
        "letter_recall": len(letters & _letters(" ".join(evidence))) / max(1, len(letters)),
        "missing_rarest": max(missing, default=0.0) / support.rarity(""),
        "numbers_missing": _share_missing(numbers, known),
        "numbers_apart": _share_missing(numbers, _numbers(nearest)),
        "names_missing": _share_missing(names, together),
        "negation_differs": float(is_negated(tokens) != is_negated(nearest)),
        "direction_differs": float(has_opposite_direction(tokens, nearest)),
        "claim_length": math.log(1 + len(stems)),
        "evidence_length": math.log(1 + sum(map(len, read_sentences))),
    }  # fmt: skip


def is_negated(tokens: Sequence[Token]) -> bool:
    return sum(token.word in NEGATIONS or token.key in NEGATIONS for token in tokens) % 2 == 1


def has_opposite_direction(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Tell whether the claim states a rise or fall and the source only the opposite."""
    claimed, found = _directions(claim), _directions(source)
    return bool(claimed and found and not claimed & found)


def _directions(tokens: Sequence[Token]) -> set[int]:
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
