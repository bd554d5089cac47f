"""Defects of text, found by the text-quality gate: position, kind, proposed correction and severity."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    LIGATURE = "ligature"
    SPLIT_WORD = "split_word"
    LOOSE_HYPHEN = "loose_hyphen"
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
    HOLE = "hole"
    INSTRUCTION = "instruction"


class Severity(StrEnum):
    BLOCKS = "blocks"
    """Publishing requires a correction, or a reason to keep the text."""
    REPORTED = "told"


_REPORTED = frozenset({Kind.MISSING_SPACE, Kind.RUN_TOGETHER, Kind.LIGATURE, Kind.LOOSE_HYPHEN})


@dataclass(frozen=True, slots=True, order=True)
class TextFault:
    start: int
    """In code points of the text; `end` is exclusive."""
    end: int
    kind: Kind
    words: str
    """The text between start and end."""
    mend: str | None
    """The proposed replacement; None when only the source can show it."""

    @property
    def severity(self) -> Severity:
        return Severity.REPORTED if self.kind in _REPORTED else Severity.BLOCKS
