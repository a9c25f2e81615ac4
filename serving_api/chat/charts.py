"""The chart of an answer: closes of the one company that it is about."""

from typing import Any

from platform_assets.compute.evidence.facts import Pack
from serving_api.chat.subjects import Topic
from serving_api.evidence.packs import fact_of
from serving_api.evidence.parts import BARS, MASTER
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.stocks import queries

CHART_BARS = 60


async def of_topic(state: State, topic: Topic, pack: Pack) -> dict[str, Any] | None:
    """A line chart of unadjusted closes; None for several companies, for the market, or without bars."""
    name = fact_of(pack, MASTER, "name")
    if len(topic.codes) != 1 or name is None:
        return None
    bars = await read_or([], state.reading.point(queries.bars, topic.codes[0], CHART_BARS, None))
    if not bars:
        return None
    return {
        "kind": "line", "title": f"{name.subject}收盘价（不复权）", "source": BARS, "unit": "CNY",
        "x": [bar.date for bar in bars], "series": [{"name": "收盘价", "data": [bar.close for bar in bars]}],
    }  # fmt: skip
