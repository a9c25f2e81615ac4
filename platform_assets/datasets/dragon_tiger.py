"""fusion_dragon_tiger: the exchanges' billboard (龙虎榜) by security, trade date and reason.

One security may be listed for several reasons on one date; the sums of its seats overlap then and must not be
added. Listings appear in the evening, so a load takes the trade date before with it; what became of the price
afterwards is filled for ten more. The seats come by side and rank: anonymous institutions share one name.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson
import pandas as pd

from core.declaration import columns as t
from core.declaration.columns import Model, col, key, received, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import canonical_json
from core.declaration.interfaces import DAY, REQUIRED, TEXT, by_date, history, market, stock
from core.declaration.rules import Contract, Rows, Soft, at_hour, trading
from core.declaration.scope import Context, Scope
from core.text_keys import hash_key
from platform_assets.datasets._events import (
    EXCHANGES,
    add_changes_after,
    by_dates,
    closed_after,
    trade_dates_only,
)
from resources.upstreams.exchanges.szse_billboard import PORTAL_WORDS
from resources.upstreams.fetch_context import FetchContext

OFFICIAL = ("szse", "sse")
_MOST_DATES = 10
"""As many as `exchange_sync` asks for."""


def few_dates(ctx: FetchContext, scope: Scope) -> bool:
    """The market of a few dates: the exchanges cannot be asked by code, and one call a date adds up. Counted
    are the requested dates, without the late one before them."""
    return scope.codes is None and len(scope.asked) <= _MOST_DATES


def shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Shenzhen's listings, one call for twenty."""
    rows: pd.DataFrame = ctx.szse.billboard(scope.since, scope.until)
    return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)


