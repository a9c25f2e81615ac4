"""fusion_kline_daily: unadjusted daily bars of every held security, with limits and our own factor.

Bypasses staging. The finished session of today comes from one quote batch; any other date from the
terminal's bars per code. Reference prices, limits and the cumulative factor are computed here, from
ex-right events and the dated market rules; never from an upstream's adjusted prices.
"""

from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from core.arrays import Bools, Floats
from core.declaration import rules
from core.declaration.columns import S4, S8, S16, Amt, Big, Bool, Code, Date, F, Model, Pct, Px, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import DAY, REQUIRED, REQUIRED_TEXTS, by_date, latest, timeseries
from core.declaration.scope import Context
from core.market.securities import UNSURE_FUND, limit_class
from core.price_identity import of_this_instrument
from platform_assets.compute.asof import value_on
from platform_assets.compute.bar_checks import (
    amount_fits_prices,
    close_is_next_reference,
    closes_before_are_references,
    limits_are_known,
    reference_is_known,
    reference_is_previous_close,
    traded_has_amount,
    turnover_is_usual,
)
from platform_assets.compute.day_limits import DayLimits, day_limits, limit_status, without_limit
from platform_assets.compute.name_spans import named
from platform_assets.compute.nan_arithmetic import floats
from platform_assets.datasets import _kline_sources as sources
from platform_assets.datasets._dated import listed_on
from platform_assets.datasets._float_shares import float_shares
from resources.upstreams.fetch_context import within_last

AWAY = 60
"""Trade dates without a trade before; a suspended listing took half a year at least."""
_HALF_TICK = 0.005
_STOCK = "stock"
_UNEXPLAINED, _DOUBTFUL = "beyond the limits", "shares in doubt"


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
    starts = {day: context.calendar.last(AWAY + 1, day)[0] for day in set(rows["date"].iloc[places])}
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


