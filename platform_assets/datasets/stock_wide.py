"""fusion_stock_wide: the one display row per stock and trade date.

Quote fields come from the fused closing quotes, every other field from its owner table; changes, extremes
and limit streaks from a year of stored bars, corrected by the limit pools where those name a stock. Columns
whose owner is not built yet stay NULL and name the issue that brings them.
"""

import pandas as pd

from core.declaration import columns as t
from core.declaration.columns import EVENING, Model, col, key, model_columns
from core.declaration.dataset import Dataset, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, TEXT, TEXTS, batch, latest, market
from core.declaration.rules import Needed, Soft, Whole, close_of, trading
from core.declaration.scope import Context, Scope
from core.errors import Unavailable
from platform_assets.compute.name_spans import named
from platform_assets.datasets import _wide_bars
from platform_assets.datasets import _wide_events as events
from platform_assets.datasets._dated import (
    CLASSES,
    SHARES,
    SPELLING,
    Classes,
    known_on,
    listed_on,
    shares_on,
)
from platform_assets.datasets._price_checks import float_cap_within_total
from resources.upstreams.fetch_context import FetchContext


class StockWide(Model):
    """Units follow the stock list: total_volume in lots, caps in 10k CNY; amount and flows in CNY."""

    code: t.Code = key("security code")
    trade_date: t.Date = key("trade date")
    name: t.S64 = col(title="name on the date", varies=SPELLING)
    market: t.S4 = col(title="SH, SZ, BJ")
    board: t.S16 = col(title="main, gem, star, bj")
    list_date: t.Date = col(title="listing date")
    is_st: t.Bool = col(title="special treatment on the date")
    is_suspended: t.Bool = col(title="no trade on the day")
    current_price: t.Px = col("CNY", "closing price", ge=0)
    open: t.Px = col("CNY", "opening price")
    high: t.Px = col("CNY", "highest price")
    low: t.Px = col("CNY", "lowest price")
    last_close: t.Px = col("CNY", "reference price")
    change_pct: t.Pct = col("pct", "change of the day")
    speed_pct: t.Pct = col("pct", "change over 5 minutes; of the current session alone")
    amplitude_pct: t.Pct = col("pct", "(high - low) / reference price")
    total_volume: t.Big = col("lot", "lots traded", ge=0)
    amount: t.Amt = col("CNY", "turnover", ge=0)
    turnover_pct: t.Pct = col("pct", "turnover rate")
    volume_ratio: t.F = col("", "volume against the 5-day mean; of the current session alone")
    pe_ttm: t.F = col("", "price / earnings, trailing")
    pe_static: t.F = col("", "price / earnings, last year")
    pb: t.F = col("", "price / book")
    ps_ttm: t.F = col("", "price / sales")
    dividend_yield: t.Pct = col("pct", "dividend yield; of the current session alone")
    total_market_cap: t.Amt = col("wan", "total market cap")
    float_market_cap: t.Amt = col("wan", "float market cap")
    total_shares: t.Big = col("sh", "total shares")
    float_shares: t.Big = col("sh", "float shares")
    limit_up: t.Px = col("CNY", "limit-up price")
    limit_down: t.Px = col("CNY", "limit-down price")
    chg_3d: t.Pct = col("pct", "change over 3 sessions")
    chg_5d: t.Pct = col("pct", "change over 5 sessions")
    chg_10d: t.Pct = col("pct", "change over 10 sessions")
    chg_20d: t.Pct = col("pct", "change over 20 sessions")
    chg_60d: t.Pct = col("pct", "change over 60 sessions")
    chg_120d: t.Pct = col("pct", "change over 120 sessions")
    chg_1y: t.Pct = col("pct", "change over 250 sessions")
    chg_ytd: t.Pct = col("pct", "change since the last session of the previous year")
    high_52w: t.Px = col("CNY", "highest price of 250 sessions, adjusted to the date")
    low_52w: t.Px = col("CNY", "lowest price of 250 sessions, adjusted to the date")
    ma5_dev_pct: t.Pct = col("pct", "close against the 5-session mean")
    ma20_dev_pct: t.Pct = col("pct", "close against the 20-session mean")
    vol_accel_5_5: t.F = col("", "mean volume of 5 sessions / of the 5 before", decimals=4)
    volatility_20d: t.Pct = col("pct", "deviation of 20 daily returns")
    main_net: t.Amt = col("CNY", "main net inflow")
    main_net_pct: t.Pct = col("pct", "main net inflow / amount")
    main_net_5d: t.Amt = col("CNY", "main net inflow of 5 sessions")
    main_net_10d: t.Amt = col("CNY", "main net inflow of 10 sessions")
    super_net: t.Amt = col("CNY", "super-large net inflow")
    large_net: t.Amt = col("CNY", "large net inflow")
    rzye: t.Amt = col("CNY", "financing balance, newest known")
    margin_change_5d: t.Pct = col("pct", "change of the financing balance in 5 trade dates")
    limit_status: t.S16 = col(
        title="none, up, down, up_open, down_open, no_limit; null: the limits are not known"
    )
    limit_days_today: t.Int = col("", "consecutive limit-ups including today")
    limit_up_count_20d: t.Int = col("", "limit-ups in 20 sessions")
    break_fail_days_5d: t.Int = col("", "sessions of 5 with a limit touched and not held")
    zt_stat_latest: t.S32 = col(title="N天M板 of the latest limit-up of 20 sessions")
    seal_fund_latest: t.Amt = col("CNY", "seal fund of the latest limit-up of 20 sessions")
    report_period: t.Date = col(title="newest published report")
    revenue: t.Amt = col("CNY", "revenue")
    revenue_yoy: t.Pct = col("pct", "revenue, year on year")
    net_profit: t.Amt = col("CNY", "net profit")
    net_profit_yoy: t.Pct = col("pct", "net profit, year on year")
    roe: t.Pct = col("pct", "return on equity")
    roa: t.Pct = col("pct", "return on assets")
    gross_margin: t.Pct = col("pct", "gross margin")
    net_margin: t.Pct = col("pct", "net margin")
    debt_ratio: t.Pct = col("pct", "debt ratio")
    eps: t.Px = col("CNY", "earnings per share")
    bvps: t.Px = col("CNY", "book value per share")
    ocfps: t.Px = col("CNY", "operating cash flow per share")
    goodwill_ratio: t.Pct = col("pct", "goodwill / equity in the newest report announced")
    holder_num: t.Big = col("", "holders, newest count announced")
    holder_change_ratio: t.Pct = col("pct", "change of holders since the count before")
    pledge_ratio: t.Pct = col("pct", "pledged shares / all shares in the newest list before the date")
    next_lockup_date: t.Date = col(title="next lock-up release, as planned on the date", varies=EVENING)
    next_lockup_ratio: t.Pct = col("pct", "shares released on that day / all shares", ge=0, varies=EVENING)
    lhb_count_30d: t.Int = col(
        "", "of the 30 trade dates before, those on the billboard; unknown until all of them are loaded", ge=0
    )
    block_trade_premium_30d: t.Pct = col(
        "pct",
        "of block trades in the 30 trade dates before, by amount; unknown until all of them are loaded",
    )
    industry: t.S64 = col(title="industry")
    em_industry: t.S64 = col(title="industry board of the portal", varies=EVENING)
    sw_l1: t.S16 = col(title="SW level 1 code")
    sw_l2: t.S16 = col(title="SW level 2 code")
    sw_l1_name: t.S32 = col(title="SW level 1 name")
    sw_l2_name: t.S32 = col(title="SW level 2 name")
    concepts: t.Json = col(title="names of the concept boards", varies=EVENING)


