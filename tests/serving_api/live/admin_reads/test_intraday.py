"""GET /stocks/{code}/intraday: bars, headers, what the server keeps, what stands in for a dead source."""

from datetime import datetime

import pytest

from core.calendar import shipped_calendar
from serving_api.stocks.intraday import client_ttl, server_ttl
from tests.serving_api.live.admin_reads.conftest import CLOSED, TRADING, FetchContext

PATH = "/stocks/600040/intraday"
CALENDAR = shipped_calendar()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("2026-08-21T09:15", 30),
        ("2026-08-21T12:59", 30),
        ("2026-08-21T14:59:59", 30),
        ("2026-08-21T15:00", 3600),
        ("2026-08-21T23:00", 3600),
        ("2026-08-21T08:14", 3600),
        ("2026-08-21T08:45", 1800),
        ("2026-08-21T09:14:59", 1),
        ("2026-08-22T09:00", 3600),
    ],
)
def test_clients_keep_bars_until_they_may_move(now: str, seconds: int) -> None:
    assert client_ttl(at(now), CALENDAR) == seconds


@pytest.mark.parametrize(
    ("period", "seconds"), [("1m", 30), ("5m", 30), ("15m", 900), ("30m", 1800), ("60m", 3600)]
)
def test_the_server_keeps_long_bars_longer(period: str, seconds: int) -> None:
    assert server_ttl(period, TRADING, CALENDAR) == seconds
    assert server_ttl(period, CLOSED, CALENDAR) == 3600


@pytest.mark.parametrize(("now", "seconds"), [(TRADING, "30"), (CLOSED, "3600")])
def test_both_headers_say_the_same(ctx: FetchContext, now: datetime, seconds: str) -> None:
    ctx.clock.at = now

    answer = ctx.api.get(PATH)

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == f"public, max-age={seconds}"
    assert answer.headers["x-cache-ttl"] == seconds


def test_bars_of_today_by_default(ctx: FetchContext) -> None:
    found = ctx.api.get(PATH).json()["results"]

    assert (found["code"], found["period"], found["source"]) == ("600040", "5m", "live")
    assert [bar["datetime"] for bar in found["bars"]][:2] == ["2026-08-21 09:35:00", "2026-08-21 09:40:00"]
    assert len(found["bars"]) == 12  # 09:30 to 10:30


@pytest.mark.parametrize(("period", "bars_a_day"), [("1m", 240), ("15m", 16), ("60m", 4)])
def test_days_are_the_newest_trade_dates(ctx: FetchContext, period: str, bars_a_day: int) -> None:
    ctx.clock.at = CLOSED

    bars = ctx.api.get(PATH, params={"period": period, "days": 3}).json()["results"]["bars"]

    dates = sorted({bar["datetime"][:10] for bar in bars})
    assert dates == ["2026-08-19", "2026-08-20", "2026-08-21"]
    assert len(bars) == 3 * bars_a_day


def test_the_source_names_the_origin_of_the_bars(ctx: FetchContext) -> None:
    def source(**params: object) -> str:
        return str(ctx.api.get(PATH, params=params).json()["results"]["source"])

    reported = [source(), source(), source(use_cache=False)]
    ctx.ticks.advance(31)
    ctx.silence("tdx", "tencent", "eastmoney")
    reported += [source(), source(period="15m")]

    assert reported == ["live", "cache", "live", "cache_stale", "live"]


def test_stale_bars_are_the_last_good_ones(ctx: FetchContext) -> None:
    good = ctx.api.get(PATH).json()["results"]["bars"]
    ctx.ticks.advance(31)
    ctx.silence("tdx", "tencent", "eastmoney")

    assert ctx.api.get(PATH).json()["results"]["bars"] == good
    never = ctx.api.get("/stocks/600041/intraday").json()["results"]
    assert never == {"code": "600041", "period": "5m", "bars": [], "source": "live"}


def test_a_fallback_for_a_failed_source_is_not_cached(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    ctx.api.get(PATH)
    ctx.ticks.advance(3601)
    ctx.silence("tdx", "tencent", "eastmoney")

    for path in (PATH, "/stocks/600041/intraday"):
        answer = ctx.api.get(path)
        assert (answer.headers["cache-control"], answer.headers["x-cache-ttl"]) == ("no-store", "0")


def test_an_unknown_code_has_no_bars(ctx: FetchContext) -> None:
    answer = ctx.api.get("/stocks/999999/intraday")

    assert answer.status_code == 200
    assert answer.json()["results"]["bars"] == []


@pytest.mark.parametrize(("name", "value"), [("period", "2m"), ("days", 31), ("days", 0), ("use_cache", "x")])
def test_bad_values_are_named(ctx: FetchContext, name: str, value: object) -> None:
    answer = ctx.api.get(PATH, params={name: value})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{name}:")
