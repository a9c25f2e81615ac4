"""The pairs of independent sources that carry one field, and how each side of them is read.

Codes that one side never carries (funds in a list of shares) are left out of both.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import pandas as pd

from core.declaration.scope import Scope
from core.errors import PayloadError, Unavailable, UpstreamError
from platform_assets.compute.exright import TERMS, moves_price, references
from platform_assets.compute.reconcile import ABS, PCT, SIGN_PCT, Tolerance, float32_step
from platform_assets.datasets._kline_sources import left_to_quotes
from resources.upstreams.fetch_context import FetchContext, current_session

FUSED, DERIVED = "fused", "derived"
EXCHANGES = ("sse", "szse", "bse")
SAMPLE = 60
"""Codes that a pair may ask an upstream about on a date."""
_WAN_CAP = 50.0
"""Half a step of the quote site's caps, 10k CNY."""
_LOT = 100.0
_AWAY = (UpstreamError, PayloadError, Unavailable)


@dataclass(frozen=True)
class Found:
    """One pair on one date: rows of `code`, `a`, `b`, `rounding`."""

    dataset: str
    field: str
    source_a: str
    source_b: str
    tolerance: Tolerance
    rows: pd.DataFrame


def found_pairs(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Every pair of a date, also those of which nothing is there (no rows)."""
    for pairs in (
        _quotes, _bars, _references, _ratios, _shares, _margin, _deals, _listings, _dividends, _flows,
        _indices, _results,
    ):  # fmt: skip
        yield from pairs(ctx, day)


# -- stored on both sides ---------------------------------------------------------------------------


def _on(ctx: FetchContext, table: str, columns: Sequence[str], day: str) -> pd.DataFrame:
    """Stored rows of one date, with their source."""
    return ctx.read(table, columns=("code", *columns, "src"), since=day, until=day)


def _side(rows: pd.DataFrame, source: str | Sequence[str], field: str) -> pd.Series:
    """Values of a source by code."""
    requested = [source] if isinstance(source, str) else list(source)
    mine = rows[rows["src"].isin(requested)]
    return mine.drop_duplicates("code").set_index("code")[field]


def _paired(a: pd.Series, b: pd.Series, rounding: Any = 0.0) -> pd.DataFrame:
    """Both sides by code; `rounding` a number, or a function of the joined rows."""
    rows = pd.DataFrame({"a": a.astype(float), "b": b.astype(float)}).rename_axis("code").reset_index()
    rows["rounding"] = rounding(rows) if callable(rounding) else rounding
    return rows


def _stocks(ctx: FetchContext) -> set[str]:
    master = ctx.read("fusion_stock_master", columns=("code", "sec_type"))
    return set(master.loc[master["sec_type"] == "stock", "code"])


def _traded(quotes: pd.DataFrame) -> set[str]:
    """Codes of which any source reports a volume; an idle stock is quoted in many ways."""
    return set(quotes.loc[quotes["volume"].fillna(0) > 0, "code"])


def _amounts(rows: pd.DataFrame) -> pd.Series:
    """1 CNY of the quote site, and the float32 of the terminal."""
    return float32_step(rows["a"]).fillna(0.0) + float32_step(rows["b"]).fillna(0.0) + 1.0


def _quotes(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Quotes of one session: the quote site against the portal, and against the terminal."""
    columns = ("price", "volume", "amount", "total_market_cap")
    quotes = _on(ctx, "stg_quote_snapshot", columns, day)
    quotes = quotes[quotes["code"].isin(_traded(quotes))]
    shares = quotes[quotes["code"].isin(_stocks(ctx))]
    fields: tuple[tuple[str, Tolerance, Any], ...] = (
        ("price", Tolerance(0.0, ABS), 0.0),
        ("volume", Tolerance(0.1, PCT), _LOT),
        ("amount", Tolerance(0.1, PCT), _amounts),
        ("total_market_cap", Tolerance(0.5, PCT), _WAN_CAP),
    )
    for field, tolerance, rounding in fields:
        rows = _paired(_side(shares, "tencent", field), _side(shares, "eastmoney", field), rounding)
        yield Found("quote_snapshot", field, "tencent", "eastmoney", tolerance, rows)
    for field, tolerance, rounding in fields[:3]:
        rows = _paired(_side(quotes, "tencent", field), _side(quotes, "tdx", field), rounding)
        yield Found("quote_snapshot", field, "tencent", "tdx", tolerance, rows)


def _bars(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Fused bars against the quotes of sources that the bar is not of. A bar with figures of a second source
    is compared in its close alone, since that one is of its own source."""
    bars = _on(ctx, "fusion_kline_daily", ("close", "volume", "amount", "provenance"), day)
    bars = bars[bars["volume"] > 0]
    quotes = _on(ctx, "stg_quote_snapshot", ("price", "volume", "amount"), day)
    for source in ("tencent", "tdx"):
        other = bars[bars["src"] != source]
        whole = other[other["provenance"].isna()]
        for field, rows, quoted, tolerance, rounding in (
            ("close", other, "price", Tolerance(0.0, ABS), 0.0),
            ("volume", whole, "volume", Tolerance(0.1, PCT), _LOT),
            ("amount", whole, "amount", Tolerance(0.1, PCT), _amounts),
        ):
            mine = rows.set_index("code")[field]
            theirs = _side(quotes, source, quoted)
            joined = _paired(mine, theirs[theirs.index.isin(mine.index)], rounding)
            yield Found("kline_daily", field, FUSED, source, tolerance, joined)


def _references(ctx: FetchContext, day: str) -> Iterator[Found]:
    """The stored previous close, taken down by the stored events and by what they leave to the quotes,
    against the previous close that is quoted: a break is an event that the ledger does not know, or knows
    wrongly."""
    before = ctx.calendar.offset(day, -1)
    bars = ctx.read("fusion_kline_daily", columns=("code", "market", "close"), since=before, until=before)
    bars = bars.set_index("code")
    closes = bars["close"].astype(float)
    events = ctx.read(
        "ref_exright",
        columns=("code", "date", "category", *TERMS, "held_back"),
        since=day,
        until=day,
    )
    by_code = dict(iter(events[moves_price(events)].groupby("code")))
    items = left_to_quotes(ctx.read, None)
    items_of = dict(iter(items[items["date"] == day].groupby("code")))
    for code in (by_code.keys() | items_of.keys()) & set(closes.index):
        own = pd.DataFrame({"date": [before, day], "close": closes[code]})
        made = references(code, bars["market"][code], own, by_code.get(code), items_of.get(code))
        closes[code] = made[-1]
    quotes = _on(ctx, "stg_quote_snapshot", ("last_close",), day)
    for source in ("tencent", "tdx"):
        quoted = _side(quotes, source, "last_close").dropna()
        if len(quoted):
            mine = closes[closes.index.isin(quoted.index)]
            rows = _paired(mine, quoted[quoted.index.isin(mine.index)])
            yield Found("kline_daily", "last_close", DERIVED, source, Tolerance(0.01, ABS), rows)


def _ratios(ctx: FetchContext, day: str) -> Iterator[Found]:
    reported = _on(ctx, "stg_valuation", ("pe_ttm", "pb", "total_market_cap"), day)
    reported = reported[reported["code"].isin(_stocks(ctx))]
    for field, tolerance, rounding in (
        ("pe_ttm", 5.0, 0.01),
        ("pb", 2.0, 0.01),
        ("total_market_cap", 2.0, _WAN_CAP),
    ):
        rows = _paired(_side(reported, "eastmoney", field), _side(reported, "tencent", field), rounding)
        yield Found("valuation", field, "eastmoney", "tencent", Tolerance(tolerance), rows)


def _shares(ctx: FetchContext, day: str) -> Iterator[Found]:
    reported = _on(ctx, "raw_quote", ("total_shares", "float_shares"), day)
    reported = reported[reported["code"].isin(_stocks(ctx))]
    for field in ("total_shares", "float_shares"):
        rows = _paired(_side(reported, "tencent", field), _side(reported, "eastmoney", field))
        yield Found("stock_master", field, "tencent", "eastmoney", Tolerance(1.0), rows)


def _margin(ctx: FetchContext, day: str) -> Iterator[Found]:
    reported = _on(ctx, "stg_margin", ("rzye", "rzmre", "loan_volume"), day)
    for field in ("rzye", "rzmre", "loan_volume"):
        rows = _paired(_side(reported, EXCHANGES, field), _side(reported, "eastmoney", field), 1.0)
        yield Found("margin", field, "exchange", "eastmoney", Tolerance(0.1), rows)


def _both(reported: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(rows of the exchanges, rows of the portal), both without Beijing's."""
    rows = reported[~reported["code"].str.startswith(("4", "8", "92"))]
    return rows[rows["src"].isin(EXCHANGES)], rows[rows["src"] == "eastmoney"]


def _deals(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Deals of a code and their sum. Beijing publishes none that we read."""
    official, portal = _both(_on(ctx, "stg_block_trade", ("amount",), day))
    counts = _paired(official.groupby("code").size(), portal.groupby("code").size())
    yield Found("block_trade", "deals", "exchange", "eastmoney", Tolerance(0.0, ABS), counts)
    # The exchanges report in 10,000 CNY with two decimals, deal by deal.
    sums = _paired(official.groupby("code")["amount"].sum(), portal.groupby("code")["amount"].sum())
    sums["rounding"] = 50.0 * official.groupby("code").size().reindex(sums["code"]).fillna(0).to_numpy() + 1.0
    yield Found("block_trade", "amount", "exchange", "eastmoney", Tolerance(0.1), sums)


def _listings(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Codes on the billboard, and the turnover of the listings that both sources have. Beijing's are the
    portal's alone."""
    official, portal = _both(_on(ctx, "raw_dragon_tiger", ("reason_key", "amount"), day))
    codes = _paired(portal.groupby("code").size() * 0, official.groupby("code").size() * 0)
    yield Found("dragon_tiger", "codes", "eastmoney", "exchange", Tolerance(0.0, ABS), codes)
    both = portal.merge(official, on=["code", "reason_key"], suffixes=("", "_b")).dropna(
        subset=["amount", "amount_b"]
    )
    # Shenzhen reports in 100 million CNY with two decimals, Shanghai in 10,000.
    steps = both["src_b"].map({"szse": 500_000.0, "sse": 50.0}).astype(float) + 1.0
    rows = pd.DataFrame({"code": both["code"], "a": both["amount"].astype(float),
                         "b": both["amount_b"].astype(float), "rounding": steps})  # fmt: skip
    yield Found("dragon_tiger", "amount", "eastmoney", "exchange", Tolerance(0.1), rows)


def _dividends(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Cash of the ex-dates of a day: the portal's notices against the terminal's events."""
    reported = ctx.read("stg_dividend", columns=("code", "ex_date", "bonus_rmb", "src"))
    reported = reported[(reported["src"] == "eastmoney") & (reported["ex_date"] == day)]
    events = ctx.read("ref_exright", columns=("code", "category", "cash_per10"), since=day, until=day)
    events = events[(events["category"] == 1) & (events["cash_per10"] > 0)]
    known = events[events["code"].isin(_stocks(ctx))].groupby("code")["cash_per10"].sum()
    noticed = reported[reported["bonus_rmb"] > 0].groupby("code")["bonus_rmb"].sum()
    # One date is asked of both, so an ex-date that one side has elsewhere is missing on the other.
    dates = _paired(noticed * 0.0, known * 0.0)
    yield Found("dividend", "ex_date", "eastmoney", "tdx", Tolerance(0.0, ABS), dates)
    yield Found("dividend", "bonus_rmb", "eastmoney", "tdx", Tolerance(0.01, ABS), _paired(noticed, known))


# -- asked of the second source ---------------------------------------------------------------------


def _nothing() -> pd.DataFrame:
    return pd.DataFrame({"code": [], "a": [], "b": [], "rounding": []})


def _sample(codes: Sequence[str], day: str) -> list[str]:
    """The same few codes whenever a date is asked, others on another date."""
    return sorted(sorted(codes, key=lambda code: crc32(f"{day} {code}".encode()))[:SAMPLE])


def _reported(
    ctx: FetchContext, codes: Sequence[str], ask: Callable[[str], pd.DataFrame]
) -> pd.DataFrame | None:
    """Answers of the second source for some codes; None when it does not answer."""
    try:
        parts = [part for part in ctx.each(ask, ctx.symbols(codes)) if len(part)]
    except _AWAY as error:
        ctx.problems.append((",".join(codes)[:60], str(error)))
        return None
    return pd.concat(parts, ignore_index=True) if parts else None


def _session(ctx: FetchContext, day: str) -> bool:
    return current_session(ctx, Scope((day,)))


def _flows(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Main net of a sample: both define it in their own way, so a drift is expected."""
    if not _session(ctx, day):
        return
    stored = _on(ctx, "stg_fund_flow", ("main_net",), day)
    mine = _side(stored, "eastmoney", "main_net").dropna()
    codes = _sample([str(code) for code in mine.index], day)
    reported = _reported(ctx, codes, lambda symbol: ctx.tencent.fund_flow(symbol).today) if codes else None
    rows = _nothing()
    if reported is not None:
        rows = _paired(mine[mine.index.isin(codes)], reported.set_index("code")["main_net"], 1.0)
    yield Found("fund_flow", "main_net", "eastmoney", "tencent", Tolerance(20.0, SIGN_PCT), rows)


def _indices(ctx: FetchContext, day: str) -> Iterator[Found]:
    if not _session(ctx, day):
        return
    bars = _on(ctx, "fusion_index_daily", ("close", "volume"), day)
    bars = bars[(bars["src"] != "eastmoney") & bars["code"].str.fullmatch(r"(sh|sz)[0-9]{6}")]
    reported: pd.DataFrame | None = None
    try:
        reported = ctx.eastmoney.ulist(bars["code"].tolist()) if len(bars) else None
    except _AWAY as error:
        ctx.problems.append(("indices", str(error)))
    for field, quoted, tolerance, rounding in (
        ("close", "price", Tolerance(0.01, ABS), 0.005),
        ("volume", "volume", Tolerance(0.1), _LOT),
    ):
        rows = _nothing()
        if reported is not None:
            rows = _paired(bars.set_index("code")[field], reported.set_index("symbol")[quoted], rounding)
        yield Found("index_daily", field, FUSED, "eastmoney", tolerance, rows)


def _results(ctx: FetchContext, day: str) -> Iterator[Found]:
    """Reports whose notice came out on the date, against the second quote site's statements."""
    reported = ctx.read("stg_finance_indicator", columns=("code", "report_period", "ann_date", "revenue",
                                                       "net_profit", "is_express", "src"))  # fmt: skip
    whole = ~reported["is_express"].eq(True)
    reported = reported[(reported["src"] == "eastmoney") & (reported["ann_date"] == day) & whole]
    reported = reported[reported["code"].isin(_sample(sorted(set(reported["code"])), day))]
    codes = sorted(set(reported["code"]))
    second = _reported(ctx, codes, lambda symbol: ctx.sina.statement(symbol, "income", 8)) if codes else None
    for field in ("revenue", "net_profit"):
        rows = _nothing()
        if second is not None:
            theirs = second[second["item"] == field]
            joined = reported[["code", "report_period", field]].merge(
                theirs[["code", "report_period", "value"]], on=["code", "report_period"], how="left"
            )
            rows = pd.DataFrame(
                {"code": joined["code"], "a": joined[field], "b": joined["value"], "rounding": 1.0}
            )
        yield Found("finance_indicator", field, "eastmoney", "sina", Tolerance(1.0), rows)
