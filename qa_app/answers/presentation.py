"""Prepare an answer's payload for the answer page: paragraphs, marked passages, banners and omissions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qa_app.answers.redaction import WITHDRAWN
from qa_app.pipeline.clock import STAGES
from qa_app.pipeline.question.safety import URGENT

Payload = Mapping[str, Any]

PARTS = ("summary", "answer")
QUOTED = ("headline", *PARTS)
NEAR_QUESTIONS_SHOWN = 5
SHOWN_VERDICTS = frozenset({"yes", "no", "no_clear_difference", "depends"})
"""Verdicts shown to readers."""
COUNTED_SIDES = ("for", "without_difference", "against")
PASSAGES_SHOWN = 5
REFUSALS = frozenset({"insufficient_evidence", "out_of_scope", "guardrail"})
LEG_ORDER = ("lexical", "dense", "linked")
STAGE_ORDER = (*STAGES, "store")
BANNER_ORDER = (
    "retracted",
    "expression_of_concern",
    "corrected",
    "withdrawn",
    "archived",
    "passage_changed",
    "newer_corpus",
)
COUNTED_BANNERS = frozenset({"withdrawn", "archived"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a passage, marked or not. Templates escape it like other text."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Words:
    """A stretch of a sentence; `term` is its row of `definitions` if it is a difficult term."""

    text: str
    term: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence with its citation markers."""

    number: int
    """From 1 within its part; part of the address of its citations."""
    text: str
    verdict: str
    markers: tuple[int, ...]
    is_withdrawn: bool
    is_retracted: bool = False
    """Whether all remaining sources are retracted."""
    words: tuple[Words, ...] = ()
    """The text, split at the first occurrence of each difficult term."""
    attribution: str = ""
    """Names the source where the text does not."""
    is_curators: bool = False
    """Whether it rests on a curator's summaries and findings alone, and on no excerpt."""

    @property
    def is_weak(self) -> bool:
        return self.verdict == "weak"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it was when the answer was made, split at highlights."""

    row: Mapping[str, Any]
    pieces: tuple[Piece, ...]
    has_changed: bool
    is_gone: bool
    """Whether the passage was removed since."""


@dataclass(frozen=True, slots=True)
class Banner:
    """A notice above the answer."""

    kind: str
    study_id: str | None
    title: str
    at: str | None
    count: int = 1
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Omission:
    """Passages or sentences left out for one reason."""

    what: str
    reason: str
    count: int
    examples: tuple[str, ...]
    study_ids: tuple[str, ...]
    """Studies of the passages, without duplicates."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A finding as a curator recorded it."""

    finding_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence, study and passages that a citation marker opens."""

    index: int
    part: str
    sentence: ShownSentence
    citation: Mapping[str, Any]
    passages: tuple[Passage, ...]
    statements: tuple[Statement, ...]
    """Findings behind a sentence that counts studies and quotes none."""

    @property
    def is_withdrawn(self) -> bool:
        return self.sentence.is_withdrawn or self.citation.get("status") == "withdrawn"


@dataclass(frozen=True, slots=True)
class ShownHeadline:
    """The opening line of an answer."""

    sentence: ShownSentence
    verdict: str
    """Empty where the evidence gives no plain yes or no."""
    counts: tuple[tuple[str, int], ...]
    """Number of studies by result (`for`, `against`, `without_difference`); empty for fewer than two."""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the answer page shows of a payload."""

    headline: ShownHeadline | None
    summary: tuple[tuple[ShownSentence, ...], ...]
    answer: tuple[tuple[ShownSentence, ...], ...]
    sources: tuple[Mapping[str, Any], ...]
    top_passages: tuple[Passage, ...]
    more_passages: tuple[Passage, ...]
    banners: tuple[Banner, ...]
    has_newer_corpus: bool
    left_out: tuple[Omission, ...]
    is_refusal: bool
    is_urgent: bool
    """Whether the reply is for somebody in danger."""
    was_searched: bool
    """False for a question that was declined before retrieval."""
    lost: str
    """Cited sources lost since: empty, `part`, `all_withdrawn`, or `all` (some retracted)."""
    has_lost_passages: bool
    """Whether a refusal had nearest passages, of which none is public any more."""
    legs: tuple[tuple[str, Mapping[str, Any]], ...]
    timings: tuple[tuple[str, float], ...]
    near_questions: tuple[Mapping[str, Any], ...] = ()
    """Similar questions that the corpus answers."""
    missing: tuple[str, ...] = ()
    """Parts of the question without evidence that the message does not name."""
    term: Mapping[str, Any] | None = None
    """The definition that was asked for."""
    terms: tuple[Mapping[str, Any], ...] = ()
    """Definitions of other terms of the answer."""

    @property
    def whose_words(self) -> str:
        """Tell which sentences are curators' own, see `whose_words`."""
        paragraphs = (*self.summary, *self.answer, *([(self.headline.sentence,)] if self.headline else []))
        return whose_words(sentence for paragraph in paragraphs for sentence in paragraph)