_QUOTE = (
    *("name", "is_suspended", "open", "high", "low", "last_close", "change_pct", "speed_pct"),
    *("amplitude_pct", "amount", "turnover_pct", "volume_ratio", "price", "volume"),
    *("limit_up", "limit_down", "limit_status"),
)
_MASTER = ("market", "board", "list_date", "sec_type")
_VALUATION = ("pe_ttm", "pe_static", "pb", "ps_ttm", "dividend_yield", "total_market_cap", "float_market_cap")
_BOARDS = ("em_industry", "tdx_industry", "concepts")
_CLASSES = ("sw_l1", "sw_l2", "sw_l1_name", "sw_l2_name")
_BAR = (
    *("limit_up", "limit_down", "limit_status", "amplitude_pct", "turnover_pct"),
    *("last_close", "change_pct"),
)
_NAMES = ("valid_from", "valid_to", "name", "is_st")


def _owners() -> dict[str, tuple[str, str]]:
    """Column -> the table and column it is taken from; what a year of bars gives rests on the closes. Their
    tables, in this order, are what the dataset reads."""
    owned = {
        "fusion_quote_snapshot": _QUOTE,
        "fusion_stock_master": _MASTER,
        "fusion_stock_industry": _BOARDS,
        "aux_equity": SHARES,
        "fusion_valuation": _VALUATION,
        "fusion_fund_flow": events.FLOW,
        "fusion_kline_daily": _BAR,
    }
    names = {spec.name for spec in model_columns(StockWide)}
    owners = {name: (table, name) for table, columns in owned.items() for name in columns if name in names}
    return {
        **owners,
        **dict.fromkeys(_wide_bars.STATS, ("fusion_kline_daily", "close")),
        "current_price": ("fusion_quote_snapshot", "price"),
        "total_volume": ("fusion_quote_snapshot", "volume"),
        "industry": (CLASSES, "index_name"),
        **{name: (CLASSES, "index_name" if "name" in name else "index_code") for name in _CLASSES},
        "is_st": ("ref_name_history", "is_st"),
        **dict.fromkeys(("main_net_5d", "main_net_10d"), ("fusion_fund_flow", "main_net")),
        **dict.fromkeys(("rzye", "margin_change_5d"), ("fusion_margin", "rzye")),
        **{name: ("fusion_finance_indicator", name) for name in events.FINANCE},
        "holder_num": ("fusion_holder", "holder_num"),
        "holder_change_ratio": ("fusion_holder", "change_ratio"),
        "lhb_count_30d": ("fusion_dragon_tiger", "date"),
        "block_trade_premium_30d": ("fusion_block_trade", "premium_pct"),
        "next_lockup_date": ("raw_lockup", "free_date"),
        "next_lockup_ratio": ("raw_lockup", "ratio_total_pct"),
        **{column: ("raw_limit_pool", theirs) for column, theirs in _wide_bars.POOL.items()},
        **events.OWNERS,
    }


