"""The tone of a headline by a small dictionary of the market's own words."""

import re

from core.text_keys import plain_form

_GOOD = re.compile(
    "预增|扭亏|大增|增长|创新高|涨停|中标|增持|回购|突破|获批|超预期|上调|买入|利好|签署.{0,8}合同|分红|领涨|复牌大涨"
)
_BAD = re.compile(
    "预减|首亏|续亏|亏损|下滑|大跌|跌停|减持|立案|处罚|警示|违约|退市|风险|诉讼|下调|卖出|利空|问询|冻结|领跌|爆雷"
)
_TURNED = re.compile("(?:不|未|终止|取消|解除|撤销|消除)[^，。,.]{0,6}$")


def sentiment_of(title: str) -> int | None:
    """1 good, -1 bad, 0 as much of one as of the other; None where no word decides. A word behind a
    negation (`终止减持`) counts for the other side."""
    plain = plain_form(title)
    balance = found = 0
    for pattern, sign in ((_GOOD, 1), (_BAD, -1)):
        for match in pattern.finditer(plain):
            found += 1
            balance += -sign if _TURNED.search(plain[: match.start()]) else sign
    if not found:
        return None
    return (balance > 0) - (balance < 0)
