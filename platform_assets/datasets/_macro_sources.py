"""Sources of the series of the economy: three upstreams in one form, a row per series and period."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pandas as pd

from core.days import moved
from core.declaration.frames import stacked
from core.declaration.scope import Scope
from core.errors import PayloadError, Permanent
from platform_assets.datasets import _macro_series as macro
from platform_assets.datasets._macro_series import SERIES, Series
from resources.upstreams.fetch_context import FetchContext

TABLE = "fusion_macro_indicator"
YEARS, SHORT_YEARS = 10, 2
"""How far back the first load asks for: yields and exchange rates, and rates between banks."""
_OVERLAP = 45
_ENOUGH = 200
_FAILED_SHARE = 0.25
CURVE, SHIBOR = "government curve", "RPT_IMP_INTRESTRATEN"


def _since(ctx: FetchContext, indicator: str, years: int) -> str:
    """First date to ask daily values for: a little before the newest stored one, else `years` back."""
    stored = ctx.read(TABLE, columns=("indicator", "period_date"))
    days = stored.loc[stored["indicator"] == indicator, "period_date"]
    if len(days) < _ENOUGH:
        return moved(ctx.today, -(years * 365 + years // 4))
    return moved(str(days.max()), -_OVERLAP)


def _rows(one: Series, days: pd.Series, values: pd.Series, **more: Any) -> pd.DataFrame:
    """Rows of one series; days without a value are left out."""
    made = pd.DataFrame({"period_date": days, "value": values, **more})
    made = made.assign(
        indicator=one.indicator, region=one.region, category=one.category, name=one.name, freq=one.freq,
        unit=one.unit,
    )  # fmt: skip
    if one.hour:
        made["publish_date"] = [
            moved(str(day), one.days) if one.days else str(day) for day in made["period_date"]
        ]
    return made[made["value"].notna()]


def _joined(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return stacked(parts, ["indicator", "period_date"])


def _economy(ctx: FetchContext, report: str) -> pd.DataFrame:
    """Every series of one report of the portal."""
    rows = ctx.eastmoney.economy(report)
    # What is announced and not in force yet has no value of a period that has begun.
    rows = rows[rows["date"] <= ctx.today]
    return _joined(
        _rows(
            one,
            rows["date"],
            rows[one.column],
            yoy=rows[one.yoy] if one.yoy else None,
            mom=rows[one.mom] if one.mom else None,
            publish_date=rows["publish_date"],
        )
        for one in SERIES.values()
        if one.report == report
    )


def _portal_yields(ctx: FetchContext) -> pd.DataFrame:
    rows = ctx.eastmoney.economy("RPTA_WEB_TREASURYYIELD", _since(ctx, "us_bond_10y", YEARS))
    return _joined(
        _rows(SERIES[name], rows["date"], rows[wire]) for name, wire in macro.YIELD_COLUMNS.items()
    )


def _portal_shibor(ctx: FetchContext) -> pd.DataFrame:
    return _by_tenor(ctx.eastmoney.interbank_rates(_since(ctx, "shibor_on", SHORT_YEARS)), "shibor_")


def _portal_levels(ctx: FetchContext, indicator: str) -> pd.DataFrame:
    rows = ctx.eastmoney.levels(macro.LEVELS[indicator], _since(ctx, indicator, YEARS), ctx.today)
    return _rows(SERIES[indicator], rows["date"], rows["close"])


def _foreign(ctx: FetchContext) -> pd.DataFrame:
    rows = ctx.eastmoney.foreign_values("USA", tuple(macro.FOREIGN), moved(ctx.today, -YEARS * 365))
    parts = []
    for number, indicator in macro.FOREIGN.items():
        own = rows[rows["series"] == number]
        parts.append(_rows(SERIES[indicator], own["date"], own["value"], publish_date=own["publish_date"]))
    return _joined(parts)


def _by_tenor(rows: pd.DataFrame, prefix: str) -> pd.DataFrame:
    return _joined(
        _rows(SERIES[f"{prefix}{tenor}"], own["date"], own["rate"]) for tenor, own in rows.groupby("tenor")
    )


def _requests() -> Iterator[tuple[str, Callable[[FetchContext], pd.DataFrame]]]:
    for report in macro.REPORTS:
        yield report, partial(_economy, report=report)
    yield "RPTA_WEB_TREASURYYIELD", _portal_yields
    yield SHIBOR, _portal_shibor
    yield "RPT_ECONOMICVALUE_USA", _foreign
    for indicator, secid in macro.LEVELS.items():
        yield secid, partial(_portal_levels, indicator=indicator)


REPORTS = tuple(name for name, _ in _requests())
"""The parts that the portal brings."""


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Some twenty calls. A report that has changed or is not plausible is left out and named; when
    more than a quarter of them fail, nothing of the portal is accepted."""
    parts, failed = [], []
    asked = list(_requests())
    for name, ask in asked:
        try:
            parts.append(ask(ctx))
        except (PayloadError, Permanent) as error:
            failed.append((name, error.message))
    if len(failed) > _FAILED_SHARE * len(asked):
        name, reason = failed[0]
        raise PayloadError(f"{len(failed)} of {len(asked)} reports failed; {name}: {reason}")
    ctx.not_served |= dict(failed)
    return _joined(parts)


def bond_depository(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Yields of Chinese government bonds of eight tenors, one call (ten the first time)."""
    rows = ctx.chinabond.government_curve(_since(ctx, "cn_bond_7y", YEARS), ctx.today)
    return _joined(
        _rows(SERIES[f"cn_bond_{column[1:]}{column[0]}"], rows["date"], rows[column])
        for column in rows.columns
        if column != "date"
    )


def interbank_market(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The newest week of yields, SHIBOR and LPR: about eight calls."""
    since = moved(ctx.today, -7)
    curve = ctx.chinamoney.closing_curve(since, ctx.today)
    parts = [_by_tenor(ctx.chinamoney.shibor(since, ctx.today), "shibor_")]
    parts.append(_by_tenor(ctx.chinamoney.lpr(moved(ctx.today, -62), ctx.today), "cn_lpr_"))
    for years in (1, 2, 3, 5, 7, 10, 30):
        own = curve[curve["years"] == years]
        parts.append(_rows(SERIES[f"cn_bond_{years}y"], own["date"], own["rate"]))
    return _joined(parts)
