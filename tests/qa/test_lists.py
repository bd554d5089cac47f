"""Every list of the desk takes a bounded number of queries, however long it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import ConceptRelation, ConceptRelationStudy, ImportItem, ImportJob
from qa_app.models import Answer, EvaluationRun, Feedback, Gap, GoldenQuestion, SafetyReply
from tests.builders import make_collection, make_concept, make_curator, make_policy, make_study, make_superuser

pytestmark = pytest.mark.django_db

MOST_QUERIES = 15
ROWS = 12


def fill(start: int, count: int) -> None:
    """So many more rows of everything that the desk lists, each with what its line names."""
    now = timezone.now()
    for n in range(start, start + count):
        concept, other = make_concept(f"one-{n}", aliases=(f"uno {n}",)), make_concept(f"two-{n}")
        study = make_study(
            texts=("One.", "Two."), concepts=(concept,), collection=make_collection(f"c{n}"), year=1990 + n
        )
        curation.revise_study(study.study_id, by=None, by_name="test", journal=f"Journal {n}")
        relation = ConceptRelation.objects.create(source=concept, relation="affects", target=other)
        ConceptRelationStudy.objects.create(relation=relation, study=study)
        person = make_curator(f"person {n}")
        Group.objects.create(name=f"group {n}")
        answer = Answer.objects.create(
            id=f"{n:032x}", request_id=f"{n:032x}", question=f"Question {n}?", mode="beginner", outcome="answered",
            corpus_version=1, policy=make_policy(), payload={}, created_at=now - timedelta(days=n),
        )  # fmt: skip
        Feedback.objects.create(answer=answer, is_helpful=False, reasons=["wrong"], given_at=now)
        Gap.objects.create(
            key=f"k{n}", question=f"Gap {n}?", asked=1, first_asked_at=now, last_asked_at=now, assigned_to=person,
            last_answer=answer, result=answer, outcome="partial",
        )  # fmt: skip
        GoldenQuestion.objects.create(key=f"g{n}", question="Sets?", mode="beginner", kind="answerable_lay")
        results = [{"id": "g", "passes": True}]
        EvaluationRun.objects.create(asked_by=person, asked_at=now, status="done", results=results)
        job = ImportJob.objects.create(
            file_name=f"{n}.ris", content=b"T", content_hash="0", asked_by=person, asked_at=now, status="previewed"
        )
        ImportItem.objects.create(job=job, position=0, kind="study", study_key=f"N{n}", draft={}, effect="new")
        SafetyReply.objects.draft(route="emergency", text="Stop.", instead="", by=person, now=now)


def queries_of(client: Client, address: str, **query: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, query).status_code == 200, address
    return len(queries)


def lists() -> dict[str, Any]:
    """The address of every list with its desk."""
    names = {model._meta.label_lower.replace(".", "_"): desk for model, desk in admin.site._registry.items()}
    return {reverse(f"admin:{name}_changelist"): names[name] for name in sorted(names)}


def test_lists_and_front_page_take_few_queries_and_no_more_for_many_rows(client: Client) -> None:
    client.force_login(make_superuser())
    addresses = (reverse("admin:index"), *lists())
    fill(0, 6)
    few = {address: queries_of(client, address) for address in addresses}
    fill(6, ROWS)
    many = {address: queries_of(client, address) for address in addresses}
    searched = {
        address: queries_of(client, address, q="1") for address, desk in lists().items() if desk.get_search_fields(None)
    }

    assert [address for address in addresses if many[address] > few[address]] == []
    assert [address for address in lists() if many[address] >= MOST_QUERIES] == []
    assert [address for address, n in searched.items() if n >= MOST_QUERIES] == []
