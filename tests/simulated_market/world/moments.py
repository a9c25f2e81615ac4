"""Helpers of the world tests."""

from datetime import datetime


def at(date, time="15:30"):
    """`at(20260821, '10:07')` as a datetime."""
    hour, minute = time.split(":")
    return datetime(date // 10_000, date // 100 % 100, date % 100, int(hour), int(minute))


END = at(20261231)


def features(world, *names):
    return [f for f in world.features if f.name in names]


def last_bar(world, symbol, date):
    """(bars up to the date, index of its newest row)."""
    bars = world.bars(world.find(symbol), at(date))
    assert int(bars.date[-1]) == date
    return bars
