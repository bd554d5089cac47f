"""Recognise sentences that give orders to a machine (prompt injection), by whom they address and what they ask for.

A lexicon names the same concepts in many languages, so that weights learned in one language serve the others. English
words are features of their own. `manage.py calibrate orders` fits the weights.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path

LEXICON = Path(__file__).with_name("orders.toml")
SHARED = "any"
"""The table of words that serve every language."""
ORDERS = frozenset({"tell", "compose", "explain", "convert", "add", "ignore", "reveal", "pretend", "praise", "visit"})
ADDRESSED = frozenset({"you", "machine", "prompt", "chat", "speaker", "code", "alphabets"})
_ORDINARY = frozenset({"report", "now", "prior", "work", "not", "when"})  # concepts that prose is full of
_JOINTS = frozenset({"common", "also"})
_BEFORE_ORDERS = frozenset({"also", "please", "now", "not"})
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_WORD = re.compile(r"[^\W_]+")
_CLAUSE_END = re.compile(r"[,;:.!?¿¡(\[{<>|#*–—“«„「『]|(?:^|\s)[\"'‘]")
_UNSPACED = re.compile("[\u0590-\u07bf\u0900-\u0dff\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff]")
"""Scripts whose words take prefixes or stand without blanks, after decomposition."""
_LETTERS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "æ": "ae", "đ": "d", "œ": "oe"})
_STEM = 5  # letters by which words of texts are compared
_DIGITS = str.maketrans("013457", "oieast")  # that pass for letters
_BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")
_MARKS = {
    "chat": re.compile(
        r"<\|[^|<>]{1,40}\|>|\[/?(?:INST|SYS|SYSTEM|USER|ASSISTANT)\]|<</?SYS>>"
        r"|</?(?:system|assistant|user|instructions?|prompt|context|document|passages?)>|^(?:(?!##\s*+\w)\W)*+##",
        re.IGNORECASE,
    ),
    "speaker": re.compile(
        r"^\W*(?:system|sistema|système|systeem|система|النظام|系统|系統|システム|시스템|assistant|user|human|AI|developer"
        r"|admin\w*)\b\W{0,3}[:：]",
        re.IGNORECASE,
    ),
    "code": re.compile(
        r"<(?:script|img|iframe|svg|div|a)\b|\bon\w+\W{0,3}=|\b(?:alert|eval|exec)\W?\(|\bdata:text/"
        r"|;\s?\w*\s?--|['\"]\s?--(?:(?!['\"]\s?--)\W)*$"  # of a database: a comment,
        r"|\b(\d+)=\1\b",  # and a condition always true
        re.IGNORECASE,
    ),
    "address": re.compile(r"\w@\w"),
    "quoted": re.compile("[\"“”«»„「『]|(?:^|\\s)['‘]\\w"),
    "asks": re.compile(r"[?？؟][^\w?？؟]*$"),
    "exclaims": re.compile(r"[!！]"),
    "alphabets": re.compile("[A-Za-z][\u0400-\u052f]|[\u0400-\u052f][A-Za-z]"),  # look-alikes, to pass for other words
    "capitals": re.compile(r"(?:\b[A-Z]{2,}\b\W+){2}\b[A-Z]{2,}\b"),
    "figures": re.compile(r"\d\D+\d"),
    "past": re.compile(r"\w{3}ed\b"),
    "cites": re.compile(r"\[\d|\([^\d(]*(?:19|20)\d\d|\bet al\b|\((?:Fig|Tab|see)"),
}  # fmt: skip
_ADDRESSING_MARKS = sorted(ADDRESSED & _MARKS.keys())


@dataclass(frozen=True, slots=True)
class OrderLexicon:
    """The words of all languages, folded: words, phrases, and parts of text without blanks."""

    words: Mapping[str, tuple[tuple[str, str], ...]]
    """Language and concept of each word; the beginning of a word ends in `*`."""
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str, str], ...]]
    """Further words, language and concept, by the first word."""
    parts: Mapping[str, tuple[str, str]]
    pattern: re.Pattern[str]
    """Finds `parts`."""
    unspaced: frozenset[str]
    """Languages whose words are found anywhere in a text."""
    positional: frozenset[str]
    """Languages in which a verb is an order only where its clause begins."""


@dataclass(frozen=True, slots=True)
class OrderModel:
    """The weights of the features, and the chances from which a sentence counts as an order."""

    intercept: float
    weights: Mapping[str, float]
    threshold: float
    """Not to be quoted, sent to a model, or published among sentences that it shares no word with."""
    blocking_threshold: float
    """Not to be published before a person decides, whatever it stands among."""

    def chance(self, found: Collection[str]) -> float:
        """Return the chance, 0 to 1, that a sentence with these features gives an order to a machine; 0 without any."""
        if not found:
            return 0.0
        score = self.intercept + math.fsum(self.weights.get(name, 0.0) for name in found)
        return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))


MODEL = Path(__file__).with_name("orders.json")
_STORED = json.loads(MODEL.read_text("utf-8"))
_MODEL = OrderModel(**{field.name: _STORED[field.name] for field in fields(OrderModel)})


def gives_orders(sentence: str, *, among: str = "") -> bool:
    """Tell whether a sentence, or a mark-up within it, gives an order to a machine instead of reporting something.

    Where it shares words with the text that it stands among, it probably belongs there, and must be surer.
    """
    if _MARKS["alphabets"].search(visible(sentence)):
        return True  # a word of two alphabets passes for another one
    marks = (word for word in sentence.split() if word[0] in "<[")  # no full stop parts them from the sentence after
    chance = max(map(_chance, (sentence, *marks)))
    if chance >= _MODEL.threshold and _own_words(sentence) & _own_words(among):
        return chance >= _MODEL.blocking_threshold
    return chance >= _MODEL.threshold


@lru_cache(10_000)  # sentences are quoted again and again: a tenth of the time of an answer
def _chance(sentence: str) -> float:
    return _MODEL.chance(features(sentence))


def visible(text: str) -> str:
    """Return a text without characters that cannot be seen or stored; control characters become spaces."""
    if not text.isprintable():
        kinds = ((c, unicodedata.category(c)) for c in text)
        text = "".join(" " if kind == "Cc" else c for c, kind in kinds if kind not in {"Cf", "Co", "Cs", "Cn"})
    return _INVISIBLE.sub("", text)


def features(sentence: str) -> frozenset[str]:
    """Return the names of a sentence's features; none where it neither orders, nor addresses, nor names two concepts.

    One concept is enough where no word of findings stands beside it.
    """
    shown = _BASE64.sub(_decoded, html.unescape(visible(sentence)))
    found, begun, opening, language = _concepts(shown)
    found |= {name for name in _ADDRESSING_MARKS if _MARKS[name].search(shown)}
    orders, addressed = begun & ORDERS, found & ADDRESSED
    if not orders and not addressed and len(found - _ORDINARY) < (2 if "report" in found else 1):
        return frozenset()
    found |= {name for name, pattern in _MARKS.items() if pattern.search(shown)}
    found |= {opening} | ({"order"} if orders else set()) | ({"addressed"} if addressed else set())
    length = len(shown.split())
    alone = {"long" if length > 30 else "medium" if length > 12 else "short", "own" if language == "en" else "foreign"}
    pairs = {f"{a} {b}" for a, b in combinations(sorted(found), 2)}
    begun_pairs = {f"^{order} {concept}" for order in orders for concept in found - {order}}
    words = {f"={word}" for word in _WORD.findall(_fold(shown)) if language == "en"}
    return frozenset(found | alone | pairs | begun_pairs | {f"^{concept}" for concept in begun} | words)


def _concepts(text: str) -> tuple[set[str], set[str], str, str]:
    """Return the concepts that a text names, those that stand where an order begins, its opening and its language."""
    lexicon = order_lexicon()
    folded = _fold(text)
    hits = [*_words(folded, lexicon)]
    if _UNSPACED.search(folded):
        hits += [(-1, *lexicon.parts[match[0]]) for match in lexicon.pattern.finditer(f" {folded} ")]
    places = {(at if at >= 0 else concept, name) for at, name, concept in hits}
    votes = Counter(name for _, name in places if name != SHARED)
    language = max(votes, key=lambda name: (votes[name], name == "en"), default="en")
    mixed = {SHARED, language} | ({"en"} if language in lexicon.unspaced else set())
    by_word: dict[int, set[str]] = defaultdict(set)
    for at, name, concept in hits:
        if name in mixed:
            by_word[at].add(concept)
    found = {concept for concepts in by_word.values() for concept in concepts} - _JOINTS
    if language not in lexicon.positional:
        return found, found, "opens free", language
    begins = _clause_starts(folded) | _capitalised(text, folded)
    for at in sorted(by_word):
        if at in begins and by_word[at] & _BEFORE_ORDERS:
            begins.add(at + 1)
    begun = {concept for at in begins for concept in by_word.get(at, ())} - _JOINTS
    return found, begun, _opening(by_word.get(0, set())), language


def _opening(first: set[str]) -> str:
    """Return what kind of word a sentence begins with."""
    if first & ORDERS:
        return "opens verb"
    if first & {"common", "also", "report"}:
        return "opens function"
    return "opens concept" if first else "opens other"


@cache  # 30 languages, read once a process
def order_lexicon() -> OrderLexicon:
    """Return the compiled lexicon."""
    words: dict[str, list[tuple[str, str]]] = defaultdict(list)
    phrases: dict[str, list[tuple[tuple[str, ...], str, str]]] = defaultdict(list)
    parts: dict[str, tuple[str, str]] = {}
    tables = tomllib.loads(LEXICON.read_text("utf-8"))
    for language, table in tables.items():
        for concept, entries in table.items():
            for entry in map(_fold, entries.split()):
                if _UNSPACED.search(entry):
                    parts[entry.replace("_", " ")] = (language, concept)
                elif "_" in entry:
                    first, *rest = entry.strip("_").split("_")
                    phrases[first].append((tuple(rest), language, concept))
                else:
                    words[entry].append((language, concept))
    pattern = re.compile("|".join(map(re.escape, sorted(parts, key=len, reverse=True))))
    return OrderLexicon(
        words={word: tuple(rows) for word, rows in words.items()},
        phrases={word: tuple(rows) for word, rows in phrases.items()},
        parts=parts,
        pattern=pattern,
        unspaced=frozenset(language for language, _ in parts.values()),
        positional=frozenset(language for language, table in tables.items() if "also" in table),
    )


def _fold(text: str) -> str:
    """Return a text in small letters without accents."""
    text = unicodedata.normalize("NFKD", text.casefold())
    if not text.isascii():
        text = "".join(c for c in text if unicodedata.category(c) != "Mn").translate(_LETTERS)
    return text


def _words(folded: str, lexicon: OrderLexicon) -> Iterator[tuple[int, str, str]]:
    """Yield number of the word, language and concept of each word or phrase that the lexicon names."""
    words = _WORD.findall(folded)
    for at, word in enumerate(words):
        for language, concept in _word_hits(word):
            yield at, language, concept
        for rest, language, concept in lexicon.phrases.get(word, ()):
            if all(map(_matches, words[at + 1 : at + 1 + len(rest)], rest)) and len(words) > at + len(rest):
                yield at, language, concept


def _own_words(text: str) -> set[str]:
    """Return the beginnings of a text's longer words, without those that the lexicon names: what it is about."""
    return {word[:_STEM] for word in _WORD.findall(_fold(text)) if len(word) >= _STEM and not _word_hits(word)}


