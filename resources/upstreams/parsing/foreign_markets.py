"""Markets outside the mainland that its own market looks at: six series, and how two sites name them."""

from collections.abc import Mapping
from dataclasses import dataclass

from resources.upstreams.parsing.frames import numbers, texts

OUTSIDE_COLUMNS: dict[str, str] = {
    **texts("series name date quote_time"),
    **numbers("price open high low last_close"),
}
"""`quote_time` in Shanghai, `date` its day. Index points; yuan for a dollar; dollars a barrel, an ounce."""


@dataclass(frozen=True)
class Outside:
    """`secid` of the portal, `symbol` of the second quote site, by the form of its record."""

    series: str
    name: str
    secid: str
    symbol: str


SERIES: Mapping[str, Outside] = {
    one.series: one
    for one in (
        Outside("spx", "标普500", "100.SPX", "gb_$inx"),
        Outside("hsi", "恒生指数", "100.HSI", "rt_hkHSI"),
        Outside("dxy", "美元指数", "100.UDI", "DINIW"),
        Outside("usdcnh", "美元兑离岸人民币", "133.USDCNH", "fx_susdcnh"),
        Outside("oil", "纽约原油", "102.CL00Y", "hf_CL"),
        Outside("gold", "纽约黄金", "101.GC00Y", "hf_GC"),
    )
}
