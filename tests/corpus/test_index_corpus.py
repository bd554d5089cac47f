from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from corpus_app import embedding, indexing
from corpus_app.embedding import Matrix
from tests.builders import make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


def run(**options: bool) -> str:
    out = StringIO()
    call_command("index_corpus", stdout=out, **options)
    return out.getvalue()


def test_it_indexes_what_waits_and_counts(encoder: WordHashEncoder) -> None:
    make_study(texts=("One text.", "Another text."))

    assert run() == "2 of 2 passages\nIndexed now: 2. Indexed in all: 2 of 2 passages.\n"
    assert run() == "Indexed now: 0. Indexed in all: 2 of 2 passages.\n"


def test_all_means_all(encoder: WordHashEncoder) -> None:
    make_study(texts=("One text.", "Another text."))
    indexing.index_stale()

    assert "Indexed now: 2" in run(all=True)


def test_it_fails_when_a_passage_cannot_be_indexed() -> None:
    class Broken(WordHashEncoder):
        def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
            raise RuntimeError("no such token")

    make_study()

    with embedding.use(Broken()), pytest.raises(CommandError, match="Not indexed: 1"):
        run()


def test_it_says_why_there_is_no_encoder(settings) -> None:
    settings.ENCODER = "/nowhere/at-all"
    make_study()

    with pytest.raises(CommandError, match="could not be loaded"):
        run()
