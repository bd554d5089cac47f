"""Counts of the words of the searchable passages, cached in this process and updated passage by passage.

Reading all words takes seconds in a large corpus, and the first question after an edit would wait for it. So each
process keeps the words of each passage with its content hash, and after an edit reads only the passages that are new to
it.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence

from django.db import connection

from corpus_app.models import SearchText

BATCH_SIZE = 500  # passages

_PRESENT = """
    SELECT p.id, p.content_hash
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain'
"""
_WORDS = """
    SELECT p.id, tsvector_to_array(to_tsvector('simple', {shadow})) FROM corpus_app_passage p WHERE p.id = ANY(%s)
""".replace("{shadow}", SearchText.template % {"expressions": "p.text"})

_update_lock = threading.Lock()
_hashes: dict[int, str] = {}
_words: dict[int, tuple[str, ...]] = {}
_counts: Counter[str] = Counter()


def read() -> dict[str, int]:
    """Return the number of searchable passages that contain each word, lower case, letters a to z only."""
    with connection.cursor() as cursor:
        cursor.execute(_PRESENT)
        present: dict[int, str] = dict(cursor.fetchall())
    with _update_lock:
        stale = [pk for pk, content in _hashes.items() if present.get(pk) != content]
        new = [pk for pk, content in present.items() if _hashes.get(pk) != content]
        read_words = dict(_read_words(new))  # read everything before changing anything: a query may fail
        for pk in stale:
            del _hashes[pk]
            _counts.subtract(_words.pop(pk))
        for pk, words in read_words.items():
            _hashes[pk], _words[pk] = present[pk], words
            _counts.update(words)
        for word in [word for word, passages in _counts.items() if not passages]:
            del _counts[word]
        return dict(_counts)


def _read_words(passage_ids: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    with connection.cursor() as cursor:
        for start in range(0, len(passage_ids), BATCH_SIZE):
            cursor.execute(_WORDS, [list(passage_ids[start : start + BATCH_SIZE])])
            for pk, lexemes in cursor.fetchall():
                yield pk, tuple(sys.intern(word) for word in lexemes if word.isascii() and word.isalpha())
