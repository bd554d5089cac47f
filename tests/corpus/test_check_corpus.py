from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from corpus_app import indexing
from corpus_app.models import Passage, PassageSentence, PassageTerm, PassageVector, Study
from tests.builders import make_collection, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(encoder: WordHashEncoder) -> Study:
    made = make_study(study_id="S018")
    indexing.index_stale()
    return made


def test_a_sound_corpus_is_clean(study: Study) -> None:
    make_study(status="draft")
    out = StringIO()

    call_command("check_corpus", stdout=out)

    assert "studies 2, published 1, passages 2, searchable 1" in out.getvalue()
    assert out.getvalue().endswith("clean\n")


def test_an_empty_corpus_is_clean(encoder: WordHashEncoder) -> None:
    assert indexing.audit() == []


BREAK_IT: dict[str, Callable[[], object]] = {
    "searchable, but without a vector of its present text": lambda: PassageVector.objects.all().delete(),
    "has a vector of a former text": lambda: PassageVector.objects.update(content_hash="0" * 64),
    "searchable, but its vector is not": lambda: PassageVector.objects.update(searchable=False),
    "not searchable, but its vector is": lambda: Study.objects.update(status="draft"),
    "not searchable, but has terms": lambda: Study.objects.update(notice="retracted"),
    "its vector stands in another collection": lambda: PassageVector.objects.update(
        collection=make_collection("nutrition")
    ),
    "its vector is not of unit length": lambda: PassageVector.objects.update(vector=[2.0] * 64),
    "searchable, but a sentence has no vector of the encoder in use": lambda: PassageSentence.objects.update(
        encoder="", vector=None
    ),
    "its sentences are not those of its text": lambda: PassageSentence.objects.filter(position=1).update(start=3),
    "its terms are not those of its words": lambda: PassageTerm.objects.filter(lexeme="set").update(frequency=9),
    "the content hash is not that of its heading and text": lambda: Passage.objects.update(heading="Another title"),
    "could not be indexed": lambda: Passage.objects.update(index_attempts=3, index_error="no such token"),
}


@pytest.mark.parametrize("fault", BREAK_IT)
def test_every_fault_is_found_and_named(study: Study, fault: str) -> None:
    BREAK_IT[fault]()

    assert any(problem.startswith("S018 passage 1") and fault in problem for problem in indexing.audit())


def test_missing_and_surplus_terms_are_found(study: Study) -> None:
    PassageTerm.objects.filter(lexeme="set").update(lexeme="another")

    assert indexing.audit() == ["S018 passage 1: its terms are not those of its words"]


def test_problems_are_listed_and_the_command_fails(study: Study) -> None:
    PassageVector.objects.all().delete()
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError, match="Problems: 1"):
        call_command("check_corpus", stdout=out, stderr=err)

    assert err.getvalue() == "S018 passage 1: searchable, but without a vector of its present text\n"
    assert "clean" not in out.getvalue()