def shanghai(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Shanghai's listings, one call for a date."""
    return _of_dates(ctx, scope, 0)


def shanghai_seats(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The seats behind it: the same answers, no further call."""
    return _of_dates(ctx, scope, 1)


def _of_dates(ctx: FetchContext, scope: Scope, part: int) -> pd.DataFrame:
    found = [_billboard_of(ctx, day)[part] for day in scope.dates]
    return pd.concat(found, ignore_index=True) if len(found) > 1 else found[0].copy()


def _billboard_of(ctx: FetchContext, day: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Shanghai's listings of a date and their seats, asked once per run."""
    return ctx.once(("sse_billboard", day), lambda view: view.sse.billboard(day))


def where_the_portal_is_silent(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without the exchanges' own of dates on which the portal has rows: it has theirs, with more
    columns."""
    reported = set(rows.loc[rows["src"] == "eastmoney", "date"])
    return rows[~(rows["src"].isin(list(OFFICIAL)) & rows["date"].isin(reported))]


def of_known_rules(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without Shenzhen's under a rule that is not known. The portal words such a rule otherwise, so
    the listing would stay as a second row next to the portal's."""
    return rows[(rows["src"] != "szse") | rows["reason"].isin(PORTAL_WORDS)]


PUBLISHED = "18:00"
INSTITUTION = "机构专用"
_AFTER = {"next_change_pct": 1, "d5_change_pct": 5, "d10_change_pct": 10}
_FILLED_IN = 2
_SEVERAL_DAYS = re.compile(r"连续.*交易日|最近.*交易日")
_SEAT = ("rank_no", "branch_code", "branch_name", "buy_amt", "sell_amt", "net_amt")


class DragonTiger(Model):
    """One listing: a security on a trade date for one reason."""

    code: t.Code = key("security code")
    date: t.Date = key("trade date")
    reason_key: t.K16 = key("hash of the reason")
    reason: t.S255 = col(title="why it is listed", nullable=False)
    name: t.S64 = col(title="name on the date")
    close: t.Px = col("CNY", "closing price", ge=0)
    change_pct: t.Pct = col("pct", "change of the day")
    turnover: t.Pct = col("pct", "turnover rate", ge=0)
    amount: t.Amt = col("CNY", "turnover of the day, or of the days that the reason is about", ge=0)
    net_buy: t.Amt = col("wan", "bought - sold of the seats")
    buy_amt: t.Amt = col("wan", "bought by the seats", ge=0)
    sell_amt: t.Amt = col("wan", "sold by the seats", ge=0)
    deal_amt: t.Amt = col("wan", "bought + sold of the seats", ge=0)
    net_ratio_pct: t.Pct = col("pct", "net of the seats / turnover")
    deal_ratio_pct: t.Pct = col("pct", "deals of the seats / turnover", ge=0)
    org_net_buy: t.Amt = col("wan", "bought - sold of the institutional seats", computed=True)
    org_buy_count: t.Int = col("", "institutions among the largest buyers", computed=True)
    org_sell_count: t.Int = col("", "institutions among the largest sellers", computed=True)
    is_multi_day: t.Bool = col(title="the reason is about several days", computed=True)
    next_change_pct: t.Pct = col("pct", "change on the trade date after")
    d5_change_pct: t.Pct = col("pct", "change in the five trade dates after")
    d10_change_pct: t.Pct = col("pct", "change in the ten trade dates after")
    buy_seats: t.Json = col(title="the largest buyers by rank; sums in 10k CNY")
    sell_seats: t.Json = col(title="the largest sellers by rank; sums in 10k CNY")


@with_columns(
    DragonTiger.code, DragonTiger.date, DragonTiger.reason_key, DragonTiger.reason, DragonTiger.net_buy,
    DragonTiger.buy_amt, DragonTiger.sell_amt, "seats",
)  # fmt: skip
class AuxLhb(Model):
    """One listing with its seats, stored as one of the F10 tables."""

    reason: t.S255 = col(title="why it is listed", nullable=False)
    seats: t.Json = col(title="{buy, sell}: the seats by rank")


class LhbBranch(Model):
    """One seat of a listing. Anonymous institutions share name and code: they are distinguished by rank."""

    trade_date: t.Date = key("trade date")
    code: t.Code = key("security code")
    reason_key: t.K16 = key("hash of the reason")
    side: t.S4 = key("buy or sell", isin=["buy", "sell"])
    rank_no: t.Int = key("rank within the side", ge=1)
    src: t.K32 = key("upstream")
    branch_code: t.S16 = col(title="the portal's code of the branch")
    branch_name: t.S128 = col(title="branch", nullable=False)
    buy_amt: t.Amt = col("wan", "bought", ge=0)
    sell_amt: t.Amt = col("wan", "sold", ge=0)
    net_amt: t.Amt = col("wan", "bought - sold")
    buy_ratio_pct: t.Pct = col("pct", "bought / turnover", ge=0)
    sell_ratio_pct: t.Pct = col("pct", "sold / turnover", ge=0)
    is_org: t.Bool = col(title="an anonymous institution")


def _with_reason_key(rows: pd.DataFrame) -> pd.DataFrame:
    keys = {reason: hash_key(reason) for reason in rows["reason"].unique()}
    return rows.assign(reason_key=rows["reason"].map(keys))


def listings(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for some six dates of the market; the tables of one run share it."""
    return _with_reason_key(by_dates(ctx, scope, "billboard", lambda eastmoney: eastmoney.billboard))


def shenzhen_listings(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """What Shenzhen itself lists."""
    return _with_reason_key(shenzhen(ctx, scope))


def shanghai_listings(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """What Shanghai itself lists."""
    return _with_reason_key(shanghai(ctx, scope))


def seats_of_shanghai(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Seats as Shanghai itself lists them."""
    return _seats(shanghai_seats(ctx, scope))


def seats(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls for a date of the market; the tables of one run share them."""
    return _seats(by_dates(ctx, scope, "billboard_seats", lambda eastmoney: eastmoney.billboard_seats))


def _seats(rows: pd.DataFrame) -> pd.DataFrame:
    keyed = _with_reason_key(rows)
    return keyed.assign(trade_date=keyed["date"], is_org=keyed["branch_name"].eq(INSTITUTION).astype(bool))


def listings_with_seats(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Listings with their seats in one row, from the answers of the other two tables."""
    rows, found = listings(ctx, scope), seats(ctx, scope)
    sides = _by_listing(found.drop(columns="date"))
    reported = [sides.get(line) for line in _lines(rows, "date")]
    return rows.assign(seats=[None if one is None else canonical_json(one) for one in reported])


def _lines(rows: pd.DataFrame, day: str) -> list[tuple[str, str, str]]:
    return list(rows[["code", day, "reason_key"]].itertuples(index=False, name=None))


def _by_listing(rows: pd.DataFrame) -> dict[tuple[str, str, str], dict[str, list[dict[str, Any]]]]:
    """(code, date, reason) -> {buy, sell}: seats by rank."""
    ranked = rows.sort_values(["code", "trade_date", "reason_key", "side", "rank_no"])
    made: dict[tuple[str, str, str], dict[str, list[dict[str, Any]]]] = {}
    # One object column each: numbers that are missing become null, not NaN.
    plain = ranked[list(_SEAT)].astype(object).where(ranked[list(_SEAT)].notna(), None)
    records = plain.to_dict("records")
    for line, side, seat in zip(_lines(ranked, "trade_date"), ranked["side"], records, strict=True):
        seat["rank_no"] = int(seat["rank_no"])
        made.setdefault(line, {"buy": [], "sell": []})[side].append({str(k): v for k, v in seat.items()})
    return made


def as_received(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    return of_known_rules(where_the_portal_is_silent(rows))


def seats_of_listings(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """A row per listing and source with its seats, which completes the row of the listing."""
    rows = where_the_portal_is_silent(rows.assign(date=rows["trade_date"]))
    return pd.concat([_completed(part, str(src)) for src, part in rows.groupby("src")], ignore_index=True)


def _completed(rows: pd.DataFrame, src: str) -> pd.DataFrame:
    sides = _by_listing(rows)
    made = pd.DataFrame(list(sides), columns=["code", "date", "reason_key"]).assign(src=src)
    for side in ("buy", "sell"):
        made[f"{side}_seats"] = [canonical_json(one[side]) for one in sides.values()]
    return made


def split_seats(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    reported = [orjson.loads(text) if isinstance(text, str) else None for text in rows["seats"]]
    for side in ("buy", "sell"):
        rows[f"{side}_seats"] = [None if one is None else canonical_json(one[side]) for one in reported]
    return rows


def add_changes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    return add_changes_after(rows, context, _AFTER)


def add_kind(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["is_multi_day"] = rows["reason"].map(lambda text: bool(_SEVERAL_DAYS.search(text))).astype(bool)
    return rows


def add_institutions(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Counts of both sides, and the net of all of them: a seat that is on both sides counts once."""
    reported = [
        _institutions(bought, sold)
        for bought, sold in zip(rows["buy_seats"], rows["sell_seats"], strict=True)
    ]
    for at, column in enumerate(("org_net_buy", "org_buy_count", "org_sell_count")):
        rows[column] = pd.Series([one[at] for one in reported], index=rows.index, dtype=object)
    return rows


def _institutions(bought: Any, sold: Any) -> tuple[float | None, int | None, int | None]:
    if not isinstance(bought, str) or not isinstance(sold, str):
        return None, None, None
    buyers, sellers = ([one for one in orjson.loads(side) if _is_institution(one)] for side in (bought, sold))
    # Without a name of its own an institution is known by what it bought and sold.
    both = [(one["buy_amt"], one["sell_amt"]) for one in buyers]
    net = sum(one["net_amt"] for one in buyers)
    for one in sellers:
        figures = (one["buy_amt"], one["sell_amt"])
        if figures in both:
            both.remove(figures)
        else:
            net += one["net_amt"]
    return round(net, 2), len(buyers), len(sellers)


def _is_institution(seat: Mapping[str, Any]) -> bool:
    return bool(seat["branch_name"] == INSTITUTION)


def net_is_bought_less_sold(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["net_buy"] - (rows["buy_amt"] - rows["sell_amt"])).abs() > 1)


def seats_within_turnover(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Bought + sold is not above twice the turnover."""
    return ~(rows["buy_amt"] + rows["sell_amt"] > rows["amount"] / 1e4 * 2)


def closes_as_its_bar(rows: pd.DataFrame, context: Context) -> pd.Series:
    bar = context.stored_column(rows, "fusion_kline_daily", "close")
    return ~((rows["close"] - bar).abs() > 0.005)


def next_change_is_filled(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Two trade dates later the change of the first of them is known."""
    due = {day: closed_after(context, day, _FILLED_IN) is not None for day in rows["date"].unique()}
    return ~(rows["date"].map(due).astype(bool) & rows["next_change_pct"].isna())


DATASET = Dataset(
    name="dragon_tiger",
    subject="trading",
    title="Billboard of the exchanges by trade date and reason",
    model=DragonTiger,
    adjusted=tuple(_AFTER),
    domain="daily",
    late=10,
    raw=(
        Raw(
            name="dragon_tiger",
            history=250,
            title="Billboard as the portal and the exchanges report it",
            model=received(DragonTiger, without=("buy_seats", "sell_seats")),
            sources=(
                Source("eastmoney", listings, parts=EXCHANGES),
                Source("szse", shenzhen_listings, few_dates, parts=("SZSE",)),
                Source("sse", shanghai_listings, few_dates, parts=("SSE",)),
            ),
            combine="all",
            late=1,
        ),
        Raw(
            name="lhb_branch",
            tasks=("fusion_daily_sync", "eod_core", "dragon_score_sync"),
            title="Seats of the billboard by side and rank",
            model=LhbBranch,
            sources=(
                Source("eastmoney", seats, parts=EXCHANGES),
                Source("sse", seats_of_shanghai, few_dates, parts=("SSE",)),
            ),
            late=1,
            topical=True,
            freshness=trading(3, "trade_date"),
        ),
        Raw(
            name="aux_lhb",
            history=250,
            tasks=("fusion_daily_sync", "eod_core"),
            also_tasks=("aux_f10_events_sync",),
            title="Billboard with its seats beside the F10 tables: both reports once more, no further call",
            model=AuxLhb,
            sources=(Source("em_f10", listings_with_seats, parts=EXCHANGES),),
            late=1,
        ),
    ),
    feeds={"raw_dragon_tiger": as_received, "raw_lhb_branch": seats_of_listings, "aux_lhb": split_seats},
    order=("eastmoney", "szse", "sse", "em_f10"),
    fuse=Rows(fills=("name", "close", "change_pct", "turnover", "buy_seats", "sell_seats")),
    contract=(Contract(trade_dates_only, "no trade date"),),
    derive=(add_changes, add_kind, add_institutions),
    soft=(
        Soft(net_is_bought_less_sold, "net differs from bought - sold by more than 10,000 CNY"),
        Soft(seats_within_turnover, "the seats dealt more than the turnover"),
        Soft(closes_as_its_bar, "another close than that of the bar"),
        Soft(next_change_is_filled, "two trade dates later the change of the next is missing"),
    ),
    reads=("fusion_kline_daily",),
    public_at=at_hour("date", PUBLISHED),
    later=tuple(_AFTER),
    freshness=trading(3),
    may_be_empty=True,  # nothing is out before the evening, and a quiet day has no listing
    tasks=("fusion_daily_sync", "eod_core", "exchange_sync"),
    interfaces=(
        history("get_dragon_tiger_history", "billboard listings of a code by date", 600, 60),
        by_date("get_dragon_tiger_by_date", "billboard listings of all codes on one date", 600),
        stock(
            "get_lhb_branch",
            "seats",
            "billboard seats of a code on one date",
            ttl=600,
            table="raw_lhb_branch",
        ).takes(code=REQUIRED, trade_date=DAY),
        market(
            "get_lhb_branch_stat",
            "branch_totals",
            "what each branch bought and sold on the billboard, largest first",
            ttl=3600,
            table="raw_lhb_branch",
        ).takes(days=30, branch_name=TEXT, limit=50),
        market(
            "get_lhb_branch_trades",
            "branch_trades",
            "billboard seats of one branch, newest first",
            ttl=3600,
            table="raw_lhb_branch",
        ).takes(branch_name=REQUIRED, days=90, limit=100),
    ),
)
