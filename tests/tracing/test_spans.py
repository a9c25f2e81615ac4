"""What a span says, and what it never says; the trace of a run that nobody traced before."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracing.collector import Collector, collecting

ROOT = Path(__file__).parents[2]
START = """
import os
from core.errors import Refused
from resources import tracing
from resources.settings import load_settings
tracing.configure(load_settings(), "worker")
"""
NOBODY = f"{START}print(tracing.is_on())"
FAILING = f"""{START}
told = Refused("https://user:word@site.example/x?token=abc: no, sk-test-key-1")
for error in (told, ValueError("sk-test-key-1")):
    try:
        with tracing.span("step", attributes={{"text": "key sk-test-key-1", "number": 3, "absent": None}}):
            raise error
    except Exception:
        pass
"""
OF_A_RUN = f"""{START}
RUN = "0f6b1c2d-3e4f-4a5b-8c6d-7e8f90a1b2c3"
for tags in ({{}}, {{}}, {{tracing.TAG: "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"}}):
    with tracing.span("step", parent=tracing.parent_of_run(RUN, tags)):
        with tracing.span("inner", parent="00-" + "ff" * 16 + "-" + "ee" * 8 + "-01"):
            pass
"""


def run(script: str, collector: Collector, **more: str) -> str:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, **more}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


def test_a_failure_is_marked_and_its_text_masked() -> None:
    with collecting() as collector:
        run(FAILING, collector, ANTHROPIC_API_KEY="sk-test-key-1")
        told, hidden = collector.spans()

    assert told.failed
    assert hidden.failed
    assert (told.attributes["error.type"], hidden.attributes["error.type"]) == ("Refused", "ValueError")
    assert told.attributes["number"] == 3
    assert "absent" not in told.attributes
    sent = b"".join(collector.bodies)
    assert not [word for word in (b"sk-test-key-1", b"user:word", b"token=abc") if word in sent]
    assert b"Traceback" not in sent


def test_the_steps_of_a_run_share_a_trace_wherever_they_run() -> None:
    """Of a run that a person started in the Dagster UI, the trace's id is the run's."""
    with collecting() as collector:
        run(OF_A_RUN, collector)
        spans = collector.spans()

    steps = [span for span in spans if span.name == "step"]
    own = "0f6b1c2d3e4f4a5b8c6d7e8f90a1b2c3"
    assert [span.trace_id for span in steps] == [own, own, "ab" * 16]
    assert [span.parent_id for span in steps] == [own[:16], own[:16], "cd" * 8]
    # What is open in a process counts more than what was carried there.
    assert {span.parent_id for span in spans if span.name == "inner"} == {span.span_id for span in steps}


@pytest.mark.parametrize(
    ("more", "service"),
    [({}, b"ashare-worker"), ({"OTEL_SERVICE_NAME": "research"}, b"research")],
)
def test_the_service_is_named_after_the_process_or_as_the_variable_says(
    more: dict[str, str], service: bytes
) -> None:
    with collecting() as collector:
        run(OF_A_RUN, collector, **more)
        assert service in collector.bodies[0]


def test_a_collector_that_is_away_keeps_nobody_waiting() -> None:
    """Spans are dropped; the work goes on and the process ends."""
    done = subprocess.run(
        [sys.executable, "-c", OF_A_RUN],
        env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("off", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_it_can_be_switched_off_in_the_standard_way(off: dict[str, str]) -> None:
    with collecting() as collector:
        assert run(NOBODY, collector, **off) == "False\n"
        assert collector.bodies == []
