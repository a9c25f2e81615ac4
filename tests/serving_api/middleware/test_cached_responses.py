"""The response cache changes how fast an answer comes, and not one byte of it."""

import gzip
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import zstandard

from core.clock import ManualClock
from serving_api.framework.application import Application
from serving_api.middleware.cached_responses import ResponseCacheLayer, cached_read, chosen, compressed
from tests.serving_api import market
from tests.serving_api.client import BASE, running
from tests.serving_api.conftest import Bench, Ticks, bearer, make_app

PUBLIC = [
    "/stocks/600519/kline",
    "/stocks/600519/kline?days=30&adjust=none",
    "/stocks/600519/kline?adjust=hfq&as_of=2026-08-19",
    "/stocks/600519/kline?days=40&unknown=%E8%8C%85",
    "/stocks/000002/kline",
    "/stocks/batch-kline?codes=600519,000001,000002&days=20",
    "/stocks/index",
    "/stocks/search?keyword=%E8%8C%85%E5%8F%B0",
    "/stocks/search?keyword=gsyh&page=1&page_size=5",
]
LIST = "/datamgr/stock-base/list?pageSize=10"
REFUSED = [
    "/stocks/60051/kline",
    "/stocks/600519/kline?days=1",
    "/stocks/600519/kline?as_of=2999-01-01",
    "/stocks/600519/more/kline",
    "/stocks/batch-kline",
    "/stocks/search?keyword=",
]

Answer = tuple[int, dict[str, str], bytes]


async def _ask(app: Any, inner: Any, path: str, headers: dict[str, str]) -> Answer:
    """One request, straight to `inner` (a layer of `app`), with its bytes as they are sent."""
    target, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"{BASE}{target}",
        "raw_path": f"{BASE}{target}".encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "root_path": "",
        "client": ("10.0.0.1", 1),
        "server": ("test", 80),
        "scheme": "http",
        "http_version": "1.1",
        "app": app,
        "state": {},
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await inner(scope, receive, send)
    names = [name for name, _ in sent[0]["headers"]]
    assert len(names) == len(set(names)), "a header stands twice"
    pairs = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sorted(pairs.items())), body


def ordinary(bench: Bench, path: str, **headers: str) -> Answer:
    """What the route says, without any layer."""
    app: Application = bench.api.app
    answer: Answer = bench.api.call(_ask, app, _route_side(app), path, headers)
    return answer


def _route_side(app: Application) -> Any:
    layer: Any = app.middleware_stack
    while not isinstance(layer, ResponseCacheLayer):
        layer = layer.app
    return layer.app


def served(bench: Bench, path: str, **headers: str) -> Answer:
    """What a client gets, without the headers of the outer layers."""
    app: Application = bench.api.app
    status, found, body = bench.api.call(_ask, app, app, path, headers)
    for name in ("x-request-id", "x-data-world"):
        found.pop(name, None)
    return status, found, body


def hits(bench: Bench) -> int:
    stats = bench.api.app.state.platform.cache.stats()["byKey"]
    return int(stats.get("hot", {"hits": 0})["hits"])


@pytest.fixture(scope="module")
def admin(bench: Bench) -> dict[str, str]:
    return bench.admin()


@pytest.fixture(autouse=True)
def _cold(request: pytest.FixtureRequest) -> None:
    """Nothing cached by another test."""
    if "bench" in request.fixturenames:
        bench: Bench = request.getfixturevalue("bench")
        bench.api.app.state.platform.cache._entries.clear()
        bench.api.app.state.platform.cache._bytes = 0


@pytest.mark.parametrize("path", [*PUBLIC, LIST])
def test_every_answer_equals_that_of_the_route(bench: Bench, admin: dict[str, str], path: str) -> None:
    headers = admin if path == LIST else {}
    status, expected, body = ordinary(bench, path, **headers)
    before = hits(bench)

    first, second, third = (served(bench, path, **headers) for _ in range(3))

    assert status == 200
    assert first == second == third == (200, {**expected, "vary": "Accept-Encoding"}, body)
    assert hits(bench) - before == 2