def close_within_limits(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No price is beyond the limits, but for a relisting: without a reason to have none, a wrong price or a
    reference that lacks an event is as likely."""
    return pd.Series(~rows.index.isin(context.notes.get(_UNEXPLAINED, [])), index=rows.index)


def shares_are_recorded(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No ex-right without its record lies between the newest record of the shares and the date."""
    return pd.Series(~rows.index.isin(context.notes.get(_DOUBTFUL, [])), index=rows.index)


class KlineDaily(Model):
    """One bar; a suspended day is a row without volume whose prices are the reference price."""

    code: Code = key("security code")
    date: Date = key("trade date")
    market: S4 = col(title="SH, SZ, BJ", nullable=False, isin=["SH", "SZ", "BJ", "HK", "US"])
    sec_type: S8 = col(title="stock, etf, lof, cb, reit", nullable=False)
    open: Px = col("CNY", "opening price", nullable=False, gt=0)
    high: Px = col("CNY", "highest price", nullable=False, gt=0)
    low: Px = col("CNY", "lowest price", nullable=False, gt=0)
    close: Px = col("CNY", "closing price", nullable=False, gt=0)
    last_close: Px = col("CNY", "ex-right reference price; on a listing day the issue price", gt=0)
    volume: Big = col("sh", "shares traded", nullable=False, ge=0)
    amount: Amt = col("CNY", "turnover", ge=0)
    change_pct: Pct = col("pct", "close against the reference price", computed=True)
    amplitude_pct: Pct = col("pct", "(high - low) / reference price", computed=True)
    turnover_pct: Pct = col("pct", "volume / float shares of the day", computed=True)
    limit_up: Px = col("CNY", "limit-up price; null on days without limit, or when it is not known")
    limit_down: Px = col("CNY", "limit-down price; null on days without limit, or when it is not known")
    limit_status: S16 = col(
        title="none, up, down, up_open (touched, not held), down_open, no_limit; null: limits are not known",
        computed=True,
    )
    is_suspended: Bool = col(title="no trade on the day", computed=True)
    adj_factor: F = col(title="cumulative backward factor, 1.0 at listing", computed=True, gt=0)

    @pa.dataframe_check
    def high_is_highest(cls, rows: pd.DataFrame) -> pd.Series:
        return ~(rows["high"] < rows[["open", "close", "low"]].max(axis=1))

    @pa.dataframe_check
    def low_is_lowest(cls, rows: pd.DataFrame) -> pd.Series:
        return ~(rows["low"] > rows[["open", "close", "high"]].min(axis=1))


# -- derivation -------------------------------------------------------------------------------------


def keep_reference(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills the reference price of a first bar, which has none, from what was stored of that day."""
    missing = rows[rows["last_close"].isna()]
    if len(missing):
        reported = sources.stored_references(
            context.read, tuple(missing["code"]), context.scope.since, context.scope.until
        )
        pairs = zip(missing["code"], missing["date"], strict=True)
        values = pd.Series([reported.get(pair) for pair in pairs], index=missing.index, dtype="float64")
        rows["last_close"] = rows["last_close"].fillna(values)
    return rows


def mark_suspended(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["is_suspended"] = rows["volume"].fillna(0) == 0
    return rows


def add_changes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    base = rows["last_close"]
    rows["change_pct"] = (rows["close"] / base - 1) * 100
    rows["amplitude_pct"] = (rows["high"] - rows["low"]) / base * 100
    return rows


def add_limits(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Limits from the dated rules where no source gave them; status from close, high and low. A price beyond
    the limits says that the day had none. Where a limit applies and is not known, so is the status."""
    spans = context.read("ref_name_history", columns=("code", "valid_from", "valid_to", "name", "is_st"))
    names = named(rows, spans)
    classes = _classes(rows, names.name)
    days = _listed_days(rows, context)

    def limits_without(unlimited: Any) -> DayLimits:
        reference = rows["last_close"].to_numpy(dtype=float, na_value=np.nan)
        day = rows["date"].to_numpy(dtype=str)
        return day_limits(reference, classes, names.special, day, listed_days=days, unlimited=unlimited)

    limits = limits_without(names.delisting_began)
    quoted = rows["limit_up"].notna().to_numpy()
    high, low = (floats(rows[name]) for name in ("high", "low"))
    up = floats(rows["limit_up"].fillna(pd.Series(limits.up, index=rows.index)))
    down = floats(rows["limit_down"].fillna(pd.Series(limits.down, index=rows.index)))
    free = without_limit(high, low, up, down) & ~rows["is_suspended"].to_numpy(dtype=bool)
    known = limits.known & (classes != UNSURE_FUND) | quoted
    rows["limit_up"] = pd.Series(np.where(free, np.nan, up), index=rows.index)
    rows["limit_down"] = pd.Series(np.where(free, np.nan, down), index=rows.index)
    again = listed_again(rows, up, down, context)
    context.notes[_UNEXPLAINED] = rows.index[free & ~again]
    status = limit_status(rows, price="close", traded=~rows["is_suspended"])
    rows["limit_status"] = pd.Series(status.astype(object), index=rows.index).where(known, None)
    return rows


def _classes(rows: pd.DataFrame, names: Any) -> Any:
    """Class of each row that decides its limits; for funds by their name on the date."""
    reported = [name if isinstance(name, str) else None for name in names]
    keys = list(zip(rows["code"], rows["market"], reported, strict=True))
    found = {key: limit_class(*key) for key in set(keys)}
    return np.array([found[key] for key in keys], dtype=str)


def _listed_days(rows: pd.DataFrame, context: Context) -> Any:
    """Trade dates since listing (1 = listing day); 0 when it is unknown or long ago. A code that the
    security master does not know yet is listed on the first date of these rows."""
    master = context.read("fusion_stock_master", columns=("code", "list_date"))
    listed = dict(zip(master["code"], master["list_date"], strict=True))
    if listed:
        firsts = rows.groupby("code")["date"].min()
        listed |= {code: day for code, day in firsts.items() if code not in listed}
    first_known = context.calendar.last(11, context.scope.since)[0]
    recent = {code: day for code, day in listed.items() if day and day >= first_known}
    days = np.zeros(len(rows), dtype=np.int64)
    for place in np.flatnonzero(rows["code"].isin(list(recent)).to_numpy()):
        code, day = rows["code"].iloc[place], rows["date"].iloc[place]
        days[place] = len(context.calendar.between(recent[code], day))
    return days


def add_turnover(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Turnover against the float shares in force on the date; none where they are in doubt."""
    shares, doubt = float_shares(context.read, rows, until=context.scope.until)
    context.notes[_DOUBTFUL] = rows.index[doubt]
    rows["turnover_pct"] = rows["volume"].to_numpy(dtype=float, na_value=np.nan) / shares * 100
    return rows


def add_factor(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Product of the factors of all events up to the bar's date, and of what they leave to the quotes."""
    events = context.read("ref_exright", columns=("code", "date", "factor"), until=context.scope.until)
    events = pd.concat([events, sources.left_to_quotes(context.read, None)], ignore_index=True)
    events = events[events["factor"].notna()].sort_values(["code", "date"]).reset_index(drop=True)
    events["running"] = events.groupby("code")["factor"].cumprod()
    rows["adj_factor"] = np.nan_to_num(value_on(rows, events, "running"), nan=1.0)
    return rows


def covers_the_list(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 95 % of the securities listed by then have a row."""
    master = context.read("fusion_stock_master", columns=("code", "list_date", "delist_date"))
    listed = set(master.loc[listed_on(master, str(rows["date"].max())), "code"])
    if not listed or context.scope.codes is not None:
        return None
    have = len(listed & set(rows["code"]))
    return None if have >= 0.95 * len(listed) else f"{have} of {len(listed)} listed securities have a bar"


DATASET = Dataset(
    name="kline_daily",
    importable=True,
    subject="prices",
    title="Daily bars",
    model=KlineDaily,
    adjusted=("adj_factor",),
    domain="kline",
    sources=(
        Source("tdx", sources.terminal, calls=sources.TERMINAL_CALLS),
        Source(
            "tdx_packages", sources.date_package, sources.is_past_date, sources.PACKAGE_CALLS, beside=False
        ),
        Source("tencent", sources.quote_site, sources.is_session, sources.SITE_QUOTE_CALLS),
        Source("tencent", sources.quote_site_bars, sources.is_recent_past, sources.EACH_CALLS, beside=False),
        Source("eastmoney", sources.portal, calls=sources.PORTAL_CALLS),
        Source("sina", sources.second_quote_site, within_last(1000), sources.SECOND_SITE_CALLS),
    ),
    fuse=rules.Rows(
        finer={"amount": sources.amount_rounding, "volume": sources.volume_rounding},
        finer_source="tencent",
        fills=("last_close",),
    ),
    contract=(rules.Contract(of_this_instrument, "previous close of another instrument"),),
    unchanged_within={"amount": sources.tolerated_amount, "volume": sources.tolerated_volume},
    derive=(keep_reference, mark_suspended, add_changes, add_limits, add_turnover, add_factor),
    soft=(
        rules.Soft(close_within_limits, "a price beyond the limits of a day that is not known to have none"),
        rules.Soft(amount_fits_prices, "amount / volume outside the day's prices"),
        rules.Soft(traded_has_amount, "volume without amount"),
        rules.Soft(reference_is_previous_close, "reference price differs from the stored previous close"),
        rules.Soft(reference_is_known, "no source has the reference price of a first day"),
        rules.Soft(limits_are_known, "the limits follow from a reference price or a name that is not known"),
        rules.Soft(
            shares_are_recorded, "an ex-right without its record: the float shares of the date are not known"
        ),
        rules.Soft(
            turnover_is_usual, "turnover of the market far from that of the 20 dates before", holds=True
        ),
        rules.Soft(close_is_next_reference, "the next day's previous close is another", holds=True),
    ),
    whole=(rules.Whole(covers_the_list), rules.Whole(closes_before_are_references)),
    reads=("ref_exright", "ref_exright_item", "ref_name_history", "fusion_stock_master"),
    undated={"fusion_stock_master": ("code", "list_date", "delist_date")},
    reads_own_past=True,
    public_at=rules.close_of("date"),
    freshness=rules.trading(1),
    tasks=("fusion_kline_sync", "eod_core"),
    interfaces=(
        timeseries("get_kline_daily", "bars", "daily bars of one code", ttl=300).takes(
            code=REQUIRED, start_date=DAY, end_date=DAY, limit=250, adjust="qfq"
        ),
        by_date("get_kline_daily_by_date", "daily bars of the market on one date", 600),
        latest("get_kline_latest", "newest daily bar of a code", 60),
        timeseries(
            "get_kline_daily_batch",
            "bars_by_code",
            "map code -> newest bars, oldest first",
            ttl=300,
            returns="object",
        ).takes(codes=REQUIRED_TEXTS, days=60, adjust="qfq"),
        timeseries("get_returns", "returns", "rolling returns and volatility", ttl=300).takes(
            code=REQUIRED, window=20, limit=250
        ),
        timeseries("get_etf_kline", "bars", "ETF bars", ttl=300).takes(
            etf_code=REQUIRED, limit=250, adjust="qfq"
        ),
    ),
)
