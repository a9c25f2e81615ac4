"""Columns of the wide row from tables of events and reports: as it was known on the row's date."""

import pandas as pd

from core.days import moved
from resources.upstreams.fetch_context import FetchContext

_COUNT_DAYS = 400
"""A holder count that is older than this is no longer shown."""
EVENT_DATES = 30
"""Trade dates before a row that listings and deals are counted over."""
REPORTS_SINCE = 730
"""Days that the newest report of a stock may lie back."""
FLOW = ("main_net", "main_net_pct", "super_net", "large_net")
FINANCE = (
    *("report_period", "revenue", "revenue_yoy", "net_profit", "net_profit_yoy", "roe", "roa"),
    *("gross_margin", "net_margin", "debt_ratio", "eps", "bvps", "ocfps"),
)


def flows(ctx: FetchContext, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """Money flow of the day, and the main net of 5 and 10 sessions where all of them are stored."""
    dates = ctx.calendar.last(10, day)
    columns = ("code", "date", "main_net", "main_net_pct", "super_net", "large_net")
    stored = ctx.read("fusion_fund_flow", columns=columns, codes=codes, since=dates[0], until=day)
    rows = stored[stored["date"] == day].drop(columns="date")
    for sessions in (5, 10):
        recent = stored[stored["date"] >= dates[-sessions]].groupby("code")["main_net"]
        whole = recent.sum().where(recent.count() == sessions)
        rows[f"main_net_{sessions}d"] = rows["code"].map(whole).astype(float)
    return rows


def margins(ctx: FetchContext, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The financing balance that was known on the day, of the trade date before (it comes out at 09:00),
    and its change over five trade dates where both balances are stored."""
    dates = ctx.calendar.last(7, day)[:-1]
    columns = ("code", "date", "rzye")
    stored = ctx.read("fusion_margin", columns=columns, codes=codes, since=dates[0], until=dates[-1])
    rows = stored[stored["date"] == dates[-1]][["code", "rzye"]].reset_index(drop=True)
    past = stored[stored["date"] == dates[0]].set_index("code")["rzye"]
    before = rows["code"].map(past[past > 0]).astype(float)
    rows["margin_change_5d"] = (rows["rzye"] / before - 1) * 100
    return rows


def reports_since(day: str) -> str:
    """The oldest report period that is shown on a day."""
    return moved(day, -REPORTS_SINCE)


def finance(ctx: FetchContext, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The newest report period of each code among those that were announced by the day."""
    columns = ("code", "ann_date", *FINANCE)
    stored = ctx.read(
        "fusion_finance_indicator", columns=columns, codes=codes, since=reports_since(day), until=day
    )
    return _newest_announced(stored, day, "report_period").drop(columns="ann_date")


def _newest_announced(stored: pd.DataFrame, day: str, by: str) -> pd.DataFrame:
    """The newest row of each code, by the date in `by`, of those whose notice was out on `day`."""
    known = stored[stored["ann_date"].notna() & (stored["ann_date"].fillna("") <= day)]
    return known.sort_values(["code", by]).drop_duplicates(subset="code", keep="last")


def holders(ctx: FetchContext, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The newest count whose notice was out on the day."""
    oldest = moved(day, -_COUNT_DAYS)
    columns = ("code", "date", "ann_date", "holder_num", "change_ratio")
    stored = ctx.read("fusion_holder", columns=columns, codes=codes, since=oldest, until=day)
    reported = _newest_announced(stored, day, "date")
    return reported.rename(columns={"change_ratio": "holder_change_ratio"}).drop(columns=["date", "ann_date"])


def billboard(ctx: FetchContext, day: str, codes: pd.Series) -> pd.DataFrame:
    """On how many of the 30 trade dates before `day` each code was on the billboard: that of the day itself
    comes out in the evening."""
    dates = ctx.calendar.last(EVENT_DATES + 1, day)[:-1]
    stored = ctx.read("fusion_dragon_tiger", columns=("code", "date"), since=dates[0], until=dates[-1])
    listed = stored.drop_duplicates()["code"].value_counts()
    return pd.DataFrame({"code": codes, "lhb_count_30d": codes.map(listed).astype(float).fillna(0)})


def block_trades(ctx: FetchContext, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """Mean premium of the deals in the 30 trade dates before `day`, weighted by amount."""
    dates = ctx.calendar.last(EVENT_DATES + 1, day)[:-1]
    columns = ("code", "date", "premium_pct", "amount")
    stored = ctx.read("fusion_block_trade", columns=columns, codes=codes, since=dates[0], until=dates[-1])
    stored = stored[stored["premium_pct"].notna() & (stored["amount"] > 0)]
    sums = stored.assign(weighted=stored["premium_pct"] * stored["amount"]).groupby("code")
    mean = sums["weighted"].sum() / sums["amount"].sum()
    return mean.rename("block_trade_premium_30d").reset_index()


def lockups(ctx: FetchContext, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The next release after `day`. Plans change and have no versions: the current ones belong to the session
    that has just ended; of a past day the stored value is kept."""
    columns = ["code", "next_lockup_date", "next_lockup_ratio"]
    if not ctx.is_current_session(day):
        kept = ctx.read(
            "fusion_stock_wide", columns=("trade_date", *columns), codes=codes, since=day, until=day
        )
        return kept[columns]
    stored = ctx.read("raw_lockup", columns=("code", "free_date", "ratio_total_pct"), codes=codes)
    coming = stored[stored["free_date"] > day]
    if coming.empty:
        return pd.DataFrame(columns=columns)
    first = coming[coming["free_date"] == coming.groupby("code")["free_date"].transform("min")]
    sums = first.groupby(["code", "free_date"])["ratio_total_pct"].sum(min_count=1)
    return sums.reset_index().set_axis(columns, axis=1)


OWNERS = {
    "pledge_ratio": ("raw_risk_pledge", "pledge_ratio"),
    "goodwill_ratio": ("raw_risk_goodwill", "goodwill_equity_ratio_pct"),
}
"""Column of the wide table -> where it is taken from."""
_LIST_DAYS = 21
"""A list of pledges that is older than this is no longer shown."""
Codes = tuple[str, ...] | None


def pledged(ctx: FetchContext, day: str, codes: Codes) -> pd.DataFrame:
    """Pledged share of each code in the newest list before `day`: that of the day itself comes out in the
    evening. A code that is not in the list has no known pledge."""
    columns = ("code", "trade_date", "pledge_ratio")
    stored = ctx.read(
        "raw_risk_pledge", columns=columns, codes=codes, since=moved(day, -_LIST_DAYS), until=moved(day, -1)
    )
    newest = stored[stored["trade_date"] == stored["trade_date"].max()]
    return newest[["code", "pledge_ratio"]]


def goodwill(ctx: FetchContext, day: str, codes: Codes) -> pd.DataFrame:
    """Goodwill / equity of the newest report period of each code, of those that were announced by `day`."""
    columns = ("code", "report_period", "goodwill_equity_ratio_pct", "ann_date")
    stored = ctx.read("raw_risk_goodwill", columns=columns, codes=codes, since=reports_since(day), until=day)
    newest = _newest_announced(stored, day, "report_period")
    return newest[["code", "goodwill_equity_ratio_pct"]].set_axis(["code", "goodwill_ratio"], axis=1)
