"""fusion_stock_master: every security that the per-code datasets hold, from the quote batches.

Identity (name, market) comes from the terminal's list first, shares and listing dates from the portal.
A code that has been absent from all lists for five trade dates is delisted; one that goes on under another
code (`ref_code_change`) is not.
"""

import itertools

import pandas as pd

from core.declaration import columns as t
from core.declaration.columns import Model, col, key
from core.declaration.dataset import Dataset
from core.declaration.interfaces import REQUIRED, TEXT, batch, latest, market
from core.declaration.rules import Fields, Partition, Soft, calendar_days
from core.declaration.scope import Context
from core.market.names import is_st
from core.market.rules import limit_pct, lot_of
from core.market.securities import board_of, limit_class
from platform_assets.compute.pinyin import likely_reading

ABSENT_DATES = 5
_MARKET_BYTE = {"SH": "1", "SZ": "0", "BJ": "0"}


class StockMaster(Model):
    """One security."""

    code: t.Code = key("security code", str_matches=r"^([0-9]{5,6}|[A-Z.]{1,8})$")
    name: t.S64 = col(title="current name", nullable=False, str_length={"min_value": 1})
    market: t.S4 = col(
        title="SH, SZ, BJ, HK, US", nullable=False, fixed=True, isin=["SH", "SZ", "BJ", "HK", "US"]
    )
    exchange: t.S8 = col(title="SSE, SZSE, BSE", computed=True, fixed=True)
    sec_type: t.S8 = col(title="stock, etf, lof, cb, reit", nullable=False, fixed=True)
    board: t.S16 = col(title="main, gem, star, bj", computed=True, fixed=True)
    list_status: t.S4 = col(title="L listed, S suspended, D delisted, P before listing, R renumbered")
    list_date: t.Date = col(title="listing date", fixed=True)
    delist_date: t.Date = col(title="first trade date without the security", computed=True, fixed=True)
    is_st: t.Bool = col(title="special treatment", computed=True)
    currency: t.S4 = col(title="trading currency", computed=True, fixed=True)
    lot_size: t.Int = col("", "smallest buy order, shares", computed=True)
    total_shares: t.Big = col("sh", "total shares", ge=0)
    float_shares: t.Big = col("sh", "float shares", ge=0)
    pinyin_initials: t.S32 = col(title="initials of the name", computed=True)
    pinyin_full: t.S128 = col(title="spelling of the name", computed=True)
    ts_code: t.S16 = col(title="600519.SH form", computed=True, fixed=True)
    em_secid: t.S16 = col(title="1.600519 form", computed=True, fixed=True)
    tencent_symbol: t.S16 = col(title="sh600519 form", computed=True, fixed=True)
    hk_code: t.Code = col(
        title="H share of the same company", computed=True, no_source="ref_ah_pair (issue 3)"
    )
    price_limit_pct: t.F = col("pct", "price limit of an ordinary day", computed=True, decimals=4)


def from_quotes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Staged: what the newest quote batch of each source says about identity and shares."""
    newest = rows[rows["trade_date"] == rows["trade_date"].max()]
    staged = newest[["code", "src", "name", "market", "sec_type", "list_status", "list_date"]].copy()
    staged["total_shares"] = newest["total_shares"]
    staged["float_shares"] = newest["float_shares"]
    return staged[staged["name"].notna()]


def from_structures(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Staged: the share capital in force on the scope's last date."""
    known = rows[rows["change_date"] <= context.scope.until].sort_values("change_date", kind="stable")
    newest = known.drop_duplicates(subset=["code"], keep="last")
    return newest[["code", "src", "total_shares", "float_shares"]]


