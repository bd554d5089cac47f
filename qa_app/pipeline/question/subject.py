"""Name what a question is about, from its slots: "compost and harvest in raised beds"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corpus_app.facets import FacetValue
from qa_app.pipeline.query import AskedFacets, Query

MOST_NAMES = 3  # of a slot


def describe_subject(query: Query) -> str | None:
    """Return a noun phrase in English; None where the question names no concept."""
    name_of = {concept.concept_id: concept.name for concept in (*query.concepts, *query.unstudied)}

    def names(slot: Sequence[str]) -> list[str]:
        return [name_of[concept_id] for concept_id in slot if concept_id in name_of][:MOST_NAMES]

    tried, against, outcomes = names(query.intervention), names(query.comparator), names(query.outcome)
    people, conditions = _people(query.facets) or _listed(names(query.people)), _listed(names(query.condition))
    if not (tried or against or outcomes or conditions):
        return None
    if tried and against:
        compared = f"{_listed(tried)} compared with {_listed(against)}"
        matter = f"{compared}, and {_listed(outcomes)}" if outcomes else compared
    else:
        matter = _listed([*tried, *against, *outcomes])
    if not matter:
        return f"{people} with {conditions}" if people else conditions
    if conditions:
        return f"{matter} in {people or 'people'} with {conditions}"
    return f"{matter} in {people}" if people else matter


def _people(asked: AskedFacets) -> str:
    """Return the people asked about by their facets, the others in brackets: "older women (untrained)"."""
    values: dict[str, dict[str, FacetValue]] = {}
    for key, names in asked.values.items():
        declared = asked.declared[key].values
        if own := {name: declared[name] for name in names if not declared[name].open}:
            values[key] = own
    if not values:
        return ""
    prefixed = next(
        (k for k, own in values.items() if [v.prefix for v in own.values()] != [None] and len(own) == 1), ""
    )
    after = [key for key, own in values.items() if key != prefixed and any(v.always_named for v in own.values())]
    if prefixed and after:
        (prefix,) = (value.prefix for value in values[prefixed].values())
        used, head = {prefixed, after[0]}, f"{prefix} {_words(after[0], values)}".strip()
    else:
        first = next(
            (key for key, own in values.items() if any(v.always_named for v in own.values())), next(iter(values))
        )
        used, head = {first}, _words(first, values)
    rest = [_listed([value.label for value in own.values()]) for key, own in values.items() if key not in used]
    return f"{head} ({', '.join(rest)})" if rest else head


def _words(key: str, values: Mapping[str, Mapping[str, FacetValue]]) -> str:
    """Return the values of a facet, each as it is called among those of the other facets: girls, among the young."""
    others = [name for other, own in values.items() if other != key for name in own]
    return _listed([next((v.among[n] for n in others if n in v.among), v.words) for v in values[key].values()])


def _listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a, b and c"; "a, and b and c" where one has an "and"."""
    joint = ", and " if len(names) > 1 and any(" and " in name for name in names) else " and "
    return joint.join(filter(None, (", ".join(names[:-1]), *names[-1:])))
