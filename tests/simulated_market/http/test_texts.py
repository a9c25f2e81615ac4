"""Texts of one's own in the names and titles of the market: each client reads them as they are."""

from collections.abc import Iterator

import pytest

from core.clock import FrozenClock
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.console.payloads import PAYLOADS
from tests.simulated_market.http.conftest import Bench, bench_of
from tests.simulated_market.http.tiny_world import NOW

SINCE, UNTIL = "2026-08-10", "2026-08-21"


@pytest.fixture(scope="module")
def scripted() -> Iterator[Bench]:
    world = load_world("synthetic", "S", texts=PAYLOADS)
    with SimulatedMarket(world, FrozenClock(NOW), tcp_port=None) as market:
        made = bench_of(market)
        yield made
        made.transport.close()


def test_names_come_through_the_lists_of_the_portal(scripted: Bench) -> None:
    names = set(scripted.eastmoney.stock_list()["name"])
    assert set(PAYLOADS) <= names


def test_titles_come_through_the_platform_and_the_portal(scripted: Bench) -> None:
    for titles in (
        scripted.cninfo.announcements(SINCE, UNTIL)["title"],
        scripted.eastmoney.notices(SINCE, UNTIL)["title"],
        scripted.eastmoney.research(SINCE, UNTIL)["title"],
    ):
        assert len(titles)
        assert [title for title in titles if not title.endswith(PAYLOADS)] == []
