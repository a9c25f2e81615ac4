"""fusion_kline_daily: unadjusted daily bars of every held security, with limits and our own factor.

Bypasses staging. The finished session of today comes from one quote batch; any other date from the
terminal's bars per code. Reference prices, limits and the cumulative factor are computed here, from
ex-right events and the dated market rules; never from an upstream's adjusted prices.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from platform_assets.compute.asof import value_on
from platform_assets.compute.bar_checks import (
    amount_fits_prices,
    close_within_limits,
    limits_are_known,
    reference_is_known,
    reference_is_previous_close,
    traded_has_amount,
)
from platform_assets.compute.day_limits import day_limits
from platform_assets.compute.exright import references
from platform_assets.compute.identity import believed
from platform_assets.compute.limit_state import limit_status
from platform_assets.compute.market_rules import board_of
from platform_assets.compute.name_spans import named
from platform_assets.declaration.columns import (
    S4,
    S8,
    S16,
    Amt,
    Big,
    Bool,
    Code,
    Date,
    F,
    Model,
    Pct,
    Px,
    col,
    key,
)
from platform_assets.declaration.dataset import Dataset, Source
from platform_assets.declaration.rules import (
    Contract,
    Interface,
    Partition,
    Rows,
    Soft,
    Whole,
    by_date,
    close_of,
    latest,
    trading,
)
from platform_assets.declaration.scope import Context, Reader, Scope
from resources.errors import PayloadError, Unavailable, UpstreamError
from resources.upstreams.desk import within_last

_HALF_FEN = 0.005


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
        title="none, up, down, up_open (touched, not held), down_open; null when the limits are not known",
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


# -- sources ----------------------------------------------------------------------------------------


def terminal(desk: Any, scope: Scope) -> pd.DataFrame:
    """Bars of the scope from the terminal: today's session by quotes, everything else by bars."""
    if not scope.is_range and scope.codes is None and desk.is_current_session(scope.until):
        return _from_quotes(desk, scope.until)
    return _with_listing_days(desk, _from_bars(desk, scope))


def _from_quotes(desk: Any, day: str) -> pd.DataFrame:
    quotes = desk.terminal_quotes()
    rows = quotes[~quotes["unknown"] & (quotes["last_close"] > 0)]
    rows = rows.merge(_identity(desk).drop(columns="symbol"), on=["code", "market"], how="inner")
    idle = (rows["volume"] == 0) & (rows["open"] <= 0)
    out = rows[["code", "market", "sec_type", "last_close", "volume", "amount"]].assign(date=day)
    for column, source in (("open", "open"), ("high", "high"), ("low", "low"), ("close", "price")):
        out[column] = rows[source].where(~idle, rows["last_close"])
    return pd.DataFrame(out)


def _from_bars(desk: Any, scope: Scope) -> pd.DataFrame:
    wanted = len(desk.calendar.between(scope.since, desk.today)) + 1
    return _per_code(desk, scope, lambda symbol: pd.DataFrame(desk.terminal_bars(symbol, wanted)))


def portal(desk: Any, scope: Scope) -> pd.DataFrame:
    """Unadjusted bars per code from the portal, when the terminal does not answer; up to today, since the
    newest ones show whether they are of the instrument that was asked for."""
    before = desk.calendar.offset(scope.since, -1)
    return _per_code(
        desk,
        scope,
        lambda s: desk.believe_bars(s, desk.eastmoney.daily_bars(s, beg=before, end=desk.today)),
    )


