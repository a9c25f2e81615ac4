"""Response models of the finance reads, for the document."""

from typing import Literal

from pydantic import BaseModel, Field

from serving_api.framework.openapi import example

# Field names are those of the specification, some of them camelCase.


class FinanceRow(BaseModel):
    """Cumulative since 1 January: CNY, `roe` percent, per share CNY."""

    model_config = example(
        year=2026, report_period="2026-06-30", revenue=91094000000.0, netProfit=46987000000.0, roe=18.2,
        eps=37.4, bvps=198.1,
    )  # fmt: skip
    year: int
    report_period: str
    revenue: float | None
    netProfit: float | None
    roe: float | None
    eps: float | None
    bvps: float | None


Origin = Literal["fusion", "indicator", "live"]


class Indicator(BaseModel):
    key: str = Field(description="column of fusion_finance_indicator, or the upstream's name")
    name: str
    unit: str = Field(description="CNY, pct, days, times or nothing")
    values: list[float | None] = Field(description="one per period")


class IndicatorGroup(BaseModel):
    key: str
    name: str
    items: list[Indicator]


class Indicators(BaseModel):
    code: str
    periods: list[str] = Field(description="newest first, at most 12")
    groups: list[IndicatorGroup]
    updatedAt: str | None


class Series(BaseModel):
    """Amounts in CNY are cumulative, their `qoq` compares single quarters (percent); changes of
    percentages are differences in points."""

    key: str
    name: str
    unit: str
    values: list[float | None]
    yoy: list[float | None]
    qoq: list[float | None]


class Explanation(BaseModel):
    report_period: str
    item: str
    change_pct: float | None = Field(description="on the year before, percent")
    text: str | None = Field(description="null when there is no explanation")


class Detail(BaseModel):
    code: str
    periods: list[str] = Field(description="newest first, at most 12")
    series: list[Series]
    explanations: list[Explanation] = Field(description="items that changed by 30 % or more")
    indicators: dict[str, float] = Field(description="every number of the newest report")
