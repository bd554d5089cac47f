"""Requests made up from the schema, of everybody that there is: what comes back is what the schema says, and never a failure.

At least as many cases of each as `FUZZED` says (100), spread over all operations that the schema has. They are drawn from fixed
seeds; half of them are as the schema wants them, half are not. Ids of things that are there come up too.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.conf import LazySettings
from django.core.wsgi import get_wsgi_application
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, strategies
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode, checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response

from corpus_app.models import Passage
from inform_site.clients.keys import Made
from inform_site.clients.limits import Limits
from tests.api.conftest import body, post
from tests.builders import make_superuser
from tests.qa.conftest import ASKED, DRAFT

pytestmark = pytest.mark.django_db(transaction=True)

CASES = int(os.environ.get("FUZZED", "100"))
ROLES = ("anonymous", "ask", "read", "curate", "evaluate")
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
Known = dict[str, list[Any]]


@pytest.fixture
def known(library: tuple[str, ...]) -> Known:
    """Values of parameters and fields that name something."""
    answered = body(post("/api/unified-search", {"query": ASKED}))
    return {
        "answer_id": [answered["answer_id"]],
        "parent": [answered["answer_id"]],
        "request_id": [answered["request_id"]],
        "study_id": [*library, DRAFT],
        "passage_id": [str(row.pk) for row in Passage.objects.order_by("pk")],
        "concept_id": ["training-volume", "sauna"],
        "collection": ["training"],
        "question": [ASKED],
        "query": [ASKED],
        "q": ["protein", ASKED],
    }


def described() -> tuple[dict[str, Any], Any]:
    """The schema as it stands in the code, and the application that it is of."""
    document = SchemaGenerator().get_schema(request=None, public=True)
    config = schemathesis.Config()
    schema = schemathesis.openapi.from_dict(document, config=config)
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
    told = Told(document)
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

    for turn in turns(schema, known):
        for drawn in turn:
            drawn(send)
        if statuses.total() >= CASES:
            break

    assert faults == {}
    assert {operation for operation, _ in statuses} == {found.ok().label for found in schema.get_all_operations()}


def turns(schema: Any, known: Known) -> Iterator[list[Callable[[Callable[[Case], None]], None]]]:
    """For ever: a few cases of each operation."""
    operations = [found.ok() for found in schema.get_all_operations()]
    named = strategies.fixed_dictionaries(
        {name: strategies.sampled_from([None, *values]) for name, values in known.items()}
    )
    drawn = [
        (operation.label, mode, strategies.builds(naming, operation.as_strategy(mode), named))
        for operation in operations
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    ]
    each = -(-CASES // len(drawn))
    for turn in count():
        yield [
            partial(draw, cases, zlib.crc32(f"{label} {mode.value} {turn}".encode()), each)
            for label, mode, cases in drawn
        ]


def draw(cases: Any, seed: int, most: int, send: Callable[[Case], None]) -> None:
    settings = hypothesis.settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with suppress(Unsatisfiable):  # an operation without parameters cannot be asked wrongly
        settings(hypothesis.seed(seed)(hypothesis.given(cases)(send)))()


def naming(case: Case, chosen: dict[str, Any]) -> Case:
    for name, value in chosen.items():
        if value is None:
            continue
        for where in (case.path_parameters, case.query, case.body):
            if isinstance(where, dict) and name in where:
                where[name] = value
    return case


def is_stream(response: Response) -> bool:
    return response.headers.get("content-type", [""])[0].startswith("text/event-stream")


class Told:
    """What a stream has told: each event's data as the schema has it, and exactly one last event."""

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
