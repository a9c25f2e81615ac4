"""What an index says of its members as a whole: shares, caps, price-earnings ratio."""

from dataclasses import dataclass
from datetime import datetime

from simulated_market.world.model import Security, World

_MARKETS = {"sh000001": "SH", "sz399001": "SZ"}
_BOARDS = {"sz399006": "gem", "sh000688": "star"}


@dataclass(frozen=True)
class IndexValue:
    """`float_shares` of all members; caps in CNY, None where nothing is known of them."""

    float_shares: int
    float_market_cap: float | None
    total_market_cap: float | None
    pe_ttm: float | None


def members(world: World, index: Security, now: datetime) -> list[Security]:
    """The stocks of an exchange or a board; of any other index all stocks."""
    market, board = _MARKETS.get(index.symbol), _BOARDS.get(index.symbol)
    return [
        one
        for one in world.securities(now)
        if one.kind == "stock" and market in {None, one.market} and board in {None, one.board}
    ]


def float_shares(world: World, index: Security, now: datetime) -> int:
    """Float shares of all members."""
    return sum(world.shares(one, now)[1] for one in members(world, index, now))


def value_of(world: World, index: Security, now: datetime) -> IndexValue:
    """The sums of the members."""
    held = [world.valuation(one, now) for one in members(world, index, now)]
    known = [one for one in held if one is not None and one.float_market_cap and one.total_market_cap]
    floating = sum(one.float_market_cap or 0.0 for one in known)
    total = sum(one.total_market_cap or 0.0 for one in known)
    earned = sum((one.total_market_cap or 0.0) / one.pe_ttm for one in known if one.pe_ttm)
    return IndexValue(
        sum(one.float_shares for one in known),
        floating or None,
        total or None,
        total / earned if earned > 0 else None,
    )
