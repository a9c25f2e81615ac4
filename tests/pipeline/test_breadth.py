"""calc_breadth_sample: a session sampled from three upstreams, against the world that they served."""

from datetime import datetime

import pytest

from platform_assets.datasets.breadth_sample import sample_time
from tests.pipeline.conftest import TODAY, House


def truth(house: House) -> dict[str, int]:
    now = house.clock.now()
    counts = dict.fromkeys(("up_count", "down_count", "flat_count", "limit_up_count", "limit_down_count"), 0)
    for security in house.world.securities(now):
        quote = house.world.quote(security, now) if security.kind == "stock" else None
        if quote is None or quote.suspended or not quote.volume:
            continue
        moved = quote.price - quote.preclose
        counts["up_count" if moved > 0 else "down_count" if moved < 0 else "flat_count"] += 1
        counts["limit_up_count"] += quote.limit_up is not None and quote.price >= quote.limit_up
        counts["limit_down_count"] += quote.limit_down is not None and quote.price <= quote.limit_down
    return counts


@pytest.mark.parametrize("away", [(), ("tdx",), ("tdx", "tencent")])
def test_a_sample_is_what_the_market_shows_whoever_tells_it(alone: House, away: tuple[str, ...]) -> None:
    alone.master()
    alone.clock.at = datetime.fromisoformat(f"{TODAY}T10:32:10")
    alone.fresh()
    alone.run.desk.securities()  # the list was there in the morning
    alone.faults.replace(
        [
            {
                "upstream": name,
                "call": "*",
                "kind": "dead" if name == "tdx" else "status",
                "args": {"code": 403},
            }
            for name in away
        ]
    )

    alone.fuse("breadth_sample")

    (row,) = alone.warehouse.rows("calc_breadth_sample")
    assert (row["sample_time"][:16], row["trade_date"]) == (f"{TODAY} 10:30", TODAY)
    assert {name: row[name] for name in truth(alone)} == truth(alone)
    assert row["amount"] > 0
    assert (row["main_net"] is None) == (len(away) < 2)
    now = alone.clock.now()
    index = alone.world.find("sh000001")
    assert index is not None
    quote = alone.world.quote(index, now)
    assert quote is not None
    assert row["index_change_pct"] == pytest.approx((quote.price / quote.preclose - 1) * 100, abs=0.02)


def test_samples_add_up_over_a_session_and_stop_with_it(alone: House) -> None:
    for moment in ("09:29:59", "09:30", "10:34", "10:34:59", "12:00", "15:00", "15:01"):
        alone.clock.at = datetime.fromisoformat(f"{TODAY}T{moment}")
        alone.fresh()
        alone.fuse("breadth_sample")

    rows = alone.warehouse.rows("calc_breadth_sample", order="sample_time")
    assert [row["sample_time"][11:16] for row in rows] == ["09:30", "10:30", "15:00"]
    amounts = [row["amount"] for row in rows]
    assert amounts == sorted(amounts)
    alone.clock.at = datetime.fromisoformat("2026-08-22T10:00")  # a Saturday
    alone.fresh()
    alone.fuse("breadth_sample", TODAY)
    assert len(alone.warehouse.rows("calc_breadth_sample")) == 3


def test_moments_between_the_sessions_are_none() -> None:
    wanted = {
        "09:25": None,
        "09:34": "09:30",
        "11:30": "11:30",
        "11:31": None,
        "13:04": "13:00",
        "15:01": None,
    }
    for moment, told in wanted.items():
        found = sample_time(datetime.fromisoformat(f"{TODAY}T{moment}"))
        assert (None if found is None else found.strftime("%H:%M")) == told