def _per_code(desk: Any, scope: Scope, bars_of: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """Bars of every code; `last_close` is the previous bar's close, taken down by events in between, null
    on a first bar that does not tell its change."""
    events = desk.read(
        "ref_exright",
        columns=("code", "date", "category", "cash_per10", "bonus_per10", "rights_per10", "rights_price"),
        codes=scope.codes,
    )
    by_code = dict(iter(events[events["category"] == 1].groupby("code")))

    def one(symbol: str) -> pd.DataFrame:
        bars = bars_of(symbol)
        bars["last_close"] = references(bars, by_code.get(symbol[2:]))
        bars["symbol"] = symbol
        return bars[(bars["date"] >= scope.since) & (bars["date"] <= scope.until)]

    frames = [frame for frame in desk.each(one, desk.symbols(scope.codes)) if not frame.empty]
    if not frames:
        return pd.DataFrame(columns=["code", "date"])
    bars = pd.concat(frames, ignore_index=True).drop(columns=["code", "market"], errors="ignore")
    return bars.merge(_identity(desk), on="symbol", how="inner").drop(columns="symbol")


def _with_listing_days(desk: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """The terminal's bars, and beside each first bar of a code the portal's line of that day: its change is
    told against the issue price, which no bar of the terminal carries."""
    first = rows if rows.empty else rows[rows["last_close"].isna()]
    if first.empty or desk.direct:
        return rows
    days = tuple(sorted(set(first["date"])))
    told = _told(desk.read, tuple(first["code"]), days[0], days[-1])
    lines: list[pd.DataFrame] = []
    for bar in first.itertuples(index=False):
        if (bar.code, bar.date) in told:
            continue
        symbol = f"{bar.market.lower()}{bar.code}"
        try:
            line = desk.eastmoney.daily_bars(symbol, beg=bar.date, end=bar.date)
        except (UpstreamError, PayloadError, Unavailable) as error:
            desk.problems.append((symbol, f"no issue price: {error}"))
            if isinstance(error, PayloadError):
                continue
            break  # what does not answer now is not asked for every listing
        line = line[(line["close"] - bar.close).abs() < _HALF_FEN]  # else another instrument
        line = line.assign(last_close=(line["close"] - line["change_amt"]).round(4), sec_type=bar.sec_type)
        lines.append(line.assign(code=bar.code, market=bar.market, src="eastmoney"))
    return pd.concat([rows.assign(src="tdx"), *lines], ignore_index=True) if lines else rows


def _told(read: Reader, codes: tuple[str, ...], since: str, until: str) -> dict[tuple[str, str], float]:
    """Stored reference prices by code and date. One that equals the open was taken from it."""
    columns = ("code", "date", "open", "last_close")
    stored = read("fusion_kline_daily", columns=columns, codes=codes, since=since, until=until)
    stored = stored[stored["last_close"].notna() & (stored["last_close"] != stored["open"])]
    return {(row.code, row.date): float(row.last_close) for row in stored.itertuples(index=False)}


def quote_site(desk: Any, scope: Scope) -> pd.DataFrame:
    """The quote site's batch of today's finished session: its amounts are whole CNY."""
    rows = desk.site_quotes()
    rows = rows[(rows["trade_date"] == scope.until) | (rows["volume"].fillna(0) == 0)]
    out = rows[["code", "market", "last_close", "volume", "amount", "limit_up", "limit_down"]].copy()
    out = out.merge(_identity(desk).drop(columns="symbol"), on=["code", "market"], how="inner")
    idle = (rows["volume"].fillna(0) == 0).to_numpy()
    for column, source in (("open", "open"), ("high", "high"), ("low", "low"), ("close", "price")):
        out[column] = np.where(idle, rows["last_close"], rows[source])
    return out.assign(date=scope.until)


def second_site(desk: Any, scope: Scope) -> pd.DataFrame:
    """The second quote site, when nobody else answers: its batch of today's finished session, without
    convertible bonds (nobody documents the unit of their volume); any other date from its bars per code,
    which carry no amount."""
    if not _session(desk, scope):
        wanted = len(desk.calendar.between(scope.since, desk.today)) + 1
        return _per_code(
            desk, scope, lambda symbol: desk.believe_bars(symbol, desk.sina.daily_bars(symbol, wanted))
        )
    rows = desk.sina.quotes(desk.symbols())
    rows = rows[rows["volume"].notna() & ((rows["trade_date"] == scope.until) | (rows["volume"] == 0))]
    rows = rows.drop(columns="sec_type").merge(
        _identity(desk).drop(columns="symbol"), on=["code", "market"], how="inner"
    )
    out = rows[["code", "market", "sec_type", "last_close", "volume", "amount"]].assign(date=scope.until)
    idle = (rows["volume"] == 0).to_numpy()
    for column, source in (("open", "open"), ("high", "high"), ("low", "low"), ("close", "price")):
        out[column] = np.where(idle, rows["last_close"], rows[source])
    return pd.DataFrame(out)


def _session(desk: Any, scope: Scope) -> bool:
    current: bool = not scope.is_range and scope.codes is None and desk.is_current_session(scope.until)
    return current


def amount_rounding(rows: pd.DataFrame) -> pd.Series:
    """Half a step of the float32 that the terminal's amounts come in, CNY; null below the quote site's
    own step of 1 CNY, where the terminal is the finer one."""
    step = pd.Series(np.spacing(rows["amount"].to_numpy(dtype=np.float32, na_value=np.nan)), index=rows.index)
    half = step.astype(float) / 2
    return half.where(half > 0.5) + 0.5


def volume_rounding(rows: pd.DataFrame) -> pd.Series:
    """Half a lot, in shares, for STAR stocks: the quote site counts their shares, the terminal lots. Null
    elsewhere, where both count lots and no one is finer."""
    star = rows["code"].str.startswith(("688", "689"))
    return pd.Series(50.0, index=rows.index).where(star)


def standing_volume(rows: pd.DataFrame) -> pd.Series:
    """What a stored volume may differ by: of another source one lot, which one may have cut and the other
    rounded up; of the same source as `volume_rounding`."""
    other = rows["stored_src"].notna() & (rows["stored_src"] != rows["src"])
    return volume_rounding(rows).mask(other, 100.0)


def _identity(desk: Any) -> pd.DataFrame:
    frame: pd.DataFrame = desk.securities()[["code", "market", "symbol", "sec_type"]]
    return frame


def of_this_instrument(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The previous close is not one of another instrument."""
    return believed(rows, context)


# -- derivation -------------------------------------------------------------------------------------


def keep_reference(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """A first bar tells no reference price; what was told of that day before stands."""
    missing = rows[rows["last_close"].isna()]
    if len(missing):
        told = _told(context.read, tuple(missing["code"]), context.scope.since, context.scope.until)
        pairs = zip(missing["code"], missing["date"], strict=True)
        values = pd.Series([told.get(pair) for pair in pairs], index=missing.index, dtype="float64")
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
    """Limits from the dated rules where no source gave them; status from close, high and low. Where a limit
    applies and is not known, so is the status."""
    spans = context.read("ref_name_history", columns=("code", "valid_from", "valid_to", "name", "is_st"))
    names = named(rows, spans)
    limits = day_limits(
        rows["last_close"].to_numpy(dtype=float, na_value=np.nan),
        _boards(rows),
        names.special,
        rows["date"].to_numpy(dtype=str),
        listed_days=_listed_days(rows, context),
        unlimited=names.delisting_began,
    )
    known = limits.known | rows["limit_up"].notna().to_numpy()
    rows["limit_up"] = rows["limit_up"].fillna(pd.Series(limits.up, index=rows.index))
    rows["limit_down"] = rows["limit_down"].fillna(pd.Series(limits.down, index=rows.index))
    status = limit_status(rows, price="close", traded=~rows["is_suspended"])
    rows["limit_status"] = pd.Series(status.astype(object), index=rows.index).where(known, None)
    return rows


def _boards(rows: pd.DataFrame) -> Any:
    pairs = rows[["code", "market", "sec_type"]].drop_duplicates()
    names = {
        (code, market): board_of(code, market) or kind for code, market, kind in pairs.itertuples(index=False)
    }
    return np.array([names[pair] for pair in zip(rows["code"], rows["market"], strict=True)])


def _listed_days(rows: pd.DataFrame, context: Context) -> Any:
    """Trade dates since listing (1 = listing day); 0 when it is unknown or long ago. A code that the
    security master does not know yet is listed on the first date of these rows."""
    master = context.read("fusion_stock_master", columns=("code", "list_date"))
    listed = dict(zip(master["code"], master["list_date"], strict=True))
    if listed:
        firsts = rows.groupby("code")["date"].min()
        listed |= {code: day for code, day in firsts.items() if code not in listed}
    first_known = context.calendar.offset(context.scope.since, -10)
    recent = {code: day for code, day in listed.items() if day and day >= first_known}
    days = np.zeros(len(rows), dtype=np.int64)
    for place in np.flatnonzero(rows["code"].isin(list(recent)).to_numpy()):
        code, day = rows["code"].iloc[place], rows["date"].iloc[place]
        days[place] = len(context.calendar.between(recent[code], day))
    return days


def add_turnover(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Turnover against the float shares in force on the date (capital changes up to it)."""
    changes = context.read("ref_exright", columns=("code", "date", "float_after"), until=context.scope.until)
    shares = value_on(rows, changes[changes["float_after"] > 0], "float_after")
    rows["turnover_pct"] = rows["volume"].to_numpy(dtype=float, na_value=np.nan) / shares * 100
    return rows


def add_factor(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Product of the factors of all events up to the bar's date."""
    events = context.read("ref_exright", columns=("code", "date", "factor"), until=context.scope.until)
    events = events[events["factor"].notna()].sort_values(["code", "date"]).reset_index(drop=True)
    events["running"] = events.groupby("code")["factor"].cumprod()
    rows["adj_factor"] = np.nan_to_num(value_on(rows, events, "running"), nan=1.0)
    return rows


def covers_the_list(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 95 % of the securities listed by then have a row."""
    master = context.read("fusion_stock_master", columns=("code", "list_status", "list_date"))
    master = master[master["list_date"].isna() | ~(master["list_date"] > str(rows["date"].max()))]
    listed = set(master.loc[master["list_status"] == "L", "code"])
    if not listed or context.scope.codes is not None:
        return None
    have = len(listed & set(rows["code"]))
    return None if have >= 0.95 * len(listed) else f"{have} of {len(listed)} listed securities have a bar"


_BAR_PARAMS = {
    "code": ("string", True, None),
    "start_date": ("date", False, None),
    "end_date": ("date", False, None),
    "limit": ("int", False, 250),
    "adjust": ("string", False, "qfq"),
}

DATASET = Dataset(
    name="kline_daily",
    title="Daily bars",
    model=KlineDaily,
    key=("code", "date"),
    domain="kline",
    partition=Partition.TRADE_DATE,
    date_column="date",
    sources=(
        Source("tdx", terminal),
        Source("tencent", quote_site, only_when=_session),
        Source("eastmoney", portal),
        Source("sina", second_site, only_when=within_last(1000)),
    ),
    fuse=Rows(
        finer={"amount": amount_rounding, "volume": volume_rounding},
        finer_source="tencent",
        fills=("last_close",),
    ),
    contract=(Contract(of_this_instrument, "previous close of another instrument"),),
    stands_within={"amount": amount_rounding, "volume": standing_volume},
    derive=(keep_reference, mark_suspended, add_changes, add_limits, add_turnover, add_factor),
    soft=(
        Soft(close_within_limits, "close outside the price limits"),
        Soft(amount_fits_prices, "amount / volume outside the day's prices"),
        Soft(traded_has_amount, "volume without amount"),
        Soft(reference_is_previous_close, "reference price differs from the stored previous close"),
        Soft(reference_is_known, "no source told the reference price of a first day"),
        Soft(limits_are_known, "the limits follow from a reference price or a name that is not known"),
    ),
    whole=(Whole(covers_the_list),),
    reads=("ref_exright", "ref_name_history", "fusion_stock_master"),
    reads_own_past=True,
    public_at=close_of("date"),
    freshness=trading(1),
    per_code=True,
    tasks=("fusion_kline_sync", "eod_core"),
    interfaces=(
        Interface(
            "get_kline_daily", "timeseries", "bars", _BAR_PARAMS, "object[]", 300, "daily bars of one code"
        ),
        by_date("get_kline_daily_by_date", "daily bars of the market on one date", 600),
        latest("get_kline_latest", "newest daily bar of a code", 60),
        Interface(
            "get_kline_daily_batch",
            "timeseries",
            "bars_by_code",
            {
                "codes": ("string[]", True, None),
                "days": ("int", False, 60),
                "adjust": ("string", False, "qfq"),
            },
            "object",
            300,
            "map code -> newest bars, oldest first",
        ),
        Interface(
            "get_returns",
            "timeseries",
            "returns",
            {
                "code": ("string", True, None),
                "window": ("int", False, 20),
                "limit": ("int", False, 250),
            },
            "object[]",
            300,
            "rolling returns and volatility",
        ),
        Interface(
            "get_etf_kline",
            "timeseries",
            "bars",
            {
                "etf_code": ("string", True, None),
                "limit": ("int", False, 250),
                "adjust": ("string", False, "qfq"),
            },
            "object[]",
            300,
            "ETF bars",
        ),
    ),
)
