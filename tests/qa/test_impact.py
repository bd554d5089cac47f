"""What rests on a study or a passage is shown before its words are taken away."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from corpus_app import curation, hooks
from corpus_app.models import Passage, Study
from qa_app.answers import asking
from qa_app.models import GoldenQuestion
from tests.builders import make_curator
from tests.qa.conftest import ASKED, PROTEIN

pytestmark = pytest.mark.usefixtures("library")


def golden(key: str, **relevant: int) -> None:
    GoldenQuestion.objects.create(
        key=key, question=f"Question {key}?", mode="beginner", kind="answerable_lay",
        relevant={name.replace("_", "-"): grade for name, grade in relevant.items()},
    )  # fmt: skip


def headlines(*study_ids: str, passages: list[int] | None = None) -> list[str]:
    return [found.headline for found in hooks.impacts(study_ids, passages)]


def test_answers_that_quote_a_study_or_passage_are_counted_with_their_sentences(client: Client) -> None:
    assert "No answer has quoted it so far." in client.get("/studies/T-SETS/").content.decode()
    body, _ = asking.ask(question=ASKED), asking.ask(question=ASKED)
    sets, protein = Passage.objects.get(study__study_id="T-SETS"), Passage.objects.get(text=PROTEIN)

    (found,) = hooks.impacts(["T-SETS"])
    html = client.get("/studies/T-SETS/").content.decode()

    assert (found.headline, found.keeps) == ("2 stored answers quote it", True)
    sentences = sum(len(body[part]["sentences"]) for part in ("summary", "answer"))
    assert found.details[0][0] == f"{ASKED} ({sentences} of {sentences} sentences quote it)"
    assert found.details[1][1] == body["url"]
    assert headlines("T-PROTEIN") == headlines("T-SETS", passages=[protein.pk]) == []
    assert headlines("T-SETS", passages=[sets.pk]) == ["2 stored answers quote it"]
    assert "2 answers quote it so far." in html
    assert body["id"] not in html


def test_what_the_database_is_asked_does_not_grow_with_the_answers(django_assert_num_queries: Any) -> None:
    for _ in range(12):
        asking.ask(question=ASKED)

    with django_assert_num_queries(5) as asked:
        (found,) = hooks.impacts(["T-SETS"])

    assert (found.headline, len(found.details)) == ("12 stored answers quote it", 8)
    assert max(query["sql"].count("', '") for query in asked.captured_queries) == 8 - 1


def test_golden_questions_tell_those_that_would_be_left_without_a_main_source() -> None:
    golden("g-1", T_SETS=2)
    golden("g-2", T_SETS=2, T_PROTEIN=2)
    golden("g-3", T_SETS=1)

    assert headlines("T-SETS") == [
        "1 golden question has no other main source",
        "1 golden question has it among its main sources",
    ]
    assert headlines("T-SETS", "T-PROTEIN") == ["2 golden questions have no other main source"]


def test_the_pages_that_ask_and_those_of_study_and_passage_show_it(client: Client) -> None:
    client.force_login(make_curator())
    asking.ask(question=ASKED)
    golden("g-1", T_SETS=2)
    study, other = Study.objects.get(study_id="T-SETS"), Passage.objects.get(text=PROTEIN)
    pages = [
        *(f"{reverse('admin:corpus_app_study_state', args=[verb])}?ids={study.pk}" for verb in ("withdraw", "notice")),
        reverse("admin:corpus_app_study_change", args=[study.pk]),
        reverse("admin:corpus_app_passage_change", args=[study.passages.get().pk]),
    ]

    shown = [client.get(page).content.decode() for page in pages]
    unquoted = client.get(reverse("admin:corpus_app_passage_change", args=[other.pk])).content.decode()

    assert all("1 stored answer quotes it" in html for html in shown)
    assert all("1 golden question has no other main source" in html for html in shown[:2])
    assert "No stored answer and no golden question rests on it." in unquoted


def test_a_study_that_an_answer_quotes_is_not_deleted_at_the_desk(client: Client) -> None:
    client.force_login(make_curator())
    asking.ask(question=ASKED)
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="A test.")
    study = Study.objects.get(study_id="T-SETS")

    page = client.post(reverse("admin:corpus_app_study_delete", args=[study.pk]), {"post": "yes"})

    assert "withdraw it instead" in page.content.decode() or page.status_code == 403
    assert Study.objects.filter(pk=study.pk).exists()
