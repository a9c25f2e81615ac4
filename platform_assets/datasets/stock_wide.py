"""fusion_stock_wide: the one display row per stock and trade date.

Quote fields come from the fused closing quotes, every other field from its owner table; changes, extremes
and limit streaks from a year of stored bars, corrected by the limit pools where those name a stock. Columns
whose owner is not built yet stay NULL and name the issue that brings them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from platform_assets.compute import wide_stats
from platform_assets.compute.days import moved
from platform_assets.compute.name_spans import named
from platform_assets.datasets import _wide_risks
from platform_assets.declaration.columns import (
    S4,
    S16,
    S32,
    S64,
    Amt,
    Big,
    Bool,
    Code,
    Date,
    F,
    Int,
    Json,
    Model,
    Pct,
    Px,
    col,
    key,
    model_columns,
)
from platform_assets.declaration.dataset import Dataset, Source
from platform_assets.declaration.rules import Interface, Rows, Soft, Whole, batch, close_of, latest, trading
from platform_assets.declaration.scope import Context, Scope
from resources.errors import Unavailable

WINDOW = 251
"""Sessions of bars behind a row: a year of changes and the 52-week extremes."""
_COUNT_DAYS = 400
"""A holder count that is older than this is no longer shown."""
EVENT_DATES = 30
"""Trade dates before a row that listings and deals are counted over."""
POOL_SESSIONS = 20
"""Sessions that a limit-up counts for."""


class StockWide(Model):
    """Units follow the stock list: total_volume in lots, caps in 10k CNY; amount and flows in CNY."""

    code: Code = key("security code")
    trade_date: Date = key("trade date")
    name: S64 = col(title="name on the date")
    market: S4 = col(title="SH, SZ, BJ")
    board: S16 = col(title="main, gem, star, bj")
    list_date: Date = col(title="listing date")
    is_st: Bool = col(title="special treatment on the date")
    is_suspended: Bool = col(title="no trade on the day")
    current_price: Px = col("CNY", "closing price", ge=0)
    open: Px = col("CNY", "opening price")
    high: Px = col("CNY", "highest price")
    low: Px = col("CNY", "lowest price")
    last_close: Px = col("CNY", "reference price")
    change_pct: Pct = col("pct", "change of the day")
    speed_pct: Pct = col("pct", "change over 5 minutes")
    amplitude_pct: Pct = col("pct", "(high - low) / reference price")
    total_volume: Big = col("lot", "lots traded", ge=0)
    amount: Amt = col("CNY", "turnover", ge=0)
    turnover_pct: Pct = col("pct", "turnover rate")
    volume_ratio: F = col("", "volume against the 5-day mean")
    pe_ttm: F = col("", "price / earnings, trailing")
    pe_static: F = col("", "price / earnings, last year")
    pb: F = col("", "price / book")
    ps_ttm: F = col("", "price / sales")
    dividend_yield: Pct = col("pct", "dividend yield")
    total_market_cap: Amt = col("wan", "total market cap")
    float_market_cap: Amt = col("wan", "float market cap")
    total_shares: Big = col("sh", "total shares")
    float_shares: Big = col("sh", "float shares")
    limit_up: Px = col("CNY", "limit-up price")
    limit_down: Px = col("CNY", "limit-down price")
    chg_3d: Pct = col("pct", "change over 3 sessions")
    chg_5d: Pct = col("pct", "change over 5 sessions")
    chg_10d: Pct = col("pct", "change over 10 sessions")
    chg_20d: Pct = col("pct", "change over 20 sessions")
    chg_60d: Pct = col("pct", "change over 60 sessions")
    chg_120d: Pct = col("pct", "change over 120 sessions")
    chg_1y: Pct = col("pct", "change over 250 sessions")
    chg_ytd: Pct = col("pct", "change since the last session of the previous year")
    high_52w: Px = col("CNY", "highest price of 250 sessions, adjusted to the date")
    low_52w: Px = col("CNY", "lowest price of 250 sessions, adjusted to the date")
    ma5_dev_pct: Pct = col("pct", "close against the 5-session mean")
    ma20_dev_pct: Pct = col("pct", "close against the 20-session mean")
    vol_accel_5_5: F = col("", "mean volume of 5 sessions / of the 5 before")
    volatility_20d: Pct = col("pct", "deviation of 20 daily returns")
    main_net: Amt = col("CNY", "main net inflow")
    main_net_pct: Pct = col("pct", "main net inflow / amount")
    main_net_5d: Amt = col("CNY", "main net inflow of 5 sessions")
    main_net_10d: Amt = col("CNY", "main net inflow of 10 sessions")
    super_net: Amt = col("CNY", "super-large net inflow")
    large_net: Amt = col("CNY", "large net inflow")
    rzye: Amt = col("CNY", "financing balance, newest known")
    margin_change_5d: Pct = col("pct", "change of the financing balance in 5 trade dates")
    limit_status: S16 = col(title="none, up, down, up_open, down_open")
    limit_days_today: Int = col("", "consecutive limit-ups including today")
    limit_up_count_20d: Int = col("", "limit-ups in 20 sessions")
    break_fail_days_5d: Int = col("", "sessions of 5 with a limit touched and not held")
    zt_stat_latest: S32 = col(title="N天M板 of the latest limit-up of 20 sessions")
    seal_fund_latest: Amt = col("CNY", "seal fund of the latest limit-up of 20 sessions")
    report_period: Date = col(title="newest published report")
    revenue: Amt = col("CNY", "revenue")
    revenue_yoy: Pct = col("pct", "revenue, year on year")
    net_profit: Amt = col("CNY", "net profit")
    net_profit_yoy: Pct = col("pct", "net profit, year on year")
    roe: Pct = col("pct", "return on equity")
    roa: Pct = col("pct", "return on assets")
    gross_margin: Pct = col("pct", "gross margin")
    net_margin: Pct = col("pct", "net margin")
    debt_ratio: Pct = col("pct", "debt ratio")
    eps: Px = col("CNY", "earnings per share")
    bvps: Px = col("CNY", "book value per share")
    ocfps: Px = col("CNY", "operating cash flow per share")
    goodwill_ratio: Pct = col("pct", "goodwill / equity in the newest report announced")
    holder_num: Big = col("", "holders, newest count announced")
    holder_change_ratio: Pct = col("pct", "change of holders since the count before")
    pledge_ratio: Pct = col("pct", "pledged shares / all shares in the newest list before the date")
    next_lockup_date: Date = col(title="next lock-up release, as planned on the date")
    next_lockup_ratio: Pct = col("pct", "shares released on that day / all shares", ge=0)
    lhb_count_30d: Int = col("", "of the 30 trade dates before, those on the billboard", ge=0)
    block_trade_premium_30d: Pct = col(
        "pct", "premium of block trades in the 30 trade dates before, by amount"
    )
    industry: S64 = col(title="industry")
    em_industry: S64 = col(title="industry board of the portal")
    sw_l1: S16 = col(title="SW level 1 code")
    sw_l2: S16 = col(title="SW level 2 code")
    sw_l1_name: S32 = col(title="SW level 1 name")
    sw_l2_name: S32 = col(title="SW level 2 name")
    concepts: Json = col(title="names of the concept boards")


_QUOTE = (
    *("name", "is_suspended", "open", "high", "low", "last_close", "change_pct", "speed_pct"),
    *("amplitude_pct", "amount", "turnover_pct", "volume_ratio", "price", "volume"),
    *("limit_up", "limit_down", "limit_status"),
)
_MASTER = ("market", "board", "list_date", "total_shares", "float_shares", "sec_type")
_VALUATION = ("pe_ttm", "pe_static", "pb", "ps_ttm", "dividend_yield", "total_market_cap", "float_market_cap")
_INDUSTRY = ("industry", "em_industry", "sw_l1", "sw_l2", "sw_l1_name", "sw_l2_name", "concepts")
_BAR = (
    *("limit_up", "limit_down", "limit_status", "amplitude_pct", "turnover_pct"),
    *("last_close", "change_pct"),
)
_NAMES = ("valid_from", "valid_to", "name", "is_st")
_STATS = (
    *("chg_3d", "chg_5d", "chg_10d", "chg_20d", "chg_60d", "chg_120d", "chg_1y", "chg_ytd"),
    *("high_52w", "low_52w", "ma5_dev_pct", "ma20_dev_pct", "vol_accel_5_5", "volatility_20d"),
    *("limit_up_count_20d", "break_fail_days_5d"),
)
_POOL = {"limit_days_today": "limit_days", "zt_stat_latest": "zt_stat", "seal_fund_latest": "seal_fund"}


_FLOW = ("main_net", "main_net_pct", "super_net", "large_net")
_FINANCE = (
    *("report_period", "revenue", "revenue_yoy", "net_profit", "net_profit_yoy", "roe", "roa"),
    *("gross_margin", "net_margin", "debt_ratio", "eps", "bvps", "ocfps"),
)
REPORTS_SINCE = 730
"""Days that the newest report of a stock may lie back."""


def _owners() -> dict[str, tuple[str, str]]:
    """Column -> the table and column it is taken from; what a year of bars gives rests on the closes."""
    owned = {
        "fusion_quote_snapshot": _QUOTE,
        "fusion_stock_master": _MASTER,
        "fusion_valuation": _VALUATION,
        "fusion_stock_industry": _INDUSTRY,
        "fusion_fund_flow": _FLOW,
        "fusion_finance_indicator": _FINANCE,
        "ref_name_history": ("is_st",),
    }
    names = {spec.name for spec in model_columns(StockWide)}
    owners = {name: (table, name) for table, columns in owned.items() for name in columns if name in names}
    return {
        **owners,
        **dict.fromkeys(_STATS, ("fusion_kline_daily", "close")),
        "current_price": ("fusion_quote_snapshot", "price"),
        "total_volume": ("fusion_quote_snapshot", "volume"),
        **dict.fromkeys(("main_net_5d", "main_net_10d"), ("fusion_fund_flow", "main_net")),
        **dict.fromkeys(("rzye", "margin_change_5d"), ("fusion_margin", "rzye")),
        "holder_num": ("fusion_holder", "holder_num"),
        "holder_change_ratio": ("fusion_holder", "change_ratio"),
        "lhb_count_30d": ("fusion_dragon_tiger", "date"),
        "block_trade_premium_30d": ("fusion_block_trade", "premium_pct"),
        "next_lockup_date": ("raw_lockup", "free_date"),
        "next_lockup_ratio": ("raw_lockup", "ratio_total_pct"),
        **{column: ("raw_limit_pool", theirs) for column, theirs in _POOL.items()},
        **_wide_risks.OWNERS,
    }


def joined(desk: Any, scope: Scope) -> pd.DataFrame:
    """Rows of the scope's dates from the owner tables."""
    parts = [part for day in scope.dates if len(part := _of_date(desk, day, scope.codes))]
    if not parts:
        raise Unavailable(f"no quotes of {scope.until} are stored")
    return pd.concat(parts, ignore_index=True)


