"""Tell what a question asks apart from the story around it."""

from __future__ import annotations

import re
import tomllib

from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, PhraseIndex, words_of
from qa_app.pipeline.text import content_stems

SHORTEST_HEADING = 3  # words
SHORT_TEXT = 30  # words up to which all of a text counts as its ask

_TABLE = tomllib.loads((LANGUAGE_FOLDER / "ask.toml").read_text("utf-8"))
_PHRASES = PhraseIndex.compile([_TABLE])
_ABBREVIATIONS = frozenset(_TABLE["abbreviations"]["words"])
_OPENING = re.compile(
    rf"(?<=[^\s:;,.?!] )(?:{'|'.join(word.capitalize() for word in _TABLE['lists']['asking_word']['phrases'])})\b"
)
_SENTENCE_BREAK = re.compile(r"(?<=[.?!…])[\"”')\]]*\s+")


def find_ask(text: str) -> str:
    """Return the sentences that ask; the whole text where it is short or nothing asks."""
    if len(text.split()) <= SHORT_TEXT:
        return text
    sentences = split_sentences(text)
    asking = [place for place, sentence in enumerate(sentences) if _asks(sentence)]
    wanted = set(asking) | {place - 1 for place in asking if place and not content_stems(sentences[place])}
    return " ".join(sentences[place] for place in sorted(wanted)) if wanted else text


def find_focus(text: str) -> str:
    """Return the question behind a heading without a full stop: it begins with a capital, and words stand before it."""
    starts = [match.start() for match in _OPENING.finditer(text)]
    if not starts or len(text[: starts[-1]].split()) < SHORTEST_HEADING or not content_stems(text[starts[-1] :]):
        return text
    return text[starts[-1] :]


def split_sentences(text: str) -> list[str]:
    """Split a cleaned text after its sentence marks, but not after an abbreviation."""
    sentences: list[str] = []
    start = 0
    for match in _SENTENCE_BREAK.finditer(text):
        last = text[start : match.start()].rsplit(" ", 1)[-1].strip("(\"“'")
        if last.endswith(".") and last[:-1].casefold() in _ABBREVIATIONS:
            continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    return [*sentences, text[start:]] if start < len(text) else sentences


def _asks(sentence: str) -> bool:
    return "?" in sentence or "asks" in _PHRASES.find(words_of(sentence))