def joined(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Rows of the scope's dates from the owner tables."""
    bars, classes = _wide_bars.bars_of(ctx, scope), Classes.read(ctx.read, scope.codes)
    rows = stacked((_of_date(ctx, day, scope.codes, bars, classes) for day in scope.dates), ["code"])
    if rows.empty:
        raise Unavailable(f"no quotes of {scope.until} are stored")
    return rows


def _of_date(
    ctx: FetchContext, day: str, codes: tuple[str, ...] | None, bars: pd.DataFrame, classes: Classes
) -> pd.DataFrame:
    def read(table: str, columns: tuple[str, ...], *, dated: bool = True) -> pd.DataFrame:
        span = {"since": day, "until": day} if dated else {}
        return ctx.read(table, columns=("code", *columns), codes=codes, **span)

    rows = read("fusion_quote_snapshot", _QUOTE)
    if rows.empty:
        return rows
    master = read("fusion_stock_master", _MASTER, dated=False)
    rows = rows.merge(master[master["sec_type"] == "stock"], on="code", how="inner")
    rows = rows.merge(read("fusion_valuation", _VALUATION), on="code", how="left")
    rows = rows.merge(shares_on(ctx, day, codes), on="code", how="left")
    rows = rows.merge(
        known_on(ctx, "fusion_stock_industry", ("code", *_BOARDS), day, codes), on="code", how="left"
    )
    rows = rows.merge(classes.on(day)[["code", *_CLASSES]], on="code", how="left")
    rows["industry"] = rows["sw_l2_name"].fillna(rows["em_industry"]).fillna(rows["tdx_industry"])
    rows = rows.merge(read("fusion_kline_daily", _BAR), on="code", how="left", suffixes=("", "_bar"))
    for column in _BAR:
        # The bar's is the same whenever its date is loaded; sites round theirs, and have none later.
        rows[column] = rows[f"{column}_bar"].where(rows[f"{column}_bar"].notna(), rows[column])
    rows["trade_date"] = day
    # What the master says of special treatment is of today.
    names = named(rows.assign(date=day), read("ref_name_history", _NAMES, dated=False))
    rows["is_st"] = pd.Series(names.special, index=rows.index).map({1.0: True, 0.0: False})
    rows["name"] = rows["name"].where(rows["name"].notna(), pd.Series(names.name, index=rows.index))
    rows["current_price"] = rows["price"]
    rows["total_volume"] = (rows["volume"] // 100).astype("Int64")
    for part in (
        *(of(ctx, day, codes) for of in (events.flows, events.margins, events.finance, events.holders)),
        events.billboard(ctx, day, rows["code"]),
        *(of(ctx, day, codes) for of in (events.block_trades, events.lockups, events.pledged)),
        events.goodwill(ctx, day, codes),
        _wide_bars.stats(ctx, day, codes, bars),
    ):
        rows = rows.merge(part, on="code", how="left")
    return rows


def priced_unless_suspended(rows: pd.DataFrame, context: Context) -> pd.Series:
    return (rows["current_price"] > 0) | rows["is_suspended"].fillna(False)


def covers_listed_stocks(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 95 % of the listed A shares have a row."""
    day = context.scope.until
    master = context.read("fusion_stock_master", columns=("code", "sec_type", "list_date", "delist_date"))
    listed = master[(master["sec_type"] == "stock") & listed_on(master, day)]
    if context.scope.codes is not None or int((rows["trade_date"] == day).sum()) >= 0.95 * len(listed):
        return None
    return f"{len(rows)} of {len(listed)} listed stocks"


def shares_are_of_the_date(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["total_shares"].notna()


def industry_is_of_the_date(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["industry"].notna()


_OWNERS = _owners()
DATASET = Dataset(
    name="stock_wide",
    subject="market",
    title="Wide table of stocks",
    model=StockWide,
    adjusted=_wide_bars.ADJUSTED,
    domain="wide",
    sources=(Source("derived", joined),),
    soft=(
        Soft(priced_unless_suspended, "no price on a traded day"),
        Soft(float_cap_within_total, "float cap above total cap"),
        Soft(shares_are_of_the_date, "no record of the shares that the stock had on the date"),
        Soft(industry_is_of_the_date, "no record of the industry that the stock was in on the date"),
    ),
    whole=(Whole(covers_listed_stocks),),
    reads=(*dict.fromkeys(table for table, _ in _OWNERS.values()), "raw_quote", "ref_exright"),
    undated={"fusion_stock_master": ("code", *_MASTER, "delist_date")},
    as_known=("fusion_stock_industry",),
    owners=_OWNERS,
    needs=(
        Needed("fusion_valuation", _VALUATION),
        Needed("fusion_fund_flow", (*events.FLOW, "main_net_5d", "main_net_10d")),
        Needed("fusion_kline_daily", tuple(_wide_bars.STATS)),
        *_wide_bars.NEEDS,
        Needed("fusion_dragon_tiger", ("lhb_count_30d",), events.EVENT_DATES, before=True),
        Needed("fusion_block_trade", ("block_trade_premium_30d",), events.EVENT_DATES, before=True),
    ),
    public_at=close_of("trade_date"),
    freshness=trading(1, "trade_date"),
    tasks=("fusion_wide_sync", "eod_core"),
    interfaces=(
        latest("get_stock_wide", "newest wide row of a code", 60),
        batch("get_stock_wide_batch", "newest wide rows of many codes", 60),
        market("get_stock_wide_by_date", "by_date", "wide rows of all codes on one date", ttl=60).takes(
            trade_date=DAY, sort=TEXT, limit=200, offset=0, fields=TEXTS, industry_code=TEXT
        ),
        market("get_stock_rank", "by_date", "ranking on any wide column", ttl=30).takes(
            sort="-change_pct", limit=50, market=TEXT, industry_code=TEXT
        ),
        market(
            "get_stock_screen",
            "screen",
            "wide rows filtered by simple column conditions (keyword pe_ttm<20, roe>=15) and words",
            ttl=60,
        ).takes(fields=TEXTS, sort=TEXT, limit=100, keyword=TEXT),
    ),
)
