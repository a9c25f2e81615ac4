"""SQL and row models of the economy: rows of series by name, yields by date, the PE of an index. `as_of`
is the bound instant, or None for what is known now."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.days import moved
from platform_assets.compute.risk_premium import position_of_newest, premiums
from platform_assets.datasets.index_valuation import IndexValuation
from platform_assets.datasets.macro_indicator import MacroIndicator
from platform_assets.datasets.macro_release import MacroRelease
from resources.warehouse.stored import ANY, matching, stored, within
from serving_api.db.first_dates import first_date
from serving_api.db.sessions import Session
from serving_api.table_lists import dated_rows

VALUES = stored("fusion_macro_indicator", MacroIndicator)
RELEASES = stored("fusion_macro_release", MacroRelease)
PE = stored("raw_index_valuation", IndexValuation)
REGIONS = ("cn", "us")
"""Regions of which yields are stored."""
TENORS = (1, 2, 5, 10, 30)
_COLUMNS = ("indicator", "period_date", "value", "yoy", "mom", "publish_date", "publish_estimated")
_SPACE = 40
_PUBLISHED = "18:00"

Row = dict[str, Any]


def series(
    session: Session,
    names: Sequence[str],
    *,
    since: str | None = None,
    until: str | None = None,
    limit: int | None = None,
    as_of: str | None = None,
    columns: Sequence[str] = _COLUMNS,
) -> list[Row]:
    """Rows of some series, oldest first; the newest `limit` where there is one."""
    c = VALUES.c
    of, order = [c.indicator.in_(names), *within(c.period_date, since, until)], (c.period_date, c.indicator)
    falling = [column.desc() for column in order]
    rows = session.dicts(VALUES, *of, columns=columns, as_of=as_of, order=falling, limit=limit)
    return rows[::-1]


def missing(session: Session, names: Sequence[str], as_of: str | None) -> str:
    """Why some series have no row at an instant."""
    which = [VALUES.c.indicator.in_(names)]
    known = [VALUES.c.publish_date.is_not(None)]
    first = session.first(VALUES, "publish_date", *which, *known, order=[VALUES.c.publish_date])
    if as_of is None or first is None:
        return "nothing of it is stored"
    return f"the first of what is stored became known on {first}, as_of is before that"


def newest_of_series(
    session: Session, names: Sequence[str] | None, region: str | None, as_of: str | None
) -> list[Row]:
    """The newest row of each series, by name: of the given ones, of a region, or of all."""
    which = [*matching(VALUES.c.indicator, names or None), *matching(VALUES.c.region, region)]
    dated = session.dicts(VALUES, *which, columns=("indicator", "period_date"), as_of=as_of)
    newest: dict[str, str] = {}
    for row in dated:
        name, day = row["indicator"], row["period_date"]
        newest[name] = max(newest.get(name, ""), day)
    days = sorted(set(newest.values()))
    if not days:
        return []
    of, columns = VALUES.c.period_date.in_(days), session.table(VALUES).names
    found = session.dicts(VALUES, of, columns=columns, as_of=as_of, order=[VALUES.c.indicator])
    return [row for row in found if newest.get(row["indicator"]) == row["period_date"]]


def series_names(session: Session, region: str | None, as_of: str | None) -> list[Row]:
    """{indicator, name, region, category, freq, unit, latest_date} of every series that has rows."""
    shown = ("indicator", "name", "region", "category", "freq", "unit")
    return [
        {**{name: row[name] for name in shown}, "latest_date": row["period_date"]}
        for row in newest_of_series(session, None, region, as_of)
    ]


def yields(
    session: Session,
    region: str,
    limit: int,
    as_of: str | None,
    since: str | None = None,
    until: str | None = None,
) -> list[Row]:
    """{date, y1, y2, y5, y10, y30, spread_10_2} by date, percent, oldest first; a missing tenor is None.
    The newest `limit` dates between two."""
    names = {f"{region}_bond_{years}y": f"y{years}" for years in TENORS}
    if since is None:
        newest = series(session, list(names), until=until, limit=1, as_of=as_of)
        if not newest:
            return []
        # Calendar days that contain `limit` trade dates, with room for holidays.
        since = moved(newest[0]["period_date"], -(limit * 3 // 2 + _SPACE))
    days: dict[str, Row] = {}
    for row in series(session, list(names), since=since, until=until, as_of=as_of):
        day = row["period_date"]
        made = days.setdefault(day, {"date": day, **dict.fromkeys(names.values())})
        made[names[row["indicator"]]] = row["value"]
    rows = [{**row, "spread_10_2": _spread(row)} for row in days.values()]
    return rows[-limit:]


def first_yield(session: Session, region: str) -> str | None:
    """The first stored date of any tenor of a region."""
    return first_date(session, VALUES, VALUES.c.indicator.in_(_tenors(region)))


def first_premium(session: Session, index: str) -> str | None:
    """The first date on which both sides of a premium are stored; None when one of them is not."""
    earned = first_date(session, PE, PE.c.index_code.in_(_names(index)))
    bonds = first_date(session, VALUES, VALUES.c.indicator == "cn_bond_10y")
    return None if earned is None or bonds is None else max(earned, bonds)


def _tenors(region: str) -> list[str]:
    return [f"{region}_bond_{years}y" for years in TENORS]


def _names(index: str) -> tuple[str, str]:
    """The two names that an index may be stored under."""
    return index, index[2:]


def yields_or_why(
    session: Session, region: str, limit: int, as_of: str | None
) -> tuple[list[Row], str | None]:
    """The rows of `yields`, and why there are none."""
    rows = yields(session, region, limit, as_of)
    return rows, None if rows else f"no yields: {missing(session, _tenors(region), as_of)}"


def _spread(row: Mapping[str, Any]) -> float | None:
    long, short = row["y10"], row["y2"]
    return None if long is None or short is None else round(long - short, 4)


def risk_premium(session: Session, index: str, limit: int, as_of: str | None) -> dict[str, Any]:
    """{index, items, total, latest, latestDate, percentile_pct, band, available, reason?}: the newest
    `limit` dates with both sides."""
    earned = _earnings(session, index, limit, as_of)
    rows: list[Row] = []
    if earned:
        bonds = series(session, ["cn_bond_10y"], since=moved(earned[0][0], -_SPACE), as_of=as_of)
        rows = premiums(earned, [(row["period_date"], row["value"]) for row in bonds])
    if earned:
        why = f"no yields of Chinese government bonds: {missing(session, ['cn_bond_10y'], as_of)}"
    else:
        why = f"no PE of {index} is stored" + ("" if as_of is None else " that was known by then")
    return premium_of(index, rows, why)


def premium_of(index: str, rows: list[Row], why: str) -> dict[str, Any]:
    """The answer of `risk_premium` for these rows; `why` there are none."""
    latest = rows[-1] if rows else {}
    return {"index": index, **dated_rows(rows, why), "latest": latest, **position_of_newest(rows)}


def _earnings(session: Session, index: str, limit: int, as_of: str | None) -> list[tuple[str, float]]:
    """(date, PE over four quarters, else the PE as published) of an index, oldest first. The table keeps
    no versions: with an instant, rows whose day closed before its day, or that were loaded by then, are
    known."""
    of, columns = [PE.c.index_code.in_(_names(index))], ("date", "pe_ttm", "pe")
    if as_of is not None:
        until = as_of[:10] if as_of[11:16] < _PUBLISHED else f"{as_of[:10]}~"
        of.append((PE.c.date < until) | (ANY.imported_at <= as_of))
    rows = session.rows(PE, *of, columns=columns, order=[PE.c.date.desc()], limit=limit)
    reported = ((str(day), ttm if ttm is not None else pe) for day, ttm, pe in rows)
    return sorted({day: float(pe) for day, pe in reported if pe is not None}.items())


def releases(
    session: Session,
    since: str | None,
    until: str | None,
    region: str | None,
    importance: int,
    as_of: str | None,
    limit: int,
) -> list[Row]:
    """Releases of at least an importance between two days (which may be in the future), oldest first."""
    which = [
        RELEASES.c.importance >= importance,
        *matching(RELEASES.c.region, region),
        *within(RELEASES.c.release_time, since, None if until is None else f"{until} 23:59:59"),
    ]
    columns = session.table(RELEASES).names
    order = [RELEASES.c.release_time.desc(), RELEASES.c.event_key.desc()]
    return session.dicts(RELEASES, *which, columns=columns, as_of=as_of, order=order, limit=limit)[::-1]
