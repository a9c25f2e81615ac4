"""The app over the hand-written market behind a real server, asked by a real client."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import uvicorn
from fastapi import FastAPI

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.serving_api.chat import rows
from tests.serving_api.conftest import ADMIN, FAST, Ticks, bearer, make_settings, without_upstreams

Rows = dict[str, list[dict[str, Any]]]
"""Table -> rows."""


@dataclass
class Served:
    """`http` speaks to the server as nobody; `url` is its base below /api/v1."""

    url: str
    http: httpx.Client
    app: FastAPI
    warehouse: Warehouse
    ticks: Ticks

    def put(self, table: str, some: list[dict[str, Any]]) -> None:
        frame = pd.DataFrame([{"src": "test", **row} for row in some])
        batch = Batch(partition_key="test")
        self.warehouse.writer.write(self.warehouse.table(table), frame, where=Slice(), batch=batch)

    def member(self, name: str = "reader") -> dict[str, str]:
        body = {"username": name, "email": f"{name}@example.com", "password": "pass word 1"}
        self.http.post("/auth/register", json=body)
        return self._login({"username": name, "password": "pass word 1"})

    def admin(self) -> dict[str, str]:
        return self._login(ADMIN)

    def _login(self, who: dict[str, str]) -> dict[str, str]:
        return bearer(self.http.post("/auth/login", json=who).json()["access_token"])

    def ask(self, message: str, who: dict[str, str], **body: Any) -> dict[str, Any]:
        answer = self.http.post("/chat/ask", json={"message": message, **body}, headers=who)
        assert answer.status_code == 200, answer.text
        reported: dict[str, Any] = answer.json()
        return reported

    def stream(self, message: str, who: dict[str, str], **body: Any) -> bytes:
        answer = self.http.post("/chat/ask/stream", json={"message": message, **body}, headers=who)
        assert answer.status_code == 200, answer.text
        return answer.content


def events(stream: bytes) -> list[dict[str, Any]]:
    """Events of a stream, read by the letter of the specification: one line and a blank line each."""
    frames = stream.split(b"\n\n")
    assert frames[-2:] == [b"data: [DONE]", b""]
    assert all(one.startswith(b"data: ") and b"\n" not in one for one in frames[:-1])
    return [json.loads(one.removeprefix(b"data: ")) for one in frames[:-2]]


def texts(reported: list[dict[str, Any]], kind: str = "content") -> str:
    return "".join(one["text"] for one in reported if one["type"] == kind)


@contextmanager
def served(url: str, folder: Path, tables: Rows | None = None, **settings: Any) -> Iterator[Served]:
    """Over these rows of each table; else those of `rows`."""
    clock = FrozenClock(datetime.fromisoformat(f"{rows.DAY}T17:40"))
    declared, ticks = builtin_registry().tables, Ticks()

    def opened(**how: Any) -> Warehouse:
        return Warehouse(url, declared, clock=clock, payload_folder=folder / "payloads", **how)

    warehouse = opened()
    warehouse.migrate()
    app = create_app(
        make_settings(folder, ai_llm_max_retries=0, ai_llm_retry_delay=0.01, **settings),
        clock=clock,
        system=SystemTime(wall=ticks.wall, monotonic=time.monotonic),
        warehouse_reader=opened(read_only=True),
        warehouse_writer=opened(),
        passwords=FAST,
    )
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(without_upstreams(app), log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{listening.getsockname()[1]}/api/v1"
    with httpx.Client(base_url=base, timeout=30, trust_env=False) as http:
        one = Served(base, http, app, warehouse, ticks)
        for table, some in (tables or {**rows.companies(), **rows.market()}).items():
            one.put(table, some)
        while not server.started:
            time.sleep(0.01)
        yield one
    server.should_exit = True
    thread.join(10)
    warehouse.close()


def with_model(fake: Any, **more: Any) -> dict[str, Any]:
    """Settings that ask the scripted model."""
    return {
        "anthropic_api_key": "sk-ant-test-0123456789abcdef", "anthropic_base_url": fake.url,
        "model_web_search": False, **more,
    }  # fmt: skip
