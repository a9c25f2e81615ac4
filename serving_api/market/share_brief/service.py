"""Data of the picture, from the unified reads."""

import asyncio
from typing import Any

from serving_api.framework.state import State
from serving_api.live.chain import UnifiedReads, unified_of
from serving_api.live.data_types import Found
from serving_api.market.share_brief.picture import HEIGHT, WIDTH, Facts, Index, listed, svg_of, title_of

NOTE = "当前没有可用的市场数据，暂不生成分享图"
_KINDS = ("sentiment", "distribution", "fund_flow", "industry_rank")


class ShareBrief:
    def __init__(self, state: State, unified: UnifiedReads) -> None:
        self._state = state
        self._unified = unified

    async def read(self) -> dict[str, Any]:
        found = await asyncio.gather(*map(self._unified.read, _KINDS))
        facts = facts_of(dict(zip(_KINDS, found, strict=True)), sample=self._state.world == "sample")
        brief = {
            "date": facts.date,
            "title": title_of(facts),
            "facts": [{"label": label, "value": value} for label, value in listed(facts)],
            "note": NOTE if facts.empty else None,
        }
        return {
            "svg": None if facts.empty else await asyncio.to_thread(svg_of, facts),
            "width": WIDTH,
            "height": HEIGHT,
            "brief": brief,
        }


def facts_of(found: dict[str, Found], *, sample: bool) -> Facts:
    """The time of the older answer is shown."""
    sentiment, distribution = found["sentiment"].body, found["distribution"].body
    flow, industries = found["fund_flow"].body, found["industry_rank"].body["industries"]
    times = [one.at for one in found.values() if one.at is not None]
    date = f"{min(times):%Y-%m-%d %H:%M}" if times else found["sentiment"].session
    return Facts(
        date=date,
        indices=[Index(row["name"], row["price"], row["change_percent"]) for row in sentiment["indices"]],
        score=sentiment["sentiment_score"],
        label=sentiment["sentiment_label"],
        up=distribution["up"],
        down=distribution["down"],
        flat=distribution["flat"],
        limit_up=distribution["limit_up"],
        limit_down=distribution["limit_down"],
        amount=flow["total_amount"],
        main_net=flow["main_net_inflow"],
        seal_rate=flow["seal_success_rate"],
        best=_industry(industries[0]) if industries else None,
        worst=_industry(industries[-1]) if industries else None,
        sample=sample,
    )


def _industry(row: dict[str, Any]) -> tuple[str, float]:
    return row["name"], row["change_percent"]


def share_brief_of(state: State) -> ShareBrief:
    """The app's picture of the market (`state.part(share_brief_of)`)."""
    return ShareBrief(state, state.part(unified_of))