def _of_date(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    def read(table: str, columns: tuple[str, ...], *, dated: bool = True) -> pd.DataFrame:
        span = {"since": day, "until": day} if dated else {}
        frame: pd.DataFrame = desk.read(table, columns=("code", *columns), codes=codes, **span)
        return frame

    rows = read("fusion_quote_snapshot", _QUOTE)
    if rows.empty:
        return rows
    master = read("fusion_stock_master", _MASTER, dated=False)
    rows = rows.merge(master[master["sec_type"] == "stock"], on="code", how="inner")
    rows = rows.merge(read("fusion_valuation", _VALUATION), on="code", how="left")
    rows = rows.merge(read("fusion_stock_industry", _INDUSTRY, dated=False), on="code", how="left")
    rows = rows.merge(read("fusion_kline_daily", _BAR), on="code", how="left", suffixes=("", "_bar"))
    for column in _BAR:
        own = rows[column].notna() & (column != "limit_status")
        # A quote without limits cannot tell its status: the bar's, with the day's limits, decides.
        rows[column] = rows[column].where(own | rows[f"{column}_bar"].isna(), rows[f"{column}_bar"])
    rows["trade_date"] = day
    # What the master says of special treatment is of today.
    names = named(rows.assign(date=day), read("ref_name_history", _NAMES, dated=False))
    rows["is_st"] = pd.Series(names.special, index=rows.index).map({1.0: True, 0.0: False})
    rows["name"] = rows["name"].where(rows["name"].notna(), pd.Series(names.name, index=rows.index))
    rows["current_price"] = rows["price"]
    rows["total_volume"] = (rows["volume"] // 100).astype("Int64")
    rows = rows.merge(_flows(desk, day, codes), on="code", how="left")
    rows = rows.merge(_margins(desk, day, codes), on="code", how="left")
    rows = rows.merge(_finance(desk, day, codes), on="code", how="left")
    rows = rows.merge(_holders(desk, day, codes), on="code", how="left")
    rows = rows.merge(_billboard(desk, day, rows["code"]), on="code", how="left")
    rows = rows.merge(_block_trades(desk, day, codes), on="code", how="left")
    rows = rows.merge(_lockups(desk, day, codes), on="code", how="left")
    rows = rows.merge(_wide_risks.pledged(desk, day, codes), on="code", how="left")
    rows = rows.merge(_wide_risks.goodwill(desk, day, codes, reports_since(day)), on="code", how="left")
    return rows.merge(_stats(desk, day, codes), on="code", how="left")


def _flows(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """Money flow of the day, and the main net of 5 and 10 sessions where all of them are stored."""
    dates = desk.calendar.last(10, day)
    columns = ("code", "date", "main_net", "main_net_pct", "super_net", "large_net")
    stored = desk.read("fusion_fund_flow", columns=columns, codes=codes, since=dates[0], until=day)
    rows = stored[stored["date"] == day].drop(columns="date")
    for sessions in (5, 10):
        recent = stored[stored["date"] >= dates[-sessions]].groupby("code")["main_net"]
        rows[f"main_net_{sessions}d"] = rows["code"].map(recent.sum().where(recent.count() == sessions))
    return rows


def _margins(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The financing balance that was known on the day, of the trade date before (it comes out at 09:00),
    and its change over five trade dates where both balances are stored."""
    dates = desk.calendar.last(7, day)[:-1]
    columns = ("code", "date", "rzye")
    stored = desk.read("fusion_margin", columns=columns, codes=codes, since=dates[0], until=dates[-1])
    rows = stored[stored["date"] == dates[-1]][["code", "rzye"]].reset_index(drop=True)
    past = stored[stored["date"] == dates[0]].set_index("code")["rzye"]
    before = rows["code"].map(past[past > 0])
    rows["margin_change_5d"] = (rows["rzye"] / before - 1) * 100
    return rows


def reports_since(day: str) -> str:
    """The oldest report period that is shown on a day."""
    return moved(day, -REPORTS_SINCE)


def _finance(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The newest report period of each code among those that were announced by the day."""
    columns = ("code", "ann_date", *_FINANCE)
    stored = desk.read(
        "fusion_finance_indicator", columns=columns, codes=codes, since=reports_since(day), until=day
    )
    known = stored[stored["ann_date"].notna() & (stored["ann_date"].fillna("") <= day)]
    newest = known.sort_values(["code", "report_period"]).drop_duplicates(subset="code", keep="last")
    return newest.drop(columns="ann_date")


def _holders(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The newest count whose notice was out on the day."""
    oldest = moved(day, -_COUNT_DAYS)
    columns = ("code", "date", "ann_date", "holder_num", "change_ratio")
    stored = desk.read("fusion_holder", columns=columns, codes=codes, since=oldest, until=day)
    told = stored[stored["ann_date"].notna()]
    told = told[told["ann_date"] <= day].sort_values(["code", "date"]).drop_duplicates("code", keep="last")
    return told.rename(columns={"change_ratio": "holder_change_ratio"}).drop(columns=["date", "ann_date"])


def _billboard(desk: Any, day: str, codes: pd.Series) -> pd.DataFrame:
    """On how many of the 30 trade dates before `day` each code was on the billboard (that of the day itself
    comes out in the evening). Unknown until the stored listings reach back that far."""
    dates = desk.calendar.last(EVENT_DATES + 1, day)[:-1]
    reach = desk.calendar.last(2 * EVENT_DATES, dates[0])[0]
    stored = desk.read("fusion_dragon_tiger", columns=("code", "date"), since=reach, until=dates[-1])
    if stored.empty or min(stored["date"]) > dates[0]:
        return pd.DataFrame({"code": codes, "lhb_count_30d": None})
    listed = stored[stored["date"] >= dates[0]].drop_duplicates()["code"].value_counts()
    return pd.DataFrame({"code": codes, "lhb_count_30d": codes.map(listed).fillna(0)})


def _block_trades(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """Mean premium of the deals in the 30 trade dates before `day`, weighted by amount."""
    dates = desk.calendar.last(EVENT_DATES + 1, day)[:-1]
    columns = ("code", "date", "premium_pct", "amount")
    stored = desk.read("fusion_block_trade", columns=columns, codes=codes, since=dates[0], until=dates[-1])
    stored = stored[stored["premium_pct"].notna() & (stored["amount"] > 0)]
    sums = stored.assign(weighted=stored["premium_pct"] * stored["amount"]).groupby("code")
    mean = sums["weighted"].sum() / sums["amount"].sum()
    return mean.rename("block_trade_premium_30d").reset_index()


def _lockups(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    """The next release after `day`. Plans change and keep no versions: those of now belong to the session
    that has just ended; of a past day stands what was written then."""
    columns = ["code", "next_lockup_date", "next_lockup_ratio"]
    if not desk.is_current_session(day):
        kept = desk.read(
            "fusion_stock_wide", columns=("trade_date", *columns), codes=codes, since=day, until=day
        )
        return kept[columns]
    stored = desk.read("raw_lockup", columns=("code", "free_date", "ratio_total_pct"), codes=codes)
    coming = stored[stored["free_date"] > day]
    if coming.empty:
        return pd.DataFrame(columns=columns)
    first = coming[coming["free_date"] == coming.groupby("code")["free_date"].transform("min")]
    sums = first.groupby(["code", "free_date"])["ratio_total_pct"].sum(min_count=1)
    return sums.reset_index().set_axis(columns, axis=1)


def _stats(desk: Any, day: str, codes: tuple[str, ...] | None) -> pd.DataFrame:
    dates = desk.calendar.last(WINDOW, day)
    columns = ("code", "date", "close", "high", "low", "volume", "limit_status", "adj_factor")
    bars = desk.read("fusion_kline_daily", columns=columns, codes=codes, since=dates[0], until=day)
    names = sorted(set(bars["code"]))
    pools = _Pools.of(desk, dates, names, codes)
    panel = wide_stats.told_by_pools(_panel(bars, dates, names), pools.sealed, pools.broken)
    top, bottom = wide_stats.extremes(panel)
    figures = {
        **{f"chg_{n}d": wide_stats.change(panel, n) for n in (3, 5, 10, 20, 60, 120)},
        "chg_1y": wide_stats.change(panel, 250),
        "chg_ytd": wide_stats.change_ytd(panel),
        "high_52w": top,
        "low_52w": bottom,
        "ma5_dev_pct": wide_stats.mean_deviation(panel, 5),
        "ma20_dev_pct": wide_stats.mean_deviation(panel, 20),
        "vol_accel_5_5": wide_stats.volume_acceleration(panel),
        "volatility_20d": wide_stats.volatility(panel),
        "limit_days_today": pools.boards_today(wide_stats.limit_days(panel)),
        "limit_up_count_20d": wide_stats.count_up(panel),
        "break_fail_days_5d": wide_stats.count_broken(panel),
        **pools.newest(wide_stats.newest_up(panel, POOL_SESSIONS)),
    }
    return pd.DataFrame({"code": names, **figures})


@dataclass(frozen=True)
class _Pools:
    """What the limit pools of the newest sessions tell of the codes of a panel: [dates, codes] masks, and
    the rows of the sealed limit-ups by (row of the date, place of the code)."""

    sealed: wide_stats.Mask
    broken: wide_stats.Mask
    ups: Mapping[tuple[int, int], Any]

    @classmethod
    def of(cls, desk: Any, dates: list[str], names: list[str], codes: tuple[str, ...] | None) -> "_Pools":
        columns = ("code", "trade_date", "pool", *_POOL.values())
        rows = desk.read(
            "raw_limit_pool", columns=columns, codes=codes, since=dates[-POOL_SESSIONS:][0], until=dates[-1]
        )
        line = {day: at for at, day in enumerate(dates)}
        place = {code: at for at, code in enumerate(names)}
        sealed, broken = (np.zeros((len(dates), len(names)), dtype=bool) for _ in range(2))
        ups = {}
        for row in rows[rows["code"].isin(names) & rows["trade_date"].isin(dates)].to_dict("records"):
            at = (line[row["trade_date"]], place[row["code"]])
            if row["pool"] == "up":
                sealed[at] = True
                ups[at] = row
            elif row["pool"] == "broken":
                broken[at] = True
        return cls(sealed, broken & ~sealed, ups)

    def boards_today(self, counted: wide_stats.Row) -> wide_stats.Row:
        """Consecutive boards up to the newest date: as the pool says, else as counted."""
        days = counted.copy()
        for (line, place), row in self.ups.items():
            if line == self.sealed.shape[0] - 1 and pd.notna(row["limit_days"]):
                days[place] = row["limit_days"]
        return days

    def newest(self, at: npt.NDArray[np.int64]) -> dict[str, list[Any]]:
        """Streak and seal fund of the newest limit-up; null where the pools do not hold that one."""
        rows = [self.ups.get((int(line), place), {}) for place, line in enumerate(at)]
        return {
            "zt_stat_latest": [row.get("zt_stat") for row in rows],
            "seal_fund_latest": [row.get("seal_fund") for row in rows],
        }


def _panel(bars: pd.DataFrame, dates: list[str], names: list[str]) -> wide_stats.BarPanel:
    """[dates, codes] arrays; prices taken to the newest date by the cumulative factor."""
    row = np.searchsorted(np.asarray(dates), bars["date"].to_numpy(dtype=str))
    column = np.searchsorted(np.asarray(names), bars["code"].to_numpy(dtype=str))
    shape = (len(dates), len(names))

    def spread(values: Any) -> Any:
        grid = np.full(shape, np.nan)
        grid[row, column] = values
        return grid

    factor = spread(bars["adj_factor"].to_numpy(dtype=float))
    last = np.full(len(names), np.nan)
    for line in factor:
        last = np.where(np.isnan(line), last, line)
    scale = factor / last
    volume = bars["volume"].to_numpy(dtype=float, na_value=np.nan)
    status = bars["limit_status"].to_numpy(dtype=str)
    year = dates[-1][:4]
    earlier = [place for place, day in enumerate(dates) if day[:4] < year]
    return wide_stats.BarPanel(
        close=spread(bars["close"].to_numpy(dtype=float)) * scale,
        high=spread(bars["high"].to_numpy(dtype=float)) * scale,
        low=spread(bars["low"].to_numpy(dtype=float)) * scale,
        volume=spread(volume),
        up=spread(np.where(volume > 0, status == "up", np.nan)),
        up_open=spread(np.where(volume > 0, status == "up_open", np.nan)),
        year_start=earlier[-1] if earlier else -1,
    )


def priced_unless_suspended(rows: pd.DataFrame, context: Context) -> pd.Series:
    return (rows["current_price"] > 0) | rows["is_suspended"].fillna(False)


def float_cap_within_total(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["float_market_cap"] > rows["total_market_cap"] * 1.001)


def covers_listed_stocks(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 95 % of the listed A shares have a row."""
    master = context.read("fusion_stock_master", columns=("code", "sec_type", "list_status"))
    listed = master[(master["sec_type"] == "stock") & (master["list_status"] != "D")]
    if context.scope.codes is not None or len(rows) >= 0.95 * len(listed):
        return None
    return f"{len(rows)} of {len(listed)} listed stocks"


DATASET = Dataset(
    name="stock_wide",
    title="Wide table of stocks",
    model=StockWide,
    key=("code", "trade_date"),
    domain="wide",
    date_column="trade_date",
    sources=(Source("derived", joined),),
    fuse=Rows(),
    soft=(
        Soft(priced_unless_suspended, "no price on a traded day"),
        Soft(float_cap_within_total, "float cap above total cap"),
    ),
    whole=(Whole(covers_listed_stocks),),
    reads=(
        "fusion_quote_snapshot",
        "fusion_stock_master",
        "fusion_stock_industry",
        "fusion_valuation",
        "fusion_fund_flow",
        "fusion_kline_daily",
        "ref_name_history",
        "fusion_margin",
        "fusion_finance_indicator",
        "fusion_holder",
        "fusion_dragon_tiger",
        "fusion_block_trade",
        "raw_lockup",
        "raw_limit_pool",
        "raw_risk_pledge",
        "raw_risk_goodwill",
    ),
    owners=_owners(),
    public_at=close_of("trade_date"),
    freshness=trading(1, "trade_date"),
    per_code=True,
    tasks=("fusion_wide_sync", "eod_core"),
    interfaces=(
        latest("get_stock_wide", "newest wide row of a code", 60),
        batch("get_stock_wide_batch", "newest wide rows of many codes", 60),
        Interface(
            "get_stock_wide_by_date",
            "market",
            "by_date",
            {
                "trade_date": ("date", False, None),
                "sort": ("string", False, None),
                "limit": ("int", False, 200),
                "offset": ("int", False, 0),
                "fields": ("string[]", False, None),
                "industry_code": ("string", False, None),
            },
            "object[]",
            60,
            "wide rows of all codes on one date",
        ),
        Interface(
            "get_stock_rank",
            "market",
            "by_date",
            {
                "sort": ("string", False, "-change_pct"),
                "limit": ("int", False, 50),
                "market": ("string", False, None),
                "industry_code": ("string", False, None),
            },
            "object[]",
            30,
            "ranking on any wide column",
        ),
        Interface(
            "get_stock_screen",
            "market",
            "screen",
            {
                "fields": ("string[]", False, None),
                "sort": ("string", False, None),
                "limit": ("int", False, 100),
                "keyword": ("string", False, None),
            },
            "object[]",
            60,
            "wide rows filtered by simple column conditions (keyword pe_ttm<20, roe>=15) and words",
        ),
    ),
)
