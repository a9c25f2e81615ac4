"""Soft checks of daily bars. True = fine."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.days import moved
from core.declaration.scope import Context
from core.market.securities import tick_of_code

FEW = 20
"""So many codes are never the market as a whole."""
MOST_EX = 0.2
"""Share of the market that may have an ex-right on one date."""
MOST_BREAKS = 0.2
"""Share of the market whose previous close may differ from the stored close."""
TURNOVER_DAYS = 20
LEAST_TURNOVER, MOST_TURNOVER = 0.4, 12.0
"""Of a session, against the median of the days before it."""
_HALF_FEN = 0.0051


def crowded_dates(events: pd.DataFrame, market: int) -> set[str]:
    """Dates with an ex-right of too many codes. `events`: code, date of category 1; `market`: how many codes
    there are."""
    counts = events.drop_duplicates(["code", "date"]).groupby("date").size()
    return {str(day) for day in counts.index[(counts >= FEW) & (counts > MOST_EX * market)]}


def unusual_turnover(amounts: pd.Series, known: pd.Series) -> dict[str, float]:
    """Date -> its turnover / the median of the 20 dates before it, where that cannot be. `amounts` of the
    dates to check, `known` of dates before them, both by date in CNY."""
    sums = pd.concat([known, amounts]).sort_index()
    median = sums.rolling(TURNOVER_DAYS, min_periods=TURNOVER_DAYS).median().shift()
    ratio = (sums / median).reindex(amounts.index)
    odd = ratio[(ratio < LEAST_TURNOVER) | (ratio > MOST_TURNOVER)]
    return {str(day): float(value) for day, value in odd.items()}


def contradicted(close: npt.NDArray[np.float64], following: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Closes that the next session's previous closes contradict, where that is so of too many of them; NaN
    where there is nothing to compare (an ex-right, no bar)."""
    with np.errstate(invalid="ignore"):
        breaks: npt.NDArray[np.bool_] = np.abs(close - following) >= _HALF_FEN
    compared = int(np.isfinite(close - following).sum())
    if breaks.sum() < FEW or breaks.sum() <= MOST_BREAKS * compared:
        return np.zeros(len(breaks), dtype=bool)
    return breaks


_BARS = "fusion_kline_daily"
_SAME_MARKET = 0.8
"""Of the stocks of a date so many must be stored on another one, or their turnovers are not compared."""


def amount_fits_prices(rows: pd.DataFrame, context: Context) -> pd.Series:
    traded = rows["volume"] > 0
    mean = rows["amount"] / rows["volume"].where(traded)
    return ~traded | rows["amount"].isna() | mean.between(rows["low"] * 0.98, rows["high"] * 1.02)


def traded_has_amount(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["volume"] > 0) & ~(rows["amount"] > 0))


