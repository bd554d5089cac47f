from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from corpus_app import embedding, indexing
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
