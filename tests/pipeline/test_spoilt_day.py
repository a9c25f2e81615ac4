"""A day that was saved while it was still trading: 342 of 358 codes seem to go ex-right on the next."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simulated_market.world.replay import ReplayWorld
from tests.conftest import engine_url
from tests.pipeline.conftest import Services, opened_services

REAL = Path(__file__).parents[1] / "real_data"
BARS = "bars_daily_raw_hs300_2020_2025.csv.gz"
CODES = [f"sh{number}" for number in range(600000, 600358)]
WRONG = 342
FIRST, SPOILT, NEXT, AFTER = "2022-05-25", "2022-07-11", "2022-07-12", "2022-07-13"
DIVIDEND = ("600001", "2022-07-06")
"""A true event: 5 CNY per ten shares."""


def spoilt_bars(dates: list[str]) -> pd.DataFrame:
    draw = np.random.default_rng(20251230)
    frames = []
    for place, code in enumerate(CODES):
        true = np.round(20 * np.exp(np.cumsum(draw.normal(0, 0.01, len(dates)))), 2)
        preclose = np.concatenate([[20.0], true[:-1]])
        if code[2:] == DIVIDEND[0]:
            preclose[dates.index(DIVIDEND[1])] -= 0.5
        seen, amount = true.copy(), np.full(len(dates), 2e8)
        if place < WRONG:
            at = dates.index(SPOILT)
            rise = draw.uniform(0.01, 0.05) * (-1 if place % 4 == 0 else 1)
            seen[at] = round(true[at] * (1 + rise), 2)
            amount[at] *= 0.3
        low, high = np.minimum(seen, preclose) - 0.05, np.maximum(seen, preclose) + 0.05
        frames.append(
            pd.DataFrame(
                {
                    "date": dates, "code": code, "open": preclose, "high": high.round(2), "low": low.round(2),
                    "close": seen, "preclose": preclose.round(2), "volume": np.round(amount / preclose),
                    "amount": amount, "turn": 1.0, "pctChg": 0.0, "tradestatus": 1, "isST": 0, "peTTM": 10.0,
                    "pbMRQ": 1.0, "psTTM": 1.0, "pcfNcfTTM": 1.0,
                }
            )
        )  # fmt: skip
    return pd.concat(frames)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ReplayWorld:
    folder = tmp_path_factory.mktemp("spoilt")
    for file in REAL.iterdir():
        if file.suffix in {".csv", ".gz"} and file.name != BARS:
            shutil.copy(file, folder / file.name)
    days = pd.read_csv(REAL / "trade_dates_1990_2026.csv", dtype=str)["trade_date"].tolist()
    text = spoilt_bars([day for day in days if FIRST <= day <= AFTER]).to_csv(index=False)
    (folder / BARS).write_bytes(gzip.compress(text.encode(), mtime=0))
    return ReplayWorld(folder)


@pytest.fixture(params=["sqlite", "mariadb"])
def services(request: pytest.FixtureRequest, tmp_path: Path, world: ReplayWorld) -> Iterator[Services]:
    for url in engine_url(request.param, tmp_path):
        with opened_services(url, tmp_path, world, SPOILT) as opened:
            yield opened


def records(services: Services, batch: str) -> dict[str, tuple[str, int]]:
    rows = services.warehouse.query(
        "SELECT check_name, action, failed_count FROM sys_quality_record "
        "WHERE batch_id=? AND natural_key IS NULL",
        (batch,),
    )
    return {check: (action, count) for check, action, count in rows}


def test_nothing_is_adjusted_by_the_ex_rights_of_a_spoilt_day(services: Services) -> None:
    days = services.run.calendar.between(FIRST, SPOILT)
    services.bars(*days)
    services.at(NEXT)
    services.fuse("name_history", NEXT)
    reported = services.fuse("exright", NEXT)
    bars = services.fuse("kline_daily", NEXT)

    events = services.warehouse.frame("ref_exright")
    held = events[events["held_back"].notna()]
    assert set(held["date"]) == {NEXT}
    assert len(held) == WRONG
    assert held["factor"].isna().all()
    negative = int((held["cash_per10"] < 0).sum())
    assert negative > 60
    assert records(services, reported.results[-1].batch_id) == {
        "cash_is_not_negative": ("held_back", negative),
        "few_are_ex_at_once": ("held_back", WRONG - negative),
    }
    true = events[(events["code"] == DIVIDEND[0]) & (events["date"] == DIVIDEND[1])]
    assert true["factor"].iloc[0] > 1

    stored = services.warehouse.frame("fusion_kline_daily")
    factors = stored.pivot(index="date", columns="code", values="adj_factor")
    assert (factors.loc[NEXT] == factors.loc[SPOILT]).all()
    assert (factors.loc[NEXT].drop(DIVIDEND[0]) == 1.0).all()
    assert len(factors.columns) == len(CODES)
    made = records(services, bars.results[-1].batch_id)
    assert made["closes_before_are_references"][0] == "table_warning"
    assert made["reference_is_previous_close"] == ("warning", WRONG)

    # The day itself is marked at once by its turnover, and by its closes as soon as it is looked at again.
    marks = stored[stored["date"] == SPOILT]["quality_flags"]
    assert marks.str.contains("turnover_is_usual").sum() == len(CODES)
    services.fresh()
    again = services.fuse("kline_daily", SPOILT)
    assert records(services, again.results[-1].batch_id)["close_is_next_reference"] == ("held_back", WRONG)

    # A day later nothing is odd, and what was held back still is.
    services.at(AFTER)
    services.bars(AFTER)
    events = services.warehouse.frame("ref_exright")
    assert events["held_back"].notna().sum() == WRONG
    stored = services.warehouse.frame("fusion_kline_daily")
    assert (stored[stored["date"] == AFTER]["quality"] == "ok").all()
    assert (stored[stored["date"] == AFTER]["adj_factor"].to_numpy() == factors.loc[NEXT].to_numpy()).all()
