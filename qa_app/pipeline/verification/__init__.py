"""Verify drafted sentences: each leaves only with the exact words of a source behind it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from corpus_app.records import Passage
from qa_app.pipeline.policy import DEFAULT, Policy
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
from qa_app.pipeline.verification.reading import Kind, Token, read
from qa_app.pipeline.verification.support import FITTED

Judge = Callable[[str, Sequence[str]], float]
"""Chance from 0 to 1 that the sentences (second) support the claim (first). Whatever it raises counts as no support."""

_SHORTEST = 3  # tokens of a statement
_MARKUP = frozenset("<>[]{}|`\\*_#?!@$^~=&")
_KNOWN_MARKS = frozenset("≤≥±≈×·⋅∙⁻−⁰¹²³⁴⁵⁶⁷⁸⁹‐‑‒–—―‘’“”…")  # compared by `reading`, or without meaning
_SENTENCES_TRIED = 2  # of a passage: those that share most words with the claim, alone and with a neighbour


@dataclass(frozen=True, slots=True)
class Check:
    """What becomes of one drafted sentence: the sentence to show, and why it is not the drafted one."""

    sentence: Sentence | None
    reason: LeftOutReason | None = None
    detail: str = ""


def verify(
    drafted: Sequence[DraftSentence], evidence: Evidence, *, policy: Policy = DEFAULT, judge: Judge | None = None
) -> tuple[tuple[Sentence, ...], tuple[LeftOut, ...]]:
    """Return the sentences that their passages support, with the words behind them, and the others with the reason.

    Verbatim sentences are supported. What is cut down or joined must agree in every figure, direction, negation and group.
    A free paraphrase needs the fitted score, and the judge's too where there is one; a weak one is replaced by the sentence
    nearest to it, if that answers the question.
    """
    verified: list[Sentence] = []
    left_out: list[LeftOut] = []
    texts = {sentence.text for sentence in drafted}
    for draft in drafted:
        outcome = _check(draft, evidence, policy, judge)
        if outcome.sentence is not None and (outcome.reason is None or outcome.sentence.text not in texts):
            verified.append(outcome.sentence)
            texts.add(outcome.sentence.text)
        if outcome.reason is not None:
            left_out.append(LeftOut("sentence", outcome.reason, outcome.detail, None, draft.text))
    return tuple(verified), tuple(left_out)


def find_span(text: str, passage: Passage) -> Span | None:
    """Find a text in a passage as whole sentences; None where it is not there.

    A part of a sentence is no support: "creatine harms the kidneys" also stands in "no trial found that creatine harms
    the kidneys".
    """
    starts = {sentence.start for sentence in passage.sentences}
    ends = {sentence.end for sentence in passage.sentences}
    place = passage.text.find(text) if text else -1
    while place >= 0:
        if place in starts and place + len(text) in ends:
            return _span(passage, place, place + len(text))
        place = passage.text.find(text, place + 1)
    return None


def _span(passage: Passage, start: int, end: int) -> Span:
    quote = passage.text[start:end]
    return Span(passage.passage_id, passage.version, passage.study.study_id, start, end, quote)


def _check(draft: DraftSentence, evidence: Evidence, policy: Policy, judge: Judge | None) -> Check:
    passages = {candidate.passage.passage_id: candidate.passage for candidate in evidence.passages}
    cited = [passages[i] for i in dict.fromkeys(draft.passage_ids) if i in passages]
    if not cited:
        return Check(None, LeftOutReason.UNKNOWN_CITATION, "it cites no passage of the evidence")
    spans = tuple(span for passage in cited if (span := find_span(draft.text, passage)) is not None)
    if spans:
        return Check(_sentence(draft, Verdict.VERBATIM, "high", SentenceKind.QUOTE, spans))
    claim = read(draft.text)
    fits = [found for passage in cited if (found := align(draft.text, claim, passage)) is not None]
    near = tuple(span for fit, span in fits if fit.reason is None)
    if near:
        return Check(_sentence(draft, Verdict.SUPPORTED, "high", SentenceKind.NEAR_QUOTE, near))
    closest = max((fit for fit, _ in fits), key=lambda fit: fit.coverage, default=Fit(0.0, None))
    for passage in passages.values():
        if passage not in cited:
            other = align(draft.text, claim, passage)
            is_nearer = other is not None and other[0].is_near and other[0].coverage > closest.coverage
            if is_nearer or find_span(draft.text, passage):
                return Check(None, LeftOutReason.UNSUPPORTED, "its words stand in a passage that it does not cite")
    if closest.is_near:
        words = ", ".join(dict.fromkeys(closest.words))
        return Check(None, closest.reason, f"it differs from its source in: {words}")
    return _check_paraphrase(draft, claim, cited, evidence, policy, judge)


def _sentence(
    draft: DraftSentence, verdict: Verdict, level: str, kind: SentenceKind, spans: tuple[Span, ...]
) -> Sentence:
    return Sentence(draft.text, (), verdict, level, kind, spans, draft.paragraph)


# --- Near quotations ---------------------------------------------------------------------------------------------------


def align(text: str, claim: Sequence[Token], passage: Passage) -> tuple[Fit, Span] | None:
    """Align a text with the sentence, or two neighbouring ones, that it fits best; None where it says too little."""
    if len(claim) < _SHORTEST:
        return None
    best: tuple[Fit, Span] | None = None
    for places in _stretches(text, passage):
        span = _span(passage, passage.sentences[places[0]].start, passage.sentences[places[-1]].end)
        fit = alignment.fit(
            claim, *(read(passage.text[s.start : s.end]) for s in (passage.sentences[n] for n in places))
        )
        if fit.reason is None and _foreign_marks(text, span.quote):
            fit = Fit(fit.coverage, LeftOutReason.UNSUPPORTED, ("marks that the source lacks",))
        if best is None or (fit.reason is None, fit.coverage) > (best[0].reason is None, best[0].coverage):
            best = fit, span
        if fit.reason is None:
            break
    return best


def _foreign_marks(text: str, source: str) -> set[str]:
    """Return markup, and signs that no comparison of words notices: "10 ‰" for "10", "gain ↓" for "gain"."""
    new = set(unicodedata.normalize("NFC", text)) - set(source) - _KNOWN_MARKS
    return {
        mark
        for mark in new
        if mark in _MARKUP or not (mark.isascii() or unicodedata.category(mark) in {"Lu", "Ll", "Lo", "Zs"})
    }


def _stretches(text: str, passage: Passage) -> list[tuple[int, ...]]:
    """Return the places of the sentences that share most words with the text: alone, then with a neighbour."""
    wanted = set(text.lower().split())
    shared = [len(wanted & set(passage.text[s.start : s.end].lower().split())) for s in passage.sentences]
    alone = sorted(range(len(shared)), key=lambda n: (-shared[n], n))[:_SENTENCES_TRIED]
    pairs = {(n, n + 1) for place in alone for n in (place - 1, place) if 0 <= n < len(shared) - 1}
    return [*((n,) for n in alone), *sorted(pairs, key=lambda p: (-shared[p[0]] - shared[p[1]], p))]


# --- Free paraphrases --------------------------------------------------------------------------------------------------


def _check_paraphrase(
    draft: DraftSentence, claim: Sequence[Token], cited: Sequence[Passage], evidence: Evidence, policy: Policy,
    judge: Judge | None,
) -> Check:  # fmt: skip
    nearest = _nearest_sentences(draft.text, cited)
    source = nearest[0].quote
    reason = _contradiction(claim, read(source), cited)
    if reason is not None:
        return Check(None, reason, "it says otherwise than the sentences nearest to it")
    texts = [passage.text[s.start : s.end] for passage in cited for s in passage.sentences]
    chance = _chance(draft.text, texts, judge)
    is_statement = len(claim) >= _SHORTEST and not _foreign_marks(draft.text, "".join(texts))
    if is_statement and chance >= policy.support_medium:
        is_high = chance >= policy.support_high
        verdict, level = (Verdict.SUPPORTED, "high") if is_high else (Verdict.WEAK, "medium")
        return Check(_sentence(draft, verdict, level, SentenceKind.PARAPHRASE, nearest))
    detail = "the passages it cites bear it out too weakly"
    terms, own = set(evidence.query.terms), stem_set(source)
    answers = bool(terms) and len(terms & own) >= policy.quote_answers_from * len(terms)
    if not answers or len(set(content_stems(draft.text)) & own) < _SHORTEST:
        return Check(None, LeftOutReason.UNSUPPORTED, detail)
    quote = Sentence(source, (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, nearest[:1], draft.paragraph)
    return Check(quote, LeftOutReason.UNSUPPORTED, f"{detail}; the source's own words stand in its place")


def _chance(claim: str, texts: Sequence[str], judge: Judge | None) -> float:
    chance = FITTED.score(support.read_signals(claim, texts, FITTED))
    if judge is None:
        return chance
    try:
        return min(chance, judge(claim, texts))
    except Exception:  # whatever goes wrong with a judge, its silence is no support
        return 0.0


def _nearest_sentences(text: str, cited: Sequence[Passage], most: int = 2) -> tuple[Span, ...]:
    """Return the sentences with most of the text's rare words, the best first; each passage's best at most once."""
    wanted = {s: FITTED.rarity(s) for s in content_stems(text)}
    found: list[tuple[float, Span]] = []
    for passage in cited:
        spans = [_span(passage, s.start, s.end) for s in passage.sentences]
        stems = [stem_set(span.quote) for span in spans]
        shared = [sum(value for s, value in wanted.items() if s in own) for own in stems]
        found.append(max(zip(shared, spans, strict=True), key=lambda pair: pair[0]))
    found.sort(key=lambda pair: -pair[0])
    return tuple(span for value, span in found[:most] if value >= found[0][0] / 2)


def _contradiction(claim: Sequence[Token], nearest: Sequence[Token], cited: Sequence[Passage]) -> LeftOutReason | None:
    """Return why a paraphrase contradicts its sources: a figure or group of its own, or a finding turned round."""
    figures = list(_figures(claim))
    if figures and not any(_is_subsequence(figures, _figures(read(passage.text))) for passage in cited):
        return LeftOutReason.NUMBER_MISMATCH
    if support.is_negated(claim) != support.is_negated(nearest):
        return LeftOutReason.NEGATION_MISMATCH
    if support.reverses(claim, nearest):
        return LeftOutReason.DIRECTION_MISMATCH
    known = {token.key for passage in cited for token in read(f"{passage.heading}. {passage.text}")}
    if any(token.kind in {Kind.POPULATION, Kind.GROUP} and token.key not in known for token in claim):
        return LeftOutReason.POPULATION_MISMATCH
    return None


def _figures(tokens: Sequence[Token]) -> Iterable[str]:
    """Yield the numbers with their comparator and unit, in order."""
    nothing = Token("", Kind.WORD)
    for before, token, after in zip([nothing, *tokens], tokens, [*tokens[1:], nothing], strict=False):
        if token.kind is Kind.NUMBER:
            sign = before.key if before.kind is Kind.COMPARATOR else ""
            yield f"{sign} {token.key} {after.key if after.kind is Kind.UNIT else ''}"


def _is_subsequence(wanted: Sequence[str], found: Iterable[str]) -> bool:
    rest = iter(found)
    return all(figure in rest for figure in wanted)
