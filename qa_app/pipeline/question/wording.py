"""Read what a question asks for from its wording: the ask, the kind of reply, sections, collection and language."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence

from corpus_app.records import Collection, Concept, Section
from qa_app.pipeline.lexicon import SENTENCE_END, PhraseIndex, language_table, words_of
from qa_app.pipeline.query import Aspect, Intent
from qa_app.pipeline.text import EMPTY_WORDS, content_stems, stem_set

# --- The ask ----------------------------------------------------------------------------------------------------------

SHORTEST_HEADING = 3  # words
SHORT_TEXT = 30  # words up to which all of a text counts as its ask

_ASK = language_table("ask")
_ASK_PHRASES = PhraseIndex.compile([_ASK])
_ABBREVIATIONS = frozenset(_ASK["abbreviations"]["words"])
_ASKING = "|".join(word.capitalize() for word in _ASK["lists"]["asking_word"]["phrases"])
REQUESTS = frozenset(_ASK["requests"]["words"])
_FRAMES, _IDLE = frozenset(_ASK["meaning"]["frames"]), frozenset(_ASK["meaning"]["idle"])
_OPENING = re.compile(rf"(?<=[^\s:;,.?!] )(?:{_ASKING})\b")
_SENTENCE_BREAK = re.compile(r"(?<=[.?!…])[\"”')\]]*\s+")


def find_ask(text: str) -> str:
    """Return the sentences that ask; the whole text where it is short or nothing asks."""
    if len(text.split()) <= SHORT_TEXT:
        return text
    sentences = split_sentences(text)
    asking = [n for n, s in enumerate(sentences) if "?" in s or "asks" in _ASK_PHRASES.find(words_of(s))]
    wanted = set(asking) | {n - 1 for n in asking if n and not content_stems(sentences[n])}
    return " ".join(sentences[n] for n in sorted(wanted)) or text


def find_focus(text: str) -> str:
    """Return the question after a heading without a full stop: it begins with a capital, and words precede it."""
    start = max((match.start() for match in _OPENING.finditer(text)), default=0)
    is_question = len(text[:start].split()) >= SHORTEST_HEADING and content_stems(text[start:])
    return text[start:] if is_question else text


def asks_meaning(words: Sequence[str]) -> bool:
    """Tell whether the words around a term ask for its meaning: "what does", "mean"."""
    return " ".join(word for word in words if word not in _IDLE and word != SENTENCE_END) in _FRAMES


def without_requests(words: Sequence[str], vocabulary: Container[str]) -> Sequence[str]:
    """Return the words that carry a subject: those that only ask ("overview") are left out where no source has them.

    A question of nothing else keeps them.
    """
    return [word for word in words if word not in REQUESTS or word in vocabulary] or words


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


# --- The kind of reply ------------------------------------------------------------------------------------------------

INTENT_ORDER = (
    Intent.HOW_MANY, Intent.WHY, Intent.LIST, Intent.WHICH, Intent.HOW, Intent.YES_NO, Intent.WHAT,
)  # fmt: skip
"""The word lists as they are tried; CLAIM is what is left: keywords or a statement, without an asking word."""
AT_CLAUSE_START = frozenset({Intent.HOW, Intent.YES_NO})
_CLAUSE_MARK = re.compile(r"[,:()–—]|\s-\s")
_INTENT_PHRASES = PhraseIndex.of_language("intent")


def read_intent(ask: str) -> Intent:
    """Return the kind of reply that the ask, without the story around it, calls for."""
    words = words_of(_CLAUSE_MARK.sub(";", ask))
    spans = _INTENT_PHRASES.find(words)
    clause_starts = {0, *(end for _, end in spans.get("opening", ())), *_after_sentences(words)}
    for intent in INTENT_ORDER:
        if any(start in clause_starts or intent not in AT_CLAUSE_START for start, _ in spans.get(intent, ())):
            return intent
    return Intent.CLAIM


_ASPECT_TABLE = language_table("aspects")
_ASPECT_PHRASES = PhraseIndex.compile([_ASPECT_TABLE])
_ASPECT_IDLE = stem_set(" ".join(_ASPECT_TABLE["idle"]["words"]))


def read_aspect(ask: str) -> Aspect | None:
    """Return what the ask wants of the findings beside the kind of its reply; None for most."""
    found = _ASPECT_PHRASES.find(words_of(ask))
    return next((aspect for aspect in (Aspect.DISAGREEMENT, Aspect.SIZE) if aspect in found), None)


def without_aspect(terms: Sequence[str], aspect: Aspect | None) -> Sequence[str]:
    """Return the stems without those that only ask for an aspect; all of them where nothing else is left."""
    return [term for term in terms if term not in _ASPECT_IDLE] or terms if aspect else terms


def _after_sentences(words: Sequence[str]) -> set[int]:
    return {place + 1 for place, word in enumerate(words) if word == SENTENCE_END}


# --- Sections and collection ------------------------------------------------------------------------------------------

WEAK = "weak_"
LEAD = 1  # hits by which a collection has to lead
_SECTION_TABLE = language_table("sections")
_SECTION_PHRASES = PhraseIndex.compile([_SECTION_TABLE])
_SECTIONS: Mapping[str, Sequence[str]] = _SECTION_TABLE["sections"]


def find_sections(words: Sequence[str]) -> tuple[Section, ...]:
    """Return the sections that the cues of a question aim at; weak cues count where there is no other."""
    found = _SECTION_PHRASES.find(words)
    aims = [name for name in _SECTIONS if f"section.{name}" in found]
    strong = [name for name in aims if not name.startswith(WEAK)]
    return tuple(dict.fromkeys(Section(section) for name in strong or aims for section in _SECTIONS[name]))


def find_collection(words: Sequence[str], concepts: Sequence[Concept], collections: Sequence[Collection]) -> str | None:
    """Return the slug of the collection that keywords and concepts point at; None where none clearly leads."""
    text = f" {' '.join(words)} "
    points = {"": 0.0}
    for collection in collections:
        points[collection.slug] = sum(_spaced(keyword) in text for keyword in collection.keywords)
        points[collection.slug] += sum(1 / len(c.collections) for c in concepts if collection.slug in c.collections)
    first, *others = sorted(points, key=lambda slug: (-points[slug], slug))
    return first if first and points[first] - points[others[0]] >= LEAD else None


def _spaced(keyword: str) -> str:
    return f" {' '.join(word for word in words_of(keyword) if word != SENTENCE_END)} "


# --- Language ---------------------------------------------------------------------------------------------------------

ENGLISH = "en"
FEWEST_HITS = 2
SHORTEST_ENDED = 7  # letters of a word whose ending counts
_LANGUAGES = {ENGLISH: {"words": EMPTY_WORDS}, **language_table("languages")}


def guess_language(words: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """Return an ISO 639-1 code: English unless another language clearly leads; endings count in unknown words."""
    long_words = [word for word in words if len(word) >= SHORTEST_ENDED and word.isalpha() and not is_known(word)]
    hits = {
        language: sum(word in table["words"] for word in words)
        + sum(word.endswith(tuple(table.get("endings", ()))) for word in long_words)
        for language, table in _LANGUAGES.items()
    }
    best = max(hits, key=lambda language: (hits[language], language == ENGLISH))
    return best if hits[best] >= FEWEST_HITS and hits[best] > hits[ENGLISH] else ENGLISH
