"""The pieces under the routes: bars, parameters, the cache, versions, cache policy."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calendar import shipped_calendar
from core.errors import InputError, StorageError
from serving_api.db.sessions import Reading
from serving_api.db.table_versions import Versions
from serving_api.db.version_cache import VersionCache
from serving_api.framework.cache_headers import chart_policy, in_trading_hours, is_match, weak_etag
from serving_api.framework.parameters import parse_as_of, parse_codes
from serving_api.framework.read_failures import read_or
from serving_api.stocks.bars import Bar, adjusted, known_factors
from serving_api.stocks.directory import Directory, Listing
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

prices = st.floats(0.01, 5000).map(lambda value: round(value, 2))
factors = st.floats(1, 500)


@st.composite
def bar_lists(draw: st.DrawFn) -> list[Bar]:
    count = draw(st.integers(0, 12))
    return [
        Bar(
            f"2026-01-{at + 1:02d}",
            draw(prices),
            draw(prices),
            draw(prices),
            draw(prices),
            draw(st.integers(0, 10**9)),
            draw(prices),
            draw(st.none() | factors),
        )
        for at in range(count)
    ]


@given(bar_lists())
def test_the_newest_bar_keeps_its_traded_price(bars: list[Bar]) -> None:
    rows = adjusted(bars, "qfq")

    assert [row["date"] for row in rows] == [bar.date for bar in bars]
    for name in ("open", "close", "high", "low"):
        assert [row[name] for row in rows[-1:]] == [getattr(bar, name) for bar in bars[-1:]]
    assert [(row["volume"], row["amount"]) for row in rows] == [(bar.volume, bar.amount) for bar in bars]


@given(bar_lists())
def test_adjusted_prices_are_raw_times_factor_over_newest_factor(bars: list[Bar]) -> None:
    known = known_factors(bars)

    for bar, factor, q, h in zip(bars, known, adjusted(bars, "qfq"), adjusted(bars, "hfq"), strict=True):
        assert bar.close is not None
        assert q["close"] == pytest.approx(bar.close * factor / known[-1], abs=1e-4)
        assert h["close"] == pytest.approx(bar.close * factor, abs=1e-4)


def test_raw_prices_are_left_alone() -> None:
    bar = Bar("2026-01-05", 1.23456, 1.3, None, 1.1, 5, 6.0, 7.0)

    assert adjusted([bar], "none") == [
        {
            "date": "2026-01-05",
            "open": 1.23456,
            "close": 1.3,
            "high": None,
            "low": 1.1,
            "volume": 5,
            "amount": 6.0,
        }
    ]


def test_a_missing_factor_takes_the_one_before_it() -> None:
    def bars(*values: float | None) -> list[Bar]:
        return [Bar("d", 1.0, 1.0, 1.0, 1.0, 1, 1.0, value) for value in values]

    assert known_factors(bars(None, 2.0, None, 4.0, None)) == [2.0, 2.0, 2.0, 4.0, 4.0]
    assert known_factors(bars(None, None)) == [1.0, 1.0]


NOW = datetime(2026, 8, 21, 15, 30)


@given(
    st.text(max_size=30) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.Z+-]{0,20})?", fullmatch=True)
)
def test_as_of_is_an_instant_or_a_named_refusal(text: str) -> None:
    try:
        moment = parse_as_of(text, NOW)
    except InputError:
        return
    assert moment.at.tzinfo is None
    assert moment.at.date() <= NOW.date()


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("2026-08-20", "2026-08-20 23:59:59.999999"),
        ("20260820", "2026-08-20 23:59:59.999999"),
        ("2026-08-21", "2026-08-21 23:59:59.999999"),
        ("2026-08-21T15:30", "2026-08-21 15:30:00.000000"),
        ("2026-08-21 09:00:00.5", "2026-08-21 09:00:00.500000"),
        ("2026-08-21T01:00:00Z", "2026-08-21 09:00:00.000000"),
        ("2026-08-20T23:00:00-04:00", "2026-08-21 11:00:00.000000"),
    ],
)
def test_as_of_forms(text: str, bound: str) -> None:
    assert parse_as_of(text, NOW).bound == bound


@given(st.text(alphabet="0123456789,ab ５", max_size=40))
def test_codes_are_clean_or_refused(text: str) -> None:
    try:
        codes = parse_codes(text, 3)
    except InputError:
        return
    assert 1 <= len(codes) == len(set(codes)) <= 3
    assert all(len(code) == 6 and code.isascii() and code.isdigit() for code in codes)


def test_the_cache_is_bounded_by_bytes_and_drops_the_longest_unused() -> None:
    cache = VersionCache(max_bytes=100)
    for name in ("a", "b"):
        cache.put("x", name, "1", name, 40)
    assert cache.get("x", "a", "1") == "a"
    cache.put("x", "c", "1", "c", 40)
    cache.put("x", "huge", "1", "huge", 101)

    assert [cache.get("x", name, "1") for name in ("a", "b", "c", "huge")] == ["a", None, "c", None]
    stats = cache.stats()
    assert (stats["size"], stats["maxSize"], stats["evictions"]) == (80, 100, 1)


def test_the_cache_knows_only_the_version_asked_for() -> None:
    cache = VersionCache()
    cache.put("x", "a", "1", "old", 10)

    assert cache.get("x", "a", "2") is None
    assert cache.get("x", "a", None) is None
    cache.put("x", "a", None, "never", 10)
    assert cache.get("x", "a", "1") == "old"
    cache.put("x", "a", "2", "new", 30)
    assert (cache.get("x", "a", "2"), cache.stats()["size"]) == ("new", 30)


class Loads:
    """Loads that end when they are told to."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.go = asyncio.Event()

    async def one(self) -> str:
        self.asked.append("one")
        await self.go.wait()
        return "value"

    async def some(self, missing: Sequence[str]) -> dict[str, str]:
        self.asked.append(list(missing))
        await self.go.wait()
        return {key: key.upper() for key in missing if key != "none"}


