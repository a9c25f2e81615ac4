"""Daily bars of a whole market as arrays: fixed shapes, fixed seed, no world behind them."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.calendar import shipped_calendar

CODES = 5500
LAST_DAY = "2026-08-21"
SEED = 20260821


def codes(count: int = CODES) -> list[str]:
    """Codes of a market of the right size and board mix, ascending."""
    boards = ("000", "001", "002", "300", "301", "600", "601", "603", "605", "688", "920")
    per_board = -(-count // len(boards))
    made = [f"{board}{number:03d}" for board in boards for number in range(per_board)]
    return sorted(made)[:count]


def trade_dates(count: int) -> list[str]:
    return shipped_calendar().last(count, LAST_DAY)


def day_frames(dates: list[str], count: int = CODES) -> Iterator[tuple[str, pd.DataFrame]]:
    """One frame of `fusion_kline_daily`'s content columns per date: `count` rows, prices on the tick."""
    names = codes(count)
    chance = np.random.Generator(np.random.Philox(SEED))
    close = np.round(np.exp(chance.normal(2.7, 0.8, count)), 2).clip(1.0)
    market = ["SH" if name[0] == "6" else "BJ" if name[0] == "9" else "SZ" for name in names]
    factor = np.round(1 + chance.random(count) * 3, 6)
    for day in dates:
        before = close
        close = np.round(before * np.exp(chance.normal(0, 0.025, count)), 2).clip(1.0)
        open_ = np.round(before * np.exp(chance.normal(0, 0.01, count)), 2).clip(1.0)
        high = np.round(np.maximum(open_, close) * (1 + chance.random(count) * 0.02), 2)
        low = np.round(np.minimum(open_, close) * (1 - chance.random(count) * 0.02), 2)
        volume = chance.integers(1_000, 2_000_000, count) * 100
        yield (
            day,
            pd.DataFrame(
                {
                    "code": names,
                    "date": day,
                    "market": market,
                    "sec_type": "stock",
                    "open": open_,
                    "high": high,
                    "low": low,
                    "close": close,
                    "last_close": before,
                    "volume": volume,
                    "amount": np.round(volume * (open_ + close) / 2, 2),
                    "change_pct": np.round((close / before - 1) * 100, 4),
                    "amplitude_pct": np.round((high - low) / before * 100, 4),
                    "turnover_pct": np.round(chance.random(count) * 8, 4),
                    "limit_up": np.round(before * 1.1, 2),
                    "limit_down": np.round(before * 0.9, 2),
                    "limit_status": "none",
                    "is_suspended": False,
                    "adj_factor": factor,
                    "src": "tdx",
                    "provenance": None,
                    "quality": "ok",
                    "quality_flags": None,
                }
            ),
        )
