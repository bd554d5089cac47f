"""Compare two answers: which studies and sentences only one of them has, and how certain each is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as N_

from qa_app.answers import presentation
from qa_app.templatetags import answer_words

Payload = Mapping[str, Any]

OUTCOME_PHRASES = {
    "answered": N_("is answered"),
    "partial": N_("is answered in part"),
    "conflicting": N_("finds studies that disagree"),
    "insufficient_evidence": N_("finds no answer in the studies"),
    "out_of_scope": N_("lies outside the studies"),
    "guardrail": N_("is not answered from studies"),
}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z])")
"""Splits a quotation into sentences. A false split is harmless, since both answers are split alike."""


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A sentence of an answer."""

    text: str
    markers: tuple[int, ...]
    """Citation numbers; empty except at the end of a quotation."""
    is_shared: bool
    """Whether the other answer contains the same sentence."""
    attribution: str = ""
    """The study that the words are from, as the answer names it; empty where the line before or the text tells."""


@dataclass(frozen=True, slots=True)
class ComparedSource:
    index: int
    study_id: str
    title: str
    year: int | None
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Side:
    name: str
    """A or B; also the anchor."""
    answer: Payload
    headline: tuple[ComparedSentence, ...]
    """At most one line."""
    verdict: str
    counts: tuple[tuple[str, int], ...]
    summary: tuple[ComparedSentence, ...]
    lines: tuple[ComparedSentence, ...]
    """Sentences of the longer text that the summary does not contain."""
    sources: tuple[ComparedSource, ...]
    withdrawn: int
    """Number of withdrawn sources."""
    missing: tuple[str, ...] = ()
    """Parts of the question without evidence that the answer's message does not name."""


@dataclass(frozen=True, slots=True)
class Comparison:
    sides: tuple[Side, Side]
    differences: tuple[str, ...]
    """Messages, the most important first; never empty."""
    is_same_question: bool


def compare(first: Payload, second: Payload, *, is_same_engine: bool = True) -> Comparison:
    """Compare the payloads of two answers. `is_same_engine` tells whether one engine made both."""
    sides = _side("A", first, second), _side("B", second, first)
    same = (
        gettext("They say the same, from the same studies.")
        if first["citations"]
        else gettext("Both end without an answer.")
    )
    differences = _differences(*sides)
    if not is_same_engine:
        differences.append(
            gettext(
                "They were made by different versions of the software, so the same studies may be worded differently."
            )
        )
    return Comparison(
        sides=sides,
        differences=tuple(differences) or (same,),
        is_same_question=_asked(first) == _asked(second),
    )


def _side(name: str, payload: Payload, other: Payload) -> Side:
    shared = {text for part in ("summary", "answer") for text in _sentences(other[part]["sentences"])}
    headline, opposite = presentation.headline(payload), presentation.headline(other)
    is_shared = bool(headline and opposite and headline.sentence.text == opposite.sentence.text)
    cited = {row["study_id"] for row in other["citations"]}
    short = set(_sentences(payload["summary"]["sentences"]))
    public = [row for row in payload["citations"] if row["status"] != "withdrawn"]

    return Side(
        name=name,
        answer=payload,
        headline=(_headline(headline.sentence, is_shared),) if headline else (),
        verdict=headline.verdict if headline else "",
        counts=headline.counts if headline else (),
        summary=tuple(_lines(payload["summary"]["sentences"], shared)),
        lines=tuple(_lines(payload["answer"]["sentences"], shared, left_out=short)),
        sources=tuple(
            ComparedSource(row["index"], row["study_id"], row["title"], row["year"], row["study_id"] in cited)
            for row in public
        ),
        withdrawn=len(payload["citations"]) - len(public),
        missing=presentation.missing_parts(payload),
    )


def _headline(sentence: presentation.ShownSentence, is_shared: bool) -> ComparedSentence:
    return ComparedSentence(sentence.text, sentence.markers, is_shared, sentence.attribution)


