"""app_scan: stocks that meet a condition."""

from typing import Any

from pydantic import Field

from platform_assets.compute.dsl.written import written
from serving_api.framework.display_fields import Display18
from serving_api.framework.read_failures import read_or
from serving_api.quant.screener.market import TABLES
from serving_api.quant.screener.queries import BARS
from serving_api.quant.screener.service import Screener, parsed, warnings, when
from serving_api.tools.answers import Draft, ToolAnswer, of_tables
from serving_api.tools.model import Call, Paged, Tool


class ScanArguments(Paged):
    dsl: str = Field(
        min_length=1,
        max_length=2000,
        description="条件，如 pe_ttm between 0 and 20 and roe >= 15% order by roe desc；"
        "字段见 app_schema topic=screener",
    )
    date: str | None = Field(default=None, max_length=10, description="交易日 YYYY-MM-DD，默认最新")
    limit: int = Field(default=50, ge=1, le=200, description="至多几只")


class Match(Display18):
    matched: dict[str, Any] = Field(description="values of the fields that the condition names")


class ScanAnswer(ToolAnswer):
    items: list[Match]
    date: str | None = Field(description="trade date of the market that was searched")
    normalized: str
    explain: list[dict[str, Any]] = Field(
        description="the number of stocks that each part of the condition selected"
    )
    warnings: list[str]


async def scan(call: Call, asked: ScanArguments) -> Draft:
    """Matches in the order of the query. Raises BadExpression for an invalid text, InputError (date)."""
    query, moment = parsed(asked.dsl), when(call.state, asked.date, None)
    found = await read_or(None, call.state.part(Screener).find(query, moment))
    body = {
        "date": None if found is None else found.market.date,
        "normalized": written(query),
        "explain": [] if found is None else found.explain(),
        "warnings": warnings(query),
    }
    receipts = await of_tables(call.state, (*TABLES, BARS))
    if found is None:
        return Draft([], asked.offset, 0, body=body, **receipts)
    page = found.page(asked.offset, asked.limit)
    items = [{**row, "matched": page["matched"][row["code"]]} for row in page["items"]]
    total = page["total"]
    return Draft(items, asked.offset, total, asked.offset + len(items) < total, body, **receipts)


TOOL = Tool(
    name="app_scan",
    title="条件选股",
    description=(
        "按条件语言筛选股票：市盈率低于、ROE 大于、股息率超过、涨幅大于、突破均线的股票有哪些，"
        "某板块的成分股；matched 是条件所用字段的值，explain 逐条说明筛掉了多少"
    ),
    arguments=ScanArguments,
    answer=ScanAnswer,
    work=scan,
)