def add_identity(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    pairs = list(zip(rows["code"], rows["market"], strict=True))
    rows["board"] = [board_of(code, market) or None for code, market in pairs]
    rows["exchange"] = rows["market"].map({"SH": "SSE", "SZ": "SZSE", "BJ": "BSE"})
    rows["currency"] = "CNY"
    rows["ts_code"] = [f"{code}.{market}" for code, market in pairs]
    rows["em_secid"] = [f"{_MARKET_BYTE.get(market, '0')}.{code}" for code, market in pairs]
    rows["tencent_symbol"] = [f"{str(market).lower()}{code}" for code, market in pairs]
    kinds = [
        limit_class(code, market, str(name) if isinstance(name, str) else None)
        for (code, market), name in zip(pairs, rows["name"], strict=True)
    ]
    rows["is_st"] = [is_st(str(name)) for name in rows["name"]]
    rows["lot_size"] = [lot_of(kind, context.today)[0] for kind in kinds]
    rows["price_limit_pct"] = [
        limit_pct(kind, bool(st), context.today) for kind, st in zip(kinds, rows["is_st"], strict=True)
    ]
    return rows


def add_pinyin(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    read = [likely_reading(str(name)) for name in rows["name"]]
    rows["pinyin_initials"] = [likely.initials[:32] for likely in read]
    rows["pinyin_full"] = [likely.spelling[:128] for likely in read]
    return rows


def mark_delisted(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """A code without a quote on the last five downloaded trade dates is delisted; once it is, it stays so
    until it is quoted again. `delist_date` is the first trade date without it."""
    since = context.calendar.last(4 * ABSENT_DATES, context.today)[0]
    seen = context.read("raw_quote", columns=("code", "trade_date"), since=since)
    dates = sorted(set(seen["trade_date"].dropna()))
    newest = rows["code"].map(seen.groupby("code")["trade_date"].max())
    stored = context.read("fusion_stock_master", columns=("code", "delist_date"))
    known = rows["code"].map(dict(zip(stored["code"], stored["delist_date"], strict=True)))
    gone = pd.Series(False, index=rows.index)
    if len(dates) > ABSENT_DATES:
        gone = newest.isna() | (newest < dates[-ABSENT_DATES])
    following = dict(itertools.pairwise(dates))
    first_absent = known.where(known.notna(), newest.map(following)).astype(object)
    changed = rows["code"].isin(context.read("ref_code_change", columns=("code",))["code"])
    gone &= ~changed
    rows["delist_date"] = first_absent.where(gone, None)
    # The terminal's list, which alone has past dates, holds the listed codes and nothing more about them.
    rows["list_status"] = rows["list_status"].fillna("L").where(~gone, "D").where(~changed, "R")
    return rows


def float_within_total(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["float_shares"] > rows["total_shares"])


def stock_has_shares(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["sec_type"] == "stock") & (rows["list_status"] == "L") & ~(rows["total_shares"] > 0))


def listed_in_the_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["list_date"].isna() | (rows["list_date"] <= context.today) | (rows["list_status"] == "P")


DATASET = Dataset(
    name="stock_master",
    subject="securities",
    title="Security master",
    model=StockMaster,
    domain="wide",
    partition=Partition.SNAPSHOT,
    dimension=True,
    feeds={"raw_quote": from_quotes, "aux_equity": from_structures},
    order=("tdx", "tencent", "eastmoney", "em_f10"),
    completes=("em_f10",),
    fuse=Fields(
        order={
            # The terminal's list cuts names at eight bytes, so the full name of another source comes first.
            "name": ("tencent", "eastmoney"),
            "total_shares": ("eastmoney", "tencent"),
            "float_shares": ("eastmoney", "tencent"),
            "list_date": ("eastmoney",),
        },
        tolerance={"total_shares": 0.01},
    ),
    derive=(add_identity, add_pinyin, mark_delisted),
    soft=(
        Soft(float_within_total, "more float shares than total shares"),
        Soft(stock_has_shares, "a listed stock without total shares"),
        Soft(listed_in_the_past, "listing date in the future"),
    ),
    reads=("ref_code_change",),
    freshness=calendar_days(7),
    tasks=("fusion_wide_sync", "eod_core"),
    interfaces=(
        latest("get_stock_master", "master row of a code", 3600),
        batch("get_stock_master_batch", "master rows of many codes", 3600),
        market("get_stock_list", "securities", "security list with filters", ttl=3600).takes(
            market=TEXT, sec_type="stock", list_status="L", keyword=TEXT, page=1, page_size=100
        ),
        market("get_stock_search", "security_search", "code, name and pinyin search", ttl=600).takes(
            keyword=REQUIRED, page=1, page_size=10
        ),
        market("get_st_stocks", "special_treatment", "ST and *ST securities", ttl=3600).takes(limit=500),
        market("get_new_stocks", "young_securities", "securities listed within days", ttl=3600).takes(
            days=60, limit=200
        ),
    ),
)
