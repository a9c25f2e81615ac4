"""First days of stocks that are listed again after their listing had been suspended: they have no limits."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.declaration.scope import Context

AWAY = 60
"""Trade dates without a trade before; a suspended listing took half a year at least."""
_HALF_TICK = 0.005
_STOCK = "stock"
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def listed_again(rows: pd.DataFrame, up: Floats, down: Floats, context: Context) -> Bools:
    """True for rows of such a day. No source marks them, and a long suspension for another reason ends with
    the ordinary limits (`up`, `down`), so it takes both: no trade for `AWAY` dates, and a price beyond them.
    Where the bars of so long ago are not stored the row is not one, and the close is marked as beyond
    them."""
    high, low = rows["high"].to_numpy(dtype=float), rows["low"].to_numpy(dtype=float)
    stocks = (rows["sec_type"] == _STOCK) & ~rows["is_suspended"].astype(bool)
    beyond: Bools = stocks.to_numpy(dtype=bool) & ((high > up + _HALF_TICK) | (low < down - _HALF_TICK))
    places = np.flatnonzero(beyond)
    if not len(places):
        return beyond
    codes = sorted(set(rows["code"].iloc[places]))
    starts = {day: context.calendar.offset(day, -AWAY) for day in set(rows["date"].iloc[places])}
    stored = context.read(
        "fusion_kline_daily", columns=("code", "date", "volume"), codes=codes, since=min(starts.values())
    )
    columns = ["code", "date", "volume"]
    bars = pd.concat([stored[columns], rows.loc[rows["code"].isin(codes), columns]], ignore_index=True)
    traded = bars[bars["volume"].fillna(0) > 0]
    master = context.read("fusion_stock_master", columns=("code", "list_date"))
    listed = dict(zip(master["code"], master["list_date"], strict=True))
    found = np.zeros(len(rows), dtype=bool)
    for place in places:
        code, day = rows["code"].iloc[place], rows["date"].iloc[place]
        since = starts[day]
        old = bool(listed.get(code)) and str(listed[code]) < since
        away = traded[(traded["code"] == code) & (traded["date"] >= since) & (traded["date"] < day)].empty
        found[place] = old and away and _is_loaded(since, rows, context)
    return found


def _is_loaded(day: str, rows: pd.DataFrame, context: Context) -> bool:
    """Whether the market's bars of a date are known."""
    if (rows["date"] == day).any():
        return True
    return not context.read("fusion_kline_daily", columns=("date",), since=day, until=day).empty