@pytest.mark.parametrize(("accept", "used"), [("gzip, deflate, br, zstd", "zstd"), ("gzip", "gzip")])
@pytest.mark.parametrize("path", [PUBLIC[0], "/stocks/batch-kline?codes=600519,000001"])
def test_a_compressed_answer_holds_the_same_bytes(bench: Bench, path: str, accept: str, used: str) -> None:
    _, expected, body = ordinary(bench, path)
    unpack = gzip.decompress if used == "gzip" else zstandard.ZstdDecompressor().decompress

    first, second = (served(bench, path, **{"accept-encoding": accept}) for _ in range(2))

    assert first == second
    status, headers, packed = first
    assert status == 200
    assert headers["content-encoding"] == used
    assert headers["content-length"] == str(len(packed))
    assert headers["etag"] == expected["etag"]
    assert len(packed) < len(body) / 2
    assert unpack(packed) == body


@pytest.mark.parametrize("path", REFUSED)
def test_a_refusal_is_never_kept(bench: Bench, path: str) -> None:
    bench.api.get(PUBLIC[0])  # the layer knows the route
    status, expected, body = ordinary(bench, path)

    answers = [served(bench, path) for _ in range(2)]

    assert status in {404, 422}
    for found in answers:
        assert found[0] == status
        assert found[2] == body
        assert found[1].items() >= expected.items()


@pytest.mark.parametrize("path", [PUBLIC[0], "/stocks/index"])
def test_what_a_client_has_is_not_sent_again(bench: Bench, path: str) -> None:
    cold = ordinary(bench, path, **{"if-none-match": 'W/"other"'})
    etag = cold[1]["etag"]
    fresh = served(bench, path, **{"if-none-match": etag})  # by the route
    bench.api.get(path)
    before = hits(bench)

    kept = served(bench, path, **{"if-none-match": f'"x", {etag}'})

    assert hits(bench) == before + 1
    assert fresh == kept
    assert kept[0] == 304
    assert kept[2] == b""
    assert "content-length" not in kept[1]


def test_the_list_is_for_administrators_also_when_it_is_kept(bench: Bench, admin: dict[str, str]) -> None:
    for _ in range(2):
        assert served(bench, LIST, **admin)[0] == 200
    member = bench.member("hot_reader")

    stranger, forged = served(bench, LIST), served(bench, LIST, **bearer("a.b.c"))
    other = served(bench, LIST, **member)

    assert (stranger[0], forged[0], other[0]) == (401, 401, 403)
    assert stranger[:1] + stranger[2:] == ordinary(bench, LIST)[:1] + ordinary(bench, LIST)[2:]
    assert b"data" not in other[2]


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


def test_time_goes_on_while_an_answer_is_kept(tmp_path: Path) -> None:
    """`query_time` and Cache-Control are of the moment, half a second old at most."""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    warehouse.close()
    ticks, clock = Ticks(), ManualClock(datetime(2026, 8, 21, 14, 59, 59))
    app = make_app(url, tmp_path, ticks)
    app.state.platform.clock = clock
    path, packed = PUBLIC[0], {"Accept-Encoding": "zstd"}
    plain = {"Accept-Encoding": "identity"}
    with running(app) as api:
        times, policies = [], []
        for _ in range(3):
            answer = api.get(path, headers=plain)
            times.append(answer.json()["query_time"][11:19])
            policies.append(answer.headers["cache-control"])
            clock.advance(timedelta(seconds=1))
            ticks.advance(1)
        first = api.get(path, headers=packed).content
        clock.advance(timedelta(seconds=0.2))
        ticks.advance(0.2)
        soon = api.get(path, headers=packed).content
        ticks.advance(0.4)
        later = api.get(path, headers=packed).content

    assert times == ["14:59:59", "15:00:00", "15:00:01"]
    assert policies == ["public, max-age=30", *["public, max-age=300"] * 2]
    assert first == soon
    assert first != later


