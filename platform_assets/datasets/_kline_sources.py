"""Sources of daily bars, and by how much values of two of them may differ."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.declaration.calls import Calls, groups_of, one_each, one_for_all, pages_of
from core.declaration.scope import Scope
from core.errors import NotServed, PayloadError, Unavailable, UpstreamError
from platform_assets.compute.exright import TERMS, moves_price, references
from resources.upstreams.fetch_context import FetchContext, within_last
from resources.upstreams.hosts import PORTAL_HISTORY, SITES
from resources.upstreams.sina.quotes import CODES_PER_CALL as SINA_QUOTES
from resources.upstreams.tdx.bars import PAGE
from resources.upstreams.tdx.quotes import PAGE as QUOTES
from resources.upstreams.tencent.bars import MOST_BARS
from resources.upstreams.tencent.quotes import CODES_PER_CALL

_HALF_FEN = 0.005
_SAME_FACTOR = 1e-9


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Bars of the scope from the terminal: today's session by quotes, everything else by bars."""
    if is_session(ctx, scope):
        return _from_quotes(ctx, scope.until)
    return _with_listing_days(ctx, _from_bars(ctx, scope), "tdx")


def _terminal_calls(ctx: FetchContext, scope: Scope, codes: int) -> int:
    return (groups_of(QUOTES) if is_session(ctx, scope) else pages_of(PAGE))(ctx, scope, codes)


def _second_site_calls(ctx: FetchContext, scope: Scope, codes: int) -> int:
    return (groups_of(SINA_QUOTES) if is_session(ctx, scope) else one_each)(ctx, scope, codes)


TERMINAL_CALLS = Calls(_terminal_calls)
SECOND_SITE_CALLS = Calls(_second_site_calls)
PACKAGE_CALLS = Calls(one_for_all)
SITE_QUOTE_CALLS = Calls(groups_of(CODES_PER_CALL))
EACH_CALLS = Calls(one_each)
PORTAL_CALLS = Calls(one_each, SITES[PORTAL_HISTORY].family)


def _from_quotes(ctx: FetchContext, day: str) -> pd.DataFrame:
    quotes = ctx.terminal_quotes()
    _note_not_served(ctx, quotes[~quotes["unknown"]])
    rows = quotes[~quotes["unknown"] & (quotes["last_close"] > 0)]
    rows = rows.merge(_identity(ctx).drop(columns="symbol"), on=["code", "market"], how="inner")
    idle = (rows["volume"] == 0) & (rows["open"] <= 0)
    out = rows[["code", "market", "sec_type", "last_close", "volume", "amount"]].assign(date=day)
    return _with_prices(out, rows, idle)


