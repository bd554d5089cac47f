"""Erasure: old answers that nobody keeps, all that is stored of one person, and what of others has to stay."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from django.db.models import F
from django.test import Client
from django.utils import timezone

from inform_site.clients import keys
from qa_app import tasks
from qa_app.answers import asking, listed
from qa_app.following import followers
from qa_app.models import Answer, AnswerCitation, Feedback, FollowedQuestion, Follower, Gap, SentQuestion
from tests.builders import make_curator, run_command
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")
HERE = "127.0.0.1"


def age(days: int, *answer_ids: str) -> None:
    Answer.objects.filter(pk__in=answer_ids).update(created_at=F("created_at") - timedelta(days=days))


def ask(question: str = ASKED, **options: Any) -> str:
    return str(asking.ask(question=question, **options)["id"])


def stored() -> set[str]:
    return set(Answer.objects.values_list("pk", flat=True))


def test_old_answers_go_unless_somebody_keeps_them(settings: Any) -> None:
    loose, young, public, former, watched, parent = (ask() for _ in range(6))
    child = ask("And for women?", parent=parent)
    chain = ask()
    chain_end = ask("And for women?", parent=chain)
    age(40, loose, public, former, watched, parent, chain, chain_end)
    curator, now = make_curator(), timezone.now()
    listed.list_publicly([public, former], by=curator, now=now)
    listed.unlist([former], by=curator, now=now)
    followers.follow_by_feed(watched)
    cited = AnswerCitation.objects.filter(sentence__answer=young).count()

    settings.KEEP_ANSWERS_DAYS = 30
    tasks.erase_old_answers()

    assert stored() == {young, public, watched, parent, child}
    assert AnswerCitation.objects.filter(sentence__answer=young).count() == cited > 0
    assert set(AnswerCitation.objects.values_list("sentence__answer", flat=True)) <= stored()
    assert Client().get(f"/answers/{loose}/").status_code == 404
    assert Client().get(f"/answers/{child}/").status_code == 200


def test_old_gaps_go_unless_a_curator_looks_after_one_of_their_group() -> None:
    for question in (
        "How hot should a sauna be?",
        "Is a cold sauna of use?",
        "Which sauna is the hottest?",
        "Why sauna?",
    ):
        ask(question)
    _, cold, hottest, why = Gap.objects.order_by("pk")
    hottest.leader, hottest.note = cold, "Look for a trial."
    hottest.save()
    Gap.objects.update(last_asked_at=F("last_asked_at") - timedelta(days=40))
    Gap.objects.filter(pk=why.pk).update(last_asked_at=timezone.now())
    age(40, *stored())

    assert run_command("erase", "--older-than", "30").startswith("Erased: 4 answers, 1 gaps;")
    assert set(Gap.objects.values_list("pk", flat=True)) == {cold.pk, hottest.pk, why.pk}
    assert set(Gap.objects.values_list("last_answer", flat=True)) == {None}


def test_one_visitors_data_are_exported_and_erased_and_those_of_others_stay(client: Client, settings: Any) -> None:
    settings.FOLLOW_BY_EMAIL = True
    client.post("/", {"question": ASKED})
    mine = next(iter(stored()))
    theirs = ask()
    refused, narrowed = ask(UNANSWERED), ask(UNANSWERED, filters={"from": 1990})
    ask(UNANSWERED)
    by_program = client.post(
        "/api/v1/answers", {"question": ASKED}, headers={"Idempotency-Key": "one"}, content_type="application/json"
    ).json()["id"]
    client.post(f"/api/v1/answers/{mine}/feedback", {"helpful": False, "words": "No."}, content_type="application/json")
    followers.follow_by_email(theirs, "Reader@example.org", language="en")
    cookie = client.cookies["asked"].value
    person = ("--address", HERE, "--email", "reader@example.org", "--visitor", cookie, "--answer", refused)
    person += ("--answer", narrowed)

    exported = json.loads(run_command("erase", *person, "--export", "-"))
    assert [one["answer"]["id"] for one in exported["answers"]] == [mine, refused, narrowed, by_program]
    assert exported["ratings"][0]["words"] == "No."
    assert exported["sent_questions"][0]["idempotency_key"] == "one"
    assert exported["followed_questions"][0]["question"] == ASKED
    assert len(stored()) == 6

    assert run_command("erase", *person) == "Erased: 4 answers, 1 ratings, 1 followers, 0 gaps.\n"
    assert len(stored()) == 2
    assert theirs in stored()
    assert Gap.objects.get().asked == 1
    assert not any(model.objects.exists() for model in (Feedback, SentQuestion, Follower))
    assert not FollowedQuestion.objects.filter(answer=mine).exists()
    assert not any(json.loads(run_command("erase", *person, "--export", "-")).values())


def test_an_answer_that_others_follow_stays_and_is_named(settings: Any) -> None:
    settings.FOLLOW_BY_EMAIL = True
    key = keys.make(name="Clinic", scopes=["ask"], owner=None, by=None, now=timezone.now()).key
    followed, other = ask(), ask()
    for answer_id in (followed, other):
        SentQuestion.objects.create(client=key.client_id, answer_id=answer_id, is_listed=True, sent_at=timezone.now())
    followers.follow_by_email(followed, "reader@example.org", language="en")

    said = run_command("erase", "--key", key.prefix)

    assert "Erased: 1 answers" in said
    assert f"{followed} stays: other people follow it." in said
    assert stored() == {followed}
    assert not SentQuestion.objects.exists()


def test_a_gap_of_one_person_goes_and_hands_its_group_on() -> None:
    first = ask("How hot should a sauna be?")
    ask("Which sauna is the hottest?")
    leader, follower = Gap.objects.order_by("pk")
    Gap.objects.filter(pk=leader.pk).update(note="Look for a trial.")
    Gap.objects.filter(pk=follower.pk).update(leader=leader)

    run_command("erase", "--answer", first)

    heir = Gap.objects.get()
    assert (heir.pk, heir.leader, heir.note) == (follower.pk, None, "Look for a trial.")


@pytest.mark.parametrize(("arguments", "reason"), [
    ((), "Say what to erase"), (("--older-than", "-1"), "0 or more"),
    (("--older-than", "3", "--answer", "x"), "Say what to erase"),
    (("--address", "here"), "here is no IP address"), (("--visitor", "forged:cookie:x"), "not signed by this site"),
    (("--key", "unknown"), "no key that begins so"),
])  # fmt: skip
def test_an_unclear_order_erases_nothing(arguments: tuple[str, ...], reason: str) -> None:
    kept = ask()
    with pytest.raises(CommandError, match=reason):
        run_command("erase", *arguments)
    assert stored() == {kept}
