from collections.abc import Callable, Sequence
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from corpus_app import embedding, indexing
from corpus_app.embedding import Matrix
from corpus_app.models import Passage, PassageSentence, PassageTerm, PassageVector, Study, StudyWord, TermStatistics
from tests.builders import make_collection, make_study, run_command
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(encoder: WordHashEncoder) -> Study:
    made = make_study(study_id="S018")
    indexing.index_stale()
    return made


def test_a_sound_corpus_is_clean_and_problems_are_listed(study: Study) -> None:
    make_study(status="draft")
    out = StringIO()

    call_command("check_corpus", stdout=out)

    assert "studies 2, published 1, passages 2, searchable 1" in out.getvalue()
    assert out.getvalue().endswith("clean\n")

    PassageVector.objects.all().delete()
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError, match="Problems: 1"):
        call_command("check_corpus", stdout=out, stderr=err)

    assert err.getvalue() == "S018 passage 1: searchable, but without a vector of its present text\n"
    assert "clean" not in out.getvalue()


BREAK_IT: dict[str, Callable[[], object]] = {
    "searchable, but without a vector of its present text": lambda: PassageVector.objects.all().delete(),
    "has a vector of a former text": lambda: PassageVector.objects.update(content_hash="0" * 64),
    "searchable, but its vector is not": lambda: PassageVector.objects.update(searchable=False),
    "not searchable, but its vector is": lambda: Study.objects.update(status="draft"),
    "not searchable, but has terms": lambda: Study.objects.update(notice="retracted"),
    "its vector stands in another collection": lambda: PassageVector.objects.update(collection=make_collection("diet")),
    "its vector is not of unit length": lambda: PassageVector.objects.update(vector=[2.0] * 64),
    "but a sentence has no vector of the encoder in use": lambda: PassageSentence.objects.update(
        encoder="", vector=None
    ),
    "its sentences are not those of its text": lambda: PassageSentence.objects.filter(position=1).update(start=3),
    "its terms are not those of its words": lambda: PassageTerm.objects.filter(lexeme="set").update(frequency=9),
    "the content hash is not that of its heading and text": lambda: Passage.objects.update(heading="Another title"),
    "could not be indexed": lambda: Passage.objects.update(index_attempts=3, index_error="no such token"),
}


def test_every_fault_is_found_and_named(study: Study) -> None:
    for fault, break_it in BREAK_IT.items():
        with transaction.atomic():
            break_it()
            assert any(problem.startswith("S018 passage 1") and fault in problem for problem in indexing.audit()), fault
            transaction.set_rollback(True)
    TermStatistics.objects.filter(kind="passage", lexeme="set").update(max_frequency=0)
    assert indexing.audit() == ["passage set: the statistics of this lexeme are not those of its terms"]
    TermStatistics.objects.filter(kind="passage", lexeme="set").update(max_frequency=9)
    PassageTerm.objects.filter(lexeme="set").update(lexeme="another")
    StudyWord.objects.filter(field="author").delete()
    assert indexing.audit() == [
        "S018 passage 1: its terms are not those of its words",
        "S018: its words are not those of its texts and names",
    ]


def test_index_corpus_indexes_what_waits_and_counts(encoder: WordHashEncoder) -> None:
    make_study(texts=("One text.", "Another text."))

    assert run_command("index_corpus") == "2 of 2 passages\nIndexed now: 2. Indexed in all: 2 of 2 passages.\n"
    assert run_command("index_corpus") == "Indexed now: 0. Indexed in all: 2 of 2 passages.\n"
    assert "Indexed now: 2" in run_command("index_corpus", all=True)


@pytest.mark.parametrize(("error", "said"), [
    (RuntimeError("no such token"), "Not indexed: 1"), (embedding.EncoderUnavailable("It is not here."), "It is not here."),
])  # fmt: skip
def test_index_corpus_fails_where_a_passage_cannot_be_indexed(error: Exception, said: str) -> None:
    class Broken(WordHashEncoder):
        def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
            raise error

    make_study()

    with embedding.use(Broken()), pytest.raises(CommandError, match=said):
        run_command("index_corpus")
