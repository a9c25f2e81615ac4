"""Facts that several upstreams serve in their own formats, read once for all of them."""

from dataclasses import dataclass, field

from simulated_market.billboard import Billboard
from simulated_market.block_trades import BlockTrades
from simulated_market.finance import FinanceBook
from simulated_market.limits import LimitBook
from simulated_market.margin import MarginBook
from simulated_market.market_classes import MarketClasses
from simulated_market.notices import NoticeBook
from simulated_market.valuations import Lines


@dataclass(frozen=True)
class Books:
    """Facts of a world that its responders share: a market of 5,500 stocks fits into memory once, not once
    for each upstream."""

    billboard: Billboard = field(default_factory=Billboard)
    block_trades: BlockTrades = field(default_factory=BlockTrades)
    classes: MarketClasses = field(default_factory=MarketClasses)
    margin: MarginBook = field(default_factory=MarginBook)
    lines: Lines = field(default_factory=Lines)
    limits: LimitBook = field(default_factory=LimitBook)
    finance: FinanceBook = field(default_factory=FinanceBook)
    notices: NoticeBook = field(default_factory=NoticeBook)