def reference_is_previous_close(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The reference price equals the stored previous close unless the date is an ex-date."""
    previous = context.calendar.last(2, context.scope.since)[0]
    stored = context.read(
        "fusion_kline_daily", columns=("code", "date", "close"), since=previous, until=context.scope.until
    )
    known = pd.concat([stored, rows[["code", "date", "close"]]], ignore_index=True)
    known = _last_of_key(known)
    known["before"] = known["close"].shift().where(known["code"] == known["code"].shift())
    before = _values(known, "before", rows["code"], rows["date"])
    ex = _among(rows["code"], rows["date"], _counted_events(context))
    at, known_pairs = pd.factorize(rows["market"].astype(str) + rows["code"].astype(str))
    ticks = np.array([tick_of_code(pair[2:], pair[:2]) for pair in known_pairs])[at]
    with np.errstate(invalid="ignore"):
        same = np.abs(rows["last_close"].to_numpy(dtype=float, na_value=np.nan) - before) < ticks * 0.51
    return pd.Series(ex | np.isnan(before) | same, index=rows.index)


def reference_is_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The reference price is known: a listing day without an issue price has none, and no change."""
    return rows["last_close"].notna()


def limits_are_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No limit and no status is given where the reference price or special treatment is not known."""
    return rows["limit_status"].notna()


def turnover_is_usual(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The turnover of all stocks on a date is near the median of the 20 dates before it."""
    fine = pd.Series(True, index=rows.index)
    if context.scope.codes is not None or rows.empty:
        return fine
    since = context.calendar.last(TURNOVER_DAYS + 1, context.scope.since)[0]
    before = moved(context.scope.since, -1)
    columns = ("code", "date", "sec_type", "amount")
    stored = context.read(_BARS, columns=columns, since=since, until=before)
    reported = _turnovers(rows, 0)
    known = _turnovers(stored, int(_SAME_MARKET * len(set(rows.loc[rows["sec_type"] == "stock", "code"]))))
    return ~rows["date"].isin(list(unusual_turnover(reported, known)))


def _turnovers(rows: pd.DataFrame, least: int) -> pd.Series:
    """Sums by date of the stocks, of dates with at least so many."""
    by_date = rows[(rows["sec_type"] == "stock") & rows["amount"].notna()].groupby("date")["amount"]
    sums = by_date.sum().astype(float)
    return sums[by_date.size() >= max(least, 1)]


def close_is_next_reference(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The close is the previous close of the next trade date, where that is known and no ex-right lies
    between; only where too much of the market fails. Then the date was saved before its end."""
    following = {
        str(day): context.calendar.offset(day, 1) for day in rows["date"].unique() if day < context.today
    }
    if not following:
        return pd.Series(True, index=rows.index)
    stored = context.read(
        _BARS,
        columns=("code", "date", "last_close"),
        since=context.scope.since,
        until=min(max(following.values()), context.today),
    )
    reported = pd.concat([stored, rows[["code", "date", "last_close"]]], ignore_index=True)
    at, days = pd.factorize(rows["date"])
    nexts = pd.Series(np.array([following.get(day) for day in days], dtype=object)[at], index=rows.index)
    joined = rows[["code", "date", "close"]].assign(
        following=_values(_last_of_key(reported), "last_close", rows["code"], nexts)
    )
    joined["following"] = joined["following"].mask(_among(rows["code"], nexts, _counted_events(context)))
    return pd.Series(~_breaks(joined, "close", "following"), index=rows.index)


def _last_of_key(rows: pd.DataFrame) -> pd.DataFrame:
    """The last row of each code and date, by code and date."""
    codes, days = pd.factorize(rows["code"], sort=True)[0], pd.factorize(rows["date"], sort=True)[0]
    order = np.lexsort((np.arange(len(rows)), days, codes))
    codes, days = codes[order], days[order]
    last = np.ones(len(rows), dtype=bool)
    last[:-1] = (codes[1:] != codes[:-1]) | (days[1:] != days[:-1])
    return rows.iloc[order[last]].reset_index(drop=True)


def _values(known: pd.DataFrame, column: str, codes: pd.Series, days: pd.Series) -> npt.NDArray[np.float64]:
    """The value of a column for each pair of code and day, NaN where it has none. `known` has one row of a
    pair."""
    every_code, _ = pd.factorize(pd.concat([known["code"], codes], ignore_index=True))
    every_day, _ = pd.factorize(pd.concat([known["date"], days], ignore_index=True))
    keys = every_code.astype(np.int64) * (len(every_day) + 1) + every_day
    own, asked = keys[: len(known)], keys[len(known) :]
    found = np.full(len(asked), np.nan)
    if not len(own):
        return found
    order = np.argsort(own, kind="stable")
    at = order[np.minimum(np.searchsorted(own, asked, sorter=order), len(own) - 1)]
    there = (own[at] == asked) & (every_day[len(known) :] >= 0)
    found[there] = known[column].to_numpy(dtype=float, na_value=np.nan)[at[there]]
    return found


def closes_before_are_references(rows: pd.DataFrame, context: Context) -> str | None:
    """The previous closes are the closes that are stored of the trade date before. Of a range those are not
    stored yet."""
    if rows.empty or context.scope.is_range:
        return None
    day = str(rows["date"].iloc[0])
    before = context.calendar.last(2, day)[0]
    if before == day:
        return None  # the first session of the exchange
    stored = context.read(_BARS, columns=("code", "close"), since=before, until=before)
    joined = rows[["code", "date", "last_close"]].merge(stored, on="code", how="inner")
    events = _counted_events(context)
    joined = joined[np.array([(code, day) not in events for code in joined["code"]], dtype=bool)]
    wrong = int(_breaks(joined, "close", "last_close").sum())
    if not wrong:
        return None
    return f"{wrong} of {len(joined)} closes of {before} are not the next previous closes: held back"


def _counted_events(context: Context) -> set[tuple[str, str]]:
    """(code, date) of the stored ex-rights that count, from the first date of the scope on."""
    events = context.read("ref_exright", columns=("code", "date", "held_back"), since=context.scope.since)
    events = events[events["held_back"].isna()]
    return set(zip(events["code"], events["date"], strict=True))


def _among(codes: pd.Series, days: pd.Series, pairs: set[tuple[str, str]]) -> npt.NDArray[np.bool_]:
    """Which rows are one of some pairs of code and day."""
    found: npt.NDArray[np.bool_] = (codes + days).isin([code + day for code, day in pairs]).to_numpy()
    return found


def _breaks(rows: pd.DataFrame, close: str, reference: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Date by date, which closes are contradicted."""
    wrong = np.zeros(len(rows), dtype=bool)
    closes = rows[close].to_numpy(dtype=float, na_value=np.nan)
    references = rows[reference].to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        breaks = np.abs(closes - references) >= _HALF_FEN
    at, days = pd.factorize(rows["date"])
    for day in np.flatnonzero(np.bincount(at[breaks], minlength=len(days)) >= FEW):
        places = np.flatnonzero(at == day)
        wrong[places] = contradicted(closes[places], references[places])
    return wrong
