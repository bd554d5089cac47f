"""Decide which answer points an answer contains. Docs: docs/evaluation.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.text import content_stems, folded, words

COVERED_FROM = 0.5  # share of a point's content that a sentence must contain where the point has no figure
ABOUT_FROM = 0.25  # where it has figures, so that an equal figure about another topic does not count
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")
# Numbers that are part of a name: type 2 diabetes, 1RM, the 95% of an interval.
_NAMED = re.compile(
    r"\b(?:type|stage|grade|phase|class)s? \d\b|\b1 ?-?RM\b|\b\d\d ?% (?:CI|confidence|credible)\b", re.IGNORECASE
)
_SPELLED = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}  # fmt: skip
_DETERMINERS = frozenset({"the", "these", "those"})  # "the two" refers to known things and is no count


@dataclass(frozen=True, slots=True)
class Point:
    """A short fact that a good answer contains, and the studies that report it."""

    text: str
    studies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer and the studies that it cites."""

    text: str
    studies: tuple[str, ...]


def is_covered(point: Point, said: Iterable[CitedSentence], concepts: ConceptIndex) -> bool:
    """Return whether one sentence cites a study of the point and has its figures, or its content if there are none."""
    return any(_carries(point.text, sentence.text, concepts) for sentence in _of_its_studies(point, said))


def is_covered_by_the_letter(point: Point, said: Iterable[CitedSentence]) -> bool:
    """Return whether one sentence cites a study of the point and has all of its figures, if there are any."""
    return any(_has_figures(point.text, sentence.text) for sentence in _of_its_studies(point, said))


def is_covered_together(point: Point, said: Iterable[CitedSentence], concepts: ConceptIndex) -> bool:
    """Return whether all sentences that cite one study of the point cover it together."""
    cited = _of_its_studies(point, said)
    return any(
        _carries(point.text, " ".join(s.text for s in cited if study in s.studies), concepts)
        for study in point.studies
        if any(study in s.studies for s in cited)
    )


def _of_its_studies(point: Point, said: Iterable[CitedSentence]) -> list[CitedSentence]:
    return [sentence for sentence in said if set(sentence.studies) & set(point.studies)]


def _carries(point: str, sentence: str, concepts: ConceptIndex) -> bool:
    about = content_overlap(point, sentence, concepts)
    return about >= (ABOUT_FROM if figures(point) else COVERED_FROM) and _has_figures(point, sentence)


def _has_figures(point: str, sentence: str) -> bool:
    held = figures(sentence)
    return all(any(agrees(figure, other) for other in held) for figure in figures(point))


def figures(text: str) -> tuple[str, ...]:
    """Return the distinct numbers of a text as digits, in order, without years and numbers in names."""
    text = _NAMED.sub(" ", text)
    found = [match.group().replace(",", "") for match in _NUMBER.finditer(text)]
    said = words(text)
    found += [
        _SPELLED[word]
        for before, word in zip(["", *said], said, strict=False)
        if word in _SPELLED and word != "one" and before not in _DETERMINERS
    ]
    return tuple(dict.fromkeys(n for n in found if not re.fullmatch(r"(?:19|20)\d\d", n)))


def agrees(wanted: str, other: str) -> bool:
    """Return whether the other number equals the wanted one when rounded to its decimals, as 20.4 equals "20"."""
    decimals = len(wanted.partition(".")[2])
    return bool(abs(float(other) - float(wanted)) <= 0.5 * 10**-decimals + 1e-9)


def content_overlap(point: str, sentence: str, concepts: ConceptIndex) -> float:
    """Return the share of the point's content that the sentence contains: concepts by any name, other words by stem."""
    wanted = content(point, concepts)
    return len(wanted & content(sentence, concepts)) / len(wanted) if wanted else 0.0


def content(text: str, concepts: ConceptIndex) -> frozenset[str]:
    """Return the ids of the concepts in a text and the stems of its other content words."""
    mentions = concepts.find(text)
    spoken = list(folded(text)) if len(folded(text)) == len(text) else list(text)
    for mention in mentions:
        spoken[mention.start : mention.end] = " " * (mention.end - mention.start)
    rest = (stem for stem in content_stems("".join(spoken)) if not stem.isdigit())
    return frozenset((*(f"concept {mention.concept.concept_id}" for mention in mentions), *rest))
