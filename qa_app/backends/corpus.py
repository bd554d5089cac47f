"""The real corpus behind the pipeline's port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from django.db import DatabaseError

from corpus_app import search
from corpus_app.records import Collection, Concept, Finding, Found, NearFinding, Passage, Study
from qa_app.backends.time_limit import TimeLimit
from qa_app.pipeline.ports import Encode, Encoded, LegFailed


class SearchedCorpus:
    """The corpus by its reading door; what is read in a snapshot takes no longer than the limit leaves."""

    def __init__(self, limit: TimeLimit | None = None) -> None:
        self._limit = limit

    def version(self) -> int:
        return search.corpus_version()

    def snapshot(self) -> AbstractContextManager[None]:
        return search.snapshot(milliseconds=self._limit.milliseconds_left if self._limit else None)

    def encode_ahead(self, texts: Sequence[str]) -> Encoded:
        try:
            return search.begin_questions(texts)
        except search.EncoderUnavailable as error:
            return failing(str(error))

    def find_while(
        self, text: str, encode: Encode, *, collection: str | None, limit: int, k1: float, b: float
    ) -> Found:
        return search.find_while(text, encode, collection=collection, limit=limit, k1=k1, b=b)

    def find_linked(
        self, text: str, vector: Sequence[float] | None, *, collection: str | None, limit: int, k1: float, b: float
    ) -> Found:
        try:
            return search.find(text, vector, collection=collection, limit=limit, k1=k1, b=b)
        except DatabaseError as error:
            raise LegFailed("The search by related topics failed.") from error

    def load(self, passage_ids: Sequence[int]) -> tuple[Passage, ...]:
        return search.load_passages(passage_ids)

    def passage_ids(self, study_id: str) -> tuple[int, ...]:
        return search.passage_ids(study_id)

    def findings(self, study_ids: Sequence[str]) -> tuple[Finding, ...]:
        return search.findings(study_ids)

    def near_findings(self, vector: Sequence[float], passage_ids: Sequence[int]) -> tuple[NearFinding, ...]:
        return search.near_findings(vector, passage_ids)

    def studies(self) -> tuple[Study, ...]:
        return tuple(study for _, study in search.published_studies())

    def concepts(self) -> tuple[Concept, ...]:
        return search.concepts()

    def collections(self) -> tuple[Collection, ...]:
        return search.collections()

    def vocabulary(self) -> Mapping[str, int]:
        return search.vocabulary()

    def is_word(self, word: str) -> bool:
        return search.is_word(word)


def failing(why: str) -> Encoded:
    """What stands in for vectors that cannot be had: whoever wants them is told why."""

    def fail() -> Sequence[Sequence[float]]:
        raise LegFailed(why)

    return fail
