"""Kept answers come faster, and are in every byte those of their route."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.clock import ManualClock
from core.errors import DeclarationError
from resources.settings import Settings
from serving_api.app import create_app
from serving_api.framework.permissions import Asker
from serving_api.framework.responses import Answer
from serving_api.framework.routing import KEPT, PlatformRoute, serves
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, bearer, make_app

PUBLIC = [
    "/stocks/600519/kline",
    "/stocks/600519/kline?days=30&adjust=none",
    "/stocks/600519/kline?adjust=hfq&as_of=2026-08-19",
    "/stocks/600519/kline?days=40&unknown=%E8%8C%85",
    "/stocks/000002/kline",
    "/stocks/batch-kline?codes=600519,000001,000002&days=20",
]
LIST = "/datamgr/stock-base/list?pageSize=10"
REFUSED = [
    "/stocks/60051/kline",
    "/stocks/600519/kline?days=1",
    "/stocks/600519/kline?as_of=2999-01-01",
    "/stocks/600519/more/kline",
    "/stocks/batch-kline",
]


def hits(bench: Bench) -> int:
    stats = bench.api.app.state.platform.cache.stats()["byKey"]
    return int(stats.get(KEPT, {"hits": 0})["hits"])


@pytest.fixture(scope="module")
def admin(bench: Bench) -> dict[str, str]:
    return bench.admin()


@pytest.fixture(autouse=True)
def _cold(request: pytest.FixtureRequest) -> None:
    """Nothing kept by another test."""
    if "bench" in request.fixturenames:
        bench: Bench = request.getfixturevalue("bench")
        bench.api.app.state.platform.cache._entries.clear()
        bench.api.app.state.platform.cache._bytes = 0


@pytest.fixture
def filled(tmp_path: Path) -> str:
    """The address of a filled warehouse."""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    warehouse.close()
    return url


@pytest.mark.parametrize("path", [*PUBLIC, LIST])
def test_a_kept_answer_is_that_of_the_route(bench: Bench, admin: dict[str, str], path: str) -> None:
    headers = admin if path == LIST else {}
    before = hits(bench)

    made, *kept = (bench.api.get(path, headers=headers) for _ in range(3))

    assert made.status_code == 200
    assert hits(bench) - before == 2
    for answer in (made, *kept):
        answer.headers.pop("x-request-id")
    for answer in kept:
        assert (answer.status_code, answer.headers, answer.content) == (200, made.headers, made.content)


@pytest.mark.parametrize("path", REFUSED)
def test_a_refusal_is_never_kept(bench: Bench, path: str) -> None:
    before = hits(bench)

    first, second = (bench.api.get(path) for _ in range(2))

    assert first.status_code in {404, 422}
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert hits(bench) == before


@pytest.mark.parametrize("path", [PUBLIC[0], "/stocks/index"])
def test_what_a_client_has_is_not_sent_again(bench: Bench, path: str) -> None:
    etag = bench.api.get(path, headers={"if-none-match": 'W/"other"'}).headers["etag"]

    for known in (etag, f'"x", {etag}', "*"):
        answer = bench.api.get(path, headers={"if-none-match": known})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == etag
        assert "content-length" not in answer.headers


def test_the_list_is_for_administrators_also_when_it_is_kept(bench: Bench, admin: dict[str, str]) -> None:
    for _ in range(2):
        assert bench.api.get(LIST, headers=admin).status_code == 200
    member = bench.member("list_reader")

    refused = [bench.api.get(LIST, headers=who) for who in ({}, bearer("a.b.c"), member)]

    assert [answer.status_code for answer in refused] == [401, 401, 403]
    assert all("data" not in answer.json() for answer in refused)


def test_what_belongs_to_a_user_cannot_be_kept() -> None:
    @serves(tables=("fusion_kline_daily",), kept=True)
    async def mine(call: Asker) -> Answer:
        return Answer({"user": call.user})

    with pytest.raises(DeclarationError, match="one user"):
        PlatformRoute("/api/v1/mine", mine)


def test_a_write_is_seen_by_the_next_request(own_on_both: Bench) -> None:
    path = "/stocks/600519/kline?days=30"
    closes = []
    with_warehouse = own_on_both.warehouse()
    for close in (10.0, 11.0, 12.0):
        market.put(with_warehouse, market.KLINE, [market.bar("600519", "2026-08-19", close)])
        own_on_both.ticks.advance(1.5)  # MariaDB's versions are read once a second
        answers = [own_on_both.api.get(path) for _ in range(3)]
        assert len({answer.content for answer in answers}) == 1
        assert len({answer.headers["etag"] for answer in answers}) == 1
        closes += [row["close"] for row in answers[2].json()["results"]]
    with_warehouse.close()

    assert closes == [10.0, 11.0, 12.0]


def test_a_commit_is_seen_by_every_request_that_is_sent_after_it(filled: str, tmp_path: Path) -> None:
    """Also when others were answered in the same turn of the event loop as the commit."""
    app = create_app(Settings(data_dir=str(tmp_path), rate_limit_per_min=0, log_level="ERROR"))
    warehouse = market.open_warehouse(filled, tmp_path)

    async def etag() -> str:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "scheme": "http", "path": "/api/v1/stocks/600519/kline", "query_string": b"days=30",
            "raw_path": b"/api/v1/stocks/600519/kline", "root_path": "", "headers": [],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        await app(scope, receive, send)
        return dict(sent[0]["headers"])[b"etag"].decode()

    async def work() -> None:
        seen = []
        for close in (10.0, 11.0, 12.0):
            seen += await asyncio.gather(etag(), etag(), etag())
            market.put(warehouse, market.KLINE, [market.bar("600519", "2026-08-19", close)])
            seen.append(await asyncio.create_task(etag()))
        assert [seen.index(tag) for tag in seen] == [0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 11]

    asyncio.run(work())
    warehouse.close()


def test_an_answer_of_a_lost_database_is_not_kept(filled: str, tmp_path: Path) -> None:
    with running(make_app(filled, tmp_path, Ticks())) as api:
        own = Bench(api, Ticks(), filled, tmp_path)
        whole = api.get(PUBLIC[0]).json()["results"]
        (tmp_path / "warehouse.sqlite3").rename(tmp_path / "aside.sqlite3")
        own.lose_database()
        lost = [api.get(PUBLIC[0]).json()["results"] for _ in range(2)]
        (tmp_path / "warehouse.sqlite3").unlink(missing_ok=True)
        (tmp_path / "aside.sqlite3").rename(tmp_path / "warehouse.sqlite3")
        api.app.state.platform.reading.close()
        back = api.get(PUBLIC[0]).json()["results"]

    assert lost == [[], []]
    assert back == whole


def test_time_goes_on_while_an_answer_is_kept(filled: str, tmp_path: Path) -> None:
    """`query_time` and Cache-Control are of the moment."""
    clock = ManualClock(datetime(2026, 8, 21, 14, 59, 59))
    app = make_app(filled, tmp_path, Ticks())
    app.state.platform.clock = clock
    with running(app) as api:
        times, policies, rows = [], [], []
        for _ in range(3):
            answer = api.get(PUBLIC[0])
            times.append(answer.json()["query_time"][11:19])
            policies.append(answer.headers["cache-control"])
            rows.append(answer.json()["results"])
            clock.advance(timedelta(seconds=1))

    assert times == ["14:59:59", "15:00:00", "15:00:01"]
    assert policies == ["public, max-age=30", *["public, max-age=300"] * 2]
    assert rows == rows[:1] * 3


def test_what_is_kept_is_bounded(bench: Bench) -> None:
    """Unknown parameters are ignored, and part of the address."""
    cache = bench.api.app.state.platform.cache
    roof = cache._max_bytes
    cache._max_bytes = 40_000
    try:
        for number in range(50):
            assert bench.api.get(f"/stocks/600519/kline?junk={number}{'x' * 3000}").status_code == 200
        assert cache.stats()["size"] <= 40_000
        assert cache.stats()["evictions"] > 0
    finally:
        cache._max_bytes = roof


def test_kept_answers_count_against_the_rate_limit(filled: str, tmp_path: Path) -> None:
    ticks = Ticks()
    with running(make_app(filled, tmp_path, ticks, rate_limit_per_min=3)) as api:
        answers = [api.get(PUBLIC[0]) for _ in range(5)]
        ticks.advance(20)
        later = api.get(PUBLIC[0])

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[4].headers["retry-after"] == "20"
    assert later.status_code == 200


def test_every_kept_answer_has_an_id_of_its_own_or_that_of_the_caller(bench: Bench) -> None:
    answers = [bench.api.get(PUBLIC[0]) for _ in range(3)]
    named = bench.api.get(PUBLIC[0], headers={"X-Request-ID": "mine-1"})
    unsafe = bench.api.get(PUBLIC[0], headers={"X-Request-ID": "a b"})

    ids = {answer.headers["x-request-id"] for answer in [*answers, unsafe]}
    assert len(ids) == 4
    assert named.headers["x-request-id"] == "mine-1"
