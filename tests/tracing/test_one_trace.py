"""One trace from a request over the command, the worker and the Dagster run to upstream calls and writes."""

import json
import re
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from schedules.supervisor import checks
from tests.soak.installation import Installation, without_schedules
from tests.tracing.collector import Collector, Received, collecting

TASK = "fusion_kline_sync"
CALLER = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
PASSWORD, KEY = "a password of the test 1", "sk-ant-a-key-that-nobody-sees"
PATIENCE_S = 240.0


def asked(url: str, body: Any, **headers: str) -> dict[str, Any]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def run_task(api: str, place: Installation) -> str:
    """A task by hand, by an administrator whose client is itself traced; the id of its finished run."""
    token = asked(f"{api}/auth/login", {"username": "admin", "password": PASSWORD})["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Traceparent": "00-{}-{}-01".format(*CALLER)}
    command = asked(f"{api}/datamgr/schedule/{TASK}/run", {}, **headers)["results"]["commandId"]
    end = time.monotonic() + PATIENCE_S
    while not (found := place.services.commands.get(command)).finished:
        assert time.monotonic() < end, found
        time.sleep(0.2)
    assert found.status == "success", found.error
    assert found.run_id is not None
    return found.run_id


def arrived(collector: Collector) -> list[Received]:
    """The whole trace: the worker's span ends last, and is sent last."""
    end = time.monotonic() + PATIENCE_S
    while not any(span.process == "worker" for span in collector.trace(CALLER[0])):
        assert time.monotonic() < end, [span.name for span in collector.spans()]
        time.sleep(0.2)
    time.sleep(1.0)
    return collector.trace(CALLER[0])


@pytest.mark.soak
def test_a_request_is_one_trace_down_to_calls_and_writes(tmp_path: Path) -> None:
    port = checks.free_port()
    with (
        collecting() as collector,
        without_schedules(
            tmp_path,
            api_port=port,
            ADMIN_SEED_PASSWORD=PASSWORD,
            ANTHROPIC_API_KEY=KEY,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.address,
            OTEL_BSP_SCHEDULE_DELAY="200",
            SAMPLE_STATE="calm",  # in which every call is answered
        ) as place,
    ):
        run_id = run_task(f"http://127.0.0.1:{port}/api/v1", place)
        spans = arrived(collector)
        run = place.instance.get_run_by_id(run_id)

    # Connected: every span but the first leads to one of the trace, and the first to the caller's.
    known = {span.span_id for span in spans}
    (first,) = [span for span in spans if span.parent_id not in known]
    assert (first.process, first.name, first.parent_id) == (
        "api",
        "POST /api/v1/datamgr/schedule/{key}/run",
        CALLER[1],
    )
    by_id = {span.span_id: span for span in spans}

    def way(span: Received) -> list[str]:
        """Processes and names from the request to this span."""
        up = [] if span is first else way(by_id[span.parent_id])
        return [*up, f"{span.process}: {span.name}"]

    run_way = [f"api: {first.name}", "worker: command run_job", f"run: run {TASK}"]
    writes = [span for span in spans if span.name == "write fusion_kline_daily"]
    assert way(writes[0]) == [*run_way, "run: step dwd__fusion_kline_daily", "run: write fusion_kline_daily"]
    assert writes[0].attributes["ashare.rows_written"] > 0
    calls = [span for span in spans if span.attributes.get("ashare.upstream")]
    assert {call.attributes["ashare.upstream"] for call in calls} >= {"tdx", "tencent"}
    assert all(way(call)[: len(run_way)] == run_way for call in calls)
    assert {call.attributes["ashare.outcome"] for call in calls} <= {"ok", "empty"}
    assert not [span.name for span in spans if span.failed]
    # The run carries the worker's span, so that a step in yet another process finds it.
    (worker,) = [span for span in spans if span.process == "worker"]
    assert run.tags[".dagster/app/traceparent"] == f"00-{CALLER[0]}-{worker.span_id}-01"

    sent = b"".join(collector.bodies)
    kept = [file.read_bytes().strip() for file in (tmp_path / "secrets").iterdir() if file.is_file()]
    assert kept, "an installation has secrets"
    assert not [secret for secret in (PASSWORD.encode(), KEY.encode(), *kept) if secret in sent]
    # No address with its query, no text of a request.
    assert not [word for word in (b"http://", b"secid=", b"fields=") if word in sent]
    # A token; the name eastmoney and the tag of the next field are "eyJ" as well.
    assert re.search(rb"eyJ[\w-]{6,}\.[\w-]+", sent) is None
