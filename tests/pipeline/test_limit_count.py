"""Counts of limits from bars and from the pools: which is which, and where they differ."""

from typing import Any

import numpy as np
import pandas as pd

from core.calendar import shipped_calendar
from core.declaration.scope import Scope
from platform_assets.datasets.limit_count import counted
from resources.warehouse.panel import Panel

DAY = "2026-08-21"
SPECIAL = "ST中珠"


class Stored:
    """A fetch context whose `bars` are (code, close, high) with a limit-up of 11 and a limit-down of 9."""

    calendar = shipped_calendar()

    def __init__(
        self, bars: list[tuple[str, float, float]], pools: list[tuple[str, str, str, int | None]]
    ) -> None:
        self.bars, self.pools = bars, pools

    def panel(self, table: str, *, columns: Any, since: str, until: str, conditions: Any) -> Panel:
        if not self.bars:
            return Panel((), (), {name: np.zeros((0, 0)) for name in columns})
        codes, closes, highs = zip(*self.bars, strict=True)
        reported = {"close": closes, "high": highs, "limit_up": 11.0, "limit_down": 9.0, "volume": 100.0}
        values = {
            name: np.broadcast_to(np.reshape(reported.get(name, 9.5), (-1, 1)), (len(codes), 1)).astype(float)
            for name in columns
        }
        return Panel(codes, (DAY,), values)

    def read(self, table: str, *, columns: Any, since: str = "", until: str = "") -> pd.DataFrame:
        if table == "ref_name_history":
            return pd.DataFrame({name: pd.Series(dtype=object) for name in columns})
        rows = [
            {
                "trade_date": DAY,
                "pool": pool,
                "code": code,
                "name": name,
                "change_pct": 0.0,
                "limit_days": days,
            }
            for pool, code, name, days in self.pools
        ]
        return pd.DataFrame(rows, columns=list(columns))


def row(stored: Stored) -> dict[str, Any]:
    (found,) = counted(stored, Scope((DAY,))).to_dict("records")
    return found


def test_the_longest_streak_of_the_pools_leaves_special_treatment_out() -> None:
    pools = [
        ("up", "600568", SPECIAL, 9),
        ("up", "600519", "贵州茅台", 3),
        ("broken", "000001", "平安银行", None),
    ]

    found = row(Stored([], pools))

    assert (found["up_official"], found["broken_official"], found["max_limit_days"]) == (2, 1, 3)
    assert row(Stored([], pools[:1]))["max_limit_days"] == 0


def test_a_difference_names_the_codes_of_every_pool() -> None:
    bars = [("600519", 11.0, 11.0), ("000001", 10.5, 11.0), ("000002", 10.0, 10.0)]

    found = row(Stored(bars, [("up", "600519", "贵州茅台", 1), ("broken", "000002", "万科A", None)]))

    assert (found["broken_recomputed"], found["broken_official"]) == (1, 1)
    assert found["diff_note"] == "broken: bars alone 1 (000001); broken: pool alone 1 (000002)"
    same = [("up", "600519", "贵州茅台", 1), ("broken", "000001", "平安银行", None)]
    assert row(Stored(bars, same))["diff_note"] is None
