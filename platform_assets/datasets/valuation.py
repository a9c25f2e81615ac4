"""fusion_valuation: price ratios and market caps of every stock, by trade date.

raw_valuation is owned here: the portal's report by date, and today's ratios of the quote site's batch. The
quote batches feed prices and caps, and caps of a past date follow from the shares in force on that date.
"""

import numpy as np
import pandas as pd

from core.declaration import columns as t
from core.declaration import rules
from core.declaration.columns import EVENING, Model, Received, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import REQUIRED, batch, by_date, history, latest, stock
from core.declaration.scope import Context, Scope
from core.market.securities import is_a_share
from platform_assets.compute.asof import value_on
from platform_assets.datasets._histories import mostly_unchanged
from platform_assets.datasets._per_share import REPORTS, per_share
from platform_assets.datasets._price_checks import float_cap_within_total
from resources.upstreams.fetch_context import FetchContext, current_session

_MOST_DATES = 10
_ISSUE_4 = "research issue: calc_valuation_band"


class Valuation(Model):
    """One stock on one trade date; ratios <= 0 are kept as published."""

    code: t.Code = key("security code")
    date: t.Date = key("trade date")
    name: t.S64 = col(title="name", varies=EVENING)
    price: t.Px = col("CNY", "closing price", nullable=False, gt=0)
    pe_ttm: t.F = col("", "price / earnings, trailing")
    pe_static: t.F = col("", "price / earnings, last year")
    pe_dynamic: t.F = col("", "price / earnings, annualised", varies=EVENING)
    pe_forward: t.F = col("", "price / consensus EPS of this year", computed=True, decimals=4, varies=EVENING)
    pb: t.F = col("", "price / book")
    ps_ttm: t.F = col("", "price / sales")
    pcf_ttm: t.F = col("", "price / cash flow")
    peg: t.F = col("", "PE / growth")
    dividend_yield: t.Pct = col("pct", "dividend yield", varies=EVENING)
    total_market_cap: t.Amt = col("wan", "total market cap", gt=0)
    float_market_cap: t.Amt = col("wan", "float market cap", gt=0)
    eps_ttm: t.Px = col("CNY", "profit of 12 months by share of the date; else price / pe_ttm", computed=True)
    bvps: t.Px = col("CNY", "reported book value by share of the date; else price / pb", computed=True)
    eps_fy1: t.Px = col("CNY", "consensus EPS, this year", varies=EVENING)
    eps_fy2: t.Px = col("CNY", "consensus EPS, next year", varies=EVENING)
    eps_fy3: t.Px = col("CNY", "consensus EPS, the year after", varies=EVENING)
    forecast_orgs: t.Int = col("", "brokers in the consensus of this year", ge=0)
    pe_pct_3y: t.Pct = col("pct", "percentile of pe_ttm in 3 years", computed=True, no_source=_ISSUE_4)
    pb_pct_3y: t.Pct = col("pct", "percentile of pb in 3 years", computed=True, no_source=_ISSUE_4)
    pe_pct_5y: t.Pct = col("pct", "percentile of pe_ttm in 5 years", computed=True, no_source=_ISSUE_4)
    pb_pct_5y: t.Pct = col("pct", "percentile of pb in 5 years", computed=True, no_source=_ISSUE_4)


@with_columns(
    Valuation.code, Valuation.date, Received.src, Valuation.price, Valuation.pe_ttm, Valuation.pe_static,
    Valuation.pb, Valuation.ps_ttm, Valuation.pcf_ttm, Valuation.peg, Valuation.total_market_cap,
    Valuation.float_market_cap, "total_shares", Valuation.dividend_yield,
)  # fmt: skip
class RawValuation(Model):
    """Ratios of one stock on one date as one upstream shows them."""

    price: t.Px = col("CNY", "closing price", ge=0)
    total_market_cap: t.Amt = col("wan", "total market cap", ge=0)
    float_market_cap: t.Amt = col("wan", "float market cap", ge=0)
    total_shares: t.Big = col("sh", "total shares", ge=0)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Twelve calls for a date of the market; of codes one for a hundred and some dates."""
    parts = (
        [ctx.eastmoney.valuations(day, day) for day in scope.dates]
        if scope.codes is None
        else [ctx.eastmoney.valuations(scope.since, scope.until, codes) for codes in scope.code_groups()]
    )
    rows = pd.concat(parts, ignore_index=True)
    mine = rows["code"].map(is_a_share).astype(bool) & rows["date"].isin(list(scope.dates))
    return rows[mine & (rows["price"] > 0)].reset_index(drop=True)


def of_few_dates(ctx: FetchContext, scope: Scope) -> bool:
    """A year of the market would be three thousand calls; a year of a hundred codes is fifty."""
    return scope.codes is not None or len(scope.dates) <= _MOST_DATES


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Ratios of the quote site's batch, shared with raw_quote; stocks with a price only."""
    rows = ctx.site_quotes()
    rows = rows[
        (rows["sec_type"] == "stock") & (rows["price"] > 0) & rows["code"].map(scope.covers).astype(bool)
    ]
    return rows.assign(date=scope.until)


