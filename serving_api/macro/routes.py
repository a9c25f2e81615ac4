"""/macro/* and /fusion/macro/*: open to anyone, plain."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from platform_assets.datasets._macro_series import CN_NAMES, SERIES
from platform_assets.datasets.macro_indicator import MacroIndicator
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach, reach_from
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import AsOfRead, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.macro import queries
from serving_api.table_lists import DatedRows, dated_rows


class Yields(BaseModel):
    """Yields of government bonds on one date, percent."""

    date: IsoDate
    y1: float | None
    y2: float | None
    y5: float | None
    y10: float | None
    y30: float | None
    spread_10_2: float | None


class BondYield(DatedRows[Yields]):
    latest: Yields | dict[str, object]


class Premium(BaseModel):
    """The premium of an index on one date, percent."""

    date: IsoDate
    pe: float
    earnings_yield_pct: float
    bond_10y_pct: float
    erp_pct: float


class Band(BaseModel):
    mean: float | None
    plus1: float | None
    minus1: float | None


class RiskPremium(DatedRows[Premium]):
    index: str
    latest: Premium | dict[str, object]
    percentile_pct: float | None = Field(
        description="share of the dates whose premium is not above the newest"
    )
    band: Band


@with_columns(
    MacroIndicator.yoy.or_missing(), MacroIndicator.mom.or_missing(),
    MacroIndicator.publish_date.or_missing(), MacroIndicator.publish_estimated.or_missing(),
)  # fmt: skip
class Point(BaseModel):
    date: IsoDate
    value: float


class SeriesByName(DatedRows[Point]):
    name: str
    title: str
    unit: str
    freq: str = Field(description="d, m, q, or e: on events")


router = area_router(f"{PREFIX}/macro", "macro")
fusion_router = area_router(f"{PREFIX}/fusion/macro", "macro")


_AS_OF = [("as_of", str)]


@router.get("/bond-yield", response_model=BondYield)
@serves(top=_AS_OF, tables=(queries.VALUES,))
async def bond_yield(
    call: Anyone,
    as_of: AsOfRead,
    region: Annotated[Literal["cn", "us"], Query(description="whose government bonds")] = "cn",
    days: Annotated[int, Query(ge=5, le=2500, description="newest dates")] = 250,
) -> Answer:
    """Yields of government bonds by date, oldest first."""
    reading = call.state.reading
    rows, why = await read_or(
        ([], "the database is away"), reading.scan(queries.yields_or_why, region, days, bound_of(as_of))
    )
    first = reading.scan(queries.first_yield, region)
    answer = {
        **dated_rows(rows, why),
        "latest": rows[-1] if rows else {},
        **await reach_from(first, len(rows), asked=days, what="dates", as_of=as_of),
    }
    return Answer(answer, top=echo_of(as_of))


@router.get("/erp", response_model=RiskPremium)
@serves(top=_AS_OF, tables=(queries.VALUES, queries.PE))
async def risk_premium(
    call: Anyone,
    as_of: AsOfRead,
    index: Annotated[
        str, Query(pattern=r"^(sh|sz|csi)[0-9A-Z]{6}$", description="index whose PE is taken")
    ] = "sh000300",
    days: Annotated[int, Query(ge=30, le=2500, description="newest dates")] = 750,
) -> Answer:
    """Earnings yield of an index above the ten-year yield, by date, oldest first."""
    reading = call.state.reading
    nothing = queries.premium_of(index, [], "the database is away")
    found = await read_or(nothing, reading.scan(queries.risk_premium, index, days, bound_of(as_of)))
    first = reading.scan(queries.first_premium, index)
    what = "dates with both sides"
    history = await reach_from(first, found["total"], asked=days, what=what, as_of=as_of)
    return Answer({**found, **history}, top=echo_of(as_of))


@fusion_router.get("/cn-extended/{name}", response_model=SeriesByName)
@serves(top=_AS_OF, tables=(queries.VALUES,), raises=(404,))
async def cn_extended(
    call: Anyone,
    name: Annotated[str, Path(max_length=64, description="a series, as cn_cpi_yoy")],
    as_of: AsOfRead,
    limit: Annotated[int, Query(ge=1, le=600, description="newest periods")] = 60,
) -> Answer:
    """One series of the Chinese economy by its name, oldest first."""
    if name not in CN_NAMES:
        reported = {"detail": f"unknown series: {name[:40]}", "names": list(CN_NAMES)}
        return Answer(reported, status_code=404)
    one = SERIES[name]
    read = call.state.reading.scan(_newest, name, limit, bound_of(as_of))
    rows, why = await read_or(([], "the database is away"), read)
    table = queries.VALUES
    history = await reach(
        call.state, table, len(rows), table.c.indicator == name, asked=limit, what="periods", as_of=as_of
    )
    answer = {
        "name": name, "title": one.name, "unit": one.unit, "freq": one.freq, **dated_rows(rows, why),
        **history,
    }  # fmt: skip
    return Answer(answer, top=echo_of(as_of))


def _newest(session: Any, name: str, limit: int, as_of: str | None) -> tuple[list[queries.Row], str | None]:
    """The newest points of a series, and why there are none."""
    rows = queries.series(session, [name], limit=limit, as_of=as_of)
    shown = ("value", "yoy", "mom", "publish_date", "publish_estimated")
    points = [{"date": row["period_date"], **{name: row[name] for name in shown}} for row in rows]
    return points, None if points else queries.missing(session, [name], as_of)
