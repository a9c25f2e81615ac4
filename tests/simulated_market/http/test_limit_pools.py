"""Limit pools, reasons and popularity of the sample world, through the clients: every stock of a pool is in
it because of its bar."""

import json
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from core.clock import FrozenClock, ManualClock
from core.errors import PayloadError, Transient, Unavailable
from resources.upstreams.parsing.payload import json_of
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from simulated_market.world.model import PRICE_UNIT
from simulated_market.world.replay import ReplayWorld
from tests.simulated_market.http.conftest import bench_of
from tests.upstreams.ths.test_ths import HOT, LIMIT_UP, STRONG

RECORDED = Path(__file__).parents[2] / "upstreams/eastmoney/payloads/em_ztpool_20240923.jsonp"
SLICE = Path(__file__).parents[2] / "real_data"
TODAY = "2026-08-21"
CLOSED = datetime(2026, 8, 21, 15, 45)
DAYS = ("2026-08-11", "2026-08-12", "2026-08-18", "2026-08-19", "2026-08-20", TODAY)


@pytest.fixture(scope="module")
def sample():
    with SimulatedMarket(load_world("synthetic", "S"), ManualClock(CLOSED), tcp_port=None) as running:
        yield running


@pytest.fixture
def bench(sample):
    sample.clock.at = CLOSED
    made = bench_of(sample)
    yield made
    made.transport.close()


def state(world, day):
    """Symbol -> (bar of the date, its limits) of every stock that traded."""
    now, number = datetime.fromisoformat(f"{day}T15:30"), int(day.replace("-", ""))
    found = {}
    for security in world.securities(now):
        if security.kind != "stock":
            continue
        bars, limits = world.bars(security, now), world.limits(security, number)
        if len(bars) and int(bars.date[-1]) == number and bars.traded[-1] and limits is not None:
            found[security.symbol] = (int(bars.high[-1]), int(bars.close[-1]), limits)
    return found


def test_pools_are_those_of_the_bars(bench):
    before = None
    seen = dict.fromkeys(("up", "broken", "down", "prev"), 0)
    for day in DAYS:
        bars = state(bench.market.world, day)
        pools = {pool: set(bench.eastmoney.limit_pool(pool, day)["symbol"]) for pool in seen}
        assert pools["up"] == {s for s, (_, close, limits) in bars.items() if close == limits[0]}
        assert pools["broken"] == {s for s, (high, close, up) in bars.items() if high == up[0] > close}
        assert pools["down"] == {s for s, (_, close, limits) in bars.items() if close == limits[1]}
        if before in {"2026-08-18", "2026-08-19", "2026-08-20"}:
            assert pools["prev"] == set(bench.eastmoney.limit_pool("up", before)["symbol"]) & set(bars)
        before = day
        seen = {pool: count + len(pools[pool]) for pool, count in seen.items()}
    assert all(seen.values())


def test_a_streak_counts_the_boards_in_a_row(bench):
    rows = {day: bench.eastmoney.limit_pool("up", day).set_index("code") for day in DAYS[2:5]}

    assert [int(rows[day].loc["300114", "limit_days"]) for day in rows] == [2, 3, 4]
    assert [rows[day].loc["300114", "zt_stat"] for day in rows] == ["2天2板", "3天3板", "4天4板"]
    prev = bench.eastmoney.limit_pool("prev", TODAY).set_index("code").loc["300114"]
    then = rows["2026-08-20"].loc["300114"]
    assert (prev["limit_days"], prev["first_seal_time"]) == (4, then["first_seal_time"])
    assert prev["price"] != then["price"]