def test_of_many_that_ask_at_once_one_loads_and_what_is_kept_does_not_wait() -> None:
    async def scene() -> None:
        cache, loads = VersionCache(), Loads()
        cache.put("x", "kept", "1", "KEPT", 4)

        def ask(*keys: str) -> asyncio.Task[dict[str, str]]:
            return asyncio.ensure_future(cache.some("x", keys, "1", loads.some, len))

        asked = [ask("a", "kept"), ask("a", "b"), ask("a", "none")]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(ask("kept"), 5) == {"kept": "KEPT"}  # while another loads
        asked[0].cancel()  # who gives up does not take the turn with it
        loads.go.set()
        assert await asyncio.gather(*asked[1:]) == [{"a": "A", "b": "B"}, {"a": "A"}]
        assert loads.asked == [["a"], ["a", "b"], ["none"]]

    asyncio.run(scene())


def test_one_key_does_not_wait_for_another_and_without_a_version_everybody_loads() -> None:
    async def scene() -> None:
        cache, loads = VersionCache(), Loads()

        def ask(key: str, version: str | None) -> asyncio.Task[str | None]:
            return asyncio.ensure_future(cache.one("x", key, version, loads.one, len))

        asked = [ask("a", "1"), ask("a", "1"), ask("b", "1"), ask("c", None), ask("c", None)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(loads.asked) == 4
        loads.go.set()
        assert await asyncio.gather(*asked) == ["value"] * 5
        assert len(loads.asked) == 4
        assert (cache.get("x", "a", "1"), cache.get("x", "c", None)) == ("value", None)

    asyncio.run(scene())


def test_a_server_is_asked_for_versions_once_a_second() -> None:
    class Server(Reading):
        def __init__(self) -> None:
            self.inline = False
            self.asked = 0

        async def scan(self, work: Any, *args: Any) -> Any:
            self.asked += 1
            return {}

    server, ticks = Server(), Ticks()
    versions = Versions(server, ticks.wall)

    async def ask(times: int) -> None:
        await asyncio.gather(*(versions.current() for _ in range(times)))

    async def story() -> list[int]:
        asked = []
        for pause in (0.0, 0.5, 0.6, 5.0):
            ticks.advance(pause)
            await ask(10)
            asked.append(server.asked)
        return asked

    assert asyncio.run(story()) == [1, 1, 2, 3]


def test_sqlite_sees_a_commit_at_once_and_reads_nothing_in_between(own: Bench) -> None:
    versions = own.api.app.state.platform.versions
    before = own.api.call(versions.current)
    assert own.api.call(versions.current) is before
    warehouse = own.warehouse()
    market.put(warehouse, market.KLINE, [market.bar("600519", "2026-08-19", 10.0)])
    warehouse.close()

    after = own.api.call(versions.current)

    assert after["fusion_kline_daily"].number == before["fusion_kline_daily"].number + 1
    assert after["fusion_kline_daily"].row_count == 1
    assert after["fusion_kline_daily"].latest_date == "2026-08-19"


@pytest.mark.parametrize(
    ("moment", "trading"),
    [
        ("2026-08-21T09:14:59", False),
        ("2026-08-21T09:15:00", True),
        ("2026-08-21T12:00:00", True),
        ("2026-08-21T14:59:59", True),
        ("2026-08-21T15:00:00", False),
        ("2026-08-22T10:00:00", False),
        ("2026-10-01T10:00:00", False),
        ("2100-01-04T10:00:00", False),
    ],
)
def test_trading_hours_of_charts(moment: str, trading: bool) -> None:
    now = datetime.fromisoformat(moment)

    assert in_trading_hours(now, shipped_calendar()) is trading
    assert chart_policy(now, shipped_calendar()) == f"public, max-age={30 if trading else 300}"


def test_etags() -> None:
    tag = weak_etag("1@x", "/a", [("b", "2"), ("a", "1")])

    assert tag == weak_etag("1@x", "/a", [("a", "1"), ("b", "2")])
    others = [
        weak_etag("2@x", "/a", [("a", "1"), ("b", "2")]),
        weak_etag("1@x", "/b", [("a", "1"), ("b", "2")]),
        weak_etag("1@x", "/a", [("a", "1")]),
    ]
    assert tag not in others
    assert is_match(tag, tag)
    assert is_match(tag.removeprefix("W/"), tag)
    assert not is_match("*", tag)
    assert is_match("*", tag, answered=True)
    assert not is_match('W/"other"', tag)
    assert not is_match(None, tag)


def test_only_data_failures_become_empty() -> None:
    async def fail(error: Exception) -> list[int]:
        raise error

    assert asyncio.run(read_or([], fail(StorageError("away")))) == []
    with pytest.raises(ZeroDivisionError):
        asyncio.run(read_or([], fail(ZeroDivisionError())))


def test_pinyin_ranks() -> None:
    def listing(code: str, initials: str, spelling: str) -> Listing:
        return Listing(code, code, "SH", "stock", initials, spelling, None)

    directory = Directory.of(
        [
            listing("000004", "xx", "xxabx"),
            listing("000003", "xab", "xx"),
            listing("000002", "xx", "abx"),
            listing("000001", "abx", "xx"),
            listing("000005", "xx", "xx"),
        ]
    )

    assert [hit.code for hit in directory.find("AB")] == ["000001", "000002", "000003", "000004"]
    assert directory.find("  ") == []

    read = Directory.of(
        [
            Listing("000001", "长电", None, None, "cd", "changdian", None, (("zd", "zhangdian"),)),
            Listing("000002", "中大", None, None, "zd", "zhongda", None),
            Listing("000003", "展大", None, None, "zd", "zhanda", None, (("zd", "zhandai"),)),
        ]
    )
    assert [hit.code for hit in read.find("zd")] == ["000002", "000003", "000001"]
    assert [hit.code for hit in read.find("zhang")] == ["000001"]
    assert [hit.code for hit in read.find("zhan")] == ["000003", "000001"]

    assert directory.find("a1") == []


def test_read_only_reads_cannot_write(own: Bench) -> None:
    reading = own.api.app.state.platform.reading

    async def write() -> None:
        await reading.point(lambda session: session._connection.exec_driver_sql("DELETE FROM app_users"))

    with pytest.raises(StorageError):
        own.api.call(write)


def test_an_app_leaves_no_open_file(tmp_path: Path) -> None:
    def handles() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    counts = []
    for _ in range(4):
        app = make_app(f"sqlite:///{tmp_path}/w.sqlite3", tmp_path, Ticks())
        with running(app) as api:
            api.get("/stocks/600519/kline")
            api.get("//health")
        counts.append(handles())
    assert counts[-1] <= counts[1]