def test_what_is_kept_is_bounded(bench: Bench) -> None:
    cache = bench.api.app.state.platform.cache
    roof = cache._max_bytes
    cache._max_bytes = 40_000
    try:
        for days in range(30, 80):
            assert bench.api.get(f"/stocks/600519/kline?days={days}").status_code == 200
        assert cache.stats()["size"] <= 40_000
        assert cache.stats()["evictions"] > 0
    finally:
        cache._max_bytes = roof


def test_long_queries_of_nobody_fill_no_memory(bench: Bench) -> None:
    """Unknown parameters are ignored, and part of the address: a kept answer costs its address too."""
    cache = bench.api.app.state.platform.cache
    bench.api.get("/stocks/index")

    before = cache.stats()["size"]
    for number in range(20):
        assert bench.api.get(f"/stocks/index?junk={number}{'x' * 5000}").status_code == 200
    assert cache.stats()["size"] == before

    for number in range(20):
        bench.api.get(f"/stocks/search?keyword=%E8%8C%85&junk={number}{'x' * 3000}")
    assert cache.stats()["size"] >= before + 20 * 3000


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/stocks/600519/kline", "kline"),
        ("/stocks/batch-kline", "batch-kline"),
        ("/stocks/index", "index"),
        ("/stocks/search", "search"),
        ("/datamgr/stock-base/list", "stock-base"),
        ("/stocks/600519", None),
        ("/stocks/600519/kline/", None),
        ("/stocks/cache-stats", None),
        ("/datamgr/stats", None),
    ],
)
def test_which_reads_are_hot(path: str, name: str | None) -> None:
    assert cached_read(f"{BASE}{path}") == name


# -- compression ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        (b"", None),
        (b"identity", None),
        (b"gzip, deflate, br, zstd", b"zstd"),
        (b"GZIP;q=0.5, zstd;q=0", b"gzip"),
        (b"gzip;q=0", None),
        (b"*", b"zstd"),
        (b"*;q=0", None),
        (b"zstd;q=0, *", b"gzip"),
        (b"gzip;q=x", None),
        (b"br", None),
        (b",;,=", None),
    ],
)
def test_the_encoding_that_is_chosen(accept: bytes, encoding: bytes | None) -> None:
    assert chosen(accept) == encoding


def test_small_answers_and_other_kinds_stay_as_they_are(bench: Bench) -> None:
    packed = {"Accept-Encoding": "zstd, gzip"}

    small = bench.api.get("/stocks/000002/kline", headers=packed)
    page = bench.api.get("//docs", headers=packed)
    document = bench.api.get("//openapi.json", headers=packed)

    assert "content-encoding" not in small.headers
    assert "content-encoding" not in page.headers
    assert document.headers["content-encoding"] == "zstd"
    assert document.json()["openapi"]


def test_the_same_body_packs_to_the_same_bytes() -> None:
    body = b"0123456789" * 500

    assert {compressed(body, b"gzip") for _ in range(2)} == {compressed(body, b"gzip")}
    assert gzip.decompress(compressed(body, b"gzip")) == body


def test_an_answer_that_comes_in_pieces_is_passed_on_as_it_comes() -> None:
    """Streams are not held back, JSON in pieces neither."""
    passed: list[Any] = []

    async def pieces(_scope: Any, _receive: Any, send: Any) -> None:
        for kind in (b"text/event-stream", b"application/json"):
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
            await send({"type": "http.response.body", "body": b"a" * 2000, "more_body": True})
            passed.append(len(passed))
            await send({"type": "http.response.body", "body": b"b"})

    async def send(message: Any) -> None:
        passed.append(message.get("body", b"start")[:5])

    scope = {"type": "http", "method": "GET", "path": "/x", "headers": [(b"accept-encoding", b"gzip")]}
    anyio.run(ResponseCacheLayer(pieces, responses=None), scope, None, send)  # type: ignore[arg-type]

    assert passed == [b"start", b"aaaaa", 2, b"b", b"start", b"aaaaa", 6, b"b"]
