"""Rank studies by the dated events that they tell of, for a question about what happened when."""

from __future__ import annotations

from dataclasses import replace

from qa_app.pipeline import answer_type
from qa_app.pipeline.ports import Corpus
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.numbers import find_years
from qa_app.pipeline.retrieval import Retrieved, load_passages

FEWEST_YEARS = 2  # of a timeline


def rank_by_events(query: Query, retrieved: Retrieved, corpus: Corpus) -> tuple[Query, Retrieved]:
    """Return the studies by their chance times the number of years of which they tell.

    Where none tells of two years, the question is left as one without a request.
    """
    expected = answer_type.read_expected(query, retrieved.idf)
    passages = load_passages([study for study, _ in retrieved.ranked], retrieved, corpus)
    years: dict[str, set[str]] = {}
    for passage in passages:
        for sentence in passage.sentences:
            text = passage.text[sentence.start : sentence.end]
            if expected and answer_type.binding(expected, text, passage.heading):
                years.setdefault(passage.study.study_id, set()).update(find_years(text))
    told = {study: len(own) for study, own in years.items() if len(own) >= FEWEST_YEARS}
    if not told:
        return replace(query, request=None), retrieved
    most = max(told.values())
    chances = {study: chance * told[study] / most for study, chance in retrieved.ranked if study in told}
    return query, replace(retrieved, ranked=tuple(sorted(chances.items(), key=lambda row: (-row[1], row[0]))))
