"""Find the sections and the collection that a question aims at."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

from corpus_app.records import Collection, Concept, Section
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, SENTENCE_END, PhraseIndex, words_of

_TABLE = tomllib.loads((LANGUAGE_FOLDER / "sections.toml").read_text("utf-8"))
_PHRASES = PhraseIndex.compile([_TABLE])
_SECTIONS: Mapping[str, Sequence[str]] = _TABLE["sections"]
WEAK = "weak_"
LEAD = 1  # hits by which a collection has to lead


def find_sections(words: Sequence[str]) -> tuple[Section, ...]:
    """Return the sections that the cues of a question aim at; weak cues count where there is no other."""
    found = _PHRASES.find(words)
    aims = [name for name in _SECTIONS if f"section.{name}" in found]
    strong = [name for name in aims if not name.startswith(WEAK)]
    return tuple(dict.fromkeys(Section(section) for name in strong or aims for section in _SECTIONS[name]))


def find_collection(words: Sequence[str], concepts: Sequence[Concept], collections: Sequence[Collection]) -> str | None:
    """Return the slug of the collection that keywords and concepts point at; None where none clearly leads."""
    text = f" {' '.join(words)} "
    points = {
        collection.slug: sum(_spaced(keyword) in text for keyword in collection.keywords)
        + sum(1 / len(c.collections) for c in concepts if collection.slug in c.collections)
        for collection in collections
    }
    first, *others = sorted(points, key=lambda slug: (-points[slug], slug)) or [""]
    runner_up = points[others[0]] if others else 0
    return first if points and points[first] >= LEAD and (not others or points[first] - runner_up >= LEAD) else None


def _spaced(keyword: str) -> str:
    return f" {' '.join(word for word in words_of(keyword) if word != SENTENCE_END)} "
