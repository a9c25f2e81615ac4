"""The real side: panels, indices, ratios, credit and limit pools from the files of the full set."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tests.real_day.market.panel import Floats, Panel, read, real_panel

RAW = "bars_daily_raw_hs300_2020_2025.csv.gz"
YEAR_2024 = "bars_daily_qfq_all_2024h1.csv.gz"
SUMMER_2026 = "bars_daily_qfq_mainboard_2026q2q3.csv.gz"
INDEX = "index_daily_tushare_2005_2026.csv.gz"
POOL = "limit_up_pool_2025-06_2026-06.csv.gz"
CREDIT = "margin_market_daily_2012_2026.csv"
LIST = "stock_list_em_2024.csv.gz"
NEEDED = (RAW, YEAR_2024, SUMMER_2026, INDEX, POOL, CREDIT, LIST)
SINCE = 2021
"""First year of the indices that is compared."""

INDUSTRIES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "银行": (("银行",), "banks"),
    "证券": (("证券",), "brokers"),
    "白酒": (("酿酒行业",), "liquor"),
    "半导体": (("半导体",), "semiconductors"),
    "电力": (("电力行业",), "power"),
    "化学制药": (("化学制药",), "pharma"),
    "有色金属": (("有色金属", "小金属", "贵金属", "能源金属"), "metals"),
    "汽车": (("汽车整车", "汽车零部件"), "cars"),
    "房地产": (("房地产开发",), "property"),
    "计算机": (("软件开发", "互联网服务", "计算机设备"), "software"),
    "电力设备": (("电池", "光伏设备", "电网设备", "风电设备"), "new energy"),
    "煤炭": (("煤炭行业",), "coal"),
}
"""An industry of the sample (of either level) -> the classes of the real list, and a short word for plots."""


@dataclass(frozen=True)
class Real:
    """`panels`: broad ones first; `parts`: the same, the members of an index by year.

    `levels`: closes of the indices by code and year. `ratios`: pe and pb of each industry's stocks, ends
    of years, above 0 alone. `credit_share`: margin balance / float cap. `pool`: touched limits a day of 5,500
    stocks. `streaks`: longest limit-up streaks of the days for which the file has them.
    """

    panels: list[Panel]
    parts: list[Panel]
    levels: dict[str, dict[int, Floats]]
    ratios: dict[str, dict[str, Floats]]
    credit_share: float
    pool: Floats
    streaks: Floats


def missing(folder: Path) -> list[str]:
    return [name for name in NEEDED if not (folder / name).exists()]


def load(folder: Path) -> Real:
    listed = read(folder / LIST, dtype={"code": str})
    raw = read(folder / RAW)
    broad, members = [_first_half_of_2024(folder, listed), _summer_of_2026(folder)], _members(raw)
    return Real(
        panels=[*broad, members],
        parts=[*broad, *members.years()],
        levels=_levels(folder),
        ratios=_ratios(raw, listed),
        credit_share=_credit(folder, listed),
        **_pools(folder),
    )


def _first_half_of_2024(folder: Path, listed: pd.DataFrame) -> Panel:
    frame = read(folder / YEAR_2024, dtype={"code": str})
    frame["turnover"] = frame["turnover_pct"] / 100
    special = set(listed.loc[listed["name"].astype(str).str.contains("ST|退"), "code"])
    frame["st"] = frame["code"].isin(special).astype(float)
    return real_panel("2024 H1, 3,769 codes", frame)


def _summer_of_2026(folder: Path) -> Panel:
    frame = read(folder / SUMMER_2026, dtype={"code": str})
    return real_panel("2026 Q2-Q3, 3,177 codes", frame[frame["date"] >= "2026-05-22"])


def _members(raw: pd.DataFrame) -> Panel:
    frame = raw[raw["tradestatus"] == 1].rename(columns={"preclose": "reference", "isST": "st"})
    frame = frame.assign(turnover=frame["turn"] / 100)
    return real_panel("CSI 300 members, 2020 to 2025", frame, broad=False)


def _levels(folder: Path) -> dict[str, dict[int, Floats]]:
    frame = read(folder / INDEX)
    frame["year"] = frame["date"].str[:4].astype(int)
    found: dict[str, dict[int, Floats]] = {}
    for (code, year), rows in frame[frame["year"] >= SINCE].sort_values("date").groupby(["code", "year"]):
        if len(rows) > 100:
            closes = rows["close"].to_numpy(dtype=float)
            found.setdefault(str(code)[2:], {})[int(year)] = np.concatenate(
                [[float(rows["pre_close"].iloc[0])], closes]
            )
    return found


def _ratios(raw: pd.DataFrame, listed: pd.DataFrame) -> dict[str, dict[str, Floats]]:
    """Of the last session of each year in the file."""
    last = raw[raw["date"].isin(raw.groupby(raw["date"].str[:4])["date"].max())]
    of = dict(zip(listed["code"], listed["em_industry"], strict=True))
    classes = last["code"].str[2:].map(of)
    found = {}
    for name, (theirs, _) in INDUSTRIES.items():
        rows = last[classes.isin(theirs)]
        found[name] = {
            "pe": rows.loc[rows["peTTM"] > 0, "peTTM"].to_numpy(dtype=float),
            "pb": rows.loc[rows["pbMRQ"] > 0, "pbMRQ"].to_numpy(dtype=float),
        }
    return found


def _credit(folder: Path, listed: pd.DataFrame) -> float:
    """Balance of the whole market on the day of the list against the float of the list."""
    totals = read(folder / CREDIT)
    balance = float(totals.loc[totals["date"] <= "2024-06-26", "fin_balance"].iloc[-1]) * 1e8
    return balance / float(listed["float_mcap"].sum())


def _pools(folder: Path) -> dict[str, Floats]:
    pool = read(folder / POOL, dtype={"code": str})
    touched = pool.groupby("date").size().to_numpy(dtype=float)
    streaks = pool.dropna(subset=["streak"]).groupby("date")["streak"].max().to_numpy(dtype=float)
    return {"pool": touched / 3_177 * 5_500, "streaks": streaks}
