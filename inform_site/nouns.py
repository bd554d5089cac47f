"""Put a site's own nouns in place of "study" in the texts of pages and of the API, whatever their language."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.utils.translation import trans_real

from corpus_app.site import Nouns

_PROTECTED = re.compile(r"(“[^”]*+(?:”|\Z)|%\(\w+\)\w|<[^<>]*>)")
"""What is no text of ours: quotations, placeholders, markup."""
_ENGLISH = re.compile(
    r"\b(?:(?P<article>[Aa]n?) )?(?<!cohort )(?<!cross-sectional )(?<![\w/-])(?P<noun>[Ss]tud(?:y|ies))(?![\w/-])"
)
"""Not part of a path or of an id, such as `studies/` and `study-12`."""
_GERMAN = re.compile(r"\bStudien?\b")
_VOWELS = frozenset("aeiou")


class WithNouns:
    """A translation that names what the corpus holds by its own nouns in English, and as sources in German."""

    def __init__(self, translation: Any, read: Callable[[], Nouns | None]) -> None:
        """Take a translation of gettext, and a function that reads the nouns; it is called once, when needed."""
        self._translation, self._read = translation, read
        self._is_english = str(translation.language()).startswith("en")

    @cached_property
    def nouns(self) -> Nouns | None:
        return self._read()

    def gettext(self, message: str) -> str:
        return self.renamed(self._translation.gettext(message))

    def ngettext(self, one: str, many: str, number: int) -> str:
        return self.renamed(self._translation.ngettext(one, many, number))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._translation, name)

    def renamed(self, text: str) -> str:
        """Return a text of ours with the nouns of the site."""
        if "tud" not in text or self.nouns is None:  # most texts name no study: no look into the corpus
            return text
        return renamed(text, self.nouns) if self._is_english else in_german(text)


def renamed(text: str, nouns: Nouns) -> str:
    """Return an English text with the nouns in place of "study" and "studies"; what it quotes stays."""

    own = nouns.one.lower().removesuffix("study")  # of a site of case studies, whose texts may be renamed already

    def noun(found: re.Match[str]) -> str:
        if own != nouns.one.lower() and found.string[: found.start("noun")].lower().endswith(own):
            return found[0]
        word = nouns.one if found["noun"].endswith("y") else nouns.many
        cased = word[:1].upper() + word[1:] if found["noun"][0] == "S" else word
        if not (article := found["article"]):
            return cased
        fitting = "an" if word[:1].lower() in _VOWELS else "a"
        return f"{fitting.capitalize() if article[0] == 'A' else fitting} {cased}"

    return _sub_unprotected(_ENGLISH, noun, text)


def in_use(text: str) -> str:
    """Return a text of ours with the nouns of the translation in use, if it has any."""
    active = getattr(vars(trans_real)["_active"], "value", None)
    return active.renamed(text) if isinstance(active, WithNouns) else text


def in_german(text: str) -> str:
    """Return a German text that says "Quelle" for "Studie"; its gender is the same, so that nothing else changes."""
    return _sub_unprotected(_GERMAN, lambda found: found[0].replace("Studie", "Quelle"), text)


def _sub_unprotected(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str) -> str:
    parts = _PROTECTED.split(text)
    return "".join(part if n % 2 else pattern.sub(replacement, part) for n, part in enumerate(parts))
