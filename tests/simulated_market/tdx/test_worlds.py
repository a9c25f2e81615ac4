"""The synthetic market through the wire: prefix rules fit its securities, bars equal its bars."""

from collections.abc import Iterator
from datetime import datetime

import numpy as np
import pytest

from resources.upstreams.tdx.instruments import instrument
from simulated_market.world.full import SyntheticWorld
from tests.simulated_market.tdx.market import Market, open_market


@pytest.fixture(scope="module")
def world() -> SyntheticWorld:
    return SyntheticWorld()


@pytest.fixture(scope="module")
def now(world: SyntheticWorld) -> datetime:
    day = int(world.trade_dates()[-30])
    return datetime(day // 10_000, day // 100 % 100, day % 100, 16, 0)


@pytest.fixture(scope="module")
def market(world: SyntheticWorld, now: datetime) -> Iterator[Market]:
    with open_market(world, now=now) as opened:
        yield opened


def test_prefix_rules_fit_every_security(world: SyntheticWorld, now: datetime) -> None:
    for security in world.securities(now):
        what = instrument(security.symbol)
        assert (what.decimals, what.is_index) == (security.decimals, security.kind == "index"), security
        assert what.lot == (10 if security.kind == "cb" else 100), security


def test_lists_hold_every_security(market: Market, world: SyntheticWorld, now: datetime) -> None:
    listed = {symbol for name in ("sh", "sz", "bj") for symbol in market.client.security_list(name)["symbol"]}

    assert {security.symbol for security in world.securities(now)} <= listed


def test_quotes_of_the_whole_market(market: Market, world: SyntheticWorld, now: datetime) -> None:
    securities = world.securities(now)
    frame = market.client.quotes([each.symbol for each in securities])

    assert not frame["unknown"].any()
    for at, security in enumerate(securities):
        quote = world.quote(security, now)
        assert round(frame["last_close"][at] * 10_000) == quote.preclose
        assert frame["suspended"][at] == quote.suspended


def test_day_bars_of_the_whole_market(market: Market, world: SyntheticWorld, now: datetime) -> None:
    for security in world.securities(now):
        ask = market.client.index_bars if security.kind == "index" else market.client.bars
        frame, bars = ask(security.symbol, count=120), world.bars(security, now)
        newest = slice(-120, None)
        # The wire's thousandths are one digit less than the world's prices.
        assert np.abs(np.round(frame["close"] * 10_000) - bars.close[newest]).max() <= 5
        assert frame["volume"].gt(0).tolist() == bars.traded[newest].tolist()
        unit = 5_000 if security.kind == "index" else 50
        assert np.allclose(frame["volume"], bars.volume[newest], rtol=2**-23, atol=unit)