def _from_bars(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    requested = len(ctx.calendar.between(scope.since, ctx.today)) + 1
    return _per_code(ctx, scope, lambda symbol: pd.DataFrame(ctx.terminal_bars(symbol, requested)))


def date_package(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The market's bars of a past trade date from the publisher's package: one call, quoted previous closes,
    amounts and volumes to the unit."""
    bars = ctx.tdx_packages.date_bars(scope.until)
    bars = bars.merge(_identity(ctx).drop(columns="symbol"), on=["code", "market"], how="inner")
    ctx.note_not_served(ctx.securities()["code"], bars["code"], "not in the package")
    bars["last_close"] = bars["last_close"].where(bars["last_close"] > 0)
    return bars.drop(columns="symbol").assign(date=scope.until)


def is_past_date(ctx: FetchContext, scope: Scope) -> bool:
    """Whether the scope is the whole market on one date that quotes of now do not belong to."""
    return not scope.is_range and scope.codes is None and not ctx.is_current_session(scope.until)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Unadjusted bars of a few codes from the portal; up to today, since the newest ones show whether they
    are of the instrument that was asked for."""
    before = ctx.calendar.offset(scope.since, -1)
    return _per_code(
        ctx,
        scope,
        lambda s: ctx.accept_bars(s, ctx.eastmoney.daily_bars(s, beg=before, end=ctx.today)),
        site=PORTAL_HISTORY,
    )


def _per_code(
    ctx: FetchContext, scope: Scope, bars_of: Callable[[str], pd.DataFrame], *, site: str = ""
) -> pd.DataFrame:
    """Bars of every code; `last_close` is the previous bar's close, taken down by events in between, null
    on a first bar that does not state its change."""
    events = ctx.read(
        "ref_exright", columns=("code", "date", "category", *TERMS, "held_back"), codes=scope.codes
    )
    by_code = dict(iter(events[moves_price(events)].groupby("code")))

    items = dict(iter(left_to_quotes(ctx.read, scope.codes).groupby("code")))

    def one(symbol: str) -> pd.DataFrame:
        bars = bars_of(symbol)
        if bars.empty:
            raise NotServed(f"{symbol}: no series of bars")
        code = symbol[2:]
        bars["last_close"] = references(code, symbol[:2], bars, by_code.get(code), items.get(code))
        bars["symbol"] = symbol
        return bars[(bars["date"] >= scope.since) & (bars["date"] <= scope.until)]

    frames = [frame for frame in ctx.each(one, ctx.symbols(scope.codes), site=site) if not frame.empty]
    if not frames:
        return pd.DataFrame(columns=["code", "date"])
    bars = pd.concat(frames, ignore_index=True).drop(columns=["code", "market"], errors="ignore")
    return bars.merge(_identity(ctx), on="symbol", how="inner").drop(columns="symbol")


def left_to_quotes(read: Callable[..., pd.DataFrame], codes: Sequence[str] | None) -> pd.DataFrame:
    """What the events leave to the quotes: code, date, factor of the items of the ledger."""
    items = read("ref_exright_item", columns=("code", "date", "factor"), codes=codes)
    return items[(items["factor"] - 1).abs() > _SAME_FACTOR]


def _with_listing_days(ctx: FetchContext, rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """The bars of a source and, for each first bar of a code, the portal's bar of that day: its change is
    stated against the issue price, which these bars do not carry."""
    first = rows if rows.empty else rows[rows["last_close"].isna()]
    if first.empty or ctx.direct:
        return rows
    days = tuple(sorted(set(first["date"])))
    reported = stored_references(ctx.read, tuple(first["code"]), days[0], days[-1])
    lines: list[pd.DataFrame] = []
    unknown = [bar for bar in first.itertuples(index=False) if (bar.code, bar.date) not in reported]
    most = SITES[PORTAL_HISTORY].most_calls
    for number, bar in enumerate(sorted(unknown, key=lambda bar: str(bar.date), reverse=True)):
        symbol = f"{bar.market.lower()}{bar.code}"
        if most is not None and number >= most:
            ctx.problems.append((symbol, f"no issue price: {PORTAL_HISTORY} cuts off after {most} calls"))
            continue
        try:
            line = ctx.eastmoney.daily_bars(symbol, beg=bar.date, end=bar.date)
        except (UpstreamError, PayloadError, Unavailable) as error:
            ctx.problems.append((symbol, f"no issue price: {error}"))
            if isinstance(error, PayloadError):
                continue
            break  # what does not answer now is not asked for every listing
        line = line[(line["close"] - bar.close).abs() < _HALF_FEN]  # else another instrument
        line = line.assign(last_close=(line["close"] - line["change_amt"]).round(4), sec_type=bar.sec_type)
        lines.append(line.assign(code=bar.code, market=bar.market, src="eastmoney"))
    return pd.concat([rows.assign(src=source), *lines], ignore_index=True) if lines else rows


def stored_references(
    read: Callable[..., pd.DataFrame], codes: tuple[str, ...], since: str, until: str
) -> dict[tuple[str, str], float]:
    """Stored reference prices by code and date, without those that equal the open: they come from it."""
    columns = ("code", "date", "open", "last_close")
    stored = read("fusion_kline_daily", columns=columns, codes=codes, since=since, until=until)
    stored = stored[stored["last_close"].notna() & (stored["last_close"] != stored["open"])]
    return {(row.code, row.date): float(row.last_close) for row in stored.itertuples(index=False)}


def quote_site_bars(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Unadjusted bars per code from the quote site, of past dates; it has none of Beijing. Amounts come in
    steps of 100 CNY."""
    before = ctx.calendar.offset(scope.since, -1)
    requested = len(ctx.calendar.between(before, ctx.today))
    rows = _per_code(
        ctx,
        scope,
        lambda symbol: ctx.accept_bars(symbol, ctx.tencent.daily_bars(symbol, count=requested)),
    )
    return _with_listing_days(ctx, rows, "tencent")


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The quote site's batch of today's finished session: its amounts are whole CNY."""
    rows = ctx.site_quotes()
    _note_not_served(ctx, rows)
    rows = rows[(rows["trade_date"] == scope.until) | (rows["volume"].fillna(0) == 0)]
    out = rows[["code", "market", "last_close", "volume", "amount", "limit_up", "limit_down"]].copy()
    out = out.merge(_identity(ctx).drop(columns="symbol"), on=["code", "market"], how="inner")
    idle = (rows["volume"].fillna(0) == 0).to_numpy()
    return _with_prices(out.assign(date=scope.until), rows, idle)


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The second quote site, when no other source answers: its batch of today's finished session, without
    convertible bonds (the unit of their volume is not documented); any other date from its bars per code,
    which carry no amount."""
    if not is_session(ctx, scope):
        requested = len(ctx.calendar.between(scope.since, ctx.today)) + 1
        return _per_code(
            ctx, scope, lambda symbol: ctx.accept_bars(symbol, ctx.sina.daily_bars(symbol, requested))
        )
    rows = ctx.sina.quotes(ctx.symbols())
    _note_not_served(ctx, rows)
    rows = rows[rows["volume"].notna() & ((rows["trade_date"] == scope.until) | (rows["volume"] == 0))]
    rows = rows.drop(columns="sec_type").merge(
        _identity(ctx).drop(columns="symbol"), on=["code", "market"], how="inner"
    )
    out = rows[["code", "market", "sec_type", "last_close", "volume", "amount"]].assign(date=scope.until)
    idle = (rows["volume"] == 0).to_numpy()
    return _with_prices(out, rows, idle)


def _note_not_served(ctx: FetchContext, quotes: pd.DataFrame) -> None:
    """Codes of the market that a batch of quotes says nothing about."""
    ctx.note_not_served(ctx.securities()["code"], quotes["code"], "no quote")


def _with_prices(out: pd.DataFrame, quotes: pd.DataFrame, idle: Any) -> pd.DataFrame:
    """`out` with the prices of `quotes`, row by row; those of an idle one are its previous close."""
    for column, source in (("open", "open"), ("high", "high"), ("low", "low"), ("close", "price")):
        out[column] = np.where(idle, quotes["last_close"], quotes[source])
    return out


def is_recent_past(ctx: FetchContext, scope: Scope) -> bool:
    """Whether the scope lies within what one call of the quote site reaches back to, and is not the session
    that its quotes are of."""
    return not is_session(ctx, scope) and within_last(MOST_BARS - 1)(ctx, scope)


def is_session(ctx: FetchContext, scope: Scope) -> bool:
    """Whether the scope is the market on its newest session, to which current quotes belong."""
    return not scope.is_range and scope.codes is None and ctx.is_current_session(scope.until)


def tolerated_amount(rows: pd.DataFrame) -> pd.Series:
    """The amount by which a stored value may differ from a new one, CNY: `amount_rounding`, and half a step
    of 100 where one of the two is a bar of the quote site."""
    of_site = (rows["src"] == "tencent") | (rows["stored_src"] == "tencent")
    rounding = amount_rounding(rows)
    return rounding.mask(of_site, rounding.fillna(0.0) + 50.0)


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


def tolerated_volume(rows: pd.DataFrame) -> pd.Series:
    """The volume by which a stored value may differ from a new one: of another source one lot, which one may
    have cut and the other rounded up; of the same source as `volume_rounding`."""
    other = rows["stored_src"].notna() & (rows["stored_src"] != rows["src"])
    return volume_rounding(rows).mask(other, 100.0)


def _identity(ctx: FetchContext) -> pd.DataFrame:
    return ctx.securities()[["code", "market", "symbol", "sec_type"]]
