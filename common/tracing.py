"""Spans of OpenTelemetry, where INFORM_TRACES names a collector; attributes never hold a question or an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

MISSING = "INFORM_TRACES needs packages that are not installed: requirements/telemetry.lock names them."


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[None]:
    """Trace the block; of an exception only the class is recorded, since its message may quote the question."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            raise


@cache
def _tracer() -> Tracer | None:
    if not settings.TRACES:
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "inform"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.TRACES)))
    return provider.get_tracer("inform")
