"""The side of OpenTelemetry: spans in batches to an OTLP endpoint by HTTP; loaded by `tracing.configure`.

The packages read their own variables (endpoint, headers, certificate, sampler, batch sizes, resource
attributes). The provider is not made the global one: other libraries would trace through it, and nobody has
looked at what they put into their spans.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from core.errors import PlatformError
from resources.spans import Attributes, Kind, Span

_CARRIER = TraceContextTextMapPropagator()
Mask = Callable[[str], str]


class ExportedSpan:
    """A span of OpenTelemetry whose texts are masked."""

    def __init__(self, span: trace.Span, mask: Mask) -> None:
        self._span = span
        self._mask = mask

    def set(self, attributes: Attributes) -> None:
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(name, self._mask(value) if isinstance(value, str) else value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, reason: str) -> None:
        self._span.set_status(Status(StatusCode.ERROR, self._mask(reason)))


class ExportingTracer:
    """Spans of one provider. The open span is the one of this thread or task (a context variable)."""

    def __init__(self, provider: TracerProvider, mask: Mask) -> None:
        self._tracer = provider.get_tracer("ashare")
        self._mask = mask

    @contextmanager
    def span(self, name: str, kind: Kind, attributes: Attributes, parent: str | None) -> Iterator[Span]:
        context = None
        if parent is not None and not trace.get_current_span().get_span_context().is_valid:
            context = _CARRIER.extract({"traceparent": parent})
        # An exception's text and stack may hold an address or a value: ours is masked, another's is its kind.
        with self._tracer.start_as_current_span(
            name, context, SpanKind[kind.upper()], record_exception=False, set_status_on_exception=False
        ) as opened:
            found = ExportedSpan(opened, self._mask)
            found.set(attributes)
            try:
                yield found
            except BaseException as error:
                found.set({"error.type": type(error).__name__})
                found.fail(error.message if isinstance(error, PlatformError) else type(error).__name__)
                raise

    def finished(
        self, name: str, kind: Kind, seconds: float, attributes: Attributes, failure: str | None
    ) -> None:
        begun = time.time_ns() - int(seconds * 1e9)
        opened = self._tracer.start_span(name, kind=SpanKind[kind.upper()], start_time=begun)
        found = ExportedSpan(opened, self._mask)
        found.set(attributes)
        if failure is not None:
            found.fail(failure)
        opened.end()

    def traceparent(self) -> str | None:
        carrier: dict[str, str] = {}
        _CARRIER.inject(carrier)
        return carrier.get("traceparent")


def open_tracer(process: str, mask: Mask) -> ExportingTracer:
    """Spans of this process, sent by a thread of its own; what is left is sent at the process's end.
    `process` names the service unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES does."""
    own = {"service.version": version("ashare-platform"), "ashare.process": process}
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    if not named:
        own["service.name"] = f"ashare-{process.replace('_', '-')}"
    provider = TracerProvider(resource=Resource.create(own))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return ExportingTracer(provider, mask)
