"""app_hot: stocks and industries with the most attention."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from pydantic import Field

from serving_api.framework.read_failures import read_or
from serving_api.interfaces.catalog import builtin_catalog
from serving_api.live.admin_reads.changes import Changes
from serving_api.live.chain import UnifiedReads
from serving_api.tools.answers import Draft, ToolAnswer, of_live, of_tables
from serving_api.tools.cleaning import NOTICE, fenced, is_fenced
from serving_api.tools.model import Call, Paged, Tool


class HotArguments(Paged):
    kind: Literal["traded", "popular", "limit_up", "industries", "moves"] = Field(
        default="traded",
        description="traded 成交额居前；popular 人气榜；limit_up 连板梯队；"
        "industries 行业涨跌；moves 盘中异动",
    )
    limit: int = Field(default=20, ge=1, le=100, description="至多几项")


class HotAnswer(ToolAnswer):
    """Changes are percent, money CNY."""

    items: list[dict[str, Any]]
    kind: str


async def _unified(call: Call, name: str, key: str) -> Draft:
    found = await call.state.part(UnifiedReads).read(name)
    return Draft(list(found.body[key]), **await of_live(call.state, found))


async def _moves(call: Call, asked: HotArguments) -> Draft:
    answer = await call.state.part(Changes).newest(asked.offset + asked.limit + 1)
    return Draft(answer.value, **await of_live(call.state, answer))


async def _popular(call: Call, asked: HotArguments) -> Draft:
    rows, receipts = await _stored(call, "get_hot_stocks", [], limit=asked.offset + asked.limit + 1)
    return Draft(rows, **receipts)


async def _limit_up(call: Call, asked: HotArguments) -> Draft:
    ladder, receipts = await _stored(call, "get_limit_ladder", {})
    day = ladder.get("trade_date")
    rows = [
        {"trade_date": day, "limit_days": level["limit_days"], **stock}
        for level in ladder.get("levels", [])
        for stock in level["stocks"]
    ]
    return Draft(rows, **receipts)


async def _stored(call: Call, name: str, empty: Any, **params: Any) -> tuple[Any, dict[str, Any]]:
    """(value of an interface, receipts of the table behind it)."""
    value, _ = await read_or((empty, {}), builtin_catalog().call(call.state, name, params, None))
    interface, dataset = builtin_catalog().find(name)
    return value, await of_tables(call.state, (dataset.table_of(interface).name,))


_KINDS: Mapping[str, Callable[[Call, HotArguments], Awaitable[Draft]]] = {
    "traded": lambda call, _: _unified(call, "hot_stocks", "items"),
    "popular": _popular,
    "limit_up": _limit_up,
    "industries": lambda call, _: _unified(call, "industry_rank", "industries"),
    "moves": _moves,
}


async def hot(call: Call, asked: HotArguments) -> Draft:
    """One kind of list, from the cursor on."""
    draft = await _KINDS[asked.kind](call, asked)
    rows, last = draft.items, asked.offset + asked.limit
    draft.items = [fenced(row) for row in rows[asked.offset : last]]
    draft.offset, draft.more = asked.offset, last < len(rows)
    draft.body = {"kind": asked.kind}
    draft.notice = NOTICE if is_fenced(draft.items) else None
    return draft


TOOL = Tool(
    name="app_hot",
    title="热点与排行",
    description=(
        "今天的排行：热门股票、人气榜前十、成交额居前、涨停了哪些股票与连板最高的梯队、哪个行业涨得最多、盘中异动"
    ),
    arguments=HotArguments,
    answer=HotAnswer,
    work=hot,
    open_world=True,
)
