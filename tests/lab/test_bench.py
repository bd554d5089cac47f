from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from corpus_app import embedding, indexing
from lab.management.commands import bench
from tests.builders import make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A small encoder, its original, and two passages."""
    monkeypatch.setattr(embedding, "original_of", lambda _: WordHashEncoder("small@fp32"))
    with embedding.use(WordHashEncoder("small@int8")):
        make_study(texts=("One text.", "Another text."))
        indexing.index_stale()
        yield


def test_it_times_the_encoder_the_original_and_the_search(small: None) -> None:
    out = StringIO()
    call_command("bench", rounds=1, stdout=out)

    said = out.getvalue()
    assert "2 searchable passages, 1 questions, 1 rounds" in said
    for step in ("encode, small@int8", "encode, small@fp32", "search", "encode and search"):
        assert f"\n{step} " in said
    assert "times as long as the encoder in use" in said


def test_questions_of_a_file_are_asked(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions, asked = tmp_path / "questions.txt", []
    questions.write_text("How many sets?\n\nHow much protein?\n", encoding="utf-8")
    monkeypatch.setattr(bench, "encode_and_search", asked.append)

    call_command("bench", rounds=2, questions=questions, stdout=StringIO())

    assert asked == ["How many sets?", "How much protein?"] * 3, "once to warm up, twice by the clock"


def test_without_a_corpus_or_questions_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="import_corpus"):
        call_command("bench")

    make_study(texts=("One text.",))
    questions = tmp_path / "questions.txt"
    for said in (None, " \n"):
        if said:
            questions.write_text(said, encoding="utf-8")
        with pytest.raises(CommandError, match=r"questions\.txt"):
            call_command("bench", questions=questions)
