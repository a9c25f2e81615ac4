"""fusion_macro_indicator: monthly figures of the economy, interest rates, yields, exchange rates.

The portal has all but some tenors of the yield curve, which the bond depository has; the interbank
market's site is a second source for rates and yields. No monthly report says when it was published: such a
row is known from its first sight on, and a revised value from the load that brought it. What is loaded with
its history was not seen when it came out: it is known from the end of its period plus the usual lag of its
report (`USUAL_LAG_DAYS`), and marked `publish_estimated`; its value is that of the load, whatever was revised
before.
"""

from collections.abc import Callable
from datetime import date
from itertools import pairwise
from typing import Any

import pandas as pd

from core.days import moved
from core.declaration.columns import S8, S32, S64, S128, Bool, Date, F, Model, Pct, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import DAY, REQUIRED, TEXT, TEXTS, market, timeseries
from core.declaration.rules import Contract, Fields, Partition, Soft, Whole, calendar_days
from core.declaration.scope import Context
from platform_assets.compute.series_checks import months_between, near_its_past
from platform_assets.datasets import _macro_series as macro
from platform_assets.datasets._histories import differs_from_known, mostly_unchanged, strays
from platform_assets.datasets._macro_series import SERIES
from platform_assets.datasets._macro_sources import (
    CURVE,
    REPORTS,
    SHIBOR,
    TABLE,
    bond_depository,
    interbank_market,
    portal,
)
from platform_assets.datasets._macro_years import accumulates_within_its_year, with_past

_LONGEST_BREAK = 15
_JANUARY_MISSING = 2
_PERIOD, _FIGURES = ("indicator", "period_date"), ("value", "yoy", "mom")
_QUOTED = {"rate", "bond", "fx"}
_SETTLED_DAYS = {True: 40, False: 400}
"""Days after which a quotation, or an estimate, is no longer revised."""

_REACH = "the first period of those that a load reaches has none before it"
_SIGHT = "reports name the newest publications alone: an older one is what the load saw, or the usual day"


class MacroIndicator(Model):
    """One series in one period."""

    indicator: S64 = key("name of the series")
    period_date: Date = key("first day of the month or quarter; the day of a daily value")
    region: S8 = col(title="cn, us, hk, eu, jp", nullable=False, isin=["cn", "us", "hk", "eu", "jp"])
    category: S32 = col(title="price, growth, money, rate, bond, fx, survey, trade, employment")
    name: S128 = col(title="Chinese name")
    freq: S8 = col(title="d, m, q, y, or e: on events", isin=["d", "m", "q", "y", "e"])
    value: F = col("", "the value, in `unit`", nullable=False)
    unit: S32 = col(title="pct, yi (100 million CNY), index, kUSD, CNY/USD")
    yoy: Pct = col("pct", "change on the year, where the report tells it")
    mom: Pct = col("pct", "change on the month, where the report tells it")
    prev_value: F = col("", "value of the period before", computed=True, varies=_REACH)
    publish_date: Date = col(
        title="day of publication; first sight where the report tells none", varies=_SIGHT
    )
    publish_estimated: Bool = col(
        title="publish_date is period end + usual lag", computed=True, varies=_SIGHT
    )


# -- derivation and checks ----------------------------------------------------------------------------


