"""The files of a replay: columns of a set of real daily bars as integer arrays by symbol.

Names, columns and units are those of the set (`bars_daily_raw_hs300_2020_2025.csv.gz` and the lists
beside it); a slice of it under the same names is read alike.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resources.errors import NotFound
from resources.simulated_market.world.model import PRICE_UNIT

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

BARS = "bars_daily_raw_hs300_2020_2025.csv.gz"
INDICES = "index_daily_tushare_2005_2026.csv.gz"
LIST = "stock_list_em_2024.csv.gz"
BASIC = "stock_basic_2026-03-04.csv"
CALENDAR = "trade_dates_1990_2026.csv"
NAMES = "name_changes_until_2022.csv.gz"


@dataclass(frozen=True)
class Columns:
    """One symbol, oldest first. Prices 1e-4 CNY, volume and float shares in shares (0 = unknown)."""

    date: Ints
    open: Ints
    high: Ints
    low: Ints
    close: Ints
    preclose: Ints
    volume: Ints
    amount: Floats
    traded: Bools
    st: Bools
    turnover_pct: Floats
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


def _read(folder: Path, name: str, **options: Any) -> "pd.DataFrame":
    import pandas as pd

    path = folder / name
    if not path.exists():
        raise NotFound(f"the replay set in {folder} has no file {name}")
    return pd.read_csv(path, **options)


def _day(column: "pd.Series[Any]") -> Ints:
    text = column.to_numpy().astype("datetime64[D]").astype(str)
    return np.char.replace(text, "-", "").astype(np.int64)


def _price(column: "pd.Series[Any]") -> Ints:
    units: Ints = np.rint(column.to_numpy(dtype=np.float64) * PRICE_UNIT).astype(np.int64)
    return units


def stock_bars(folder: Path) -> dict[str, Columns]:
    frame = _read(folder, BARS).sort_values(["code", "date"], kind="stable")
    volume = np.rint(frame["volume"].fillna(0).to_numpy(dtype=np.float64)).astype(np.int64)
    turnover = frame["turn"].to_numpy(dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = volume / turnover * 100
    whole = Columns(
        date=_day(frame["date"]),
        open=_price(frame["open"]),
        high=_price(frame["high"]),
        low=_price(frame["low"]),
        close=_price(frame["close"]),
        preclose=_price(frame["preclose"]),
        volume=volume,
        amount=np.round(frame["amount"].fillna(0).to_numpy(dtype=np.float64), 2),
        traded=frame["tradestatus"].to_numpy() == 1,
        st=frame["isST"].to_numpy() == 1,
        turnover_pct=turnover,
        float_shares=np.rint(np.where(np.isfinite(shares), shares, 0)).astype(np.int64),
        pe=frame["peTTM"].to_numpy(dtype=np.float64),
        pb=frame["pbMRQ"].to_numpy(dtype=np.float64),
        ps=frame["psTTM"].to_numpy(dtype=np.float64),
    )
    return _by_code(frame["code"], whole)


def index_bars(folder: Path) -> dict[str, Columns]:
    frame = _read(folder, INDICES).sort_values(["code", "date"], kind="stable")
    missing = np.full(len(frame), np.nan)
    whole = Columns(
        date=_day(frame["date"]),
        open=_price(frame["open"]),
        high=_price(frame["high"]),
        low=_price(frame["low"]),
        close=_price(frame["close"]),
        preclose=_price(frame["pre_close"]),
        volume=np.rint(frame["volume_lots"].to_numpy(dtype=np.float64) * 100).astype(np.int64),
        amount=np.round(frame["amount_k"].to_numpy(dtype=np.float64) * 1000, 2),
        traded=np.ones(len(frame), dtype=bool),
        st=np.zeros(len(frame), dtype=bool),
        turnover_pct=missing,
        float_shares=np.zeros(len(frame), dtype=np.int64),
        pe=missing,
        pb=missing,
        ps=missing,
    )
    return _by_code(frame["code"], whole)


def _by_code(codes: "pd.Series[Any]", whole: Columns) -> dict[str, Columns]:
    names, starts = np.unique(codes.to_numpy().astype(str), return_index=True)
    ends = [*starts[1:].tolist(), len(codes)]
    return {
        str(name): Columns(**{key: column[start:end] for key, column in vars(whole).items()})
        for name, start, end in zip(names, starts.tolist(), ends, strict=True)
    }


def masters(folder: Path) -> dict[str, Master]:
    """By symbol: name, list date and region of `stock_basic`, industry and shares of the 2024 list."""
    basic = _read(folder, BASIC, dtype=str, keep_default_na=False)
    listed = _read(folder, LIST, dtype={"code": str, "name": str, "em_industry": str}).set_index("code")
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
    """By symbol: (first date of the next name, old name), ascending. The set ends on 2022-04-28."""
    frame = _read(folder, NAMES, dtype=str, keep_default_na=False).sort_values("renamed_on", kind="stable")
    found: dict[str, list[tuple[int, str]]] = {}
    for row in frame.itertuples(index=False):
        found.setdefault(f"{row.market}{row.code}", []).append((int(str(row.renamed_on)), str(row.old_name)))
    return found


def trade_dates(folder: Path) -> Ints:
    return np.sort(_day(_read(folder, CALENDAR)["trade_date"]))
