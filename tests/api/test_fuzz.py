"""Requests made up from the schema, from every kind of client: what comes back is what the schema says.

Each role sends at least `FUZZED` (60) of them, to the operations open to it; test_matrix.py tries the others. They are drawn
from fixed seeds, half as the schema wants them. Ids, versions and words of what is there come up, too."""

import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from functools import cache
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.conf import LazySettings
from django.core.wsgi import get_wsgi_application
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, strategies
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode, checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response

from corpus_app.curation import bulk, jobs
from corpus_app.models import ImportItem, Passage
from inform_site.clients.keys import Made
from inform_site.clients.limits import Limits
from qa_app import tasks
from qa_app.answers import asking
from qa_app.evaluation import golden_runs
from qa_app.feedback import gaps
from qa_app.models import Answer, Gap, GoldenQuestion
from tests.api.conftest import body, post
from tests.api.test_matrix import TABLE
from tests.builders import make_superuser
from tests.corpus.test_imports import RIS
from tests.qa.conftest import ASKED, DRAFT

pytestmark = pytest.mark.django_db(transaction=True)

CASES = int(os.environ.get("FUZZED", "60"))
ROLES = ("anonymous", "ask", "read", "curate", "evaluate")
CHECKS = [
    checks.not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
    checks.response_headers_conformance, checks.response_schema_conformance,
]  # fmt: skip
Known = dict[str, list[Any]]
LEFT = object()
"""A value is left as it was drawn."""
UNANSWERED = "Does hypnosis change the colour of zebras?"


@pytest.fixture
def known(library: tuple[str, ...]) -> Known:
    """Values of parameters, headers and fields that name something, or that something can be made of."""
    answered = body(post("/api/unified-search", {"query": ASKED}))
    answer = Answer.objects.get(pk=answered["answer_id"])
    asking.ask(question=UNANSWERED)
    gap = Gap.objects.get()
    GoldenQuestion.objects.create(key="lay-1", question=ASKED, mode="beginner", kind="lay", relevant={"T-SETS": 2})
    run = golden_runs.create_run(by=None)
    tasks.evaluate_golden()
    imports = [jobs.create_job(RIS.encode(), file_name="refs.ris", by=None) for _ in range(2)]
    while job := jobs.find_work():
        jobs.run_job(job)
    edit = bulk.preview_new([*library], {"labels": {"add": ["x"]}}, by=None)
    return {
        "answer_id": [answer.pk], "parent": [answer.pk], "request_id": [answered["request_id"]],
        "study_id": [*library, DRAFT], "passage_id": [str(row.pk) for row in Passage.objects.order_by("pk")],
        "concept_id": ["training-volume", "sauna"], "import_id": [str(job.pk) for job in imports],
        "bulk_edit_id": [str(edit.pk)], "studies": [[*library, DRAFT]], "reason": ["why"],
        "gap_id": [str(gap.pk)], "run_id": [str(run.pk)], "If-Match": ['"1"', '"2"', f'"{gaps.version_of(gap)}"'],
        "If-None-Match": ["*"], "Idempotency-Key": ["a-key"], "Last-Event-ID": [f"{answer.request_id.hex}.1.1"],
        "collection": ["training"], "question": [ASKED], "query": [ASKED], "q": ["protein", ASKED],
        "fields": ["title"], "items": [list(ImportItem.objects.order_by("pk").values_list("pk", flat=True)[:1])],
        "title": ["Ten weekly sets or five"], "text": ["Ten weekly sets increased growth more than five."],
        "authors": [["Example AB"]], "concepts": [["training-volume"]], "doi": ["10.1000/made.up"], "pmid": ["123456"],
        "url": ["https://example.org/study"], "assigned_to": [None],
    }  # fmt: skip


@cache
def described() -> tuple[dict[str, Any], Any]:
    """The schema as it stands in the code, and the application that it is of."""
    document = SchemaGenerator().get_schema(request=None, public=True)
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config())
    schema.app = get_wsgi_application()
    schema.config.max_stream_events = 10_000
    return document, schema


