"""Verify drafted sentences against the passages that they cite."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from corpus_app.records import Passage
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import NO_UNITS, UnitForm
from qa_app.pipeline.records import (
    DraftSentence,
    Evidence,
    LeftOut,
    LeftOutReason,
    Sentence,
    SentenceKind,
    Span,
    Verdict,
)
from qa_app.pipeline.text import content_stems, stem_set
from qa_app.pipeline.verification import alignment, support
from qa_app.pipeline.verification.alignment import Fit
from qa_app.pipeline.verification.lexicon import Kind
from qa_app.pipeline.verification.reading import Token, read

Judge = Callable[[str, Sequence[str]], float]
"""Function of a claim and its cited sentences that returns the chance, 0 to 1, that they support it.

An exception counts as no support.
"""

_SHORTEST = 3  # tokens; fewer than these are no statement
_MARKUP = frozenset("<>[]{}|`\\*_#?!@$^~=&")
_KNOWN_MARKS = frozenset("≤≥±≈×·⋅∙⁻−⁰¹²³⁴⁵⁶⁷⁸⁹‐‑‒–—―‘’“”…")  # compared by `reading`, or without meaning
_SENTENCES_TRIED = 2  # of a passage, alone and with a neighbour


@dataclass(frozen=True, slots=True)
class SentenceResult:
    """The result of verifying one drafted sentence: the accepted sentence, or the reason against it."""

    accepted: Sentence | None
    reason: LeftOutReason | None = None
    detail: str = ""


def verify(
    drafted: Sequence[DraftSentence], evidence: Evidence, *, policy: Policy | None = None, judge: Judge | None = None
) -> tuple[tuple[Sentence, ...], tuple[LeftOut, ...]]:
    """Return the sentences that their cited passages support, with the supporting spans; the others with the reason.

    Verbatim sentences are accepted. A shortened or joined quotation must agree in every figure, direction, negation and
    group. A free paraphrase needs the fitted score, and the judge's where there is one. A weak paraphrase is replaced
    by the nearest sentence of its sources, if that answers the question.
    """
    policy = policy or Policy()
    accepted: list[Sentence] = []
    rejected: list[LeftOut] = []
    quoted = {sentence.text for sentence in drafted}
    for sentence in drafted:
        result = _verify_sentence(sentence, evidence, policy, judge)
        if result.accepted is not None and (result.reason is None or result.accepted.text not in quoted):
            accepted.append(result.accepted)
            quoted.add(result.accepted.text)
        if result.reason is not None:
            rejected.append(LeftOut("sentence", result.reason, result.detail, None, sentence.text))
    return tuple(accepted), tuple(rejected)


def find_span(text: str, passage: Passage) -> Span | None:
    """Find the text in the passage as whole sentences; None where it is not there.

    A part of a sentence is no support: "compost harms young roses" also occurs in "no trial found that compost harms
    young roses".
    """
    starts = {sentence.start for sentence in passage.sentences}
    ends = {sentence.end for sentence in passage.sentences}
    place = passage.text.find(text) if text else -1
    while place >= 0:
        end = place + len(text)
        if place in starts and end in ends:
            return Span(passage.passage_id, passage.version, passage.study.study_id, place, end, text)
        place = passage.text.find(text, place + 1)
    return None


def find_contradiction(text: str, source: str, passages: Sequence[Passage]) -> LeftOutReason | None:
    """Return why a text contradicts its source, or has figures or people that no passage has; None where it agrees."""
    return _contradicted(read(text), [source], passages)


def has_foreign_figures(text: str, passages: Sequence[Passage]) -> bool:
    """Tell whether a text has figures that no one of the passages has in this order."""
    return _has_foreign_figures(read(text), passages)


def _has_foreign_figures(
    claim: Sequence[Token], passages: Sequence[Passage], units: Mapping[str, UnitForm] = NO_UNITS
) -> bool:
    figures = _figures(claim)
    return bool(figures) and not any(_in_order(figures, _figures(read(passage.text, units))) for passage in passages)


def _verify_sentence(
    sentence: DraftSentence, evidence: Evidence, policy: Policy, judge: Judge | None
) -> SentenceResult:
    passages = {candidate.passage.passage_id: candidate.passage for candidate in evidence.passages}
    cited = [passages[i] for i in dict.fromkeys(sentence.passage_ids) if i in passages]
    if not cited:
        return SentenceResult(None, LeftOutReason.UNKNOWN_CITATION, "it cites no passage of the evidence")
    spans = tuple(span for passage in cited if (span := find_span(sentence.text, passage)) is not None)
    if spans:
        return SentenceResult(_accept(sentence, Verdict.VERBATIM, "high", SentenceKind.QUOTE, spans))
    units = evidence.query.units
    claim = read(sentence.text, units)
    fits = [found for passage in cited if (found := align_to_passage(sentence.text, passage, units)) is not None]
    near = tuple(span for fit, span in fits if fit.reason is None)
    if near:
        return SentenceResult(_accept(sentence, Verdict.SUPPORTED, "high", SentenceKind.NEAR_QUOTE, near))
    own = max((fit.coverage for fit, _ in fits), default=0.0)
    for passage in passages.values():
        if passage in cited:
            continue
        other = align_to_passage(sentence.text, passage, units)
        if find_span(sentence.text, passage) or (other and other[0].is_near and other[0].coverage > own):
            return SentenceResult(None, LeftOutReason.UNSUPPORTED, "its words stand in a passage that it does not cite")
    closest = max((fit for fit, _ in fits), key=lambda fit: fit.coverage, default=None)
    if closest is not None and closest.is_near:
        return SentenceResult(None, closest.reason, _differs(closest))
    return _paraphrase(sentence, claim, cited, evidence, policy, judge)


def align_to_passage(text: str, passage: Passage, units: Mapping[str, UnitForm] = NO_UNITS) -> tuple[Fit, Span] | None:
    """Align the text with the sentence, or two neighbouring ones, of the passage that it fits best.

    None for a text of fewer than three tokens.
    """
    claim = read(text, units)
    if len(claim) < _SHORTEST:
        return None
    best: tuple[Fit, Span] | None = None
    for first, last in _stretches(text, passage):
        start, end = passage.sentences[first].start, passage.sentences[last].end
        quote = passage.text[start:end]
        source = [read(passage.text[s.start : s.end], units) for s in passage.sentences[first : last + 1]]
        fit = alignment.fit(claim, source[0] if first == last else alignment.window(*source))
        if fit.reason is None and _foreign_marks(text, quote):
            fit = Fit(fit.coverage, LeftOutReason.UNSUPPORTED, ("marks that the source lacks",))
        span = Span(passage.passage_id, passage.version, passage.study.study_id, start, end, quote)
        if best is None or (fit.reason is None, fit.coverage) > (best[0].reason is None, best[0].coverage):
            best = fit, span
        if fit.reason is None:
            break
    return best


def _foreign_marks(text: str, source: str) -> set[str]:
    """Return markup and signs that the source lacks and token comparison ignores, as in "10 ‰" or "gain ↓"."""
    known = set(source) | _KNOWN_MARKS
    return {mark for mark in set(unicodedata.normalize("NFC", text)) - known if mark in _MARKUP or not _is_plain(mark)}


def _is_plain(mark: str) -> bool:
    return mark.isascii() or unicodedata.category(mark) in {"Lu", "Ll", "Lo", "Zs"}


def _stretches(text: str, passage: Passage) -> list[tuple[int, int]]:
    """Return the sentences (first, last) that share most words with the text: alone, then with a neighbour."""
    wanted = frozenset(text.lower().split())
    shared = [len(wanted & _split(passage.text[s.start : s.end])) for s in passage.sentences]
    alone = sorted(range(len(shared)), key=lambda n: (-shared[n], n))[:_SENTENCES_TRIED]
    pairs = {(n, n + 1) for place in alone for n in (place - 1, place) if 0 <= n < len(shared) - 1}
    return [*((n, n) for n in alone), *sorted(pairs, key=lambda p: (-shared[p[0]] - shared[p[1]], p))]


def _split(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())


# --- Free paraphrase --------------------------------------------------------------------------------------------------


def _paraphrase(
    sentence: DraftSentence,
    claim: Sequence[Token],
    cited: Sequence[Passage],
    evidence: Evidence,
    policy: Policy,
    judge: Judge | None,
) -> SentenceResult:
    best = _closest(sentence.text, cited)
    words = [span.quote for span in best]
    reason = _contradicted(claim, words, cited, evidence.query.units)
    if reason is not None:
        return SentenceResult(None, reason, "it says otherwise than the sentences nearest to it")
    texts = [passage.text[s.start : s.end] for passage in cited for s in passage.sentences]
    chance = _chance(sentence.text, texts, judge)
    if (
        len(claim) >= _SHORTEST
        and chance >= policy.support_medium
        and not _foreign_marks(sentence.text, "".join(texts))
    ):
        is_high = chance >= policy.support_high
        verdict, level = (Verdict.SUPPORTED, "high") if is_high else (Verdict.WEAK, "medium")
        return SentenceResult(_accept(sentence, verdict, level, SentenceKind.PARAPHRASE, best))
    detail = "the passages it cites bear it out too weakly"
    terms = set(evidence.query.terms)
    answers = bool(terms) and len(terms & stem_set(words[0])) >= policy.quote_answers_from * len(terms)
    shared = len(set(content_stems(sentence.text)) & stem_set(words[0]))
    if not answers or shared < _SHORTEST:
        return SentenceResult(None, LeftOutReason.UNSUPPORTED, detail)
    quote = Sentence(words[0], (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, best[:1], sentence.paragraph)
    return SentenceResult(quote, LeftOutReason.UNSUPPORTED, f"{detail}; the source's own words stand in its place")


def _chance(claim: str, texts: Sequence[str], judge: Judge | None) -> float:
    fitted = support.FITTED
    chance = fitted.score(support.read_signals(claim, texts, fitted))
    if judge is None:
        return chance
    try:
        return min(chance, judge(claim, texts))
    except Exception:  # a failed judge supports nothing
        return 0.0


def _closest(text: str, cited: Sequence[Passage], most: int = 2) -> tuple[Span, ...]:
    """Return the best sentence of each cited passage by the claim's rare words, the best first, `most` at most."""
    fitted = support.FITTED
    wanted = {s: fitted.rarity(s) for s in content_stems(text)}
    found = []
    for passage in cited:
        places = [passage.text[s.start : s.end] for s in passage.sentences]
        scores = [sum(value for s, value in wanted.items() if s in stem_set(place)) for place in places]
        best = max(range(len(places)), key=lambda n: (scores[n], -n))
        at = passage.sentences[best]
        span = Span(passage.passage_id, passage.version, passage.study.study_id, at.start, at.end, places[best])
        found.append((scores[best], span))
    found.sort(key=lambda pair: -pair[0])
    return tuple(span for value, span in found[:most] if value >= found[0][0] / 2)