def test_seals_and_the_queue_are_those_of_the_day(bench):
    world = bench.market.world
    for day in DAYS:
        for row in bench.eastmoney.limit_pool("up", day).to_dict("records"):
            security, now = world.find(row["symbol"]), datetime.fromisoformat(f"{day}T15:00")
            minutes = world.minutes(security, int(day.replace("-", "")), now)
            quote = world.quote(security, now)
            first, last = row["first_seal_time"], row["last_seal_time"]
            assert "09:25:00" <= first <= last <= "15:00:00"
            assert (row["break_times"] == 0) == (first == last)
            hour, minute = int(last[:2]), int(last[3:5])
            after = minutes.minute > hour * 60 + minute
            assert (minutes.price[after] == round(row["price"] * PRICE_UNIT)).all()
            assert row["seal_fund"] == round(quote.bids[0][0] * quote.bids[0][1] / PRICE_UNIT)


def test_both_portals_agree_on_a_stock(bench):
    compared = 0
    for day in DAYS:
        for pool in ("up", "broken", "down"):
            ours = bench.eastmoney.limit_pool(pool, day).set_index("code")
            theirs = bench.ths.limit_pool(pool, day).set_index("code")
            assert set(theirs.index) == {code for code in ours.index if ours.loc[code, "symbol"][:2] != "bj"}
            for code in theirs.index:
                compared += 1
                assert theirs.loc[code, "price"] == ours.loc[code, "price"]
                assert theirs.loc[code, "float_market_cap"] == ours.loc[code, "float_market_cap"]
                if pool == "up":
                    for name in ("first_seal_time", "last_seal_time", "seal_fund", "break_times", "zt_stat"):
                        assert theirs.loc[code, name] == ours.loc[code, name], name
    assert compared > 5


def test_a_running_session_shows_stocks_that_are_sealed_now(bench, sample):
    sample.clock.at = datetime(2026, 8, 21, 9, 45)
    early = bench.eastmoney.limit_pool("up", TODAY).set_index("code")
    sample.clock.at = datetime(2026, 8, 21, 10, 5)
    broken = bench.eastmoney.limit_pool("broken", TODAY).set_index("code")

    assert early.loc["600140", "first_seal_time"] == "09:32:36"
    assert early.loc["600140", "break_times"] == 0  # it breaks later
    late = bench_of(sample)
    sample.clock.at = CLOSED
    done = late.eastmoney.limit_pool("up", TODAY).set_index("code")
    assert done.loc["600140", "break_times"] == 1
    assert set(broken.index) <= {"600140"} | set(late.eastmoney.limit_pool("broken", TODAY)["code"])


def test_another_date_is_never_taken_for_the_one_asked(bench, sample):
    with pytest.raises(PayloadError, match="answered for 2026-08-21, asked was 2026-08-24"):
        bench.eastmoney.limit_pool("up", "2026-08-24")
    sample.clock.at = datetime(2026, 8, 21, 9, 0)
    with pytest.raises(PayloadError, match="answered for 2026-08-20"):
        bench.eastmoney.limit_pool("up", TODAY)
    sample.clock.at = datetime(2026, 8, 24, 15, 45)
    assert len(bench.eastmoney.limit_pool("up", "2026-08-22")) == 0  # a Saturday
    assert len(bench.eastmoney.limit_pool("up", "2026-06-05")) == 0  # beyond the dates that are served
    assert len(bench.ths.limit_pool("up", "2026-06-05")) == 1


@pytest.mark.parametrize(
    ("kind", "args", "day", "reason"),
    [
        ("stale_day", {}, TODAY, "answered for 2026-08-20"),
        ("cut_list", {"rows": 1}, "2026-08-20", "1 of [34]"),
        ("double_rows", {}, "2026-08-20", "[68] (rows )?of [34]"),
    ],
)
def test_corrupted_pools_are_refused(bench, sample, kind, args, day, reason):
    sample.faults.replace([{"upstream": "*", "call": "limit_pool", "kind": kind, "args": args, "count": 0}])

    for ask in (bench.eastmoney.limit_pool, bench.ths.limit_pool):
        with pytest.raises(PayloadError, match=reason):
            ask("up", day)


