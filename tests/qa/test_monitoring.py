"""What operators see: metrics of several processes, logs, traces and error reports, and that none tells a question."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from common import metrics, tracing
from corpus_app.models import PassageVector, Study
from inform_site import health, logs, tasks
from inform_site.backups import records
from inform_site.models import BackupRecord, QueueBeat
from inform_site.monitoring import figures, sentry
from inform_site.monitoring.requests import watch_requests
from inform_site.serving import make_site, refuse_early
from qa_app.answers import answering, asking
from qa_app.models import ModelSpend
from tests.builders import make_superuser
from tests.live import serving
from tests.qa.conftest import ASKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library")]

ROOT = Path(__file__).resolve().parents[2]
OTHER_PROCESS = """
import django
django.setup()
from common import metrics
metrics.count_answer("answered", "llm", {"answer": 250.0})
metrics.count_model_call("ok", 1.5)
metrics.count_model_call("timeout", 30)
metrics.set_pool(used=3, idle=1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests here: the library remembers the first."""
    return tmp_path_factory.mktemp("site") / "metrics"


@pytest.fixture
def address(settings: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The site as asgi.py builds it, with metrics on."""
    settings.METRICS, settings.METRICS_DIR = True, folder
    metrics._instruments.cache_clear()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
    from prometheus_client import values  # after the folder is chosen

    # A module imported before may have brought the library in, which then counts for one process.
    monkeypatch.setattr(values, "ValueClass", values.get_value_class())
    site = make_site()
    with serving(watch_requests(refuse_early(site, site.gate))) as url:
        yield url
    metrics._instruments.cache_clear()


def read(address: str, **headers: str) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    from prometheus_client.parser import text_string_to_metric_families  # after the folder is chosen

    response = httpx2.get(f"{address}/metrics", headers=headers)
    assert response.status_code == 200, response.text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def count_elsewhere(folder: Path) -> None:
    """Count in another process, which ends."""
    named = {
        "INFORM_METRICS": "true",
        "INFORM_DATA_DIR": str(folder.parent),
        "DJANGO_SETTINGS_MODULE": "inform_site.settings",
    }
    environment = {name: value for name, value in os.environ.items() if name != "PROMETHEUS_MULTIPROC_DIR"} | named
    subprocess.run([sys.executable, "-c", OTHER_PROCESS], cwd=ROOT, env=environment, check=True)


def test_metrics_sum_what_every_process_did_and_dashboard_and_alerts_name_only_these(
    address: str, folder: Path
) -> None:
    before = read(address)
    count_elsewhere(folder)
    asking.ask(question=ASKED)
    httpx2.get(f"{address}/how-it-works/?q={ASKED}")
    httpx2.get(f"{address}/nowhere/some-thing")
    httpx2.post(f"{address}/api/v1/answers/stream", json={"question": ASKED}, timeout=60)
    QueueBeat.objects.create(queue="index", beat_at=timezone.now() - timedelta(hours=1), unindexed=2)
    QueueBeat.objects.create(queue="mail", beat_at=timezone.now())
    PassageVector.objects.all().delete()
    Study.objects.update(indexed_by="")
    ModelSpend.objects.create(day=timezone.now().date(), tokens=70, cost=2)
    BackupRecord.objects.create(made_at=timezone.now() - timedelta(hours=2), size_bytes=5)

    now = read(address)

    def grown(*key: str) -> float:
        return now[key] - before.get(key, 0)

    assert grown("inform_answers_total", "answered", "extractive") == 2
    assert grown("inform_answers_total", "answered", "llm") == 1
    assert grown("inform_stage_seconds_count", "answer") == 3
    assert grown("inform_stage_seconds_count", "total") == 2
    assert grown("inform_model_call_seconds_count", "timeout") == 1
    assert grown("inform_request_seconds_count", "page", "200") == 1
    assert grown("inform_request_seconds_count", "page", "404") == 1
    assert grown("inform_request_seconds_count", "stream", "200") == 1
    assert now["inform_queue_late", "index"] == now["inform_queue_late", "upkeep"] == 1
    assert now["inform_queue_late", "mail"] == 0
    assert 3600 <= now["inform_queue_idle_seconds", "index"] < 3700
    assert now["inform_index_passages_waiting",] > now["inform_index_passages_late",] == 2
    assert now["inform_database_connections", "active"] >= 1
    assert (now["inform_model_tokens_total",], now["inform_model_spent_today",]) == (70, 2)
    assert 7200 <= now["inform_backup_age_seconds",] < 7300
    assert (now["inform_backup_size_bytes",], now["inform_backup_late",]) == (5, 0)
    assert ("inform_database_pool_connections", "used") not in now  # of a process that has ended

    named = set(re.findall(r"\binform_\w+", (ROOT / "deploy/grafana/inform.json").read_text("utf-8")))
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text("utf-8"))
    expressions = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    named |= set(re.findall(r"\binform_\w+", " ".join(expressions)))
    known = {key[0] for key in now} | {"inform_database_pool_connections"}
    assert named - known - {"inform_queue_messages", "inform_queue_oldest_message_seconds"} == set()
    shown = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in known}
    assert shown <= {re.sub(r"_(bucket|sum|count)$", "", name) for name in named}  # and each is shown somewhere


