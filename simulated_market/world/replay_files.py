"""The files of a replay: columns of a set of real daily bars as integer arrays by symbol.

Columns and units are those of the set (`bars_daily_raw_hs300_2020_2025.csv.gz` and the lists next to it).
Another set names its files alike up to the part for its codes and dates: `bars_daily_raw_*.csv`, with or
without `.gz`. The bars alone are needed, and of their columns only those of `NEEDED`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.arrays import Bools, Floats, Ints
from core.calendar import published_dates
from core.errors import NotFound
from simulated_market.world.model import PRICE_UNIT, Bars

NEEDED = ("date", "code", "open", "high", "low", "close", "preclose", "volume", "amount")
BARS = "bars_daily_raw_hs300_2020_2025.csv.gz"
INDICES = "index_daily_tushare_2005_2026.csv.gz"
LIST = "stock_list_em_2024.csv.gz"
BASIC = "stock_basic_2026-03-04.csv"
CALENDAR = "trade_dates_1990_2026.csv"
NAMES = "name_changes_until_2022.csv.gz"
OPTIONAL = (INDICES, LIST, BASIC, CALENDAR, NAMES)
_PREFIXES = {
    BARS: "bars_daily_raw_",
    INDICES: "index_daily_tushare_",
    LIST: "stock_list_em_",
    BASIC: "stock_basic_",
    CALENDAR: "trade_dates_",
    NAMES: "name_changes_",
}


@dataclass(frozen=True)
class Columns(Bars):
    """One symbol, oldest first: its bars, and more that follows by date. Float shares 0 = unknown."""

    st: Bools
    float_shares: Ints
    pe: Floats
    pb: Floats
    ps: Floats


@dataclass(frozen=True)
class Master:
    name: str
    list_date: int
    industry: str
    region: str
    total_shares: int


def locate(folder: Path, name: str) -> Path | None:
    """The file of this kind in `folder`: the one of the name, else the only one that begins as it does.

    None where there is none. NotFound for several, since the choice would be arbitrary.
    """
    if (folder / name).exists():
        return folder / name
    found = sorted(
        path
        for path in folder.glob(f"{_PREFIXES[name]}*")
        if path.name.endswith((".csv", ".csv.gz")) and path.is_file()
    )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise NotFound(f"the replay set in {folder} has several files for {name}: {names}")
    return found[0] if found else None


def _read(folder: Path, name: str, **options: Any) -> pd.DataFrame | None:
    """None for an optional file that is not there."""
    path = locate(folder, name)
    if path is not None:
        return pd.read_csv(path, **options)
    if name in OPTIONAL:
        return None
    raise NotFound(f"the replay set in {folder} has no file {name} (or another {_PREFIXES[name]}*)")


def _day(column: pd.Series) -> Ints:
    text = column.to_numpy().astype("datetime64[D]").astype(str)
    return np.char.replace(text, "-", "").astype(np.int64)


def _price(column: pd.Series) -> Ints:
    units: Ints = np.rint(column.to_numpy(dtype=np.float64) * PRICE_UNIT).astype(np.int64)
    return units


def _prices(frame: pd.DataFrame, before: str) -> dict[str, Any]:
    """The prices of bars; `before` is the column of the reference price."""
    columns = {name: name for name in ("open", "high", "low", "close")} | {"preclose": before}
    return {name: _price(frame[column]) for name, column in columns.items()}


def _no_counts(size: int) -> dict[str, Any]:
    return {name: np.zeros(size, dtype=np.int64) for name in ("up_count", "down_count")}


def _of_index(size: int) -> dict[str, Any]:
    """The columns that no index has."""
    return {
        "st": np.zeros(size, dtype=bool),
        "float_shares": np.zeros(size, dtype=np.int64),
        **{name: np.full(size, np.nan) for name in ("turnover_pct", "pe", "pb", "ps")},
        **_no_counts(size),
    }


def stock_bars(folder: Path) -> dict[str, Columns]:
    frame = _read(folder, BARS)
    if frame is None:
        return {}
    missing = [name for name in NEEDED if name not in frame]
    if missing:
        raise NotFound(f"the bars of the replay set in {folder} have no column {', '.join(missing)}")
    frame = frame.sort_values(["code", "date"], kind="stable")
    volume = np.rint(frame["volume"].fillna(0).to_numpy(dtype=np.float64)).astype(np.int64)
    turnover = _optional(frame, "turn", np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = volume / turnover * 100
    whole = Columns(
        date=_day(frame["date"]),
        **_prices(frame, "preclose"),
        volume=volume,
        amount=np.round(frame["amount"].fillna(0).to_numpy(dtype=np.float64), 2),
        traded=frame["tradestatus"].to_numpy() == 1 if "tradestatus" in frame else volume > 0,
        st=_optional(frame, "isST", 0) == 1,
        turnover_pct=turnover,
        **_no_counts(len(frame)),
        float_shares=np.rint(np.where(np.isfinite(shares), shares, 0)).astype(np.int64),
        pe=_optional(frame, "peTTM", np.nan),
        pb=_optional(frame, "pbMRQ", np.nan),
        ps=_optional(frame, "psTTM", np.nan),
    )
    return _by_code(frame["code"], whole)


def _optional(frame: pd.DataFrame, name: str, otherwise: float) -> Floats:
    """A column, or the same value everywhere where the set has no such column."""
    if name not in frame:
        return np.full(len(frame), otherwise, dtype=np.float64)
    values: Floats = frame[name].to_numpy(dtype=np.float64)
    return values


def index_bars(folder: Path) -> dict[str, Columns]:
    frame = _read(folder, INDICES)
    if frame is None:
        return {}
    frame = frame.sort_values(["code", "date"], kind="stable")
    whole = Columns(
        date=_day(frame["date"]),
        **_prices(frame, "pre_close"),
        volume=np.rint(frame["volume_lots"].to_numpy(dtype=np.float64) * 100).astype(np.int64),
        amount=np.round(frame["amount_k"].to_numpy(dtype=np.float64) * 1000, 2),
        traded=np.ones(len(frame), dtype=bool),
        **_of_index(len(frame)),
    )
    return _by_code(frame["code"], whole)


def mean_indices(stocks: Mapping[str, Columns], symbols: Sequence[str]) -> dict[str, Columns]:
    """Indices of a set that has no file of them: the mean change of its own stocks, 1000 at its first date.

    The market's sources answer nothing at all without one. Volume and amount are those of the stocks.
    """
    dates = np.unique(np.concatenate([one.date for one in stocks.values()]))
    change = {name: np.zeros(len(dates)) for name in ("open", "high", "low", "close")}
    count, volume, amount = np.zeros(len(dates)), np.zeros(len(dates)), np.zeros(len(dates))
    for one in stocks.values():
        rows = np.searchsorted(dates, one.date[one.traded])
        before = np.maximum(one.preclose[one.traded], 1)
        for name, sums in change.items():
            sums[rows] += getattr(one, name)[one.traded] / before - 1
        count[rows] += 1
        volume[rows] += one.volume[one.traded]
        amount[rows] += one.amount[one.traded]
    means = {name: sums / np.maximum(count, 1) for name, sums in change.items()}
    level = 1000 * np.cumprod(1 + means["close"])
    before = np.concatenate([[1000.0], level[:-1]])
    prices: dict[str, Any] = {
        name: np.rint(before * (1 + mean) * 100).astype(np.int64) for name, mean in means.items()
    }
    whole = Columns(
        date=dates,
        **{name: price * (PRICE_UNIT // 100) for name, price in prices.items()},
        preclose=np.rint(before * 100).astype(np.int64) * (PRICE_UNIT // 100),
        volume=np.rint(volume / 100).astype(np.int64) * 100,
        amount=np.round(amount, 2),
        traded=count > 0,
        **_of_index(len(dates)),
    )
    return dict.fromkeys(symbols, whole)


def _by_code(codes: pd.Series, whole: Columns) -> dict[str, Columns]:
    names, starts = np.unique(codes.to_numpy().astype(str), return_index=True)
    ends = [*starts[1:].tolist(), len(codes)]
    return {
        str(name): Columns(**{key: column[start:end] for key, column in vars(whole).items()})
        for name, start, end in zip(names, starts.tolist(), ends, strict=True)
    }


def masters(folder: Path) -> dict[str, Master]:
    """By symbol: name, list date and region of `stock_basic`, industry and shares of the 2024 list; empty
    where the set has no `stock_basic`."""
    basic = _read(folder, BASIC, dtype=str, keep_default_na=False)
    if basic is None:
        return {}
    listed = _read(folder, LIST, dtype={"code": str, "name": str, "em_industry": str})
    industry: dict[str, str] = {}
    total: dict[str, float] = {}
    if listed is not None:
        listed = listed.set_index("code")
        industry = listed["em_industry"].fillna("").to_dict()
        total = listed["total_shares"].fillna(0).to_dict()
    made = {}
    for row in basic.to_dict("records"):
        code, market = str(row["ts_code"]).split(".")
        made[market.lower() + code] = Master(
            name=str(row["name"]),
            list_date=int(row["list_date"] or 0),
            industry=str(industry.get(code) or row["industry"]),
            region=str(row["area"]),
            total_shares=int(total.get(code) or 0),
        )
    return made


def former_names(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """By symbol: (first date of the next name, old name), ascending. The known set ends on 2022-04-28."""
    frame = _read(folder, NAMES, dtype=str, keep_default_na=False)
    found: dict[str, list[tuple[int, str]]] = {}
    if frame is None:
        return found
    for row in frame.sort_values("renamed_on", kind="stable").itertuples(index=False):
        found.setdefault(f"{row.market}{row.code}", []).append((int(str(row.renamed_on)), str(row.old_name)))
    return found


def trade_dates(folder: Path) -> Ints:
    """Of the set's calendar, else of the shipped one."""
    frame = _read(folder, CALENDAR)
    if frame is not None:
        return np.sort(_day(frame["trade_date"]))
    return np.sort(np.asarray([int(day.replace("-", "")) for day in published_dates()], dtype=np.int64))