def has_begun(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["period_date"] <= context.today


def fill_publication(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills the day of publication where the report states none: the stored one, else today. A value older
    than all that is stored of its series (or the first of it) gets the usual day, where that has passed."""
    names = ("publish_date", "publish_estimated")
    stored = context.read(TABLE, columns=(*_PERIOD, *names))
    newest = stored.groupby("indicator")["period_date"].max().to_dict()
    known = {
        (name, period): (day, mark)
        for name, period, day, mark in stored[[*_PERIOD, *names]]
        .astype(object)
        .itertuples(index=False, name=None)
    }
    reported = rows["publish_date"].astype(object).where(rows["publish_date"].notna(), None)
    days: list[str | None] = []
    marks: list[Any] = []
    for name, period, day in zip(rows["indicator"], rows["period_date"], reported, strict=True):
        if (name, period) in known:
            seen, mark = known[name, period]
            days.append(day or seen or context.today)
            marks.append(mark)
            continue
        usual = macro.usual_publication(name, period) if day is None else None
        estimated = usual is not None and usual < context.today and period < newest.get(name, context.today)
        days.append(usual if estimated else day or context.today)
        marks.append(estimated)
    rows["publish_date"] = pd.Series(days, index=rows.index, dtype=object)
    rows["publish_estimated"] = pd.Series(marks, index=rows.index, dtype=object)
    return rows


def add_previous(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    known = with_past(rows, context)
    known["before"] = known.groupby("indicator")["value"].shift()
    mine = known[known["at"].notna()].set_index("at")["before"]
    rows["prev_value"] = mine.reindex(rows.index)
    return rows


def _flagged(rows: pd.DataFrame, context: Context, check: Callable[[pd.DataFrame], Any]) -> pd.Series:
    """`check` of the whole past of each series, in order; True where a row of the load passes."""
    known = with_past(rows, context)
    known["fine"] = True
    for _, own in known.groupby("indicator"):
        known.loc[own.index, "fine"] = check(own)
    return known[known["at"].notna()].set_index("at")["fine"].reindex(rows.index).astype(bool)


def is_near_its_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A mean of the year so far hardly changes in December and changes in January: it is compared with its
    months instead (`accumulates_within_its_year`)."""
    means = set(macro.YEAR_TO_DATE) - set(macro.SUMS)

    def near(own: pd.DataFrame) -> Any:
        return near_its_past(own["value"].to_numpy(dtype=float))

    return _flagged(rows, context, near) | rows["indicator"].isin(means)


def keeps_its_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Most of the series is as stored, changes too: an index near 100 hardly shows of which month it is."""
    stored = context.read(TABLE, columns=(*_PERIOD, *_FIGURES, "quality_flags"))
    return mostly_unchanged(
        rows, stored, key=_PERIOD, columns=_FIGURES, series="indicator", check=keeps_its_past.__name__
    )


def comes_with_its_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Where one series of a report does not keep its past, the months of the report are exchanged:
    changed values of its other series are not trusted either, however few they are, nor is a new month."""
    fine = keeps_its_past(rows, context)
    if fine.all():
        return fine
    figures, check = (*_FIGURES, "prev_value"), comes_with_its_past.__name__
    stored = context.read(TABLE, columns=(*_PERIOD, *figures, "quality_flags"))
    reports = rows["indicator"].map({name: one.report or None for name, one in SERIES.items()})
    before = rows[list(_PERIOD)].merge(stored, how="left", on=list(_PERIOD)).set_axis(rows.index)["value"]
    moved = reports[~fine & differs_from_known(rows["value"], before)].dropna()
    stray = strays(rows, stored, key=_PERIOD, columns=figures, check=check)
    changed = reports.isin(set(reports[~fine].dropna())) & (stray == 1)
    return ~fine | ~(changed | (stray.isna() & reports.isin(set(moved))))


def what_is_old_stands(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No estimate of more than a year ago has another value now (new benchmarks do that, and are flagged),
    and no rate or quotation of more than a month ago."""
    figures = (*_FIGURES, "prev_value")
    stored = context.read(TABLE, columns=(*_PERIOD, *figures, "quality_flags"))
    check = what_is_old_stands.__name__
    other = strays(rows, stored, key=_PERIOD, columns=figures, check=check) == 1
    days = {name: _SETTLED_DAYS[SERIES[name].category in _QUOTED] for name in rows["indicator"].unique()}
    settled = rows["indicator"].map({name: moved(context.today, -back) for name, back in days.items()})
    return ~(other & (rows["period_date"] < settled))


def is_published_after_its_period_began(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["publish_date"] < rows["period_date"]) & rows["freq"].isin(["m", "q", "y"]))


def follows_without_gap(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No month or quarter is left out (some surveys leave out January); no day for more than fifteen."""

    def check(own: pd.DataFrame) -> list[bool]:
        days = [str(day) for day in own["period_date"]]
        freq = SERIES[own["indicator"].iloc[0]].freq
        if freq == "d":
            stamps = [date.fromisoformat(day) for day in days]
            gaps = [(b - a).days for a, b in pairwise(stamps)]
            return [True, *(gap <= _LONGEST_BREAK for gap in gaps)]
        if freq not in {"m", "q"}:
            return [True] * len(days)
        step = 3 if freq == "q" else 1
        return [
            True,
            *(
                gap <= step or (step == 1 and gap == _JANUARY_MISSING and day[5:7] == "02")
                for gap, day in zip(months_between(days), days[1:], strict=True)
            ),
        ]

    return _flagged(rows, context, check)


def every_series_is_told(rows: pd.DataFrame, context: Context) -> str | None:
    """Every series of the list has a row in a load of the market."""
    missing = sorted(set(SERIES) - set(rows["indicator"]))
    return f"no row of {', '.join(missing[:10])}" if missing else None


def when_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Daily values at the hour of their series; what has a day of publication, or an estimated one, at the
    end of that day; the rest (and what would lie ahead) when it is written."""
    moments: list[str | None] = []
    reported = set(macro.FOREIGN.values())
    marks = rows["publish_estimated"].fillna(False).astype(bool)
    for name, day, estimated in zip(rows["indicator"], rows["publish_date"], marks, strict=True):
        one = SERIES.get(name)
        moment = None
        if one is not None and one.hour:
            moment = f"{day} {one.hour}:00.000000"
        elif one is not None and (name in reported or one.freq == "e" or estimated):
            moment = f"{day} 23:59:59.000000"
        moments.append(moment if moment is not None and moment <= context.now else None)
    return pd.Series(moments, index=rows.index, dtype=object)


DATASET = Dataset(
    name="macro_indicator",
    subject="economy",
    title="Series of the economy, interest rates and exchange rates",
    model=MacroIndicator,
    domain="daily",
    partition=Partition.SNAPSHOT,
    sources=(
        Source("eastmoney", portal, parts=REPORTS),
        Source("chinabond", bond_depository, parts=(CURVE,)),
        Source("chinamoney", interbank_market, parts=(CURVE, SHIBOR)),
    ),
    combine="all",
    fuse=Fields(tolerance={"value": 0.01}),
    contract=(Contract(has_begun, "a period that has not begun"),),
    derive=(fill_publication, add_previous),
    soft=(
        Soft(is_near_its_past, "more than 8 median deviations from the median of the last 24 values"),
        Soft(keeps_its_past, "most stored values of the series have another value now"),
        Soft(comes_with_its_past, "another series of its report does not keep its past"),
        Soft(what_is_old_stands, "a figure that was settled has another value now"),
        Soft(is_published_after_its_period_began, "published before its period began"),
        Soft(follows_without_gap, "a period before it is missing"),
        Soft(accumulates_within_its_year, "a figure of the year so far that its months cannot add up to"),
    ),
    whole=(Whole(every_series_is_told),),
    reads_own_past=True,
    of_stocks=False,
    public_at=when_known,
    freshness=calendar_days(45, "period_date"),
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        timeseries("get_macro_indicator", "history", "macro series", ttl=3600).takes(
            indicator=REQUIRED, start_date=DAY, end_date=DAY, limit=120
        ),
        market("get_macro_latest", "series_latest", "latest value of each series", ttl=3600).takes(
            indicators=TEXTS, region=TEXT
        ),
        market("get_macro_indicator_list", "series_list", "series names", ttl=86400).takes(region=TEXT),
        timeseries("get_bond_yield", "bond_yields", "government bond yields by tenor", ttl=3600).takes(
            region="cn", start_date=DAY, end_date=DAY, limit=250
        ),
        timeseries("get_erp", "risk_premium", "equity risk premium = 1/PE - 10 year yield", ttl=3600).takes(
            index_code="sh000300", limit=750
        ),
    ),
)
