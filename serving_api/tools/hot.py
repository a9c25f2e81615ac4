"""app_hot: stocks and industries with the most attention."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from pydantic import Field

from serving_api.framework.envelope import local_iso
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
    at = None if found.at is None else local_iso(found.at)
    sources = [found.origin] if found.origin else []
    return Draft(list(found.body[key]), **await of_live(call.state, sources, at))


async def _traded(call: Call, asked: HotArguments) -> Draft:
    return await _unified(call, "hot_stocks", "items")


async def _industries(call: Call, asked: HotArguments) -> Draft:
    return await _unified(call, "industry_rank", "industries")


async def _moves(call: Call, asked: HotArguments) -> Draft:
    answer = await call.state.part(Changes).newest(asked.offset + asked.limit + 1)
    at = None if answer.at is None else local_iso(answer.at)
    sources = [answer.origin] if answer.origin else []
    return Draft(answer.value, **await of_live(call.state, sources, at))


async def _popular(call: Call, asked: HotArguments) -> Draft:
    rows = await _stored(call, "get_hot_stocks", {"limit": asked.offset + asked.limit + 1}, [])
    return Draft(rows, **await _behind(call, "get_hot_stocks"))


async def _limit_up(call: Call, asked: HotArguments) -> Draft:
    ladder = await _stored(call, "get_limit_ladder", {}, {})
    day = ladder.get("trade_date")
    rows = [
        {"trade_date": day, "limit_days": level["limit_days"], **stock}
        for level in ladder.get("levels", [])
        for stock in level["stocks"]
    ]
    return Draft(rows, **await _behind(call, "get_limit_ladder"))


async def _stored(call: Call, name: str, params: dict[str, Any], empty: Any) -> Any:
    value, _ = await read_or((empty, {}), builtin_catalog().call(call.state, name, params, None))
    return value


async def _behind(call: Call, name: str) -> dict[str, Any]:
    """Receipts of the table behind an interface."""
    interface, dataset = builtin_catalog().find(name)
    return await of_tables(call.state, (dataset.table_of(interface).name,))


_KINDS: Mapping[str, Callable[[Call, HotArguments], Awaitable[Draft]]] = {
    "traded": _traded,
    "popular": _popular,
    "limit_up": _limit_up,
    "industries": _industries,
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
    title="热点",
    description="市场在看什么：成交额居前、人气榜、连板梯队、行业涨跌、盘中异动",
    arguments=HotArguments,
    answer=HotAnswer,
    work=hot,
    open_world=True,
)
