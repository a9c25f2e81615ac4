"""Two API processes over one database, and a balancer that gives every request to the other one."""

import asyncio
import itertools
import multiprocessing
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
import uvicorn

from core.declaration.registry import builtin_registry
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from tests.serving_api import market
from tests.serving_api.conftest import ADMIN
from tests.serving_api.mcp import api_process
from tests.serving_api.mcp.injections import TITLES

HOP = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"host"})


@dataclass
class Balancer:
    """An ASGI app: requests go to the backends in turn, answers are streamed back."""

    backends: list[str]
    served: list[tuple[str, str]] = field(default_factory=list)
    """(method and path, backend)"""
    _turn: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self._turn = self._turn or itertools.cycle(self.backends)
        backend = next(self._turn)
        self.served.append((f"{scope['method']} {scope['path']}", backend))
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = [(name, value) for name, value in scope["headers"] if name not in HOP]
        url = f"{backend}{scope['path']}?{scope['query_string'].decode()}".rstrip("?")
        async with (
            httpx.AsyncClient(timeout=30) as client,
            client.stream(scope["method"], url, headers=headers, content=body) as answer,
        ):
            kept = [pair for pair in answer.headers.raw if pair[0].lower() not in HOP]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": kept})
            async for part in answer.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@dataclass
class Service:
    """Where the channel is reached; who its users are."""

    url: str
    balancer: Balancer

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def admin(self) -> str:
        reported = httpx.post(f"{self.url}/api/v1/auth/login", json=ADMIN)
        token: str = reported.json()["access_token"]
        return token

    def member(self, name: str) -> str:
        who = {"username": name, "email": f"{name}@example.com", "password": "pass word 1"}
        httpx.post(f"{self.url}/api/v1/auth/register", json=who)
        reported = httpx.post(f"{self.url}/api/v1/auth/login", json=who)
        token: str = reported.json()["access_token"]
        return token


def fill(url: str, folder: Path) -> None:
    """Bars and master of a few stocks, and news whose headlines give orders."""
    warehouse = market.open_warehouse(url, folder, tables=builtin_registry().tables)
    warehouse.migrate()

    def put(name: str, rows: list[dict[str, Any]], public_at: list[str]) -> None:
        frame = pd.DataFrame([{"src": "eastmoney", **row} for row in rows])
        warehouse.writer.write(
            warehouse.table(name),
            frame,
            where=Slice(),
            batch=Batch(partition_key="test"),
            public_at=public_at,
        )

    master = [
        {"code": code, "name": name, "market": place, "sec_type": kind, "list_status": status,
         "pinyin_initials": initials, "pinyin_full": spelling, "list_date": "2001-08-27"}
        for code, name, place, kind, status, initials, spelling in market.STOCKS
    ]  # fmt: skip
    put("fusion_stock_master", master, ["2026-08-01 09:00:00.000000"] * len(master))
    bars = [market.bar("600519", "2026-08-20", 1400.0), market.bar("600519", "2026-08-21", 1410.0)]
    put("fusion_kline_daily", bars, [f"{bar['date']} 15:00:00.000000" for bar in bars])
    news = [
        {"code": "600519", "title_key": f"{at:016x}", "pub_time": f"2026-08-21 09:{at:02d}:00",
         "title": title, "content": f"{title}。正文重复：{title}", "source": "某媒体", "news_type": "news",
         "url": "http://news.example/1"}
        for at, title in enumerate(TITLES)
    ]  # fmt: skip
    put("fusion_news", news, [f"{row['pub_time']}.000000" for row in news])
    warehouse.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("mcp")
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    fill(url, folder)
    # Both are forked from one that has imported everything.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([api_process.__name__])
    pipes = [context.Pipe(duplex=False) for _ in range(2)]
    processes = [
        context.Process(target=api_process.serve, args=(url, str(folder), reported), daemon=True)
        for _, reported in pipes
    ]
    try:
        for process in processes:
            process.start()
        ports = [heard.recv() for heard, _ in pipes]
        backends = [f"http://127.0.0.1:{port}" for port in ports]
        for backend in backends:
            _await(f"{backend}/health")
        balancer = Balancer(backends)
        config = uvicorn.Config(balancer, port=0, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
        thread.start()
        while not server.started:
            threading.Event().wait(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Service(f"http://127.0.0.1:{port}", balancer)
        server.should_exit = True
        thread.join(10)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(20)


def _await(url: str) -> None:
    for _ in range(600):
        try:
            httpx.get(url, timeout=5)
        except httpx.HTTPError:
            threading.Event().wait(0.05)
        else:
            return
    raise AssertionError(f"{url} does not answer")
