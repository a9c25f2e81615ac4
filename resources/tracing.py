"""Traces by OpenTelemetry: one trace from a request, a schedule or a run to upstream calls and writes.

Off unless the standard variables ask for it (`asked`); then no package of OpenTelemetry is loaded, and a span
costs a microsecond. What a trace carries from process to process is a W3C `traceparent`: in the row of a
command, and in the tag `app/traceparent` of a run. Nothing of it is sent to an upstream.
"""

import logging
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from core.errors import InputError
from resources.logs import masker
from resources.settings import Settings
from resources.spans import Attributes, Kind, Span, Tracer

TAG = ".dagster/app/traceparent"
"""Run tag: the span that a run belongs to."""
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"
log = logging.getLogger(__name__)


class _NoSpan:
    def set(self, attributes: Attributes) -> None:
        return None

    def rename(self, name: str) -> None:
        return None

    def fail(self, reason: str) -> None:
        return None


_NO_SPAN = _NoSpan()
_current: list[Tracer] = []


def asked(environ: Mapping[str, str]) -> bool:
    """Whether the variables of OpenTelemetry ask for traces: an OTLP endpoint, or the exporter `otlp`.
    InputError for an exporter or a protocol that is not there."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").strip()
    if exporter == "none" or not (exporter or any(environ.get(name) for name in _ENDPOINTS)):
        return False
    if exporter not in {"", "otlp"}:
        raise InputError("OTEL_TRACES_EXPORTER", f"{exporter!r} is not supported; otlp and none are")
    for name in _PROTOCOLS:
        protocol = environ.get(name, "").strip()
        if protocol:
            if protocol != _HTTP:
                raise InputError(name, f"{protocol!r} is not supported; {_HTTP} is")
            break
    return True


def configure(settings: Settings, process: str) -> None:
    """Trace this process where `asked` says so; a second call changes nothing. Without the extra `traces` it
    is a warning: the variables may be set for a whole machine. InputError as `asked`."""
    if _current or not asked(os.environ):
        return
    try:
        from resources.trace_export import open_tracer  # noqa: PLC0415  loads OpenTelemetry
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("opentelemetry"):
            raise
        log.warning("no traces: OTEL_* variables ask for them, but the extra `traces` is not installed")
        return
    _current.append(open_tracer(process, masker(settings.secrets)))


def is_on() -> bool:
    """Whether this process is traced."""
    return bool(_current)


@contextmanager
def span(
    name: str, kind: Kind = "internal", attributes: Attributes | None = None, *, parent: str | None = None
) -> Iterator[Span]:
    """A step of the trace at hand; an exception that leaves it marks it as failed. `parent` (a `traceparent`)
    counts where no span is open here: the first step of a process continues what another one began."""
    if not _current:
        yield _NO_SPAN
        return
    with _current[0].span(name, kind, attributes or {}, parent) as opened:
        yield opened


def call_finished(name: str, seconds: float, attributes: Attributes, *, failure: str | None = None) -> None:
    """A call to another machine that ends now and took so long, below the open span."""
    if _current:
        _current[0].finished(name, "client", seconds, attributes, failure)


def traceparent() -> str | None:
    """The open span for another process; None without one."""
    return _current[0].traceparent() if _current else None


def run_tags() -> dict[str, str]:
    """The run tag that lets a run continue the open span; empty without one."""
    found = traceparent()
    return {} if found is None else {TAG: found}


def parent_of_run(run_id: str, tags: Mapping[str, str]) -> str | None:
    """What the steps of a run continue: its tag. The steps of a run without one (started by a person in the
    Dagster UI) share the trace whose id is the run's, in whichever process they are."""
    if TAG in tags or not _current:
        return tags.get(TAG)
    try:
        number = uuid.UUID(run_id).hex
    except ValueError:
        return None
    return f"00-{number}-{number[:16]}-01"