def test_metrics_are_for_this_machine_or_for_those_who_have_the_token(address: str, settings: Any) -> None:
    def status(**headers: str) -> int:
        return httpx2.get(f"{address}/metrics", headers=headers).status_code

    assert status() == status(host="anything.example") == 200
    assert status(**{"x-forwarded-for": "127.0.0.1"}) == 403  # a proxy of this machine asks for a stranger

    settings.METRICS_TOKEN = "a-token"
    assert status(authorization="Bearer a-token") == 200
    assert status() == status(authorization="Bearer another") == 403

    settings.METRICS = False
    assert status(authorization="Bearer a-token") == 404


def test_the_desk_says_in_words_what_is_late_and_what_it_costs(client: Client, settings: Any) -> None:
    now = timezone.now()
    QueueBeat.objects.bulk_create(
        QueueBeat(queue=queue.name, beat_at=now - timedelta(minutes=2)) for queue in settings.QUEUES
    )
    client.force_login(make_superuser())
    page = client.get(reverse("admin:index"))
    assert not [part for part in page.context["health"] if part.needs_care]
    assert page.content.index(b'id="panel-1"') < page.content.index(b'id="panel-health"'), (
        "all is well: work comes first"
    )

    QueueBeat.objects.filter(queue="imports").update(beat_at=now - timedelta(hours=3))
    PassageVector.objects.all().delete()
    Study.objects.update(indexed_by="")
    ModelSpend.objects.create(day=now.date(), tokens=70, cost="1.90")
    settings.OPENAI_MODEL, settings.OPENAI_BASE_URL, settings.OPENAI_DAILY_LIMIT = "small", "http://127.0.0.1:9", 2.0
    page = client.get(reverse("admin:index"))

    said = {part.name: (part.state, part.needs_care) for part in page.context["health"]}
    assert said["Imports and bulk edits"] == ("nothing done for 3 hours: is its worker running?", True)
    assert said["Mail to followers"] == ("last done 2 minutes ago", False)
    assert said["Language model"] == ("small; 1.90 spent today of 2.00", True)
    assert "found by words alone so far" in said["Search by meaning"][0]
    assert said["Database"][0].startswith("answers; ")
    assert "nothing done for 3 hours: is its worker running?" in page.content.decode()
    assert page.content.index(b'id="panel-health"') < page.content.index(b'id="panel-1"')


