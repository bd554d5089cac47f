"""Read questions that are put to a site about whoever it belongs to: what it is and offers, and how it came about.

The sources of such a site tell of its owner by name. Readers say "you", "your" or "the company".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from corpus_app.records import Collection, Concept, Study
from qa_app.pipeline.lexicon import SENTENCE_END, PhraseIndex, Span, Word, placed_words
from qa_app.pipeline.query import Request
from qa_app.pipeline.text import content_stems

_PHRASES = PhraseIndex.of_language("site_questions")
_COMPARED = PhraseIndex.of_language("slots")
JOINTS = frozenset({"and", "with", "to", "or", "vs", "versus"})
"""Words between two things that are compared."""

Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """The owner of a site, and its sources by what they are about; empty where no source names the owner."""

    owner: str = ""
    titles: Mapping[str, Stems] = field(default_factory=dict)
    """Stems of each study's title, without those of the owner."""
    categories: Mapping[Stems, tuple[str, ...]] = field(default_factory=dict)
    """Studies of each collection and each kind of concepts, by the stems of its name."""
    topics: Mapping[Stems, tuple[str, ...]] = field(default_factory=dict)
    """Studies of each concept, by the stems of each of its names."""

    @classmethod
    def build(
        cls, owner: str, studies: Sequence[Study], collections: Iterable[Collection], concepts: Iterable[Concept],
        kinds: Mapping[str, str],
    ) -> SiteIndex:  # fmt: skip
        """Index the studies; `kinds` gives the label of each kind of concepts. Without an owner the index is empty."""
        if not owner:
            return cls()
        collected = ((c.name, [s.study_id for s in studies if s.collection == c.slug]) for c in collections)
        about = [(c, [s.study_id for s in studies if c.concept_id in s.concepts]) for c in concepts]
        of_kinds = ((name, own) for c, own in about for name in (c.kind, kinds.get(c.kind, "")))
        name = frozenset(content_stems(owner))
        return cls(
            owner,
            titles={study.study_id: frozenset(content_stems(study.title)) - name for study in studies},
            categories=_by_stems(of_kinds) | _by_stems(collected),
            topics=_by_stems((name, own) for c, own in about for name in (c.name, *c.aliases)),
        )

    @property
    def stems(self) -> Stems:
        """Return the stems of the owner's name."""
        return frozenset(content_stems(self.owner))

    def studies_of(self, side: Stems, idle: Stems) -> tuple[str, ...]:
        """Return the studies on one of two things that are compared, else those whose titles name it."""
        named = side - idle
        titled = tuple(study for study, title in self.titles.items() if named and named <= title)
        return _matching(self.topics, side, idle) or titled or _matching(self.categories, side, idle)


def _by_stems(named: Iterable[tuple[str, Sequence[str]]]) -> dict[Stems, tuple[str, ...]]:
    found: dict[Stems, tuple[str, ...]] = {}
    for name, studies in named:
        if studies and (stems := frozenset(content_stems(name))):
            found[stems] = tuple(dict.fromkeys((*found.get(stems, ()), *studies)))
    return found


def _matching(named: Mapping[Stems, tuple[str, ...]], asked: Stems, idle: Stems) -> tuple[str, ...]:
    """Return the studies under the longest name that is all of what is asked but for idle words."""
    fitting = [stems for stems in named if stems <= asked and asked - stems <= idle]
    return named[max(fitting, key=lambda stems: (len(stems), sorted(stems)))] if fitting else ()


@dataclass(frozen=True, slots=True)
class SiteQuestion:
    """A question as it is put to the owner of a site."""

    text: str
    """With the owner's name for "you" and the like."""
    is_addressed: bool = False
    """Whether it speaks to the owner."""
    request: Request | None = None
    studies: tuple[str, ...] = ()
    """The sources that it asks for; empty where all may answer."""
    ask: str = ""
    """The request in plain words; empty without one."""
    idle: Stems = frozenset()
    """Stems of words that carry no subject here."""


def read(text: str, site: SiteIndex) -> SiteQuestion:
    """Read a question; it stays as it is where the site has no owner."""
    if not site.owner:
        return SiteQuestion(text)
    words = placed_words(text)
    found = _PHRASES.find([word.text for word in words])
    spans = found.get("owner", ())
    put = _put(text, words, spans, site.owner)
    asked = frozenset(content_stems(text)) - site.stems
    idle = _stems(words, found.get("idle", ()))
    subject = asked - idle
    names_owner = bool(spans) or not site.stems.isdisjoint(content_stems(text))
    plain = SiteQuestion(put, bool(spans), idle=_stems(words, found.get("offer", ())))
    if sides := _compared(words, site, idle):
        return replace(plain, request=Request.SOURCES, studies=sides)
    if "timeline" in found or ("history" in found and not subject and names_owner):
        ask = put if subject else f"History of {site.owner}"
        return replace(plain, request=Request.TIMELINE, ask=ask, idle=idle | site.stems)
    named = site.categories if "listing" in found else {}
    named = {**site.topics, **named} if "introduction" in found else named
    if studies := _matching(named, asked, idle):
        return replace(plain, request=Request.SOURCES, studies=studies)
    if "overview" in found and not subject and names_owner:
        overviews = tuple(study for study, title in site.titles.items() if not title)
        ask = f"What is {site.owner} and what does it do?"
        return replace(plain, request=Request.OVERVIEW, studies=overviews, ask=ask, idle=idle)
    return plain


def _put(text: str, words: Sequence[Word], spans: Iterable[Span], owner: str) -> str:
    """Put the owner's name in place of the words that address it."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[: words[start].start]}{owner}{text[words[end - 1].end :]}"
    return text


def _stems(words: Sequence[Word], spans: Iterable[Span]) -> Stems:
    places = chain.from_iterable(range(*span) for span in spans)
    return frozenset(content_stems(" ".join(words[place].text for place in places)))


def _compared(words: Sequence[Word], site: SiteIndex, idle: Stems) -> tuple[str, ...]:
    """Return the studies on two things that a question compares; empty where a side has none."""
    texts = [word.text for word in words]
    marks = _COMPARED.find(texts)
    pairs = [(texts[1:start], texts[end:]) for start, end in marks.get("compare.against", ())]
    for _, start in marks.get("compare.between", ()):
        pairs += [(texts[start:n], texts[n + 1 :]) for n in range(start, len(texts)) if texts[n] in JOINTS]
    for pair in pairs:
        sides = [" ".join(takewhile(lambda word: word != SENTENCE_END, side)) for side in pair]
        found = [site.studies_of(frozenset(content_stems(side)) - site.stems, idle) for side in sides]
        if all(found):
            return tuple(dict.fromkeys(chain.from_iterable(found)))
    return ()
