"""Readers' ratings, gaps and failed golden questions propose; a worker measures; a curator decides."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import indexing, search
from corpus_app.models import ConceptAlias, CorpusEvent, Finding, Study, StudyText
from qa_app import tasks
from qa_app.answers import asking
from qa_app.evaluation import golden_set
from qa_app.feedback import proposal_measurement, ratings, troubles
from qa_app.models import EvaluationRun, Feedback, GoldenQuestion, Proposal
from tests.builders import make_curator
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

BICEPS = "Do gym veterans need more biceps volume?"
GOLDEN = {"mode": "beginner", "kind": "answerable_lay", "relevant": {"T-SETS": 2}}


def rate(question: str, *visitors: str, is_helpful: bool = False) -> str:
    answer_id: str = asking.ask(question=question)["id"]
    for visitor in visitors:
        ratings.give_feedback(answer_id, is_helpful=is_helpful, client=visitor)
    return answer_id


def fail(asked: dict[str, str]) -> None:
    """Golden questions that failed in the last run."""
    for key, question in asked.items():
        GoldenQuestion.objects.update_or_create(key=key, defaults={"question": question} | GOLDEN)
    results = [{"id": key, "passes": False, "cited": []} for key in asked]
    EvaluationRun.objects.create(status="done", asked_at=timezone.now(), results=results)


def propose() -> None:
    tasks.propose_changes()
    for _ in range(9):
        tasks.measure_proposals()
        tasks.evaluate_golden()


@pytest.fixture
def proposed() -> Proposal:
    """A curated question, proposed by a golden question that failed, and measured."""
    GoldenQuestion.objects.create(key="g-1", question=ASKED, **GOLDEN)
    fail({"g-2": BICEPS})
    propose()
    return Proposal.objects.get(kind="question")


def decide(client: Client, proposal: Proposal, **posted: str) -> str:
    page = client.get(reverse("admin:qa_app_proposal_change", args=[proposal.pk]))
    seen = {"seen": page.context["proposal_version"]}
    address = reverse("admin:qa_app_proposal_decide", args=[proposal.pk])
    return client.post(address, seen | posted, follow=True).content.decode()


def test_a_visitor_counts_once_however_often_he_clicks() -> None:
    rate(ASKED, *["one"] * 5)
    rate(ASKED, "one", "two", "")
    [trouble] = troubles.read_troubles()
    assert (len(trouble.witnesses), trouble.times, trouble.lead) == (3, 8, "T-SETS")
    assert "one" not in {row.visitor for row in Feedback.objects.all()}

    rate(ASKED, *"abcd", is_helpful=True)
    assert not troubles.read_troubles()
    assert [served.lead for served in troubles.read_served()] == ["T-SETS"]


def test_a_proposal_is_measured_without_a_trace_and_changes_nothing(proposed: Proposal) -> None:
    assert (proposed.status, proposed.target, proposed.text) == ("open", "T-SETS", BICEPS)
    assert [(row["id"], row["effect"]) for row in proposed.changes] == [("g-2", "better")]
    counts = [half["leads"] for half in proposed.figures.values()]
    assert sum(half["after"] - half["before"] for half in counts) == 1
    assert not StudyText.objects.filter(text=BICEPS).exists()
    assert not CorpusEvent.objects.filter(action="revise_finding").exists()
    assert indexing.audit() == []


def test_a_curator_accepts_in_his_own_words(client: Client, proposed: Proposal) -> None:
    curator = make_curator()
    client.force_login(curator)
    version = search.corpus_version()
    page = decide(client, proposed, accept="Accept", text="Do the trained need more sets for the biceps?")
    assert "Accepted" in page
    event = CorpusEvent.objects.latest("pk")
    asked = [*Study.objects.values_list("asked_as", flat=True), *Finding.objects.values_list("asked_as", flat=True)]
    assert any("more sets for the biceps" in text for text in asked)
    assert (event.actor, event.study_key, event.corpus_version_id) == (curator, "T-SETS", version + 1)
    assert "It has changed since" in decide(client, proposed, accept="Accept", text="Again?")
    tasks.propose_changes()
    proposed.refresh_from_db()
    assert (proposed.status, proposed.decided_by) == ("accepted", curator)


@pytest.mark.parametrize(
    ("posted", "role", "review", "said"),
    [({"accept": "Accept", "text": " "}, "Curators", False, "Write what is to be added"),
     ({"accept": "Accept", "text": "x" * 301}, "Curators", False, "1 to 300 characters"),
     ({"accept": "Accept", "text": BICEPS}, "Curators", True, "only reviewers change what readers see"),
     ({"accept": "Accept", "text": BICEPS, "seen": "old"}, "Curators", False, "It has changed since"),
     ({"decline": "Decline", "reason": ""}, "Curators", False, "Give the reason"),
     ({"accept": "Accept", "text": BICEPS}, "Desk readers", False, "Not for your role")],
)  # fmt: skip
def test_a_decision_is_refused_with_what_to_do(
    client: Client, proposed: Proposal, settings: Any, posted: dict[str, str], role: str, review: bool, said: str
) -> None:
    settings.REVIEW_REQUIRED = review
    client.force_login(make_curator(role=role))
    assert said in decide(client, proposed, **posted)
    proposed.refresh_from_db()
    assert proposed.status == "open"


def test_a_declined_proposal_comes_back_when_its_evidence_has_doubled(client: Client, proposed: Proposal) -> None:
    client.force_login(make_curator())
    assert "Declined" in decide(client, proposed, decline="Decline", reason="Too narrow.")
    propose()
    proposed.refresh_from_db()
    assert proposed.status == "declined"

    fail({"g-2": BICEPS, "g-4": f"{BICEPS} Really?"})
    tasks.propose_changes()
    proposed.refresh_from_db()
    assert (proposed.status, proposed.weight) == ("waiting", 2)


def test_the_half_kept_apart_proposes_nothing_and_lacks_what_the_evidence_repeats() -> None:
    names = {"collection": None, "sections": []} | GOLDEN
    golden = [golden_set.golden_of({"id": f"q-{n}", "question": f"Question {n}?"} | names) for n in range(40)]
    apart = [one for one in golden if golden_set.is_held_out(one)]
    assert 10 < len(apart) < 30
    halves = proposal_measurement.split(golden, [apart[0].question.upper()])
    assert halves["kept_apart"] == apart[1:]
    assert not any(one in apart for one in halves["proposing"])


def test_words_that_a_study_lacks_may_name_its_concept(client: Client) -> None:
    fail({"g-2": "Is more volume of use for gym veterans?"})
    propose()
    alias = Proposal.objects.get(kind="alias")
    assert (alias.status, alias.target, alias.text) == ("open", "training-volume", "volume")
    assert "volume" not in {name for concept in search.concepts() for name in concept.aliases}

    client.force_login(make_curator())
    assert "Accepted" in decide(client, alias, accept="Accept", text="volume")
    assert ConceptAlias.objects.get(name="volume").concept_id == "training-volume"


def test_a_figure_of_the_policy_is_measured_and_left_to_the_operator(client: Client, proposed: Proposal) -> None:
    figure = Proposal.objects.create(
        kind="policy", target="role_weight", text="0.525", weight=3, proposed_at=timezone.now()
    )
    tasks.measure_proposals()
    client.force_login(make_curator())
    page = client.get(reverse("admin:qa_app_proposal_change", args=[figure.pk])).content.decode()
    assert "INFORM_POLICY=default, role_weight=0.525" in page
    assert "None: each golden question comes out as before." in page
    assert "role_weight changes once" in decide(client, figure, accept="Accept")
