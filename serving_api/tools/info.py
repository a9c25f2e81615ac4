"""app_info: stored facts of securities, or any of the read-only interfaces."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from core.declaration.tables import Table
from core.errors import InputError
from platform_assets.compute.evidence.facts import Fact
from serving_api.evidence.packs import stock_pack, stocks_pack
from serving_api.framework.parameters import Code, parse_as_of
from serving_api.interfaces.catalog import builtin_catalog
from serving_api.tools.answers import Draft, ToolAnswer, of_live, of_tables
from serving_api.tools.cleaning import NOTICE, OUTSIDE, fenced, is_fenced, shortened
from serving_api.tools.model import Call, Paged, Tool

MOST_ROWS = 5000
MOST_MISSING = 50


class InfoArguments(Paged):
    """Exactly one of `codes` and `interface`."""

    codes: list[Code] | None = Field(
        default=None,
        min_length=1,
        max_length=10,
        description="证券代码：给出其已入库的事实（一只最全，多只为要点）",
    )
    interface: str | None = Field(
        default=None, max_length=64, description="接口名，见 app_find 或 app_schema，如 get_kline_daily"
    )
    params: dict[str, Any] = Field(default_factory=dict, description='接口的参数，如 {"code": "600519"}')
    as_of: str | None = Field(
        default=None, max_length=32, description="仅接口：以当时所知作答，日期（当日结束）或时间；默认现在"
    )
    limit: int = Field(default=200, ge=1, le=MOST_ROWS, description="本次至多几项")


class InfoAnswer(ToolAnswer):
    items: list[Any] = Field(
        description=(
            "facts {id, subject, label, value, unit, table, key, column, as_of, quality, "
            "batch_id, link}; or rows of the interface; {key, value} pairs when it returns a map"
        )
    )
    interface: str | None = None
    description: str | None = None
    units: dict[str, str] = Field(default_factory=dict, description="column -> unit, for columns with a unit")
    missing: list[str] = Field(
        default_factory=list, description="data that was not found in the store, as text"
    )
    first_date: str | None = Field(default=None, description="first stored date")
    note: str | None = Field(default=None, description="why this is less than was requested")


async def info(call: Call, asked: InfoArguments) -> Draft:
    """Facts of securities, or the value of one interface. Raises Forbidden, NotFound, InputError;
    PlatformError when it fails."""
    if asked.codes is None and asked.interface is None:
        raise InputError("codes", "give one of codes and interface")
    if asked.codes is not None and asked.interface is not None:
        raise InputError("interface", "goes not together with codes")
    if asked.interface is not None:
        return await _interface(call, asked, asked.interface)
    if asked.as_of is not None or asked.params:
        wrong = "as_of" if asked.as_of is not None else "params"
        raise InputError(wrong, "goes together with interface alone")
    return await _facts(call, asked, list(dict.fromkeys(asked.codes or ())))


async def _facts(call: Call, asked: InfoArguments, codes: Sequence[str]) -> Draft:
    """The facts of a pack, each with its row and the batch that wrote it."""
    state = call.state
    pack = await (stock_pack(state, codes[0]) if len(codes) == 1 else stocks_pack(state, codes))
    as_of = datetime.fromisoformat(pack.as_of)
    draft = Draft.part_of(pack.facts, asked.offset, asked.limit, as_of=as_of)
    shown: Sequence[Fact] = draft.items
    draft.items = [_fact(fact) for fact in shown]
    draft.body = {"missing": pack.missing[:MOST_MISSING]}
    draft.sources = [fact.table for fact in shown]
    draft.batch_ids = [fact.batch_id for fact in shown if fact.batch_id]
    draft.notice = NOTICE if is_fenced(draft.items) else None
    return draft


def _fact(fact: Fact) -> dict[str, Any]:
    """A fact; a text from outside is put into `untrusted`."""
    plain = fact.plain()
    if fact.column not in OUTSIDE:
        return plain
    return {**plain, "value": None, "untrusted": {"value": shortened(str(fact.value))}}


async def _interface(call: Call, asked: InfoArguments, name: str) -> Draft:
    state, catalog = call.state, builtin_catalog()
    interface, dataset = catalog.find(name)
    as_of = None if asked.as_of is None else parse_as_of(asked.as_of, state.clock.now())
    table = dataset.table_of(interface)
    far: dict[str, Any] = {}
    receipts: dict[str, Any]
    if interface.live:
        answer = await catalog.call_live(state, interface.name, asked.params, as_of)
        value = answer.value
        receipts = await of_live(state, answer)
    else:
        value, far = await catalog.call(state, interface.name, asked.params, as_of)
        receipts = await of_tables(state, (table.name,))
        if as_of is not None:
            receipts["as_of"] = as_of.echo
    rows = [fenced(row) if isinstance(row, Mapping) else row for row in _listed(value)]
    draft = Draft.part_of(rows, asked.offset, asked.limit, **receipts)
    draft.body = {
        "interface": interface.name,
        "description": interface.description,
        "units": _units(table, draft.items),
        **{key: far[key] for key in ("first_date", "note") if key in far},
    }
    draft.notice = NOTICE if is_fenced(draft.items) else None
    return draft


def _listed(value: Any) -> list[Any]:
    """The items of any value: the elements of a list, one item for a row, {key, value} pairs for a map."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping) and value and all(isinstance(one, list | dict) for one in value.values()):
        return [{"key": str(key), "value": one} for key, one in value.items()]
    return [value]


def _units(table: Table, rows: Sequence[Any]) -> dict[str, str]:
    """Units of the columns that the rows have."""
    shown = {str(name) for row in rows if isinstance(row, Mapping) for name in _names(row)}
    return {spec.name: spec.unit for spec in table.columns if spec.unit and spec.name in shown}


def _names(row: Mapping[str, Any]) -> set[str]:
    """Keys of the rows, and of the values of a map."""
    inner = row.get("value")
    if isinstance(inner, list):
        inner = inner[0] if inner else None
    return {*row, *(inner if isinstance(inner, Mapping) else ())}


TOOL = Tool(
    name="app_info",
    title="读取数据",
    description=(
        "读取证券的数据：给出 codes 得到一家或几家（可比较）的最新行情、市盈率、市净率等估值、财务指标、"
        "十大股东、股东户数、主力资金流向、融资融券余额，逐条带数值的来源与批次；"
        "或以 interface 调用一个接口读取：日线（前复权）、龙虎榜、业绩预告等，名称与参数用 app_find 查"
    ),
    arguments=InfoArguments,
    answer=InfoAnswer,
    work=info,
    open_world=True,
)