def test_a_backup_that_fails_is_told_at_the_desk_in_metrics_and_readiness(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.BACKUP_FOLDER, settings.BACKUP_HOURS = str(tmp_path / "unmounted"), 24
    client.force_login(make_superuser())

    def told() -> tuple[str, bool, list[str]]:
        page = client.get(reverse("admin:index"))
        (backups,) = (part for part in page.context["health"] if part.name == "Backups")
        return backups.state, backups.needs_care, [words for words in health.state()[0]["delays"] if "backup" in words]

    assert told() == ("nobody has made one yet", True, ["No backup has been made yet."])
    tasks.back_up()
    state, needs_care, delays = told()
    assert "unmounted" in state
    assert needs_care
    assert delays == ["No backup has been made yet; the last attempt failed."]  # no path for strangers

    records.note_made(timezone.now() - timedelta(hours=37), 2_000_000)
    assert told() == ("the newest is 1 day old, 2.0\u00a0MB", True, ["The newest backup is 37 hours old."])
    settings.BACKUP_FOLDER = ""
    assert told() == (
        "the newest is 1 day old, 2.0\u00a0MB; none are made by schedule (INFORM_BACKUP_FOLDER)",
        False,
        [],
    )


def test_metrics_are_there_while_the_database_is_not(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise OperationalError

    monkeypatch.setattr(figures, "database", fails)

    now = read(address)

    assert now["inform_database_up",] == 0
    assert ("inform_index_passages_waiting",) not in now


def test_json_logs_are_one_object_a_line_with_the_request_id() -> None:
    logs.request_id.set("an-id")
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        record = logging.getLogger("inform").makeRecord(
            "inform", logging.ERROR, "", 1, "It %s", ("fails",), sys.exc_info()
        )
    assert logs.OfRequest().filter(record)

    line = logs.JSONFormatter().format(record)

    assert "\n" not in line
    read = json.loads(line)
    assert (read["level"], read["request_id"], read["message"]) == ("error", "an-id", "It fails")
    assert read["exception"].endswith("ValueError: first\nsecond")


def test_traces_hold_the_stages_in_order_below_the_answer_and_no_question(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="an extra: requirements/telemetry.lock")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("inform"))

    settings.TRACES = "http://127.0.0.1:9"
    with serving(watch_requests(make_site())) as url:
        sent = httpx2.post(f"{url}/api/v1/answers", json={"question": ASKED}, timeout=60)

    spans = {span.name: span for span in exporter.get_finished_spans()}
    whole = spans["answer of a question"]
    assert {"understand", "scope", "encode", "lexical", "rank", "answer", "verify"} <= spans.keys()
    assert all(span.context.trace_id == whole.context.trace_id for span in spans.values())
    request = dict(spans["request api"].attributes)
    assert request["http.response.status_code"] == 201
    assert request["request_id"] == sent.headers["x-request-id"]
    assert whole.parent.span_id == spans["request api"].context.span_id
    assert spans["understand"].parent.span_id == whole.context.span_id
    with pytest.raises(ValueError, match="weekly"), tracing.span("fails", stage="one"):
        raise ValueError(ASKED)
    failed = exporter.get_finished_spans()[-1]
    assert dict(failed.attributes) == {"stage": "one", "error.type": "ValueError"}
    told = " ".join(span.to_json() for span in exporter.get_finished_spans())
    assert not {word for word in ASKED.lower().split() if len(word) > 5} & set(re.findall(r"\w+", told.lower()))


def test_error_reports_hold_class_and_place_and_no_text(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = pytest.importorskip("sentry_sdk", reason="an extra: requirements/telemetry.lock")
    settings.SENTRY_DSN = "http://key@127.0.0.1:9/1"
    sent: list[Any] = []
    sentry.start()
    monkeypatch.setattr(sdk.get_client().transport, "capture_envelope", sent.append)

    def fails(*given: Any, **named: Any) -> None:
        raise RuntimeError(f"cannot answer {ASKED}")

    monkeypatch.setattr(answering, "make", fails)
    logger = logging.Logger("silent")
    logger.addHandler(logging.NullHandler())
    try:
        asking.ask(question=ASKED)
    except RuntimeError:
        logger.exception("It failed for %s", ASKED)
    sdk.get_client().close()

    (envelope,) = sent
    event = envelope.get_event()
    assert event["exception"]["values"][-1]["type"] == "RuntimeError"
    assert event["exception"]["values"][-1]["stacktrace"]["frames"][-1]["function"] == "fails"
    assert ASKED not in json.dumps(event, default=str)
    assert "weekly" not in json.dumps(event, default=str)
