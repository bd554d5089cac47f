"""What rests on a study is shown before it is withdrawn; answers that lost a source are listed and asked again."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus_app import curation, hooks
from corpus_app.models import Passage, Study
from corpus_app.roles import READERS
from qa_app.answers import asking, retracted
from qa_app.models import Answer, GoldenQuestion
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


def test_answers_that_quote_a_study_are_counted(client: Client) -> None:
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


def test_golden_questions_that_would_lose_their_source_are_counted() -> None:
    golden("g-1", T_SETS=2)
    golden("g-2", T_SETS=2, T_PROTEIN=2)
    golden("g-3", T_SETS=1)

    assert headlines("T-SETS") == [
        "1 golden question has no other main source",
        "1 golden question has it among its main sources",
    ]
    assert headlines("T-SETS", "T-PROTEIN") == ["2 golden questions have no other main source"]


def test_a_quoted_study_shows_what_rests_on_it_and_is_not_deleted(client: Client) -> None:
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
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="A test.")
    page = client.post(reverse("admin:corpus_app_study_delete", args=[study.pk]), {"post": "yes"})
    assert "withdraw it instead" in page.content.decode() or page.status_code == 403
    assert Study.objects.filter(pk=study.pk).exists()


LIST = "admin:qa_app_answer_changelist"


@pytest.fixture
def curator(client: Client) -> User:
    user = make_curator()
    client.force_login(user)
    return user


def text_of(response: Any) -> str:
    html: str = response.content.decode()
    return html


def retract(by: User) -> None:
    curation.set_notice(["T-SETS"], "retracted", by=by, reason="The data were lost.")


def listed(client: Client, **query: str) -> set[str]:
    return {answer.pk for answer in client.get(reverse(LIST), query).context["cl"].result_list}


@pytest.mark.parametrize("loss", ["retract", "withdraw"])
def test_an_answer_that_lost_a_source_is_listed_until_asked_again(curator: User, loss: str) -> None:
    body = asking.ask(question=ASKED)
    assert not retracted.to_ask_again().exists()
    retract(curator) if loss == "retract" else curation.withdraw(["T-SETS"], by=curator, reason="A test.")

    asking.ask(question=ASKED, mode="intermediate")  # another question
    assert [answer.pk for answer in retracted.to_ask_again()] == [body["id"]]
    asking.ask_again(body["id"])

    assert not retracted.to_ask_again().exists()
    assert [answer.pk for answer in retracted.with_lost_sources()] == [body["id"]]


def test_corrected_studies_and_changed_words_have_lists_of_their_own(client: Client, curator: User) -> None:
    body = asking.ask(question=ASKED)
    assert listed(client, sources="marked") == listed(client, sources="changed") == set()

    curation.set_notice(["T-SETS"], "corrected", by=curator, reason="A figure.")
    passage = Passage.objects.get(study__study_id="T-SETS")
    curation.revise_passage(passage.pk, text=f"{passage.text} This was added.", by=curator)

    assert listed(client, sources="marked") == listed(client, sources="changed") == {body["id"]}
    assert listed(client, sources="lost") == listed(client, sources="again") == set()
    assert listed(client, quotes="T-SETS,T-PROTEIN") == {body["id"]}
    assert listed(client, quotes="T-PROTEIN") == set()


def test_the_desk_asks_again_after_a_retraction(client: Client, curator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_app.desk.asked.MAX_QUESTIONS", 1)
    body, other = asking.ask(question=ASKED), asking.ask(question=f"{ASKED} Really?")
    study = Passage.objects.get(study__study_id="T-SETS").study
    posted = {"ids": study.pk, "notice": "retracted", "reason": "The data were lost."}

    page = client.post(reverse("admin:corpus_app_study_state", args=["notice"]), posted, follow=True)
    assert f'{reverse(LIST)}?quotes=T-SETS">See which, and ask again</a>' in page.content.decode()
    assert listed(client, sources="again") == {body["id"], other["id"]}

    act = {"action": "ask_again", "_selected_action": [body["id"], other["id"]]}
    told = text_of(client.post(reverse(LIST), act, follow=True))

    newer = Answer.objects.exclude(pk__in=[body["id"], other["id"]]).get()
    assert f"{newer.get_absolute_url()}?since=" in told
    assert "The first 1 were asked again. Choose the others next." in told
    assert len(listed(client, sources="again")) == 1


def test_a_desk_reader_asks_nothing_again(client: Client) -> None:
    body = asking.ask(question=ASKED)
    client.force_login(make_curator("reader", role=READERS))

    client.post(reverse(LIST), {"action": "ask_again", "_selected_action": [body["id"]]})

    assert Answer.objects.count() == 1
