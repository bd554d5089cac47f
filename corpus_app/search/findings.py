"""Confirmed findings of studies that answers may use: those of some studies, and those on one comparison."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from corpus_app import records
from corpus_app.appraisal import EFFECT_FIELDS, effect_of
from corpus_app.models import NameLexemes
from corpus_app.search.selection import StudySelection

MOST_COMPARABLE = 150
"""Findings on one comparison that are read, in the order of their studies."""
MOST_PAIRS = 1_000
"""Pairs of intervention and outcome that are read for examples."""

FINDING_FIELDS = ("intervention", "comparator", "outcome", "direction", "statement", "plain", "lean", *EFFECT_FIELDS)
_FINDING = """
    SELECT s.study_id, f.id, f.intervention, f.comparator, f.outcome, f.direction, f.statement, f.plain, f.lean,
           f.effect_measure, f.effect_value, f.effect_lower, f.effect_upper, f.effect_level, f.effect_unit
"""
_SEARCHABLE = "s.status = 'published' AND s.notice <> 'retracted' AND NOT f.is_unconfirmed"
_OF_STUDIES = (
    _FINDING
    + """
    FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (study_id, place)
    JOIN corpus_app_study s USING (study_id)
    JOIN corpus_app_finding f ON f.study_id = s.id
    WHERE """
    + _SEARCHABLE
    + " ORDER BY wanted.place, f.position"
)
_NAMING = (
    _FINDING
    + """
    FROM corpus_app_finding f JOIN corpus_app_study s ON s.id = f.study_id
    WHERE """
    + _SEARCHABLE
    + """ AND f.lean <> '' AND f.outcome_lexemes @@ {outcome}{compared}{of_studies}
    ORDER BY s.study_id, f.position LIMIT %(limit)s
"""
)
_ANY_NAME = """(
    SELECT string_agg('(' || named || ')', ' | ')::tsquery
    FROM unnest({names}::text[]) AS name
    CROSS JOIN LATERAL (
        SELECT nullif(string_agg(quote_literal(lexeme), ' & '), '') AS named FROM unnest({lexemes})
    ) AS lexemes
)""".replace("{lexemes}", NameLexemes.template % {"expressions": "name"})
_MOST_COMPARED = """
    SELECT f.intervention, f.outcome, count(DISTINCT f.study_id) AS studies
    FROM corpus_app_finding f JOIN corpus_app_study s ON s.id = f.study_id
    WHERE {searchable} GROUP BY 1, 2 ORDER BY studies DESC, 1, 2 LIMIT %s
""".replace("{searchable}", _SEARCHABLE)


def findings(study_ids: Sequence[str]) -> tuple[records.Finding, ...]:
    """Return the confirmed findings of these studies, in the order of the ids, then in the curator's order.

    Studies that are not published or are retracted have none.
    """
    if not study_ids:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_OF_STUDIES, [list(study_ids)])
        return tuple(as_finding(*row) for row in cursor.fetchall())


def findings_naming(
    outcomes: Collection[str], compared: Sequence[Collection[str]], *, among: StudySelection | None = None
) -> tuple[records.Finding, ...]:
    """Return the findings with a lean whose outcome has one of these names, in the order of study ids.

    What they compare has one of the names of each thing in `compared`. With `among`, only those of these studies.
    At most `MOST_COMPARABLE` are returned.
    """
    parameters: dict[str, Any] = {"outcome": list(outcomes), "limit": MOST_COMPARABLE}
    studies, traits = among.keys() if among else ("", {})
    parameters |= traits
    parameters |= {f"compared{place}": list(names) for place, names in enumerate(compared)}
    sides = (f" AND f.compared_lexemes @@ {_any_name(f'compared{place}')}" for place in range(len(compared)))
    statement = _NAMING.replace("{outcome}", _any_name("outcome")).replace("{compared}", "".join(sides))
    statement = statement.replace("{of_studies}", f" AND s.id IN ({studies})" if studies else "")
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return tuple(as_finding(*row) for row in cursor.fetchall())


def most_compared() -> list[tuple[str, str, int]]:
    """Return interventions and outcomes with the number of their studies, those of most studies first."""
    with connection.cursor() as cursor:
        cursor.execute(_MOST_COMPARED, [MOST_PAIRS])
        return list(cursor.fetchall())


def _any_name(parameter: str) -> str:
    return _ANY_NAME.replace("{names}", f"%({parameter})s")


def as_finding(
    study_id: str, pk: int, intervention: str, comparator: str, outcome: str, direction: str, statement: str,
    plain: str, lean: str, *effect: Any,
) -> records.Finding:  # fmt: skip
    """Return the record of a finding row."""
    return records.Finding(
        intervention, comparator, outcome, records.Direction(direction), statement, finding_id=pk, study_id=study_id,
        plain=plain, lean=records.Lean(lean) if lean else None, effect=effect_of(*effect),
    )  # fmt: skip
