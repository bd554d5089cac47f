"""A retraction happens at once: out of search and marked on every answer, for whoever reads meanwhile, too."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client

from corpus_app import curation, indexing, search
from corpus_app.models import CorpusVersion
from qa_app.answers import asking
from qa_app.models import Answer, AnswerCitation
from tests.builders import make_finding, make_study
from tests.qa.conftest import ASKED

STUDY, OTHER = "T-GONE", "T-STAYS"
TEXTS = (
    "Ten weekly sets per muscle increased growth more than five.",
    "Few weekly sets per muscle still gave some muscle growth in trained men.",
    "Weekly sets per muscle were counted over twelve weeks of growth.",
)
QUESTIONS = (ASKED, "Do ten weekly sets per muscle give more growth?", "How many weekly sets per muscle?")
LOOKS = 25  # of each reader after the retraction at the latest


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("encoder")
def test_no_reader_sees_half_a_retraction() -> None:
    gone = make_study(study_id=STUDY, texts=TEXTS, status="draft")
    make_study(study_id=OTHER, texts=("Five weekly sets per muscle gave growth, too.",), status="draft")
    make_finding(
        gone, statement=TEXTS[0], plain="Ten weekly sets for each muscle built more muscle than five.", lean="yes",
        asked_as="\n".join((*QUESTIONS, "How many sets a week should a muscle get to grow?")),
    )  # fmt: skip
    curation.publish([STUDY, OTHER], by=None, by_name="tests")
    indexing.index_stale()
    ids = {passage.passage_id for passage in search.find_study(STUDY).passages}  # type: ignore[union-attr]
    dependent = [asking.ask(question=question)["id"] for question in QUESTIONS for _ in range(4)]
    quoting = AnswerCitation.objects.filter(study_key=STUDY).values_list("sentence__answer", flat=True)
    assert set(quoting) == set(dependent)
    retracted = threading.Event()
    faults: list[str] = []
    looks = {"before": 0, "after": 0}

    def is_found() -> bool:
        found = search.find(ASKED, search.encode_question(ASKED))
        return any(hit.passage_id in ids for hit in found.hits)

    def is_marked(n: int) -> bool:
        body = asking.find_answer(dependent[n % len(dependent)])
        assert body is not None
        marks = {"retracted" in {notice["kind"] for notice in body["notices"]}}
        marks |= {c["notice"] == "retracted" for c in body["citations"] if c["study_id"] == STUDY}
        if len(marks) > 1:
            faults.append("an answer is marked in one place and not in another")
        return marks == {True}

    def read_both(n: int) -> None:
        with search.snapshot():
            found, marked = is_found(), is_marked(n)
        looks["after" if marked else "before"] += 1
        if found is marked:
            faults.append(f"one moment: found {found}, marked {marked}")

    def read_in_turn(n: int) -> None:
        if is_marked(n) and is_found():
            faults.append("found after it was marked")
        if not is_found() and not is_marked(n):
            faults.append("not marked after it had left search")

    def ask(n: int) -> None:
        body = asking.ask(question=QUESTIONS[n % len(QUESTIONS)])
        uses = any(row["study_id"] == STUDY for row in (*body["citations"], *body["evidence"]))
        if uses is not (body["corpus_version"] < 2):
            faults.append(f"an answer of corpus version {body['corpus_version']}: uses it {uses}")

    def keep_reading(look: Callable[[int], None]) -> None:
        try:
            n = left = 0
            while left < LOOKS:
                left += retracted.is_set()
                look(n)
                n += 1
        except Exception as error:
            faults.append(repr(error))
        finally:
            connection.close()

    readers = [threading.Thread(target=keep_reading, args=[look]) for look in (read_both, read_in_turn, ask)]
    for reader in readers:
        reader.start()
    while looks["before"] < LOOKS and not faults:
        threading.Event().wait(0.01)
    curation.set_notice([STUDY], "retracted", reason="Made up.", by=None, by_name="tests")
    retracted.set()
    for reader in readers:
        reader.join()

    assert faults == []
    assert min(looks.values()) >= LOOKS - 1
    assert list(CorpusVersion.objects.order_by("number").values_list("number", flat=True)) == [1, 2]
    for text in (*TEXTS, *QUESTIONS):
        found = search.find(text, search.encode_question(text), limit=1_000)
        assert not {hit.passage_id for hit in found.hits} & ids
    using = set(quoting.all())
    assert using >= set(dependent)
    for answer in Answer.objects.filter(pk__in=using):  # those that were asked meanwhile, too
        page = Client().get(answer.get_absolute_url()).content.decode()
        body = Client().get(f"/api/v1/answers/{answer.pk}").json()
        assert "has been retracted" in page
        assert "retracted" in {notice["kind"] for notice in body["notices"]}
