"""The words of the searchable passages as they are written, kept in this process and brought in step passage by passage.

To read them all takes seconds in a large corpus, and the first question after an edit would wait for it. So each process
remembers the words of each passage by its content hash, and after an edit reads those of the passages that are new to it.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence

from django.db import connection

from corpus_app.models import SearchText

READ_AT_ONCE = 500  # passages

_PRESENT = """
    SELECT p.id, p.content_hash
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain'
"""
_WRITTEN = """
    SELECT p.id, tsvector_to_array(to_tsvector('simple', {shadow})) FROM corpus_app_passage p WHERE p.id = ANY(%s)
""".replace("{shadow}", SearchText.template % {"expressions": "p.text"})

_bringing_in_step = threading.Lock()
_hashes: dict[int, str] = {}
_words: dict[int, tuple[str, ...]] = {}
_counts: Counter[str] = Counter()


def read() -> dict[str, int]:
    """In how many searchable passages each word stands, lower case, letters a to z only; as the snapshot has it."""
    with connection.cursor() as cursor:
        cursor.execute(_PRESENT)
        present: dict[int, str] = dict(cursor.fetchall())
    with _bringing_in_step:
        gone = [pk for pk, content in _hashes.items() if present.get(pk) != content]
        new = [pk for pk, content in present.items() if _hashes.get(pk) != content]
        written = dict(_written(new))  # all is read before anything is changed
        for pk in gone:
            del _hashes[pk]
            _counts.subtract(_words.pop(pk))
        for pk, words in written.items():
            _hashes[pk], _words[pk] = present[pk], words
            _counts.update(words)
        for word in [word for word, passages in _counts.items() if not passages]:
            del _counts[word]
        return dict(_counts)


def _written(passage_ids: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    with connection.cursor() as cursor:
        for start in range(0, len(passage_ids), READ_AT_ONCE):
            cursor.execute(_WRITTEN, [list(passage_ids[start : start + READ_AT_ONCE])])
            for pk, lexemes in cursor.fetchall():
                yield pk, tuple(sys.intern(word) for word in lexemes if word.isascii() and word.isalpha())
