"""Read citation markers, and number studies by their first appearance in an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from qa_app.pipeline.records import Citation, Evidence, Sentence

# Matches [1], [1, 3], [1-3] and full-width forms, and [^1], [[1]], [p3], [#1] and 【1†source】 as models write them.
# The target of a link is part of its marker.
_OPEN, _CLOSE = r"[\[\uff3b\u3010\u3014]", r"[\]\uff3d\u3011\u3015]"
_DASH = r"[-\u2010-\u2015\u2212\uff0d]"
_ITEM = (
    rf"\^?\s*+(?:(?:p|passage|source|ref|study|s)\.?\s*+|#)?\d++(?:\s*+{_DASH}\s*+\^?\d++)?"
    r"(?:\s*+\u2020[^\[\]\uff3b\uff3d\u3010\u3011]*+)?"
)
MARKER = re.compile(
    rf"(?<!\s)\s*+{_OPEN}{{1,2}}\s*+({_ITEM}(?:\s*+[,;\uff0c\u3001\uff1b&]\s*+{_ITEM})*)\s*+{_CLOSE}{{1,2}}"
    r"(?:\((?:[^()\s]|\([^()\s]*\))*+\))?",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rf"\^?\s*(\d{{1,9}})(?:\s*{_DASH}\s*\^?(\d{{1,9}}))?(?:\s*\u2020.*)?", re.DOTALL)
BRACKET = re.compile(r"[\[\]\uff3b\uff3d\u3010\u3011\u3014\u3015]")
LONGEST_RANGE = 12  # no evidence has more passages


def parse_markers(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the text without its markers, and the numbers in them, in order and without repeats."""
    numbers: dict[int, None] = {}
    for _ in range(2):  # twice: removing one marker may complete another, as in [[[1] 2]
        numbers |= dict.fromkeys(n for match in MARKER.finditer(text) for n in _numbers(match.group(1)))
        text = MARKER.sub("", text)
    if MARKER.search(text):  # nested deeper than any writer means
        text = BRACKET.sub("", text)
    return text.strip(), tuple(numbers)


def _numbers(marker: str) -> Iterator[int]:
    for part in re.split(r"[,;\uff0c\u3001\uff1b&]", marker):
        found = _NUMBERED.fullmatch(part.strip())
        if found is None:  # a passage's label, or a number of ten digits or more
            continue
        first, last = int(found[1]), int(found[2] or found[1])
        yield from range(first, last + 1) if 0 <= last - first < LONGEST_RANGE else (first, last)


def number_studies(sentences: Iterable[Sentence], evidence: Evidence) -> dict[str, int]:
    """Return the citation number of each study by id, from 1: the headline's study first, then by appearance.

    A study outside the evidence cannot appear, and without sentences no study does.
    """
    known = {study.study_id for study in evidence.studies}
    order = dict.fromkeys(study for sentence in sentences for study in sentence.study_ids if study in known)
    if order and evidence.headline_study in known:
        order = dict.fromkeys((evidence.headline_study, *order))
    return {study_id: index for index, study_id in enumerate(order, start=1)}


def numbered(sentences: tuple[Sentence, ...], numbers: dict[str, int]) -> tuple[Sentence, ...]:
    """Return the sentences with the citation numbers of their studies."""
    return tuple(
        replace(s, citations=tuple(dict.fromkeys(numbers[study_id] for study_id in s.study_ids))) for s in sentences
    )


def citations(numbers: dict[str, int], evidence: Evidence) -> tuple[Citation, ...]:
    studies = {study.study_id: study for study in evidence.studies}
    return tuple(
        Citation(index, studies[study_id]) for study_id, index in sorted(numbers.items(), key=lambda pair: pair[1])
    )


def with_markers(sentences: Iterable[tuple[str, Sequence[int], int]]) -> str:
    """Join sentences (text, citations, paragraph) into one text with markers; a blank line parts paragraphs."""
    paragraphs: dict[int, list[str]] = {}
    for text, numbers, paragraph in sentences:
        paragraphs.setdefault(paragraph, []).append(marked(text, numbers))
    return "\n\n".join(" ".join(parts) for parts in paragraphs.values())


def marked(text: str, numbers: Sequence[int]) -> str:
    """Insert citation markers before the closing punctuation: `It grows [1].`

    Markers that the source itself has are removed.
    """
    text = parse_markers(text)[0] if MARKER.search(text) else text
    if not numbers:
        return text
    markers = "".join(f"[{number}]" for number in numbers)
    body, end = text.rstrip(), ""
    if body[-1:] in {".", "!", "?"}:
        body, end = body[:-1], body[-1]
    return f"{body} {markers}{end}"