def _lines(
    rows: Iterable[Payload], shared: set[str], left_out: set[str] | frozenset[str] = frozenset()
) -> Iterator[ComparedSentence]:
    """Yield the sentences of these rows. A row after one that is left out is given the attribution of that one."""
    names: dict[tuple[int, ...], str] = {}
    before: tuple[int, ...] = ()
    for row in rows:
        texts, cited = _split_sentences(row), tuple(row["citations"])
        if row.get("attribution"):
            names[cited] = row["attribution"]
        if left_out.issuperset(texts):
            continue
        who = row.get("attribution") or ("" if cited == before else names.get(cited, ""))
        before = cited
        for place, text in enumerate(texts):
            markers = cited if place == len(texts) - 1 else ()
            yield ComparedSentence(text, markers, text in shared, "" if place else who)


def _sentences(rows: Iterable[Payload]) -> Iterator[str]:
    for row in rows:
        yield from _split_sentences(row)


def _split_sentences(row: Payload) -> list[str]:
    return SENTENCE_END.split(row["text"])


def _asked(answer: Payload) -> str:
    return " ".join((answer.get("understood_as") or answer["question"]).casefold().split())


def _differences(a: Side, b: Side) -> list[str]:
    """Describe differences in outcome, studies, sentences, certainty and corpus version."""
    found: list[str] = []
    if a.answer["outcome"] != b.answer["outcome"]:
        found.append(gettext("They end differently: A %(a)s, B %(b)s.") % {"a": _outcome(a), "b": _outcome(b)})
    shared = sum(source.is_shared for source in a.sources)
    only_a, only_b = len(a.sources) - shared, len(b.sources) - shared
    if only_a or only_b:
        words = gettext("Studies: none is cited by both, %(a)s only by A, %(b)s only by B.")
        if shared:
            words = ngettext(
                "Studies: %(shared)s is cited by both, %(a)s only by A, %(b)s only by B.",
                "Studies: %(shared)s are cited by both, %(a)s only by A, %(b)s only by B.",
                shared,
            )
        found.append(words % {"shared": shared, "a": only_a, "b": only_b})
    new_a, new_b = _count_own(a), _count_own(b)
    if new_a or new_b:
        found.append(gettext("Sentences: %(a)s only in A, %(b)s only in B.") % {"a": new_a, "b": new_b})
    if a.verdict and b.verdict and a.verdict != b.verdict:
        verdicts = {"a": answer_words.verdict_words(a.verdict), "b": answer_words.verdict_words(b.verdict)}
        found.append(gettext("Verdicts: A says “%(a)s”, B says “%(b)s”.") % verdicts)
    strong_a, strong_b = (side.answer.get("evidence_strength") for side in (a, b))
    if strong_a and strong_b and strong_a["level"] != strong_b["level"]:
        words = gettext("Strength of the evidence: %(a)s for A, %(b)s for B.")
        found.append(
            words
            % {side: answer_words.strength_words(row["level"]) for side, row in (("a", strong_a), ("b", strong_b))}
        )
    sure_a, sure_b = a.answer["confidence"], b.answer["confidence"]
    if sure_a and sure_b and sure_a["score"] != sure_b["score"]:
        words = gettext("Match with the question: %(a)s out of 100 for A, %(b)s for B.")
        found.append(words % {"a": sure_a["score"], "b": sure_b["score"]})
    if a.answer["corpus_version"] != b.answer["corpus_version"]:
        newer = "A" if a.answer["corpus_version"] > b.answer["corpus_version"] else "B"
        found.append(gettext("%(name)s was made from a newer state of the studies.") % {"name": newer})
    return found


def _count_own(side: Side) -> int:
    """Count the distinct sentences that only this side contains."""
    lines = (*side.headline, *side.summary, *side.lines)
    return len({line.text for line in lines if not line.is_shared})


def _outcome(side: Side) -> str:
    return gettext(OUTCOME_PHRASES[side.answer["outcome"]])
