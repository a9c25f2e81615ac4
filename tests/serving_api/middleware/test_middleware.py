"""The layers around the app: token buckets, client addresses, origin headers."""

from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.network_addresses import parse_networks
from serving_api.middleware.forwarded import client_address, forwarded
from serving_api.middleware.rate_limit import TokenBuckets
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

PROXIES = parse_networks("10.0.0.0/8, ::1")


def scope(peer: str | None, *forwarded: str) -> dict[str, Any]:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return {"client": None if peer is None else (peer, 1), "headers": headers}


def test_a_bucket_empties_and_fills_at_its_rate() -> None:
    ticks = Ticks()
    buckets = TokenBuckets(60, ticks.wall)

    assert [buckets.take("a") for _ in range(61)] == [0] * 60 + [1]
    assert buckets.take("b") == 0
    ticks.advance(1.0)
    assert [buckets.take("a") for _ in range(2)] == [0, 1]
    ticks.advance(3600)
    assert [buckets.take("a") for _ in range(61)] == [0] * 60 + [1]


def test_retry_after_is_when_one_may_pass() -> None:
    ticks = Ticks()
    buckets = TokenBuckets(2, ticks.wall)
    buckets.take("a"), buckets.take("a")

    assert buckets.take("a") == 30
    ticks.advance(29.9)
    assert buckets.take("a") == 1
    ticks.advance(0.1)
    assert buckets.take("a") == 0


def test_the_number_of_clients_is_bounded() -> None:
    buckets = TokenBuckets(1, Ticks().wall, max_clients=10)
    for number in range(1000):
        buckets.take(str(number))

    assert len(buckets) == 10


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.1", ("198.51.100.7",), "203.0.113.1"),  # not a proxy: its word counts for nothing
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("198.51.100.7",), "198.51.100.7"),
        ("10.0.0.1", ("6.6.6.6, 198.51.100.7",), "198.51.100.7"),  # what the client wrote itself is ignored
        ("10.0.0.1", ("198.51.100.7, 10.2.3.4",), "198.51.100.7"),
        ("10.0.0.1", ("198.51.100.7", "10.2.3.4"), "198.51.100.7"),
        ("10.0.0.1", ("10.9.9.9",), "10.0.0.1"),
        ("::1", ("2001:db8::5",), "2001:db8::"),  # the network of a customer
        ("::1", ("2001:db8::ffff:1",), "2001:db8::"),
        ("2001:db8:7:8:9::1", (), "2001:db8:7:8::"),
        ("::ffff:203.0.113.1", (), "203.0.113.1"),
        ("10.0.0.1", ("198.51.100.7, <junk>",), "10.0.0.1"),
        ("10.0.0.1", ("1" * 5000,), "10.0.0.1"),
        (None, ("198.51.100.7",), "unknown"),
    ],
)
def test_whose_address_counts(peer: str | None, forwarded: tuple[str, ...], expected: str) -> None:
    assert client_address(scope(peer, *forwarded), PROXIES) == expected


def test_nobody_is_believed_by_default() -> None:
    assert client_address(scope("127.0.0.1", "198.51.100.7"), ()) == "127.0.0.1"


def test_a_wrong_proxy_list_refuses_to_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="TRUSTED_PROXIES"):
        make_app(f"sqlite:///{tmp_path}/x", tmp_path, Ticks(), trusted_proxies="proxy.local")


def test_the_limit_covers_the_api_and_nothing_else(tmp_path: Path) -> None:
    app = make_app(f"sqlite:///{tmp_path}/w.sqlite3", tmp_path, Ticks(), rate_limit_per_min=2)
    with running(app) as api:
        statuses = [api.get("/stocks/index").status_code for _ in range(3)]
        refused = api.get("/nowhere")
        health, docs = api.get("//health"), api.get("//docs")
        tools = api.get("//mcp/tools")

    assert statuses == [200, 200, 429]
    assert refused.status_code == tools.status_code == 429
    assert refused.json() == {"detail": "请求过于频繁，请稍后再试"}
    assert refused.headers["retry-after"] == "30"
    assert refused.headers["x-request-id"]
    assert (health.status_code, docs.status_code) == (200, 200)


def test_zero_switches_the_limit_off(own: Bench) -> None:
    assert {own.api.get("/stocks/cache-stats").status_code for _ in range(130)} == {200}


@pytest.mark.parametrize(
    ("how", "world"),
    [
        ({"data_source": "real"}, None),
        ({"data_source": "mock"}, "sample"),
        ({"data_source": "mock", "sample_world": "replay"}, "replay"),
    ],
)
def test_every_answer_says_when_its_world_is_not_the_real_one(
    tmp_path: Path, how: dict[str, str], world: str | None
) -> None:
    with running(make_app(f"sqlite:///{tmp_path}/w.sqlite3", tmp_path, Ticks(), **how)) as api:
        answers = [api.get("/stocks/index"), api.get("/nowhere"), api.get("//health")]

    assert {answer.headers.get("x-data-world") for answer in answers} == {world}


# -- what a proxy says ---------------------------------------------------------------------------------

FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "quant.example.com",
    "X-Forwarded-Prefix": "/ashare",
    "X-Forwarded-For": "198.51.100.7",
}


def test_links_lead_to_where_the_client_asked(tmp_path: Path) -> None:
    """Behind a proxy that ends TLS and takes a prefix away."""
    app = make_app(f"sqlite:///{tmp_path}/w.sqlite3", tmp_path, Ticks(), trusted_proxies="10.0.0.0/8")
    with running(app) as api:
        docs = api.get("//docs", headers=FORWARDED)
        moved = api.get("/stocks/index/", headers=FORWARDED)
        document = api.get("//openapi.json", headers=FORWARDED).json()

    assert "/ashare/openapi.json" in docs.text
    assert "/ashare/docs/files/swagger-ui-bundle.js" in docs.text
    assert (moved.status_code, moved.headers["location"]) == (307, "/ashare/api/v1/stocks/index")
    assert document["servers"][0] == {"url": "/ashare"}


def test_a_stranger_moves_no_link_and_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = make_app(f"sqlite:///{tmp_path}/w.sqlite3", tmp_path, Ticks(), trusted_proxies="127.0.0.1")
    with running(app) as api:
        docs = [api.get("//docs", headers=FORWARDED).text for _ in range(3)]

    assert all("/ashare" not in text for text in docs)
    warned = [record.getMessage() for record in caplog.records if "TRUSTED_PROXIES" in record.getMessage()]
    assert len(warned) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Forwarded-Proto", "javascript"),
        ("X-Forwarded-Prefix", "//evil.example"),
        ("X-Forwarded-Prefix", "/a<script>"),
        ("X-Forwarded-Host", "evil.example/path"),
        ("X-Forwarded-Host", "a@b"),
    ],
)
def test_what_is_no_value_changes_nothing(name: str, value: str) -> None:
    assert forwarded({"headers": [(name.lower().encode(), value.encode())]}) == {}


@pytest.mark.parametrize("path", ["/stocks/index", "//health", "//openapi.json", "/nowhere"])
def test_head_has_the_headers_of_get(own: Bench, path: str) -> None:
    head, get = own.api.request("HEAD", path), own.api.get(path)

    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
    assert head.headers.get("etag") == get.headers.get("etag")


def test_head_of_a_stream_ends(own: Bench) -> None:
    head = own.api.request("HEAD", "/realtime/stream")

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")
