"""app_info: the value of any of the read-only interfaces."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from platform_assets.declaration.tables import Table
from serving_api.catalog.catalog import builtin_catalog
from serving_api.envelope import local_iso
from serving_api.parameters import parse_as_of
from serving_api.tools.cleaning import NOTICE, fenced, is_fenced
from serving_api.tools.model import Call, Draft, Paged, Tool, ToolAnswer
from serving_api.tools.receipts import of_live, of_tables

MOST_ROWS = 5000


class InfoArguments(Paged):
    interface: str = Field(max_length=64, description="接口名，见 app_find 或 app_schema，如 get_kline_daily")
    params: dict[str, Any] = Field(default_factory=dict, description='接口的参数，如 {"code": "600519"}')
    as_of: str | None = Field(
        default=None, max_length=32, description="以当时所知作答：日期（当日结束）或时间；默认现在"
    )
    limit: int = Field(default=200, ge=1, le=MOST_ROWS, description="本次至多几项")


class InfoAnswer(ToolAnswer):
    items: list[Any] = Field(description="rows; of an answer that is a map {key, value}")
    interface: str
    description: str
    units: dict[str, str] = Field(description="column -> unit, of the columns that have one")
    first_date: str | None = Field(default=None, description="first stored date")
    note: str | None = Field(default=None, description="why this is less than was asked for")


async def info(call: Call, asked: InfoArguments) -> Draft:
    """The value of one interface. Raises Forbidden, NotFound, InputError; PlatformError when it fails."""
    state, catalog = call.state, builtin_catalog()
    interface, dataset = catalog.find(asked.interface)
    as_of = None if asked.as_of is None else parse_as_of(asked.as_of, state.clock.now())
    table = dataset.table_of(interface)
    far: dict[str, Any] = {}
    receipts: dict[str, Any]
    if interface.live:
        told = await catalog.call_live(state, interface.name, asked.params, as_of)
        value = told.value
        at = None if told.at is None else local_iso(told.at)
        receipts = await of_live(state, [told.origin] if told.origin else [], at)
    else:
        value, far = await catalog.call(state, interface.name, asked.params, as_of)
        receipts = await of_tables(state, (table.name,))
        if as_of is not None:
            receipts["as_of"] = as_of.echo
    rows = [fenced(row) if isinstance(row, Mapping) else row for row in _listed(value)]
    last = asked.offset + asked.limit
    shown = rows[asked.offset : last]
    body: dict[str, Any] = {
        "interface": interface.name,
        "description": interface.description,
        "units": _units(table, shown),
        **{key: far[key] for key in ("first_date", "note") if key in far},
    }
    notice = NOTICE if is_fenced(shown) else None
    return Draft(shown, asked.offset, len(rows), last < len(rows), body, notice=notice, **receipts)


def _listed(value: Any) -> list[Any]:
    """The items of any answer: of a list its own, of one row the row, of a map {key, value} each."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping) and value and all(isinstance(one, list | dict) for one in value.values()):
        return [{"key": str(key), "value": one} for key, one in value.items()]
    return [value]


def _units(table: Table, rows: list[Any]) -> dict[str, str]:
    """Of the columns that the rows show."""
    shown = {str(name) for row in rows if isinstance(row, Mapping) for name in _names(row)}
    return {spec.name: spec.unit for spec in table.columns if spec.unit and spec.name in shown}


def _names(row: Mapping[str, Any]) -> set[str]:
    """Keys of a row, and of what a map holds."""
    inner = row.get("value")
    if isinstance(inner, list):
        inner = inner[0] if inner else None
    return {*row, *(inner if isinstance(inner, Mapping) else ())}


TOOL = Tool(
    name="app_info",
    title="读取数据",
    description=(
        "读取 180 个只读接口中的任意一个（行情、财务、估值、股东、资金、融资融券、龙虎榜、指数、基金、"
        "宏观等），附单位与来源；接口名与参数用 app_find 或 app_schema 查"
    ),
    arguments=InfoArguments,
    answer=InfoAnswer,
    work=info,
    open_world=True,
)
