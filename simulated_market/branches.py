"""Branches of brokers that never were, and the anonymous seats that the exchanges name for others."""

from random import Random

from simulated_market.draws import drawn

INSTITUTION = "机构专用"
_BROKERS = ("海川", "东岳", "云麓", "江屿", "北辰", "华澜", "南屏", "瀚宁", "岚山", "启衡")
_PLACES = ("上海东方路", "深圳福田路", "杭州延安路", "宁波解放南路", "拉萨团结路", "成都北一环路",
           "北京建国路", "广州黄埔大道", "武汉中北路", "绍兴", "佛山季华六路", "厦门厦禾路")  # fmt: skip
_CONNECT = {"SH": "沪股通专用", "SZ": "深股通专用"}


def branch(random: Random) -> str:
    """The name of a branch."""
    return f"{random.choice(_BROKERS)}证券股份有限公司{random.choice(_PLACES)}证券营业部"


def seat(random: Random, market: str) -> str:
    """A seat of the billboard: 17 % institutions, 15 % stock connect, else a branch."""
    kind = random.random()
    if kind < 0.17:
        return INSTITUTION
    if kind < 0.32 and market in _CONNECT:
        return _CONNECT[market]
    return branch(random)


def branch_code(name: str) -> str:
    """The portal's code of a branch; institutions share `0`."""
    return "0" if name == INSTITUTION else f"10{drawn(name) % 10**8:08d}"
