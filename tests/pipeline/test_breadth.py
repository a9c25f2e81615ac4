"""calc_breadth_sample: a session sampled from three upstreams, against the world that they served."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pandas as pd
import pytest

from platform_assets.datasets.breadth_sample import sample_time
from platform_assets.pipeline.download import AllSourcesFailed
from resources.upstreams.tencent.client import TencentClient
from resources.warehouse.comparison import Comparison, Stored
from tests.pipeline.conftest import TODAY, Services


def truth(services: Services) -> dict[str, int]:
    now = services.clock.now()
    counts = dict.fromkeys(("up_count", "down_count", "flat_count", "limit_up_count", "limit_down_count"), 0)
    for security in services.world.securities(now):
        quote = services.world.quote(security, now) if security.kind == "stock" else None
        if quote is None or quote.suspended or not quote.volume:
            continue
        moved = quote.price - quote.preclose
        counts["up_count" if moved > 0 else "down_count" if moved < 0 else "flat_count"] += 1
        counts["limit_up_count"] += quote.limit_up is not None and quote.price >= quote.limit_up
        counts["limit_down_count"] += quote.limit_down is not None and quote.price <= quote.limit_down
    return counts


def refusing(name: str) -> dict[str, Any]:
    """An upstream that answers nothing."""
    return {"upstream": name, "call": "*"} | (
        {"kind": "dead"} if name == "tdx" else {"kind": "status", "args": {"code": 403}}
    )


@pytest.mark.parametrize("away", [(), ("tdx",), ("tdx", "tencent")])
def test_a_sample_is_what_the_market_shows_from_every_source(alone: Services, away: tuple[str, ...]) -> None:
    alone.master()
    alone.clock.at = datetime.fromisoformat(f"{TODAY}T10:32:10")
    alone.fresh()
    alone.faults.replace([refusing(name) for name in away])

    loaded = alone.fuse("breadth_sample")

    (row,) = alone.warehouse.rows("calc_breadth_sample")
    assert (row["sample_time"][:16], row["trade_date"]) == (f"{TODAY} 10:30", TODAY)
    assert {name: row[name] for name in truth(alone)} == truth(alone)
    assert row["amount"] > 0
    if not away:  # the stored list is the market: nobody is asked for it
        assert loaded.calls == {"tdx": 1}
    assert (row["main_net"] is None) == (len(away) < 2)
    now = alone.clock.now()
    index = alone.world.find("sh000001")
    assert index is not None
    quote = alone.world.quote(index, now)
    assert quote is not None
    assert row["index_change_pct"] == pytest.approx((quote.price / quote.preclose - 1) * 100, abs=0.02)


@pytest.fixture
def morning(alone: Services) -> Services:
    """A session whose stocks are known, without the terminal."""
    yesterday = alone.run.calendar.offset(TODAY, -1)
    alone.at(yesterday)
    alone.master(yesterday)
    alone.clock.at = datetime.fromisoformat(f"{TODAY}T09:31:00")
    alone.fresh()
    alone.faults.replace([refusing("tdx")])
    return alone


def test_the_day_before_is_no_sample(morning: Services) -> None:
    stale = {"call": "*", "kind": "stale_day"}
    morning.faults.replace([refusing("tdx"), {"upstream": "tencent", **stale}])
    loaded = morning.fuse("breadth_sample")
    assert [item["src"] for item in loaded.sources if item.get("rows")] == ["eastmoney"]
    (row,) = morning.warehouse.rows("calc_breadth_sample")
    assert {name: row[name] for name in truth(morning)} == truth(morning)

    morning.clock.at = datetime.fromisoformat(f"{TODAY}T09:36:00")
    morning.fresh()
    morning.faults.replace([refusing("tdx"), {"upstream": "*", **stale}])
    with pytest.raises(AllSourcesFailed, match=f"quotes of {TODAY}"):
        morning.fuse("breadth_sample")
    assert len(morning.warehouse.rows("calc_breadth_sample")) == 1


def test_a_part_of_the_market_is_not_the_market(morning: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quote site leaves out what it does not know without a word."""
    whole = TencentClient.quotes

    def half(client: TencentClient, symbols: Sequence[str]) -> pd.DataFrame:
        return whole(client, symbols[len(symbols) // 2 :])

    monkeypatch.setattr(TencentClient, "quotes", half)
    loaded = morning.fuse("breadth_sample")
    assert [item["src"] for item in loaded.sources if item.get("rows")] == ["eastmoney"]
    (row,) = morning.warehouse.rows("calc_breadth_sample")
    assert {name: row[name] for name in truth(morning)} == truth(morning)


def test_samples_add_up_over_a_session_and_stop_with_it(alone: Services) -> None:
    for moment in ("09:29:59", "09:30", "10:34", "10:34:59", "12:00", "15:00", "15:01"):
        alone.clock.at = datetime.fromisoformat(f"{TODAY}T{moment}")
        alone.fresh()
        alone.fuse("breadth_sample")

    rows = alone.warehouse.rows("calc_breadth_sample", order=["sample_time"])
    assert [row["sample_time"][11:16] for row in rows] == ["09:30", "10:30", "15:00"]
    amounts = [row["amount"] for row in rows]
    assert amounts == sorted(amounts)
    alone.clock.at = datetime.fromisoformat("2026-08-22T10:00")  # a Saturday
    alone.fresh()
    alone.fuse("breadth_sample", TODAY)
    assert len(alone.warehouse.rows("calc_breadth_sample")) == 3


def test_a_sample_is_compared_with_those_of_its_day_alone(
    morning: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    stored = Comparison.stored

    def counted(self: Comparison, *asked: Any) -> Stored:
        found = stored(self, *asked)
        compared.append(len(found.rows) + len(found.equal))
        return found

    written = []
    monkeypatch.setattr(Comparison, "stored", counted)
    for moment in ("2026-08-20T10:31", f"{TODAY}T10:31", f"{TODAY}T15:00", f"{TODAY}T15:00:30"):
        morning.clock.at = datetime.fromisoformat(moment)
        morning.fresh()
        (result,) = morning.fuse("breadth_sample", moment[:10]).results
        written.append((result.rows_written, result.rows_unchanged))
    assert compared == [0, 0, 1, 2]
    assert written == [(1, 0), (1, 0), (1, 0), (0, 1)]
    assert len(morning.warehouse.rows("calc_breadth_sample")) == 3


def test_moments_between_the_sessions_are_none() -> None:
    requested = {
        "09:25": None,
        "09:34": "09:30",
        "11:30": "11:30",
        "11:31": None,
        "13:04": "13:00",
        "15:01": None,
    }
    for moment, reported in requested.items():
        found = sample_time(datetime.fromisoformat(f"{TODAY}T{moment}"))
        assert (None if found is None else found.strftime("%H:%M")) == reported
