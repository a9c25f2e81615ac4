"""Traces are off unless asked for, load nothing then, and end no process where the extra is missing."""

import subprocess
import sys

import pytest

from core.errors import InputError
from resources.tracing import asked

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}

WITHOUT_THE_EXTRA = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from resources import tracing
from resources.settings import load_settings
import resources.warehouse.warehouse, resources.transport.http, schedules.commands.worker
tracing.configure(load_settings(), "worker")
with tracing.span("step", attributes={"a": 1}, parent="00-" + "1" * 32 + "-" + "2" * 16 + "-01") as step:
    step.set({"b": 2})
print(tracing.is_on(), tracing.traceparent(), tracing.run_tags(), "opentelemetry" in sys.modules)
"""


@pytest.mark.parametrize(
    ("environ", "on"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
        ({"OTEL_SERVICE_NAME": "somebody"}, False),
        (
            {
                **ENDPOINT,
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            },
            True,
        ),
    ],
)
def test_the_standard_variables_decide(environ: dict[str, str], on: bool) -> None:
    assert asked(environ) is on


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
)
def test_what_is_not_supported_is_named(name: str, value: str) -> None:
    with pytest.raises(InputError, match=name):
        asked({**ENDPOINT, name: value})


@pytest.mark.parametrize("environ", [{}, ENDPOINT])
def test_without_the_extra_nothing_is_traced_and_everything_runs(environ: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False None {} False\n"
    assert ("extra `traces` is not installed" in done.stderr) is bool(environ)
