"""Tell whether the plain sentence of a finding says how large its effect is."""

from __future__ import annotations

from collections.abc import Mapping

from corpus_app.records import Finding
from qa_app.pipeline.lexicon import UNIT_OF, language_table
from qa_app.pipeline.query import UnitForm
from qa_app.pipeline.question.facets import FacetIndex, spell_signs
from qa_app.pipeline.question.numbers import find_numbers
from qa_app.pipeline.text import folded

OTHER_UNITS = frozenset(language_table("aspects")["sizes"]["other_units"])
"""Units of numbers that count or time something."""


def states_size(sentence: str, finding: Finding, facets: FacetIndex, units: Mapping[str, UnitForm]) -> bool:
    """Tell whether a sentence has an amount that is neither a dose nor an age, a time or a count of studies."""
    text = spell_signs(sentence)
    traits = [(trait.start, trait.end) for trait in facets.find(text) if trait.is_number]
    compared = find_numbers(f"{finding.intervention} {finding.comparator}", units)
    amounts = [amount.partition(" ") for amount in find_numbers(text, units, excluded=traits)]
    done = {amount.partition(" ")[0] for amount in compared}
    return any(
        unit and UNIT_OF.get(folded(unit), unit) not in OTHER_UNITS and number not in done
        for number, _, unit in amounts
    )
