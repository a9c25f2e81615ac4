"""SQL of the earnings window. Every function takes a Session first; RAW tables keep no versions."""

from typing import Any

from core.days import moved
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

SCHEDULE = "cninfo_periodic_report"
FORECAST = "raw_earnings_forecast"
EXPRESS = "raw_earnings_express"
MASTER = "fusion_stock_master"
TABLES = (SCHEDULE, FORECAST, EXPRESS)
MOST_UPCOMING, MOST_TOP = 500, 20
_PLANS = ("change3_date", "change2_date", "change1_date", "first_date")
_KINDS = {
    "up": ("预增", "略增", "续盈", "减亏"),
    "down": ("预减", "略减", "续亏", "增亏"),
    "turn": ("扭亏",),
    "first_loss": ("首亏",),
}


def window(session: Session, period: str, today: str, days: int) -> dict[str, Any]:
    """Planned, published and forecast reports of a period as of `today`."""
    plans = public_rows(session, SCHEDULE, where="report_period=?", values=(period,), order="code")
    disclosed = [row for row in plans if row["actual_date"] and row["actual_date"] <= today]
    waiting = [row for row in plans if not row["actual_date"] or row["actual_date"] > today]
    reported = newest_forecasts(session, period)
    express = public_rows(session, EXPRESS, ("code", "ann_date"), where="report_period=?", values=(period,))
    days_known = [row["actual_date"] for row in disclosed] + [
        row["ann_date"] for row in (*reported, *express)
    ]
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
    rows = public_rows(
        session,
        FORECAST,
        ("code", "ann_date", "predict_type", "change_lower_pct", "change_upper_pct"),
        where="report_period=? AND indicator=?",
        values=(period, "net_profit"),
        order="code, ann_date",
    )
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
    made.sort(key=lambda pair: (-pair[0], pair[1]["code"]))
    found = []
    for mid, row in made[:MOST_TOP]:
        names = session.rows(MASTER, columns=("name",), where="code=?", values=(row["code"],), limit=1)
        found.append(
            {
                "code": row["code"],
                "name": names[0][0] if names else None,
                "change_pct_mid": mid,
                "predict_type": row["predict_type"],
            }
        )
    return found


def _middle(row: Row) -> float | None:
    """The mean of both ends, or the one that is given."""
    ends = [row[name] for name in ("change_lower_pct", "change_upper_pct") if row[name] is not None]
    return round(sum(ends) / len(ends), 4) if ends else None
