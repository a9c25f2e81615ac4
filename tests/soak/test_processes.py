"""Four API processes over one warehouse ask the upstreams as often as one, over the whole surface."""

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.benchmarks import load
from tests.benchmarks.live import PROCESSES, requests
from tests.benchmarks.session import Session, session

pytestmark = pytest.mark.soak
RATE, SPAN_S = 40.0, 40.0
"""Reads a second of all processes together."""
MOST = 1.3


def calls_a_minute(place: Session, ports: Sequence[int]) -> float:
    """Upstream calls while all processes are read at the same time."""
    for port in ports:
        load.paced(port, requests(), RATE, 1.0)
    before, began = place.upstream_calls(), time.monotonic()
    threads = [
        threading.Thread(target=load.paced, args=(port, requests(), RATE / len(ports), SPAN_S))
        for port in ports
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (place.upstream_calls() - before) / (time.monotonic() - began) * 60


def test_four_processes_ask_as_often_as_one(tmp_path: Path) -> None:
    found = []
    with session(tmp_path) as place:
        for processes in (1, PROCESSES):
            with ExitStack() as stack:
                ports = [stack.enter_context(place.api()).port for _ in range(processes)]
                found.append(calls_a_minute(place, ports))
    alone, together = found
    print(f"soak: upstream calls a minute: {alone:.0f} of one process, {together:.0f} of {PROCESSES}")
    assert together <= MOST * alone
