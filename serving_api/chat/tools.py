"""The tools that a model may call during a chat: reads of our own that add facts to the pack, so that it
can cite them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import StorageError
from platform_assets.compute.evidence.facts import Pack
from resources.models.protocol import ToolSpec
from serving_api.chat.prompts import evidence_block
from serving_api.evidence.guard import fenced
from serving_api.evidence.market import read_macro, read_market
from serving_api.evidence.packs import fact_of, read_companies
from serving_api.evidence.parts import BASE, MASTER, OF_ONE
from serving_api.framework.state import State
from serving_api.stocks.service import Stocks

MOST_FACTS = 900
"""Largest number of facts in a pack: a question that needs more is several questions."""
MOST_HITS = 10


@dataclass(frozen=True)
class Outcome:
    """`text` is for the model, `summary` for the user."""

    ok: bool
    text: str
    summary: str


def _schema(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


_CODE = {"type": "string", "pattern": "^[0-9]{6}$", "description": "6位证券代码"}
SPECS: tuple[ToolSpec, ...] = (
    ToolSpec("find", "按代码、名称或拼音查找证券，返回代码与名称", _schema(
        keyword={"type": "string", "maxLength": 40, "description": "代码、名称或拼音"},
    )),
    ToolSpec("stock", "一家公司的全部数据：行情、估值、财务、资金、风险、消息", _schema(code=_CODE)),
    ToolSpec("market", "市场概况：指数、涨跌、行业、资金、龙头、快讯", _schema()),
    ToolSpec("macro", "宏观数据的最新值与公布日期", _schema()),
)  # fmt: skip


class Tools:
    """The tools of one question. Facts that they read are added to its pack under new numbers."""

    def __init__(self, state: State, pack: Pack) -> None:
        self._state = state
        self._pack = pack

    async def call(self, name: str, arguments: Mapping[str, Any] | None) -> Outcome:
        """Never raises for errors of the model."""
        if arguments is None:
            return _refused("参数不是JSON对象")
        if len(self._pack.facts) > MOST_FACTS:
            return _refused("本次问答的数据已经足够多")
        work = {"find": self._find, "stock": self._stock, "market": self._market, "macro": self._macro}.get(
            name
        )
        if work is None:
            return _refused("没有这个工具")
        try:
            return await work(arguments)
        except StorageError:
            return _refused("数据暂时读不到")

    async def _find(self, arguments: Mapping[str, Any]) -> Outcome:
        keyword = arguments.get("keyword")
        if not isinstance(keyword, str) or not 0 < len(keyword) <= 40:
            return _refused("keyword 必须是1到40个字符")
        hits = (await self._state.part(Stocks).directory()).find(keyword)[:MOST_HITS]
        for hit in hits:
            # The name and the code are then known to the checker.
            self._pack.add(
                hit.name, "证券简称", hit.name, "", table=MASTER, column="name", as_of=self._pack.as_of[:10],
                key={"code": hit.code},
            )  # fmt: skip
        lines = [f"{hit.code} {fenced(hit.name)}" for hit in hits]
        return Outcome(True, "\n".join(lines) or "没有找到", f"找到{len(hits)}家" if hits else "没有找到")

    async def _stock(self, arguments: Mapping[str, Any]) -> Outcome:
        code = arguments.get("code")
        if not isinstance(code, str) or len(code) != 6 or not (code.isascii() and code.isdigit()):
            return _refused("code 必须是6位数字")
        known = {str(fact.key.get("code")): fact for fact in self._pack.facts if fact.table == MASTER}
        if code in known and fact_of(self._pack, BASE[2].table, "price", known[code].subject):
            return Outcome(True, "已在 <evidence> 中", "已有数据")
        return await self._added(
            lambda session, now: read_companies(session, (code,), OF_ONE, now, self._pack)
        )

    async def _market(self, arguments: Mapping[str, Any]) -> Outcome:
        return await self._added(lambda session, now: read_market(session, now, self._pack))

    async def _macro(self, arguments: Mapping[str, Any]) -> Outcome:
        return await self._added(lambda session, now: read_macro(session, now, self._pack))

    async def _added(self, read: Any) -> Outcome:
        since = len(self._pack.facts)
        await self._state.reading.scan(read, self._state.clock.now())
        count = len(self._pack.facts) - since
        if not count:
            return Outcome(False, "没有找到数据", "没有找到数据")
        return Outcome(True, evidence_block(self._pack, since), f"读到{count}项数据")


def _refused(why: str) -> Outcome:
    return Outcome(False, why, why)
