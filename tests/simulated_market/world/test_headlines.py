"""What the press says of prices is true at its minute; notices have types and moments."""

import re
from datetime import datetime, timedelta

import pytest

from simulated_market.notices import NoticeBook
from simulated_market.press import Press
from simulated_market.wire import View
from simulated_market.world.session import date_number

NOW = datetime(2026, 11, 20, 16, 30)
_CHANGE = re.compile(r"(盘中|午间|收盘)(涨|跌)(超)?(\d+(?:\.\d+)?)%")
_INDEX = {"沪指": "sh000001", "深成指": "sz399001", "创业板指": "sz399006"}


@pytest.fixture
def press(world):
    return Press(NoticeBook()), View(world, NOW)


def bar(world, security, moment):
    bars = world.bars(security, moment)
    assert int(bars.date[-1]) == date_number(moment)
    return bars, (int(bars.close[-1]) / int(bars.preclose[-1]) - 1) * 100


def fits(world, title, security, moment):
    """Whether a headline is of a price, and that it is true then."""
    limit = re.search(r"封?(涨停|跌停)", title)
    change = _CHANGE.search(title)
    if limit:
        bars, _ = bar(world, security, moment)
        assert int(bars.close[-1]) == world.limits(security, date_number(moment))[limit[1] == "跌停"], title
    elif change:
        _, moved = bar(world, security, moment)
        reported = float(change[4]) * (1 if change[2] == "涨" else -1)
        if change[3]:
            assert abs(reported) <= abs(moved) < abs(reported) + 1, title
            assert reported * moved > 0, title
        else:
            assert reported == pytest.approx(moved, abs=0.0051), title
    return bool(limit or change)


def test_flashes_say_what_the_market_did_in_that_minute(press):
    book, view = press
    world = view.world
    reported = sealed = indices = 0
    for day in range(6):
        then = View(world, NOW - timedelta(days=day))
        for one in book.flashes(then):
            reported += fits(world, one.title, one.security, one.time)
            sealed += "涨停" in one.title
            name = next((name for name in _INDEX if one.title.startswith(name)), None)
            if name:
                indices += 1
                assert one.security.symbol == _INDEX[name]
    assert reported > 100
    assert sealed > 20
    assert indices > 20


def test_articles_say_what_the_stock_did(press):
    book, view = press
    found = [
        (one, security)
        for security in view.world.securities(NOW)
        if security.kind == "stock"
        for one in book.articles(view, security.code)
    ]
    reported = [fits(view.world, one.title, security, one.time.replace(second=one.time.second))
            for one, security in found if not one.content.endswith("（转载）")]  # fmt: skip
    assert sum(reported) > 20


def test_a_flash_stays_as_it_was(press):
    book, view = press
    later = View(view.world, NOW + timedelta(hours=3))
    before = {one.number: one.title for one in book.flashes(view)}
    after = {one.number: one.title for one in Press(NoticeBook()).flashes(later)}
    assert before.items() <= after.items()


def test_notices_have_moments_of_their_own_day_or_of_the_evening_before(world):
    found = NoticeBook().between(View(world, NOW), "2026-10-20", "2026-11-21")
    same = [one for one in found if one.shown.date() == one.day]
    assert 0.1 < len(same) / len(found) < 0.4
    assert all(one.announced_at == one.shown for one in same)
    assert {one.shown.hour for one in same} >= {12, 16, 17}
    rest = [one for one in found if one not in same]
    assert all((one.announced_at.hour, one.announced_at.minute) == (0, 0) for one in rest)
    assert all(one.shown < one.announced_at for one in rest)


def test_notices_are_of_many_kinds_and_name_the_market(world):
    found = NoticeBook().between(View(world, NOW), "2025-11-21", "2026-11-20")
    kinds = {one.kind for one in found}
    assert {"年度报告全文", "三季度报告摘要", "分配方案实施", "股票交易异常波动", "实施风险警示"} <= kinds
    assert "其他" not in kinds
    for one in found:
        _, market, content = one.types.split("||")
        assert market == ("010112" if one.securities[0].market == "SZ" else "010113")
        assert (content == "010301") == one.kind.startswith("年度报告")
        assert "2026年第5" not in one.title


def test_an_unusual_movement_is_announced_after_one(world):
    view = View(world, NOW)
    found = [one for one in NoticeBook().between(view, "2026-09-01", "2026-11-20") if "异常波动" in one.kind]
    assert found
    for one in found:
        bars = world.bars(one.securities[0], one.shown)
        moved = (bars.close / bars.preclose - 1)[-3:].sum() * 100
        assert abs(moved) >= 20
