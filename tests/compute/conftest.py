"""Real bars for the calculations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.market.bars import Bars

HERE = Path(__file__).parents[1] / "real_data"
FULL = "bars_daily_raw_hs300_2020_2025.csv.gz"


def read_bars(path: Path) -> Bars:
    """Bars with the backward factor that follows from the ex-right reference prices."""
    rows = pd.read_csv(path, dtype={"code": str}).sort_values(["code", "date"])
    before = rows.groupby("code")["close"].shift()
    step = (before / rows["preclose"]).fillna(1.0).where(lambda ratio: (ratio - 1).abs() > 1e-4, 1.0)
    factor = step.groupby(rows["code"]).cumprod()
    traded = rows["tradestatus"] == 1
    return Bars.from_frame(
        rows.assign(adj_factor=factor, code=rows["code"].str[2:], turnover_pct=rows["turn"])[traded].rename(
            columns={"preclose": "last_close"}
        )
    )


@pytest.fixture(scope="session")
def real_bars() -> Bars:
    """20 codes, 420 sessions from 2020-01-02 (`tests/real_data/make_slice.py`)."""
    return read_bars(HERE / "bars_daily_raw_20_codes_2020_2021.csv.gz")


@pytest.fixture(scope="session")
def real_index() -> tuple[np.ndarray, np.ndarray]:
    """Dates and closes of the CSI 300 over the same sessions."""
    rows = pd.read_csv(HERE / "index_csi300_2020_2021.csv.gz")
    return rows["date"].str.replace("-", "").to_numpy(dtype=np.int64), rows["close"].to_numpy()


@pytest.fixture
def all_real_bars(real_data_dir: Path) -> Bars:
    """300 codes over five years."""
    return read_bars(real_data_dir / FULL)
