"""The table, run against the real database; and the page that is made from it."""

from __future__ import annotations

import pytest

from corpus_app import embedding, indexing
from qa_app import asking
from tests.builders import make_collection, make_study
from tests.fakes import WordHashEncoder
from tests.spec.render import DOCUMENT, render
from tests.spec.table import CASES, Case


@pytest.mark.django_db
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.promise)
def test_the_site_does_as_it_promises(case: Case) -> None:
    with embedding.use(WordHashEncoder()):
        for given in case.given:
            make_study(
                study_id=given.study,
                title="A study",
                texts=(given.text,),
                collection=make_collection(given.collection),
                status=given.status,
                notice=given.notice,
            )
        indexing.index_stale()

        answer = asking.ask(question=case.question, mode=case.mode, collection=case.collection)

    assert (answer["outcome"], answer["summary"]["text"]) == (case.outcome, case.summary)
    assert tuple(citation["study_id"] for citation in answer["citations"]) == case.cited
    assert (answer["confidence"] is None) == (not case.summary)
    assert bool(answer["evidence"]) == (case.outcome in {"answered", "insufficient_evidence"})


def test_the_page_is_what_the_table_says() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render(), "run: python -m tests.spec.render"
