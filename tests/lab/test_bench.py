from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from corpus_app import embedding, indexing
from lab.management.commands import bench
from tests.builders import make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


def test_it_times_the_encoder_the_original_and_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    with embedding.use(WordHashEncoder("small@int8")):
        make_study(texts=("One text.", "Another text."))
        indexing.index_stale()
        monkeypatch.setattr(embedding, "original_of", lambda _: WordHashEncoder("small@fp32"))
        out = StringIO()

        call_command("bench", rounds=1, stdout=out)

    said = out.getvalue()
    assert "2 searchable passages, 1 questions, 1 rounds" in said
    for step in ("encode, small@int8", "encode, small@fp32", "search", "encode and search"):
        assert f"\n{step} " in said
    assert "times as long as the encoder in use" in said


def test_without_a_corpus_it_says_what_to_do() -> None:
    with pytest.raises(CommandError, match="import_corpus"):
        call_command("bench")


def test_questions_of_a_file_are_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text("How many sets?\n\nHow much protein?\n", encoding="utf-8")
    asked: list[str] = []
    with embedding.use(WordHashEncoder("small@int8")):
        make_study(texts=("One text.",))
        indexing.index_stale()
        monkeypatch.setattr(embedding, "original_of", lambda _: WordHashEncoder("small@fp32"))
        monkeypatch.setattr(bench, "encode_and_search", asked.append)

        call_command("bench", rounds=2, questions=questions, stdout=StringIO())

    assert asked == ["How many sets?", "How much protein?"] * 3, "once to warm up, twice by the clock"


@pytest.mark.parametrize("said", [None, " \n"])
def test_a_file_without_questions_is_refused(tmp_path: Path, said: str | None) -> None:
    make_study(texts=("One text.",))
    questions = tmp_path / "questions.txt"
    if said is not None:
        questions.write_text(said, encoding="utf-8")

    with pytest.raises(CommandError, match=r"questions\.txt"):
        call_command("bench", questions=questions)
