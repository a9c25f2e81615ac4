"""raw_convertible_bond: every convertible bond that trades, with its price, conversion and yield, by trade
date. A RAW table alone.

The portal has all columns; where it is away, the quote site's prices are joined with the terms that were
stored last, and what follows from prices is computed.
"""

from typing import Any

import numpy as np
import pandas as pd

from core.days import moved
from core.declaration.columns import S8, S32, S64, Amt, Code, Date, F, Model, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, latest, market, timeseries
from core.declaration.rules import Contract, trading
from core.declaration.scope import Context, Scope
from core.errors import Unavailable
from platform_assets.compute.bond_yield import coupon_rates, yield_to_maturity
from resources.upstreams.fetch_context import FetchContext, current_session

TABLE = "raw_convertible_bond"
_ERROR_RESPONSE = 100
_NEAR = 1.0
"""Percentage points by which a reported premium may be off that of the two prices."""
_STORED_DAYS = 30
_TERMS = (
    *("stock_code", "stock_name", "convert_price", "pure_bond_value", "rating", "maturity_date"),
    *("list_date", "putback_price", "force_redeem_price"),
)


class ConvertibleBond(Model):
    """One bond on one trade date. Prices are CNY for 100 CNY of bond."""

    trade_date: Date = key("trade date")
    code: Code = key("bond code")
    name: S64 = col(title="name")
    stock_code: Code = col(title="the stock that it converts into")
    stock_name: S64 = col(title="name of the stock")
    price: Px = col("CNY", "closing price", gt=0)
    change_pct: Pct = col("pct", "change of the day")
    amount: Amt = col("CNY", "turnover", ge=0)
    stock_price: Px = col("CNY", "closing price of the stock", gt=0)
    convert_price: Px = col("CNY", "price at which it converts", gt=0)
    convert_value: Px = col("CNY", "100 / conversion price x price of the stock", gt=0)
    premium_pct: Pct = col("pct", "price above the conversion value", gt=-100)
    double_low: F = col("", "price + premium in percent")
    ytm_pct: Pct = col("pct", "yield to maturity a year, before taxes")
    pure_bond_value: Px = col("CNY", "value as a plain bond", gt=0)
    rating: S8 = col(title="rating at issue")
    remain_size_yi: Amt = col("yi", "size that is left", no_source="the portal has the size at issue alone")
    maturity_date: Date = col(title="day of redemption")
    list_date: Date = col(title="listing date")
    redeem_status: S32 = col(title="whether it is called", no_source="no documented source names it")
    putback_price: Px = col("CNY", "price of the stock below which it may be put", gt=0)
    force_redeem_price: Px = col("CNY", "price of the stock above which it may be called", gt=0)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The list of the session and the terms of all bonds: about eight calls."""
    rows = ctx.eastmoney.bond_list()
    terms = ctx.eastmoney.bond_terms()[["code", "rating", "maturity_date", "coupons"]]
    rows = rows[rows["price"].notna()].merge(terms, how="left", on="code")
    terms_of = ["price", "trade_date", "maturity_date", "coupons", "maturity_redeem_price"]
    rows["ytm_pct"] = [_yield(*one) for one in rows[terms_of].itertuples(index=False, name=None)]
    return _of_scope(rows.assign(double_low=rows["price"] + rows["premium_pct"]), scope)


def _yield(price: float, day: Any, maturity: Any, coupons: Any, redemption: float) -> float:
    if not isinstance(maturity, str) or not isinstance(day, str):
        return np.nan
    rates = coupon_rates(coupons if isinstance(coupons, str) else None)
    return yield_to_maturity(price, day, maturity, rates, redemption)


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Prices of the bonds and their stocks from the batch that a run shares, with the terms stored last."""
    quotes = ctx.site_quotes()
    quotes = quotes[quotes["price"].notna() & ~quotes["is_suspended"]]
    columns = ("code", "trade_date", *_TERMS)
    terms = ctx.read(TABLE, columns=columns, since=moved(scope.until, -_STORED_DAYS), until=scope.until)
    if terms.empty:
        raise Unavailable("no terms of bonds are stored yet")
    terms = terms.sort_values("trade_date").drop_duplicates(subset="code", keep="last")
    shares = quotes[quotes["sec_type"] == "stock"].set_index("code")["price"]
    bonds = quotes.loc[
        quotes["sec_type"] == "cb", ["code", "name", "trade_date", "price", "change_pct", "amount"]
    ]
    rows = bonds.merge(terms.drop(columns="trade_date"), how="left", on="code")
    rows["stock_price"] = rows["stock_code"].map(shares).astype(float)
    rows["convert_value"] = _ERROR_RESPONSE / rows["convert_price"].astype(float) * rows["stock_price"]
    rows["premium_pct"] = (rows["price"] / rows["convert_value"] - 1) * 100
    return _of_scope(rows.assign(double_low=rows["price"] + rows["premium_pct"]), scope)


def _of_scope(rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Rows of the session: a bond that did not trade keeps the date of its last trade."""
    requested = rows["code"].map(scope.covers).astype(bool) & (rows["trade_date"] == scope.until)
    return rows[requested].reset_index(drop=True)


def premium_is_that_of_the_prices(rows: pd.DataFrame, context: Context) -> pd.Series:
    price, value = rows["price"].astype(float), rows["convert_value"].astype(float)
    gap = rows["premium_pct"].astype(float) - (price / value - 1) * 100
    return ~(gap.abs() > _NEAR)


DATASET = Raw(
    name="convertible_bond",
    title="Convertible bonds by trade date",
    model=ConvertibleBond,
    sources=(
        Source("eastmoney", portal, only_when=current_session),
        Source("tencent", quote_site, only_when=current_session),
    ),
    contract=(Contract(premium_is_that_of_the_prices, "the premium is not price / conversion value - 1"),),
    freshness=trading(2, "trade_date"),
    topical=True,
).alone(
    subject="other_securities",
    title="Convertible bonds",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        latest("get_convertible_bond", "one convertible bond", 300),
        market("get_convertible_bond_list", "by_date", "all convertible bonds", ttl=300).takes(
            trade_date=DAY, sort="double_low", limit=500
        ),
        timeseries("get_convertible_bond_history", "history", "premium series", ttl=600).takes(
            code=REQUIRED, limit=250
        ),
    ),
)
