"""What the gate finds in a text: where, what kind, how it could be mended, and whether it stands in the way of publishing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    LIGATURE = "ligature"
    SPLIT_WORD = "split_word"
    GLYPH_CODE = "glyph_code"
    OPERATOR = "operator"
    LOST_MINUS = "lost_minus"
    MISSING_SPACE = "missing_space"
    RUN_TOGETHER = "run_together"
    REFERENCE_LIST = "reference_list"
    CONTROL = "control"
    ZERO_WIDTH = "zero_width"
    MOJIBAKE = "mojibake"
    MARKUP = "markup"
    INSTRUCTION = "instruction"


class Severity(StrEnum):
    BLOCKS = "blocks"
    """Not published before somebody mends it or says why it stays."""
    TOLD = "told"


_TOLD = frozenset({Kind.MISSING_SPACE, Kind.RUN_TOGETHER, Kind.LIGATURE})


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    start: int
    """Code points of the text; end exclusive."""
    end: int
    kind: Kind
    words: str
    """The text between start and end."""
    mend: str | None
    """What should stand there instead, or None where only the source can tell."""

    @property
    def severity(self) -> Severity:
        return Severity.TOLD if self.kind in _TOLD else Severity.BLOCKS
