"""The text-quality gate: pure functions that find defects in a passage's text before it is published.

`check` finds defects and proposes corrections ("mends"), `apply_mends` applies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from corpus_app.quality.findings import Finding, Kind, Severity
from corpus_app.quality.lexicon import Lexicon, standard
from corpus_app.quality.marks import characters, codes, operators
from corpus_app.quality.numbers import lost_minus
from corpus_app.quality.prose import instructions, references
from corpus_app.quality.spelling import broken_words, missing_spaces, run_together

__all__ = ["Finding", "Kind", "Lexicon", "Severity", "apply_mends", "check", "standard"]


def check(text: str, lexicon: Lexicon | None = None) -> tuple[Finding, ...]:
    """Return the defects of a text, in order of position; of overlapping ones, that of the kind checked first."""
    lexicon = lexicon or standard()
    kept: list[Finding] = []
    taken = bytearray(len(text))  # by character, since a long text may have many thousand findings
    for finding in _all(text, lexicon):
        if 1 not in taken[finding.start : finding.end]:
            kept.append(finding)
            if finding.kind is not Kind.REFERENCE_LIST:
                taken[finding.start : finding.end] = b"\1" * (finding.end - finding.start)
    return tuple(sorted(kept))


def _all(text: str, lexicon: Lexicon) -> Iterator[Finding]:
    yield from characters(text)
    yield from codes(text)
    yield from operators(text)
    yield from lost_minus(text)
    yield from references(text)
    yield from instructions(text)
    yield from broken_words(text, lexicon)
    yield from missing_spaces(text, lexicon)
    yield from run_together(text, lexicon)


def apply_mends(text: str, findings: Sequence[Finding] | Iterable[Finding]) -> str:
    """Return the text with the proposed corrections applied; findings without one change nothing."""
    parts: list[str] = []
    at = 0
    for finding in sorted(findings):
        if finding.mend is not None and finding.start >= at:
            parts += [text[at : finding.start], finding.mend]
            at = finding.end
    return "".join([*parts, text[at:]])