@lru_cache(10_000)  # a text repeats its words: half of the time of a sentence
def _word_hits(word: str) -> tuple[tuple[str, str], ...]:
    words = order_lexicon().words
    if not word.isalpha() and len(word) > 3:
        word = word.translate(_DIGITS)
    entries = [word, *(f"{word[:end]}*" for end in range(2, len(word) + 1))]
    return tuple(hit for entry in entries for hit in words.get(entry, ()))


def _matches(word: str, entry: str) -> bool:
    return word.startswith(entry[:-1]) if entry.endswith("*") else word == entry


def _clause_starts(folded: str) -> set[int]:
    """Return the numbers of the words that stand first, or after a mark of punctuation."""
    starts, before = {0}, 0
    for at, match in enumerate(_WORD.finditer(folded)):
        if _CLAUSE_END.search(folded, before, match.start()):
            starts.add(at)
        before = match.end()
    return starts


def _capitalised(text: str, folded: str) -> set[int]:
    """Return the numbers of the words with a capital letter: there a sentence may begin whose full stop is missing."""
    words = _WORD.findall(text)
    if len(words) != len(_WORD.findall(folded)):
        return set()
    return {at for at, word in enumerate(words) if word.istitle()}


def _decoded(match: re.Match[str]) -> str:
    """Return the text that a run of letters holds in Base64, or the run itself."""
    try:
        text = base64.b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode("ascii")
    except ValueError:
        return match[0]
    return text if text.isprintable() and " " in text else match[0]
