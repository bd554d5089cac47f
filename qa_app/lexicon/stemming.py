"""Stem English words as PostgreSQL's `english` dictionary does, irregular forms as their base."""

from __future__ import annotations

import threading
import tomllib
from functools import lru_cache
from pathlib import Path

from snowballstemmer import stemmer

_IRREGULAR = {
    form: base
    for words in tomllib.loads(Path(__file__).with_name("irregular.toml").read_text("utf-8")).values()
    for base, forms in words.items()
    for form in forms
}
_LOCAL = threading.local()  # a stemmer holds the word it works on, so each thread has its own


@lru_cache(maxsize=50_000)  # 100 µs a word without it, and an answer reads some ten thousand words
def stem(word: str) -> str:
    """Return the Snowball stem of a folded word, or of the base of an irregular form."""
    if not hasattr(_LOCAL, "stemmer"):
        _LOCAL.stemmer = stemmer("english")
    return str(_LOCAL.stemmer.stemWord(_IRREGULAR.get(word, word)))
