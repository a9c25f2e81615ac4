"""Bars that the pattern tests look at."""

import numpy as np
import pandas as pd
import pytest

from core.market.bars import Bars


def walk(codes: int, bars: int, seed: int) -> Bars:
    """Restless prices on the tick, swinging between borders, with gaps and bursts of volume: every kind of
    pattern finds something."""
    chance = np.random.default_rng(seed)
    shape = (codes, bars)
    t = np.arange(bars)
    wave = 0.10 * np.sin(t / chance.uniform(5, 13, (codes, 1)) + chance.uniform(0, 6, (codes, 1)))
    drift = np.cumsum(chance.normal(0, 0.017, shape), axis=1)
    close = 20 * np.exp(wave * chance.uniform(0, 1.3, (codes, 1)) + drift)
    before = np.concatenate([close[:, :1], close[:, :-1]], axis=1)
    opened = before * np.exp(chance.normal(0, 0.012, shape))
    high = np.maximum(opened, close) * (1 + chance.exponential(0.006, shape))
    low = np.minimum(opened, close) * (1 - chance.exponential(0.006, shape))
    volume = 1e6 * np.exp(chance.normal(0, 0.5, shape) + 12 * np.abs(np.log(close / before)))
    names = np.repeat([f"{code:06d}" for code in range(codes)], bars)
    frame = {"code": names, "date": np.tile(20200101 + t, codes), "volume": np.floor(volume).ravel()}
    prices = {"open": opened, "high": high, "low": low, "close": close}
    return Bars.from_frame(pd.DataFrame(frame | {name: one.round(2).ravel() for name, one in prices.items()}))


@pytest.fixture(scope="session")
def restless() -> Bars:
    return walk(40, 260, 4)