def read(payload: Payload, names: Mapping[str, Sequence[str]] | None = None) -> Page:
    """Return the page of a payload. `names` maps concepts to all names of the terms that it defines."""
    definitions = payload.get("definitions") or ()
    glossary = _Glossary(definitions, names or {})
    passages = tuple(_evidence(payload))
    banners = tuple(_banners(payload))
    is_refusal = payload["outcome"] in REFUSALS
    return Page(
        headline=headline(payload),
        summary=_without_headline(_paragraphs(payload, "summary", glossary), headline(payload)),
        answer=() if adds_nothing(payload) else _paragraphs(payload, "answer", glossary),
        sources=tuple(payload["citations"]),
        top_passages=passages[:PASSAGES_SHOWN],
        more_passages=passages[PASSAGES_SHOWN:],
        banners=tuple(banner for banner in banners if banner.kind != "newer_corpus"),
        has_newer_corpus=any(banner.kind == "newer_corpus" for banner in banners),
        left_out=tuple(_left_out(payload)),
        is_refusal=is_refusal,
        is_urgent=(payload.get("guardrail") or {}).get("route") in URGENT,
        was_searched=any(leg["candidates"] or not leg["ok"] for leg in payload["legs"].values()),
        lost=_lost(payload),
        has_lost_passages=is_refusal and not passages and bool(_withdrawn_studies(payload)),
        legs=_in_order(payload["legs"], LEG_ORDER),
        timings=tuple(
            (stage, spent) for stage, spent in _in_order(payload["timings_ms"], STAGE_ORDER) if spent is not None
        ),
        near_questions=_near_questions(payload),
        missing=missing_parts(payload),
        term=next((row for row in definitions if row.get("is_asked")), None),
        terms=tuple(row for row in definitions if not row.get("is_asked")),
    )


def _without_headline(
    paragraphs: tuple[tuple[ShownSentence, ...], ...], opening: ShownHeadline | None
) -> tuple[tuple[ShownSentence, ...], ...]:
    """Drop the sentence that the headline repeats, and paragraphs that become empty."""
    if opening is None:
        return paragraphs
    shown = opening.sentence.text
    rest = (tuple(sentence for sentence in paragraph if sentence.text != shown) for paragraph in paragraphs)
    return tuple(paragraph for paragraph in rest if paragraph)


def headline(payload: Payload) -> ShownHeadline | None:
    """Return the headline; without verdict and counts where its source is lost."""
    row = payload.get("headline")
    if not row:
        return None
    sentence = _sentence(payload, sentence_rows(payload, "headline")[0], 1)
    if sentence.is_withdrawn or sentence.is_retracted:
        return ShownHeadline(sentence, "", ())
    counts = tuple((side, row[f"studies_{side}"]) for side in COUNTED_SIDES if row[f"studies_{side}"])
    return ShownHeadline(
        sentence=sentence,
        verdict=row["verdict"] if row["verdict"] in SHOWN_VERDICTS else "",
        counts=counts if sum(count for _, count in counts) > 1 else (),
    )


def missing_parts(payload: Payload) -> tuple[str, ...]:
    """Return the parts of the question without evidence that the answer's message does not name."""
    missing = tuple(payload.get("missing") or ())
    return () if all(part in (payload["message"] or "") for part in missing) else missing


def _near_questions(payload: Payload) -> tuple[Mapping[str, Any], ...]:
    """Return similar questions; none beside a safety reply, where another question does not help."""
    near = () if payload["outcome"] == "guardrail" else payload.get("near_questions") or ()
    return tuple(near[:NEAR_QUESTIONS_SHOWN])


def _in_order(row: Mapping[str, Any], order: tuple[str, ...]) -> tuple[tuple[str, Any], ...]:
    """Return the entries named in `order`, in that order: jsonb does not preserve the order of keys."""
    return tuple((name, row[name]) for name in order if name in row)


def _lost(payload: Payload) -> str:
    """Return which cited sources were withdrawn or retracted since, see `Page.lost`."""
    cited = {row["study_id"] for row in payload["citations"]}
    retracted = {row["study_id"] for row in payload["notices"] if row["kind"] == "retracted"}
    withdrawn = cited & _withdrawn_studies(payload)
    lost = withdrawn | (cited & retracted)
    if not lost:
        return ""
    if lost < cited:
        return "part"
    return "all_withdrawn" if withdrawn == cited else "all"


