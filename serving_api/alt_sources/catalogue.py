"""The alternative sources. A source with `ask` is public; the others need a credential."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from serving_api.live.clients import XUEQIU
from serving_api.live.frame_values import Row, number, records, whole


@dataclass(frozen=True)
class AltSource:
    """`credential` names what a source needs (None: nothing). `ask` returns rows, given the client of
    `upstream`."""

    key: str
    name: str
    description: str
    fields: tuple[str, ...]
    credential: str | None = None
    upstream: str | None = None
    ask: Callable[[Any], list[Row]] | None = None


def _hottest(client: Any) -> list[Row]:
    return [
        {
            "rank": whole(row["rank_no"]),
            "code": row["code"],
            "name": row["name"],
            "heat": number(row["heat"]),
            "rank_change": whole(row["rank_change"]),
            "price": number(row["price"]),
            "change_pct": number(row["change_pct"]),
        }
        for row in records(client.hot_list())
    ]


ALT_SOURCES: tuple[AltSource, ...] = (
    AltSource(
        "xueqiu",
        "雪球",
        "社交平台热股榜：关注度最高的 100 只 A 股；价格为元，涨跌幅为百分数",
        ("rank", "code", "name", "heat", "rank_change", "price", "change_pct"),
        upstream=XUEQIU,
        ask=_hottest,
    ),
    AltSource(
        "jisilu",
        "集思录",
        "可转债全表：双低、到期税前收益、强赎进度",
        ("code", "name", "price", "premium_pct", "double_low", "ytm_pct", "redeem_status"),
        credential="the cookie of a login",
    ),
    AltSource(
        "iwencai",
        "问财",
        "自然语言选股：一句话到一张表",
        ("code", "name", "columns"),
        credential="an API key",
    ),
)
BY_KEY = {source.key: source for source in ALT_SOURCES}
