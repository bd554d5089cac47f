"""Reduce an answer to a card for other sites: its line, its grade, and a few cited sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qa_app.answers import overview, presentation
from qa_app.answers.presentation import Payload, ShownHeadline, ShownSentence

MAX_SENTENCES = 3
MAX_CHARACTERS = 450  # of the sentences together; the first is shown whatever its length
NOTICES = ("retracted", "expression_of_concern", "corrected", "withdrawn")


@dataclass(frozen=True, slots=True)
class CardSentence:
    """A sentence and the part of the answer that it comes from, which its citations are found by."""

    part: str
    sentence: ShownSentence


@dataclass(frozen=True, slots=True)
class Card:
    """Hold what other sites show of an answer. No sentence rests on a withdrawn or retracted study."""

    headline: ShownHeadline | None
    counts: tuple[tuple[str, int], ...]
    """Studies by result; empty once a cited study is lost."""
    strength: str
    """Level of the evidence; empty once a cited study is lost."""
    sentences: tuple[CardSentence, ...]
    sources: tuple[Mapping[str, Any], ...]
    """The studies that the headline and the sentences cite."""
    notices: tuple[str, ...]
    """Kinds of notices about studies, gravest first."""
    lost: str
    """As in `presentation.Page`."""
    has_newer_corpus: bool
    whose_words: str
    """As in `presentation.whose_words`."""
    is_refusal: bool
    confidence: Mapping[str, Any] | None
    """Label and score of the match with the question; None for a refusal, and once a cited study is lost."""


def can_be_embedded(payload: Payload) -> bool:
    """Return whether other sites may show it: no fixed reply, no count of the corpus."""
    return payload["outcome"] != "guardrail" and not payload.get("overview")


def build_card(payload: Payload) -> Card | None:
    """Return the card of a redacted answer; None where it cannot be embedded."""
    if not can_be_embedded(payload):
        return None
    page = presentation.read(payload)
    lost = {cited["index"] for cited in payload["citations"] if _is_lost(cited)}
    headline = page.headline if page.headline and _is_sound(page.headline.sentence, lost) else None
    sentences = tuple(_choose(page, lost))
    shown = [chosen.sentence for chosen in sentences] + ([headline.sentence] if headline else [])
    cited = {index for sentence in shown for index in sentence.markers}
    meter = None if page.lost else overview.build_overview(payload).meter
    counts = meter.counts if meter else headline.counts if headline else ()
    kinds = {banner.kind for banner in page.banners}
    return Card(
        headline=headline,
        counts=() if page.lost else counts,
        strength="" if page.lost else (payload.get("evidence_strength") or {}).get("level", ""),
        sentences=sentences,
        sources=tuple(source for source in page.sources if source["index"] in cited),
        notices=tuple(kind for kind in NOTICES if kind in kinds),
        lost=page.lost,
        has_newer_corpus=page.has_newer_corpus,
        whose_words=presentation.whose_words(shown),
        is_refusal=page.is_refusal,
        confidence=None if page.lost or page.is_refusal else payload.get("confidence"),
    )


def _choose(page: presentation.Page, lost: set[int]) -> Iterator[CardSentence]:
    """Yield the first sound sentences of the summary, then of the answer, without repeating one."""
    shown = {page.headline.sentence.text} if page.headline else set()
    number = length = 0
    for part, paragraphs in (("summary", page.summary), ("answer", page.answer)):
        for sentence in (sentence for paragraph in paragraphs for sentence in paragraph):
            if sentence.text in shown or not _is_sound(sentence, lost):
                continue
            length += len(sentence.text)
            if number == MAX_SENTENCES or (number and length > MAX_CHARACTERS):
                return
            number += 1
            shown.add(sentence.text)
            yield CardSentence(part, sentence)


def _is_sound(sentence: ShownSentence, lost: set[int]) -> bool:
    return not sentence.is_withdrawn and bool(sentence.markers) and lost.isdisjoint(sentence.markers)


def _is_lost(citation: Mapping[str, Any]) -> bool:
    return citation.get("status") == "withdrawn" or citation.get("notice") == "retracted"
