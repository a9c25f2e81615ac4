"""Response models of the economy, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import Rows


class Yields(BaseModel):
    """Yields of government bonds on one date, percent."""

    date: str
    y1: float | None
    y2: float | None
    y5: float | None
    y10: float | None
    y30: float | None
    spread_10_2: float | None


class BondYield(Reach, Rows[Yields]):
    latest: Yields | dict[str, object]
    latestDate: str | None
    available: bool
    reason: str | None = None


class Premium(BaseModel):
    """The premium of an index on one date, percent."""

    date: str
    pe: float
    earnings_yield_pct: float
    bond_10y_pct: float
    erp_pct: float


class Band(BaseModel):
    mean: float | None
    plus1: float | None
    minus1: float | None


class RiskPremium(Reach, Rows[Premium]):
    index: str
    latest: Premium | dict[str, object]
    latestDate: str | None
    percentile_pct: float | None = Field(
        description="share of the dates whose premium is not above the newest"
    )
    band: Band
    available: bool
    reason: str | None = None


class Point(BaseModel):
    date: str
    value: float
    yoy: float | None = None
    mom: float | None = None
    publish_date: str | None = None
    publish_estimated: bool | None = Field(
        default=None, description="publish_date is the end of the period plus the usual lag of its report"
    )


class SeriesByName(Reach, Rows[Point]):
    """Oldest first."""

    name: str
    title: str
    unit: str
    freq: str = Field(description="d, m, q, or e: on events")
    latestDate: str | None
    available: bool
    reason: str | None = None
