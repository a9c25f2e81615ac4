"""Ex-rights of the autumn market in bars that no site quoted: splits, and several in one suspension."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.warehouse.stored import ANY
from simulated_market.world.loader import load_world
from tests.pipeline.conftest import Services, opened_services

SINCE, UNTIL = "2026-08-18", "2026-09-21"
SPLIT, MERGED, SUSPENDED = "512901", "512902", "605621"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    world = load_world("synthetic", "S", state="autumn-2026")
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, world, UNTIL) as opened:
        yield opened


def test_adjusted_returns_are_the_quoted_changes(services: Services) -> None:
    codes = (SPLIT, MERGED, SUSPENDED)
    days = services.run.calendar.between(SINCE, UNTIL)
    services.fuse("name_history", *days, codes=codes)
    services.fuse("exright", *days, codes=codes)
    services.fuse("kline_daily", *days, codes=codes)

    bars = services.warehouse.frame("fusion_kline_daily").sort_values(["code", "date"])
    for code, at, ratio in ((SPLIT, "2026-09-16", 5.0), (MERGED, "2026-09-17", 0.5)):
        own = bars[bars["code"] == code].set_index("date")
        before, on = own[own.index < at].iloc[-1], own.loc[at]
        assert on["last_close"] == pytest.approx(before["close"] / ratio, abs=0.00051)
        assert on["adj_factor"] / before["adj_factor"] == pytest.approx(ratio, rel=2e-3)
        assert abs(on["change_pct"]) < 10.01
        assert on["limit_status"] == "none"
    for _, own in bars.groupby("code"):
        close, factor = own["close"].to_numpy(dtype=float), own["adj_factor"].to_numpy(dtype=float)
        quoted = close[1:] / own["last_close"].to_numpy(dtype=float)[1:]
        assert (close[1:] * factor[1:]) / (close[:-1] * factor[:-1]) == pytest.approx(quoted, rel=1e-9)
    events = services.warehouse.rows(
        "ref_exright", ANY.code == SUSPENDED, ANY.category == 1, ANY.date > SINCE
    )
    assert len(events) == 3
