"""Find the parts of a question, and the values of facets, that the cited studies do not cover."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from common.general_words import is_general
from corpus_app.records import Study
from qa_app.pipeline.concepts import name_stems
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Query
from qa_app.pipeline.text import content_stems, stem_set, words

MOST_MISSING = 3


def missing_parts(
    query: Query,
    cited_texts: Sequence[str],
    studies: Sequence[Study],
    idf: Mapping[str, float],
    is_unknown: Callable[[str], bool],
    policy: Policy,
) -> tuple[str, ...]:
    """Return the parts of the question that no cited text mentions, as the reader wrote them, the rarest first.

    `cited_texts` are the passages and titles of the cited studies; `is_unknown` tells whether a stem
    occurs nowhere in the cited studies. Values of facets asked about that no cited study has come last.
    """
    read = [stem_set(text) for text in cited_texts]
    present = frozenset[str]().union(*read)
    asked = [(concept, name_stems(concept)) for concept in (*query.unstudied, *query.concepts)]
    concepts = [concept.name for concept, names in asked if not any(name <= own for name in names for own in read)]
    named = frozenset(stem for _, names in asked for name in names for stem in name)
    total = sum(idf.values())
    spelt = {stem: word for word in reversed(words(query.text)) for stem in content_stems(word)}
    lacking = sorted(
        (t for t in idf if t not in present and t not in named and is_unknown(t)), key=lambda t: (-idf[t], t)
    )
    terms = [spelt[t] for t in lacking if total and idf[t] >= policy.missing_idf_share * total and t in spelt]
    return tuple(dict.fromkeys((*concepts, *terms)))[:MOST_MISSING] + _facets(query, studies)


def worth_naming(missing: tuple[str, ...]) -> tuple[str, ...]:
    """Return the missing parts without words that are common to all subjects: those tell a reader nothing."""
    return tuple(part for part in missing if not is_general(part))


def _facets(query: Query, studies: Sequence[Study]) -> tuple[str, ...]:
    absent = []
    for key, wanted in query.facets.values.items():
        facet = query.facets.declared[key]
        own = [study.values_of(key) for study in studies]
        if own and not any(any(map(facet.is_open, o)) or not o or not set(wanted).isdisjoint(o) for o in own):
            absent.append(" / ".join(map(facet.words, wanted)))
    return tuple(absent)
