"""/earnings-window/overview: open to anyone, plain."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Query
from pydantic import BaseModel, Field
from starlette.requests import Request

from core.days import moved
from core.errors import InputError
from core.report_periods import is_period, latest_ended, next_period, phase_of
from platform_assets.datasets.finance_indicator import RawExpress, RawForecast
from platform_assets.datasets.periodic_report import PeriodicReport
from platform_assets.datasets.stock_master import StockMaster
from resources.warehouse.stored import stored
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import calendar_day
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.framework.state import state_of

SCHEDULE = stored("cninfo_periodic_report", PeriodicReport)
FORECAST = stored("raw_earnings_forecast", RawForecast)
EXPRESS = stored("raw_earnings_express", RawExpress)
MASTER = stored("fusion_stock_master", StockMaster)
TABLES = (SCHEDULE, FORECAST, EXPRESS)
MOST_UPCOMING, MOST_TOP = 500, 20
_PLANS = ("change3_date", "change2_date", "change1_date", "first_date")
_KINDS = {
    "up": ("预增", "略增", "续盈", "减亏"),
    "down": ("预减", "略减", "续亏", "增亏"),
    "turn": ("扭亏",),
    "first_loss": ("首亏",),
}


class Counts(BaseModel):
    """Companies."""

    scheduled: int
    disclosed: int
    forecast: int
    express: int


@with_columns(PeriodicReport.code, PeriodicReport.name)
class Upcoming(BaseModel):
    date: IsoDate


class Forecasts(BaseModel):
    """Companies by the kind of their net profit forecast."""

    up: int = Field(description="预增, 略增, 续盈, 减亏")
    down: int = Field(description="预减, 略减, 续亏, 增亏")
    turn: int = Field(description="扭亏")
    first_loss: int = Field(description="首亏")


@with_columns(RawForecast.code, RawForecast.predict_type)
class Expected(BaseModel):
    name: str | None
    change_pct_mid: float = Field(description="net profit, year on year, mean of both ends")


class Window(BaseModel):
    period: str
    phase: Literal["pre", "in", "post"] = Field(description="before, within and after the legal term")
    counts: Counts
    upcoming: list[Upcoming] = Field(description="planned within `days`, nearest first, at most 500")
    forecasts: Forecasts
    top: list[Expected] = Field(description="the largest expected changes, at most 20")
    latestDate: str | None = Field(description="the newest report, forecast or express report")


def window(session: Session, period: str, today: str, days: int) -> dict[str, Any]:
    """Planned, published and forecast reports of a period as of `today`."""
    of = [EXPRESS.c.report_period == period]
    plans = public_rows(session, SCHEDULE, *of, order=[SCHEDULE.c.code])
    disclosed = [row for row in plans if row["actual_date"] and row["actual_date"] <= today]
    waiting = [row for row in plans if not row["actual_date"] or row["actual_date"] > today]
    reported = newest_forecasts(session, period)
    express = public_rows(session, EXPRESS, *of, columns=("code", "ann_date"))
    days_known = [row["actual_date"] for row in disclosed]
    days_known += [row["ann_date"] for row in (*reported, *express)]
    return {
        "counts": {
            "scheduled": len(plans),
            "disclosed": len(disclosed),
            "forecast": len(reported),
            "express": len({row["code"] for row in express}),
        },
        "upcoming": upcoming(waiting, today, moved(today, days)),
        "forecasts": {
            name: sum(row["predict_type"] in kinds for row in reported) for name, kinds in _KINDS.items()
        },
        "top": top(session, reported),
        "latestDate": max((day for day in days_known if day), default=None),
    }


def newest_forecasts(session: Session, period: str) -> list[Row]:
    """The net profit forecast of each company, from its newest notice."""
    columns = ("code", "ann_date", "predict_type", "change_lower_pct", "change_upper_pct")
    of = [FORECAST.c.report_period == period, FORECAST.c.indicator == "net_profit"]
    rows = public_rows(session, FORECAST, *of, columns=columns, order=[FORECAST.c.code, FORECAST.c.ann_date])
    return list({row["code"]: row for row in rows}.values())


def upcoming(waiting: list[Row], since: str, until: str) -> list[Row]:
    """{code, name, date} of reports that are planned for [since, until], the nearest first."""
    planned = []
    for row in waiting:
        day = next((row[column] for column in _PLANS if row[column]), None)
        if day is not None and since <= day <= until:
            planned.append({"code": row["code"], "name": row["name"], "date": day})
    planned.sort(key=lambda one: (one["date"], one["code"]))
    return planned[:MOST_UPCOMING]


def top(session: Session, reported: list[Row]) -> list[Row]:
    """{code, name, change_pct_mid, predict_type} of the largest expected changes."""
    made = [(mid, row) for row in reported if (mid := _middle(row)) is not None]
    made = sorted(made, key=lambda pair: (-pair[0], pair[1]["code"]))[:MOST_TOP]
    names = dict(session.of_codes(MASTER, [row["code"] for _, row in made], columns=("code", "name")))
    return [
        {
            "code": row["code"], "predict_type": row["predict_type"], "name": names.get(row["code"]),
            "change_pct_mid": mid,
        }
        for mid, row in made
    ]  # fmt: skip


def _middle(row: Row) -> float | None:
    """The mean of both ends, or the one that is given."""
    ends = [row[name] for name in ("change_lower_pct", "change_upper_pct") if row[name] is not None]
    return round(sum(ends) / len(ends), 4) if ends else None


router = area_router(f"{PREFIX}/earnings-window", "earnings window")

_NOTHING: dict[str, Any] = {
    "counts": dict.fromkeys(Counts.model_fields, 0),
    "upcoming": [],
    "forecasts": dict.fromkeys(Forecasts.model_fields, 0),
    "top": [],
    "latestDate": None,
}


async def _period(
    request: Request,
    period: Annotated[
        str | None,
        Query(description="quarter end, at most the next one; default the last one", examples=["2026-06-30"]),
    ] = None,
) -> str:
    newest = latest_ended(state_of(request).today)
    if period is None:
        return newest
    day = calendar_day("period", period)
    if not is_period(day):
        raise InputError("period", f"{day} is no quarter end; the last one is {newest}")
    if day > next_period(newest):
        raise InputError("period", f"{day} lies too far ahead; the next one is {next_period(newest)}")
    return day


@router.get("/overview", response_model=Window)
@serves(tables=TABLES)
async def overview(
    call: Anyone,
    period: Annotated[str, Depends(_period)],
    days: Annotated[int, Query(ge=1, le=365, description="days ahead that planned reports are shown")] = 30,
) -> Answer:
    """Reports of one quarter end: how many are published, which come next, what is forecast."""
    today = call.state.today
    reported = await read_or(_NOTHING, call.state.reading.scan(window, period, today, days))
    return Answer({"period": period, "phase": phase_of(period, today), **reported})
