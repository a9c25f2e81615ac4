"""Futures contracts: how much of its product each one holds.

Checked against the contract tables of the exchanges as public repositories quote them: the pages of products
of www.shfe.com.cn, www.ine.cn and www.czce.com.cn, and the notices of what was listed last, cast aluminium
alloy (SHFE 2025_AD/FJ-1), offset paper (SHFE FUTURES-OPTIONS/FJ1), logs, benzene and means of a month (DCE
2024/ywggytz/8620259, 2025/ywggytz/8637864 and 18623631); the older ones also against `volscale` of
wondertrader/wtpy, demos/common/commodities.json.
"""

ANY_SIZE = (1.0, 20_000.0)
"""The smallest and the largest contract, in units of the price."""

CONTRACT_SIZES: dict[str, tuple[int, ...]] = {
    # Financial futures exchange: CNY a point of an index; a bond per 100 CNY of its face value.
    **dict.fromkeys(("IF", "IH"), (300,)),
    **dict.fromkeys(("IC", "IM"), (200,)),
    **dict.fromkeys(("T", "TF", "TL"), (10_000,)),
    "TS": (20_000,),
    # Shanghai: tonnes, kilograms of silver, grams of gold.
    **dict.fromkeys(("cu", "al", "zn", "ss", "bc", "br"), (5,)),
    "pb": (5, 25),
    **dict.fromkeys(("ni", "sn"), (1,)),
    "ag": (15,),
    "au": (1000,),
    **dict.fromkeys(("rb", "wr", "hc", "bu", "sp", "nr", "lu", "ad"), (10,)),
    "ru": (10, 5),
    "fu": (10, 50),
    "ao": (20,),
    "op": (40,),
    # Its energy exchange: barrels, CNY a point of the freight index.
    "sc": (1000,),
    "ec": (50,),
    # Dalian: tonnes; eggs are quoted per 500 kg, logs per cubic metre, boards per sheet.
    **dict.fromkeys(("a", "b", "m", "y", "p", "c", "cs", "rr", "eg", "jd"), (10,)),
    **dict.fromkeys(("l", "v", "pp", "lF", "vF", "ppF", "eb"), (5,)),
    **dict.fromkeys(("j", "i"), (100,)),
    "jm": (60,),
    "pg": (20,),
    "lh": (16,),
    "bz": (30,),
    "lg": (90,),
    "fb": (10, 500),
    "bb": (500,),
    # Zhengzhou: tonnes.
    **dict.fromkeys(("SR", "OI", "RM", "RS", "AP"), (10,)),
    **dict.fromkeys(("CF", "CY", "TA", "SF", "SM", "CJ", "PF", "PK", "PX"), (5,)),
    "MA": (10, 50),
    **dict.fromkeys(("FG", "UR", "SA", "WH", "RI", "LR", "JR", "PL"), (20,)),
    "ZC": (100, 200),
    "SH": (30,),
    "PR": (15,),
    "PM": (50,),
    # Guangzhou: tonnes, grams of platinum and palladium.
    "si": (5,),
    "lc": (1,),
    "ps": (3,),
    **dict.fromkeys(("pt", "pd"), (1000,)),
}
"""Product -> units of the price in one contract; where it was changed, the present size first. A price x this
x contracts is their turnover."""
_SLACK, _ROUNDED = 0.02, 100.0
"""Deals outside the extremes (as those at the settlement price), and the last digit of the turnover, CNY."""


def turnover_fits(product: str, turnover: float, contracts: float, low: float, high: float) -> bool:
    """Whether turnover (CNY) / (contracts x size) lies within the extremes of the day, as far as all are
    known. If not, money, contracts or prices are in another unit, counted twice, or another contract's. A
    product that is not known may have any size that exists."""
    if not (contracts > 0 and turnover > 0 and low > 0 and high > 0):
        return True
    mean, slack = turnover / contracts, _ROUNDED / contracts
    sizes: list[tuple[float, float]] = [(size, size) for size in CONTRACT_SIZES.get(product, ())] or [
        ANY_SIZE
    ]
    return any(
        smallest * low * (1 - _SLACK) - slack <= mean <= largest * high * (1 + _SLACK) + slack
        for smallest, largest in sizes
    )
