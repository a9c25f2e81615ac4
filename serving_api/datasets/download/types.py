"""The 38 download types, and which of them this platform can fill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.declaration.registry import builtin_registry

TYPES = tuple(
    "kline quote valuation fund_flow minute_kline reports dragon_tiger margin holder_num lockup block_trade "
    "dividend concept_blocks northbound announcements news finstmt fin_indicator issue_info holding_org "
    "top_holders earnings_forecast earnings_express executive_holding org_survey fund_holding aux_profile "
    "aux_finance_changes aux_holders aux_bonus aux_operate aux_worth aux_equity aux_news aux_capital "
    "aux_lhb aux_rzrq aux_dzjy".split()
)
NORTHBOUND = "northbound"
"""Market-level: the one type that `all` leaves out."""
ALL = "all"
NOT_BUILT = "this platform has no dataset of type {name} yet"


@dataclass(frozen=True)
class Split:
    """Types that can be downloaded, and those whose dataset does not exist yet."""

    built: list[str]
    missing: list[str]


def expand(requested: Sequence[str]) -> list[str]:
    """Types without repetition; `all` = every type but the market-level one."""
    found: list[str] = []
    for name in requested:
        found += [kind for kind in TYPES if kind != NORTHBOUND] if name == ALL else [name]
    return list(dict.fromkeys(found))


def unknown(requested: Sequence[str]) -> str | None:
    """The first value that is not a type; None when all are."""
    return next((name for name in requested if name not in TYPES and name != ALL), None)


@cache
def built_types() -> Mapping[str, bool]:
    """Type -> whether it feeds a fused dataset; only those that exist."""
    registry = builtin_registry()
    feeds = registry.download_to_fusion
    return {name: bool(feeds[name]) for name in registry.download_types if name in TYPES}


def split(types: Sequence[str]) -> Split:
    built = built_types()
    return Split([name for name in types if name in built], [name for name in types if name not in built])
