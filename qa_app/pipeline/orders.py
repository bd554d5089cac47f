"""Recognise sentences that instruct a machine (prompt injection), which are never quoted."""

from __future__ import annotations

import re
import unicodedata

_FILLERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# None of the 2,111 sentences of the starter corpus matches.
_ORDER = re.compile(
    r"""^(?:(?:please|now|then|also|and|instead)[\s,]+)*(?:write|translate|summari[sz]e|ignore|disregard|forget|
        print|output|reply|respond|say|repeat|visit|click|execute|encode|decode|generate|compose|paraphrase|rewrite|
        act\s+as|pretend|append)\b(?!-)
    |\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|context)
    |\b(?:system|developer|hidden)\s+(?:prompt|message|instruction)
    |\b(?:new|following|these|previous|your|my)\s+instructions?\b
    |\b(?:as\s+an?|you\s+are(?:\s+now)?\s+(?:an?|the))\s+(?:ai|language\s+model|assistant|chatbot|bot)\b|\bjailbreak
    |\b(?:answer|reply|respond|response|output|message)\s+(?:only\s+)?(?:with|must|should)\b
    |\b(?:in|to|of)\s+(?:every|each)\s+(?:sentence|answer|reply|response)\b
    |\byour\s+(?:whole\s+|entire\s+|next\s+)?(?:answer|reply|response|output|summary|message)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TWO_ALPHABETS = re.compile("[A-Za-z][\u0400-\u052f]|[\u0400-\u052f][A-Za-z]")  # look-alikes, to pass for other words


def gives_orders(text: str) -> bool:
    """Tell whether a sentence instructs a machine instead of reporting something."""
    return bool(_ORDER.search(visible(text)) or _TWO_ALPHABETS.search(text))


def visible(text: str) -> str:
    """Return a text without characters that cannot be seen or stored; control characters become spaces."""
    if not text.isprintable():
        kinds = ((c, unicodedata.category(c)) for c in text)
        text = "".join(" " if kind == "Cc" else c for c, kind in kinds if kind not in {"Cf", "Co", "Cs", "Cn"})
    return _FILLERS.sub("", text)