def adds_nothing(payload: Payload) -> bool:
    """Return whether the answer only repeats the summary."""
    summary_texts = [row["text"] for row in payload["summary"]["sentences"]]
    return bool(summary_texts) and all(row["text"] in summary_texts for row in payload["answer"]["sentences"])


def find_quote(payload: Payload, *, part: str, number: int, index: int) -> Quote | None:
    """Return what marker `index` of sentence `number` (from 1) opens; None where there is no such marker."""
    if part not in QUOTED:
        return None
    rows = sentence_rows(payload, part)
    if not 1 <= number <= len(rows):
        return None
    row = rows[number - 1]
    citation = next((cited for cited in payload["citations"] if cited["index"] == index), None)
    if citation is None or index not in row["citations"]:
        return None
    support = [span for span in row["support"] if span.get("study_id", citation["study_id"]) == citation["study_id"]]
    return Quote(
        index=index,
        part=part,
        sentence=_sentence(payload, row, number),
        citation=citation,
        passages=tuple(_quoted(payload, support)),
        statements=tuple(_statements(payload, support, citation["study_id"])),
    )


def sentence_rows(payload: Payload, part: str) -> list[Mapping[str, Any]]:
    """Return the sentences of a part; the headline is a part of one sentence."""
    if part != "headline":
        rows: list[Mapping[str, Any]] = payload[part]["sentences"]
        return rows
    headline = payload.get("headline")
    return [{"verdict": "verbatim" if headline["kind"] == "quote" else "counted"} | headline] if headline else []


def cut(text: str, spans: Iterable[Iterable[int]]) -> tuple[Piece, ...]:
    """Split the text at the spans and mark those inside. Spans are code points, end exclusive, and may overlap."""
    pieces: list[Piece] = []
    position = 0
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        start, end = max(start, position), min(end, len(text))
        if start >= end:
            continue
        if start > position:
            pieces.append(Piece(text[position:start], marked=False))
        pieces.append(Piece(text[start:end], marked=True))
        position = end
    if position < len(text):
        pieces.append(Piece(text[position:], marked=False))
    return tuple(pieces)


class _Glossary:
    """Finds each difficult term at its first occurrence in an answer."""

    def __init__(self, definitions: Iterable[Mapping[str, Any]], names: Mapping[str, Sequence[str]]) -> None:
        self._left = {row["id"]: (row, _whole_words((row["name"], *names.get(row["id"], ())))) for row in definitions}

    def explain(self, text: str) -> tuple[Words, ...]:
        found = [
            (match.start(), -match.end(), concept_id)
            for concept_id, (_, name) in self._left.items()
            if (match := name.search(text))
        ]
        words: list[Words] = []
        position = 0
        for start, end, concept_id in sorted(found):
            if start < position:  # inside a longer term
                continue
            if start > position:
                words.append(Words(text[position:start]))
            words.append(Words(text[start:-end], self._left.pop(concept_id)[0]))
            position = -end
        if position < len(text):
            words.append(Words(text[position:]))
        return tuple(words)


