"""The text-quality gate: pure functions that find faults in a passage's text before it is published.

`check` finds faults and proposes corrections ("mends"), `apply_mends` applies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from corpus_app.quality.lexicon import Lexicon, standard
from corpus_app.quality.marks import characters, codes, operators
from corpus_app.quality.numbers import lost_minus
from corpus_app.quality.prose import instructions, references
from corpus_app.quality.spelling import broken_words, missing_spaces, run_together
from corpus_app.quality.text_faults import Kind, Severity, TextFault

__all__ = ["Kind", "Lexicon", "Severity", "TextFault", "apply_mends", "check", "standard"]


def check(text: str, lexicon: Lexicon | None = None) -> tuple[TextFault, ...]:
    """Return the faults of a text, in order of position; of overlapping ones, that of the kind checked first."""
    lexicon = lexicon or standard()
    kept: list[TextFault] = []
    taken = bytearray(len(text))  # by character, since a long text may have many thousand faults
    for fault in _all(text, lexicon):
        if 1 not in taken[fault.start : fault.end]:
            kept.append(fault)
            if fault.kind is not Kind.REFERENCE_LIST:
                taken[fault.start : fault.end] = b"\1" * (fault.end - fault.start)
    return tuple(sorted(kept))


def _all(text: str, lexicon: Lexicon) -> Iterator[TextFault]:
    yield from characters(text)
    yield from codes(text)
    yield from operators(text)
    yield from lost_minus(text)
    yield from references(text)
    yield from instructions(text)
    yield from broken_words(text, lexicon)
    yield from missing_spaces(text, lexicon)
    yield from run_together(text, lexicon)


def apply_mends(text: str, faults: Sequence[TextFault] | Iterable[TextFault]) -> str:
    """Return the text with the proposed corrections applied; faults without one change nothing."""
    parts: list[str] = []
    at = 0
    for fault in sorted(faults):
        if fault.mend is not None and fault.start >= at:
            parts += [text[at : fault.start], fault.mend]
            at = fault.end
    return "".join([*parts, text[at:]])
