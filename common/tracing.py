"""Spans of OpenTelemetry, where INFORM_TRACES names a collector; attributes never hold a question or an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

Note = Callable[[str, str | int], None]


def _note_nothing(name: str, value: str | int) -> None:
    return


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[Note]:
    """Trace the block, which may note attributes; of an exception only the class is recorded.

    Its message may quote the question.
    """
    tracer = _tracer()
    if tracer is None:
        yield _note_nothing
        return
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current.set_attribute
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
