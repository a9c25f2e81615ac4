"""Request and response models of the screener and of formulas, for the document."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from platform_assets.compute.parameters.screener import MAX_CHARS
from serving_api.framework.display_fields import Display18
from serving_api.framework.history_reach import Reach
from serving_api.framework.openapi import IsoDate, example
from serving_api.framework.parameters import Code

Page = Annotated[int, Field(ge=1, le=1_000_000, description="page, from 1")]
PageSize = Annotated[int, Field(ge=10, le=200, description="rows of a page")]
Day = Annotated[str | None, Field(description="trade date, YYYY-MM-DD or YYYYMMDD; default the newest")]
Instant = Annotated[str | None, Field(description="answer with the data known at this instant")]
Limit = Annotated[int, Field(ge=1, le=500)]
_DSL = "pe_ttm between 0 and 20 and roe >= 15% order by roe desc limit 50"


class Search(BaseModel):
    model_config = example(dsl=_DSL, page=1, pageSize=50)
    dsl: str = Field(description="a query of the condition language, at most 2,000 characters")
    page: Page = 1
    pageSize: PageSize = 50
    date: Day = None
    as_of: Instant = None


class QueryText(BaseModel):
    model_config = example(dsl=_DSL)
    dsl: str


class Sentence(BaseModel):
    model_config = example(query="低估值、换手率大于3%的银行股，按净资产收益率从高到低前20")
    query: str = Field(min_length=1, max_length=MAX_CHARS)
    page: Page = 1
    pageSize: PageSize = 50
    date: Day = None


class FieldCondition(BaseModel):
    field: str = Field(max_length=64)
    op: str = Field(max_length=16, description="one of the field's ops")
    value: Any = Field(default=None, description="number, text or flag; a list for between, in, not in")


class ConditionList(BaseModel):
    model_config = example(
        conditions=[
            {"field": "pe_ttm", "op": "between", "value": [0, 20]},
            {"field": "st", "op": "=", "value": False},
        ],
        sort="-roe",
    )
    conditions: list[FieldCondition] = Field(min_length=1, max_length=50)
    logic: Literal["and"] = "and"
    sort: str | None = Field(default=None, max_length=65, description="a field; with a minus: largest first")
    limit: Limit = 100
    date: Day = None
    as_of: Instant = None


class FormulaText(BaseModel):
    model_config = example(formula="CROSS(MA(C,5),MA(C,20)) AND V>1.5*MA(V,5)", limit=50)
    formula: str = Field(description="at most 2,000 characters")
    codes: list[Code] | None = Field(default=None, min_length=1, max_length=500)
    date: Day = None
    limit: Limit = 100


class QueryStep(BaseModel):
    condition: str
    fields: list[str]
    matched: int = Field(description="stocks that meet this part")
    unknown: int = Field(description="stocks with a missing value")
    remaining: int = Field(description="stocks that meet this part and those before it")
    note: str | None


class ScreenResult(Reach):
    date: IsoDate | None
    items: list[Display18]
    matched: dict[str, dict[str, Any]] = Field(description="code -> values of the requested fields")
    total: int
    explain: list[QueryStep]
    as_of: str | None = None


class SearchResult(ScreenResult):
    page: int
    pageSize: int
    normalized: str


class SentenceResult(SearchResult):
    dsl: str = Field(description="'' where nothing was understood")
    source: Literal["llm", "rule"]
    unmatched: list[str] = Field(description="words that were not understood")


class ParsedQuery(BaseModel):
    ast: dict[str, Any]
    normalized: str
    fields: list[str]
    warnings: list[str]


class ScreenerField(BaseModel):
    field: str
    label: str
    type: Literal["number", "text", "flag"]
    unit: str
    ops: list[str]
    table: str = Field(description="where the value is stored")
    column: str


class FilterField(ScreenerField):
    options: list[str | int] | None = None


class FilterGroup(BaseModel):
    key: str
    name: str
    fields: list[FilterField]


class Filters(BaseModel):
    groups: list[FilterGroup]


class GroupedField(ScreenerField):
    group: str


class ScreenerFields(BaseModel):
    items: list[GroupedField]


class ScreenerPreset(BaseModel):
    key: str
    label: str
    desc: str
    dsl: str


class ScreenerPresets(BaseModel):
    items: list[ScreenerPreset]


class Formula(BaseModel):
    key: str
    name: str
    text: str
    description: str
    output: Literal["bool", "number"]


class Formulas(BaseModel):
    items: list[Formula]


class FormulaValue(BaseModel):
    code: str
    name: str | None
    value: bool | float


class FormulaValues(Reach):
    date: IsoDate | None
    items: list[FormulaValue]
    total: int