def from_ratios(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    return rows[rows["price"] > 0]


CONSENSUS = "aux_worth"
_EXPECTED = ("eps_fy1", "eps_fy2", "eps_fy3")
_FROM_QUOTE = (
    "name",
    "price",
    "pe_ttm",
    "pe_static",
    "pe_dynamic",
    "pb",
    "total_market_cap",
    "float_market_cap",
)


def from_quotes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Quotes of stocks with a price; the terminal's have no ratios but carry the price."""
    stocks = rows[(rows["sec_type"] == "stock") & (rows["price"] > 0)]
    staged = stocks[["code", "src", *_FROM_QUOTE]].copy()
    staged["date"] = stocks["trade_date"]
    return staged


def from_consensus(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Expected earnings of the year of the scope's date and of the two after it. Only the current consensus
    is published, so it is of the newest trade date; what came after its close was not known at it
    (`stored_after_close`)."""
    day = context.scope.until
    columns = ["code", "date", "src", *_EXPECTED, "forecast_orgs"]
    if context.scope.is_range or context.calendar.on_or_before(context.today) != day:
        return pd.DataFrame(columns=columns)
    ahead = rows["forecast_year"].astype(int) - int(day[:4])
    known = rows.assign(ahead=ahead)[ahead.between(0, len(_EXPECTED) - 1)]
    wide = known.pivot(index=["code", "src"], columns="ahead", values="eps_mean")
    wide = wide.reindex(columns=range(len(_EXPECTED))).set_axis(list(_EXPECTED), axis=1)
    brokers = known[known["ahead"] == 0].set_index(["code", "src"])["org_count"]
    return wide.assign(forecast_orgs=brokers, date=day).reset_index()[columns]


def stored_after_close(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Rows whose consensus was stored after the close that they are of."""
    reported = context.read(CONSENSUS, columns=("code", "imported_at"))
    newest = reported.groupby("code")["imported_at"].max().to_dict()
    at = [newest.get(code, "") for code in rows["code"]]
    return pd.Series(at, index=rows.index, dtype=object) >= rows["date"].astype(object) + " 15:00:00"


def fill_caps(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Caps that no source gave, from the shares in force on the date."""
    changes = context.read(
        "ref_exright", columns=("code", "date", "total_after", "float_after"), until=context.scope.until
    )
    for cap, shares in (("total_market_cap", "total_after"), ("float_market_cap", "float_after")):
        known = value_on(rows, changes[changes[shares] > 0], shares)
        rows[cap] = rows[cap].fillna(
            pd.Series(rows["price"].to_numpy(dtype=float) * known / 1e4, index=rows.index)
        )
    return rows


def add_per_share(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Earnings and book value per share from the reports; where no report is stored, from the ratios, as
    rounded as those are. Of a flagged report nothing: the ratios may be of the one before, and one figure
    would jump to the other."""
    reported = per_share(rows, context)
    price = rows["price"].where(~reported["flagged"])
    rows["eps_ttm"] = reported["eps_ttm"].fillna(price / rows["pe_ttm"].where(rows["pe_ttm"] > 0))
    rows["bvps"] = reported["bvps"].fillna(price / rows["pb"].where(rows["pb"] > 0))
    rows["pe_forward"] = rows["price"] / rows["eps_fy1"].where(rows["eps_fy1"] > 0)
    return rows


def consensus_is_mostly_as_told(rows: pd.DataFrame, context: Context) -> pd.Series:
    """At least half of the market's forecasts of a year are those of the trade date before: opinions change
    one by one."""
    day = context.scope.until  # consensus is of the newest date alone
    before = context.calendar.offset(day, -1)
    reported = rows[rows["eps_fy1"].notna() & (rows["date"] == day)].assign(year=day[:4])
    if reported.empty or before[:4] != day[:4]:
        return pd.Series(True, index=rows.index)
    columns = ("code", "eps_fy1", "quality_flags")
    stored = context.read("fusion_valuation", columns=columns, since=before, until=before)
    check = consensus_is_mostly_as_told.__name__
    fine = mostly_unchanged(reported, stored, key=("code",), columns=("eps_fy1",), series="year", check=check)
    return fine.reindex(rows.index, fill_value=True)


def cap_fits_shares(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The cap is price x total shares within 2 %."""
    changes = context.read("ref_exright", columns=("code", "date", "total_after"), until=context.scope.until)
    shares = value_on(rows, changes[changes["total_after"] > 0], "total_after")
    expected = rows["price"].to_numpy(dtype=float) * shares / 1e4
    cap = rows["total_market_cap"].to_numpy(dtype=float)
    with np.errstate(invalid="ignore"):
        far = np.abs(cap - expected) > 0.02 * expected
    return pd.Series(~far, index=rows.index)


def cap_rounding(rows: pd.DataFrame) -> pd.Series:
    """Half of the million CNY that the quote site rounds caps to, in 10k CNY."""
    of_site = (rows["src"] == "tencent") | (rows["stored_src"] == "tencent")
    return pd.Series(50.0, index=rows.index).where(of_site)


DATASET = Dataset(
    name="valuation",
    subject="trading",
    title="Valuation by trade date",
    model=Valuation,
    domain="daily",
    raw=(
        Raw(
            name="valuation",
            history=120,
            gaps=True,
            title="Valuation ratios as the upstreams show them",
            model=RawValuation,
            sources=(
                Source("eastmoney", portal, only_when=of_few_dates),
                Source("tencent", quote_site, only_when=current_session),
            ),
            combine="all",  # the batch costs no further call, and it alone has the yield
        ),
    ),
    feeds={"raw_valuation": from_ratios, "raw_quote": from_quotes, CONSENSUS: from_consensus},
    order=("tencent", "eastmoney", "tdx", "ths", "em_f10"),
    completes=("ths", "em_f10"),
    fuse=rules.Fields(
        # The quote site rounds caps to a million CNY; the portal has them to the yuan.
        order=dict.fromkeys(("total_market_cap", "float_market_cap"), ("eastmoney", "tencent")),
        tolerance={"pe_ttm": 0.05, "pb": 0.02, "total_market_cap": 0.02},
        # It has two decimals of a ratio, the portal more.
        finer={"pe_ttm": ("eastmoney", 0.005), "pe_static": ("eastmoney", 0.005), "pb": ("eastmoney", 0.005)},
    ),
    unchanged_within={"total_market_cap": cap_rounding, "float_market_cap": cap_rounding},
    derive=(fill_caps, add_per_share),
    soft=(
        rules.Soft(float_cap_within_total, "float cap above total cap"),
        rules.Soft(
            consensus_is_mostly_as_told, "most forecasts of the market changed since the trade date before"
        ),
        rules.Soft(cap_fits_shares, "cap differs from price x shares by more than 2 %"),
    ),
    reads=("ref_exright", REPORTS, CONSENSUS),
    reads_own_past=True,
    public_at=rules.close_of("date"),
    later=(*_EXPECTED, "forecast_orgs", "pe_forward"),
    later_rows=stored_after_close,
    freshness=rules.trading(1),
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        latest("get_valuation", "newest valuation of a code", 300),
        batch("get_valuation_batch", "newest valuations of many codes", 300),
        history("get_valuation_history", "valuations of a code by date", 300),
        by_date("get_valuation_by_date", "valuations of the market on one date", 300),
        stock(
            "get_valuation_percentile",
            "valuation_percentile",
            "percentiles of pe and pb in the window",
            ttl=3600,
            returns="object|null",
        ).takes(code=REQUIRED, days=1250),
    ),
)