def test_the_pools_have_a_breaker_of_their_own(bench, sample):
    rule = {"upstream": "eastmoney", "call": "limit_pool", "kind": "status", "args": {"code": 503}}
    sample.faults.replace([rule])
    with pytest.raises(Transient):
        bench.eastmoney.limit_pool("up", TODAY)

    breakers = bench.gate.breakers()
    assert breakers["push2ex_breaker"]["state"] == "OPEN"
    assert breakers["em_breaker"] == {"state": "CLOSED", "failure_count": 0, "opened_at": None}
    with pytest.raises(Unavailable):
        bench.eastmoney.limit_pool("up", TODAY)
    assert len(bench.eastmoney.boards("industry")) > 0


def kinds(row):
    return {
        key: "number"
        if isinstance(value, int | float)
        else kinds(value)
        if isinstance(value, dict)
        else type(value)
        for key, value in row.items()
    }


def test_rows_have_the_shape_of_the_recorded_ones(sample):
    sample.clock.at = CLOSED
    sample.faults.clear()
    path = "/eastmoney/getTopicZTPool?Pageindex=0&pagesize=10000&sort=fbt:asc&date=20260820&cb=cb1"

    text = httpx.get(sample.http_url + path, trust_env=False).content

    recorded = json_of(RECORDED.read_bytes())
    made = json_of(text)
    assert text.startswith(b"cb1({")
    assert kinds(made) == kinds(recorded)
    assert {str(kinds(row)) for row in made["data"]["pool"]} == {str(kinds(recorded["data"]["pool"][0]))}
    assert [row["fbt"] for row in made["data"]["pool"]] == sorted(row["fbt"] for row in made["data"]["pool"])


def test_rows_of_the_topic_portal_have_the_documented_keys(sample):
    sample.clock.at = CLOSED
    sample.faults.clear()

    def get(path):
        return httpx.get(f"{sample.http_url}/ths{path}", trust_env=False).content

    limit = json.loads(get("/dataapi/limit_up/limit_up_pool?page=1&limit=200&date=20260820"))
    hot = json.loads(get("/fuyao/hot_list_data/out/hot_list/v1/stock?stock_type=a&type=day&list_type=normal"))
    strong = json.loads(
        get("/event/api/getharden/date/2026-08-20/orderby/date/orderway/desc/charset/GBK/").decode("gbk")
    )
    assert set(limit["data"]["info"][0]) == set(LIMIT_UP)
    assert set(HOT) - {"tag"} <= set(hot["data"]["stock_list"][0])
    assert set(strong["data"][0]) == set(STRONG)
    assert all(isinstance(value, str) for value in strong["data"][0].values())


def test_popularity_is_a_ranking(bench):
    ours, theirs = bench.eastmoney.popularity(), bench.ths.hot_list()

    assert ours["rank_no"].tolist() == list(range(1, len(ours) + 1))
    assert theirs["heat"].tolist() == sorted(theirs["heat"], reverse=True)
    assert set(ours["code"]) == set(theirs["code"])
    assert ours["code"].tolist() != theirs["code"].tolist()
    assert (ours["rank_change"] != 0).any()


def test_strong_stocks_rose_and_say_why(bench):
    rows = bench.ths.strong_stocks("2026-08-20")

    ups = set(bench.eastmoney.limit_pool("up", "2026-08-20")["code"])
    assert ups <= set(rows["code"])
    assert ((rows["change_pct"] >= 7) | rows["code"].isin(ups)).all()
    assert rows["tags"].notna().all()
    assert len(bench.ths.strong_stocks("2026-08-22")) == 0


def test_real_bars_know_nothing_of_seals_and_topics():
    world, clock = ReplayWorld(SLICE), FrozenClock(datetime(2022, 7, 29, 15, 45))
    with SimulatedMarket(world, clock, tcp_port=None) as market:
        bench = bench_of(market)
        for pool in ("up", "broken", "down", "prev", "strong"):
            assert len(bench.eastmoney.limit_pool(pool, "2022-07-29")) == 0
        assert len(bench.ths.limit_pool("up", "2022-07-29")) == 0
        assert len(bench.ths.strong_stocks("2022-07-29")) == 0
        assert len(bench.ths.hot_list()) == len(bench.eastmoney.popularity()) == 0
        bench.transport.close()
