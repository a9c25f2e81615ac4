"""fusion_macro_release: releases of figures of the economy with their time.

Of other countries the portal has the day of publication; an entry without a value is an event to come. A
Chinese figure is released when it is first seen: its moment is that of the load, never earlier.
"""

from typing import Any

import numpy as np
import pandas as pd

from core.days import moved
from core.declaration.columns import K16, S8, S32, S64, S255, Dt, F, Int, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import DAY, TEXT, market
from core.declaration.rules import Fields, Partition, Soft, calendar_days
from core.declaration.scope import Context, Scope
from core.text_keys import text_key
from platform_assets.datasets import _macro_series as macro
from platform_assets.datasets._histories import mostly_unchanged
from platform_assets.datasets._macro_series import SERIES, Series
from platform_assets.datasets._macro_sources import TABLE as VALUES
from resources.upstreams.fetch_context import FetchContext

TABLE = "fusion_macro_release"
_NO_CALENDAR = "no economic calendar is among the documented upstreams"
_RECENT = {"m": 100, "q": 200, "e": 400}
"""Days after the begin of its period within which a first sight is a release, and no old figure."""
_MIDNIGHT, _END = "00:00:00", "23:59:59"


class MacroRelease(Model):
    """One figure of one period, as it was released."""

    event_key: K16 = key("16 hex of SHA-1 over region, title and period")
    release_time: Dt = col(title="moment of release; midnight where only its day is known", nullable=False)
    region: S8 = col(title="cn, us, hk, eu, jp", isin=["cn", "us", "hk", "eu", "jp"])
    indicator: S64 = col(title="series of fusion_macro_indicator")
    title: S255 = col(title="Chinese name", nullable=False, str_length={"min_value": 1})
    period_text: S32 = col(title="period that the figure is of")
    actual: F = col("", "the figure; none before its release")
    forecast: F = col("", "consensus before", no_source=_NO_CALENDAR)
    previous: F = col("", "figure of the period before, as known at the release")
    revised: F = col("", "the period before, corrected", no_source=_NO_CALENDAR)
    unit: S32 = col(title="unit of the figures")
    importance: Int = col("", "1..3 by the list of series")
    surprise: F = col("", "actual - forecast", computed=True, no_source=_NO_CALENDAR)


def period_text(one: Series, day: str) -> str:
    """`2026年7月`, `2026年第1-2季度`, or the day of an event."""
    year, month = int(day[:4]), int(day[5:7])
    if one.freq == "q":
        quarter = (month + 2) // 3
        return f"{year}年第{'' if quarter == 1 else '1-'}{quarter}季度"
    return f"{year}年{month}月" if one.freq == "m" else day


def _event(one: Series, day: str, moment: str, actual: float, previous: float) -> dict[str, Any]:
    period = period_text(one, day)
    return {
        "event_key": text_key(f"{one.region}|{one.name}|{period}"), "release_time": moment,
        "region": one.region, "indicator": one.indicator, "title": one.name, "unit": one.unit,
        "importance": one.importance, "period_text": period, "actual": actual, "previous": previous,
    }  # fmt: skip


def _frame(events: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(events) if events else pd.DataFrame(columns=["event_key", "release_time"])


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Releases of other countries in the last two years, one call."""
    rows = ctx.eastmoney.foreign_values("USA", tuple(macro.FOREIGN), moved(ctx.today, -730))
    events = []
    for row in rows.to_dict("records"):
        day = row["publish_date"]
        if day is None or (day > ctx.today and not np.isnan(row["value"])):
            continue
        one = SERIES[macro.FOREIGN[row["series"]]]
        events.append(_event(one, row["date"], f"{day} {_MIDNIGHT}", row["value"], row["previous"]))
    return _frame(events)


def first_sight(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Figures that were seen for the first time and are no event yet. What is one stays as it was released:
    a later correction is a version of the series, not of the event."""
    columns = ("indicator", "period_date", "value", "prev_value", "publish_date", "publish_estimated")
    values = ctx.read(VALUES, columns=columns)
    known = set(ctx.read(TABLE, columns=("event_key",))["event_key"])
    now = ctx.clock.now().strftime("%Y-%m-%d %H:%M:%S")
    events = []
    for row in values.to_dict("records"):
        one = SERIES.get(row["indicator"])
        if one is None or one.region != "cn" or not one.importance or row["publish_date"] is None:
            continue
        if row["publish_estimated"] is True or row["publish_estimated"] == 1:
            continue  # its release was not observed
        if row["publish_date"] > moved(row["period_date"], _RECENT[one.freq]):
            continue
        moment = f"{row['publish_date']} {one.hour}:00" if one.hour else f"{row['publish_date']} {_END}"
        event = _event(one, row["period_date"], min(now, moment), row["value"], row["prev_value"])
        if event["event_key"] not in known:
            events.append(event)
    return _frame(events)


def add_surprise(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["surprise"] = rows["actual"].astype(float) - rows["forecast"].astype(float)
    return rows


def importance_is_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["importance"].between(1, 3) | rows["importance"].isna()


def has_its_figure(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A day after its release the figure is there."""
    released = rows["release_time"].str[:10]
    return ~((released < moved(context.today, -1)) & rows["actual"].isna())


def keeps_its_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    stored = context.read(TABLE, columns=("event_key", "actual", "quality_flags"))
    check = keeps_its_past.__name__
    return mostly_unchanged(
        rows, stored, key=("event_key",), columns=("actual",), series="title", check=check
    )


def surprise_is_finite(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~np.isinf(rows["surprise"].astype(float))


def when_released(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The moment of the release; of a release of which only the day is known the end of that day. An event
    to come, or one of today, is known from the load that brought it."""
    moments: list[str | None] = []
    for moment, actual in zip(rows["release_time"], rows["actual"], strict=True):
        text = f"{moment[:10]} {_END}" if str(moment).endswith(_MIDNIGHT) else str(moment)
        known = not pd.isna(actual) and f"{text}.000000" <= context.now
        moments.append(f"{text}.000000" if known else None)
    return pd.Series(moments, index=rows.index, dtype=object)


DATASET = Dataset(
    name="macro_release",
    subject="economy",
    title="Releases about the economy",
    model=MacroRelease,
    domain="daily",
    partition=Partition.SNAPSHOT,
    date_column="release_time",
    sources=(Source("eastmoney", portal, parts=("calendar of releases",)), Source("derived", first_sight)),
    combine="all",
    fuse=Fields(),
    derive=(add_surprise,),
    soft=(
        Soft(importance_is_known, "importance is not 1, 2 or 3"),
        Soft(has_its_figure, "no figure a day after the release"),
        Soft(keeps_its_past, "most stored values of the series have another value now"),
        Soft(surprise_is_finite, "the surprise is no number"),
    ),
    reads=(VALUES,),
    reads_own_past=True,
    of_stocks=False,
    public_at=when_released,
    may_be_empty=True,
    freshness=calendar_days(14, "release_time"),
    tasks=("fusion_daily_sync", "eod_core"),
    indexes=(("release_time",),),
    interfaces=(
        market("get_macro_release", "releases", "economic calendar", ttl=600).takes(
            start_date=DAY, end_date=DAY, region=TEXT, importance=1
        ),
    ),
)
