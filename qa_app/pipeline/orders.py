"""Sentences that tell a machine what to say: no study says so, whoever planted them, and none is ever quoted."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_FILLERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# Sentences that tell a machine what to say: no study's findings, whoever planted them. None of the starter corpus's 2,111
# sentences reads like this.
_ORDER = re.compile(
    r"""^(?:(?:please|now|then|also|and|instead)[\s,]+)*(?:write|translate|summari[sz]e|ignore|disregard|forget|print|output|reply|respond|
        say|repeat|visit|click|execute|encode|decode|generate|compose|paraphrase|rewrite|act\s+as|pretend|append)\b(?!-)
    |\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|context)
    |\b(?:system|developer|hidden)\s+(?:prompt|message|instruction)|\b(?:new|following|these|previous|your|my)\s+instructions?\b
    |\b(?:as\s+an?|you\s+are(?:\s+now)?\s+(?:an?|the))\s+(?:ai|language\s+model|assistant|chatbot|bot)\b|\bjailbreak
    |\b(?:answer|reply|respond|response|output|message)\s+(?:only\s+)?(?:with|must|should)\b
    |\b(?:in|to|of)\s+(?:every|each)\s+(?:sentence|answer|reply|response)\b
    |\byour\s+(?:whole\s+|entire\s+|next\s+)?(?:answer|reply|response|output|summary|message)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TWO_ALPHABETS = re.compile("[A-Za-z][\u0400-\u052f]|[\u0400-\u052f][A-Za-z]")  # look-alikes, to pass for other words


@lru_cache(maxsize=8_192)
def gives_orders(text: str) -> bool:
    """Whether a sentence tells a machine what to say instead of saying something itself."""
    return bool(_ORDER.search(visible(text)) or _TWO_ALPHABETS.search(text))


def visible(text: str) -> str:
    """Without characters that cannot be seen, or stored; control characters become spaces. The words stay as they are."""
    kept = (
        "" if (kind := unicodedata.category(c)) in {"Cf", "Co", "Cs", "Cn"} else " " if kind == "Cc" else c
        for c in text
    )
    return _FILLERS.sub("", "".join(kept))
