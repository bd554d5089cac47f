"""The short texts of studies: in step with every write, embedded in the background, proven by `check_corpus`."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection, transaction

from corpus_app import curation, embedding, indexing
from corpus_app.embedding import Matrix
from corpus_app.indexing import study_texts
from corpus_app.models import Passage, PassageTerm, Study, StudyText, StudyTextTerm, StudyTextVector
from corpus_app.records import Direction
from corpus_app.sources import FindingDraft
from tests.builders import make_collection, make_study
from tests.fakes import WordHashEncoder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]


OTHER = WordHashEncoder("other@test")


@pytest.fixture
def study() -> Study:
    make_study(study_id="A", title="Weekly sets", texts=("It rose.",))
    curation.revise_study("A", by=None, by_name="test", takeaway="Ten sets build more.", asked_as="How many sets?")
    set_findings(finding(plain="Thighs grew.", asked_as="Do thighs grow?"))
    passage = Study.objects.get(study_id="A").passages.get()
    curation.revise_passage(passage.pk, by=None, by_name="test", asked_as="What rose?")
    return Study.objects.get(study_id="A")


def finding(statement: str = "It grew.", **changes: Any) -> FindingDraft:
    return FindingDraft("ten sets", "five sets", "thickness", Direction.INCREASE, statement, **changes)


def set_findings(*drafts: FindingDraft) -> None:
    curation.set_findings("A", drafts, by=None, by_name="test")


def texts() -> list[tuple[str, str]]:
    return list(StudyText.objects.order_by("study", "position").values_list("kind", "text"))


def test_titles_findings_plain_sentences_and_questions_are_indexed(study: Study) -> None:
    row, passage = study.findings.get(), study.passages.get()

    assert list(StudyText.objects.order_by("position").values_list("kind", "text", "finding", "passage")) == [
        ("title", "Weekly sets", None, None),
        ("plain", "Ten sets build more.", None, Passage.with_plain.get(kind="plain", finding=None).pk),
        ("plain", "Thighs grew.", row.pk, Passage.with_plain.get(finding=row).pk),
        ("question", "How many sets?", None, None),
        ("statement", "ten sets versus five sets: thickness. It grew.", row.pk, None),
        ("question", "Do thighs grow?", row.pk, None),
        ("question", "What rose?", None, passage.pk),
    ]


def test_texts_follow_their_study_between_collections_and_out_of_search(study: Study) -> None:
    indexing.index_stale()
    curation.revise_study("A", by=None, by_name="test", collection=make_collection("nutrition"))
    for table in (StudyTextTerm, StudyTextVector, PassageTerm):
        assert set(table.objects.values_list("collection", flat=True)) == {"nutrition"}

    for state in ({"status": "draft"}, {"notice": "retracted"}, {"status": "withdrawn"}):
        Study.objects.update(**{"status": "published", "notice": "none"} | state)
        indexing.sync_studies([Study.objects.get().pk])
        assert not StudyTextTerm.objects.exists()
        assert not StudyTextVector.objects.filter(searchable=True).exists()
        assert indexing.audit() == []


def test_everything_is_embedded_once_and_by_another_encoder_again(study: Study) -> None:
    indexing.index_stale()
    assert StudyTextVector.objects.count() == len(texts())
    assert not indexing.has_work()
    assert indexing.audit() == []

    with embedding.use(OTHER):
        assert indexing.has_work()
        indexing.index_stale()
        assert StudyTextVector.objects.count() == 2 * len(texts())
        indexing.drop_superseded()

        assert set(StudyTextVector.objects.values_list("encoder", flat=True)) == {OTHER.name}
        assert indexing.audit() == []


def test_studies_that_have_no_texts_yet_get_them_in_the_background(study: Study) -> None:
    wanted = texts()
    StudyText.objects.all().delete()
    assert indexing.has_work()

    indexing.index_stale()

    assert texts() == wanted
    assert indexing.audit() == []


class Choosy(WordHashEncoder):
    """Cannot encode one text."""

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        if "What rose?" in texts:
            raise ValueError("no")
        return super().encode(texts, threads=threads)


def test_a_text_that_cannot_be_encoded_is_given_up_and_named(study: Study) -> None:
    with embedding.use(Choosy()):
        for _ in range(study_texts.MAX_ATTEMPTS):
            indexing.index_stale()

        assert not study_texts.waiting(embedding.active_name()).exists()
        assert any("could not be indexed" in problem for problem in indexing.audit())
    assert StudyTextVector.objects.count() == len(texts()) - 1


def test_what_is_wrong_with_short_texts_is_reported(study: Study) -> None:
    indexing.index_stale()

    for statement, fault in (
        ("DELETE FROM corpus_app_studytextvector", "without a vector"),
        ("UPDATE corpus_app_studytextvector SET searchable = false", "not its own"),
        ("UPDATE corpus_app_studytextterm SET frequency = 9", "terms are not"),
        ("UPDATE corpus_app_study SET asked_as = ''", "short texts are not"),
    ):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            assert any(fault in problem for problem in indexing.audit()), fault
            transaction.set_rollback(True)
