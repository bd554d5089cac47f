"""Find what a claim asserts, apart from who is said to say so: "experts say", "a new study shows"."""

from __future__ import annotations

import re

# Words at the start of a claim that join it to others, or say who says so.
_OPENERS = frozenset("and but so also plus now well yes".split())
_AUTHORITIES = frozenset(
    """study studies research researchers scientist scientists science expert experts evidence doctors trial trials
    review reviews meta-analysis meta-analyses paper papers author authors they""".split()
)
_SOURCE_ADJECTIVES = frozenset(
    """a an the this these some many most several all other new newer recent latest big large leading good strong
    scientific""".split()
)
_SAYING = frozenset(
    """say says said tell show shows showed shown find finds found prove proves proved proven report reports reported
    conclude concludes concluded confirm confirms confirmed agree agrees known reveal reveals revealed think thinks
    believe believes claim claims suggest suggests demonstrate demonstrates demonstrated""".split()
)


def _any_of(words: frozenset[str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


_WHO = rf"(?:{_any_of(_SOURCE_ADJECTIVES)}\s+)*{_any_of(_AUTHORITIES)}"
_LEADS = (
    re.compile(rf"{_any_of(_OPENERS)}\b,?\s+", re.IGNORECASE),
    re.compile(
        rf"{_WHO}\s+(?:(?:have|has|had|also|all|now|clearly)\s+)*{_any_of(_SAYING)}\b,?\s+(?:that\s+)?", re.IGNORECASE
    ),
    re.compile(rf"according to\s+{_WHO}\s*,\s*", re.IGNORECASE),
    re.compile(
        rf"it(?:\s+is|\s+has been|['’]s)\s+(?:(?:well|widely|now)\s+)?{_any_of(_SAYING)}\s+that\s+", re.IGNORECASE
    ),
)


def assertion(claim: str) -> str:
    """Return a claim without the words at its start that join it to others or say who says so."""
    found = claim
    while lead := next((match for pattern in _LEADS if (match := pattern.match(found))), None):
        found = found[lead.end() :]
    return found[:1].upper() + found[1:] if found and found != claim else claim