@pytest.fixture(autouse=True)
def wide_open(settings: LazySettings) -> None:
    """Quotas that nobody uses up."""
    settings.KEY_QUOTAS = dict.fromkeys(settings.KEY_QUOTAS, Limits(10**6, 10**6))


@pytest.mark.parametrize("role", ROLES)
def test_what_comes_back_is_what_the_schema_says(role: str, known: Known, make_key: Callable[..., Made]) -> None:
    document, schema = described()
    secret = None if role == "anonymous" else make_key(role, owner=make_superuser()).secret
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    told = Stream(document)
    statuses: Counter[tuple[str, int]] = Counter()
    faults: dict[tuple[str, str], str] = {}

    def send(case: Case) -> None:
        response = case.call(headers=headers)
        statuses[case.operation.label, response.status_code] += 1
        try:
            if is_stream(response):
                case.validate_response(response, checks=CHECKS[:-1])  # its events have a schema each
                told.require(response)
            else:
                case.validate_response(response, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                faults.setdefault((case.operation.label, failure.title), f"{failure.message}\n{group}")

    ways = [way for way in strategies_of(schema, known) if TABLE[way[0]].scope in opened_to(role)]
    for label, mode, cases in ways:
        draw(cases, f"{label} {mode.value}", -(-CASES // len(ways)), send)

    assert faults == {}
    assert statuses.total() >= CASES
    assert {operation for operation, _ in statuses} == {label for label, _, _ in ways}


def opened_to(role: str) -> set[str | None]:
    return {None, "ask", "read"} if role == "anonymous" else {None, role}


def strategies_of(schema: Any, known: Known) -> Iterator[tuple[str, GenerationMode, Any]]:
    """Cases of each operation, as it wants them and otherwise."""
    named = strategies.fixed_dictionaries(
        {name: strategies.sampled_from([LEFT, *values, *values]) for name, values in known.items()}
    )
    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.POSITIVE or can_be_asked_wrongly(operation):
                yield operation.label, mode, strategies.builds(naming, operation.as_strategy(mode), named)


def can_be_asked_wrongly(operation: Any) -> bool:
    """Any text will do in an address, and in a header that may be left out."""
    return bool(operation.body) or any(
        one.location.value == "query" or (one.location.value == "header" and one.is_required)
        for one in operation.iter_parameters()
    )


def draw(cases: Any, seed: str, most: int, send: Callable[[Case], None]) -> None:
    settings = hypothesis.settings(
        max_examples=most, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    settings(hypothesis.seed(zlib.crc32(seed.encode()))(hypothesis.given(cases)(send)))()


def naming(case: Case, chosen: dict[str, Any]) -> Case:
    for name, value in chosen.items():
        if value is LEFT:
            continue
        for where in (case.path_parameters, case.headers, case.query, case.body):
            if isinstance(where, MutableMapping) and name in where:
                where[name] = value
    return case


def is_stream(response: Response) -> bool:
    return response.headers.get("content-type", [""])[0].startswith("text/event-stream")


class Stream:
    """Require of a stream that each event's data is as the schema has it, and exactly one is the last."""

    def __init__(self, document: dict[str, Any]) -> None:
        shapes = document["paths"]["/api/v1/answers/stream"]["post"]["x-events"]
        parts = {"components": document["components"]}
        self._shapes = {name: Draft202012Validator(shape | parts) for name, shape in shapes.items()}

    def require(self, response: Response) -> None:
        assert not response.stream_cut_short
        pieces = [piece for piece in response.content.decode().split("\n\n") if piece and not piece.startswith(":")]
        events = [dict(line.split(": ", 1) for line in piece.splitlines()) for piece in pieces]
        names = [event["event"] for event in events]
        assert [name in {"done", "error"} for name in names] == [False] * (len(names) - 1) + [True]
        assert "error" not in names
        for event in events:
            found = self._shapes[event["event"]].iter_errors(json.loads(event["data"]))
            assert [(error.json_path, error.message[:200]) for error in found] == []
