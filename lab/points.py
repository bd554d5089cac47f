"""Which of the facts that a good answer holds does an answer hold? Docs: docs/evaluation.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.text import content_stems, folded, words

COVERED_FROM = 0.5  # share of a point's content that a sentence must hold, where the point names no figure
ABOUT_FROM = 0.25  # and where it names some, so that the same figure of another matter does not count
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")
# Numbers that are part of a name and no figure of a fact: type 2 diabetes, 1RM, the 95% of an interval.
_NAMED = re.compile(
    r"\b(?:type|stage|grade|phase|class)s? \d\b|\b1 ?-?RM\b|\b\d\d ?% (?:CI|confidence|credible)\b", re.IGNORECASE
)
_SPELT = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}  # fmt: skip
_POINTING = frozenset({"the", "these", "those"})  # "the two" points at things and counts none


@dataclass(frozen=True, slots=True)
class Point:
    """A short fact that a good answer holds, and the studies that state it."""

    text: str
    studies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of an answer and the studies that it cites."""

    text: str
    studies: tuple[str, ...]


def is_covered(point: Point, said: Iterable[Said], concepts: ConceptIndex) -> bool:
    """Whether one sentence cites a study of the point and carries its figures, or its content where it names none."""
    return any(_carries(point.text, sentence.text, concepts) for sentence in _of_its_studies(point, said))


def is_covered_by_the_letter(point: Point, said: Iterable[Said]) -> bool:
    """Whether one sentence cites a study of the point and carries its figures; where it names none, the citation is enough."""
    return any(_has_figures(point.text, sentence.text) for sentence in _of_its_studies(point, said))


def is_covered_together(point: Point, said: Iterable[Said], concepts: ConceptIndex) -> bool:
    """The same of all sentences that cite one study of the point, taken together."""
    cited = _of_its_studies(point, said)
    return any(
        _carries(point.text, " ".join(s.text for s in cited if study in s.studies), concepts)
        for study in point.studies
        if any(study in s.studies for s in cited)
    )


def _of_its_studies(point: Point, said: Iterable[Said]) -> list[Said]:
    return [sentence for sentence in said if set(sentence.studies) & set(point.studies)]


def _carries(point: str, sentence: str, concepts: ConceptIndex) -> bool:
    about = share_held(point, sentence, concepts)
    return about >= (ABOUT_FROM if figures(point) else COVERED_FROM) and _has_figures(point, sentence)


def _has_figures(point: str, sentence: str) -> bool:
    held = figures(sentence)
    return all(any(agrees(figure, other) for other in held) for figure in figures(point))


def figures(text: str) -> tuple[str, ...]:
    """The numbers of a text as digits, in order, without repeats; years of publication and parts of names are no figures of a fact."""
    text = _NAMED.sub(" ", text)
    found = [match.group().replace(",", "") for match in _NUMBER.finditer(text)]
    said = words(text)
    found += [
        _SPELT[word]
        for before, word in zip(["", *said], said, strict=False)
        if word in _SPELT and word != "one" and before not in _POINTING
    ]
    return tuple(dict.fromkeys(n for n in found if not re.fullmatch(r"(?:19|20)\d\d", n)))


def agrees(wanted: str, other: str) -> bool:
    """Whether a number is the wanted one, or becomes it when rounded to as many decimals as that has: 20.4 is "about 20"."""
    decimals = len(wanted.partition(".")[2])
    return bool(abs(float(other) - float(wanted)) <= 0.5 * 10**-decimals + 1e-9)


def share_held(point: str, sentence: str, concepts: ConceptIndex) -> float:
    """The share of the point's content that the sentence holds: concepts under any of their names, else words by their stems."""
    wanted = content(point, concepts)
    return len(wanted & content(sentence, concepts)) / len(wanted) if wanted else 0.0


def content(text: str, concepts: ConceptIndex) -> frozenset[str]:
    """What a text is about: ids of the concepts named, and stems of the other words that carry a subject."""
    mentions = concepts.find(text)
    spoken = list(folded(text)) if len(folded(text)) == len(text) else list(text)
    for mention in mentions:
        spoken[mention.start : mention.end] = " " * (mention.end - mention.start)
    rest = (stem for stem in content_stems("".join(spoken)) if not stem.isdigit())
    return frozenset((*(f"concept {mention.concept.concept_id}" for mention in mentions), *rest))
