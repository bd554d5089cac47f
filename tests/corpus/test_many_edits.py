"""Many curators on one study: each edit lands whole or its author is told; none disappears."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from corpus_app import curation
from corpus_app.models import CorpusEvent, CorpusVersion, Study
from tests.builders import make_curator, make_study

pytestmark = pytest.mark.django_db(transaction=True)

EDITS, CURATORS = 200, 8


def lines(text: str) -> list[int]:
    return [int(line) for line in text.split()]


def test_of_many_edits_none_is_overwritten_silently() -> None:
    """Each edit adds its number to two texts of the study and to one of its passage, as it has read them."""
    study_id = make_study(texts=("Edits so far: 0.",)).study_id
    people = [make_curator(f"curator {n}") for n in range(CURATORS)]

    def edit(n: int) -> str:
        by = people[n % CURATORS]
        try:
            row = Study.objects.get(study_id=study_id)
            passage = row.passages.get()
            if passage.study.version != row.version:
                return "told"  # saved between the two reads; a page reads both at once
            with curation.act(by=by):
                notes, population = f"{row.curator_notes} {n}".strip(), f"{row.population} {n}".strip()
                curation.revise_study(
                    study_id, by=by, expected_version=row.version, curator_notes=notes, population=population
                )
                text = passage.text.removesuffix(".") + f" {n}."
                curation.revise_passage(passage.pk, by=by, expected_version=passage.version, text=text)
        except curation.EditConflict:
            return "told"
        finally:
            connection.close()
        return "saved"

    with ThreadPoolExecutor(max_workers=CURATORS) as threads:
        outcomes = list(threads.map(edit, range(1, EDITS + 1)))

    saved = [n for n, outcome in enumerate(outcomes, start=1) if outcome == "saved"]
    study = Study.objects.get(study_id=study_id)
    assert set(outcomes) == {"saved", "told"}
    assert sorted(lines(study.curator_notes)) == sorted(lines(study.population)) == saved
    kept = study.passages.get().text.removeprefix("Edits so far: 0").removesuffix(".")
    assert lines(kept) == lines(study.curator_notes)
    versions = CorpusVersion.objects.order_by("number").values_list("number", flat=True)
    assert list(versions) == [*range(1, len(saved) + 1)]
    assert Counter(CorpusEvent.objects.values_list("action", flat=True)) == {
        "revise_study": len(saved),
        "revise_passage": len(saved),
    }