def _whole_words(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for the longest of these names, in either case, singular or plural."""
    ordered = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ordered))})(?:e?s)?(?![\w-])", re.IGNORECASE)


def _paragraphs(payload: Payload, part: str, glossary: _Glossary) -> tuple[tuple[ShownSentence, ...], ...]:
    grouped: dict[int, list[ShownSentence]] = {}
    for number, row in enumerate(payload[part]["sentences"], start=1):
        sentence = _sentence(payload, row, number)
        words = () if sentence.is_withdrawn else glossary.explain(sentence.text)
        grouped.setdefault(int(row.get("paragraph") or 0), []).append(replace(sentence, words=words))
    return tuple(tuple(sentences) for _, sentences in sorted(grouped.items()))


def _sentence(payload: Payload, row: Mapping[str, Any], number: int) -> ShownSentence:
    withdrawn = _withdrawn_indexes(payload)
    is_withdrawn = not row["support"] or (bool(row["citations"]) and set(row["citations"]) <= withdrawn)
    markers = () if is_withdrawn else tuple(index for index in row["citations"] if index not in withdrawn)
    text = WITHDRAWN if is_withdrawn else row["text"]
    return ShownSentence(
        number=number,
        text=text,
        verdict=row["verdict"],
        markers=markers,
        is_withdrawn=is_withdrawn,
        is_retracted=bool(markers) and _retracted_indexes(payload).issuperset(markers),
        attribution="" if is_withdrawn else row.get("attribution") or "",
        is_curators=not is_withdrawn and _is_curators(payload, row["support"]),
    )


def _is_curators(payload: Payload, support: Iterable[Mapping[str, Any]]) -> bool:
    excerpts = {row["passage_id"] for row in payload["evidence"] if row["kind"] == "excerpt"}
    return excerpts.isdisjoint(span.get("passage_id") for span in support)


def whose_words(sentences: Iterable[ShownSentence]) -> str:
    """Tell which sentences are curators' own: `all`, `some`, or empty for none."""
    curators = {sentence.is_curators for sentence in sentences if not sentence.is_withdrawn}
    return "" if True not in curators else "some" if False in curators else "all"


def _withdrawn_indexes(payload: Payload) -> set[int]:
    return {cited["index"] for cited in payload["citations"] if cited.get("status") == "withdrawn"}


def _retracted_indexes(payload: Payload) -> set[int]:
    return {cited["index"] for cited in payload["citations"] if cited.get("notice") == "retracted"}


def _withdrawn_studies(payload: Payload) -> set[str]:
    cited = {row["study_id"] for row in payload["citations"] if row.get("status") == "withdrawn"}
    return cited | {row["study_id"] for row in payload["notices"] if row["kind"] == "withdrawn"}


def _evidence(payload: Payload) -> Iterator[Passage]:
    """Yield the passages of public studies in rank order, with the question's words marked."""
    hidden = _withdrawn_studies(payload)
    for row in payload["evidence"]:
        if row["study_id"] not in hidden:
            yield _passage(payload, row, cut(row["text"], row["highlights"]))


def _quoted(payload: Payload, support: list[Mapping[str, Any]]) -> Iterator[Passage]:
    """Yield each passage behind a sentence once, with the quoted spans marked."""
    evidence = {row["passage_id"]: row for row in payload["evidence"]}
    by_passage: dict[int, list[Mapping[str, Any]]] = {}
    for span in support:
        if span.get("passage_id") is not None:
            by_passage.setdefault(span["passage_id"], []).append(span)
    for passage_id, spans in by_passage.items():
        row = evidence.get(passage_id, {"passage_id": passage_id, "study_id": spans[0].get("study_id"), "text": ""})
        exact = [span for span in spans if row["text"][span["start"] : span["end"]] == span["quote"]]
        if len(exact) == len(spans):
            pieces = cut(row["text"], [(span["start"], span["end"]) for span in spans])
        else:  # the passage is not part of the evidence
            pieces = tuple(Piece(span["quote"], marked=True) for span in spans)
        yield _passage(payload, row, pieces)


def _passage(payload: Payload, row: Mapping[str, Any], pieces: tuple[Piece, ...]) -> Passage:
    changes = [
        notice
        for notice in payload["notices"]
        if notice["kind"] == "passage_changed"
        and notice["study_id"] == row["study_id"]
        and notice.get("passage_id") in (None, row["passage_id"])
    ]
    return Passage(row=row, pieces=pieces, has_changed=bool(changes), is_gone=any(map(_is_gone, changes)))


def _is_gone(notice: Mapping[str, Any]) -> bool:
    return bool(notice.get("gone"))


def _statements(payload: Payload, support: list[Mapping[str, Any]], study_id: str) -> Iterator[Statement]:
    counted = {finding_id for span in support for finding_id in span.get("finding_ids", ())}
    agreement = payload.get("agreement") or {}
    for side in ("favours", "no_difference", "against", "unclear"):
        for row in agreement.get(side) or ():
            if row["study_id"] == study_id and row["finding_id"] in counted:
                yield Statement(row["finding_id"], row["statement"])


def _banners(payload: Payload) -> Iterator[Banner]:
    """Yield one banner for each study and kind, gravest first; withdrawn and archived ones are counted, not named."""
    titles = {row["study_id"]: row["title"] for row in (*payload["evidence"], *payload["citations"])}
    for kind in BANNER_ORDER:
        rows = [row for row in payload["notices"] if row["kind"] == kind]
        if kind in COUNTED_BANNERS and rows:
            count = len({row["study_id"] for row in rows})
            yield Banner(kind=kind, study_id=None, title="", at=rows[0].get("at"), count=count)
            continue
        seen: set[tuple[str | None, bool]] = set()
        for row in rows:
            study_id, is_gone = row.get("study_id"), _is_gone(row)
            if (study_id, is_gone) not in seen:
                seen.add((study_id, is_gone))
                title = titles.get(study_id, "")
                yield Banner(kind=kind, study_id=study_id, title=title, at=row.get("at"), is_gone=is_gone)


def _left_out(payload: Payload) -> Iterator[Omission]:
    """Yield what was left out, counted by reason."""
    counts = Counter((row["what"], row["reason"]) for row in payload["left_out"])
    for (what, reason), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        rows = [row for row in payload["left_out"] if (row["what"], row["reason"]) == (what, reason)]
        yield Omission(
            what=what,
            reason=reason,
            count=count,
            examples=tuple(row["text"] for row in rows if what == "sentence" and row.get("text")),
            study_ids=tuple(dict.fromkeys(row["study_id"] for row in rows if row.get("study_id"))),
        )
