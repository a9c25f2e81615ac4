"""Upstream calls of a watch list's first load, before anything is recorded that could be counted.

Counted in loads of the simulated market, where a test holds them as an upper bound; pages of the lists of
all securities as the real market of 5,500 stocks has them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Calls:
    """Calls of one upstream: of the installation, of each security, of each year of a security, of each
    index."""

    once: float = 0
    security: float = 0
    year: float = 0
    index: float = 0


CALLS: Mapping[str, Calls] = {
    "eastmoney": Calls(once=260, security=20, year=2, index=1),
    "cninfo": Calls(once=8, security=2, year=5),
    "tdx": Calls(once=240, security=12, year=0.4, index=6),
    "tencent": Calls(once=6, security=0.1, year=0.0, index=2),
    "ths": Calls(once=4, security=1),
    "szse": Calls(once=16),
    "sse": Calls(once=6),
    "csindex": Calls(once=12, index=1),
    "chinabond": Calls(once=20),
    "chinamoney": Calls(once=8),
    "sw": Calls(once=6),
    "xueqiu": Calls(once=4),
    "bse": Calls(once=2),
    "cnindex": Calls(once=2),
    "sina": Calls(once=2),
    **dict.fromkeys(("cffex", "czce", "dce", "gfex", "ine", "shfe"), Calls(once=1)),
}


def calls_of_codes(securities: int, indices: int, years: float) -> dict[str, int]:
    """Upstream -> calls of the first load of some securities and indices."""
    return {
        name: math.ceil(one.once + securities * (one.security + years * one.year) + indices * one.index)
        for name, one in CALLS.items()
    }
