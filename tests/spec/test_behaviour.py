"""The table, run against the real database; and the page that is made from it."""

import pytest

from corpus_app import embedding, indexing
from corpus_app.models import CorpusLexicon
from qa_app.answers import asking
from tests.builders import make_collection, make_finding, make_study
from tests.pipeline.corpora import CORPUS, FITTED
from tests.spec.render import DOCUMENT, render
from tests.spec.table import CASES, Case, Given


@pytest.mark.django_db
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.promise)
def test_the_site_does_as_it_promises(case: Case) -> None:
    safety = (CORPUS / "lexicon" / "safety.toml").read_text(encoding="utf-8")
    CorpusLexicon.objects.create(name="safety", content=safety)
    with embedding.use(FITTED):
        for given in case.given:
            _make(given)
        indexing.index_stale()

        answer = asking.ask(question=case.question, mode=case.mode, collection=case.collection)

    told = (answer["outcome"], answer["summary"]["text"], answer["answer"]["text"])
    assert told == (case.outcome, case.summary, case.details)
    assert tuple(citation["study_id"] for citation in answer["citations"]) == case.cited
    assert (answer["confidence"] is None) == (not case.summary)
    assert bool(answer["evidence"]) == (case.outcome in {"answered", "partial", "insufficient_evidence"})
    assert case.message in {None, answer["message"]}


def _make(given: Given) -> None:
    study = make_study(
        study_id=given.study, title="A study", texts=(given.text,), collection=make_collection(given.collection),
        status=given.status, notice=given.notice,
    )  # fmt: skip
    if given.plain:
        make_finding(study, statement=given.text, plain=given.plain, asked_as="\n".join(given.questions))


def test_the_page_is_what_the_table_says() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render(), "run: python -m tests.spec.render"
