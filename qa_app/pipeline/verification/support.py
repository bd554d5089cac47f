"""Score how well sentences support a free paraphrase: signals from the words, weighted by a fitted logistic model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from qa_app.pipeline.text import EMPTY_WORDS, stem, stems, words
from qa_app.pipeline.verification.reading import LISTS, Kind, Token, read

FILE = Path(__file__).with_name("support.json")
SIGNALS = (
    "union_recall", "best_recall", "best_three_recall", "pair_recall", "longest_run", "letter_recall", "missing_rarest",
    "numbers_missing", "numbers_apart", "names_missing", "negation_differs", "direction_differs", "claim_length",
    "evidence_length",
)  # fmt: skip
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w-]+")
_EMPTY_STEMS = frozenset(map(stem, EMPTY_WORDS))


@dataclass(frozen=True, slots=True)
class Support:
    """A fitted score: means and scales of the signals, weights on the scaled ones, and how rare words are."""

    intercept: float
    weights: Mapping[str, float]
    means: Mapping[str, float]
    scales: Mapping[str, float]
    sentences: int
    """Number of sentences that `carrying` was counted in."""
    carrying: Mapping[str, int]
    """Sentences with each stem; a stem that is not named is in few."""
    fitted_on: str

    def rarity(self, word: str) -> float:
        return math.log(1 + (self.sentences + 0.5) / (self.carrying.get(word, 0) + 0.5))

    def score(self, signals: Mapping[str, float]) -> float:
        """Return the chance, 0 to 1, that the sentences support the claim."""
        scaled = ((signals[name] - self.means[name]) / self.scales[name] * w for name, w in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.intercept + sum(scaled)))))


FITTED = Support(**json.loads(FILE.read_text(encoding="utf-8")))


def read_signals(claim: str, evidence: Sequence[str], support: Support) -> dict[str, float]:
    """Compute the signals of a claim and the sentences behind it.

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
    own = stems(claim)
    content = {s: support.rarity(s) for s in dict.fromkeys(own) if s not in _EMPTY_STEMS}
    total = sum(content.values()) or 1.0
    sentences = [stems(sentence) for sentence in evidence]
    present = [frozenset(sentence) for sentence in sentences]
    together = frozenset[str]().union(*present)

    def recall(found: AbstractSet[str]) -> float:
        return sum(value for s, value in content.items() if s in found) / total

    best = max(range(len(evidence)), key=lambda n: (recall(present[n]), -n), default=None)
    three = frozenset[str]()
    for _ in range(3):
        three = max((three | sentence for sentence in present), key=recall, default=three)
    pairs = set(pairwise(own))
    tokens, nearest = read(claim), read(evidence[best]) if best is not None else ()
    numbers, letters = _numbers(tokens), _letters(claim)
    return {
        "union_recall": recall(together),
        "best_recall": recall(present[best]) if best is not None else 0.0,
        "best_three_recall": recall(three),
        "pair_recall": len(pairs & {pair for s in sentences for pair in pairwise(s)}) / max(1, len(pairs)),
        "longest_run": max((_longest_run(own, s) for s in sentences), default=0) / max(1, len(own)),
        "letter_recall": len(letters & _letters(" ".join(evidence))) / max(1, len(letters)),
        "missing_rarest": max((v for s, v in content.items() if s not in together), default=0.0) / support.rarity(""),
        "numbers_missing": _share_missing(numbers, {n for sentence in evidence for n in _numbers(read(sentence))}),
        "numbers_apart": _share_missing(numbers, _numbers(nearest)),
        "names_missing": _share_missing({stem(name) for name in _NAME.findall(claim)}, together),
        "negation_differs": float(is_negated(tokens) != is_negated(nearest)),
        "direction_differs": float(reverses(tokens, nearest)),
        "claim_length": math.log(1 + len(own)),
        "evidence_length": math.log(1 + sum(map(len, sentences))),
    }


def is_negated(tokens: Sequence[Token]) -> bool:
    return sum(token.word in LISTS["negation"] or token.key in LISTS["negation"] for token in tokens) % 2 == 1


def reverses(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Tell whether the claim points up or down and the source only the other way."""
    own, found = _directions(claim), _directions(source)
    return bool(own and found and not own & found)


def _directions(tokens: Sequence[Token]) -> set[str]:
    found = {stem(token.word) for token in tokens if token.kind is Kind.DIRECTION}
    return {name for name in ("rising", "falling") if found & LISTS[name]}


def _numbers(tokens: Sequence[Token]) -> set[str]:
    return {token.key for token in tokens if token.kind is Kind.NUMBER}


def _share_missing(wanted: AbstractSet[str], found: AbstractSet[str]) -> float:
    return len(wanted - found) / len(wanted) if wanted else 0.0


def _letters(text: str) -> set[str]:
    plain = " ".join(words(text))
    return {plain[n : n + 5] for n in range(len(plain) - 4)}


def _longest_run(claim: Sequence[str], sentence: Sequence[str]) -> int:
    """Return the length of the longest common run of stems."""
    best, lengths = 0, [0] * (len(sentence) + 1)
    for own in claim:
        lengths = [0, *(lengths[n] + 1 if own == other else 0 for n, other in enumerate(sentence))]
        best = max(best, *lengths)
    return best
