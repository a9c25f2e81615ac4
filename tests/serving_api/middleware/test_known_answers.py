"""What memory answers before the other layers passes the same decisions as they make."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from resources.settings import Settings
from serving_api.app import create_app
from serving_api.middleware.known_answers import KnownAnswerLayer
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

PATH = "/stocks/600519/kline?days=30"


@pytest.fixture
def filled(tmp_path: Path) -> str:
    """The address of a filled warehouse."""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    warehouse.close()
    return url


def known(app: Any) -> KnownAnswerLayer:
    layer = app.middleware_stack
    while not isinstance(layer, KnownAnswerLayer):
        layer = layer.app
    return layer


def test_a_second_reader_does_not_reach_the_layers_inside(bench: Bench) -> None:
    first = bench.api.get(PATH)
    layer = known(bench.api.app)
    inside = layer.app

    async def unreachable(*_: Any) -> None:
        raise AssertionError("the request went on")

    layer.app = unreachable
    try:
        second = bench.api.get(PATH)
    finally:
        layer.app = inside

    assert second.content == first.content


def test_known_answers_count_against_the_rate_limit(filled: str, tmp_path: Path) -> None:
    ticks = Ticks()
    app = make_app(filled, tmp_path, ticks, rate_limit_per_min=3)
    with running(app) as api:
        answers = [api.get(PATH) for _ in range(5)]
        ticks.advance(20)
        later = api.get(PATH)

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[4].headers["retry-after"] == "20"
    assert later.status_code == 200


def test_every_known_answer_has_an_id_of_its_own_or_that_of_the_caller(bench: Bench) -> None:
    answers = [bench.api.get(PATH) for _ in range(3)]
    named = bench.api.get(PATH, headers={"X-Request-ID": "mine-1"})
    unsafe = bench.api.get(PATH, headers={"X-Request-ID": "a b"})

    ids = {answer.headers["x-request-id"] for answer in [*answers, unsafe]}
    assert len(ids) == 4
    assert named.headers["x-request-id"] == "mine-1"


def test_known_answers_of_a_sample_say_so(filled: str, tmp_path: Path) -> None:
    with running(make_app(filled, tmp_path, Ticks(), data_source="mock")) as api:
        answers = [api.get(PATH) for _ in range(2)]

    assert [answer.headers["x-data-world"] for answer in answers] == ["sample", "sample"]


def test_an_error_of_the_layer_is_answered_by_those_inside(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = bench.api.get(PATH)

    def broken(_scope: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(known(bench.api.app), "_reply", broken)
    answer = bench.api.get(PATH)

    assert answer.status_code == 200
    assert answer.json()["results"] == expected.json()["results"]
    assert "is not answered at once" in caplog.text


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