def _contradicted(
    claim: Sequence[Token], words: Sequence[str], cited: Sequence[Passage], units: Mapping[str, UnitForm] = NO_UNITS
) -> LeftOutReason | None:
    """Return why a paraphrase contradicts its sources: a new figure, group or population, or a reversed finding."""
    sources = [read(text, units) for text in words]
    if _has_foreign_figures(claim, cited, units):
        return LeftOutReason.NUMBER_MISMATCH
    nearest = sources[0]
    if support.is_negated(claim) != support.is_negated(nearest):
        return LeftOutReason.NEGATION_MISMATCH
    if support.has_opposite_direction(claim, nearest):
        return LeftOutReason.DIRECTION_MISMATCH
    known = {token.key for passage in cited for token in read(f"{passage.heading}. {passage.text}", units)}
    if any(token.kind in {Kind.POPULATION, Kind.GROUP} and token.key not in known for token in claim):
        return LeftOutReason.POPULATION_MISMATCH
    return None


def _figures(tokens: Sequence[Token]) -> list[str]:
    """Return the numbers with sign, comparator and unit, in order."""
    figures = []
    for place, token in enumerate(tokens):
        if token.kind is not Kind.NUMBER:
            continue
        before = tokens[place - 1].key if place and tokens[place - 1].kind is Kind.COMPARATOR else ""
        after = tokens[place + 1].key if place + 1 < len(tokens) and tokens[place + 1].kind is Kind.UNIT else ""
        figures.append(f"{before} {token.key} {after}")
    return figures


def _in_order(wanted: Sequence[str], found: Sequence[str]) -> bool:
    rest = iter(found)
    return all(figure in rest for figure in wanted)


def _accept(
    sentence: DraftSentence, verdict: Verdict, level: str, kind: SentenceKind, spans: tuple[Span, ...]
) -> Sentence:
    return Sentence(sentence.text, (), verdict, level, kind, spans, sentence.paragraph)


def _differs(fit: Fit) -> str:
    return f"it differs from its source in: {', '.join(dict.fromkeys(fit.words))}"
